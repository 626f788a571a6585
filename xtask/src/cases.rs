//! `cargo xtask cases --dir DIR`: small documents with the right answers, each run through the real
//! loader, renderer and request builder, requests over a real socket.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail, ensure};
use api_client::transport::Effect;
use mcp_core::{
    code_mode,
    openapi::{self, Depth, Document, LoadOptions},
};
use serde_json::{Value, value::RawValue};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
    sync::mpsc,
};
use url::Url;

use crate::full;

/// The keys an `expect.json` may have; another one is a failure, not a thing to overlook.
const KEYS: &[&str] = &[
    "operations",
    "routes",
    "unique_ids",
    "parameters",
    "render",
    "required_body",
    "request",
    "requests",
    "base_url",
    "document_url",
    "no_network",
];

/// Runs every case of a folder and prints a line for each; whether all passed.
pub(crate) fn run(dir: &Path) -> Result<bool> {
    let mut cases: Vec<PathBuf> = fs::read_dir(dir)
        .with_context(|| format!("cannot read `{}`", dir.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.join("expect.json").is_file())
        .collect();
    cases.sort();
    ensure!(
        !cases.is_empty(),
        "no case in `{}`: a case is a folder with an expect.json",
        dir.display()
    );
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (mut passed, mut failed) = (0, 0);
    for case in cases {
        let name = case.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match runtime.block_on(check(&case)) {
            Ok(()) => {
                passed += 1;
                println!("ok    {name}");
            }
            Err(error) => {
                failed += 1;
                println!("FAIL  {name}: {error:#}");
            }
        }
    }
    println!("{passed} passed, {failed} failed");
    Ok(failed == 0)
}

async fn check(case: &Path) -> Result<()> {
    let expect: Value = serde_json::from_slice(&fs::read(case.join("expect.json"))?)?;
    let fields = expect.as_object().context("expect.json must hold an object")?;
    for key in fields.keys() {
        ensure!(KEYS.contains(&key.as_str()), "expect.json has the unknown key `{key}`");
    }
    let document_url = match text(&expect, "document_url") {
        Some(url) => Some(Url::parse(url)?),
        None => None,
    };
    let bytes = fs::read(document_of(case)?)?;
    // Loading takes bytes: it has no means to reach the network, which is what `no_network` asks for.
    let document = openapi::load(&bytes, &LoadOptions { document_url })?;

    for (key, expected) in fields {
        match key.as_str() {
            "operations" => check_operations(&document, expected)?,
            "routes" => check_routes(&document, expected)?,
            "unique_ids" => check_unique_ids(&document)?,
            "parameters" => check_parameters(&document, expected)?,
            "render" => check_render(&document, expected)?,
            "required_body" => check_required_body(&document, expected)?,
            "base_url" => {
                let base = document.server_url(&std::collections::BTreeMap::new());
                let expected = expected.as_str().unwrap_or_default();
                ensure!(
                    base.trim_end_matches('/') == expected.trim_end_matches('/'),
                    "the base is {base}, not {expected}"
                );
            }
            "request" => check_request(&document, expected).await?,
            "requests" => {
                for request in array(expected)? {
                    check_request(&document, request).await?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn document_of(case: &Path) -> Result<PathBuf> {
    let mut documents: Vec<PathBuf> = fs::read_dir(case)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.file_stem().is_some_and(|stem| stem == "spec"))
        .collect();
    documents.sort();
    documents.into_iter().next().context("there is no spec.json or spec.yaml")
}

fn check_operations(document: &Document, expected: &Value) -> Result<()> {
    let mut ids: Vec<_> = document.summaries().iter().map(|it| it.id.as_str()).collect();
    ids.sort_unstable();
    let expected: Vec<_> = array(expected)?.iter().filter_map(Value::as_str).collect();
    ensure!(ids == expected, "the operations are {ids:?}, not {expected:?}");
    Ok(())
}

fn check_routes(document: &Document, expected: &Value) -> Result<()> {
    let mut routes: Vec<_> = document
        .summaries()
        .iter()
        .map(|it| [it.method.as_str().to_owned(), it.path.clone()])
        .collect();
    routes.sort();
    let expected: Vec<[String; 2]> = serde_json::from_value(expected.clone())?;
    ensure!(routes == expected, "the routes are {routes:?}, not {expected:?}");
    Ok(())
}

fn check_unique_ids(document: &Document) -> Result<()> {
    let ids: BTreeSet<_> = document.summaries().iter().map(|it| it.id.as_str()).collect();
    ensure!(ids.len() == document.len(), "{} operations share {} ids", document.len(), ids.len());
    for (index, summary) in document.summaries().iter().enumerate() {
        ensure!(
            document.find_id(&summary.id) == Some(index),
            "`{}` leads to another route",
            summary.id
        );
        let route = document.find_route(summary.method.as_str(), &summary.path);
        ensure!(
            route == Some(index),
            "`{} {}` leads elsewhere",
            summary.method.as_str(),
            summary.path
        );
    }
    Ok(())
}

fn check_parameters(document: &Document, expected: &Value) -> Result<()> {
    for (id, expected) in expected.as_object().context("`parameters` must be an object")? {
        let operation = operation(document, id)?;
        let found: Vec<Value> = operation
            .parameters
            .iter()
            .map(|it| {
                let location = serde_json::to_value(it.location).unwrap_or_default();
                let schema = document.flatten(&it.schema);
                serde_json::json!([it.name, location, schema["type"], it.required])
            })
            .collect();
        let found = Value::Array(found);
        ensure!(found == *expected, "the parameters of `{id}` are {found}, not {expected}");
    }
    Ok(())
}

fn check_required_body(document: &Document, expected: &Value) -> Result<()> {
    for (id, expected) in expected.as_object().context("`required_body` must be an object")? {
        let operation = operation(document, id)?;
        let body =
            operation.body.as_ref().and_then(|it| it.preferred()).context("there is no body")?;
        let schema = document.flatten(&body.schema);
        let required = schema.get("required").cloned().unwrap_or_else(|| serde_json::json!([]));
        ensure!(required == *expected, "the body of `{id}` requires {required}, not {expected}");
    }
    Ok(())
}

/// What a search shows and what an exact lookup shows must both hold.
fn check_render(document: &Document, expected: &Value) -> Result<()> {
    for (id, expected) in expected.as_object().context("`render` must be an object")? {
        let index =
            document.find_id(id).with_context(|| format!("there is no operation `{id}`"))?;
        let texts = [
            ("search", openapi::signature(document, index, Depth::default())),
            ("describe", openapi::full(document, index)),
        ];
        for (what, text) in texts {
            for (key, expected) in
                expected.as_object().context("a render expectation is an object")?
            {
                check_text(&text, key, expected)
                    .with_context(|| format!("`{id}` in {what}: {text}"))?;
            }
        }
    }
    Ok(())
}

fn check_text(text: &str, key: &str, expected: &Value) -> Result<()> {
    match key {
        "contains" => {
            for part in array(expected)?.iter().filter_map(Value::as_str) {
                ensure!(text.contains(part), "lacks `{part}`");
            }
        }
        "not_contains" => {
            for part in array(expected)?.iter().filter_map(Value::as_str) {
                ensure!(!text.contains(part), "has `{part}`");
            }
        }
        "count" => {
            for (part, count) in expected.as_object().context("`count` must be an object")? {
                let found = text.matches(part.as_str()).count() as u64;
                ensure!(Some(found) == count.as_u64(), "has `{part}` {found} times, not {count}");
            }
        }
        "max_bytes" => {
            let most = expected.as_u64().context("`max_bytes` must be a number")?;
            ensure!(
                text.len() as u64 <= most,
                "has {} bytes, at most {most} are allowed",
                text.len()
            );
        }
        other => bail!("unknown render expectation `{other}`"),
    }
    Ok(())
}

/// What arrived at the socket.
struct Received {
    target: String,
    content_type: String,
    body: Vec<u8>,
}

async fn check_request(document: &Document, expected: &Value) -> Result<()> {
    const KEYS: &[&str] = &[
        "operationId",
        "args",
        "path",
        "path_any",
        "url",
        "url_path",
        "query_decoded",
        "form_decoded",
        "body",
        "content_type",
        "content_type_prefix",
        "method",
    ];
    for key in expected.as_object().context("a request expectation is an object")?.keys() {
        ensure!(KEYS.contains(&key.as_str()), "unknown request expectation `{key}`");
    }
    let id = text(expected, "operationId").context("`operationId` is missing")?;
    let (received, base) =
        send(document, id, &expected["args"]).await.with_context(|| format!("`{id}`"))?;
    let (path, query) = received.target.split_once('?').unwrap_or((&received.target, ""));
    if let Some(expected) = text(expected, "path") {
        ensure!(path == expected, "`{id}` was sent to {path}, not {expected}");
    }
    if let Some(allowed) = expected.get("path_any") {
        let allowed: Vec<_> = array(allowed)?.iter().filter_map(Value::as_str).collect();
        ensure!(allowed.contains(&path), "`{id}` was sent to {path}, not one of {allowed:?}");
    }
    if let Some(expected) = text(expected, "url_path") {
        ensure!(path == expected, "`{id}` was sent to {path}, not {expected}");
    }
    if let Some(expected) = text(expected, "url") {
        let url = format!("{}{}", base.origin().ascii_serialization(), received.target);
        ensure!(url == expected, "`{id}` was sent to {url}, not {expected}");
    }
    if let Some(expected) = expected.get("query_decoded") {
        let found = decoded(query.as_bytes());
        ensure!(found == *expected, "the query of `{id}` is {found}, not {expected}");
    }
    if let Some(expected) = expected.get("form_decoded") {
        let found = decoded(&received.body);
        ensure!(found == *expected, "the form of `{id}` is {found}, not {expected}");
    }
    if let Some(expected) = expected.get("body") {
        let found: Value = serde_json::from_slice(&received.body)?;
        ensure!(found == *expected, "the body of `{id}` is {found}, not {expected}");
    }
    if let Some(expected) = text(expected, "content_type") {
        let found = &received.content_type;
        ensure!(found == expected, "the content type of `{id}` is `{found}`, not `{expected}`");
    }
    if let Some(expected) = text(expected, "content_type_prefix") {
        let found = &received.content_type;
        ensure!(
            found.starts_with(expected),
            "the content type of `{id}` is `{found}`, not `{expected}…`"
        );
    }
    Ok(())
}

/// Sends the call to a socket of our own, under the path the document's server has.
async fn send(document: &Document, id: &str, arguments: &Value) -> Result<(Received, Url)> {
    let declared = document.server_url(&std::collections::BTreeMap::new());
    let fallback = Url::parse("http://127.0.0.1:9")?;
    let base = fallback.join(&declared)?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let origin = Url::parse(&format!("http://{}", listener.local_addr()?))?;
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let server = tokio::spawn(serve(listener, sender));

    let api = full::api_at(origin)?;
    let arguments = if arguments.is_null() { "{}".to_owned() } else { arguments.to_string() };
    let arguments = RawValue::from_string(arguments)?;
    let request =
        code_mode::request_for(&api, document, id, &arguments).map_err(anyhow::Error::msg)?;
    let deadline = Instant::now() + Duration::from_secs(5);
    let response = api.transport.send(&request, Effect::Write, deadline).await?;
    ensure!(response.status == 200, "the socket answered {}", response.status);
    let received = receiver.recv().await.context("nothing arrived")?;
    server.abort();
    Ok((received, base))
}

async fn serve(listener: TcpListener, arrived: mpsc::UnboundedSender<Received>) -> Result<()> {
    loop {
        let (mut socket, _) = listener.accept().await?;
        let mut bytes = Vec::new();
        let mut chunk = [0_u8; 4096];
        loop {
            let count = socket.read(&mut chunk).await?;
            bytes.extend(chunk.iter().take(count));
            if count == 0 || is_complete(&bytes) {
                break;
            }
        }
        socket
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}")
            .await?;
        if let Some(received) = parse(&bytes) {
            arrived.send(received).ok();
        }
    }
}

fn split(bytes: &[u8]) -> Option<(String, &[u8])> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    Some((String::from_utf8_lossy(bytes.get(..end)?).into_owned(), bytes.get(end + 4..)?))
}

fn header(head: &str, name: &str) -> Option<String> {
    head.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        key.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
    })
}

fn is_complete(bytes: &[u8]) -> bool {
    split(bytes).is_some_and(|(head, body)| {
        let length = header(&head, "content-length").and_then(|it| it.parse().ok()).unwrap_or(0);
        body.len() >= length
    })
}

fn parse(bytes: &[u8]) -> Option<Received> {
    let (head, body) = split(bytes)?;
    let target = head.split_whitespace().nth(1)?.to_owned();
    let content_type = header(&head, "content-type").unwrap_or_default();
    Some(Received { target, content_type, body: body.to_vec() })
}

fn decoded(bytes: &[u8]) -> Value {
    let pairs = url::form_urlencoded::parse(bytes);
    Value::Array(pairs.map(|(name, value)| serde_json::json!([name, value])).collect())
}

fn operation(document: &Document, id: &str) -> Result<openapi::Operation> {
    document
        .find_id(id)
        .and_then(|index| document.operation(index))
        .with_context(|| format!("there is no operation `{id}`"))
}

fn array(value: &Value) -> Result<&Vec<Value>> {
    value.as_array().context("an expectation must be a list")
}

fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}
