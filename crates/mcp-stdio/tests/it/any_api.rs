//! Any API by its document: bases and prefixes, parameter styles, filters, files, newer documents.

use serde_json::{Value, json};

use crate::{
    support,
    upstream::{Received, Upstream},
};

fn document() -> Value {
    let ok = json!({ "200": { "description": "", "content": { "application/json": { "schema": { "type": "object" } } } } });
    let thing = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "example": "sample-name", "default": "sample-default" },
            "payload": { "type": "string" },
            "child": { "$ref": "#/components/schemas/Node" },
        },
    });
    json!({
        "openapi": "3.0.3",
        "info": { "title": "Shop", "version": "1" },
        "servers": [{ "url": "/api" }],
        "paths": {
            "/count": { "get": { "operationId": "count", "responses": ok } },
            "/echo/{seg}": {
                "parameters": [{ "name": "seg", "in": "path", "required": true, "schema": { "type": "string" } }],
                "get": {
                    "operationId": "echoGet",
                    "parameters": [
                        { "name": "tags", "in": "query", "explode": false, "schema": { "type": "array", "items": { "type": "string" } } },
                        { "name": "ids", "in": "query", "schema": { "type": "array", "items": { "type": "string" } } },
                    ],
                    "responses": ok,
                },
                "post": {
                    "operationId": "echoPost",
                    "requestBody": { "required": true, "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Node" } } } },
                    "responses": ok,
                },
            },
            "/things/": {
                "get": { "operationId": "listThings", "tags": ["Things"], "responses": ok },
                "patch": {
                    "operationId": "patchThing",
                    "tags": ["Things"],
                    "requestBody": { "required": true, "content": { "application/json": { "schema": thing } } },
                    "responses": ok,
                },
            },
        },
        "components": { "schemas": { "Node": {
            "type": "object",
            "properties": { "value": { "type": "string" }, "children": { "type": "array", "items": { "$ref": "#/components/schemas/Node" } } },
        } } },
    })
}

/// A server for the upstream, with its document from `openapi` and its base from `base`.
async fn server(openapi: &str, base: &str, more: &[&str]) -> test_client::raw::Session {
    let mut command = support::binary();
    command.args(["--openapi", openapi, "--base-url", base, "--trusted"]).args(more);
    support::connect(command).await
}

async fn run(session: &mut test_client::raw::Session, code: &str) -> Value {
    support::ok(session, "execute", json!({ "code": code })).await["result"].clone()
}

fn targets(received: &[Received]) -> Vec<&str> {
    received.iter().map(|it| it.target.as_str()).collect()
}

/// P46 and P47.
#[tokio::test]
async fn the_servers_prefix_is_used_once_whether_or_not_the_base_has_it() {
    let upstream = Upstream::start(&document().to_string());
    let openapi = format!("{}/spec.json", upstream.base);
    for base in
        [upstream.base.clone(), format!("{}/api", upstream.base), format!("{}/api/", upstream.base)]
    {
        let mut session = server(&openapi, &base, &[]).await;
        for path in ["/count", "/api/count"] {
            run(&mut session, &format!("return (await api.request('GET', '{path}')).status")).await;
        }
    }
    assert_eq!(targets(&upstream.received()), ["/api/count"; 6]);
}

/// P47.
#[tokio::test]
async fn a_page_in_place_of_the_document_is_called_what_it_is() {
    let upstream = Upstream::start("");
    let mut session = server(&format!("{}/spec.html", upstream.base), &upstream.base, &[]).await;
    let (is_error, text) = support::call(&mut session, "search", json!({ "query": "x" })).await;
    assert!(is_error && text.contains("HTML") && text.contains("/spec.html"), "{text}");
}

/// P48.
#[tokio::test]
async fn a_schema_that_holds_itself_is_named_and_stays_small() {
    let upstream = Upstream::start(&document().to_string());
    let mut session = server(&format!("{}/spec.json", upstream.base), &upstream.base, &[]).await;
    let (is_error, text) =
        support::call(&mut session, "search", json!({ "query": "echoPost" })).await;
    assert!(!is_error && text.contains("Node") && text.len() < 8_000, "{text}");
}

/// P49 and P55.
#[tokio::test]
async fn values_are_written_as_declared_and_cannot_leave_their_segment() {
    let upstream = Upstream::start(&document().to_string());
    let mut session = server(&format!("{}/spec.json", upstream.base), &upstream.base, &[]).await;
    for code in [
        "await api.call('echoGet', { seg: 'a', tags: ['x', 'y'], ids: ['1', '2'] })",
        "await api.request('GET', '/echo/a', { query: { tags: ['x', 'y'], other: ['1', '2'] } })",
        "await api.call('echoGet', { seg: 'a/b?x=1#f' })",
        "await api.call('echoGet', { seg: 'a b', query: { q: '{\"a\":1}' } })",
    ] {
        run(&mut session, code).await;
    }
    let expected = [
        "/api/echo/a?tags=x,y&ids=1&ids=2",
        "/api/echo/a?tags=x,y&other=1&other=2",
        "/api/echo/a%2Fb%3Fx%3D1%23f",
        "/api/echo/a%20b?q=%7B%22a%22%3A1%7D",
    ];
    assert_eq!(targets(&upstream.received()), expected);
}

/// P50.
#[tokio::test]
async fn what_cannot_be_read_is_counted_and_named() {
    let mut broken = document();
    broken["paths"]["/broken"] = json!({ "get": { "operationId": "broken", "parameters": 5 } });
    let upstream = Upstream::start(&broken.to_string());
    let mut session = server(&format!("{}/spec.json", upstream.base), &upstream.base, &[]).await;
    let overview = support::ok(&mut session, "search", json!({ "query": "" })).await;
    assert_eq!(
        (&overview["operations"], &overview["skipped"]["count"]),
        (&json!(5), &json!(1)),
        "{overview}"
    );
    assert!(overview["skipped"]["first"][0].as_str().unwrap().contains("/broken"), "{overview}");
}

/// P51.
#[tokio::test]
async fn patterns_match_in_any_letter_case_and_a_useless_one_is_warned_of() {
    let upstream = Upstream::start(&document().to_string());
    let openapi = format!("{}/spec.json", upstream.base);
    for pattern in ["LISTTHINGS", "listThings", "things", "get /Things/"] {
        let mut session =
            server(&openapi, &upstream.base, &["--allow", pattern, "--allow", "nothing_like_it"])
                .await;
        let overview = support::ok(&mut session, "search", json!({ "query": "" })).await;
        let expected = if pattern == "things" { 2 } else { 1 };
        assert_eq!(overview["operations"], json!(expected), "{pattern}: {overview}");
        // The warning may come a moment after the answer.
        for _ in 0..100 {
            if session.stderr().contains("nothing_like_it") {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        assert!(session.stderr().contains("nothing_like_it"), "{}", session.stderr());
    }
}

/// P52 and P53.
#[tokio::test]
async fn a_body_is_sent_exactly_or_not_at_all() {
    let upstream = Upstream::start(&document().to_string());
    let more = ["--confirm", "off"];
    let mut session = server(&format!("{}/spec.json", upstream.base), &upstream.base, &more).await;
    let empty = json!({ "code": "await api.call('echoPost', { seg: 'a' })" });
    let (is_error, text) = support::call(&mut session, "execute_write", empty).await;
    assert!(is_error && text.contains("`echoPost` needs a `body`"), "{text}");
    let patch = json!({ "code": "await api.request('PATCH', '/things/', { body: { payload: 'p', n: 12345678901234567890123n } })" });
    let done = support::ok(&mut session, "execute_write", patch).await;
    assert!(done["warnings"][0].as_str().unwrap().contains("has no field `n`"), "{done}");
    let received = upstream.received();
    assert_eq!(received.len(), 1);
    assert_eq!(
        (received[0].method.as_str(), received[0].body.as_str()),
        ("PATCH", r#"{"payload":"p","n":12345678901234567890123}"#)
    );
}

/// P54.
#[tokio::test]
async fn a_newer_document_is_found_and_a_lost_one_is_replaced_by_the_cached() {
    let cache = tempfile::tempdir().unwrap();
    let upstream = Upstream::start(&document().to_string());
    let openapi = format!("{}/spec.json", upstream.base);
    let cached = || {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_mcp-stdio"));
        command.env_clear().arg("--spec-cache").arg(cache.path());
        command.args(["--openapi", &openapi, "--base-url", &upstream.base]);
        command
    };
    let count = async || {
        let mut session = support::connect(cached()).await;
        let overview = support::ok(&mut session, "search", json!({ "query": "" })).await;
        session.close_stdin();
        session.wait(support::PATIENCE).await.unwrap();
        (overview["operations"].clone(), session.stderr())
    };
    assert_eq!(count().await.0, json!(5));
    let mut newer = document();
    newer["paths"]["/new"] = json!({ "get": { "operationId": "brandNew", "responses": {} } });
    upstream.publish(&newer.to_string());
    assert_eq!(count().await.0, json!(6));
    upstream.publish("gone");
    let (operations, log) = count().await;
    assert_eq!(operations, json!(6));
    assert!(log.contains("WARN"), "{log}");
}

/// P74.
#[tokio::test]
async fn documents_are_found_behind_spaces_ampersands_file_urls_and_variables() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("a b & c");
    std::fs::create_dir(&folder).unwrap();
    let path = folder.join("spec.json");
    std::fs::write(&path, document().to_string()).unwrap();
    let path = path.to_str().unwrap();
    let url = format!("file://{}", path.replace(' ', "%20").replace('&', "%26"));
    for openapi in [path, &url] {
        let mut session = server(openapi, "http://127.0.0.1:9", &[]).await;
        let overview = support::ok(&mut session, "search", json!({ "query": "" })).await;
        assert_eq!(overview["operations"], json!(5), "{openapi}");
        let mut command = support::binary();
        command.env("MCP_OPENAPI", openapi).env("MCP_BASE_URL", "http://127.0.0.1:9");
        let mut session = support::connect(command).await;
        let overview = support::ok(&mut session, "search", json!({ "query": "" })).await;
        assert_eq!(overview["operations"], json!(5), "{openapi} by variable");
    }
    let missing = support::binary()
        .args(["--openapi", "C:\\temp\\x", "--base-url", "http://127.0.0.1:9"])
        .output()
        .unwrap();
    assert_eq!(missing.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("C:\\temp\\x"));
}
