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
mod tls;
mod witness;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use url::{Origin, Url};

use crate::auth::{self, Credential};
use crate::error::{ConfigError, Error, ErrorKind, Progress};
use crate::request::Request;
use crate::secret::{KeptMask, Mask, Secret};
use client::{Clients, Line, Settings};
use governor::{Account, Governor, Turn};
use reach::Reach;
use redirect::Rule;

pub use budget::Budget;
pub use document::{Fetched, MAX_DOCUMENT_BYTES, Validators};
pub use options::{ProxyOptions, TlsOptions, TransportOptions};
pub use redirect::RedirectPolicy;
pub use response::Response;
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
}

struct Shared {
    clients: Clients,
    headers: Vec<(HeaderName, Secret)>,
    timeout: Duration,
    retries: bool,
    max_response_bytes: u64,
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
            max_response_bytes: options.max_response_bytes,
            allowed_origins: options.allowed_origins,
            governor: Governor::default(),
        };
        Ok(Self {
            shared: Arc::new(shared),
            base: options::checked_base(options.base_url)?,
            credential: options.credential,
            mask: Arc::default(),
            witness: None,
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
            limit: self.shared.max_response_bytes,
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

    /// Sends until there is an answer or no point in going on; returns where it was found.
    async fn attempts(&self, trip: &Trip<'_>) -> Result<(Response, Url), Error> {
        let account = self.shared.governor.account(&self.base, &self.credential);
        let mut attempt = 0;
        let mut has_renewed = false;
        loop {
            self.wait_for_turn(trip, &account).await?;
            let mut visit = Visit { url: trip.url.clone(), reach: trip.reach, secret: None };
            let outcome = self.follow(trip, &mut visit).await;
            if let Ok(response) = &outcome
                && visit.url.origin() == self.base.origin()
            {
                let refused = response.is_rate_limited().then(|| response.retry_after());
                self.shared.governor.note(&account, &trip.route, response.budget(), refused);
            }
            let is_read = trip.effect == Effect::Read;
            if let (Ok(Response { status: 401, .. }), Some(secret)) = (&outcome, &visit.secret)
                && !has_renewed
            {
                has_renewed = true;
                let renewed = self.by_deadline(trip, self.credential.renew(secret)).await;
                if renewed == Some(true) && is_read && self.shared.retries {
                    tracing::debug!(route = trip.route, "trying again with a new secret");
                    continue;
                }
            }
            let may_repeat = self.shared.retries && (is_read || retry::never_sent(&outcome));
            let pause = retry::pause(attempt, &outcome, trip.deadline).filter(|_| may_repeat);
            let Some(pause) = pause else { return outcome.map(|response| (response, visit.url)) };
            tracing::debug!(route = trip.route, attempt, ?pause, "trying again");
            tokio::time::sleep(pause).await;
            attempt += 1;
        }
    }

    /// Holds a call back while the server wants this caller to wait.
    async fn wait_for_turn(&self, trip: &Trip<'_>, account: &Account) -> Result<(), Error> {
        if !self.shared.retries || trip.url.origin() != self.base.origin() {
            return Ok(());
        }
        loop {
            match self.shared.governor.turn(account, &trip.route, trip.deadline) {
                Turn::Now => return Ok(()),
                Turn::After(wait) => {
                    tracing::debug!(route = trip.route, ?wait, "waiting for the rate limit");
                    tokio::time::sleep(wait).await;
                }
                Turn::TooLate(wait) => {
                    let kind = ErrorKind::RateLimited { retry_after: Some(wait) };
                    return Err(Error::new(&trip.route, place(&trip.url), Progress::NotSent, kind));
                }
            }
        }
    }

    /// Sends once and follows redirects; `visit` ends at the last address.
    async fn follow(&self, trip: &Trip<'_>, visit: &mut Visit) -> Result<Response, Error> {
        let mut method = trip.method.clone();
        let mut hops = 0;
        loop {
            let answer = self.exchange(trip, &method, visit).await?;
            let url = &visit.url;
            let status = answer.status().as_u16();
            let Some(target) = redirect::location(status, answer.headers(), url) else {
                return response::read(trip, &method, url, answer).await;
            };
            let refuse = |target: String, why: String| {
                let kind = ErrorKind::Redirect { status, target, why };
                Error::new(&trip.route, place(url), Progress::Answered(status), kind)
            };
            let Ok(target) = target else {
                return Err(refuse("no usable address".to_owned(), "it cannot be read".to_owned()));
            };
            let described = redirect::describe(url, &target);
            if trip.effect == Effect::Write {
                return Err(refuse(described, "a write never follows one".to_owned()));
            }
            if hops == MAX_REDIRECTS {
                let why = format!("there were {MAX_REDIRECTS} before it");
                return Err(refuse(described, why));
            }
            let next = redirect::next_method(status, &method);
            let reach = match trip.rule.judge(self, &next, (url, visit.reach), &target) {
                Ok(reach) => reach,
                Err(why) => return Err(refuse(described, why)),
            };
            hops += 1;
            method = next;
            *visit = Visit { url: target, reach, secret: None };
        }
    }

    /// Sends one HTTP request and waits for the head of its response.
    async fn exchange(
        &self,
        trip: &Trip<'_>,
        method: &Method,
        visit: &mut Visit,
    ) -> Result<reqwest::Response, Error> {
        let Visit { url, reach, secret } = visit;
        let fail = |progress, kind| Error::new(&trip.route, place(url), progress, kind);
        let Line { client, proxy } = self.shared.clients.line(url, *reach).map_err(|error| {
            fail(Progress::NotSent, ErrorKind::Request { why: error.to_string() })
        })?;
        let mut headers = trip.headers.clone();
        let mut full = url.clone();
        if url.origin() == self.base.origin() {
            *secret = self
                .authenticate(trip, &mut full, &mut headers)
                .await
                .map_err(|error| fail(Progress::NotSent, ErrorKind::Credential(error)))?;
        } else {
            headers = public_headers(&headers);
        }
        // A redirect that turned the method into GET has no body.
        let body = trip.body.clone().filter(|_| *method == trip.method);
        if body.is_none() {
            headers.remove(header::CONTENT_TYPE);
            if matches!(*method, Method::POST | Method::PUT | Method::PATCH) {
                // Some servers insist on a length even where nothing follows.
                headers.insert(header::CONTENT_LENGTH, HeaderValue::from_static("0"));
            }
        }
        let mut request = reqwest::Request::new(method.clone(), full);
        *request.headers_mut() = headers;
        *request.body_mut() = body.map(reqwest::Body::from);
        match self.by_deadline(trip, client.execute(request)).await {
            Some(Ok(response)) => Ok(response),
            Some(Err(error)) => {
                let (progress, kind) = failure::classify(&error, proxy.as_deref());
                // The URL may hold values and a key.
                Err(fail(progress, kind).with_source(error.without_url()))
            }
            None => Err(fail(Progress::Sent, ErrorKind::Timeout)),
        }
    }

    /// Adds the operator's headers and the credential; returns the secret that was used.
    async fn authenticate(
        &self,
        trip: &Trip<'_>,
        url: &mut Url,
        headers: &mut HeaderMap,
    ) -> Result<Option<Secret>, ConfigError> {
        for (name, value) in &self.shared.headers {
            // Checked when the transport was made.
            if let Ok(value) = HeaderValue::from_str(value.expose()) {
                headers.insert(name.clone(), auth::sensitive(value));
            }
        }
        let late = || {
            let hint = "see why what hands it out takes so long, or give requests more time";
            Err(ConfigError::new("it was not there in time", hint))
        };
        let current = self.by_deadline(trip, self.credential.current()).await;
        let Some(secret) = current.unwrap_or_else(late)? else { return Ok(None) };
        self.credential.apply(&secret, url, headers)?;
        Ok(Some(secret))
    }

    async fn by_deadline<T>(&self, trip: &Trip<'_>, work: impl Future<Output = T>) -> Option<T> {
        tokio::time::timeout_at(trip.deadline.into(), work).await.ok()
    }
}

/// Where one attempt has come to.
struct Visit {
    url: Url,
    reach: Reach,
    /// The secret that was sent there.
    secret: Option<Secret>,
}

/// How many redirects one request may follow.
const MAX_REDIRECTS: u32 = 5;

/// One request on its way, however often and far it goes.
struct Trip<'a> {
    route: String,
    effect: Effect,
    method: Method,
    url: Url,
    headers: HeaderMap,
    body: Option<Bytes>,
    rule: Rule<'a>,
    reach: Reach,
    limit: u64,
    deadline: Instant,
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

/// What may travel to another origin: what the caller would like to get, and nothing about the caller.
fn public_headers(headers: &HeaderMap) -> HeaderMap {
    [header::ACCEPT, header::IF_NONE_MATCH, header::IF_MODIFIED_SINCE]
        .into_iter()
        .filter_map(|name| headers.get(&name).cloned().map(|value| (name, value)))
        .collect()
}
