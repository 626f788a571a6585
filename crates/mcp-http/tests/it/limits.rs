//! How much, how often, how slowly.

use std::time::{Duration, Instant};

use reqwest::{Method, StatusCode};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::{
    support::{PATIENCE, Server, against, authentik, call, list, message},
    upstream::Upstream,
};

async fn raw(server: &Server, text: &[u8]) -> TcpStream {
    let address = server.base.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(text).await.unwrap();
    stream
}

async fn rest(mut stream: TcpStream) -> String {
    let mut bytes = Vec::new();
    // A reset is an end too.
    stream.read_to_end(&mut bytes).await.ok();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[tokio::test]
async fn one_caller_that_asks_too_often_waits_and_others_do_not() {
    let upstream = Upstream::start().await;
    let mut command = upstream.binary();
    command.args(["--rate", "5", "--forward-header", "X-Api-Key"]);
    let server = Server::start(command);
    let ask = |key: &'static str| server.post(&list()).header("x-api-key", key).send();
    for _ in 0..5 {
        assert_eq!(ask("SECRET-ann").await.unwrap().status(), StatusCode::OK);
    }
    let sixth = ask("SECRET-ann").await.unwrap();
    assert_eq!(sixth.status(), StatusCode::TOO_MANY_REQUESTS);
    let wait: u64 = sixth.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=12).contains(&wait), "{wait}");
    assert!(message(sixth).await["error"]["message"].as_str().unwrap().contains("5 requests"));
    assert_eq!(ask("SECRET-bob").await.unwrap().status(), StatusCode::OK);
}

#[tokio::test]
async fn strangers_are_counted_by_address() {
    let mock = authentik();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("callers");
    std::fs::write(&file, "").unwrap();
    let mut command = against(&mock);
    command.args(["--address-rate", "3", "--shared-credential", "--callers"]).arg(&file);
    let server = Server::start(command);
    let mut statuses = Vec::new();
    for number in 0..4 {
        let guess = server.post(&list()).header("authorization", format!("Bearer mcp_{number}"));
        statuses.push(guess.send().await.unwrap().status().as_u16());
    }
    assert_eq!(statuses, [401, 401, 401, 429]);
}

#[tokio::test]
async fn only_so_many_requests_of_one_caller_are_in_progress() {
    let mock = authentik();
    let mut command = against(&mock);
    command.args(["--caller-in-progress", "2"]);
    let server = Server::start(command);
    let code = "await ak.request('GET', '/core/groups/'); await sleep(3000); return 1";
    let slow = call("execute", json!({ "code": code }));
    let (first, second) = (server.post(&slow).send(), server.post(&slow).send());
    let third = async {
        // Both are in when both have asked.
        let asked = || mock.log().iter().filter(|it| it.path.ends_with("/core/groups/")).count();
        let deadline = Instant::now() + PATIENCE;
        while asked() < 2 && Instant::now() < deadline {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        server.post(&list()).send().await.unwrap()
    };
    let (first, second, third) = tokio::join!(first, second, third);
    assert_eq!(third.status(), StatusCode::TOO_MANY_REQUESTS);
    assert!(third.headers().contains_key("retry-after"));
    assert!(first.unwrap().status().is_success() && second.unwrap().status().is_success());
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_however_it_comes() {
    let mock = authentik();
    let mut command = against(&mock);
    command.args(["--max-body", "2000"]);
    let server = Server::start(command);
    let large = "x".repeat(3000);
    let announced = server.post(&json!({ "a": large })).send().await.unwrap();
    assert_eq!(announced.status(), StatusCode::PAYLOAD_TOO_LARGE);
    let chunked = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Transfer-Encoding: chunked\r\nConnection: close\r\n\r\nbb8\r\n{large}\r\n0\r\n\r\n"
    );
    let answer = rest(raw(&server, chunked.as_bytes()).await).await;
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    let head =
        format!("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(70_000));
    let answer = rest(raw(&server, head.as_bytes()).await).await;
    assert!(answer.starts_with("HTTP/1.1 431") || answer.is_empty(), "{answer}");
}

#[tokio::test]
async fn whoever_sends_slowly_is_not_waited_for() {
    let mock = authentik();
    let mut command = against(&mock);
    command.args(["--patience", "0.5"]);
    let server = Server::start(command);
    let started = Instant::now();
    let head = raw(&server, b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n").await;
    let body = raw(
        &server,
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
          Content-Length: 100\r\nConnection: close\r\n\r\n{",
    )
    .await;
    let (head, body) = tokio::join!(rest(head), rest(body));
    assert!(head.is_empty() || head.starts_with("HTTP/1.1 408"), "{head}");
    assert!(body.starts_with("HTTP/1.1 408"), "{body}");
    assert!(started.elapsed() < Duration::from_secs(20));
    let ok = server.request(Method::GET, "/healthz").send().await.unwrap();
    assert_eq!(ok.status(), StatusCode::OK);
}

#[tokio::test]
async fn what_is_no_http_is_refused_and_nobody_else_notices() {
    let mock = authentik();
    let server = Server::start(against(&mock));
    let post = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    let smuggled = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let cases = [
        "nonsense\r\n\r\n".to_owned(),
        "GET /mcp HTTP/1.1\r\nHost: localhost\r\nX Y: z\r\n\r\n".to_owned(),
        "GET /mcp HTTP/9.9\r\nHost: localhost\r\n\r\n".to_owned(),
        format!("{post}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{{}}"),
        format!("{post}Content-Length: -1\r\n\r\n"),
        format!("{post}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\nzz\r\n"),
        format!("{post}Transfer-Encoding: gzip\r\n\r\n{smuggled}"),
    ];
    for case in cases {
        let answer = rest(raw(&server, case.as_bytes()).await).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{case}: {answer}");
        assert!(!answer.contains("HTTP/1.1 200"), "{case}: {answer}");
    }
    assert_eq!(server.post(&list()).send().await.unwrap().status(), StatusCode::OK);
}

#[tokio::test]
async fn requests_one_behind_the_other_are_answered_in_order() {
    let mock = authentik();
    let server = Server::start(against(&mock));
    let body = list().to_string();
    let one = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let last = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let answer = rest(raw(&server, format!("{one}{one}{last}").as_bytes()).await).await;
    assert_eq!(answer.matches("HTTP/1.1 200").count(), 3, "{answer}");
    assert_eq!(answer.matches("\"tools\":").count(), 2);
}
