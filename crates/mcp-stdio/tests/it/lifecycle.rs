//! The life of the process: stdout, broken frames, slow documents, the end of input.

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    process::Stdio,
    time::{Duration, Instant},
};

use mocks::{Mock, World};
use serde_json::json;
use test_client::raw;

use crate::support::{self, Connected, PATIENCE};

/// P1: the raw session fails on any stdout line that is not JSON-RPC.
#[tokio::test]
async fn stdout_carries_protocol_only_at_every_log_level() {
    let mut connected = Connected::with(|command| {
        command.env("RUST_LOG", "trace");
    })
    .await;
    let answer = connected.ok("execute", json!({ "code": "console.log('hi'); return 1" })).await;
    assert_eq!((&answer["result"], &answer["logs"]), (&json!(1), &json!(["hi"])));
    connected.fails("execute", json!({ "code": "throw new Error('boom')" })).await;
    connected.session.close_stdin();
    let status = connected.session.wait(Duration::from_secs(5)).await.unwrap();
    assert_eq!(status.code(), Some(0));
    assert!(connected.session.stderr().contains("authentik-code-mode"), "the log went to stderr");
}

/// P2.
#[tokio::test]
async fn the_end_of_input_ends_the_process_with_code_0_before_and_after_the_handshake() {
    let mock = Mock::start(World::authentik()).unwrap();
    let mut untouched = raw::Session::spawn(support::against(&mock)).unwrap();
    untouched.close_stdin();
    let status = untouched.wait(Duration::from_secs(2)).await.unwrap();
    assert_eq!(status.code(), Some(0));

    let mut used = support::connect(support::against(&mock)).await;
    used.close_stdin();
    let status = used.wait(Duration::from_secs(2)).await.unwrap();
    assert_eq!(status.code(), Some(0));
}

#[tokio::test]
async fn the_end_of_input_ends_the_process_within_2_s_while_a_script_loops() {
    let mut connected = Connected::start().await;
    connected.execute("return 1").await;
    let looping = json!({ "name": "execute", "arguments": { "code": "for (;;) {}" } });
    connected.session.request("tools/call", looping).await.unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    let closed = Instant::now();
    connected.session.close_stdin();
    let status = connected.session.wait(Duration::from_secs(2)).await.unwrap();
    assert_eq!(status.code(), Some(0));
    assert!(closed.elapsed() < Duration::from_secs(2));
}

/// P3.
#[tokio::test]
async fn a_session_survives_broken_lines_unknown_methods_and_missing_parameters() {
    let mut connected = Connected::start().await;
    let session = &mut connected.session;
    session.send_line("garbage").await.unwrap();
    session.send_line(r#"{"jsonrpc":"2.0","id":70,"method":"no/such"}"#).await.unwrap();
    let answer = session.response(70, PATIENCE).await.unwrap();
    assert_eq!(answer["error"]["code"], json!(-32601));
    let broken = [
        (r#"{"jsonrpc":"2.0","id":80,"method":"tools/call","params":null}"#, 80),
        (r#"{"jsonrpc":"2.0","id":81,"method":"tools/call","params":{"arguments":{}}}"#, 81),
        (
            r#"{"jsonrpc":"2.0","id":82,"method":"tools/call","params":{"name":"search","arguments":[1]}}"#,
            82,
        ),
    ];
    for (line, id) in broken {
        session.send_line(line).await.unwrap();
        let answer = session.response(id, PATIENCE).await.unwrap();
        assert_eq!(answer["error"]["code"], json!(-32602), "{line}: {answer}");
    }
    let id = session.request("tools/list", json!({})).await.unwrap();
    let list = session.response(id, PATIENCE).await.unwrap();
    assert_eq!(list["result"]["tools"].as_array().map(Vec::len), Some(3));
    assert!(
        session.stderr().contains("garbage") || session.stderr().contains("not JSON"),
        "a note on stderr"
    );
}

#[tokio::test]
async fn a_notification_before_the_first_request_does_not_end_the_process() {
    let mock = Mock::start(World::authentik()).unwrap();
    let mut session = raw::Session::spawn(support::against(&mock)).unwrap();
    session.notify("notifications/initialized", json!({})).await.unwrap();
    session.send_line("garbage").await.unwrap();
    let server = session.initialize("2025-11-25").await.unwrap();
    assert_eq!(server["serverInfo"]["name"], json!("authentik-code-mode"));
}

/// P4: the document's server accepts and never answers.
#[tokio::test]
async fn initialize_and_tools_list_are_answered_while_the_document_is_not_there() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/openapi.json", silent.local_addr().unwrap());
    let mut command = support::binary();
    command.args(["--openapi", &url, "--base-url", "http://127.0.0.1:9", "--wall", "2"]);
    let started = Instant::now();
    let mut session = support::connect(command).await;
    let id = session.request("tools/list", json!({})).await.unwrap();
    session.response(id, PATIENCE).await.unwrap();
    assert!(
        started.elapsed() < Duration::from_secs(2),
        "both answers took {:?}",
        started.elapsed()
    );

    let (is_error, text) = support::call(&mut session, "search", json!({ "query": "users" })).await;
    assert!(is_error && text.contains("still loading"), "{text}");
}

/// P9: a cancelled call stops its script, and nobody waits for it.
#[tokio::test]
async fn a_cancelled_call_stops_at_once() {
    let mut connected = Connected::start().await;
    let sleeping = json!({ "name": "execute", "arguments": { "code": "await sleep(40000)" } });
    let id = connected.session.request("tools/call", sleeping).await.unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    let cancelled = Instant::now();
    connected.session.notify("notifications/cancelled", json!({ "requestId": id })).await.unwrap();
    assert_eq!(connected.execute("return 1").await, json!(1));
    connected.session.close_stdin();
    connected.session.wait(Duration::from_secs(2)).await.unwrap();
    assert!(cancelled.elapsed() < Duration::from_secs(10));
}

/// P9: a client that asked for it is told every few seconds that a script still runs.
#[tokio::test]
async fn a_long_script_reports_progress_to_whoever_asked() {
    let mut connected = Connected::start().await;
    let long = json!({
        "name": "execute",
        "arguments": { "code": "await sleep(4600); return 'done'" },
        "_meta": { "progressToken": "p1" },
    });
    let id = connected.session.request("tools/call", long).await.unwrap();
    let note = connected.session.notification("notifications/progress", PATIENCE).await.unwrap();
    assert_eq!(note["params"]["progressToken"], json!("p1"));
    assert!(note["params"]["message"].as_str().unwrap().contains("running"), "{note}");
    let answer = connected.session.response(id, PATIENCE).await.unwrap();
    assert!(answer["result"]["content"][0]["text"].as_str().unwrap().contains("done"));
}

#[tokio::test]
async fn an_unreachable_document_is_a_clear_message_and_nothing_worse() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut command = support::binary();
    command.args(["--openapi", &format!("http://{closed}/openapi.json")]);
    command.args(["--base-url", &format!("http://{closed}")]);
    let mut session = support::connect(command).await;
    let (is_error, text) = support::call(&mut session, "search", json!({ "query": "users" })).await;
    assert!(is_error && text.contains("refused") && text.contains(&closed.to_string()), "{text}");
    let (is_error, text) =
        support::call(&mut session, "execute", json!({ "code": "return 1 + 1" })).await;
    assert!(
        !is_error && text.contains("\"result\":2"),
        "scripts that need no document run: {text}"
    );
}

/// A handshake typed by hand, without any client library in between.
#[test]
fn a_handshake_written_by_hand_is_answered_line_by_line() {
    let mock = Mock::start(World::authentik()).unwrap();
    let mut child = support::against(&mock)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"hand","version":"0"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
"#;
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(hello.as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(500));
    drop(stdin);
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let lines: Vec<serde_json::Value> =
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2, "{out}");
    assert_eq!(lines[0]["result"]["protocolVersion"], json!("2025-06-18"));
    assert_eq!(lines[1]["result"]["tools"][0]["name"], json!("search"));
}
