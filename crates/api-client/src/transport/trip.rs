//! One request on its way: turns, attempts, redirects, and the credential where it belongs.

use std::time::Instant;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, header};
use url::Url;

use super::client::Line;
use super::governor::{Account, Turn};
use super::reach::Reach;
use super::redirect::{self, Rule};
use super::response::{self, Response};
use super::{Effect, Transport, failure, place, retry};
use crate::auth;
use crate::error::{ConfigError, Error, ErrorKind, Progress};
use crate::secret::Secret;

/// One request on its way, however often and far it goes.
pub(super) struct Trip<'a> {
    pub(super) route: String,
    pub(super) effect: Effect,
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<Bytes>,
    pub(super) rule: Rule<'a>,
    pub(super) reach: Reach,
    pub(super) limit: u64,
    pub(super) deadline: Instant,
}

/// Where one attempt has come to.
pub(super) struct Visit {
    pub(super) url: Url,
    pub(super) reach: Reach,
    /// The secret that was sent there.
    pub(super) secret: Option<Secret>,
}

/// How many redirects one request may follow.
const MAX_REDIRECTS: u32 = 5;

impl Transport {
    /// Sends until there is an answer or no point in going on; returns where it was found.
    pub(super) async fn attempts(&self, trip: &Trip<'_>) -> Result<(Response, Url), Error> {
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
    pub(super) async fn exchange(
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

/// What may travel to another origin: what the caller would like to get, and nothing about the caller.
fn public_headers(headers: &HeaderMap) -> HeaderMap {
    [header::ACCEPT, header::IF_NONE_MATCH, header::IF_MODIFIED_SINCE]
        .into_iter()
        .filter_map(|name| headers.get(&name).cloned().map(|value| (name, value)))
        .collect()
}
