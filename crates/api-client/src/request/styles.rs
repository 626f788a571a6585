//! Parameter styles: how scalars, arrays and objects become text, each atom encoded before it is joined.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Number, Value};

use super::Style;

/// Everything but RFC 3986's unreserved characters.
const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Reserved characters stay, except those that could end the value or mean a space
/// (`&`, `;`, `#`, `+`) and brackets, which a query may not hold.
const RESERVED: &AsciiSet = &COMPONENT
    .remove(b':')
    .remove(b'/')
    .remove(b'?')
    .remove(b'@')
    .remove(b'!')
    .remove(b'$')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b',')
    .remove(b'=');

/// What a template's own text may not hold. `%` stays: a document writes its paths encoded.
const LITERAL: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// How an atom is encoded, which depends on where it goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    /// Paths and queries: all but unreserved characters.
    Component,
    /// Queries with `allowReserved`.
    Reserved,
    /// `application/x-www-form-urlencoded` bodies: a space is `+`.
    Form,
    /// Multipart fields and headers: not at all.
    Raw,
}

impl Encoding {
    pub(super) fn apply(self, text: &str) -> String {
        match self {
            Self::Component => utf8_percent_encode(text, COMPONENT).to_string(),
            Self::Reserved => utf8_percent_encode(text, RESERVED).to_string(),
            Self::Form => utf8_percent_encode(text, COMPONENT).to_string().replace("%20", "+"),
            Self::Raw => text.to_owned(),
        }
    }

    fn delimiter(self, style: Style) -> &'static str {
        match (style, self) {
            (Style::SpaceDelimited, Self::Raw) => " ",
            (Style::SpaceDelimited, Self::Component | Self::Reserved | Self::Form) => "%20",
            (Style::PipeDelimited, Self::Raw) => "|",
            (Style::PipeDelimited, Self::Component | Self::Reserved | Self::Form) => "%7C",
            (
                Style::Form | Style::DeepObject | Style::Simple | Style::Label | Style::Matrix,
                Self::Component | Self::Reserved | Self::Form | Self::Raw,
            ) => ",",
        }
    }
}

/// Returns the style for a value no document speaks of.
pub(super) fn undeclared(value: &Value) -> Style {
    let nested = |item: &Value| item.is_object() || item.is_array();
    match value {
        Value::Array(items) if items.iter().any(nested) => Style::DeepObject,
        Value::Object(_) => Style::DeepObject,
        _ => Style::Form,
    }
}

/// Writes a query parameter or form field as name-value pairs, both encoded. `null`, also inside
/// arrays and objects, and empty arrays and objects give nothing.
pub(super) fn pairs(
    name: &str,
    value: &Value,
    style: Style,
    explode: bool,
    encoding: Encoding,
) -> Vec<(String, String)> {
    if style == Style::DeepObject {
        let mut pairs = Vec::new();
        deep(encoding.apply(name), value, encoding, &mut pairs);
        return pairs;
    }
    let encoded_name = || encoding.apply(name);
    match value {
        Value::Null => Vec::new(),
        Value::Array(items) if explode => {
            present(items).map(|item| (encoded_name(), encoding.apply(&text(item)))).collect()
        }
        Value::Object(fields) if explode => present_fields(fields)
            .map(|(key, item)| (encoding.apply(key), encoding.apply(&text(item))))
            .collect(),
        Value::Array(_) | Value::Object(_) => {
            let atoms = atoms(value, encoding);
            if atoms.is_empty() {
                return Vec::new();
            }
            vec![(encoded_name(), atoms.join(encoding.delimiter(style)))]
        }
        _ => vec![(encoded_name(), encoding.apply(&text(value)))],
    }
}

/// Writes a path parameter in `simple`, `label` or `matrix` style; any other counts as `simple`.
pub(super) fn path(name: &str, value: &Value, style: Style, explode: bool) -> String {
    let encoding = Encoding::Component;
    let scalar = !value.is_array() && !value.is_object();
    let key = encoding.apply(name);
    match style {
        Style::Label => {
            let separator = if explode { "." } else { "," };
            format!(".{}", items(value, explode, encoding).join(separator))
        }
        Style::Matrix if scalar || !explode => {
            format!(";{key}={}", items(value, false, encoding).join(","))
        }
        Style::Matrix => items(value, true, encoding)
            .iter()
            .map(
                |item| if value.is_array() { format!(";{key}={item}") } else { format!(";{item}") },
            )
            .collect(),
        Style::Simple
        | Style::Form
        | Style::SpaceDelimited
        | Style::PipeDelimited
        | Style::DeepObject => items(value, explode, encoding).join(","),
    }
}

/// Writes a header value, which is `simple` style without encoding.
pub(super) fn header(value: &Value, explode: bool) -> String {
    items(value, explode, Encoding::Raw).join(",")
}

/// Encodes a template's own text.
pub(super) fn literal(text: &str) -> Cow<'_, str> {
    utf8_percent_encode(text, LITERAL).into()
}

/// Returns a scalar as plain text; arrays and objects, where a style has no place for them, as JSON.
pub(super) fn text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Null => Cow::Borrowed(""),
        Value::String(text) => Cow::Borrowed(text),
        Value::Number(number) => Cow::Owned(number_text(number)),
        _ => Cow::Owned(value.to_string()),
    }
}

/// Whether nothing of the value would be written.
pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => present(items).all(is_empty),
        Value::Object(fields) => present_fields(fields).next().is_none(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Writes whole floats as a script prints them (`1`, not `1.0`); integers keep all digits.
fn number_text(number: &Number) -> String {
    match number.as_f64() {
        Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 1e21 => {
            format!("{float:.0}")
        }
        Some(_) | None => number.to_string(),
    }
}

/// One text per item; objects exploded are `key=value`, else keys and values in turn.
fn items(value: &Value, explode: bool, encoding: Encoding) -> Vec<String> {
    match value {
        Value::Object(fields) if explode => present_fields(fields)
            .map(|(key, item)| format!("{}={}", encoding.apply(key), encoding.apply(&text(item))))
            .collect(),
        _ => atoms(value, encoding),
    }
}

fn atoms(value: &Value, encoding: Encoding) -> Vec<String> {
    match value {
        Value::Array(items) => present(items).map(|item| encoding.apply(&text(item))).collect(),
        Value::Object(fields) => present_fields(fields)
            .flat_map(|(key, item)| [encoding.apply(key), encoding.apply(&text(item))])
            .collect(),
        _ => vec![encoding.apply(&text(value))],
    }
}

/// Recursion is bounded by the JSON parser's own depth limit.
fn deep(name: String, value: &Value, encoding: Encoding, pairs: &mut Vec<(String, String)>) {
    let (open, close) = (encoding.apply("["), encoding.apply("]"));
    match value {
        Value::Null => {}
        Value::Array(items) => {
            for (index, item) in present(items).enumerate() {
                deep(format!("{name}{open}{index}{close}"), item, encoding, pairs);
            }
        }
        Value::Object(fields) => {
            for (key, item) in present_fields(fields) {
                let key = encoding.apply(key);
                deep(format!("{name}{open}{key}{close}"), item, encoding, pairs);
            }
        }
        _ => pairs.push((name, encoding.apply(&text(value)))),
    }
}

fn present(items: &[Value]) -> impl Iterator<Item = &Value> {
    items.iter().filter(|item| !item.is_null())
}

fn present_fields(
    fields: &serde_json::Map<String, Value>,
) -> impl Iterator<Item = (&String, &Value)> {
    fields.iter().filter(|(_, item)| !item.is_null())
}
