//! Credentials: how they are read, checked and put into a request.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use url::Url;

use crate::error::ConfigError;
use crate::secret::{Mask, Secret};

/// How requests to the base origin prove who they are.
#[derive(Debug, Clone, Default)]
pub enum Credential {
    /// Not at all.
    #[default]
    None,
    /// `Authorization: Bearer …`.
    Bearer(SecretSource),
    /// A header of its own, such as `X-Api-Key`.
    Header {
        /// The header's name.
        name: String,
        /// The header's whole value.
        secret: SecretSource,
    },
    /// `Authorization: Basic …`.
    Basic {
        /// The user name; must not hold `:`.
        user: String,
        /// The password.
        password: SecretSource,
    },
    /// A query parameter.
    Query {
        /// The parameter's name.
        name: String,
        /// The parameter's value.
        secret: SecretSource,
    },
}

impl Credential {
    /// Checks what can be checked before the first request.
    ///
    /// # Errors
    /// A name that is no header name, a user name with `:`, a secret that its place cannot carry.
    pub fn check(&self) -> Result<(), ConfigError> {
        match self {
            Self::None => Ok(()),
            Self::Bearer(secret) => bearer(secret).map(drop),
            Self::Header { name, secret } => {
                header_name(name)?;
                header_value(secret, secret.current()?.expose()).map(drop)
            }
            Self::Basic { user, password } => {
                if user.contains(':') || user.chars().any(char::is_control) {
                    return Err(ConfigError::new(
                        "the user name holds `:` or control characters",
                        "give the user name alone; the password has its own setting",
                    ));
                }
                password.current().map(drop)
            }
            Self::Query { name, secret } => {
                if name.is_empty() {
                    let hint = "name the query parameter that carries the key";
                    return Err(ConfigError::new("the query credential has no name", hint));
                }
                secret.current().map(drop)
            }
        }
    }

    /// Puts the credential into a request, replacing what stands in its place.
    pub(crate) fn apply(&self, url: &mut Url, headers: &mut HeaderMap) -> Result<(), ConfigError> {
        match self {
            Self::None => {}
            Self::Bearer(secret) => {
                headers.insert(header::AUTHORIZATION, bearer(secret)?);
            }
            Self::Header { name, secret } => {
                let value = header_value(secret, secret.current()?.expose())?;
                headers.insert(header_name(name)?, value);
            }
            Self::Basic { user, password } => {
                let pair = format!("{user}:{}", password.current()?.expose());
                let value = format!("Basic {}", STANDARD.encode(pair));
                headers.insert(header::AUTHORIZATION, header_value(password, &value)?);
            }
            Self::Query { name, secret } => {
                let secret = secret.current()?;
                let kept = url.query().map(|query| without_pair(query, name));
                url.set_query(kept.as_deref().filter(|query| !query.is_empty()));
                url.query_pairs_mut().append_pair(name, secret.expose());
            }
        }
        Ok(())
    }

    /// Adds all that a server could echo to a mask.
    pub(crate) fn add_to(&self, mask: &mut Mask) {
        let source = match self {
            Self::None => return,
            Self::Bearer(source) => source,
            Self::Header { secret, .. } | Self::Query { secret, .. } => secret,
            Self::Basic { user, password } => {
                for secret in password.known() {
                    mask.add(&STANDARD.encode(format!("{user}:{}", secret.expose())));
                }
                password
            }
        };
        for secret in source.known() {
            mask.add(without_bearer(secret.expose()));
        }
    }
}

/// Where a secret comes from.
#[derive(Debug, Clone)]
pub struct SecretSource {
    /// What the operator calls it: a variable, a flag, a file.
    label: String,
    origin: Origin,
}

#[derive(Debug, Clone)]
enum Origin {
    Literal(Secret),
    File(Arc<SecretFile>),
}

#[derive(Debug)]
struct SecretFile {
    path: PathBuf,
    read: Mutex<Read>,
}

#[derive(Debug, Default)]
struct Read {
    modified: Option<SystemTime>,
    /// The newest last. Older values are kept for masking: answers to them may still be on the way.
    values: Vec<Secret>,
}

/// How many values of a file are still masked.
const REMEMBERED: usize = 4;

impl SecretSource {
    /// Takes a secret as given; `label` says where, for messages.
    ///
    /// # Errors
    /// The value is empty, an unexpanded placeholder, or holds line breaks or control characters.
    pub fn literal(label: impl Into<String>, text: &str) -> Result<Self, ConfigError> {
        let label = label.into();
        let secret = clean(&label, text)?;
        Ok(Self { label, origin: Origin::Literal(secret) })
    }

    /// Reads a secret from a file, and again whenever the file's modification time changes. While a
    /// changed file is missing or unusable, the last good value stays in use.
    ///
    /// # Errors
    /// The file cannot be read now, or its content is not a usable secret.
    pub fn file(path: impl AsRef<Path>) -> Result<Self, ConfigError> {
        let path = path.as_ref().to_owned();
        let label = path.display().to_string();
        let file = Arc::new(SecretFile { path, read: Mutex::default() });
        let source = Self { label, origin: Origin::File(file) };
        source.current()?;
        Ok(source)
    }

    /// Returns the secret to use now.
    pub(crate) fn current(&self) -> Result<Secret, ConfigError> {
        match &self.origin {
            Origin::Literal(secret) => Ok(secret.clone()),
            Origin::File(file) => file.current(&self.label),
        }
    }

    /// Returns the values in use now and shortly before.
    fn known(&self) -> Vec<Secret> {
        match &self.origin {
            Origin::Literal(secret) => vec![secret.clone()],
            Origin::File(file) => file.lock().values.clone(),
        }
    }
}

impl SecretFile {
    fn lock(&self) -> std::sync::MutexGuard<'_, Read> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn current(&self, label: &str) -> Result<Secret, ConfigError> {
        let mut read = self.lock();
        let modified = std::fs::metadata(&self.path).and_then(|it| it.modified()).ok();
        let newest = read.values.last().cloned();
        if let Some(secret) = &newest
            && (modified.is_none() || modified == read.modified)
        {
            return Ok(secret.clone());
        }
        let fresh = std::fs::read_to_string(&self.path)
            .map_err(|error| {
                let hint = "check the path and that this user may read it";
                ConfigError::new(format!("`{label}` cannot be read: {error}"), hint)
            })
            .and_then(|text| clean(label, &text));
        match (fresh, newest) {
            (Ok(secret), newest) => {
                read.modified = modified;
                if newest.as_ref() != Some(&secret) {
                    read.values.push(secret.clone());
                    let surplus = read.values.len().saturating_sub(REMEMBERED);
                    read.values.drain(..surplus);
                }
                Ok(secret)
            }
            (Err(error), Some(last)) => {
                tracing::warn!(file = label, %error, "keeping the last good secret");
                Ok(last)
            }
            (Err(error), None) => Err(error),
        }
    }
}

/// Trims a secret and refuses what can only be a mistake.
fn clean(label: &str, text: &str) -> Result<Secret, ConfigError> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() || text.eq_ignore_ascii_case("bearer") {
        return Err(ConfigError::new(
            format!("`{label}` is empty"),
            "set it to the token itself, or leave it out",
        ));
    }
    if let Some(placeholder) = placeholder(text) {
        return Err(ConfigError::new(
            format!("`{label}` holds {placeholder} instead of a value"),
            "the client did not expand it: set the variable in its environment or write the value",
        ));
    }
    if text.chars().any(char::is_control) {
        return Err(ConfigError::new(
            format!("`{label}` holds line breaks or control characters"),
            "copy the value again, as one line",
        ));
    }
    Ok(Secret::new(text))
}

/// Names a placeholder that some client should have replaced. What may be part of a real secret is
/// described, not repeated.
fn placeholder(text: &str) -> Option<String> {
    let text = without_bearer(text);
    let enclosed = |open: &str, close: &str| {
        text.strip_prefix(open).and_then(|rest| rest.strip_suffix(close)).filter(|it| {
            !it.is_empty() && it.chars().all(|c| c.is_ascii_alphanumeric() || "_-:. ".contains(c))
        })
    };
    let upper_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
            && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
    };
    if let Some(name) = enclosed("${", "}") {
        return Some(format!("the placeholder `${{{name}}}`"));
    }
    if let Some(name) = text.strip_prefix('$').filter(|name| upper_name(name)) {
        return Some(format!("the placeholder `${name}`"));
    }
    if let Some(name) = enclosed("%", "%").filter(|name| upper_name(name)) {
        return Some(format!("the placeholder `%{name}%`"));
    }
    let described = [
        ("{{", "}}", "a placeholder in `{{ }}`"),
        ("{", "}", "a placeholder in `{ }`"),
        ("<", ">", "a placeholder in `< >`"),
    ];
    let found = described.iter().find(|(open, close, _)| enclosed(open, close).is_some());
    found.map(|(_, _, what)| (*what).to_owned())
}

fn bearer(source: &SecretSource) -> Result<HeaderValue, ConfigError> {
    let secret = source.current()?;
    let token = without_bearer(secret.expose());
    if token.contains(char::is_whitespace) {
        return Err(ConfigError::new(
            format!("`{}` holds a space inside", source.label),
            "a bearer token is one word: copy it again",
        ));
    }
    header_value(source, &format!("Bearer {token}"))
}

/// Takes off a scheme that was copied along with the token.
fn without_bearer(text: &str) -> &str {
    match text.split_at_checked(7) {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer ") => token.trim_start(),
        Some(_) | None => text,
    }
}

fn header_value(source: &SecretSource, text: &str) -> Result<HeaderValue, ConfigError> {
    let value = HeaderValue::from_str(text).ok().filter(|_| text.is_ascii());
    value.map(sensitive).ok_or_else(|| {
        ConfigError::new(
            format!("`{}` holds characters a header cannot carry", source.label),
            "copy the value again: a dash, quote or space may have been replaced on the way",
        )
    })
}

/// Keeps a value out of debug output and header compression.
pub(crate) fn sensitive(mut value: HeaderValue) -> HeaderValue {
    value.set_sensitive(true);
    value
}

fn header_name(name: &str) -> Result<HeaderName, ConfigError> {
    HeaderName::from_bytes(name.as_bytes()).map_err(|_| {
        ConfigError::new(
            format!("`{name}` is not a header name"),
            "give the name alone, for example `X-Api-Key`",
        )
    })
}

/// Takes the pairs of that name out of a query and leaves the rest to the letter.
fn without_pair(query: &str, name: &str) -> String {
    let same = |pair: &&str| {
        url::form_urlencoded::parse(pair.as_bytes()).next().is_some_and(|(key, _)| key == name)
    };
    query.split('&').filter(|pair| !same(pair)).collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> SecretSource {
        SecretSource::literal("API_TOKEN", text).unwrap()
    }

    fn refusal(text: &str) -> String {
        SecretSource::literal("API_TOKEN", text).unwrap_err().to_string()
    }

    fn applied(credential: &Credential, url: &str) -> (String, String) {
        let mut url = Url::parse(url).unwrap();
        let mut headers = HeaderMap::new();
        credential.check().unwrap();
        credential.apply(&mut url, &mut headers).unwrap();
        let header = headers.iter().next();
        let header = header.map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()));
        (url.to_string(), header.unwrap_or_default())
    }

    #[test]
    fn every_scheme_writes_its_own_place() {
        let url = "https://h/a?x=1%202";
        let table = [
            (Credential::None, url, ""),
            (Credential::Bearer(source(" tok \n")), url, "authorization: Bearer tok"),
            (Credential::Bearer(source("bearer  tok")), url, "authorization: Bearer tok"),
            (
                Credential::Header { name: "X-Key".into(), secret: source("Token tok") },
                url,
                "x-key: Token tok",
            ),
            (
                Credential::Basic { user: "ann".into(), password: source("pa ß") },
                url,
                "authorization: Basic YW5uOnBhIMOf",
            ),
            (
                Credential::Query { name: "key".into(), secret: source("a b&c") },
                "https://h/a?x=1%202&key=a+b%26c",
                "",
            ),
        ];
        for (credential, url_after, header) in table {
            assert_eq!(applied(&credential, url), (url_after.to_owned(), header.to_owned()));
        }
    }

    #[test]
    fn a_query_key_replaces_one_that_is_already_there() {
        let credential = Credential::Query { name: "key".into(), secret: source("secret") };
        assert_eq!(
            applied(&credential, "https://h/?key=old&a=b%20c").0,
            "https://h/?a=b%20c&key=secret"
        );
    }

    #[test]
    fn placeholders_are_named() {
        for (text, named) in [
            ("${SENTRY_AUTH_TOKEN}", "`${SENTRY_AUTH_TOKEN}`"),
            ("${env:TOKEN}", "`${env:TOKEN}`"),
            ("$TOKEN", "`$TOKEN`"),
            ("Bearer $TOKEN", "`$TOKEN`"),
            ("%TOKEN%", "`%TOKEN%`"),
            ("{env:TOKEN}", "`{ }`"),
            ("{{ token }}", "`{{ }}`"),
            ("<your-token>", "`< >`"),
        ] {
            let message = refusal(text);
            assert!(message.contains("API_TOKEN") && message.contains(named), "{text}: {message}");
        }
        source("$2y$10$abcdefghijkl");
        source("<a/b+c=>");
    }

    #[test]
    fn mistakes_are_refused_without_repeating_the_secret() {
        for text in ["", "  ", "Bearer ", "sec\nret", "sec\u{0}ret"] {
            let message = refusal(text);
            assert!(message.contains("`API_TOKEN`") && !message.contains("sec\n"), "{message}");
        }
        let message = Credential::Bearer(source("two words")).check().unwrap_err().to_string();
        assert!(message.contains("space inside") && !message.contains("two"), "{message}");
        let message = Credential::Bearer(source("sec\u{2011}ret")).check().unwrap_err().to_string();
        assert!(message.contains("cannot carry") && !message.contains("ret\u{2011}"), "{message}");
        let header = Credential::Header { name: "X Key".into(), secret: source("secret") };
        assert!(header.check().is_err());
    }

    #[test]
    fn debug_output_holds_no_secret() {
        let credential = Credential::Basic { user: "ann".into(), password: source("hunter22") };
        assert!(!format!("{credential:?}").contains("hunter22"));
    }

    #[test]
    fn a_secret_file_is_read_again_when_it_changes_and_keeps_its_last_good_value() {
        let path = std::env::temp_dir().join(format!("api-client-secret-{}", std::process::id()));
        let write = |text: &str, seconds: u64| {
            std::fs::write(&path, text).unwrap();
            let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
            std::fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        };
        write("first-value\n", 1_000);
        let source = SecretSource::file(&path).unwrap();
        assert_eq!(source.current().unwrap().expose(), "first-value");
        write("second-value\n", 2_000);
        assert_eq!(source.current().unwrap().expose(), "second-value");
        write("", 3_000);
        assert_eq!(source.current().unwrap().expose(), "second-value");
        std::fs::remove_file(&path).unwrap();
        assert_eq!(source.current().unwrap().expose(), "second-value");

        let mut mask = Mask::default();
        Credential::Bearer(source).add_to(&mut mask);
        assert_eq!(mask.apply("first-value second-value"), "[secret] [secret]");
        assert!(SecretSource::file(&path).unwrap_err().to_string().contains("cannot be read"));
    }
}
