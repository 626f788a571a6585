//! Sends requests to one API: timeouts, retries, redirects, size caps, and a credential bound to its origin.

mod budget;
mod client;
mod document;
mod failure;
mod governor;
mod options;
mod reach;
mod redirect;
mod response;
mod retry;
mod streaming;
mod tls;
mod trip;
mod witness;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::{HeaderMap, HeaderName, HeaderValue};
use url::{Origin, Url};

use crate::auth::Credential;
use crate::error::{ConfigError, Error, ErrorKind, Progress};
use crate::request::Request;
use crate::secret::{KeptMask, Mask, Secret};
use client::{Clients, Settings};
use governor::Governor;
use reach::Reach;
use redirect::Rule;
use trip::Trip;

pub use budget::Budget;
pub use document::{Fetched, MAX_DOCUMENT_BYTES, Validators};
pub use options::{ProxyOptions, TlsOptions, TransportOptions};
pub use redirect::RedirectPolicy;
pub use response::Response;
pub use streaming::Streaming;
pub use witness::{Outgoing, Witness};

/// Whether a request changes something. Decides on retries and redirects, whatever the method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It may be sent twice and follow redirects.
    Read,
    /// It is sent once, to the address it was written for.
    Write,
}

/// Sends requests to one API. Cheap to clone and to point at another base or credential.
#[derive(Clone)]
pub struct Transport {
    shared: Arc<Shared>,
    base: Url,
    credential: Credential,
    mask: Arc<KeptMask>,
    witness: Option<Arc<dyn Witness>>,
    max_response_bytes: u64,
}

struct Shared {
    clients: Clients,
    headers: Vec<(HeaderName, Secret)>,
    timeout: Duration,
    retries: bool,
    allowed_origins: Vec<Origin>,
    governor: Governor,
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transport")
            .field("base", &self.base.origin().ascii_serialization())
            .field("credential", &self.credential)
            .finish_non_exhaustive()
    }
}

impl Transport {
    /// Checks the options. The HTTP client is built when the first request needs it.
    ///
    /// # Errors
    /// A base URL, credential, header, certificate or proxy that cannot work.
    pub fn new(options: TransportOptions) -> Result<Self, ConfigError> {
        options.credential.check()?;
        let mut headers = Vec::new();
        for (name, value) in options.headers {
            let parsed = HeaderName::from_bytes(name.as_bytes()).ok();
            let usable = HeaderValue::from_str(value.expose()).is_ok();
            let Some(parsed) = parsed.filter(|_| usable) else {
                let hint = "give it as `Name: value`, without line breaks";
                return Err(ConfigError::new(format!("header `{name}` cannot be sent"), hint));
            };
            headers.push((parsed, value));
        }
        if HeaderValue::from_str(&options.user_agent).is_err() {
            let hint = "use letters, digits and `/`";
            return Err(ConfigError::new("the user agent is not a header value", hint));
        }
        let clients = Clients::new(Settings {
            tls: options.tls,
            proxy: options.proxy,
            connect_timeout: options.connect_timeout,
            user_agent: options.user_agent,
            retries: options.retries,
        })?;
        let shared = Shared {
            clients,
            headers,
            timeout: options.timeout,
            retries: options.retries,
            allowed_origins: options.allowed_origins,
            governor: Governor::default(),
        };
        Ok(Self {
            shared: Arc::new(shared),
            base: options::checked_base(options.base_url)?,
            credential: options.credential,
            mask: Arc::default(),
            witness: None,
            max_response_bytes: options.max_response_bytes,
        })
    }

    /// Returns the same transport for another base, which then gets the credential: only for hosts
    /// that the operator named or a profile checked, such as a region.
    ///
    /// # Errors
    /// A URL that cannot be a base.
    pub fn with_base(&self, base_url: Url) -> Result<Self, ConfigError> {
        Ok(Self { base: options::checked_base(base_url)?, ..self.clone() })
    }

    /// Returns the same transport for another caller.
    ///
    /// # Errors
    /// A credential that its place cannot carry.
    pub fn with_credential(&self, credential: Credential) -> Result<Self, ConfigError> {
        credential.check()?;
        Ok(Self { credential, mask: Arc::default(), ..self.clone() })
    }

    /// Returns the same transport with somebody who is told of every request of
    /// [`Transport::send_checked`], and may refuse it.
    #[must_use]
    pub fn with_witness(&self, witness: Arc<dyn Witness>) -> Self {
        Self { witness: Some(witness), ..self.clone() }
    }

    /// Returns the same transport for larger responses: up to this many bytes, or what it reads
    /// already, if that is more.
    #[must_use]
    pub fn reading_up_to(&self, bytes: u64) -> Self {
        Self { max_response_bytes: self.max_response_bytes.max(bytes), ..self.clone() }
    }

    /// Returns the base URL, without a closing `/`.
    #[must_use]
    pub fn base_url(&self) -> &Url {
        &self.base
    }

    /// Sends a request; reads follow any redirect that stays below the base URL.
    ///
    /// # Errors
    /// See [`Transport::send_checked`].
    pub async fn send(
        &self,
        request: &Request,
        effect: Effect,
        deadline: Instant,
    ) -> Result<Response, Error> {
        self.send_checked(request, effect, deadline, &redirect::any_read).await
    }

    /// Sends a request; a redirect of a read within the API is followed if `redirects` allows it.
    ///
    /// Any status is a response, redirects that name no place among them. Dropping the future
    /// closes the connection.
    ///
    /// # Errors
    /// No usable response: no connection, none in time, too large, or a redirect that is not
    /// followed. Writes follow none: what they would change there is not what was asked for.
    pub async fn send_checked(
        &self,
        request: &Request,
        effect: Effect,
        deadline: Instant,
        redirects: &dyn RedirectPolicy,
    ) -> Result<Response, Error> {
        let trip = Trip {
            route: format!("{} {}", request.method, request.template),
            effect,
            method: request.method.clone(),
            url: self.url(request)?,
            headers: headers(request),
            body: request.body.as_ref().map(|body| body.bytes.clone()),
            rule: Rule::Call(redirects),
            reach: Reach::Any,
            limit: self.max_response_bytes,
            deadline: deadline.min(Instant::now() + self.shared.timeout),
        };
        let Some(witness) = &self.witness else {
            return self.attempts(&trip).await.map(|(response, _)| response);
        };
        let outgoing =
            Outgoing { effect, method: &trip.method, template: &request.template, url: &trip.url };
        if let Err(why) = witness.about_to_send(&outgoing) {
            let kind = ErrorKind::Request { why };
            return Err(Error::new(trip.route, place(&trip.url), Progress::NotSent, kind));
        }
        // Told even when the caller goes away halfway.
        let mut told = witness::Told::new(witness.as_ref(), outgoing);
        let outcome = self.attempts(&trip).await.map(|(response, _)| response);
        told.answered(&outcome);
        outcome
    }

    /// Replaces the credential and the operator's headers in text from upstream: plain, as JSON
    /// writes them, percent-encoded and inside base64. Secrets shorter than
    /// [`crate::secret::SHORTEST_MASKED`] bytes stay.
    #[must_use]
    pub fn mask<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let build = || {
            let mut mask = Mask::default();
            self.credential.add_to(&mut mask);
            for (_, value) in &self.shared.headers {
                mask.add(value.expose());
            }
            mask
        };
        self.mask.get(self.credential.known(), build).apply(text)
    }

    /// Returns what the server last told about this caller's rate limits, one entry for each budget
    /// it keeps; nothing before the first answer, or where it tells nothing.
    #[must_use]
    pub fn budget(&self) -> Vec<Budget> {
        let governor = &self.shared.governor;
        governor.budgets(&governor.account(&self.base, &self.credential))
    }

    fn holds_secret(&self, text: &str) -> bool {
        matches!(self.mask(text), Cow::Owned(_))
    }

    fn allows(&self, origin: &Origin) -> bool {
        self.shared.allowed_origins.contains(origin)
    }

    /// Returns the address of a request, without the credential.
    ///
    /// # Errors
    /// The path would name another one after the normalisation that URLs undergo.
    pub fn url(&self, request: &Request) -> Result<Url, Error> {
        let path = format!("{}{}", self.base.path().trim_end_matches('/'), request.path);
        let queries = [self.base.query().unwrap_or_default(), request.query.as_str()];
        let query = queries.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join("&");
        let mut url = self.base.clone();
        url.set_path(&path);
        url.set_query(Some(query.as_str()).filter(|it| !it.is_empty()));
        if url.path() == path {
            return Ok(url);
        }
        let route = format!("{} {}", request.method, request.template);
        let kind = ErrorKind::Request { why: "its path would name another one".to_owned() };
        Err(Error::new(route, place(&url), Progress::NotSent, kind))
    }
}

fn headers(request: &Request) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let body_type = request.body.iter().map(|it| ("content-type", it.content_type.as_str()));
    let given = request.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    for (name, value) in given.chain(body_type) {
        // The builder has checked both.
        let name = HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(value.as_bytes())) {
            headers.append(name, value);
        }
    }
    headers
}

/// The `host:port` of a URL, for errors.
fn place(url: &Url) -> String {
    let host = url.host_str().unwrap_or("?");
    url.port_or_known_default().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}
