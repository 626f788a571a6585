//! The hash of a state: SHA-256 over JSON with sorted keys and no blanks.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// 64 hex digits; the order in which keys were inserted does not matter.
pub(crate) fn of(state: &Value) -> String {
    let mut text = String::new();
    write(state, &mut text);
    let mut hex = String::new();
    for byte in Sha256::digest(text.as_bytes()) {
        // Writing to a string cannot fail.
        let _written = write!(hex, "{byte:02x}");
    }
    hex
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Object(fields) => {
            text.push('{');
            let sorted: BTreeMap<&String, &Value> = fields.iter().collect();
            for (index, (key, value)) in sorted.into_iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                write(value, text);
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write(item, text);
            }
            text.push(']');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            text.push_str(&value.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_keys_does_not_matter_and_that_of_rows_does() {
        let of = |text: &str| of(&serde_json::from_str(text).unwrap());
        assert_eq!(of(r#"{"a":1,"b":[{"c":2,"d":3}]}"#), of(r#"{"b":[{"d":3,"c":2}],"a":1}"#));
        assert_ne!(of("[1,2]"), of("[2,1]"));
        assert_ne!(of("1"), of("\"1\""));
        // The digest of `{}`, from elsewhere.
        assert!(of("{}").starts_with("44136fa355b3678a1146ad16f7e8649e"));
    }
}
