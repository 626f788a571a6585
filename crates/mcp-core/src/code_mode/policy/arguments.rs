//! Whether a call is complete: required parameters, a required body, the fields of a write's body.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use api_client::request::Location;

use crate::{
    openapi::{Document, Operation, Parameter},
    profile::Profile,
};

use super::{CallArguments, Refusal, Rule, names};

/// What is odd about a call that is sent all the same.
pub type Warnings = Vec<String>;

/// Refuses an incomplete call; warns of body fields that the document does not know.
pub(super) fn check(
    document: &Document,
    operation: &Operation,
    call: &CallArguments<'_>,
    profile: &Profile,
) -> Result<Warnings, Refusal> {
    for parameter in operation.parameters.iter().filter(|it| it.required) {
        if is_carried_by_the_host(document, parameter) || is_given(parameter, call) {
            continue;
        }
        return Err(missing_parameter(operation, parameter));
    }
    check_body(document, operation, call, profile)
}

/// A credential is never the script's to bring, however required the document calls it.
fn is_carried_by_the_host(document: &Document, parameter: &Parameter) -> bool {
    names::is_scheme(document, &parameter.name) || names::is_identity(&parameter.name)
}

fn is_given(parameter: &Parameter, call: &CallArguments<'_>) -> bool {
    let given = |values: &[(String, Value)]| {
        values.iter().any(|(name, value)| *name == parameter.name && !value.is_null())
    };
    match parameter.location {
        Location::Path => given(&call.path),
        Location::Query => {
            // A deepObject or exploded object may be given by its parts: `filter[name]`.
            let prefix = format!("{}[", parameter.name);
            given(&call.query) || call.query.iter().any(|(name, _)| name.starts_with(&prefix))
        }
        Location::Header => {
            call.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(&parameter.name))
        }
        Location::Cookie => true,
    }
}

fn missing_parameter(operation: &Operation, parameter: &Parameter) -> Refusal {
    let place = match parameter.location {
        Location::Path => "path",
        Location::Query => "query",
        Location::Header => "header",
        Location::Cookie => "cookie",
    };
    Refusal::new(
        Rule::Arguments,
        format!(
            "`{}` needs the {place} parameter `{}`; nothing was sent",
            operation.id, parameter.name
        ),
    )
}

fn check_body(
    document: &Document,
    operation: &Operation,
    call: &CallArguments<'_>,
    profile: &Profile,
) -> Result<Warnings, Refusal> {
    let Some(declared) = &operation.body else {
        return match call.body {
            Some(_) => {
                Ok(vec![format!("`{}` declares no body; it was sent all the same", operation.id)])
            }
            None => Ok(Vec::new()),
        };
    };
    let Some(body) = call.body else {
        if declared.required {
            return Err(Refusal::new(
                Rule::Arguments,
                format!("`{}` needs a `body`; nothing was sent", operation.id),
            ));
        }
        return Ok(Vec::new());
    };
    let Some(media) = declared.preferred() else { return Ok(Vec::new()) };
    let given = match serde_json::from_str::<Value>(body.get()) {
        Ok(Value::Object(given)) => given,
        Ok(_) => return Ok(Vec::new()),
        Err(error) => {
            let message = format!("the body cannot be read ({error}); nothing was sent");
            return Err(Refusal::new(Rule::Arguments, message));
        }
    };
    let shape = Shape::of(document, &media.schema);
    shape.check(operation, &given, profile.either_spelling)
}

/// The fields of an object schema, as far as they are certain.
#[derive(Debug, Default)]
struct Shape {
    fields: BTreeSet<String>,
    required: Vec<String>,
    /// Whether other fields are forbidden.
    closed: bool,
    /// Whether the schema leaves open which fields there are (`oneOf`, `Record`, unknown parts).
    open_ended: bool,
}

impl Shape {
    fn of(document: &Document, schema: &Value) -> Self {
        let schema = document.flatten(schema);
        let mut shape = Self::default();
        let mut read_only = BTreeSet::new();
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            if property.get("readOnly") == Some(&Value::Bool(true)) {
                read_only.insert(name.as_str());
            }
            shape.fields.insert(name.clone());
        }
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        shape.required = required
            .filter_map(Value::as_str)
            .filter(|name| !read_only.contains(name))
            .map(str::to_owned)
            .collect();
        let unions = ["oneOf", "anyOf", "allOf", "patternProperties"];
        shape.open_ended =
            shape.fields.is_empty() || unions.iter().any(|it| schema.get(*it).is_some());
        match schema.get("additionalProperties") {
            Some(Value::Bool(false)) => shape.closed = true,
            Some(Value::Object(_) | Value::Bool(true)) => shape.open_ended = true,
            _ => {}
        }
        shape
    }

    fn check(
        &self,
        operation: &Operation,
        given: &Map<String, Value>,
        either_spelling: bool,
    ) -> Result<Warnings, Refusal> {
        let has = |name: &str| {
            given.contains_key(name)
                || (either_spelling && given.keys().any(|it| plain(it) == plain(name)))
        };
        let missing: Vec<_> = self.required.iter().filter(|name| !has(name)).collect();
        if !missing.is_empty() {
            let missing: Vec<_> = missing.iter().map(|it| format!("`{it}`")).collect();
            return Err(Refusal::new(
                Rule::Arguments,
                format!(
                    "the body of `{}` lacks the required {} {}; nothing was sent",
                    operation.id,
                    if missing.len() == 1 { "field" } else { "fields" },
                    missing.join(", ")
                ),
            ));
        }
        if self.open_ended {
            return Ok(Vec::new());
        }
        let knows = |name: &str| {
            self.fields.contains(name)
                || (either_spelling && self.fields.iter().any(|it| plain(it) == plain(name)))
        };
        let unknown: Vec<_> =
            given.keys().filter(|name| !knows(name)).map(|it| format!("`{it}`")).collect();
        if unknown.is_empty() {
            return Ok(Vec::new());
        }
        let message = format!(
            "the body of `{}` has no field {}; its fields are {}",
            operation.id,
            unknown.join(", "),
            some_of(&self.fields)
        );
        if self.closed { Err(Refusal::new(Rule::Arguments, message)) } else { Ok(vec![message]) }
    }
}

/// `isMuted` and `is_muted` alike.
fn plain(name: &str) -> String {
    name.chars().filter(|it| *it != '_').flat_map(char::to_lowercase).collect()
}

fn some_of(names: &BTreeSet<String>) -> String {
    const SHOWN: usize = 20;
    let mut text =
        names.iter().take(SHOWN).map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        text.push_str(" and ");
        text.push_str(&(names.len() - SHOWN).to_string());
        text.push_str(" more");
    }
    text
}
