//! The body and headers of a request, made such that the SDK understands them, or refused in
//! JSON-RPC's words.

use axum::body::Body;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header, request::Parts};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use crate::{late, refusal::Refusal, serving::Load};

/// What one message is about, without its arguments.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) method: Option<String>,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    jsonrpc: Option<String>,
    id: Option<Value>,
    method: Option<String>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

impl Message {
    /// Whether it asks for a stream that stays open.
    pub(crate) fn is_subscription(&self) -> bool {
        self.method.as_deref() == Some("subscriptions/listen")
    }

    pub(crate) fn is_initialize(&self) -> bool {
        self.method.as_deref() == Some("initialize")
    }
}

/// Reads the body of a request within its limits; other methods than POST have none.
pub(crate) async fn read(
    parts: &mut Parts,
    body: Body,
    load: &Load,
) -> Result<(Bytes, Message), Refusal> {
    let accepted = accepted(&parts.headers)?;
    parts.headers.insert(header::ACCEPT, accepted);
    if parts.method != Method::POST {
        return Ok((Bytes::new(), Message::default()));
    }
    let bytes = collect(&parts.headers, body, load).await?;
    let message = parse(&bytes)?;
    Ok((bytes, message))
}

/// Reads a body of JSON within its limits.
pub(crate) async fn collect(
    headers: &HeaderMap,
    body: Body,
    load: &Load,
) -> Result<Bytes, Refusal> {
    check_type(headers)?;
    let too_large = || {
        let message = format!("the body is larger than {} bytes", load.body);
        Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, message)
    };
    let announced = headers.get(header::CONTENT_LENGTH);
    let announced = announced.and_then(|it| it.to_str().ok()).and_then(|it| it.parse().ok());
    if announced.is_some_and(|length: usize| length > load.body) {
        return Err(too_large());
    }
    let collected = Limited::new(body, load.body).collect();
    match tokio::time::timeout(load.patience, collected).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
        Ok(Err(_)) => Err(Refusal::bad_request("the body ended before it was whole")),
        Err(_) => {
            let message = format!("the body did not come within {:?}", load.patience);
            Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, message))
        }
    }
}

/// Tells what a body is about.
fn parse(bytes: &[u8]) -> Result<Message, Refusal> {
    let start = bytes.trim_ascii_start().first();
    match serde_json::from_slice::<Envelope<'_>>(bytes) {
        Ok(_) if start == Some(&b'[') => Err(batch()),
        Ok(envelope) if envelope.jsonrpc.as_deref() != Some("2.0") => {
            Err(Refusal::bad_request("not a JSON-RPC message: `jsonrpc` must be \"2.0\""))
        }
        Ok(envelope) if !envelope.id.as_ref().is_none_or(|it| it.is_string() || it.is_number()) => {
            Err(Refusal::bad_request("not a JSON-RPC message: `id` must be a text or a number"))
        }
        Ok(Envelope { method: None, result: None, error: None, .. }) => Err(Refusal::bad_request(
            "not a JSON-RPC message: it has neither `method` nor `result` nor `error`",
        )),
        Ok(envelope) => Ok(Message { method: envelope.method }),
        Err(_) if start == Some(&b'[') => Err(batch()),
        Err(error) if error.is_syntax() || error.is_eof() => {
            Err(Refusal::unreadable(format!("the body is no JSON: {error}")))
        }
        Err(_) => Err(Refusal::bad_request("not a JSON-RPC message: a member has the wrong type")),
    }
}

fn batch() -> Refusal {
    Refusal::bad_request("batches are no longer part of the protocol: send one message at a time")
}

fn check_type(headers: &HeaderMap) -> Result<(), Refusal> {
    let given = headers.get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok());
    let essence = given.and_then(|it| it.split(';').next()).map(str::trim);
    if essence.is_some_and(|it| it.eq_ignore_ascii_case("application/json")) {
        return Ok(());
    }
    let message = "send the message with `Content-Type: application/json`";
    Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message))
}

/// Clients that say less than both kinds are answered all the same.
fn accepted(headers: &HeaderMap) -> Result<HeaderValue, Refusal> {
    let mut given = headers.get_all(header::ACCEPT).iter().peekable();
    let fits = |value: &HeaderValue| {
        let text = value.to_str().unwrap_or_default().to_ascii_lowercase();
        ["application/json", "text/event-stream", "*/*", "application/*", "text/*"]
            .iter()
            .any(|kind| text.contains(kind))
    };
    if given.peek().is_none() || given.any(fits) {
        return Ok(HeaderValue::from_static("application/json, text/event-stream"));
    }
    let message = "answers are `application/json` or `text/event-stream`: accept both";
    Err(Refusal::new(StatusCode::NOT_ACCEPTABLE, message))
}

/// Mends an answer of the SDK.
pub(crate) fn mend<B>(mut response: Response<B>) -> Result<Response<B>, Refusal> {
    // What was read as a message and is none all the same.
    if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
        return Err(Refusal::bad_request("not a JSON-RPC message of this protocol"));
    }
    let headers = response.headers_mut();
    if late::is_stream(headers) {
        late::mark(headers);
    } else {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    Ok(response)
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse as _;

    use super::*;

    #[test]
    fn what_is_no_message_is_refused_in_json_rpc_words() {
        let code = |body: &str| {
            let refusal = parse(body.as_bytes()).unwrap_err();
            format!("{refusal:?}").contains("-32700")
        };
        for body in ["", "{", "not json", "{\"a\":1,}"] {
            assert!(code(body), "{body}");
        }
        for body in ["[]", "[{\"jsonrpc\":\"2.0\"}]", "1", "{}", "{\"jsonrpc\":\"2.0\"}", "null"] {
            assert!(!code(body), "{body}");
        }
        let message = parse(br#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#).unwrap();
        assert_eq!(message.method.as_deref(), Some("tools/call"));
    }

    #[test]
    fn whoever_accepts_anything_we_have_is_answered() {
        let of = |value: Option<&'static str>| {
            let mut headers = HeaderMap::new();
            headers.extend(value.map(|it| (header::ACCEPT, HeaderValue::from_static(it))));
            accepted(&headers).is_ok()
        };
        for value in [None, Some("*/*"), Some("application/json"), Some("text/event-stream;q=0.5")]
        {
            assert!(of(value), "{value:?}");
        }
        assert!(!of(Some("text/html")));
        assert!(!of(Some("image/png")));
    }

    #[test]
    fn a_stream_is_not_to_be_held_back() {
        let mut response = Response::new(());
        let stream = HeaderValue::from_static("text/event-stream");
        response.headers_mut().insert(header::CONTENT_TYPE, stream);
        let mended = mend(response).unwrap();
        assert_eq!(mended.headers()["x-accel-buffering"], "no");
        let mut odd = Response::new(());
        *odd.status_mut() = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        assert_eq!(mend(odd).unwrap_err().into_response().status(), StatusCode::BAD_REQUEST);
    }
}
