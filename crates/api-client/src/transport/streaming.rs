//! Responses that are read while they come: a model's answer, word by word.

use std::fmt;
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use url::Url;

use super::reach::Reach;
use super::redirect::{self, Rule};
use super::response::{self, Response};
use super::trip::{Trip, Visit};
use super::{Effect, Transport, failure, headers, place};
use crate::error::{Error, ErrorKind, Progress};
use crate::request::Request;

/// A response of which the body is still to come.
pub struct Streaming {
    /// The status code.
    pub status: u16,
    /// Lower-case names and values, in order. Never holds `set-cookie`.
    pub headers: Vec<(String, String)>,
    answer: reqwest::Response,
    route: String,
    url: Url,
    deadline: Instant,
    left: u64,
    limit: u64,
}

impl fmt::Debug for Streaming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Streaming").field("status", &self.status).finish_non_exhaustive()
    }
}

impl Transport {
    /// Sends a request once, as a write, and returns when the head of the response is there.
    ///
    /// Any status is a response; redirects are not followed. Dropping it closes the connection.
    ///
    /// # Errors
    /// No connection, no head in time, or a redirect.
    pub async fn open(&self, request: &Request, deadline: Instant) -> Result<Streaming, Error> {
        let limit = self.max_response_bytes;
        let trip = Trip {
            route: format!("{} {}", request.method, request.template),
            effect: Effect::Write,
            method: request.method.clone(),
            url: self.url(request)?,
            headers: headers(request),
            body: request.body.as_ref().map(|body| body.bytes.clone()),
            rule: Rule::Call(&redirect::any_read),
            reach: Reach::Any,
            limit,
            deadline: deadline.min(Instant::now() + self.shared.timeout),
        };
        let mut visit = Visit { url: trip.url.clone(), reach: trip.reach, secret: None };
        let answer = self.exchange(&trip, &trip.method, &mut visit).await?;
        let status = answer.status().as_u16();
        if let Some(target) = redirect::location(status, answer.headers(), &visit.url) {
            let target = target.map(|target| redirect::describe(&visit.url, &target));
            let target = target.unwrap_or_else(|_| "no usable address".to_owned());
            let why = "a write never follows one".to_owned();
            let kind = ErrorKind::Redirect { status, target, why };
            return Err(Error::new(
                trip.route,
                place(&visit.url),
                Progress::Answered(status),
                kind,
            ));
        }
        Ok(Streaming {
            status,
            headers: response::response_headers(answer.headers()),
            answer,
            route: trip.route,
            url: visit.url,
            deadline: trip.deadline,
            left: limit,
            limit,
        })
    }
}

impl Streaming {
    /// Returns the first header of that lower-case name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Waits for the next piece of the body; `None` at its end.
    ///
    /// # Errors
    /// The connection ended early, the time is up, or the body is larger than allowed.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        let next = tokio::time::timeout_at(self.deadline.into(), self.answer.chunk()).await;
        match next {
            Ok(Ok(None)) => Ok(None),
            Ok(Ok(Some(chunk))) => match self.left.checked_sub(chunk.len() as u64) {
                Some(left) => {
                    self.left = left;
                    Ok(Some(chunk))
                }
                None => Err(self.fail(ErrorKind::TooLarge { limit: self.limit, size: None })),
            },
            Ok(Err(error)) => {
                let (_, kind) = failure::classify(&error, None);
                Err(self.fail(kind).with_source(error.without_url()))
            }
            Err(_) => Err(self.fail(ErrorKind::Timeout)),
        }
    }

    /// Waits for all that is left of the body.
    ///
    /// # Errors
    /// See [`Streaming::chunk`].
    pub async fn whole(mut self) -> Result<Response, Error> {
        let mut body = BytesMut::new();
        while let Some(chunk) = self.chunk().await? {
            body.extend_from_slice(&chunk);
        }
        Ok(Response { status: self.status, headers: self.headers, body: body.freeze() })
    }

    fn fail(&self, kind: ErrorKind) -> Error {
        Error::new(&self.route, place(&self.url), Progress::Answered(self.status), kind)
    }
}
