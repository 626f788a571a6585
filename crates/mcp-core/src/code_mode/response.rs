//! An upstream response as a script sees it: parsed where it is JSON, text where it is text, bytes
//! otherwise, with the credential masked and cookies gone.

use std::borrow::Cow;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Map, Value, json, value::RawValue};

use api_client::transport::{Response, Transport};

use crate::{
    context::Api,
    openapi::Operation,
    sandbox::{HostError, HostReply},
};

use super::script_api::Answered;

/// How much of an error body goes into the message of a thrown error, in characters.
const SHOWN_OF_FAILURE: usize = 600;

/// The reply to `api.request` and `api.call`.
///
/// # Errors
/// When the body cannot be written as JSON; does not happen with text that was just checked.
pub(super) fn to_reply(answered: &Answered, api: &Api) -> Result<HostReply, HostError> {
    let Answered { response, operation, url: _, placeholder } = answered;
    let transport = &*api.transport;
    let headers: Map<String, Value> = response
        .headers
        .iter()
        .filter(|(name, _)| !name.eq_ignore_ascii_case("set-cookie"))
        .map(|(name, value)| (name.to_ascii_lowercase(), json!(transport.mask(value))))
        .collect();
    let data = Data::of(response, transport);
    let mut reply = Map::from_iter([
        ("status".to_owned(), json!(response.status)),
        ("ok".to_owned(), json!((200..300).contains(&response.status))),
        ("headers".to_owned(), Value::Object(headers)),
        ("operation".to_owned(), json!(operation.id)),
    ]);
    if response.status >= 400 {
        reply.insert("failure".to_owned(), json!(failure(response, operation, &data, api)));
    }
    let mut json = Value::Object(reply).to_string();
    // The body goes in as it came: parsing and printing it again would cost time and digits.
    json.pop();
    json.push_str(",\"data\":");
    json.push_str(&data.to_json());
    if let Some(placeholder) = placeholder {
        json.push_str(",\"placeholder\":");
        json.push_str(placeholder);
    }
    json.push('}');
    let in_placeholder = placeholder.as_deref().is_some_and(has_big_integers);
    Ok(HostReply { json, big_integers: data.has_big_integers() || in_placeholder })
}

/// The body of a response.
#[derive(Debug)]
pub(super) enum Data<'a> {
    /// Valid JSON text.
    Json(Cow<'a, str>),
    /// Text of another kind.
    Text(Cow<'a, str>),
    /// Anything else.
    Bytes {
        /// Base64, masked like any text: an upstream can echo the credential among bytes too.
        base64: String,
        /// The declared content type.
        content_type: String,
        /// Bytes as they came.
        size: usize,
    },
    /// No body.
    Empty,
}

impl<'a> Data<'a> {
    /// Reads a body leniently: some upstreams send JSON as `text/html`, others HTML as JSON.
    pub(super) fn of(response: &'a Response, transport: &Transport) -> Self {
        if response.body.is_empty() {
            return Self::Empty;
        }
        let content_type = response
            .headers
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case("content-type"))
            .map_or("", |(_, value)| value.as_str());
        let Ok(text) = std::str::from_utf8(&response.body) else {
            return Self::bytes(&response.body, content_type, transport);
        };
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if may_be_json(content_type, text) && serde_json::from_str::<&RawValue>(text).is_ok() {
            return Self::Json(transport.mask(text));
        }
        if is_binary(content_type) || text.contains('\0') {
            return Self::bytes(&response.body, content_type, transport);
        }
        Self::Text(transport.mask(text))
    }

    fn bytes(bytes: &[u8], content_type: &str, transport: &Transport) -> Self {
        Self::Bytes {
            base64: transport.mask(&STANDARD.encode(bytes)).into_owned(),
            content_type: content_type.to_owned(),
            size: bytes.len(),
        }
    }

    fn to_json(&self) -> Cow<'_, str> {
        match self {
            Self::Json(text) => Cow::Borrowed(text),
            Self::Text(text) => Cow::Owned(json!(text).to_string()),
            Self::Bytes { base64, content_type, size } => Cow::Owned(
                json!({ "base64": base64, "type": content_type, "size": size }).to_string(),
            ),
            Self::Empty => Cow::Borrowed("null"),
        }
    }

    fn has_big_integers(&self) -> bool {
        match self {
            Self::Json(text) => has_big_integers(text),
            Self::Text(_) | Self::Bytes { .. } | Self::Empty => false,
        }
    }

    /// The parsed body, for the host's own use.
    pub(super) fn json_text(&self) -> Option<&str> {
        match self {
            Self::Json(text) => Some(text),
            Self::Text(_) | Self::Bytes { .. } | Self::Empty => None,
        }
    }
}

fn may_be_json(content_type: &str, text: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence.is_empty()
        || essence.ends_with("json")
        || matches!(text.trim_start().as_bytes().first(), Some(b'{' | b'['))
}

fn is_binary(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    ["image/", "audio/", "video/", "font/"].iter().any(|kind| essence.starts_with(kind))
        && essence != "image/svg+xml"
        || matches!(
            essence.as_str(),
            "application/octet-stream" | "application/zip" | "application/gzip" | "application/pdf"
        )
}

/// Whether JSON text holds an integer that a double cannot: 2^53 has sixteen digits.
pub(super) fn has_big_integers(json: &str) -> bool {
    let mut in_string = false;
    let mut escaped = false;
    let mut digits = 0_u32;
    // A fraction's digits say nothing: most doubles are written with sixteen.
    let mut fraction = false;
    for byte in json.bytes() {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'0'..=b'9' if fraction => {}
            b'0'..=b'9' => {
                digits += 1;
                if digits >= 16 {
                    return true;
                }
            }
            b'"' => {
                in_string = true;
                digits = 0;
                fraction = false;
            }
            other => {
                digits = 0;
                fraction = other == b'.';
            }
        }
    }
    false
}

/// The message of the error that reading a failed response's data throws.
pub(super) fn failure(
    response: &Response,
    operation: &Operation,
    data: &Data<'_>,
    api: &Api,
) -> String {
    let status = response.status;
    let mut message = format!("{} {} answered {status}", operation.method.as_str(), operation.path);
    let body = match data {
        Data::Json(text) | Data::Text(text) => text.trim(),
        Data::Bytes { .. } => "(bytes)",
        Data::Empty => "",
    };
    if !body.is_empty() {
        message.push_str(": ");
        match body.char_indices().nth(SHOWN_OF_FAILURE) {
            Some((end, _)) => {
                message.push_str(body.get(..end).unwrap_or_default());
                message.push('…');
            }
            None => message.push_str(body),
        }
    }
    let by_id = operation.path.contains('{');
    match status {
        401 => {
            let setting = api.profile.credential_setting.as_deref();
            let setting = setting.map(|it| format!(": check {it}")).unwrap_or_default();
            message.extend([" (hint: the server's credential was not accepted", &setting, ")"]);
        }
        403 if !operation.scopes.is_empty() => {
            message.push_str(" (hint: the operation asks for the scopes ");
            message.push_str(&operation.scopes.join(", "));
            message.push(')');
        }
        404 if by_id => {
            message.push_str(
                " (hint: wrong id, or no permission to see it; list the collection to find out)",
            );
        }
        _ => {}
    }
    if let Some(wait) = response.retry_after() {
        let seconds = wait.as_secs_f64().ceil().to_string();
        message.extend([" (hint: try again in ", &seconds, " s)"]);
    }
    message
}

#[cfg(test)]
mod tests {
    use api_client::{
        auth::{Credential, SecretSource},
        transport::TransportOptions,
    };

    use super::*;

    #[test]
    fn the_credential_is_masked_in_text_and_among_bytes() {
        let token = SecretSource::literal("TOKEN", "very-secret-token-1234").unwrap();
        let mut options = TransportOptions::new("https://api.test".parse().unwrap());
        options.credential = Credential::Bearer(token);
        let transport = Transport::new(options).unwrap();
        let response = |content_type: &str, body: &[u8]| Response {
            status: 200,
            headers: vec![("content-type".to_owned(), content_type.to_owned())],
            body: body.to_vec().into(),
        };
        let json = response("application/json", br#"{"echo":"very-secret-token-1234"}"#);
        let text = response("text/plain", b"Bearer very-secret-token-1234");
        let bytes = response("image/png", b"\xff\xfevery-secret-token-1234\xff");
        for response in [&json, &text, &bytes] {
            let shown = Data::of(response, &transport).to_json().into_owned();
            assert!(!shown.contains("very-secret"), "{shown}");
            let data: Value = serde_json::from_str(&shown).unwrap();
            let decoded = data["base64"].as_str().map(|it| STANDARD.decode(it).unwrap_or_default());
            let decoded = String::from_utf8_lossy(&decoded.unwrap_or_default()).into_owned();
            assert!(!decoded.contains("secret-token"), "{decoded}");
        }
    }

    #[test]
    fn big_integers_are_found_outside_strings_only() {
        let table = [
            ("{\"a\":9007199254740993}", true),
            ("[123456789012345]", false),
            ("{\"a\":\"9007199254740993\"}", false),
            ("{\"a\":\"x\\\"9007199254740993\"}", false),
            ("[1,2,3]", false),
            ("[0.1428571428571428,1.7976931348623157e308]", false),
            ("[0.1428571428571428,9007199254740993]", true),
        ];
        for (text, expected) in table {
            assert_eq!(has_big_integers(text), expected, "{text}");
        }
    }
}
