//! What operators see: health, figures, logs, the record of writes, an orderly end.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::support::{Server, against, authentik, call, list, names, result, text};

#[tokio::test]
async fn health_figures_and_pages_are_where_they_are_looked_for() {
    let mock = authentik();
    let mut command = against(&mock);
    command.arg("--metrics");
    let server = Server::start(command);
    server.call("search", json!({ "query": "users" })).await;
    for (path, part) in [
        ("/healthz", "ok"),
        ("/readyz", "ready"),
        ("/metrics", "mcp_tool_calls_total{tool=\"search\",outcome=\"done\"} 1"),
        ("/llms.txt", "The endpoint is `/mcp`"),
        ("/health", "ok"),
        ("/mcp.json", "\"endpoint\":\"/mcp\""),
    ] {
        let answer = server.request(Method::GET, path).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
        let text = answer.text().await.unwrap();
        assert!(text.contains(part), "{path}: {text}");
    }
    // Probes use whatever name they know.
    let probe = server.request(Method::GET, "/readyz").header("host", "10.1.2.3:8080");
    assert_eq!(probe.send().await.unwrap().status(), StatusCode::OK);
    let path = "/.well-known/oauth-protected-resource";
    let none = server.request(Method::GET, path).send().await.unwrap();
    assert_eq!(none.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_host_that_nobody_named_is_refused_with_the_option_that_names_it() {
    let mock = authentik();
    let mut command = against(&mock);
    command.args(["--allowed-host", "mcp.example.org", "--allowed-origin", "https://app.test"]);
    let server = Server::start(command);
    let of = |host: &'static str| server.post(&list()).header("host", host).send();
    assert_eq!(of("mcp.example.org").await.unwrap().status(), StatusCode::OK);
    let evil = of("evil.test").await.unwrap();
    assert_eq!(evil.status(), StatusCode::FORBIDDEN);
    let said = evil.text().await.unwrap();
    assert!(said.contains("evil.test") && said.contains("--allowed-host"), "{said}");
    let page = server.post(&list()).header("origin", "https://evil.test").send().await.unwrap();
    assert_eq!(page.status(), StatusCode::FORBIDDEN);
    assert!(!page.headers().contains_key("access-control-allow-origin"));
    assert!(page.text().await.unwrap().contains("--allowed-origin"));
}

#[tokio::test]
async fn a_browser_may_ask_before_it_sends_and_reads_the_answer() {
    let mock = authentik();
    let mut command = against(&mock);
    command.args(["--allowed-origin", "https://app.test"]);
    let server = Server::start(command);
    let preflight = |origin: &'static str| {
        let request = server.request(Method::OPTIONS, "/mcp").header("origin", origin);
        request.header("access-control-request-method", "POST").send()
    };
    let answer = preflight("https://app.test").await.unwrap();
    assert_eq!(answer.status(), StatusCode::NO_CONTENT);
    assert_eq!(answer.headers()["access-control-allow-origin"], "https://app.test");
    let allowed = answer.headers()["access-control-allow-headers"].to_str().unwrap();
    assert!(allowed.contains("authorization") && allowed.contains("mcp-protocol-version"));
    assert_eq!(preflight("https://evil.test").await.unwrap().status(), StatusCode::FORBIDDEN);
    let page = server.post(&list()).header("origin", "https://app.test").send().await.unwrap();
    assert_eq!(page.headers()["access-control-allow-origin"], "https://app.test");
    assert_eq!(names(&result(page).await).len(), 3, "a page the operator named is no stranger");
}

#[tokio::test]
async fn logs_tell_what_happened_and_nothing_of_what_was_said() {
    let mock = authentik();
    let directory = tempfile::tempdir().unwrap();
    let audit = directory.path().join("audit.jsonl");
    let mut command = against(&mock);
    command.env("RUST_LOG", "trace").arg("--audit-log").arg(&audit);
    let server = Server::start(command);
    let code = "return (await ak.request('POST', '/core/groups/', { body: { name: 'SECRET-crew' } })).status";
    let planned = text(&server.call("execute_write", json!({ "code": code })).await);
    let arguments = json!({ "code": code, "confirm": planned["confirm"] });
    let answer = server.post(&call("execute_write", arguments)).send().await.unwrap();
    let request = answer.headers()["x-request-id"].to_str().unwrap().to_owned();
    assert_eq!(text(&result(answer).await)["result"], 201);
    let line =
        server.logged(|it| it["message"] == "call" && it["request"] == request.as_str()).await;
    let facts = (&line["tool"], &line["outcome"], &line["upstream"], &line["caller"]);
    assert_eq!(facts, (&json!("execute_write"), &json!("done"), &json!(1), &json!("local")));
    let written = server.written();
    for secret in ["SECRET-crew", mock.token.as_str()] {
        let line = written.lines().find(|it| it.contains(secret));
        assert!(line.is_none(), "{line:?}");
    }
    let record = std::fs::read_to_string(&audit).unwrap();
    assert!(!record.contains("SECRET-crew"), "{record}");
    let lines: Vec<Value> = record.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let events: Vec<_> = lines.iter().map(|it| it["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["sending", "sent"]);
    assert_eq!(
        (&lines[1]["outcome"], &lines[1]["path"]),
        (&json!("201"), &json!("/api/v3/core/groups/"))
    );
    assert!(lines[1]["operation"].as_str().unwrap().starts_with("POST "), "{}", lines[1]);
    assert!(lines[1]["plan"].as_str().is_some_and(|it| it.len() == 64), "{}", lines[1]);
    assert_eq!(lines[1]["request"], request.as_str());
}

#[cfg(unix)]
#[tokio::test]
async fn what_does_not_end_in_time_is_ended_with_an_answer() {
    let mock = authentik();
    let mut command = against(&mock);
    command.args(["--grace", "0.5"]);
    let mut server = Server::start(command);
    let slow = call("execute", json!({ "code": "await sleep(30000); return 'done'" }));
    let running = server.post(&slow).send();
    let ended = async {
        tokio::time::sleep(std::time::Duration::from_millis(700)).await;
        server.terminate();
    };
    let (answer, ()) = tokio::join!(running, ended);
    let answer = result(answer.unwrap()).await;
    assert_eq!(answer["isError"], true, "{answer}");
    let line = server.logged(|it| it["message"] == "call").await;
    assert_eq!(line["outcome"], "cancelled", "{line}");
    assert!(server.wait().success());
}

#[cfg(unix)]
#[tokio::test]
async fn when_told_to_end_it_finishes_what_is_in_progress_and_takes_nothing_new() {
    let mock = authentik();
    let mut server = Server::start(against(&mock));
    let slow = call("execute", json!({ "code": "await sleep(2000); return 'done'" }));
    let running = server.post(&slow).send();
    let ended = async {
        tokio::time::sleep(std::time::Duration::from_millis(700)).await;
        server.terminate();
    };
    let (answer, ()) = tokio::join!(running, ended);
    assert_eq!(text(&result(answer.unwrap()).await)["result"], "done");
    let refused = server.request(Method::GET, "/healthz").send().await;
    assert!(refused.is_err(), "{refused:?}");
    assert!(server.wait().success());
}
