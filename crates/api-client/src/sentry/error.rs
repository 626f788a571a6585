//! What can go wrong between a typed call and its entity.

use std::fmt;
use std::time::Duration;

use serde_json::Value;

use super::region::RegionError;
use crate::error::{ConfigError, Error as TransportError, ErrorKind, Progress};
use crate::transport::{Response, Transport};

/// The most of Sentry's own words that is passed on, in characters.
const MAX_DETAIL: usize = 500;

/// Why there is no entity.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request could not be sent, or no usable answer came.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// Sentry answered with a status that is no success.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The region is not one of this Sentry.
    #[error(transparent)]
    Region(#[from] RegionError),
    /// The cursor is not one that this list gave out.
    #[error("`cursor` is none that this list gave out; leave it out to start at the beginning")]
    Cursor,
}

impl Error {
    /// The status Sentry refused with, if it did.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Refused(refusal) => Some(refusal.status),
            Self::Transport(_) | Self::Region(_) | Self::Cursor => None,
        }
    }

    /// Whether Sentry knows no such thing, or does not show it to this token.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.status() == Some(404)
    }
}

impl From<ConfigError> for Error {
    /// A host that cannot be a base: nothing was sent.
    fn from(error: ConfigError) -> Self {
        let kind = ErrorKind::Request { why: error.to_string() };
        TransportError::new("base URL", "?", Progress::NotSent, kind).into()
    }
}

/// An answer that is no success.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Refusal {
    /// Method and template of the route, never its values.
    pub route: String,
    /// The status, from 300 on.
    pub status: u16,
    /// What Sentry's error field says, shortened, without the credential. Free text and web pages
    /// are left out.
    pub detail: Option<String>,
    /// How long to leave Sentry alone.
    pub retry_after: Option<Duration>,
}

impl Refusal {
    pub(super) fn new(route: String, response: &Response, transport: &Transport) -> Self {
        let body: Option<Value> = serde_json::from_slice(&response.body).ok();
        let detail = body.as_ref().and_then(detail).map(|detail| {
            let masked = transport.mask(&detail);
            let mut kept: String = masked.chars().take(MAX_DETAIL).collect();
            if kept.len() < masked.len() {
                kept.push('…');
            }
            kept
        });
        Self { route, status: response.status, detail, retry_after: response.retry_after() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` was answered with {}", self.route, self.status)?;
        self.detail.iter().try_for_each(|detail| write!(f, ": {detail}"))
    }
}

/// Reads `{"detail": …}`, `{"field": ["…"]}` and `["…"]` into one line.
fn detail(body: &Value) -> Option<String> {
    let text = match body {
        Value::Object(fields) => match fields.get("detail") {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Object(detail)) => detail.get("message")?.as_str()?.to_owned(),
            Some(_) => return None,
            None => by_field(body, 0),
        },
        Value::Array(_) => by_field(body, 0),
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) => return None,
    };
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!line.is_empty()).then_some(line)
}

/// Field errors, `name: text; other: text`, nested ones by index or name.
fn by_field(value: &Value, depth: usize) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) if depth < 4 => {
            joined(items.iter().map(|it| by_field(it, depth + 1)), " ")
        }
        Value::Object(fields) if depth < 4 => joined(
            fields.iter().map(|(name, value)| format!("`{name}`: {}", by_field(value, depth + 1))),
            "; ",
        ),
        _ => String::new(),
    }
}

fn joined(parts: impl Iterator<Item = String>, separator: &str) -> String {
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(separator)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_words_of_every_kind_of_error_body_become_one_line() {
        let table = [
            (json!({"detail": "Invalid token"}), Some("Invalid token")),
            (json!({"detail": {"message": "no\nmove"}}), Some("no move")),
            (json!({"name": ["This field is required."]}), Some("`name`: This field is required.")),
            (
                json!({"widgets": [{"title": ["blank"]}], "slug": ["taken", "long"]}),
                Some("`widgets`: `title`: blank; `slug`: taken long"),
            ),
            (json!(["not yours"]), Some("not yours")),
            (json!("Dashboard title already taken"), Some("Dashboard title already taken")),
            (json!({"detail": 7}), None),
            (json!({}), None),
            (json!(null), None),
        ];
        for (body, expected) in table {
            assert_eq!(detail(&body).as_deref(), expected, "{body}");
        }
    }
}
