//! How fields are read: an id may be a number, and a field that is not what it should be is absent.

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Reads an id or slug, which may be text or a number; anything else is an error.
pub(super) fn id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let value = Value::deserialize(deserializer)?;
    as_id(&value)
        .ok_or_else(|| D::Error::custom("what should name the entity is no text or number"))
}

/// Reads an id that may be missing.
pub(super) fn optional_id<'de, D>(deserializer: D) -> Result<Option<String>, D::Error>
where
    D: Deserializer<'de>,
{
    Ok(as_id(&Value::deserialize(deserializer)?))
}

/// Reads a list of ids, without what is none.
pub(super) fn ids<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let items = Vec::deserialize(deserializer).unwrap_or_default();
    Ok(items.iter().filter_map(as_id).collect())
}

/// Reads a field of another type as if it were missing.
pub(super) fn field<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned + Default,
{
    let value = Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).unwrap_or_default())
}

/// Reads a list without the items that cannot be read.
pub(super) fn list<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    let Value::Array(items) = Value::deserialize(deserializer)? else { return Ok(Vec::new()) };
    Ok(items.into_iter().filter_map(|item| serde_json::from_value(item).ok()).collect())
}

/// A whole answer that is a list, without the items that cannot be read.
#[derive(Debug, Deserialize)]
#[serde(transparent, bound = "T: DeserializeOwned")]
pub(super) struct Items<T> {
    #[serde(deserialize_with = "list")]
    pub(super) items: Vec<T>,
}

/// Reads a list whose items other lists point at: one that cannot be read keeps its place.
pub(super) fn aligned<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned + Default,
{
    let Value::Array(items) = Value::deserialize(deserializer)? else { return Ok(Vec::new()) };
    Ok(items.into_iter().map(|item| serde_json::from_value(item).unwrap_or_default()).collect())
}

fn as_id(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    struct Entity {
        #[serde(deserialize_with = "id")]
        id: String,
        #[serde(default, deserialize_with = "field")]
        name: Option<String>,
        #[serde(default, deserialize_with = "ids")]
        projects: Vec<String>,
        #[serde(default, deserialize_with = "list")]
        parts: Vec<Part>,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    struct Part {
        size: u32,
    }

    fn entity(value: Value) -> Result<Entity, String> {
        serde_json::from_value(value).map_err(|error| error.to_string())
    }

    #[test]
    fn a_field_of_the_wrong_type_costs_only_itself() {
        let odd = json!({
            "id": 7, "name": {"first": "a"}, "projects": [1, "b", null, {}],
            "parts": [{"size": 1}, {"size": "large"}, 3], "unknown": []
        });
        let expected = Entity {
            id: "7".to_owned(),
            name: None,
            projects: vec!["1".to_owned(), "b".to_owned()],
            parts: vec![Part { size: 1 }],
        };
        assert_eq!(entity(odd), Ok(expected));
        for bare in
            [json!({"id": "7"}), json!({"id": "7", "name": null, "projects": null, "parts": 1})]
        {
            let entity = entity(bare).unwrap();
            assert_eq!((entity.name, entity.projects, entity.parts), (None, vec![], vec![]));
        }
    }

    #[test]
    fn an_entity_without_its_name_is_none() {
        for nameless in [json!({}), json!({"id": null}), json!({"id": ""}), json!("7")] {
            assert!(entity(nameless.clone()).is_err(), "{nameless}");
        }
    }
}
