//! The document of one API: found, loaded in the background, kept on disk and kept up to date.

mod fetch;
mod location;
#[cfg(test)]
mod tests;

use std::{
    fmt, io,
    sync::Arc,
    time::{Duration, Instant},
};

use api_client::transport::Transport;
use tokio::{runtime::Handle, sync::watch, task, time};
use url::Url;

use self::fetch::Fetched;
pub use self::location::{DocumentLocation, LocationError, file_path};
use super::{
    Document, LoadOptions,
    cache::{CacheDir, Stamp},
};
use crate::search::{Entry, Index};

/// How long a call waits for the answer whether a cached document is still the newest.
const FRESHNESS: Duration = Duration::from_secs(1);
/// How long a document counts as the newest: a server may run for days.
const RECHECK: Duration = Duration::from_secs(3600);
/// How long one attempt to load may take: some instances generate their document on request.
const ATTEMPT: Duration = Duration::from_secs(120);
/// The wait after the first failure; it doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// A document, ready for use.
#[derive(Debug)]
pub struct Loaded {
    /// The document itself.
    pub document: Document,
    /// Its operations, searchable.
    pub index: Index,
}

/// Why there is no document yet. Its text says what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadFailure {
    message: String,
}

impl std::error::Error for LoadFailure {}

impl fmt::Display for LoadFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl LoadFailure {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

/// Says why a newer document must not replace the one in use, if so.
pub type Objection = Arc<dyn Fn(&Document, &Document) -> Option<String> + Send + Sync>;

/// What a [`DocumentSource`] needs to know.
pub struct SourceOptions {
    /// What messages call the API.
    pub title: String,
    /// Where the document is.
    pub location: DocumentLocation,
    /// Fetches it, with the credential where that is allowed.
    pub transport: Arc<Transport>,
    /// The setting to name when the credential is refused, in backticks.
    pub credential_setting: Option<String>,
    /// Where compiled documents are kept, if anywhere.
    pub cache: Option<CacheDir>,
    /// Asked, with the old and the new one, before a document replaces another.
    pub objection: Option<Objection>,
}

impl fmt::Debug for SourceOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SourceOptions")
            .field("title", &self.title)
            .field("location", &self.location)
            .field("cache", &self.cache)
            .finish_non_exhaustive()
    }
}

/// The document of one API, which loads in the background and is waited for only by who needs it.
#[derive(Debug, Clone)]
pub struct DocumentSource {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    options: SourceOptions,
    state: watch::Sender<State>,
}

#[derive(Debug, Default)]
struct State {
    loaded: Option<Arc<Loaded>>,
    /// Where `loaded` came from.
    stamp: Option<Stamp>,
    phase: Phase,
}

#[derive(Debug, Default)]
enum Phase {
    #[default]
    Idle,
    /// `first` at the start: only then is a call held up for a document newer than the cached one.
    Loading {
        since: Instant,
        first: bool,
        failures: u32,
    },
    Settled {
        at: Instant,
    },
    Failed {
        failure: LoadFailure,
        again: Instant,
        failures: u32,
    },
}

impl DocumentSource {
    /// Starts to load in the background; outside a runtime, the first [`Self::get`] starts it.
    pub fn new(options: SourceOptions) -> Self {
        let source = Self { inner: Arc::new(Inner { options, state: watch::Sender::default() }) };
        if Handle::try_current().is_ok() {
            source.start();
        }
        source
    }

    /// Returns the document, waiting for it until `deadline`.
    ///
    /// # Errors
    ///
    /// [`LoadFailure`] when it is not there in time, or the last attempt failed. A failed attempt is
    /// repeated by a later call, not by this one.
    pub async fn get(&self, deadline: Instant) -> Result<Arc<Loaded>, LoadFailure> {
        self.start();
        let mut state = self.inner.state.subscribe();
        let usable = state.wait_for(|state| state.loaded.is_some() || !state.is_loading());
        drop(time::timeout_at(deadline.into(), usable).await);
        let patience = self.inner.state.borrow().patience();
        if let Some(patience) = patience {
            let settled = state.wait_for(|state| !state.is_loading());
            drop(time::timeout_at(patience.min(deadline).into(), settled).await);
        }
        self.inner.state.borrow().answer(&self.inner.options.title)
    }

    /// Returns the document if it is there, without waiting.
    pub fn current(&self) -> Option<Arc<Loaded>> {
        self.inner.state.borrow().loaded.clone()
    }

    /// Starts an attempt to load, if one is due.
    fn start(&self) {
        let due = self.inner.state.send_if_modified(|state| {
            let (first, failures) = match &state.phase {
                Phase::Idle => (true, 0),
                Phase::Failed { again, failures, .. } if *again <= Instant::now() => {
                    (false, *failures)
                }
                Phase::Settled { at } if at.elapsed() >= RECHECK => (false, 0),
                Phase::Failed { .. } | Phase::Loading { .. } | Phase::Settled { .. } => {
                    return false;
                }
            };
            state.phase = Phase::Loading { since: Instant::now(), first, failures };
            true
        });
        if due {
            drop(tokio::spawn(Arc::clone(&self.inner).load()));
        }
    }
}

impl State {
    fn is_loading(&self) -> bool {
        matches!(self.phase, Phase::Loading { .. })
    }

    /// Until when a call waits for something newer than what is there.
    fn patience(&self) -> Option<Instant> {
        if let Phase::Loading { since, first: true, .. } = self.phase
            && self.loaded.is_some()
        {
            return Some(since + FRESHNESS);
        }
        None
    }

    fn answer(&self, title: &str) -> Result<Arc<Loaded>, LoadFailure> {
        match (&self.loaded, &self.phase) {
            (Some(loaded), _) => Ok(Arc::clone(loaded)),
            (None, Phase::Failed { failure, .. }) => Err(failure.clone()),
            (None, Phase::Loading { since, .. }) => Err(LoadFailure::new(format!(
                "the document of `{title}` is still loading ({} s so far): try again",
                since.elapsed().as_secs()
            ))),
            (None, Phase::Idle | Phase::Settled { .. }) => {
                Err(LoadFailure::new(format!("the document of `{title}` is not loaded: try again")))
            }
        }
    }
}

impl Inner {
    /// Makes one attempt: the cache first, then the source itself.
    async fn load(self: Arc<Self>) {
        let outcome = match time::timeout(ATTEMPT, self.attempt()).await {
            Ok(outcome) => outcome,
            Err(_) => Err(LoadFailure::new(format!(
                "the document of `{}` did not arrive within {} s",
                self.options.title,
                ATTEMPT.as_secs()
            ))),
        };
        self.state.send_modify(|state| {
            let failures = match state.phase {
                Phase::Loading { failures, .. } => failures + 1,
                Phase::Idle | Phase::Settled { .. } | Phase::Failed { .. } => 1,
            };
            state.phase = match outcome {
                Ok(()) => Phase::Settled { at: Instant::now() },
                Err(failure) => {
                    let in_use = state.loaded.is_some();
                    tracing::warn!(
                        api = self.options.title,
                        in_use = if in_use { "the last known document" } else { "none" },
                        "{failure}"
                    );
                    let doublings = (failures - 1).min(6);
                    let pause = (FIRST_PAUSE * (1 << doublings)).min(LONGEST_PAUSE);
                    Phase::Failed { failure, again: Instant::now() + pause, failures }
                }
            };
        });
    }

    async fn attempt(self: &Arc<Self>) -> Result<(), LoadFailure> {
        let source = self.source_name();
        let is_first = self.state.borrow().loaded.is_none();
        if is_first && let Some((stamp, loaded)) = self.read_cache(&source).await {
            tracing::debug!(api = self.options.title, stored = stamp.stored, "cached document");
            self.use_now(stamp, Arc::new(loaded));
        }
        let known = self.state.borrow().stamp.clone();
        let Fetched::New { bytes, etag, last_modified, url } =
            fetch::fetch(&self.options, known.as_ref()).await?
        else {
            return Ok(());
        };
        let this = Arc::clone(self);
        // Documents are large and reading one is work: it must not hold up the protocol.
        let read = task::spawn_blocking(move || {
            let stamp = Stamp::new(&source, &bytes, etag, last_modified);
            this.take(&stamp, &bytes, url)
        });
        read.await.map_err(|_| {
            LoadFailure::new(format!("the document of `{}` cannot be read", self.options.title))
        })?
    }

    /// Reads new bytes, puts the document to use and stores it.
    fn take(&self, stamp: &Stamp, bytes: &[u8], url: Option<Url>) -> Result<(), LoadFailure> {
        let current = self.state.borrow().loaded.clone();
        if current.as_ref().is_some_and(|current| current.document.hash() == stamp.sha256) {
            return Ok(());
        }
        let started = Instant::now();
        let document = super::load(bytes, &LoadOptions { document_url: url }).map_err(|error| {
            LoadFailure::new(format!(
                "the document of `{}` at {} cannot be used: {error}",
                self.options.title, stamp.source
            ))
        })?;
        if let (Some(current), Some(objection)) = (&current, &self.options.objection)
            && let Some(reason) = objection(&current.document, &document)
        {
            tracing::warn!(api = self.options.title, "the new document is not used: {reason}");
            return Ok(());
        }
        let loaded = Arc::new(Loaded::new(document));
        loaded.report(&self.options.title, &stamp.source, started.elapsed());
        self.use_now(stamp.clone(), Arc::clone(&loaded));
        self.write_cache(stamp, &loaded);
        Ok(())
    }

    fn use_now(&self, stamp: Stamp, loaded: Arc<Loaded>) {
        self.state.send_modify(|state| {
            state.loaded = Some(loaded);
            state.stamp = Some(stamp);
        });
    }

    async fn read_cache(self: &Arc<Self>, source: &str) -> Option<(Stamp, Loaded)> {
        let cache = self.options.cache.clone()?;
        let source = source.to_owned();
        let read = task::spawn_blocking(move || {
            let cached = cache.read(&source)?;
            let loaded = Loaded::from_bytes(cached.content())
                .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;
            Ok::<_, io::Error>((cached.stamp, loaded))
        });
        match read.await.ok()? {
            Ok(cached) => Some(cached),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                tracing::warn!(
                    api = self.options.title,
                    "the cached document is not used: {error}"
                );
                None
            }
        }
    }

    fn write_cache(&self, stamp: &Stamp, loaded: &Loaded) {
        let Some(cache) = &self.options.cache else {
            return;
        };
        let stored = loaded.to_bytes().map(|content| cache.write(stamp, &content));
        match stored {
            Some(Ok(())) => {}
            Some(Err(error)) => {
                tracing::warn!(api = self.options.title, "the document is not cached: {error}");
            }
            None => tracing::warn!(api = self.options.title, "the document is not cached"),
        }
    }

    /// What the cache and messages call the place of the document.
    fn source_name(&self) -> String {
        match (&self.options.location, fetch::url(&self.options)) {
            (_, Some(url)) => url.into(),
            (DocumentLocation::File(path), None) => path.display().to_string(),
            (DocumentLocation::Instance { path }, None) => (*path).to_owned(),
            (DocumentLocation::Url { url, .. }, None) => url.to_string(),
        }
    }
}

impl Loaded {
    /// Makes a document searchable.
    pub fn new(document: Document) -> Self {
        let fields = document.search_fields();
        let entries = document.summaries().iter().zip(&fields).map(|(summary, fields)| Entry {
            id: &summary.id,
            method: summary.method.as_str(),
            path: &summary.path,
            summary: &summary.summary,
            description: &summary.description,
            tags: &summary.tags,
            parameters: &fields.parameters,
            body: &fields.body,
            answer: &fields.answer,
            deprecated: summary.deprecated,
        });
        let index = Index::build(entries);
        Self { document, index }
    }

    fn report(&self, title: &str, source: &str, took: Duration) {
        let document = &self.document;
        tracing::info!(
            api = title,
            document = %format_args!("{} {}", document.title(), document.version()),
            operations = document.len(),
            skipped = document.skipped().len(),
            ms = took.as_millis(),
            source,
            "document loaded"
        );
        const NAMED: usize = 10;
        for skipped in document.skipped().iter().take(NAMED) {
            tracing::warn!(api = title, place = skipped.place, "skipped: {}", skipped.reason);
        }
        if document.skipped().len() > NAMED {
            tracing::warn!(api = title, "skipped {} more", document.skipped().len() - NAMED);
        }
    }

    /// The form kept in the disk cache: the length of the document's bytes, those bytes, the index's.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let document = self.document.to_bytes().ok()?;
        let mut bytes = u64::try_from(document.len()).ok()?.to_le_bytes().to_vec();
        bytes.extend_from_slice(&document);
        postcard::to_extend(&self.index, bytes).ok()
    }

    /// Reads what [`Self::to_bytes`] wrote; `None` for anything else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (length, rest) = bytes.split_first_chunk()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (document, index) = rest.split_at_checked(length)?;
        let document = Document::from_bytes(document).ok()?;
        Some(Self { document, index: postcard::from_bytes(index).ok()? })
    }
}
