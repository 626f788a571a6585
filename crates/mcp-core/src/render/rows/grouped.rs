//! Groups with numbers, as JSON: one group a line.

use serde_json::{Map, Value};

use crate::render::event::{short, shorten};

use super::{MOST_COLUMNS, ROOM};

/// Characters of a value.
const LONGEST: usize = 200;

/// A JSON list of the groups that fit, and how many did not.
pub(crate) fn grouped(rows: &[Map<String, Value>]) -> (String, usize) {
    let mut lines: Vec<String> = Vec::new();
    let mut size = 0;
    for row in rows {
        let line = Value::Object(row.iter().take(MOST_COLUMNS).map(brief).collect()).to_string();
        size += line.len() + 4;
        if size > ROOM {
            break;
        }
        lines.push(line);
    }
    let left_out = rows.len() - lines.len();
    if lines.is_empty() {
        return ("[]".to_owned(), left_out);
    }
    (format!("[\n  {}\n]", lines.join(",\n  ")), left_out)
}

/// Numbers as they are, texts shortened, anything deeper as a text.
fn brief((key, value): (&String, &Value)) -> (String, Value) {
    let value = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        Value::String(_) | Value::Array(_) | Value::Object(_) => short(value, LONGEST).into(),
    };
    (shorten(key, LONGEST), value)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn groups_are_json_whatever_is_left_out() {
        let row = |value: Value| value.as_object().unwrap().clone();
        let (text, left_out) = grouped(&[
            row(json!({"title": "a\u{202e}b", "count()": 3})),
            row(json!({"title": null, "count()": 1.5})),
        ]);
        assert_eq!(left_out, 0);
        let read: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            read,
            json!([{"title": "a\u{fffd}b", "count()": 3}, {"title": null, "count()": 1.5}])
        );
        let long = row(json!({"a": "é".repeat(500), "b": vec!["x"; 500]}));
        let (text, left_out) = grouped(&vec![long; 1_000]);
        let shown = serde_json::from_str::<Vec<Value>>(&text).unwrap().len();
        assert!(text.len() <= ROOM && shown + left_out == 1_000 && left_out > 0);
        assert_eq!(grouped(&[]).0, "[]");
    }
}
