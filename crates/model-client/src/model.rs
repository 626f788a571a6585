//! One request to a model, tried again while the provider is busy.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use api_client::Method;
use api_client::error::ConfigError;
use api_client::request::{Request, RequestBuilder};
use api_client::transport::{Response, Streaming, Transport, TransportOptions};
use serde_json::Value;

use crate::conversation::{Conversation, Reply};
use crate::error::{Error, ErrorKind};
use crate::settings::{Protocol, Provider, Settings};
use crate::sse::Events;
use crate::wire::{self, Fault};

/// The largest answer that is read.
const MAX_ANSWER_BYTES: u64 = 16 * 1024 * 1024;

/// A longer wait is for the caller to decide on.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// The first pause; each next one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(250);

/// Of a provider's words about an error, this many characters are kept.
const MAX_DETAIL: usize = 500;

/// One model of one provider. Cheap to clone.
#[derive(Clone)]
pub struct Model {
    settings: Arc<Settings>,
    transport: Transport,
    place: Arc<str>,
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model")
            .field("name", &self.settings.model)
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

/// What comes of an answer before it is whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delta<'a> {
    /// More words.
    Text(&'a str),
    /// A call of this tool has begun.
    Call(&'a str),
    /// The provider broke off: what was told so far is void, the request is made again.
    Again,
}

impl Model {
    /// Checks the settings. Nothing is sent.
    ///
    /// # Errors
    /// A setting that cannot work.
    pub fn new(settings: Settings) -> Result<Self, ConfigError> {
        let mut base = settings.base()?;
        if let Some(version) = &settings.api_version
            && settings.provider == Provider::AzureOpenAi
            && settings.protocol == Protocol::Chat
        {
            base.query_pairs_mut().append_pair("api-version", version);
        }
        let host = base.host_str().unwrap_or_default();
        let place = base.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        let mut options = TransportOptions::new(base);
        options.credential = settings.credential.clone();
        options.timeout = settings.timeout;
        // What may be repeated is decided here: to a transport, every request to a model is a write.
        options.retries = false;
        options.max_response_bytes = MAX_ANSWER_BYTES;
        options.tls = settings.tls.clone();
        options.proxy = settings.proxy.clone();
        let transport = Transport::new(options)?;
        Ok(Self { settings: Arc::new(settings), transport, place: place.into() })
    }

    /// What it was set to.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The provider's host, with its port where it is not the scheme's own.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Asks for the next turn. Dropping the future ends the request.
    ///
    /// # Errors
    /// No answer, or one that cannot be read.
    pub async fn complete(&self, conversation: &Conversation) -> Result<Reply, Error> {
        self.attempts(conversation, None).await
    }

    /// Asks for the next turn and tells of it while it comes.
    ///
    /// # Errors
    /// No answer, or one that cannot be read. What was told before is then void.
    pub async fn stream(
        &self,
        conversation: &Conversation,
        mut tell: impl FnMut(Delta<'_>) + Send,
    ) -> Result<Reply, Error> {
        self.attempts(conversation, Some(&mut tell)).await
    }

    pub(crate) async fn attempts(
        &self,
        conversation: &Conversation,
        mut tell: Option<&mut (dyn FnMut(Delta<'_>) + Send)>,
    ) -> Result<Reply, Error> {
        let request = self.request(conversation, tell.is_some())?;
        let mut attempt = 1;
        loop {
            let outcome = match &mut tell {
                None => self.once(&request).await,
                Some(tell) => self.once_streamed(&request, *tell).await,
            };
            let Err(error) = outcome else { return outcome };
            let asked = error.retry_after().unwrap_or_default();
            if attempt >= self.settings.attempts || !error.is_passing() || asked > LONGEST_WAIT {
                return Err(error);
            }
            let backoff = FIRST_PAUSE * 2u32.saturating_pow(attempt - 1);
            let pause = asked.max(backoff) + jitter(backoff);
            tracing::debug!(attempt, ?pause, %error, "asking the model again");
            if let Some(tell) = &mut tell {
                tell(Delta::Again);
            }
            tokio::time::sleep(pause).await;
            attempt += 1;
        }
    }

    fn request(&self, conversation: &Conversation, stream: bool) -> Result<Request, Error> {
        let protocol = self.settings.protocol;
        let body = protocol.body(&self.settings, conversation, stream);
        let mut builder = RequestBuilder::new(Method::POST, protocol.path())
            .json_body("application/json", body.to_string());
        if protocol == Protocol::Messages {
            builder = builder.header("anthropic-version", "2023-06-01");
        }
        // Nothing of the caller's is in the path or the headers.
        builder.build().map_err(|error| self.unreadable(error.to_string()))
    }

    async fn open(&self, request: &Request) -> Result<Streaming, Error> {
        let deadline = Instant::now() + self.settings.timeout;
        let answer = self.transport.open(request, deadline).await;
        let answer = answer.map_err(|error| self.lost(error))?;
        if (200..300).contains(&answer.status) {
            return Ok(answer);
        }
        let status = answer.status;
        match answer.whole().await {
            Ok(response) => Err(self.refused(&response)),
            Err(_) => {
                let kind = ErrorKind::Status { status, retry_after: None };
                Err(Error { kind, place: self.place.to_string(), detail: None })
            }
        }
    }

    async fn once(&self, request: &Request) -> Result<Reply, Error> {
        let answer = self.open(request).await?.whole().await.map_err(|error| self.lost(error))?;
        self.read(&answer.body)
    }

    async fn once_streamed(
        &self,
        request: &Request,
        tell: &mut (dyn FnMut(Delta<'_>) + Send),
    ) -> Result<Reply, Error> {
        let mut answer = self.open(request).await?;
        let is_stream =
            answer.header("content-type").is_some_and(|it| it.starts_with("text/event-stream"));
        if !is_stream {
            let whole = answer.whole().await.map_err(|error| self.lost(error))?;
            let reply = self.read(&whole.body)?;
            tell(Delta::Text(&reply.turn.text));
            return Ok(reply);
        }
        let mut assembly = self.settings.protocol.assembly();
        let mut events = Events::default();
        while let Some(piece) = answer.chunk().await.map_err(|error| self.lost(error))? {
            for event in events.take(&piece) {
                self.take(&mut assembly, &event, tell)?;
            }
        }
        if let Some(event) = events.end() {
            self.take(&mut assembly, &event, tell)?;
        }
        let Some(body) = assembly.end() else {
            let kind = ErrorKind::BrokenOff;
            return Err(Error { kind, place: self.place.to_string(), detail: None });
        };
        self.settings.protocol.reply(&body).map_err(|fault| self.faulty(fault))
    }

    fn take(
        &self,
        assembly: &mut wire::Assembly,
        event: &str,
        tell: &mut (dyn FnMut(Delta<'_>) + Send),
    ) -> Result<(), Error> {
        if event.trim() == "[DONE]" {
            return Ok(());
        }
        let event: Value =
            serde_json::from_str(event).map_err(|error| self.unreadable(error.to_string()))?;
        assembly.take(&event, tell).map_err(|fault| self.faulty(fault))
    }

    fn read(&self, bytes: &[u8]) -> Result<Reply, Error> {
        let body: Value =
            serde_json::from_slice(bytes).map_err(|error| self.unreadable(error.to_string()))?;
        self.settings.protocol.reply(&body).map_err(|fault| self.faulty(fault))
    }

    fn lost(&self, error: api_client::error::Error) -> Error {
        Error { kind: ErrorKind::Transport(error), place: self.place.to_string(), detail: None }
    }

    fn refused(&self, response: &Response) -> Error {
        let body = serde_json::from_slice::<Value>(&response.body).unwrap_or_default();
        let words = wire::reported(&body).or_else(|| body["message"].as_str().map(str::to_owned));
        let (status, retry_after) = (response.status, response.retry_after());
        Error {
            kind: ErrorKind::Status { status, retry_after },
            place: self.place.to_string(),
            detail: words.map(|it| self.detail(&it)),
        }
    }

    fn faulty(&self, fault: Fault) -> Error {
        match fault {
            Fault::Form(why) => self.unreadable(why),
            Fault::Reported(words) => Error {
                kind: ErrorKind::BrokenOff,
                place: self.place.to_string(),
                detail: Some(self.detail(&words)),
            },
        }
    }

    fn unreadable(&self, why: String) -> Error {
        Error { kind: ErrorKind::Answer(why), place: self.place.to_string(), detail: None }
    }

    fn detail(&self, words: &str) -> String {
        self.transport.mask(words).chars().take(MAX_DETAIL).collect()
    }
}

/// A random part of `most`, so that clients turned away together do not come back together.
fn jitter(most: Duration) -> Duration {
    let random = getrandom::u32().unwrap_or_default();
    most.mul_f64(f64::from(random) / f64::from(u32::MAX))
}
