//! Documents that are broken, hostile or odd: each costs only itself, in bounded time and memory.

use std::time::{Duration, Instant};

use mcp_core::openapi::{
    Depth, Document, LoadError, LoadOptions, RouteError, full, line, load, schema, signature,
};
use serde_json::{Value, json};

use super::parse;

fn refused(text: &str) -> String {
    load(text.as_bytes(), &LoadOptions::default()).unwrap_err().to_string()
}

fn with_operation(operation: &Value) -> Document {
    parse(&json!({"openapi": "3.0.0", "paths": {"/a": {"post": operation}}}).to_string())
}

/// One operation that takes the schema `A` of the given ones.
fn with_schemas(schemas: &Value) -> Document {
    parse(
        &json!({
            "openapi": "3.1.0",
            "paths": {"/a": {"post": {
                "operationId": "op",
                "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/A"}}}},
                "responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/A"}}}}},
            }}},
            "components": {"schemas": schemas},
        })
        .to_string(),
    )
}

/// Shows everything there is to show, within a second and its bytes.
#[track_caller]
fn show(document: &Document) -> String {
    let start = Instant::now();
    let text = signature(document, 0, Depth::default());
    assert!(text.len() < 6_000, "{}", text.len());
    for depth in [0, 1, 9] {
        let shown = signature(document, 0, Depth { body: depth, response: depth, bytes: 3_000 });
        assert!(shown.len() < 6_000, "{}", shown.len());
    }
    assert!(full(document, 0).len() < 40_000);
    assert!(schema(document, "A", 9).is_none_or(|it| it.len() < 40_000));
    assert!(document.search_fields()[0].body.len() < 500);
    document.operation(0).unwrap();
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    text
}

#[test]
fn what_is_no_document_is_refused_in_plain_words() {
    assert!(matches!(load(b" \n", &LoadOptions::default()), Err(LoadError::Empty)));
    assert!(
        refused("\u{feff}<!DOCTYPE html><html>").starts_with("got HTML, not an OpenAPI document")
    );
    assert!(refused("[1]").contains("is a list"));
    assert!(refused("just text").contains("is a single value"));
    assert!(refused(r#"{"detail": "Not found.", "x": 1}"#).contains("`detail`, `x`"));
    assert!(refused("{}").contains("is empty"));
    assert!(
        refused(r#"{"openapi": "3.0.0", "#).starts_with("the OpenAPI document is not valid JSON: ")
    );
    assert!(refused("a: [").starts_with("the OpenAPI document is not valid YAML: "));
    assert!(matches!(load(b"\xff\xfeo\0", &LoadOptions::default()), Err(LoadError::Utf16)));
}

#[test]
fn json_with_commas_and_comments_is_read_as_yaml() {
    let document = parse(
        "{\n  # a comment\n  \"openapi\": \"3.0.0\",\n  \"paths\": {\"/a\": {\"get\": {},},},\n}",
    );
    assert_eq!(document.summaries()[0].id, "get_a");
}

#[test]
fn a_document_may_have_nothing_but_paths() {
    let document = parse(r#"{"paths": {"a": {"get": null, "put": {}}, "/b": null, "x-y": 1}}"#);
    assert_eq!((document.len(), document.skipped().len()), (1, 0));
    assert_eq!(document.summaries()[0].path, "/a");
    assert_eq!(document.spec_version(), "3.0.0");
}

#[test]
fn bytes_that_are_no_text_cost_a_character() {
    let document = load(
        b"{\"openapi\":\"3.2.0\",\"info\":{\"title\":\"a\xffb\"},\"paths\":{}}",
        &LoadOptions::default(),
    );
    assert_eq!(document.unwrap().title(), "a\u{fffd}b");
}

#[test]
fn a_broken_operation_costs_only_itself_and_is_named() {
    let deep: String = "[".repeat(5_000) + &"]".repeat(5_000);
    let text = format!(
        r##"{{"openapi": "3.0.0", "paths": {{
            "/a": {{"get": {{"operationId": "good"}}, "put": {{"parameters": 5}}, "post": 7, "patch": {{"parameters": [1]}},
                "delete": {{"requestBody": "x"}}, "head": {{"requestBody": {{"content": {{"a/b": {{"schema": {{"default": {deep}}}}}}}}}}}}},
            "/b": 5, "/c": {{"parameters": {{}}, "get": {{}}}}, "/d": {{"$ref": "#/nowhere"}}, "/e\u0007": {{"get": {{}}}},
            "/f": {{"query": {{}}, "get": {{"parameters": null, "requestBody": null, "responses": 5, "tags": 1, "security": "x"}}}}
        }}}}"##
    );
    let document = parse(&text);
    let ids: Vec<_> = document.summaries().iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ids, ["good", "get_f"]);
    let skipped: Vec<_> =
        document.skipped().iter().map(|it| format!("{}: {}", it.place, it.reason)).collect();
    assert_eq!(
        skipped,
        [
            "PUT /a: `parameters` is not an array",
            "POST /a: the operation is not an object",
            "PATCH /a: `parameters[0]` is not an object",
            "DELETE /a: `requestBody` is not an object",
            "HEAD /a: it is nested more than 100 levels deep",
            "/b: the path item is not an object",
            "/c: the path item's `parameters` is not an array",
            "/d: the path item's `$ref` leads to nothing in this document",
            "/e: the path holds control characters",
            "QUERY /f: methods beyond those of OpenAPI 3.1 are not supported",
        ]
    );
}

#[test]
fn cycles_end_in_names() {
    let text = show(&with_schemas(&json!({
        "A": {"allOf": [{"$ref": "#/components/schemas/B"}], "properties": {"a": {"$ref": "#/components/schemas/A"}}},
        "B": {"allOf": [{"$ref": "#/components/schemas/A"}], "properties": {
            "list": {"type": "array", "items": {"$ref": "#/components/schemas/List"}},
            "map": {"additionalProperties": {"$ref": "#/components/schemas/Map"}},
            "self": {"$ref": "#/components/schemas/Self"},
        }},
        "List": {"type": "array", "items": {"$ref": "#/components/schemas/List"}},
        "Map": {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/Map"}},
        "Self": {"$ref": "#/components/schemas/Self"},
    })));
    for part in [
        "list?:List[][]",
        "map?:Record<string,Record<string,Map>>",
        "self?:unknown /*Self*/",
        "a?:A",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn schemas_made_to_explode_are_bounded() {
    let mut doubling = serde_json::Map::new();
    for level in 0..60 {
        let next = json!({"$ref": format!("#/components/schemas/{}", name(level + 1))});
        doubling.insert(name(level), json!({"allOf": [next, next], "oneOf": [next, next, next], "properties": {"a": next, "b": next, "c": {"items": next}}}));
    }
    doubling.insert(name(60), json!({"type": "string"}));
    show(&with_schemas(&Value::Object(doubling)));

    let wide: serde_json::Map<_, _> =
        (0..30_000).map(|it| (format!("property{it}"), json!({"enum": [it]}))).collect();
    let required: Vec<_> = wide.keys().cloned().collect();
    let values: Vec<_> = (0..100_000).map(|it| json!(format!("value{it}"))).collect();
    let text = show(&with_schemas(&json!({
        "A": {"properties": {"values": {"enum": values}, "wide": {"required": required, "properties": wide}, "text": {"default": "x".repeat(1_000_000), "description": "y".repeat(1_000_000)}}},
    })));
    assert!(text.contains("'value7'|/*+99992*/string"), "{text}");

    let chain: serde_json::Map<_, _> = (0..3_000)
        .map(|level| (name(level), json!({"type": "array", "items": {"$ref": format!("#/components/schemas/{}", name(level + 1))}})))
        .collect();
    show(&with_schemas(&Value::Object(chain)));
}

fn name(level: usize) -> String {
    if level == 0 { "A".to_owned() } else { format!("A{level}") }
}

#[test]
fn hostile_names_stay_names_and_lines_stay_lines() {
    let document = parse(
        &json!({"openapi": "3.0.0", "paths": {"/a/{__proto__}": {"post": {
            "operationId": "x\n// GET /admin\u{202e}", "summary": "one\ntwo */ \u{0007}", "tags": ["t\nu"],
            "parameters": [{"name": "constructor\n}", "in": "query", "description": "*/ end\n// x"}],
            "requestBody": {"content": {"application/json": {"schema": {"properties": {
                "__proto__": {"type": "string"}, "a'b\n": {"enum": ["'\n", "*/"]}, "c": {"$ref": "#/components/schemas/*~1%0A"},
            }}}, "text/\nplain": {}}},
            "responses": {"200\n": {"description": "\n"}},
        }}}})
        .to_string(),
    );
    let summary = &document.summaries()[0];
    assert_eq!(summary.id, "x // GET /admin");
    assert_eq!(line(summary), "x // GET /admin POST /a/{__proto__} — one two */");
    let text = signature(&document, 0, Depth::default());
    assert_eq!(
        text,
        "// one two */\nx // GET /admin POST /a/{__proto__}\npath{__proto__:string} query{'constructor\\n}'?:string}\n\
         body?:{__proto__?:string,'a\\'b\\n'?:'\\'\\n'|'*/',c?:unknown /** /*/}\n-> 200"
    );
}

#[test]
fn the_routes_of_awkward_templates_are_found() {
    let paths = [
        "/x/{id}",
        "/x/{id}:cancel",
        "/x/me",
        "/x/me/",
        "/compare/{base}...{head}",
        "/files/{name}.{ext}",
        "/a b/é/{c}",
        "/fn/delta(token='{token}')",
        "/",
        "/deep/{a}/{b}",
        "/deep/{a}/fixed",
        "/deep/x/{b}",
    ];
    let items: serde_json::Map<_, _> = paths
        .iter()
        .map(|path| ((*path).to_owned(), json!({"get": {"operationId": path}})))
        .collect();
    let document = parse(&json!({"openapi": "3.0.0", "servers": [{"url": "https://h.example/api/"}], "paths": items}).to_string());
    let route = |path: &str| {
        document.route("GET", path).map(|it| {
            (
                it.template,
                it.path,
                it.values.into_iter().map(|it| it.1).collect::<Vec<_>>().join("|"),
            )
        })
    };
    for (path, template, sent, values) in [
        ("/x/7", "/x/{id}", "/x/7", "7"),
        ("/api/x/7", "/x/{id}", "/x/7", "7"),
        ("x/7/", "/x/{id}", "/x/7", "7"),
        ("/x/7:cancel", "/x/{id}:cancel", "/x/7:cancel", "7"),
        ("/x/a%3Ab:cancel", "/x/{id}:cancel", "/x/a:b:cancel", "a:b"),
        ("/x/me", "/x/me", "/x/me", ""),
        ("/x/me/", "/x/me/", "/x/me/", ""),
        ("/compare/v1.0...v2;x", "/compare/{base}...{head}", "/compare/v1.0...v2%3Bx", "v1.0|v2;x"),
        ("/files/é.gz", "/files/{name}.{ext}", "/files/%C3%A9.gz", "é|gz"),
        ("/files/a.tar.gz", "/files/{name}.{ext}", "/files/a.tar.gz", "a|tar.gz"),
        ("/a%20b/%C3%A9/%25", "/a b/é/{c}", "/a%20b/%C3%A9/%25", "%"),
        ("/a b/é/100%", "/a b/é/{c}", "/a%20b/%C3%A9/100%25", "100%"),
        ("/fn/delta(token='q')", "/fn/delta(token='{token}')", "/fn/delta(token='q')", "q"),
        ("/", "/", "/", ""),
        ("", "/", "/", ""),
        ("/deep/x/fixed", "/deep/x/{b}", "/deep/x/fixed", "fixed"),
        ("/deep/y/fixed", "/deep/{a}/fixed", "/deep/y/fixed", "y"),
        ("/deep/y/%2e%2e%2e", "/deep/{a}/{b}", "/deep/y/...", "y|..."),
    ] {
        assert_eq!(
            route(path),
            Ok((template.to_owned(), sent.to_owned(), values.to_owned())),
            "{path}"
        );
    }
    for (path, error) in [
        ("/x/..", RouteError::DotSegment),
        ("/x/%2e%2E", RouteError::DotSegment),
        ("/x/.", RouteError::DotSegment),
        ("/x/..;a=b", RouteError::DotSegment),
        ("/x/../x/me", RouteError::DotSegment),
        ("/x/a%2fb", RouteError::EncodedSlash),
        ("/x/a\\b", RouteError::Backslash),
        ("/x/a%5Cb", RouteError::Backslash),
        ("/x/a%00", RouteError::ControlCharacter),
        ("/x/a\n", RouteError::ControlCharacter),
        ("/x/%ff", RouteError::NotText),
        ("//x/7", RouteError::EmptySegment),
        ("/x//", RouteError::EmptySegment),
        ("/x/7?a=b", RouteError::Query),
        ("/x/7#a", RouteError::Query),
        ("https://h.example/api/x/7", RouteError::Absolute),
        ("/unknown", RouteError::UnknownPath),
    ] {
        assert_eq!(route(path), Err(error), "{path}");
    }
    assert_eq!(route(&format!("/x/{}", "a".repeat(9_000))), Err(RouteError::TooLong));
    assert_eq!(
        document.route("BREW", "/x/7"),
        Err(RouteError::UnknownMethod { method: "BREW".to_owned() })
    );
}

#[test]
fn names_are_unique_and_stay_the_documents_where_they_can() {
    let document = parse(
        r#"{"openapi": "3.0.0", "paths": {
            "/a": {"get": {}, "put": {"operationId": "x"}, "post": {"operationId": "x"}},
            "/b": {"get": {"operationId": "x_2"}, "put": {"operationId": "get_a"}, "post": {"operationId": " "}},
            "/b/": {"post": {}}
        }}"#,
    );
    let ids: Vec<_> = document.summaries().iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ids, ["get_a_2", "x", "x_3", "x_2", "get_a", "post_b", "post_b_2"]);
    assert_eq!(document.find_id("X_3"), Some(2));
    assert_eq!(document.find_id("POST /a"), Some(2));
    assert_eq!(document.find_id("post /b/"), Some(6));
    assert_eq!(document.find_id("none"), None);
}

#[test]
fn every_way_to_say_or_null_is_read() {
    let text = show(&with_schemas(&json!({"A": {"type": "object", "properties": {
        "a": {"type": ["string", "null"]}, "b": {"type": "string", "nullable": true}, "c": {"type": "string", "x-nullable": true},
        "d": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "e": {"enum": ["x", null]},
        "f": {"oneOf": [{"$ref": "#/components/schemas/N"}, {"enum": [null]}]}, "g": {"allOf": [{"$ref": "#/components/schemas/N"}], "nullable": true},
    }}, "N": {"type": "integer"}})));
    assert!(text.contains("{a?:string|null,b?:string|null,c?:string|null,d?:string|null,e?:'x'|null,f?:integer|null,g?:integer|null}"), "{text}");
}

#[test]
fn the_forms_of_schemas_are_told_apart() {
    let text = show(&with_schemas(
        &json!({"A": {"type": "object", "required": ["z"], "properties": {
        "any": true, "none": false, "pair": {"prefixItems": [{"type": "string"}, {"type": "integer"}]}, "constant": {"const": "x"},
        "map": {"type": "object", "additionalProperties": {"type": "integer"}}, "free": {"type": "object"},
        "read": {"type": "string", "readOnly": true}, "write": {"type": "string", "writeOnly": true},
        "union": {"type": "array", "items": {"type": ["string", "integer"]}}, "z": {"type": "string", "format": "uuid"},
        "pet": {"oneOf": [{"$ref": "#/components/schemas/Cat"}, {"$ref": "#/components/schemas/Dog"}],
            "discriminator": {"propertyName": "kind", "mapping": {"cat": "#/components/schemas/Cat", "Dog": "Dog"}}},
        "choice": {"properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
    }}, "Cat": {"properties": {"purrs": {"type": "boolean"}}}, "Dog": {"properties": {"barks": {"type": "boolean"}}}}),
    ));
    assert!(
        text.contains(
            "body?:{z:string/*uuid*/,any?:any,none?:never,pair?:[string,integer],constant?:'x',map?:Record<string,integer>,free?:object,\
             write?:string,union?:(string|integer)[],pet?:{purrs?:boolean}|{barks?:boolean}/*by kind: cat=Cat, Dog*/,\
             choice?:{a?:string,b?:string}/*with a or b*/}"
        ),
        "{text}"
    );
    assert!(text.contains("-> 200 {z:string/*uuid*/,any?:any,none?:never,pair?:[string,integer],constant?:'x',map?:Record<string,integer>,free?:object,read?:string,"), "{text}");
    assert!(
        text.ends_with("pet?:Cat|Dog/*by kind: cat=Cat, Dog*/,choice?:{a,b}/*with a or b*/}"),
        "{text}"
    );
}

#[test]
fn one_level_of_a_schema_is_flattened_for_checks() {
    let document = with_schemas(&json!({
        "A": {"allOf": [{"$ref": "#/components/schemas/B"}, {"required": ["c"], "properties": {"c": {"$ref": "#/components/schemas/B"}}}], "nullable": true},
        "B": {"type": "object", "required": ["b"], "properties": {"b": {"type": "string"}}, "additionalProperties": false},
    }));
    assert_eq!(
        document.flatten(&json!({"$ref": "#/components/schemas/A"})),
        json!({"type": "object", "nullable": true, "required": ["b", "c"], "properties": {"b": {"type": "string"}, "c": {"$ref": "#/components/schemas/B"}}})
    );
    assert_eq!(
        document.flatten(&json!({"$ref": "#/components/schemas/B"}))["additionalProperties"],
        false
    );
    assert_eq!(document.flatten(&json!({"type": "string"})), json!({"type": "string"}));
}

#[test]
fn parameters_follow_the_specification() {
    let document = parse(
        r##"{"openapi": "3.0.0", "paths": {"/a/{id}/{more}": {
            "parameters": [{"$ref": "#/components/parameters/Id"}, {"name": "q", "in": "query", "schema": {"type": "string"}}],
            "get": {"security": [{"o": ["read", "write"]}, {"p": ["read"]}], "servers": [{"url": "/other"}], "parameters": [
                {"name": "q", "in": "query", "required": true, "content": {"application/json": {"schema": {"type": "object"}}}},
                {"name": "q", "in": "header", "schema": {"type": "integer"}}, {"name": "Accept", "in": "header"},
                {"name": "gone", "in": "path"}, {"name": "odd", "in": "body"}, {"$ref": "#/components/parameters/None"}
            ]}
        }}, "components": {"parameters": {"Id": {"name": "id", "in": "path", "schema": {"$ref": "#/components/schemas/Id"}}}, "schemas": {"Id": {"type": "integer"}}}}"##,
    );
    let operation = document.operation(0).unwrap();
    let found: Vec<_> = operation
        .parameters
        .iter()
        .map(|it| (it.name.as_str(), format!("{:?}", it.location), it.required, it.json_content))
        .collect();
    assert_eq!(
        found,
        [
            ("id", "Path".to_owned(), true, false),
            ("q", "Query".to_owned(), true, true),
            ("q", "Header".to_owned(), false, false),
            ("more", "Path".to_owned(), true, false),
        ]
    );
    assert_eq!(operation.parameters[0].schema, json!({"type": "integer"}));
    assert_eq!(operation.scopes, ["read", "write"]);
    assert_eq!(operation.servers[0].url, "/other");
}

#[test]
fn a_body_is_taken_in_its_best_form() {
    let content = |types: &[&str]| {
        types.iter().map(|it| ((*it).to_owned(), json!({}))).collect::<serde_json::Map<_, _>>()
    };
    let types = [
        "text/plain",
        "multipart/form-data",
        "application/x-www-form-urlencoded",
        "application/octet-stream",
        "*/*",
        "application/vnd.api+json",
        "application/json; charset=utf-8",
        "application/json",
    ];
    let document = with_operation(&json!({"requestBody": {"content": content(&types)}}));
    let found: Vec<_> = document
        .operation(0)
        .unwrap()
        .body
        .unwrap()
        .content
        .into_iter()
        .map(|it| it.content_type)
        .collect();
    assert_eq!(
        found,
        [
            "application/json",
            "application/json; charset=utf-8",
            "application/vnd.api+json",
            "*/*",
            "application/x-www-form-urlencoded",
            "multipart/form-data",
            "application/octet-stream",
            "text/plain"
        ]
    );
}

#[test]
fn a_large_document_loads_in_time() {
    let operation = json!({"summary": "s", "description": "d".repeat(500), "responses": {"200": {"description": "x".repeat(500)}}});
    let paths: serde_json::Map<_, _> =
        (0..20_000).map(|it| (format!("/p{it}/{{id}}"), json!({"get": operation}))).collect();
    let text = json!({"openapi": "3.0.0", "paths": paths}).to_string();
    assert!(text.len() > 20_000_000);
    let start = Instant::now();
    let document = parse(&text);
    assert_eq!(document.len(), 20_000);
    assert_eq!(document.route("GET", "/p19999/x").map(|it| it.operation), Ok(19_999));
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn references_through_large_values_are_followed_in_time() {
    let items: Vec<_> = (0..20_000)
        .map(|it| json!({"type": "string", "description": format!("{it}{}", "x".repeat(100))}))
        .collect();
    let properties: serde_json::Map<_, _> = (0..20_000)
        .map(|it| (format!("p{it}"), json!({"$ref": format!("#/x-own/list/{it}")})))
        .collect();
    let paths: serde_json::Map<_, _> = (0..3_000)
        .map(|it| (format!("/p{it}"), json!({"$ref": format!("#/x-items/{it}")})))
        .collect();
    let shared: Vec<_> =
        (0..3_000).map(|_| json!({"get": {"description": "x".repeat(500)}})).collect();
    let start = Instant::now();
    let document = parse(
        &json!({"openapi": "3.0.0", "paths": paths, "x-own": {"list": items}, "x-items": shared, "components": {"schemas": {"A": {"properties": properties}}}})
            .to_string(),
    );
    assert_eq!((document.len(), document.skipped().len()), (3_000, 0));
    assert_eq!(document.resolve("#/x-own/list/9000").unwrap()["type"], "string");
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}
