//! Sessions of the older revisions: each belongs to whoever began it.

use std::time::Instant;

use reqwest::{Method, StatusCode};

use crate::{
    support::{PATIENCE, Server, initialize, list, result},
    upstream::Upstream,
};

async fn begin(server: &Server, key: &str) -> String {
    let answer = server.post(&initialize()).header("x-api-key", key).send().await.unwrap();
    let id = answer.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    result(answer).await;
    id
}

#[tokio::test]
async fn for_everybody_else_there_is_no_such_session() {
    let upstream = Upstream::start().await;
    let mut command = upstream.binary();
    command.args([
        "--sessions",
        "--forward-header",
        "X-Api-Key",
        "--public-url",
        "http://mcp.test",
    ]);
    let server = Server::start(command);
    let id = begin(&server, "SECRET-ann").await;
    let ask = |key: &'static str, id: String| {
        server.post(&list()).header("x-api-key", key).header("mcp-session-id", id).send()
    };
    assert_eq!(ask("SECRET-ann", id.clone()).await.unwrap().status(), StatusCode::OK);
    let others = ask("SECRET-bob", id.clone()).await.unwrap();
    assert_eq!(others.status(), StatusCode::NOT_FOUND);
    let dead = ask("SECRET-ann", "dead".to_owned()).await.unwrap();
    assert_eq!(dead.status(), StatusCode::NOT_FOUND);
    let end = |key: &'static str| {
        let request = server.request(Method::DELETE, "/mcp").header("x-api-key", key);
        request.header("mcp-session-id", id.clone()).send()
    };
    assert_eq!(end("SECRET-bob").await.unwrap().status(), StatusCode::NOT_FOUND);
    assert!(end("SECRET-ann").await.unwrap().status().is_success());
    assert_eq!(ask("SECRET-ann", id.clone()).await.unwrap().status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_stream_that_is_dropped_does_not_end_its_session() {
    let upstream = Upstream::start().await;
    let mut command = upstream.binary();
    command.args(["--sessions", "--caller-in-progress", "1"]);
    let server = Server::start(command);
    let id = begin(&server, "x").await;
    let of_session = |request: reqwest::RequestBuilder| request.header("mcp-session-id", &id);
    let stream = of_session(server.request(Method::GET, "/mcp")).header("accept", "*/*");
    let stream = stream.send().await.unwrap();
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    let served = async || {
        let deadline = Instant::now() + PATIENCE;
        // A request counts until the server is done with its answer.
        while of_session(server.post(&list())).send().await.unwrap().status() != StatusCode::OK {
            assert!(Instant::now() < deadline, "a stream is no request in progress");
        }
    };
    served().await;
    drop(stream);
    served().await;
}

#[tokio::test]
async fn there_are_only_so_many_sessions() {
    let upstream = Upstream::start().await;
    let mut command = upstream.binary();
    command.args(["--sessions", "--max-sessions", "2"]);
    let server = Server::start(command);
    begin(&server, "x").await;
    begin(&server, "x").await;
    let third = server.post(&initialize()).send().await.unwrap();
    assert_eq!(third.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(third.headers().contains_key("retry-after"));
    let without = server.post(&list()).header("mcp-protocol-version", "2025-11-25");
    assert!(without.send().await.unwrap().status().is_client_error(), "a session is needed");
}
