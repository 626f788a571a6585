//! A response: read up to a limit, without cookies.

use std::time::{Duration, SystemTime};

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Method};
use url::Url;

use super::budget::Told;
use super::trip::Trip;
use super::{failure, place, retry};
use crate::error::{Error, ErrorKind, Progress};

/// A response, whole and decompressed.
#[derive(Debug, Clone)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// Lower-case names and values, in order. Never holds `set-cookie`.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Bytes,
}

impl Response {
    /// Returns the first header of that lower-case name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns how long the server wants to be left alone: what it says, or else the end of a
    /// window in which nothing is left.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        let now = SystemTime::now();
        let said = self.header("retry-after").and_then(|it| retry::retry_after(it, now));
        said.or_else(|| self.budget().reset.filter(|_| self.is_rate_limited()))
    }

    /// Tells whether the request was refused for coming too soon. GitHub says so with 403.
    #[must_use]
    pub fn is_rate_limited(&self) -> bool {
        let says_when =
            || self.header("retry-after").is_some() || self.budget().remaining == Some(0);
        self.status == 429 || self.status == 403 && says_when()
    }

    /// What it says about the rate limit.
    pub(super) fn budget(&self) -> Told {
        Told::read(|name| self.header(name), SystemTime::now())
    }

    pub(super) fn success(self, route: &str, place: &str) -> Result<Self, Error> {
        let kind = match self.status {
            200..=299 => return Ok(self),
            429 => ErrorKind::RateLimited { retry_after: self.retry_after() },
            status => ErrorKind::Status(status),
        };
        Err(Error::new(route, place, Progress::Answered(self.status), kind))
    }
}

/// Reads a body up to the limit; nothing beyond it is kept.
pub(super) async fn read(
    trip: &Trip<'_>,
    method: &Method,
    url: &Url,
    mut answer: reqwest::Response,
) -> Result<Response, Error> {
    let status = answer.status().as_u16();
    let fail = |kind| Error::new(&trip.route, place(url), Progress::Answered(status), kind);
    let size = answer.content_length().filter(|_| *method != Method::HEAD);
    let too_large = || fail(ErrorKind::TooLarge { limit: trip.limit, size });
    if size.is_some_and(|size| size > trip.limit) {
        return Err(too_large());
    }
    let headers = response_headers(answer.headers());
    let mut body = BytesMut::new();
    loop {
        let chunk = tokio::time::timeout_at(trip.deadline.into(), answer.chunk()).await;
        match chunk {
            Ok(Ok(Some(chunk))) if (body.len() + chunk.len()) as u64 > trip.limit => {
                return Err(too_large());
            }
            Ok(Ok(Some(chunk))) => body.extend_from_slice(&chunk),
            Ok(Ok(None)) => return Ok(Response { status, headers, body: body.freeze() }),
            Ok(Err(error)) => {
                let (_, kind) = failure::classify(&error, None);
                return Err(fail(kind).with_source(error.without_url()));
            }
            Err(_) => return Err(fail(ErrorKind::Timeout)),
        }
    }
}

pub(super) fn response_headers(headers: &HeaderMap) -> Vec<(String, String)> {
    headers
        .iter()
        .filter(|(name, _)| !matches!(name.as_str(), "set-cookie" | "set-cookie2"))
        .map(|(name, value)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        })
        .collect()
}
