//! `openapiv3` types made on demand from the lenient model, for code that wants exhaustive matches.
//!
//! Documents of version 2.0 and 3.1 are brought down to what 3.0 can say first; what has a wrong
//! type is left out. Nothing else depends on an operation having this view.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::document::{ComponentKind, Document};
use super::server::Server;

/// Schemas inside schemas that are brought down; stored text is not nested deeper.
const MAX_NESTING: usize = 100;

/// The typed view of an operation. References of parameters, body and responses are resolved;
/// schemas keep theirs. `None` where it does not fit even after conversion.
#[must_use]
pub fn typed_operation(document: &Document, index: usize) -> Option<openapiv3::Operation> {
    let parts = document.parts(index)?;
    let Value::Object(mut operation) = parts.text.parse() else { return None };
    let parameters = parts.parameters().into_iter().map(|it| {
        let mut parameter = it.json.parse();
        parameter["name"] = Value::from(it.name.as_ref());
        parameter["in"] = Value::from(format!("{:?}", it.location).to_lowercase());
        parameter["required"] = Value::Bool(it.required());
        if parameter.get("schema").is_none() && parameter.get("content").is_none() {
            parameter["schema"] = json!({});
        }
        parameter
    });
    let parameters = parameters.collect();
    operation.insert("parameters".to_owned(), Value::Array(parameters));
    match parts.body() {
        Some(body) => operation.insert("requestBody".to_owned(), body.parse()),
        None => operation.remove("requestBody"),
    };
    let responses: Map<_, _> = parts
        .responses()
        .map(|(status, response)| {
            let mut response = response.parse();
            if !response["description"].is_string() {
                response["description"] = Value::from("");
            }
            (status.into_owned(), response)
        })
        .filter(|(status, _)| is_status(status))
        .collect();
    operation.insert("responses".to_owned(), Value::Object(responses));
    let servers: Vec<_> = parts.servers().iter().map(server).collect();
    operation.insert("servers".to_owned(), Value::Array(servers));
    typed(document, Value::Object(operation), lower_operation)
}

/// The typed view of a named schema. `None` where there is none or it does not fit.
#[must_use]
pub fn typed_schema(document: &Document, name: &str) -> Option<openapiv3::Schema> {
    let schema = document.component(ComponentKind::Schema, name)?;
    let schema = document.follow(schema).found()?;
    typed(document, schema.parse(), |value| lower_schema(value, 0))
}

/// Clean 3.0 is taken as it is; everything else, and what does not fit, is brought down first.
fn typed<T: DeserializeOwned>(
    document: &Document,
    value: Value,
    lower: impl Fn(&mut Value),
) -> Option<T> {
    if document.spec_version().starts_with("3.0")
        && let Ok(typed) = serde_json::from_value(value.clone())
    {
        return Some(typed);
    }
    let mut lowered = value;
    lower(&mut lowered);
    serde_json::from_value(lowered).ok()
}

fn is_status(status: &str) -> bool {
    let bytes = status.as_bytes();
    status == "default"
        || (bytes.len() == 3
            && matches!(bytes[0], b'1'..=b'5')
            && (bytes[1..].iter().all(u8::is_ascii_digit) || &bytes[1..] == b"XX"))
}

fn server(server: &Server) -> Value {
    let variables: Map<_, _> = server
        .variables
        .iter()
        .map(|it| {
            (
                it.name.clone(),
                json!({"default": it.default.clone().unwrap_or_default(), "enum": it.choices}),
            )
        })
        .collect();
    json!({"url": server.url, "variables": variables})
}

fn lower_operation(operation: &mut Value) {
    let Value::Object(operation) = operation else { return };
    keep_only(
        operation,
        &[
            "tags",
            "summary",
            "description",
            "operationId",
            "parameters",
            "requestBody",
            "responses",
            "deprecated",
            "security",
            "servers",
        ],
    );
    retain(operation, &["summary", "description", "operationId"], Value::is_string);
    retain(operation, &["deprecated"], Value::is_boolean);
    if let Some(Value::Array(tags)) = operation.get_mut("tags") {
        tags.retain(Value::is_string);
    }
    retain(operation, &["tags", "security"], Value::is_array);
    for parameter in
        operation.get_mut("parameters").and_then(Value::as_array_mut).into_iter().flatten()
    {
        lower_parameter(parameter);
    }
    if let Some(Value::Object(body)) = operation.get_mut("requestBody") {
        keep_only(body, &["description", "content", "required"]);
        retain(body, &["description"], Value::is_string);
        retain(body, &["required"], Value::is_boolean);
        lower_content(body);
    }
    for (_, response) in
        operation.get_mut("responses").and_then(Value::as_object_mut).into_iter().flatten()
    {
        if let Value::Object(response) = response {
            keep_only(response, &["description", "content"]);
            lower_content(response);
        }
    }
}

fn lower_parameter(parameter: &mut Value) {
    let Value::Object(parameter) = parameter else { return };
    keep_only(
        parameter,
        &[
            "name",
            "in",
            "description",
            "required",
            "deprecated",
            "style",
            "explode",
            "allowReserved",
            "allowEmptyValue",
            "schema",
            "content",
        ],
    );
    retain(parameter, &["description"], Value::is_string);
    retain(
        parameter,
        &["deprecated", "explode", "allowReserved", "allowEmptyValue"],
        Value::is_boolean,
    );
    let styles: &[&str] = match parameter.get("in").and_then(Value::as_str) {
        Some("query") => &["form", "spaceDelimited", "pipeDelimited", "deepObject"],
        Some("path") => &["simple", "label", "matrix"],
        Some("header") => &["simple"],
        _ => &["form"],
    };
    retain(parameter, &["style"], |style| style.as_str().is_some_and(|it| styles.contains(&it)));
    if let Some(schema) = parameter.get_mut("schema") {
        lower_schema(schema, 0);
        parameter.remove("content");
    }
    lower_content(parameter);
}

fn lower_content(holder: &mut Map<String, Value>) {
    retain(holder, &["content"], Value::is_object);
    for (_, media) in holder.get_mut("content").and_then(Value::as_object_mut).into_iter().flatten()
    {
        let Value::Object(media) = media else {
            *media = json!({});
            continue;
        };
        keep_only(media, &["schema", "encoding"]);
        if let Some(schema) = media.get_mut("schema") {
            lower_schema(schema, 0);
        }
        retain(media, &["encoding"], Value::is_object);
        for (_, encoding) in
            media.get_mut("encoding").and_then(Value::as_object_mut).into_iter().flatten()
        {
            let Value::Object(encoding) = encoding else { continue };
            keep_only(encoding, &["contentType", "style", "explode", "allowReserved"]);
            retain(encoding, &["contentType"], Value::is_string);
            retain(encoding, &["explode", "allowReserved"], Value::is_boolean);
            retain(encoding, &["style"], |it| {
                matches!(
                    it.as_str(),
                    Some("form" | "spaceDelimited" | "pipeDelimited" | "deepObject")
                )
            });
        }
    }
}

fn lower_schema(schema: &mut Value, depth: usize) {
    let object = match schema {
        Value::Object(object) if depth <= MAX_NESTING => object,
        Value::Bool(false) => {
            *schema = json!({"not": {}});
            return;
        }
        _ => {
            *schema = json!({});
            return;
        }
    };
    if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
        let reference = reference.replace("#/definitions/", "#/components/schemas/");
        *schema = json!({"$ref": reference});
        return;
    }
    lower_types(object);
    lower_limits(object);
    if let Some(constant) = object.remove("const") {
        object.insert("enum".to_owned(), json!([constant]));
    }
    lower_enum(object);
    let tuple = object
        .remove("prefixItems")
        .or_else(|| object.get("items").filter(|it| it.is_array()).cloned());
    if let Some(tuple) = tuple {
        object.insert("items".to_owned(), json!({"anyOf": tuple}));
    }
    retain(object, &["properties"], Value::is_object);
    retain(object, &["allOf", "anyOf", "oneOf"], Value::is_array);
    for (_, property) in
        object.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten()
    {
        lower_schema(property, depth + 1);
    }
    for key in ["allOf", "anyOf", "oneOf"] {
        for branch in object.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten() {
            lower_schema(branch, depth + 1);
        }
    }
    for key in ["items", "not"] {
        if let Some(inner) = object.get_mut(key) {
            lower_schema(inner, depth + 1);
        }
    }
    if let Some(inner) = object.get_mut("additionalProperties").filter(|it| !it.is_boolean()) {
        lower_schema(inner, depth + 1);
    }
}

/// Type lists become one type, or a union of several; `null` becomes `nullable`.
fn lower_types(object: &mut Map<String, Value>) {
    let is_null = |it: &Value| it.get("type").is_some_and(|kind| kind == "null");
    let mut nullable =
        object.get("nullable").or_else(|| object.get("x-nullable")) == Some(&Value::Bool(true));
    for key in ["anyOf", "oneOf"] {
        if let Some(Value::Array(branches)) = object.get_mut(key) {
            nullable |= branches.iter().any(is_null);
            branches.retain(|it| !is_null(it));
            if branches.is_empty() {
                object.remove(key);
            }
        }
    }
    let types = match object.remove("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    };
    nullable |= types.iter().any(|it| it == "null");
    let known = ["object", "array", "string", "number", "integer", "boolean"];
    let mut types: Vec<_> = types.into_iter().filter(|it| known.contains(&it.as_str())).collect();
    match types.len() {
        0 => {}
        1 => {
            object.extend(types.pop().map(|kind| ("type".to_owned(), Value::String(kind))));
        }
        _ => {
            let branches: Vec<_> = types.into_iter().map(|kind| json!({"type": kind})).collect();
            object.entry("anyOf").or_insert(Value::Array(branches));
        }
    }
    for key in [
        "x-nullable",
        "nullable",
        "patternProperties",
        "$defs",
        "definitions",
        "dependentSchemas",
        "if",
        "then",
        "else",
    ] {
        object.remove(key);
    }
    if nullable {
        object.insert("nullable".to_owned(), Value::Bool(true));
    }
}

/// Exclusive bounds become flags; what has a wrong type goes.
fn lower_limits(object: &mut Map<String, Value>) {
    for (exclusive, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        if let Some(limit) = object.get(exclusive).filter(|it| it.is_number()).cloned() {
            object.insert(bound.to_owned(), limit);
            object.insert(exclusive.to_owned(), Value::Bool(true));
        }
    }
    let is_integer = object.get("type").is_some_and(|kind| kind == "integer");
    retain(object, &["minimum", "maximum", "multipleOf"], |it| {
        if is_integer { it.is_i64() } else { it.is_number() }
    });
    retain(
        object,
        &["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"],
        Value::is_u64,
    );
    retain(object, &["description", "title", "format", "pattern"], Value::is_string);
    retain(
        object,
        &[
            "exclusiveMinimum",
            "exclusiveMaximum",
            "uniqueItems",
            "readOnly",
            "writeOnly",
            "deprecated",
        ],
        Value::is_boolean,
    );
    if let Some(Value::Array(required)) = object.get_mut("required") {
        required.retain(Value::is_string);
    }
    retain(object, &["required", "enum"], Value::is_array);
    retain(object, &["discriminator"], |it| {
        it["propertyName"].is_string()
            && it.get("mapping").is_none_or(|mapping| {
                mapping.as_object().is_some_and(|it| it.values().all(Value::is_string))
            })
    });
}

/// Enum values that are not of the schema's type go.
fn lower_enum(object: &mut Map<String, Value>) {
    let kind = object.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|value| match kind.as_str() {
            "string" => value.is_string() || value.is_null(),
            "integer" => value.is_i64() || value.is_null(),
            "number" => value.is_number() || value.is_null(),
            "boolean" => value.is_boolean() || value.is_null(),
            _ => true,
        });
    }
}

fn keep_only(object: &mut Map<String, Value>, keys: &[&str]) {
    object.retain(|key, _| keys.contains(&key.as_str()));
}

/// Drops those of `keys` whose value does not fit.
fn retain(object: &mut Map<String, Value>, keys: &[&str], fits: impl Fn(&Value) -> bool) {
    object.retain(|key, value| !keys.contains(&key.as_str()) || fits(value));
}
