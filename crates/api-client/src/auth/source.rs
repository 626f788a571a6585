//! Where a secret comes from: given, from a file that may change, or from a supplier that takes time.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use futures::future::BoxFuture;

use super::text::clean;
use crate::error::ConfigError;
use crate::secret::Secret;

/// Hands out a secret that takes time to get: a command, a keyring, a token endpoint.
pub trait Supplier: Send + Sync + fmt::Debug {
    /// Gets the secret anew. Called once at a time, however many requests wait for it.
    fn supply(&self) -> BoxFuture<'_, Result<Supply, ConfigError>>;

    /// What else it works with that no text may show, such as a client's own secret.
    fn secrets(&self) -> Vec<Secret> {
        Vec::new()
    }
}

/// What a [`Supplier`] hands out.
#[derive(Debug, Clone)]
pub struct Supply {
    /// The secret, not cleaned yet.
    pub secret: Secret,
    /// For how long it can be used; without it, until the API turns it away.
    pub lives: Option<Duration>,
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
    Supplied(Arc<Supplied>),
}

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
        let file = SecretFile { path, read: Mutex::default() };
        file.current(&label)?;
        Ok(Self { label, origin: Origin::File(Arc::new(file)) })
    }

    /// Gets a secret from a supplier when it is first needed, and again shortly before it expires
    /// and after the API has turned it away.
    pub fn supplied(label: impl Into<String>, supplier: impl Supplier + 'static) -> Self {
        let supplied = Supplied {
            supplier: Box::new(supplier),
            turn: Default::default(),
            kept: Mutex::default(),
        };
        Self { label: label.into(), origin: Origin::Supplied(Arc::new(supplied)) }
    }

    /// What messages call it.
    pub(crate) fn label(&self) -> &str {
        &self.label
    }

    /// Returns the secret if it can be had without waiting for others.
    pub(super) fn at_hand(&self) -> Option<Result<Secret, ConfigError>> {
        match &self.origin {
            Origin::Literal(secret) => Some(Ok(secret.clone())),
            Origin::File(file) => Some(file.current(&self.label)),
            Origin::Supplied(_) => None,
        }
    }

    /// Returns the secret to use now.
    pub(crate) async fn current(&self) -> Result<Secret, ConfigError> {
        match &self.origin {
            Origin::Literal(secret) => Ok(secret.clone()),
            Origin::File(file) => file.current(&self.label),
            Origin::Supplied(supplied) => supplied.current(&self.label).await,
        }
    }

    /// Looks for another secret than the one that was turned away; whether there is one.
    pub(super) async fn renew(&self, rejected: &Secret) -> bool {
        match &self.origin {
            Origin::Literal(_) => false,
            Origin::File(file) => file.renew(&self.label, rejected),
            Origin::Supplied(supplied) => supplied.renew(&self.label, rejected).await,
        }
    }

    /// Returns the values in use now and shortly before.
    pub(crate) fn known(&self) -> Vec<Secret> {
        match &self.origin {
            Origin::Literal(secret) => vec![secret.clone()],
            Origin::File(file) => file.lock().values.0.clone(),
            Origin::Supplied(supplied) => {
                let mut known = supplied.lock().values.0.clone();
                known.extend(supplied.supplier.secrets());
                known
            }
        }
    }

    /// Feeds a hasher with what stays the same while values come and go.
    pub(super) fn identify(&self, hasher: &mut impl Hasher) {
        match &self.origin {
            Origin::Literal(secret) => secret.expose().hash(hasher),
            Origin::File(file) => file.path.hash(hasher),
            Origin::Supplied(supplied) => Arc::as_ptr(supplied).hash(hasher),
        }
    }
}

/// The values of a source, the newest last. Older ones are kept for masking: answers to them may
/// still be on the way.
#[derive(Debug, Default)]
struct Values(Vec<Secret>);

/// How many values of a source are masked.
const REMEMBERED: usize = 4;

impl Values {
    fn newest(&self) -> Option<&Secret> {
        self.0.last()
    }

    fn add(&mut self, secret: &Secret) {
        if self.newest() != Some(secret) {
            self.0.push(secret.clone());
            let surplus = self.0.len().saturating_sub(REMEMBERED);
            self.0.drain(..surplus);
        }
    }
}

#[derive(Debug)]
struct SecretFile {
    path: PathBuf,
    read: Mutex<Read>,
}

#[derive(Debug, Default)]
struct Read {
    modified: Option<SystemTime>,
    values: Values,
}

impl SecretFile {
    fn lock(&self) -> MutexGuard<'_, Read> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn current(&self, label: &str) -> Result<Secret, ConfigError> {
        let mut read = self.lock();
        let modified = std::fs::metadata(&self.path).and_then(|it| it.modified()).ok();
        let newest = read.values.newest().cloned();
        if let Some(secret) = &newest
            && (modified.is_none() || modified == read.modified)
        {
            return Ok(secret.clone());
        }
        match (self.fresh(label), newest) {
            (Ok(secret), _) => {
                read.modified = modified;
                read.values.add(&secret);
                Ok(secret)
            }
            (Err(error), Some(last)) => {
                tracing::warn!(file = label, %error, "keeping the last good secret");
                Ok(last)
            }
            (Err(error), None) => Err(error),
        }
    }

    fn fresh(&self, label: &str) -> Result<Secret, ConfigError> {
        let text = std::fs::read_to_string(&self.path).map_err(|error| {
            let hint = "check the path and that this user may read it";
            ConfigError::new(format!("`{label}` cannot be read: {error}"), hint)
        })?;
        clean(label, &text)
    }

    /// Reads the file whatever its modification time says: two changes can share one.
    fn renew(&self, label: &str, rejected: &Secret) -> bool {
        match self.fresh(label) {
            Ok(secret) if secret != *rejected => {
                self.lock().values.add(&secret);
                true
            }
            Ok(_) | Err(_) => false,
        }
    }
}

#[derive(Debug)]
struct Supplied {
    supplier: Box<dyn Supplier>,
    /// Held while the supplier is at work; those who wait find its answer.
    turn: tokio::sync::Mutex<()>,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    values: Values,
    /// When the newest value should be replaced.
    until: Option<Instant>,
    /// When a value was last replaced because the API had turned it away.
    renewed: Option<Instant>,
    failed: Option<(Instant, ConfigError)>,
}

/// A value is replaced this long before it expires, or after half its life if that is shorter.
const MARGIN: Duration = Duration::from_secs(30);

/// An API that turns every value away costs one new value in this time, not one a request.
const BETWEEN_RENEWALS: Duration = Duration::from_secs(30);

/// Requests that waited while the supplier failed share its answer.
const FAILURE_HOLDS: Duration = Duration::from_secs(1);

impl Supplied {
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn kept(&self) -> Option<Result<Secret, ConfigError>> {
        let kept = self.lock();
        let now = Instant::now();
        if let Some(secret) = kept.values.newest()
            && kept.until.is_none_or(|until| now < until)
        {
            return Some(Ok(secret.clone()));
        }
        let (at, error) = kept.failed.as_ref()?;
        (now.duration_since(*at) < FAILURE_HOLDS).then(|| Err(error.clone()))
    }

    async fn current(&self, label: &str) -> Result<Secret, ConfigError> {
        if let Some(kept) = self.kept() {
            return kept;
        }
        let _turn = self.turn.lock().await;
        match self.kept() {
            Some(kept) => kept,
            None => self.ask(label).await,
        }
    }

    async fn renew(&self, label: &str, rejected: &Secret) -> bool {
        let _turn = self.turn.lock().await;
        {
            let mut kept = self.lock();
            if kept.values.newest().is_some_and(|newest| newest != rejected) {
                return true;
            }
            if kept.renewed.is_some_and(|at| at.elapsed() < BETWEEN_RENEWALS) {
                return false;
            }
            kept.renewed = Some(Instant::now());
        }
        match self.ask(label).await {
            Ok(secret) => secret != *rejected,
            Err(error) => {
                tracing::warn!(source = label, %error, "no new secret in place of a rejected one");
                false
            }
        }
    }

    /// Asks the supplier; to be called by whoever has the turn.
    async fn ask(&self, label: &str) -> Result<Secret, ConfigError> {
        let supply = self.supplier.supply().await;
        let cleaned = supply.and_then(|it| Ok((clean(label, it.secret.expose())?, it.lives)));
        let mut kept = self.lock();
        match cleaned {
            Ok((secret, lives)) => {
                kept.values.add(&secret);
                let useful = lives.map(|lives| lives - MARGIN.min(lives / 2));
                kept.until = useful.and_then(|useful| Instant::now().checked_add(useful));
                kept.failed = None;
                Ok(secret)
            }
            Err(error) => {
                kept.failed = Some((Instant::now(), error.clone()));
                Err(error)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures::FutureExt as _;

    use super::*;

    /// Counts how often it is asked, and answers with that count.
    #[derive(Debug)]
    struct Counter {
        asked: Arc<AtomicUsize>,
        lives: Option<Duration>,
        fails: bool,
    }

    impl Supplier for Counter {
        fn supply(&self) -> BoxFuture<'_, Result<Supply, ConfigError>> {
            async {
                let count = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
                tokio::task::yield_now().await;
                if self.fails {
                    return Err(ConfigError::new(format!("failure {count}"), "try later"));
                }
                Ok(Supply { secret: Secret::new(format!("token-{count}\n")), lives: self.lives })
            }
            .boxed()
        }
    }

    fn counting(lives: Option<Duration>, fails: bool) -> (SecretSource, Arc<AtomicUsize>) {
        let asked = Arc::new(AtomicUsize::new(0));
        let counter = Counter { asked: Arc::clone(&asked), lives, fails };
        (SecretSource::supplied("--token-command", counter), asked)
    }

    #[tokio::test]
    async fn a_supplier_is_asked_once_however_many_wait() {
        let (source, asked) = counting(None, false);
        let all = futures::future::join_all((0..20).map(|_| source.current())).await;
        assert!(all.into_iter().all(|it| it.unwrap().expose() == "token-1"));
        assert_eq!(asked.load(Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn those_who_waited_share_a_failure() {
        let (source, asked) = counting(None, true);
        let all = futures::future::join_all((0..20).map(|_| source.current())).await;
        assert!(all.into_iter().all(|it| it.unwrap_err().message() == "failure 1"));
        assert_eq!(asked.load(Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn a_secret_is_replaced_before_it_expires_and_stays_masked() {
        for (lives, expected) in [(Duration::ZERO, "token-2"), (Duration::from_secs(60), "token-1")]
        {
            let (source, _) = counting(Some(lives), false);
            source.current().await.unwrap();
            assert_eq!(source.current().await.unwrap().expose(), expected);
            assert_eq!(source.known().first().unwrap().expose(), "token-1");
        }
    }

    #[tokio::test]
    async fn a_rejected_secret_is_replaced_once_in_a_while() {
        let (source, asked) = counting(None, false);
        let first = source.current().await.unwrap();
        let renewals = futures::future::join_all((0..5).map(|_| source.renew(&first))).await;
        assert_eq!(renewals, [true; 5]);
        let second = source.current().await.unwrap();
        assert_eq!(second.expose(), "token-2");
        assert!(!source.renew(&second).await, "the next one is not asked for at once");
        assert_eq!(asked.load(Ordering::Relaxed), 2);
        let given = SecretSource::literal("TOKEN", "given-token").unwrap();
        assert!(!given.renew(&given.current().await.unwrap()).await);
    }

    /// P78.
    #[tokio::test]
    async fn a_secret_file_is_read_again_when_it_changes_and_keeps_its_last_good_value() {
        let path = std::env::temp_dir().join(format!("api-client-secret-{}", std::process::id()));
        let write = |text: &str, seconds: u64| {
            std::fs::write(&path, text).unwrap();
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            std::fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        };
        write("first-value\n", 1_000);
        let source = SecretSource::file(&path).unwrap();
        let current = async || source.current().await.unwrap().expose().to_owned();
        assert_eq!(current().await, "first-value");
        write("second-value\n", 2_000);
        assert_eq!(current().await, "second-value");
        write("third-value\n", 2_000);
        assert_eq!(current().await, "second-value", "nothing says that it has changed");
        assert!(source.renew(&Secret::new("second-value")).await);
        assert_eq!(current().await, "third-value");
        write("", 3_000);
        assert_eq!(current().await, "third-value");
        std::fs::remove_file(&path).unwrap();
        assert_eq!(current().await, "third-value");
        let known: Vec<_> = source.known().iter().map(|it| it.expose().to_owned()).collect();
        assert_eq!(known, ["first-value", "second-value", "third-value"]);
        assert!(SecretSource::file(&path).unwrap_err().to_string().contains("cannot be read"));
    }
}
