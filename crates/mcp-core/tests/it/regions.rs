//! Regions of a public service: looked up once, checked, and only there.
//!
//! A proxy stands for the internet: it sees which host each request was for.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use api_client::{
    auth::{Credential, SecretSource},
    secret::Secret,
    transport::{ProxyOptions, Transport, TransportOptions},
};
use mcp_core::{
    Context,
    context::{Api, Identity},
    openapi::source::{DocumentLocation, DocumentSource, SourceOptions},
    profile::Profile,
    sandbox::{Pool, PoolOptions, WorkerProgram},
    server::{build_server, sdk::ServiceExt as _},
};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, DuplexStream, Lines, ReadHalf, WriteHalf,
};

const DOCUMENT: &str = r#"{"openapi":"3.0.0","info":{"title":"S","version":"1"},"paths":{
  "/api/0/organizations/{organization_id_or_slug}/":{"get":{"operationId":"organization","parameters":[{"name":"organization_id_or_slug","in":"path","required":true,"schema":{"type":"string"}}],"responses":{}}},
  "/api/0/organizations/{organization_id_or_slug}/teams/":{"get":{"operationId":"teams","parameters":[{"name":"organization_id_or_slug","in":"path","required":true,"schema":{"type":"string"}}],"responses":{}}},
  "/api/0/seer/models/":{"get":{"operationId":"models","responses":{}}}}}"#;

type Log = Arc<Mutex<Vec<String>>>;

/// A proxy for plain http that answers for everybody; its address and what it was asked.
fn internet() -> (String, Log) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let log = Log::default();
    let seen = Arc::clone(&log);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            answer(stream, &seen);
        }
    });
    (address, log)
}

fn answer(stream: TcpStream, log: &Log) {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let mut token = false;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).unwrap();
        token |= header.to_ascii_lowercase().starts_with("authorization: bearer region-token");
        if header.trim().is_empty() {
            break;
        }
    }
    let target = line.split_whitespace().nth(1).unwrap_or_default().to_owned();
    log.lock().unwrap().push(format!("{target} {token}"));
    let body = match target.rsplit_once("/api/0/").map_or("", |(_, path)| path) {
        "organizations/acme/" => json!({ "links": { "regionUrl": "http://de.public.test" } }),
        "organizations/evil/" => json!({ "links": { "regionUrl": "http://public.test.evil" } }),
        "organizations/old/" => json!({ "slug": "old" }),
        _ => json!([]),
    };
    let body = body.to_string();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    reader.into_inner().write_all(format!("{head}{body}").as_bytes()).ok();
}

/// A client's end of a server that reaches a service with these public hosts through the proxy.
async fn server(base: &str, hosts: &'static [&'static str], proxy: &str) -> Client {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("spec.json");
    std::fs::write(&path, DOCUMENT).unwrap();
    let mut options = TransportOptions::new(base.parse().unwrap());
    options.credential = Credential::Bearer(SecretSource::literal("T", "region-token").unwrap());
    options.proxy = Some(ProxyOptions { url: Secret::new(proxy), no_proxy: String::new() });
    let transport = Arc::new(Transport::new(options).unwrap());
    let mut profile = Profile::sentry();
    profile.public_hosts = hosts;
    profile.document = DocumentLocation::File(path);
    let document = Arc::new(DocumentSource::new(SourceOptions {
        title: profile.title.clone(),
        location: profile.document.clone(),
        transport: Arc::clone(&transport),
        credential_setting: None,
        cache: None,
        objection: None,
    }));
    document.get(Instant::now() + Duration::from_secs(30)).await.unwrap();
    let worker = WorkerProgram::Path(env!("CARGO_BIN_EXE_sandbox-worker").into());
    let pool = Arc::new(Pool::new(PoolOptions { worker, ..PoolOptions::default() }));
    let identity = Identity { name: "test".to_owned(), version: "1".to_owned() };
    let context = Context::builder(identity, pool, Api::new(profile, transport, document)).build();
    let (client, server) = tokio::io::duplex(1 << 16);
    tokio::spawn(async move {
        let (read, write) = tokio::io::split(server);
        let running = build_server(context).serve((read, write)).await.unwrap();
        running.waiting().await.ok();
    });
    let (read, write) = tokio::io::split(client);
    let mut client = Client { lines: tokio::io::BufReader::new(read).lines(), write };
    client.send(json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } })).await;
    client.lines.next_line().await.unwrap().unwrap();
    client.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    client
}

struct Client {
    lines: Lines<tokio::io::BufReader<ReadHalf<DuplexStream>>>,
    write: WriteHalf<DuplexStream>,
}

impl Client {
    async fn send(&mut self, message: Value) {
        self.write.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    /// Runs a reading script that must succeed.
    async fn execute(&mut self, code: &str) -> String {
        let call = json!({ "name": "execute", "arguments": { "code": code } });
        self.send(json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call }))
            .await;
        let line = self.lines.next_line().await.unwrap().unwrap();
        let message: Value = serde_json::from_str(&line).unwrap();
        let text = message["result"]["content"][0]["text"].as_str().unwrap().to_owned();
        assert_eq!(message["result"]["isError"], json!(false), "{text}");
        text
    }
}

const TEAMS: &str = "
    const read = (slug) => sentry.request('GET', `/api/0/organizations/${slug}/teams/`);
    const all = await Promise.all([read('acme'), read('acme'), read('evil'), read('old')]);
    await read('acme');
    await sentry.request('GET', '/api/0/seer/models/');
    return all.map((it) => it.status)";

#[tokio::test]
async fn requests_about_an_organization_go_to_its_region_and_nowhere_outside_the_service() {
    let (proxy, log) = internet();
    let mut client = server("http://public.test", &["public.test"], &proxy).await;
    client.execute(TEAMS).await;
    let mut seen = log.lock().unwrap().clone();
    seen.sort();
    let mut expected = [
        "http://public.test/api/0/organizations/acme/ true",
        "http://public.test/api/0/organizations/evil/ true",
        "http://public.test/api/0/organizations/old/ true",
        "http://de.public.test/api/0/organizations/acme/teams/ true",
        "http://de.public.test/api/0/organizations/acme/teams/ true",
        "http://de.public.test/api/0/organizations/acme/teams/ true",
        "http://public.test/api/0/organizations/evil/teams/ true",
        "http://public.test/api/0/organizations/old/teams/ true",
        "http://public.test/api/0/seer/models/ true",
    ];
    expected.sort_unstable();
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn a_self_hosted_installation_is_never_left() {
    let (proxy, log) = internet();
    let mut client = server("http://sentry.own", &["public.test"], &proxy).await;
    client.execute(TEAMS).await;
    let seen = log.lock().unwrap().clone();
    assert_eq!(seen.len(), 6, "nothing is looked up: {seen:?}");
    assert!(seen.iter().all(|it| it.starts_with("http://sentry.own/")), "{seen:?}");
}
