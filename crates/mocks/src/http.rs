//! What a handler sees of a request, and what it answers with.

use axum::body::Bytes;
use axum::http::{HeaderMap, Method};
use percent_encoding::percent_decode_str;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::time::Timestamp;

/// A request as it came off the socket: path and query still encoded.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The last value of a query parameter, as Django reads it.
    pub(crate) fn parameter(&self, name: &str) -> Option<String> {
        url::form_urlencoded::parse(self.query.as_bytes())
            .filter(|(key, _)| key == name)
            .last()
            .map(|(_, value)| value.into_owned())
    }

    /// The decoded segments of the path.
    pub(crate) fn segments(&self) -> Vec<String> {
        let decoded = |it: &str| percent_decode_str(it).decode_utf8_lossy().into_owned();
        self.path.split('/').map(decoded).collect()
    }

    pub(crate) fn bearer(&self) -> Option<&str> {
        self.header("authorization")?.strip_prefix("Bearer ")
    }
}

/// A routed request, as a handler gets it.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) request: &'a Request,
    /// Scheme and authority of this mock, without a trailing slash.
    pub(crate) origin: &'a str,
    pub(crate) now: Timestamp,
    values: Vec<String>,
}

impl<'a> Call<'a> {
    pub(crate) fn new(
        request: &'a Request,
        origin: &'a str,
        now: Timestamp,
        values: Vec<String>,
    ) -> Self {
        Self { request, origin, now, values }
    }

    /// The decoded value of the template's placeholder number `index`.
    pub(crate) fn value(&self, index: usize) -> &str {
        self.values.get(index).map_or("", String::as_str)
    }

    /// The last value of a query parameter, as Django reads it.
    pub(crate) fn query(&self, name: &str) -> Option<String> {
        self.request.parameter(name)
    }

    pub(crate) fn queries(&self, name: &str) -> Vec<String> {
        url::form_urlencoded::parse(self.request.query.as_bytes())
            .filter(|(key, _)| key == name)
            .map(|(_, value)| value.into_owned())
            .collect()
    }

    /// A query flag; anything but the usual spellings of true and false counts as absent.
    pub(crate) fn flag(&self, name: &str) -> Option<bool> {
        match self.query(name)?.to_ascii_lowercase().as_str() {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        }
    }

    /// The JSON object in the body; an empty body is an empty object, as in DRF.
    pub(crate) fn body(&self) -> Result<Map<String, Value>, Reply> {
        if self.request.body.is_empty() {
            return Ok(Map::new());
        }
        let content_type = self.request.header("content-type").unwrap_or_default();
        if !content_type.to_ascii_lowercase().starts_with("application/json") {
            let text = format!("Unsupported media type \"{content_type}\" in request.");
            return Err(Reply::detail(415, &text));
        }
        match serde_json::from_slice(&self.request.body) {
            Ok(Value::Object(object)) => Ok(object),
            Ok(other) => {
                let kind = crate::fields::python_type(&other);
                let text = format!("Invalid data. Expected a dictionary, but got {kind}.");
                Err(Reply::json(400, &json!({ "non_field_errors": [text] })))
            }
            Err(error) => Err(Reply::detail(400, &format!("JSON parse error - {error}"))),
        }
    }
}

/// An answer; `Err` leaves a handler early and rolls its changes back like any status from 400 on.
pub(crate) type Answer = Result<Reply, Reply>;

#[derive(Debug, Default)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// The mock has no such route: a miss of the fixture, not of the caller.
    pub(crate) unimplemented: bool,
}

impl Reply {
    pub(crate) fn json(status: u16, value: &impl Serialize) -> Self {
        let body = serde_json::to_vec(value).unwrap_or_default();
        Self { status, body, ..Self::default() }.header("content-type", "application/json")
    }

    pub(crate) fn empty(status: u16) -> Self {
        Self { status, ..Self::default() }
    }

    /// The error body both APIs share.
    pub(crate) fn detail(status: u16, text: &str) -> Self {
        Self::json(status, &json!({ "detail": text }))
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn failed(&self) -> bool {
        self.status >= 400
    }
}
