//! The two spellings of field names: bodies may use either, answers are camelCase.

use serde_json::{Map, Value, json};

use crate::http::Reply;

/// Kept as it is sent: its keys are the caller's own.
const OPAQUE: &str = "additional_fields";

/// A body with snake_case keys all the way down; one field in both spellings is an error.
pub(super) fn snake(body: &Map<String, Value>) -> Result<Map<String, Value>, Reply> {
    let mut converted = Map::new();
    for (key, value) in body {
        let name = snake_case(key);
        if name != *key && body.contains_key(&name) {
            let text = format!("{key} collides with {name}, please pass only one value");
            return Err(Reply::json(400, &json!({ key: text })));
        }
        let value = if name == OPAQUE { value.clone() } else { snake_value(value)? };
        converted.insert(name, value);
    }
    Ok(converted)
}

fn snake_value(value: &Value) -> Result<Value, Reply> {
    match value {
        Value::Object(object) => Ok(Value::Object(snake(object)?)),
        Value::Array(items) => items.iter().map(snake_value).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(value.clone()),
    }
}

/// Error keys are printed in camelCase.
pub(super) fn camel_errors(errors: Map<String, Value>) -> Map<String, Value> {
    errors.into_iter().map(|(key, value)| (camel_case(&key), value)).collect()
}

pub(super) fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

pub(super) fn camel_case(name: &str) -> String {
    let mut camel = String::new();
    let mut raise = false;
    for letter in name.chars() {
        if letter == '_' && !camel.is_empty() {
            raise = true;
        } else {
            camel.push(if raise { letter.to_ascii_uppercase() } else { letter });
            raise = false;
        }
    }
    camel
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::row;

    #[test]
    fn names_are_converted_both_ways() {
        for (camel, snake) in
            [("displayType", "display_type"), ("minH", "min_h"), ("title", "title"), ("x", "x")]
        {
            assert_eq!(snake_case(camel), snake);
            assert_eq!(camel_case(snake), camel);
        }
    }

    #[test]
    fn keys_are_converted_at_every_depth_but_in_opaque_objects() {
        let body = row(json!({ "aB": [{ "cD": 1 }], "additionalFields": { "eF": 2 } }));
        let converted = snake(&body).unwrap();
        let expected = json!({ "a_b": [{ "c_d": 1 }], "additional_fields": { "eF": 2 } });
        assert_eq!(Value::Object(converted), expected);
    }

    #[test]
    fn both_spellings_of_one_field_collide() {
        let body = row(json!({ "detectorIds": [], "detector_ids": [] }));
        let reply = snake(&body).unwrap_err();
        let expected = json!({
            "detectorIds": "detectorIds collides with detector_ids, please pass only one value",
        });
        assert_eq!(reply.status, 400);
        assert_eq!(serde_json::from_slice::<Value>(&reply.body).unwrap(), expected);
    }
}
