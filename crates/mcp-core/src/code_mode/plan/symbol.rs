//! Symbols: texts that stand for a value which only the real response of a planned write will have.
//!
//! In a script's texts a symbol reads `«1.pk·<nonce>·<form>»`: the name says where the value will
//! be found, the nonce keeps scripts and upstream texts from writing one, the form says what the
//! script did with it. People see `«1.pk»`.

use std::borrow::Cow;

use serde_json::{Map, Value};

const OPEN: char = '«';
const CLOSE: char = '»';
const SEPARATOR: char = '·';

/// What a script did with a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Put it into a text.
    Text,
    /// Joined it with `+`: to a text, or to a number.
    Joined,
    /// Passed it on as the value it is.
    Value,
}

/// One symbol within a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark<'t> {
    /// First byte, and the first one after it.
    pub(super) at: (usize, usize),
    /// `1.pk`: the first write's response, its field `pk`.
    pub(super) name: &'t str,
    pub(super) form: Form,
}

/// Where a symbol's value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    /// The value, as JSON text.
    Json(String),
    /// It stays a symbol.
    Symbol,
    /// There is none.
    Missing,
}

/// A symbol that has no value, or stands where its value cannot be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unresolved(pub(super) String);

/// The symbols in a text.
pub(super) fn marks<'t>(text: &'t str, nonce: &'t str) -> impl Iterator<Item = Mark<'t>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            // The last opening mark before a closing one: what stands before it is plain text.
            let first = from + text.get(from..)?.find(OPEN)?;
            let end = first + text.get(first..)?.find(CLOSE)?;
            let start = first + text.get(first..end)?.rfind(OPEN)?;
            let inner = start + OPEN.len_utf8();
            from = end;
            let mut parts = text.get(inner..end)?.split(SEPARATOR);
            let (Some(name), Some(own), Some(form), None) =
                (parts.next(), parts.next(), parts.next(), parts.next())
            else {
                continue;
            };
            let is_name = name.bytes().all(|it| it.is_ascii_alphanumeric() || b"_.-".contains(&it));
            let form = match form {
                _ if own != nonce || !is_name => continue,
                "t" => Form::Text,
                "p" => Form::Joined,
                "v" | "a" => Form::Value,
                _ => continue,
            };
            from = end + CLOSE.len_utf8();
            return Some(Mark { at: (start, from), name, form });
        }
    })
}

/// The symbol that is the whole text.
pub(super) fn whole<'t>(text: &'t str, nonce: &'t str) -> Option<Mark<'t>> {
    marks(text, nonce).next().filter(|it| it.at == (0, text.len()))
}

/// The text with each symbol replaced by what `replace` makes of it.
pub(super) fn map_marks<'t>(
    text: &'t str,
    nonce: &str,
    mut replace: impl FnMut(&Mark<'_>) -> String,
) -> Cow<'t, str> {
    let mut mapped = String::new();
    let mut from = 0;
    for mark in marks(text, nonce) {
        mapped.push_str(text.get(from..mark.at.0).unwrap_or_default());
        mapped.push_str(&replace(&mark));
        from = mark.at.1;
    }
    if from == 0 {
        return Cow::Borrowed(text);
    }
    mapped.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(mapped)
}

/// A symbol as people see it.
pub(super) fn shown(name: &str) -> String {
    format!("{OPEN}{name}{CLOSE}")
}

/// The text without nonces and forms.
pub(in super::super) fn clean(text: &str, nonce: &str) -> String {
    map_marks(text, nonce, |mark| shown(mark.name)).into_owned()
}

/// Whether a symbol was joined by `+` to something that may have been a number: the sum is unknown.
pub(super) fn may_be_a_sum(text: &str, nonce: &str) -> Option<String> {
    let is_numeric = |it: char| it.is_ascii_digit() || it == CLOSE || it == OPEN;
    marks(text, nonce).filter(|it| it.form == Form::Joined).find_map(|mark| {
        let before = text.get(..mark.at.0)?.chars().next_back();
        let after = text.get(mark.at.1..)?.chars().next();
        (before.is_some_and(is_numeric) || after.is_some_and(is_numeric))
            .then(|| mark.name.to_owned())
    })
}

/// A text with the symbols' values in it, as a script would have written it.
pub(super) fn resolve_text(
    text: &str,
    nonce: &str,
    values: &dyn Fn(&str) -> Found,
) -> Result<String, Unresolved> {
    let mut resolved = String::with_capacity(text.len());
    let mut from = 0;
    for mark in marks(text, nonce) {
        let (mut start, mut end) = mark.at;
        let value = match values(mark.name) {
            Found::Json(json) => json,
            Found::Symbol => continue,
            Found::Missing => return Err(Unresolved(mark.name.to_owned())),
        };
        let value = match mark.form {
            Form::Text | Form::Joined => as_text(&value),
            // JSON that the script wrote itself: the quotes around the symbol are not the value's.
            Form::Value => {
                let quoted = text.get(..start).is_some_and(|it| it.ends_with('"'))
                    && text.get(end..).is_some_and(|it| it.starts_with('"'));
                if !quoted {
                    return Err(Unresolved(mark.name.to_owned()));
                }
                start -= 1;
                end += 1;
                value
            }
        };
        resolved.push_str(text.get(from..start).unwrap_or_default());
        resolved.push_str(&value);
        from = end;
    }
    resolved.push_str(text.get(from..).unwrap_or_default());
    Ok(resolved)
}

/// A value with the symbols' values in it.
pub(super) fn resolve_value(
    value: &Value,
    nonce: &str,
    values: &dyn Fn(&str) -> Found,
) -> Result<Value, Unresolved> {
    Ok(match value {
        Value::String(text) => {
            if let Some(Mark { name, form: Form::Value, .. }) = whole(text, nonce) {
                return match values(name) {
                    Found::Json(json) => {
                        serde_json::from_str(&json).map_err(|_| Unresolved(name.to_owned()))
                    }
                    Found::Symbol => Ok(value.clone()),
                    Found::Missing => Err(Unresolved(name.to_owned())),
                };
            }
            Value::String(resolve_text(text, nonce, values)?)
        }
        Value::Array(list) => Value::Array(
            list.iter().map(|it| resolve_value(it, nonce, values)).collect::<Result<_, _>>()?,
        ),
        Value::Object(fields) => {
            let mut resolved = Map::new();
            for (key, value) in fields {
                resolved.insert(
                    resolve_text(key, nonce, values)?,
                    resolve_value(value, nonce, values)?,
                );
            }
            Value::Object(resolved)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    })
}

/// JSON text with the symbols' values in it; everything else keeps its exact text.
pub(super) fn resolve_json(
    json: &str,
    nonce: &str,
    values: &dyn Fn(&str) -> Found,
) -> Result<String, Unresolved> {
    map_strings(json, &mut |text| {
        if let Some(Mark { name, form: Form::Value, .. }) = whole(text, nonce) {
            return match values(name) {
                Found::Json(json) => Ok(Some(json)),
                Found::Symbol => Ok(None),
                Found::Missing => Err(Unresolved(name.to_owned())),
            };
        }
        let resolved = resolve_text(text, nonce, values)?;
        Ok((resolved != text).then(|| quoted(&resolved)))
    })
}

/// JSON text with strings replaced by the JSON that `replace` makes of them; everything else, and
/// every string of plain ASCII, keeps its exact text.
pub(super) fn map_strings<E>(
    json: &str,
    replace: &mut dyn FnMut(&str) -> Result<Option<String>, E>,
) -> Result<String, E> {
    let mut mapped = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(start) = rest.find('"') {
        let Some(end) = end_of_string(rest, start) else { break };
        let (before, literal) =
            (rest.get(..start).unwrap_or_default(), rest.get(start..end).unwrap_or_default());
        mapped.push_str(before);
        let plain = literal.is_ascii() && !literal.contains('\\');
        let replaced = match serde_json::from_str::<String>(literal) {
            Ok(text) if !plain => replace(&text)?,
            _ => None,
        };
        mapped.push_str(replaced.as_deref().unwrap_or(literal));
        rest = rest.get(end..).unwrap_or_default();
    }
    mapped.push_str(rest);
    Ok(mapped)
}

/// The first byte after the string that starts at `start`.
fn end_of_string(json: &str, start: usize) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in json.bytes().enumerate().skip(start + 1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// The text as a JSON string.
pub(super) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// A JSON value as JavaScript writes it into a text.
fn as_text(json: &str) -> String {
    match serde_json::from_str::<Value>(json) {
        Ok(Value::String(text)) => text,
        Ok(Value::Number(number)) if number.is_f64() => {
            let number = number.as_f64().unwrap_or_default();
            // Beyond 2^53 the script has the digits themselves, as a `BigInt`.
            if json.bytes().all(|it| it.is_ascii_digit() || it == b'-') {
                json.to_owned()
            } else {
                number.to_string()
            }
        }
        Ok(Value::Array(list)) => {
            let texts = list.iter().map(|it| match it {
                Value::Null => String::new(),
                other => as_text(&other.to_string()),
            });
            texts.collect::<Vec<_>>().join(",")
        }
        Ok(Value::Object(_)) => "[object Object]".to_owned(),
        Ok(Value::Null | Value::Bool(_) | Value::Number(_)) | Err(_) => json.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: &str = "00ff";

    fn values(name: &str) -> Found {
        match name {
            "1.pk" => Found::Json("7".to_owned()),
            "1.slug" => Found::Json("\"a\\\"b\"".to_owned()),
            "1.price" => Found::Json("1.0".to_owned()),
            "2.any" => Found::Symbol,
            _ => Found::Missing,
        }
    }

    #[test]
    fn symbols_are_found_by_their_nonce_alone() {
        let text = "a«1.pk·00ff·t»b «1.pk» «1.pk·0f0f·t» «1.pk·00ff·x» ««2.x·00ff·v»";
        let found: Vec<_> = marks(text, NONCE).map(|it| (it.name, it.form)).collect();
        assert_eq!(found, [("1.pk", Form::Text), ("2.x", Form::Value)]);
        assert_eq!(clean(text, NONCE), "a«1.pk»b «1.pk» «1.pk·0f0f·t» «1.pk·00ff·x» ««2.x»");
    }

    #[test]
    fn texts_get_values_as_a_script_would_write_them() {
        let table = [
            ("/users/«1.pk·00ff·t»/", Ok("/users/7/")),
            ("«1.slug·00ff·p»-x", Ok("a\"b-x")),
            ("«1.price·00ff·t»", Ok("1")),
            ("{\"id\":\"«1.pk·00ff·v»\"}", Ok("{\"id\":7}")),
            ("«2.any·00ff·t»", Ok("«2.any·00ff·t»")),
            ("x «1.pk·00ff·v»", Err("1.pk")),
            ("«3.pk·00ff·t»", Err("3.pk")),
        ];
        for (text, expected) in table {
            let resolved = resolve_text(text, NONCE, &values);
            assert_eq!(
                resolved.as_deref(),
                expected.map_err(|it| Unresolved(it.to_owned())).as_deref(),
                "{text}"
            );
        }
    }

    #[test]
    fn bodies_keep_the_types_of_values_and_their_exact_text() {
        let body = r#"{"user":"«1.pk·00ff·v»","text":"n «1.pk·00ff·t»","big":123456789012345678901,"s":"«1.slug·00ff·v»"}"#;
        assert_eq!(
            resolve_json(body, NONCE, &values).unwrap(),
            r#"{"user":7,"text":"n 7","big":123456789012345678901,"s":"a\"b"}"#
        );
    }

    #[test]
    fn a_sum_is_told_from_a_text() {
        let table = [
            ("/users/«1.pk·00ff·p»/", None),
            ("«1.pk·00ff·p»1", Some("1.pk")),
            ("1«1.pk·00ff·p»", Some("1.pk")),
            ("«1.pk·00ff·p»«2.any·00ff·p»", Some("1.pk")),
            ("«1.pk·00ff·t»1", None),
        ];
        for (text, expected) in table {
            assert_eq!(may_be_a_sum(text, NONCE).as_deref(), expected, "{text}");
        }
    }
}
