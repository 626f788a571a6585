//! authentik: the document it serves, held against the routes and against the real document.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::client::Client;

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

fn document(client: &Client) -> Value {
    client.get("/schema/?format=json").json()
}

/// `(method, path, operation)` of a document.
fn operations(document: &Value) -> Vec<(String, String, Map<String, Value>)> {
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in METHODS {
            if let Some(operation) = item.get(method).and_then(Value::as_object) {
                found.push((method.to_uppercase(), path.clone(), operation.clone()));
            }
        }
    }
    found
}

#[test]
fn the_document_is_for_holders_of_the_token_only() {
    let client = Client::authentik();
    assert_eq!(client.raw("GET", "/api/v3/schema/", &[], b"").unwrap().status, 403);
    let wrong = [("authorization", "Bearer nobody")];
    assert_eq!(client.raw("GET", "/api/v3/schema/", &wrong, b"").unwrap().status, 403);
    assert_eq!(client.get("/schema/").status, 200);
}

#[test]
fn accept_and_format_choose_between_yaml_and_json() {
    let client = Client::authentik();
    let authorization = format!("Bearer {}", client.mock.token);
    let sent = |path: &str, accept: &str| {
        let headers = [("authorization", authorization.as_str()), ("accept", accept)];
        let response = client.raw("GET", path, &headers, b"").unwrap();
        let json = response.body.starts_with(b"{");
        (response.header("content-type").unwrap().to_owned(), json)
    };
    let yaml = ("application/vnd.oai.openapi".to_owned(), false);
    let json = ("application/vnd.oai.openapi+json".to_owned(), true);
    assert_eq!(sent("/api/v3/schema/", "*/*"), yaml);
    assert_eq!(sent("/api/v3/schema/", "application/json"), json);
    assert_eq!(sent("/api/v3/schema/", "application/yaml, application/json"), yaml);
    assert_eq!(sent("/api/v3/schema/?format=json", "application/yaml"), json);
    assert_eq!(sent("/api/v3/schema/?format=yaml", "application/json"), yaml);
}

#[test]
fn every_documented_operation_is_implemented() {
    let client = Client::authentik();
    let document = document(&client);
    let operations = operations(&document);
    assert_eq!(operations.len(), 42);
    assert_eq!(document["servers"], json!([{ "url": "/api/v3" }]));
    for (method, path, operation) in operations {
        let path = path.replace("{id}", "1").replace("{slug}", "x");
        let path = path.split('/').map(|segment| {
            if segment.starts_with('{') { "00000000-0000-4000-8000-000000000000" } else { segment }
        });
        let path = path.collect::<Vec<_>>().join("/");
        let response = client.call(&method, &path, (method != "GET").then(|| json!({})));
        let id = operation["operationId"].as_str().unwrap();
        assert!(response.status < 405, "{id} {}", response.status);
    }
    assert!(client.mock.log().iter().all(|entry| !entry.unimplemented && entry.route.is_some()));
}

#[test]
fn answers_have_the_documented_fields_and_no_others() {
    let client = Client::authentik();
    let document = document(&client);
    for (path, schema) in [
        ("/core/users/", "User"),
        ("/core/groups/", "Group"),
        ("/core/brands/", "Brand"),
        ("/events/events/", "Event"),
        ("/flows/instances/", "Flow"),
        ("/flows/bindings/", "FlowStageBinding"),
        ("/policies/bindings/", "PolicyBinding"),
        ("/stages/all/", "Stage"),
        ("/stages/captcha/", "CaptchaStage"),
        ("/stages/identification/", "IdentificationStage"),
    ] {
        let row = client.get(path).results()[0].clone();
        let mut shown: Vec<&String> = row.as_object().unwrap().keys().collect();
        let properties = &document["components"]["schemas"][schema]["properties"];
        let mut documented: Vec<&String> = properties.as_object().unwrap().keys().collect();
        shown.sort();
        documented.sort();
        assert_eq!(shown, documented, "{schema}");
    }
}

#[test]
fn references_of_the_document_lead_somewhere() {
    fn check(value: &Value, document: &Value) {
        match value {
            Value::Object(object) => {
                if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
                    let pointer = reference.trim_start_matches('#');
                    assert!(document.pointer(pointer).is_some(), "{reference}");
                }
                object.values().for_each(|value| check(value, document));
            }
            Value::Array(items) => items.iter().for_each(|item| check(item, document)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let document = document(&Client::authentik());
    check(&document, &document);
}

/// Drops what is prose: the words are ours, the facts are not.
fn facts(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let prose = |key: &str, value: &Value| {
                matches!(key, "description" | "title" | "summary") && value.is_string()
            };
            let kept = object.iter().filter(|(key, value)| !prose(key, value));
            kept.map(|(key, value)| (key.clone(), facts(value))).collect()
        }
        Value::Array(items) => items.iter().map(facts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

#[test]
fn facts_are_those_of_the_real_document() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/specs/authentik.yaml");
    let Ok(text) = std::fs::read_to_string(path) else {
        eprintln!("skipped: the real authentik document is not at hand");
        return;
    };
    let real: Value = yaml_serde::from_str(&text).unwrap();
    let ours = document(&Client::authentik());
    let schemas = ours["components"]["schemas"].as_object().unwrap();
    for (name, schema) in schemas {
        assert_eq!(facts(schema), facts(&real["components"]["schemas"][name]), "{name}");
    }
    let real_operations: BTreeMap<String, Map<String, Value>> = operations(&real)
        .into_iter()
        .map(|(method, path, operation)| (format!("{method} {path}"), operation))
        .collect();
    for (method, path, operation) in operations(&ours) {
        let real = &real_operations[&format!("{method} {path}")];
        for part in ["operationId", "tags", "requestBody"] {
            assert_eq!(
                operation.get(part).map(facts),
                real.get(part).map(facts),
                "{part} of {method} {path}"
            );
        }
        assert_eq!(facts(&operation["responses"]), facts(&real["responses"]), "{method} {path}");
        let known: Vec<Value> = real
            .get("parameters")
            .map(facts)
            .and_then(|all| all.as_array().cloned())
            .unwrap_or_default();
        for parameter in operation.get("parameters").and_then(Value::as_array).into_iter().flatten()
        {
            assert!(known.contains(&facts(parameter)), "{parameter} of {method} {path}");
        }
    }
}
