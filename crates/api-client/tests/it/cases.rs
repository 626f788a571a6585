//! The request expectations of the shared cases that need no document.

use api_client::Method;
use api_client::request::{BodySpec, Location, Parameter, RequestBuilder, Style};
use serde_json::{Value, json};
use std::path::PathBuf;

/// The `request` of a case's `expect.json`, or `None` where the shared cases are absent.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn expected(case: &str) -> Option<Value> {
    let shared = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/cases/openapi");
    let path = PathBuf::from(shared).join(case).join("expect.json");
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("skipped: no {case} among the shared cases");
        return None;
    };
    let expect: Value = serde_json::from_str(&text).unwrap();
    Some(expect["request"].clone())
}

#[test]
fn path_arrays_and_placeholders_in_values() {
    for (case, template) in [
        ("path-array-simple", "/select/{days}"),
        ("path-placeholder-not-resubstituted", "/a/{first}/{second}"),
    ] {
        let Some(expected) = expected(case) else { return };
        let arguments = expected["args"].as_object().unwrap();
        let request = arguments
            .iter()
            .fold(RequestBuilder::new(Method::GET, template), |builder, (name, value)| {
                builder.parameter(&Parameter::new(name, Location::Path), value)
            })
            .build()
            .unwrap();
        assert_eq!(request.path, expected["path"], "{case}");
    }
}

#[test]
fn delimited_arrays_and_forms_decode_to_what_was_meant() {
    let Some(expected) = expected("query-array-delimited-default-explode") else { return };
    let styles = [("ids", Style::PipeDelimited), ("sp", Style::SpaceDelimited)];
    let request = styles
        .into_iter()
        .fold(RequestBuilder::new(Method::GET, "/items"), |builder, (name, style)| {
            let explode = style.explodes_by_default();
            let parameter = Parameter { style, explode, ..Parameter::new(name, Location::Query) };
            builder.parameter(&parameter, &expected["args"][name])
        })
        .build()
        .unwrap();
    assert_eq!(pairs(&request.query), expected["query_decoded"]);
    assert!(request.query.contains("%20") && !request.query.contains('+'), "{}", request.query);
}

#[test]
fn urlencoded_bodies_decode_to_what_was_meant() {
    let Some(expected) = expected("body-without-json") else { return };
    let content_type = expected["content_type"].as_str().unwrap().to_owned();
    let spec = BodySpec { content_type: content_type.clone(), ..BodySpec::default() };
    let request = RequestBuilder::new(Method::POST, "/form").body(&spec, &expected["args"]["body"]);
    let body = request.build().unwrap().body.unwrap();
    assert_eq!(body.content_type, content_type);
    assert_eq!(pairs(std::str::from_utf8(&body.bytes).unwrap()), expected["form_decoded"]);
}

fn pairs(text: &str) -> Value {
    url::form_urlencoded::parse(text.as_bytes()).map(|(name, value)| json!([name, value])).collect()
}
