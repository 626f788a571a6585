//! Bodies by content type: JSON, urlencoded forms, text and bytes (multipart is next door).

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bytes::Bytes;
use serde_json::{Map, Value};

use super::styles::{self, Encoding};
use super::{Body, BodySpec, FieldEncoding, RequestError, Style, multipart};

/// Writes a value as the content type wants it.
pub(super) fn write(spec: &BodySpec, value: &Value) -> Result<Body, RequestError> {
    let content_type = &*spec.content_type;
    let written = match Kind::of(content_type) {
        Kind::Json => Ok(new(content_type, value.to_string())),
        Kind::JsonLines => json_lines(content_type, value),
        Kind::Form => form(spec, value),
        Kind::Multipart => multipart::write(spec, value),
        Kind::Text => plain(content_type, "text/plain", value),
        Kind::Bytes => plain(content_type, "application/octet-stream", value),
        Kind::Any => any(value),
    };
    written.map_err(|problem| RequestError::Body { content_type: content_type.to_owned(), problem })
}

fn new(content_type: &str, bytes: impl Into<Bytes>) -> Body {
    Body { content_type: content_type.to_owned(), bytes: bytes.into() }
}

enum Kind {
    Json,
    JsonLines,
    Form,
    Multipart,
    Text,
    Bytes,
    Any,
}

impl Kind {
    fn of(content_type: &str) -> Self {
        let essence = content_type.split(';').next().unwrap_or_default();
        let essence = essence.trim().to_ascii_lowercase();
        match &*essence {
            "application/json" | "text/json" => Self::Json,
            "application/jsonl" | "application/ndjson" | "application/x-ndjson" => Self::JsonLines,
            "application/x-www-form-urlencoded" => Self::Form,
            "" | "*" | "*/*" | "application/*" => Self::Any,
            _ if essence.ends_with("+json") => Self::Json,
            _ if essence.starts_with("multipart/") => Self::Multipart,
            _ if essence.starts_with("text/") => Self::Text,
            _ => Self::Bytes,
        }
    }
}

fn json_lines(content_type: &str, value: &Value) -> Result<Body, String> {
    match value {
        Value::String(text) => Ok(new(content_type, text.clone())),
        Value::Array(items) => {
            let lines: String = items.iter().map(|item| format!("{item}\n")).collect();
            Ok(new(content_type, lines))
        }
        _ => Err("must be an array (one line per item) or the text itself".to_owned()),
    }
}

fn form(spec: &BodySpec, value: &Value) -> Result<Body, String> {
    let fields = match value {
        Value::String(text) => return Ok(new(&spec.content_type, text.clone())),
        _ => fields(value)?,
    };
    let mut text = String::new();
    for (name, value) in fields {
        for (name, value) in form_pairs(name, value, spec.encoding.get(name)) {
            if !text.is_empty() {
                text.push('&');
            }
            text.extend([&*name, "=", &*value]);
        }
    }
    Ok(new(&spec.content_type, text))
}

fn form_pairs(
    name: &str,
    value: &Value,
    encoding: Option<&FieldEncoding>,
) -> Vec<(String, String)> {
    let single = |text: &str| vec![(Encoding::Form.apply(name), Encoding::Form.apply(text))];
    if value.is_null() {
        return single("");
    }
    let declared = encoding.and_then(FieldEncoding::style);
    let json = encoding.and_then(|it| it.content_type.as_deref()).map(Kind::of);
    match (declared, json) {
        (Some((style, explode)), _) => styles::pairs(name, value, style, explode, Encoding::Form),
        (None, Some(Kind::Json)) => single(&value.to_string()),
        (None, _) => styles::pairs(name, value, styles::undeclared(value), true, Encoding::Form),
    }
}

impl FieldEncoding {
    /// The style and explode a document asks for, or `None` if it is silent on both.
    pub(super) fn style(&self) -> Option<(Style, bool)> {
        if self.style.is_none() && self.explode.is_none() {
            return None;
        }
        let style = self.style.unwrap_or(Style::Form);
        Some((style, self.explode.unwrap_or(style.explodes_by_default())))
    }
}

/// Text or bytes; `fallback` replaces a declared type that is only a pattern, such as `image/*`.
fn plain(declared: &str, fallback: &str, value: &Value) -> Result<Body, String> {
    let pattern = declared.contains('*');
    if let Some(file) = File::parse(value)? {
        let given = file.content_type.unwrap_or(fallback);
        return Ok(new(if pattern { given } else { declared }, file.bytes));
    }
    match value {
        Value::String(_) | Value::Number(_) | Value::Bool(_) => {
            let content_type = if pattern { fallback } else { declared };
            Ok(new(content_type, styles::text(value).into_owned()))
        }
        _ => Err("must be a string, or `{ base64 }` for bytes".to_owned()),
    }
}

/// A body of any type: what the value is decides.
fn any(value: &Value) -> Result<Body, String> {
    match value {
        Value::String(_) => plain("text/plain", "", value),
        _ => match File::parse(value)? {
            Some(file) => {
                Ok(new(file.content_type.unwrap_or("application/octet-stream"), file.bytes))
            }
            None => Ok(new("application/json", value.to_string())),
        },
    }
}

pub(super) fn fields(value: &Value) -> Result<&Map<String, Value>, String> {
    value.as_object().ok_or_else(|| "must be an object, one property per field".to_owned())
}

/// Bytes given by a script as `{ base64, type?, filename? }`.
pub(super) struct File<'a> {
    pub(super) bytes: Vec<u8>,
    pub(super) content_type: Option<&'a str>,
    pub(super) filename: Option<&'a str>,
}

impl<'a> File<'a> {
    /// Returns `None` if the value is not written as a file, an error if its base64 is broken.
    pub(super) fn parse(value: &'a Value) -> Result<Option<Self>, String> {
        let Value::Object(fields) = value else { return Ok(None) };
        let known = |key: &String| matches!(&**key, "base64" | "type" | "filename" | "size");
        let Some(Value::String(text)) = fields.get("base64") else { return Ok(None) };
        if !fields.keys().all(known) {
            return Ok(None);
        }
        // The URL-safe alphabet is the same text with two other letters.
        let standard = text.replace('-', "+").replace('_', "/");
        let bytes = BASE64
            .decode(standard)
            .map_err(|_| "`base64` does not hold valid base64".to_owned())?;
        let string = |key: &str| fields.get(key).and_then(Value::as_str);
        Ok(Some(Self { bytes, content_type: string("type"), filename: string("filename") }))
    }
}

/// Accepts base64 with and without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);
