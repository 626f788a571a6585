//! The file of callers: tokens, hashed, and an issuer's subjects, each with what they may do at most.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use aws_lc_rs::digest;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use server_config::given::SetupError;

use crate::grant::Grant;

/// How long the file is taken as it was read.
const FRESH: Duration = Duration::from_secs(1);
/// Of randomness, in bytes, in a token we make.
const TOKEN_BYTES: usize = 32;

/// Stands for every subject of the issuer.
const ANYBODY: &str = "*";

/// The callers of a file, which is read again when it changes.
pub(crate) struct Roll {
    path: PathBuf,
    full: Grant,
    read: Mutex<Read>,
}

struct Read {
    entries: Arc<Entries>,
    modified: Option<SystemTime>,
    looked: Instant,
}

/// Somebody with a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    /// SHA-256 of the token, in hexadecimal digits.
    pub(crate) digest: String,
    pub(crate) grant: Grant,
}

#[derive(Debug, Default, PartialEq)]
struct Entries {
    /// By digest: looking one up tells nothing of the others.
    tokens: HashMap<String, Entry>,
    subjects: HashMap<String, Grant>,
}

impl Roll {
    /// Reads the file.
    ///
    /// # Errors
    /// It cannot be read, or a line of it cannot be meant.
    pub(crate) fn open(path: &Path, full: &Grant) -> Result<Self, SetupError> {
        let (entries, modified) = load(path, full)?;
        let read = Read { entries: Arc::new(entries), modified, looked: Instant::now() };
        Ok(Self { path: path.to_owned(), full: full.clone(), read: Mutex::new(read) })
    }

    /// Whoever has this token.
    pub(crate) fn token(&self, token: &str) -> Option<Entry> {
        self.entries().tokens.get(&hash(token)).cloned()
    }

    /// What a subject of the issuer may do; nobody who is not named, unless everybody is.
    pub(crate) fn subject(&self, subject: &str) -> Option<Grant> {
        let entries = self.entries();
        let subjects = &entries.subjects;
        subjects.get(subject).or_else(|| subjects.get(ANYBODY)).cloned()
    }

    fn entries(&self) -> Arc<Entries> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if read.looked.elapsed() >= FRESH {
            read.looked = Instant::now();
            let modified = fs::metadata(&self.path).and_then(|it| it.modified()).ok();
            if modified != read.modified {
                match load(&self.path, &self.full) {
                    Ok((entries, modified)) => {
                        read.entries = Arc::new(entries);
                        read.modified = modified;
                    }
                    // A file that is being written must not lock everybody out.
                    Err(error) => tracing::warn!(%error, "the callers stay as they were"),
                }
            }
        }
        Arc::clone(&read.entries)
    }
}

fn load(path: &Path, full: &Grant) -> Result<(Entries, Option<SystemTime>), SetupError> {
    let modified = fs::metadata(path).and_then(|it| it.modified()).ok();
    let text = fs::read_to_string(path).map_err(|error| {
        SetupError::new(
            format!("the callers' file `{}` cannot be read: {error}", path.display()),
            "make one with `mcp-http token NAME >> FILE`",
        )
    })?;
    let entries = parse(&text, full).map_err(|(line, why)| {
        SetupError::new(
            format!("line {line} of `{}` cannot be used: {why}", path.display()),
            "a line is `token NAME sha256:… [skills=…]` or `subject ID [skills=…]`",
        )
    })?;
    Ok((entries, modified))
}

fn parse(text: &str, full: &Grant) -> Result<Entries, (usize, String)> {
    let mut entries = Entries::default();
    for (number, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        let fault = |why: &str| (number + 1, why.to_owned());
        match words.next() {
            None => {}
            Some(word) if word.starts_with('#') => {}
            Some("token") => {
                let name = words.next().ok_or_else(|| fault("the name is missing"))?.to_owned();
                let digest = words.next().and_then(|it| it.strip_prefix("sha256:"));
                let digest = digest
                    .map(str::to_ascii_lowercase)
                    .filter(|it| it.len() == 64 && it.bytes().all(|byte| byte.is_ascii_hexdigit()));
                let digest = digest.ok_or_else(|| fault("no `sha256:` with 64 digits"))?;
                let grant = full.clone().parse(words).map_err(|why| fault(&why))?;
                let entry = Entry { name, digest: digest.clone(), grant };
                if entries.tokens.insert(digest, entry).is_some() {
                    return Err(fault("the token is there already"));
                }
            }
            Some("subject") => {
                let subject = words.next().ok_or_else(|| fault("the subject is missing"))?;
                let grant = full.clone().parse(words).map_err(|why| fault(&why))?;
                if entries.subjects.insert(subject.to_owned(), grant).is_some() {
                    return Err(fault("the subject is there already"));
                }
            }
            Some(_) => return Err(fault("it begins with neither `token` nor `subject`")),
        }
    }
    Ok(entries)
}

/// Makes a token: what its owner gets, and the line of the file.
pub(crate) fn make(name: &str) -> Result<(String, String), getrandom::Error> {
    let mut bytes = [0_u8; TOKEN_BYTES];
    getrandom::fill(&mut bytes)?;
    let token = format!("mcp_{}", URL_SAFE_NO_PAD.encode(bytes));
    let line = format!("token {name} sha256:{}", hash(&token));
    Ok((token, line))
}

fn hash(token: &str) -> String {
    let digest = digest::digest(&digest::SHA256, token.as_bytes());
    digest
        .as_ref()
        .iter()
        .fold(String::with_capacity(64), |text, byte| text + &format!("{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use mcp_core::skill::{Skill, Skills};

    use super::*;

    fn full() -> Grant {
        Grant { skills: Skills::active(), organization: None, project: None, read_only: false }
    }

    #[test]
    fn a_token_is_found_by_its_hash_with_what_it_grants() {
        let (token, line) = make("ann").unwrap();
        let text = format!("# callers\n\n{line} skills=api-read\nsubject * read-only\n");
        let entries = parse(&text, &full()).unwrap();
        let entry = &entries.tokens[&hash(&token)];
        assert_eq!(entry.name, "ann");
        assert!(entry.grant.skills.has(Skill::ApiRead) && !entry.grant.skills.has(Skill::Inspect));
        assert!(entries.subjects["*"].read_only);
        assert!(!text.contains(&token), "the file holds no token");
    }

    #[test]
    fn a_line_that_cannot_be_meant_is_named() {
        let digest = "0".repeat(64);
        let cases = [
            ("\nuser ann".to_owned(), 2, "neither `token` nor `subject`"),
            ("token ann".to_owned(), 1, "`sha256:`"),
            (format!("token ann md5:{digest}"), 1, "`sha256:`"),
            (format!("token ann sha256:{digest} skills=fly"), 1, "`fly` is not a skill"),
            (format!("token a sha256:{digest}\ntoken b sha256:{digest}"), 2, "there already"),
        ];
        for (text, line, why) in cases {
            let (number, message) = parse(&text, &full()).unwrap_err();
            assert_eq!(number, line, "{text}");
            assert!(message.contains(why), "{message}");
        }
    }

    #[test]
    fn a_changed_file_counts_and_a_broken_one_does_not() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("callers");
        let (token, line) = make("ann").unwrap();
        fs::write(&path, &line).unwrap();
        let roll = Roll::open(&path, &full()).unwrap();
        assert!(roll.token(&token).is_some() && roll.token("mcp_x").is_none());
        let age = |roll: &Roll| {
            let mut read = roll.read.lock().unwrap();
            read.looked = Instant::now().checked_sub(FRESH).unwrap();
            read.modified = None;
        };
        fs::write(&path, "nonsense").unwrap();
        age(&roll);
        assert!(roll.token(&token).is_some());
        fs::write(&path, "# nobody").unwrap();
        age(&roll);
        assert!(roll.token(&token).is_none());
    }
}
