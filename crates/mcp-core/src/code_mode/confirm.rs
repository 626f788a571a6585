//! Confirmations: one line a person can read, bound to code and caller, used once, ten minutes.

use std::{
    collections::HashMap,
    fmt,
    sync::{Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use async_trait::async_trait;
use sha2::{Digest as _, Sha256};

/// How `execute_write` asks before it writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfirmMode {
    /// The first call rehearses the script and shows its exact writes; the second, with the
    /// confirmation, sends those and nothing else.
    Plan,
    /// The first call shows the code; the second, with the confirmation, runs it.
    Code,
    /// Runs at once, for hosts that approve tool calls by themselves.
    Off,
}

/// How long a confirmation can be used.
pub const LIFETIME: Duration = Duration::from_secs(600);

/// How many unused confirmations one caller can hold; the oldest goes first.
const PER_CALLER: usize = 8;

/// What a confirmation stands for: it runs this, for this caller, and nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Subject {
    /// Who asked.
    pub caller: String,
    /// SHA-256 over the code to the letter and over what it would run against.
    pub digest: [u8; 32],
}

impl Subject {
    /// The subject for `code`, run by `caller` against `target` (base URLs and document hashes).
    pub fn new(caller: &str, code: &str, target: &str) -> Self {
        let mut hash = Sha256::new();
        hash.update((target.len() as u64).to_le_bytes());
        hash.update(target);
        hash.update(code);
        Self { caller: caller.to_owned(), digest: hash.finalize().into() }
    }

    /// The first bytes of the digest, for a person to compare.
    pub fn fingerprint(&self) -> String {
        hexadecimal(&self.digest[..4])
    }
}

/// Tells a plan, by what of it was shown, apart from every other.
pub(crate) fn digest(shown: &[String]) -> String {
    let mut hash = Sha256::new();
    for entry in shown {
        hash.update((entry.len() as u64).to_le_bytes());
        hash.update(entry);
    }
    hexadecimal(&hash.finalize())
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// Why a confirmation was not accepted; nothing ran and nothing was used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unconfirmed {
    /// None was given.
    Missing,
    /// It is not one of ours for this code and caller, or was used already.
    Unknown,
    /// It was issued more than ten minutes ago.
    Expired,
    /// The store cannot be reached.
    Unavailable,
}

impl fmt::Display for Unconfirmed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "not confirmed yet",
            Self::Unknown => {
                "the confirmation given does not belong to this exact code, or was used already"
            }
            Self::Expired => "the confirmation given has expired",
            Self::Unavailable => "confirmations cannot be checked right now",
        })
    }
}

/// Where issued confirmations wait.
#[async_trait]
pub trait ConfirmationStore: Send + Sync + fmt::Debug {
    /// Keeps a confirmation, with the plan it confirms, until it is taken or expires. Returns
    /// whether it could be kept.
    async fn issue(&self, subject: Subject, line: String, plan: String, now: SystemTime) -> bool;

    /// Takes a confirmation and returns its plan: succeeds at most once for each one issued.
    async fn take(
        &self,
        subject: &Subject,
        line: &str,
        now: SystemTime,
    ) -> Result<String, Unconfirmed>;
}

/// Keeps confirmations in this process; a restart forgets them.
#[derive(Debug, Default)]
pub struct MemoryConfirmations {
    waiting: Mutex<HashMap<String, Vec<Waiting>>>,
}

#[derive(Debug)]
struct Waiting {
    digest: [u8; 32],
    line: String,
    plan: String,
    issued: SystemTime,
}

#[async_trait]
impl ConfirmationStore for MemoryConfirmations {
    async fn issue(&self, subject: Subject, line: String, plan: String, now: SystemTime) -> bool {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|_, held| {
            held.retain(|it| !is_expired(it.issued, now));
            !held.is_empty()
        });
        let held = waiting.entry(subject.caller).or_default();
        if held.len() >= PER_CALLER {
            held.remove(0);
        }
        held.push(Waiting { digest: subject.digest, line, plan, issued: now });
        true
    }

    async fn take(
        &self,
        subject: &Subject,
        line: &str,
        now: SystemTime,
    ) -> Result<String, Unconfirmed> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let held = waiting.get_mut(&subject.caller).ok_or(Unconfirmed::Unknown)?;
        let at = held
            .iter()
            .position(|it| it.digest == subject.digest && it.line == line)
            .ok_or(Unconfirmed::Unknown)?;
        let Waiting { plan, issued, .. } = held.remove(at);
        if is_expired(issued, now) { Err(Unconfirmed::Expired) } else { Ok(plan) }
    }
}

fn is_expired(issued: SystemTime, now: SystemTime) -> bool {
    // A clock that went backwards proves nothing: the confirmation does not outlive that.
    now.duration_since(issued).map_or(true, |age| age >= LIFETIME)
}

/// A token nobody can guess: ten characters of a 32-letter alphabet, 50 bits.
///
/// # Errors
/// When the operating system has no randomness to give.
pub fn random_token() -> Result<String, getrandom::Error> {
    // Without l, o, 0 and 1, which people misread; 32 letters, so every five bits name one.
    const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let mut bytes = [0_u8; 10];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| char::from(ALPHABET[usize::from(byte & 31)])).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: SystemTime = SystemTime::UNIX_EPOCH;
    const PLAN: &str = "{}";

    async fn issued(code: &str) -> (MemoryConfirmations, Subject) {
        let store = MemoryConfirmations::default();
        let subject = Subject::new("ann", code, "https://a.test");
        assert!(store.issue(subject.clone(), "line #1".to_owned(), PLAN.to_owned(), START).await);
        (store, subject)
    }

    #[tokio::test]
    async fn a_confirmation_is_good_once() {
        let (store, subject) = issued("return 1").await;
        assert_eq!(store.take(&subject, "line #1", START).await.as_deref(), Ok(PLAN));
        assert_eq!(store.take(&subject, "line #1", START).await, Err(Unconfirmed::Unknown));
    }

    #[tokio::test]
    async fn another_code_caller_target_or_line_takes_nothing() {
        let (store, subject) = issued("return 1").await;
        let others = [
            (Subject::new("ann", "return 2", "https://a.test"), "line #1"),
            (Subject::new("bob", "return 1", "https://a.test"), "line #1"),
            (Subject::new("ann", "return 1", "https://b.test"), "line #1"),
            (subject.clone(), "line #2"),
            (subject.clone(), "line #1 "),
        ];
        for (other, line) in others {
            assert_eq!(store.take(&other, line, START).await, Err(Unconfirmed::Unknown));
        }
        assert_eq!(
            store.take(&subject, "line #1", START).await.as_deref(),
            Ok(PLAN),
            "nothing was consumed"
        );
    }

    #[tokio::test]
    async fn ten_minutes_later_it_has_expired() {
        let (store, subject) = issued("return 1").await;
        let late = START + LIFETIME;
        assert_eq!(store.take(&subject, "line #1", late).await, Err(Unconfirmed::Expired));
        let (store, subject) = issued("return 1").await;
        let in_time = START + LIFETIME - Duration::from_secs(1);
        assert_eq!(store.take(&subject, "line #1", in_time).await.as_deref(), Ok(PLAN));
    }

    #[tokio::test]
    async fn one_caller_cannot_fill_the_store() {
        let (store, subject) = issued("return 1").await;
        for number in 0..PER_CALLER {
            store.issue(subject.clone(), format!("more #{number}"), PLAN.to_owned(), START).await;
        }
        assert_eq!(store.take(&subject, "line #1", START).await, Err(Unconfirmed::Unknown));
        assert_eq!(store.take(&subject, "more #0", START).await.as_deref(), Ok(PLAN));
    }

    #[test]
    fn tokens_differ() {
        let tokens: std::collections::HashSet<_> =
            (0..100).map(|_| random_token().unwrap()).collect();
        assert_eq!(tokens.len(), 100);
        assert!(tokens.iter().all(|it| it.len() == 10));
    }
}
