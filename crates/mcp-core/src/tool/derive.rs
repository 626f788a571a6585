//! Schemas derived from types: `schemars` writes them down, one clean-up pass makes them the subset
//! every client takes, and what a tool's parameters say there becomes a [`Schema`].
//!
//! What is left has one `type` each, no references, unions, nulls or formats, and `items` on every
//! list. Strict checks (forms, lengths) stay inside.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value};

use super::{Argument, ArgumentType, Form, Schema};

/// Marks a value whose `null` takes away what is set.
pub(crate) const CLEARABLE: &str = "x-clearable";

/// Keywords that a cleaned schema may have.
#[cfg(test)]
pub(crate) const KEYWORDS: [&str; 8] =
    ["type", "description", "enum", "minimum", "maximum", "items", "properties", "required"];

/// The arguments that a parameter type declares.
pub(crate) fn arguments<P: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_deserialize();
    let root = clean(generate::<P>(settings));
    let is_required = |name: &str| {
        let names = root.get("required").and_then(Value::as_array);
        names.is_some_and(|names| names.iter().any(|it| it == name))
    };
    let Some(Value::Object(properties)) = root.get("properties") else {
        return Schema::default();
    };
    let argument = |(name, property): (&String, &Value)| Argument {
        name: name.clone().into(),
        kind: kind(property),
        required: is_required(name),
        description: description(property),
    };
    Schema(properties.iter().map(argument).collect())
}

/// The schema of what a tool returns.
pub(crate) fn output<T: JsonSchema>() -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut root = clean(generate::<T>(settings));
    publish(&mut root);
    root
}

fn generate<T: JsonSchema>(settings: SchemaSettings) -> Value {
    let settings = settings.with(|it| {
        it.inline_subschemas = true;
        it.meta_schema = None;
    });
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

/// Takes unions with null apart, folds documented enums into one, drops what only documents.
fn clean(schema: Value) -> Map<String, Value> {
    let Value::Object(mut schema) = schema else { return Map::new() };
    schema.remove("title");
    schema.remove("$schema");
    for union in ["anyOf", "oneOf", "allOf"] {
        if let Some(Value::Array(branches)) = schema.remove(union) {
            join(&mut schema, branches);
        }
    }
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|it| it != "null");
        if let [one] = types.as_slice() {
            let one = one.clone();
            schema.insert("type".to_owned(), one);
        }
    }
    if let Some(Value::Array(choices)) = schema.get_mut("enum") {
        choices.retain(|it| !it.is_null());
    }
    for nested in ["properties", "items"] {
        let Some(value) = schema.remove(nested) else { continue };
        let value = match value {
            Value::Object(properties) if nested == "properties" => {
                let cleaned = |(name, value)| (name, Value::Object(clean(value)));
                Value::Object(properties.into_iter().map(cleaned).collect())
            }
            value => Value::Object(clean(value)),
        };
        schema.insert(nested.to_owned(), value);
    }
    schema
}

/// Joins the branches of a union: null goes, constants become one enum, a lone branch stays.
fn join(schema: &mut Map<String, Value>, branches: Vec<Value>) {
    let is_null = |it: &Value| it["type"] == "null" || it.get("const").is_some_and(Value::is_null);
    let mut choices = Vec::new();
    for branch in branches.into_iter().filter(|it| !is_null(it)) {
        let branch = clean(branch);
        match (branch.get("const"), branch.get("enum")) {
            (Some(constant), _) => choices.push(constant.clone()),
            (None, Some(Value::Array(several))) => choices.extend(several.iter().cloned()),
            (None, _) => {
                for (key, value) in branch {
                    schema.entry(key).or_insert(value);
                }
            }
        }
    }
    if !choices.is_empty() {
        schema.insert("type".to_owned(), Value::from("string"));
        schema.insert("enum".to_owned(), Value::Array(choices));
    }
}

/// Drops what is for our own checks.
fn publish(schema: &mut Map<String, Value>) {
    for key in [
        "additionalProperties",
        "default",
        "format",
        "maxItems",
        "maxLength",
        "minItems",
        "minLength",
        "minimum",
        "pattern",
    ] {
        schema.remove(key);
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for property in properties.values_mut() {
            if let Value::Object(property) = property {
                publish(property);
            }
        }
    }
    if let Some(Value::Object(items)) = schema.get_mut("items") {
        publish(items);
    }
}

fn kind(property: &Value) -> ArgumentType {
    let size = |key: &str| {
        property.get(key).and_then(Value::as_u64).and_then(|it| usize::try_from(it).ok())
    };
    let whole = |key: &str| property.get(key).and_then(Value::as_i64);
    let choices = property.get("enum").and_then(Value::as_array);
    let form = property.get("format").and_then(Value::as_str).and_then(Form::of_mark);
    let kind = match (property["type"].as_str(), choices, form) {
        (_, Some(choices), _) => ArgumentType::Choice(
            choices.iter().filter_map(Value::as_str).map(|it| it.to_owned().into()).collect(),
        ),
        (Some("string"), None, Some(form)) => ArgumentType::Form(form),
        (Some("string"), None, None) if size("minLength").or(size("maxLength")).is_some() => {
            ArgumentType::Line {
                least: size("minLength").unwrap_or(0),
                most: size("maxLength").unwrap_or(usize::MAX),
            }
        }
        (Some("integer" | "number"), None, _) => ArgumentType::Integer {
            min: whole("minimum").unwrap_or(0),
            max: whole("maximum").unwrap_or(i64::MAX),
        },
        (Some("boolean"), None, _) => ArgumentType::Flag,
        (Some("array"), None, _) => ArgumentType::List {
            item: Box::new(kind(&property["items"])),
            least: size("minItems").unwrap_or(0),
            most: size("maxItems").unwrap_or(usize::MAX),
        },
        (Some("object"), None, _) => ArgumentType::Object,
        _ => ArgumentType::Text { empty: false },
    };
    if property[CLEARABLE] == true { ArgumentType::Clearable(Box::new(kind)) } else { kind }
}

/// The field's own words, and the default where there is one to know.
fn description(property: &Value) -> String {
    let words = property["description"].as_str().unwrap_or_default();
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let words = words.trim_end_matches('.');
    let default = match property.get("default") {
        None | Some(Value::Null | Value::Array(_) | Value::Object(_)) => return words.to_owned(),
        Some(Value::String(text)) if text.is_empty() => return words.to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    };
    if words.is_empty() {
        format!("default {default}")
    } else {
        format!("{words}; default {default}")
    }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};
    use serde_json::json;

    use super::*;

    #[derive(Deserialize, Serialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        /// Documented, so a union of constants.
        Issue,
        /// The same.
        Metric,
    }

    #[derive(Deserialize, Serialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    struct Params {
        /// Words of
        /// the name.
        query: String,
        #[serde(default = "ten")]
        #[schemars(range(min = 1, max = 100))]
        limit: u32,
        kind: Option<Kind>,
        project_ids: Option<Vec<u64>>,
        #[schemars(length(min = 1, max = 64))]
        name: Option<String>,
        nested: Vec<Nested>,
    }

    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Nested {
        pairs: Vec<[String; 2]>,
        when: Option<String>,
    }

    fn ten() -> u32 {
        10
    }

    #[test]
    fn derived_arguments_are_flat_and_keep_their_checks_inside() {
        let schema = Value::Object(arguments::<Params>().to_json());
        assert_eq!(
            schema,
            json!({
                "type": "object",
                "properties": {
                    "query": { "type": "string", "description": "Words of the name" },
                    "limit": { "type": "integer", "minimum": 1, "maximum": 100, "description": "default 10" },
                    "kind": { "type": "string", "enum": ["issue", "metric"] },
                    "projectIds": { "type": "array", "items": { "type": "integer", "minimum": 0 } },
                    "name": { "type": "string" },
                    "nested": { "type": "array", "items": { "type": "object" } },
                },
                "required": ["query", "nested"],
            })
        );
        let name = arguments::<Params>().get("name").unwrap().kind.clone();
        assert_eq!(name, ArgumentType::Line { least: 1, most: 64 });
    }

    #[test]
    fn derived_outputs_have_one_type_each() {
        fn walk(schema: &Value) {
            let schema = schema.as_object().unwrap();
            for key in schema.keys() {
                assert!(KEYWORDS.contains(&key.as_str()), "`{key}` in {schema:?}");
            }
            assert!(schema["type"].is_string(), "{schema:?}");
            let nested = schema.get("properties").and_then(Value::as_object);
            nested.into_iter().flat_map(Map::values).chain(schema.get("items")).for_each(walk);
        }
        walk(&Value::Object(output::<Params>()));
    }
}
