//! `openapiv3`, read from the documents themselves, must see what the lenient model sees.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use mcp_core::openapi::{Document, typed_operation, typed_schema};
use openapiv3::{OpenAPI, Parameter, ReferenceOr};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{parse, read, shared};

/// Of a document with more paths than this, every second, third, … is compared.
const MANY_PATHS: usize = 1_000;

/// Clean documents of version 3.0.
const CLEAN: [&str; 18] = [
    "asana.yaml",
    "authentik.yaml",
    "box.json",
    "cloudflare-zero_trust.yaml",
    "digitalocean.json",
    "directus.json",
    "gitea.json",
    "github.json",
    "gitlab.json",
    "jira.json",
    "kubernetes.json",
    "msgraph.json",
    "pagerduty.json",
    "sentry.json",
    "stripe.json",
    "plaid.yaml",
    "bitbucket.json",
    "qdrant.json",
];

#[test]
fn the_model_agrees_with_openapiv3_on_clean_documents() {
    let Some(folder) = shared("specs") else { return };
    for name in CLEAN.iter().filter(|name| folder.join(name).is_file()) {
        let path = folder.join(name);
        let mut raw = value(&path);
        let kept = thin(&mut raw);
        let typed: OpenAPI =
            serde_json::from_value(raw.clone()).unwrap_or_else(|error| panic!("{name}: {error}"));
        let document = read(&path);
        let mut count = 0;
        for (template, item) in typed.paths.iter() {
            let item = item.as_item().unwrap();
            for (method, operation) in item.iter() {
                let index = document.find_route(method, template).unwrap();
                check(name, &raw, &document, index, &item.parameters, operation);
                count += 1;
            }
        }
        let expected = document.summaries().iter().filter(|it| kept.contains(&it.path)).count();
        assert_eq!(count, expected, "{name}");
    }
}

/// Leaves out paths where there are many; answers those that stay.
fn thin(raw: &mut Value) -> BTreeSet<String> {
    let paths = raw["paths"].as_object_mut().unwrap();
    let step = paths.len().div_ceil(MANY_PATHS);
    *paths = std::mem::take(paths).into_iter().step_by(step).collect();
    paths.keys().cloned().collect()
}

fn value(path: &Path) -> Value {
    let bytes = fs::read(path).unwrap();
    if path.extension().is_some_and(|it| it == "json") {
        serde_json::from_slice(&bytes).unwrap()
    } else {
        yaml_serde::from_slice(&bytes).unwrap()
    }
}

fn check(
    name: &str,
    raw: &Value,
    document: &Document,
    index: usize,
    shared: &[ReferenceOr<Parameter>],
    expected: &openapiv3::Operation,
) {
    let found = document.operation(index).unwrap();
    let mut parameters = BTreeMap::new();
    for parameter in shared.iter().chain(&expected.parameters) {
        let Some(parameter) = resolved(raw, parameter) else { continue };
        let (key, form) = described(&parameter);
        parameters.insert(key, form);
    }
    let placeholders: BTreeSet<_> = found
        .path
        .split('{')
        .skip(1)
        .filter_map(|it| it.split_once('}'))
        .map(|(name, _)| name)
        .collect();
    parameters.retain(|(location, name), _| {
        !(location == "Path" && !placeholders.contains(name.as_str())
            || location == "Header"
                && ["accept", "content-type", "authorization"]
                    .contains(&name.to_lowercase().as_str()))
    });
    let seen: BTreeMap<_, _> = found
        .parameters
        .iter()
        .map(|it| {
            (
                (format!("{:?}", it.location), it.name.clone()),
                (it.required, format!("{:?}", it.style), it.explode),
            )
        })
        .collect();
    for name in placeholders {
        parameters.entry(("Path".to_owned(), name.to_owned())).or_insert((
            true,
            "Simple".to_owned(),
            false,
        ));
    }
    assert_eq!(seen, parameters, "{name}: {}", found.id);

    let body = expected.request_body.as_ref().and_then(|body| resolved(raw, body));
    let types: BTreeSet<_> =
        body.iter().flat_map(|body| body.content.keys()).map(String::as_str).collect();
    let seen = found
        .body
        .iter()
        .flat_map(|body| &body.content)
        .map(|it| it.content_type.as_str())
        .collect();
    assert_eq!(types, seen, "{name}: {}", found.id);
    assert_eq!(
        body.as_ref().map(|body| body.required),
        found.body.as_ref().map(|body| body.required),
        "{name}: {}",
        found.id
    );

    let responses: BTreeMap<_, BTreeSet<_>> = (expected.responses.responses.iter())
        .map(|(status, response)| (status.to_string(), response))
        .chain(expected.responses.default.iter().map(|response| ("default".to_owned(), response)))
        .map(|(status, response)| (status, content_of(raw, response)))
        .collect();
    let seen: BTreeMap<_, BTreeSet<_>> = (found.responses.iter())
        .map(|it| {
            (
                it.status.replace('x', "X"),
                it.content.iter().map(|it| it.content_type.clone()).collect(),
            )
        })
        .collect();
    assert_eq!(responses, seen, "{name}: {}", found.id);
}

/// Follows references in the document as it was written.
fn resolved<T: Clone + DeserializeOwned>(raw: &Value, value: &ReferenceOr<T>) -> Option<T> {
    match value {
        ReferenceOr::Item(item) => Some(item.clone()),
        ReferenceOr::Reference { reference } => {
            let pointer = reference.replace("%7B", "{").replace("%7D", "}");
            let target = raw.pointer(pointer.strip_prefix('#')?)?;
            resolved(raw, &serde_json::from_value(target.clone()).unwrap())
        }
    }
}

fn content_of(raw: &Value, response: &ReferenceOr<openapiv3::Response>) -> BTreeSet<String> {
    resolved(raw, response).into_iter().flat_map(|it| it.content.into_keys()).collect()
}

type Form = (bool, String, bool);

fn described(parameter: &Parameter) -> ((String, String), Form) {
    let (location, data, style) = match parameter {
        Parameter::Query { parameter_data, style, .. } => {
            ("Query", parameter_data, format!("{style:?}"))
        }
        Parameter::Header { parameter_data, style } => {
            ("Header", parameter_data, format!("{style:?}"))
        }
        Parameter::Path { parameter_data, style } => ("Path", parameter_data, format!("{style:?}")),
        Parameter::Cookie { parameter_data, style } => {
            ("Cookie", parameter_data, format!("{style:?}"))
        }
    };
    let explode = data.explode.unwrap_or(style == "Form");
    (
        (location.to_owned(), data.name.clone()),
        (data.required || location == "Path", style, explode),
    )
}

#[test]
fn every_operation_has_a_typed_view_whatever_its_version() {
    let Some(folder) = shared("specs") else { return };
    for name in [
        "argocd-v2.json",
        "docker-v2.yaml",
        "slack-v2.json",
        "airflow.yaml",
        "cohere.yaml",
        "prefect.json",
        "notion.json",
        "museum-v31.yaml",
        "schema-types-v31.yaml",
        "parameters-style-v31.json",
        "authentik.yaml",
    ] {
        let document = read(&folder.join(name));
        for index in 0..document.len() {
            let operation = document.operation(index).unwrap();
            let typed = typed_operation(&document, index)
                .unwrap_or_else(|| panic!("{name}: {}", operation.id));
            assert_eq!(
                typed.parameters.len(),
                operation.parameters.len(),
                "{name}: {}",
                operation.id
            );
            assert_eq!(
                typed.request_body.is_some(),
                operation.body.is_some(),
                "{name}: {}",
                operation.id
            );
        }
        for schema in document.schema_names() {
            assert!(
                typed_schema(&document, schema).is_some()
                    || document
                        .resolve(&format!(
                            "#/components/schemas/{}",
                            schema.replace('~', "~0").replace('/', "~1")
                        ))
                        .is_none(),
                "{name}: {schema}"
            );
        }
    }
}

#[test]
fn what_only_3_1_can_say_is_brought_down() {
    let document = parse(
        r#"{"openapi": "3.1.0", "paths": {}, "components": {"schemas": {"A": {
            "type": ["object", "null"], "required": ["a"], "properties": {
                "a": {"const": 1, "exclusiveMinimum": 0, "type": "integer"},
                "b": {"prefixItems": [true, {"type": "string"}]},
                "c": {"type": ["string", "integer", "null"]},
                "d": {"anyOf": [{"type": "null"}, {"type": "string", "minLength": "x"}]},
                "e": false
            }
        }}}}"#,
    );
    let schema = typed_schema(&document, "A").unwrap();
    assert!(schema.schema_data.nullable);
    let schema = serde_json::to_value(&schema).unwrap();
    assert_eq!(
        schema["properties"]["a"],
        serde_json::json!({"type": "integer", "minimum": 0, "exclusiveMinimum": true, "enum": [1]})
    );
    assert_eq!(schema["properties"]["c"]["nullable"], true);
    assert_eq!(schema["properties"]["c"]["anyOf"].as_array().unwrap().len(), 2);
    assert_eq!(schema["properties"]["d"]["anyOf"][0]["type"], "string");
}
