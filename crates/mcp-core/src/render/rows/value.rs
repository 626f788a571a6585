//! Values of rows on one line.

use serde_json::{Map, Value};

use crate::render::event::{short, shorten};

/// Characters of a value, and of an item of a list.
const LONGEST: usize = 200;
const LONGEST_ITEM: usize = 80;
/// Items of a list that are shown.
const MOST_ITEMS: usize = 20;

/// A value on one line, or nothing where it says nothing.
pub(super) fn said(value: &Value) -> Option<String> {
    let text = match value {
        Value::Null => return None,
        Value::String(text) => words(text),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(items) => list(items),
        Value::Object(fields) => person(fields).or_else(|| {
            let says = fields.values().any(|it| !it.is_null());
            says.then(|| short(value, LONGEST))
        })?,
    };
    Some(text).filter(|it| !it.is_empty())
}

/// A text without line breaks and runs of spaces.
fn words(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().take(LONGEST + 1).collect();
    shorten(&words.join(" "), LONGEST)
}

/// The first items; tags as `key=value`.
fn list(items: &[Value]) -> String {
    let known = items.iter().filter_map(item);
    let mut shown: Vec<String> = known.take(MOST_ITEMS).collect();
    let rest = items.len().saturating_sub(MOST_ITEMS);
    if rest > 0 {
        shown.push(format!("… {rest} more"));
    }
    shown.join(", ")
}

fn item(item: &Value) -> Option<String> {
    match item {
        Value::Null => None,
        Value::Object(fields) => Some(match (fields.get("key"), fields.get("value")) {
            (Some(key), Some(value)) => {
                format!("{}={}", short(key, LONGEST_ITEM), short(value, LONGEST_ITEM))
            }
            _ => short(item, LONGEST_ITEM),
        }),
        other => Some(short(other, LONGEST_ITEM)).filter(|it| !it.is_empty()),
    }
}

/// A user by the best of its names, with its number.
fn person(fields: &Map<String, Value>) -> Option<String> {
    let named = |key: &str| {
        let value = fields.get(key).filter(|it| it.is_string() || it.is_number())?;
        Some(short(value, LONGEST_ITEM)).filter(|it| !it.trim().is_empty())
    };
    let name = ["email", "username", "name"].into_iter().find_map(named);
    let id = named("id").or_else(|| named("ip_address"));
    match (name, id) {
        (Some(name), Some(id)) if name != id => Some(format!("{name} ({id})")),
        (Some(name), _) => Some(name),
        (None, id) => id,
    }
}

/// Where a user is, for a user that says so.
pub(super) fn place(user: &Value) -> Option<String> {
    let geo = user.get("geo")?.as_object()?;
    let parts = ["city", "subdivision", "region", "country_code"].into_iter().filter_map(|key| {
        let part = geo.get(key)?.as_str()?.trim();
        (!part.is_empty()).then(|| shorten(part, LONGEST_ITEM))
    });
    Some(parts.collect::<Vec<_>>().join(", ")).filter(|it| !it.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_one_line_and_short() {
        for (value, expected) in [
            (json!(null), None),
            (json!(" \n "), None),
            (json!([]), None),
            (json!({}), None),
            (json!({"a": null}), None),
            (json!("a\n  b\tc"), Some("a b c")),
            (json!(1.5), Some("1.5")),
            (json!(false), Some("false")),
            (json!(["a", null, 1]), Some("a, 1")),
            (
                json!([{"key": "browser", "value": "Firefox"}, {"key": "n", "value": 1}]),
                Some("browser=Firefox, n=1"),
            ),
            (json!([{"a": 1}]), Some(r#"{"a":1}"#)),
            (json!({"id": 7, "email": "a@b.test", "geo": {}}), Some("a@b.test (7)")),
            (json!({"ip_address": "10.0.0.1"}), Some("10.0.0.1")),
            (json!({"depth": 1}), Some(r#"{"depth":1}"#)),
        ] {
            assert_eq!(said(&value).as_deref(), expected, "{value}");
        }
        assert_eq!(said(&json!("x".repeat(300))).unwrap().chars().count(), 201);
        let many = said(&Value::from((0..25).collect::<Vec<_>>())).unwrap();
        assert!(many.ends_with("19, … 5 more"), "{many}");
    }

    #[test]
    fn a_place_is_told_from_what_is_known_of_it() {
        let user = json!({"geo": {"city": "Kiel", "country_code": "DE", "region": null}});
        assert_eq!(place(&user).as_deref(), Some("Kiel, DE"));
        for user in [json!({}), json!({"geo": {}}), json!("x"), json!({"geo": []})] {
            assert_eq!(place(&user), None);
        }
    }
}
