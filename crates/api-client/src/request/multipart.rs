//! `multipart/form-data` bodies: text fields, JSON parts and files.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::body::{File, fields};
use super::styles::{self, Encoding};
use super::{Body, BodySpec, FieldEncoding, RequestError};

/// One part of a multipart body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The name of the field.
    pub name: String,
    /// The name of the file, which makes the part one.
    pub filename: Option<String>,
    /// The content type; plain text where there is none.
    pub content_type: Option<String>,
    /// The content, as it is sent.
    pub data: Bytes,
}

impl Part {
    /// A field of text.
    pub fn text(name: impl Into<String>, value: impl Into<String>) -> Self {
        let data = Bytes::from(value.into());
        Self { name: name.into(), filename: None, content_type: None, data }
    }

    /// A file with any content.
    pub fn bytes(
        name: impl Into<String>,
        filename: impl Into<String>,
        content_type: impl Into<String>,
        data: impl Into<Bytes>,
    ) -> Self {
        let (filename, content_type) = (Some(filename.into()), Some(content_type.into()));
        Self { name: name.into(), filename, content_type, data: data.into() }
    }

    /// The parts that the fields of a value become, as the document wants them written.
    ///
    /// # Errors
    /// The value is no object, or a file in it has broken base64.
    pub fn of_fields(spec: &BodySpec, value: &Value) -> Result<Vec<Self>, RequestError> {
        parts(spec, value).map_err(|problem| {
            let content_type = spec.content_type.clone();
            RequestError::Body { content_type, problem }
        })
    }
}

pub(super) fn write(spec: &BodySpec, value: &Value) -> Result<Body, String> {
    assemble(&spec.content_type, &parts(spec, value)?)
}

fn parts(spec: &BodySpec, value: &Value) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    for (name, value) in fields(value)? {
        let encoding = spec.encoding.get(name);
        let style = encoding.and_then(FieldEncoding::style);
        let declared = encoding.and_then(|it| it.content_type.as_deref()).filter(|it| is_one(it));
        match (value, style) {
            (Value::Array(_) | Value::Object(_), Some((style, explode)))
                if File::parse(value)?.is_none() =>
            {
                let pairs = styles::pairs(name, value, style, explode, Encoding::Raw);
                parts.extend(pairs.into_iter().map(|(name, text)| Part {
                    name,
                    filename: None,
                    content_type: declared.map(str::to_owned),
                    data: text.into(),
                }));
            }
            (Value::Array(items), _) => {
                for item in items {
                    parts.push(part(spec, name, item, declared)?);
                }
            }
            _ => parts.push(part(spec, name, value, declared)?),
        }
    }
    Ok(parts)
}

fn part(
    spec: &BodySpec,
    name: &str,
    value: &Value,
    declared: Option<&str>,
) -> Result<Part, String> {
    let file = File::parse(value).map_err(|problem| format!("field `{name}`: {problem}"))?;
    let (filename, content_type, data) = match file {
        Some(file) => (
            file.filename.or(Some(name)),
            file.content_type.or(declared).or(Some(UNKNOWN_TYPE)),
            file.bytes,
        ),
        None => {
            let (filename, customary) = match value {
                Value::Object(_) | Value::Array(_) => (None, Some("application/json")),
                _ if spec.binary_fields.contains(name) => (Some(name), Some(UNKNOWN_TYPE)),
                _ => (None, None),
            };
            (filename, declared.or(customary), styles::text(value).into_owned().into_bytes())
        }
    };
    Ok(Part {
        name: name.to_owned(),
        filename: filename.map(str::to_owned),
        content_type: content_type.map(str::to_owned),
        data: data.into(),
    })
}

const UNKNOWN_TYPE: &str = "application/octet-stream";

/// Puts parts together under a boundary of their own.
pub(super) fn assemble(content_type: &str, parts: &[Part]) -> Result<Body, String> {
    let boundary = boundary(parts);
    let mut bytes = Vec::new();
    for part in parts {
        let mut head = format!("--{boundary}\r\nContent-Disposition: form-data; name=\"");
        escape(&part.name, &mut head);
        head.push('"');
        if let Some(filename) = &part.filename {
            head.push_str("; filename=\"");
            escape(filename, &mut head);
            head.push('"');
        }
        if let Some(content_type) = &part.content_type {
            if content_type.chars().any(char::is_control) {
                return Err(format!("the type of field `{}` holds control characters", part.name));
            }
            head.extend(["\r\nContent-Type: ", content_type.as_str()]);
        }
        head.push_str("\r\n\r\n");
        bytes.extend_from_slice(head.as_bytes());
        bytes.extend_from_slice(&part.data);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    Ok(Body { content_type: format!("{essence}; boundary={boundary}"), bytes: bytes.into() })
}

/// Hashes the content, so that no part can hold its own boundary and the same fields give the same
/// bytes each time: a confirmed write is compared with the planned one.
fn boundary(parts: &[Part]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        let filename = part.filename.as_deref().unwrap_or_default();
        for piece in [part.name.as_bytes(), filename.as_bytes(), &part.data] {
            hash.update(piece.len().to_be_bytes());
            hash.update(piece);
        }
    }
    let digest = hash.finalize();
    URL_SAFE_NO_PAD.encode(digest)
}

/// Escapes a name as browsers do, so that it cannot end its quotes or the header line.
fn escape(name: &str, into: &mut String) {
    for letter in name.chars() {
        if letter == '"' || letter.is_ascii_control() {
            // Writing to a String cannot fail.
            let _ = write!(into, "%{:02X}", u32::from(letter));
        } else {
            into.push(letter);
        }
    }
}

/// Whether a declared type names one type rather than a choice or a pattern.
fn is_one(content_type: &str) -> bool {
    !content_type.contains(['*', ','])
}
