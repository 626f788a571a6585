//! `shared/cases/openapi`: reports about other tools, and what is right instead.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;

use mcp_core::openapi::{Depth, Document, LoadOptions, full, join_url, load, signature};
use serde_json::{Value, json};
use url::Url;

use super::shared;

#[test]
fn every_case_is_as_it_should_be() {
    let Some(folder) = shared("cases/openapi") else { return };
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let folder = entry.unwrap().path();
        if folder.is_dir() {
            check(&folder);
            count += 1;
        }
    }
    assert!(count >= 16, "{count}");
}

fn check(folder: &Path) {
    let case = folder.file_name().unwrap().to_str().unwrap();
    let expected: Value =
        serde_json::from_slice(&fs::read(folder.join("expect.json")).unwrap()).unwrap();
    let file = ["spec.json", "spec.yaml"]
        .map(|name| folder.join(name))
        .into_iter()
        .find(|it| it.is_file())
        .unwrap();
    let document_url = expected["document_url"].as_str().map(|url| Url::parse(url).unwrap());
    let document = load(&fs::read(file).unwrap(), &LoadOptions { document_url }).unwrap();
    assert_eq!(document.skipped(), [], "{case}");

    if let Some(operations) = expected.get("operations") {
        let mut ids: Vec<_> = document.summaries().iter().map(|it| it.id.as_str()).collect();
        ids.sort_unstable();
        assert_eq!(&json!(ids), operations, "{case}");
    }
    if let Some(routes) = expected.get("routes") {
        let mut found: Vec<_> =
            document.summaries().iter().map(|it| (it.method.as_str(), it.path.as_str())).collect();
        found.sort_unstable();
        assert_eq!(&json!(found), routes, "{case}");
    }
    if expected["unique_ids"] == true {
        let ids: HashSet<_> = document.summaries().iter().map(|it| &it.id).collect();
        assert_eq!(ids.len(), document.len(), "{case}");
    }
    for (id, parameters) in object(&expected, "parameters") {
        let found: Vec<_> = operation(&document, id)
            .parameters
            .iter()
            .map(|it| {
                json!([
                    it.name,
                    format!("{:?}", it.location).to_lowercase(),
                    it.schema["type"],
                    it.required
                ])
            })
            .collect();
        assert_eq!(&Value::Array(found), parameters, "{case}");
    }
    for (id, body) in object(&expected, "required_body") {
        let schema = operation(&document, id).body.unwrap().content[0].schema.clone();
        assert_eq!(&schema["required"], body, "{case}");
    }
    for (id, text) in object(&expected, "render") {
        let index = document.find_id(id).unwrap();
        for depth in 0..4 {
            let shown =
                signature(&document, index, Depth { body: depth, response: depth, bytes: 3_000 });
            check_bound(case, &shown, text);
        }
        check_text(case, &signature(&document, index, Depth::default()), text);
        check_bound(case, &full(&document, index), text);
    }
    let requests = expected["requests"].as_array().cloned().unwrap_or_default();
    for request in requests.iter().chain(expected.get("request")) {
        check_address(case, &document, request);
    }
}

fn check_bound(case: &str, shown: &str, expected: &Value) {
    if let Some(bytes) = expected["max_bytes"].as_u64() {
        assert!(shown.len() as u64 <= bytes, "{case}: {shown}");
    }
}

fn check_text(case: &str, shown: &str, expected: &Value) {
    for part in strings(&expected["contains"]) {
        assert!(shown.contains(part), "{case}: `{part}` is not in\n{shown}");
    }
    for part in strings(&expected["not_contains"]) {
        assert!(!shown.contains(part), "{case}: `{part}` is in\n{shown}");
    }
    for (part, count) in object(expected, "count") {
        assert_eq!(json!(shown.matches(part).count()), *count, "{case}: `{part}` in\n{shown}");
    }
}

/// Requests are built elsewhere; here only that the operation is there and where it is.
fn check_address(case: &str, document: &Document, request: &Value) {
    let operation = operation(document, request["operationId"].as_str().unwrap());
    let url = join_url(&document.server_url(&BTreeMap::new()), &operation.path);
    if let Some(expected) = request["url"].as_str() {
        assert_eq!(url, expected, "{case}");
    }
    if let Some(expected) = request["url_path"].as_str() {
        assert_eq!(Url::parse(&url).unwrap().path(), expected, "{case}");
    }
    if let Some(expected) = request["content_type"].as_str() {
        assert_eq!(operation.body.unwrap().preferred().unwrap().content_type, expected, "{case}");
    }
}

fn operation(document: &Document, id: &str) -> mcp_core::openapi::Operation {
    document.operation(document.find_id(id).unwrap()).unwrap()
}

fn object<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = (&'v String, &'v Value)> {
    value.get(key).and_then(Value::as_object).into_iter().flatten()
}

fn strings(value: &Value) -> impl Iterator<Item = &str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str)
}
