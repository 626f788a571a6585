//! A request that is not served: a status, a JSON-RPC error that says why, and what to do about it.

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use http::{HeaderName, HeaderValue, StatusCode, header};
use serde_json::json;

/// JSON-RPC's codes.
const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
/// Of the range that is left to servers.
const REFUSED: i32 = -32000;

/// Why a request is not served.
#[derive(Debug)]
pub(crate) struct Refusal {
    status: StatusCode,
    code: i32,
    message: String,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, code: REFUSED, message: message.into(), headers: Vec::new() }
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self { code: INVALID_REQUEST, ..Self::new(StatusCode::BAD_REQUEST, message) }
    }

    /// The body is no JSON at all.
    pub(crate) fn unreadable(message: impl Into<String>) -> Self {
        Self { code: PARSE_ERROR, ..Self::new(StatusCode::BAD_REQUEST, message) }
    }

    pub(crate) fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, message)
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    /// Come back later.
    pub(crate) fn busy(status: StatusCode, seconds: u64, message: impl Into<String>) -> Self {
        Self::new(status, message).header(header::RETRY_AFTER, &seconds.max(1).to_string())
    }

    /// Adds a header; a value that is none is left out.
    #[must_use]
    pub(crate) fn header(mut self, name: HeaderName, value: &str) -> Self {
        self.headers.extend(HeaderValue::from_str(value).ok().map(|value| (name, value)));
        self
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let error = json!({ "code": self.code, "message": self.message });
        let text = json!({ "jsonrpc": "2.0", "id": null, "error": error }).to_string();
        let mut response = Response::new(Body::from(text));
        *response.status_mut() = self.status;
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(header::CONTENT_TYPE, json);
        for (name, value) in self.headers {
            response.headers_mut().insert(name, value);
        }
        response
    }
}
