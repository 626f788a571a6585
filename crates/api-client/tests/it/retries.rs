//! What is tried again, how often, and how soon.

use std::time::{Duration, Instant};

use api_client::error::{ErrorKind, Progress};
use api_client::transport::{Effect, Transport};
use tokio::net::TcpListener;

use crate::server::{Server, closed_port, get, http, options, post, raw, soon};

fn retrying(base: url::Url) -> Transport {
    let mut options = options(base);
    options.retries = true;
    Transport::new(options).unwrap()
}

#[tokio::test]
async fn a_read_is_repeated_after_429_503_and_a_broken_connection() {
    let replies = vec![http(429, "retry-after: 0", ""), raw(""), http(200, "", "ok")];
    let server = Server::start(replies).await;
    let response = retrying(server.url("")).send(&get("/x"), Effect::Read, soon()).await.unwrap();
    assert_eq!((response.status, server.lines().len()), (200, 3));
}

#[tokio::test]
async fn three_attempts_are_all() {
    let server = Server::start(vec![http(503, "", "busy")]).await;
    let response = retrying(server.url("")).send(&get("/x"), Effect::Read, soon()).await.unwrap();
    assert_eq!((response.status, server.lines().len()), (503, 3));
}

/// P72.
#[tokio::test]
async fn a_short_retry_after_is_waited_for() {
    let server = Server::start(vec![http(429, "retry-after: 1", ""), http(200, "", "")]).await;
    let start = Instant::now();
    retrying(server.url("")).send(&get("/x"), Effect::Read, soon()).await.unwrap();
    assert!(start.elapsed() >= Duration::from_secs(1));
}

#[tokio::test]
async fn a_long_wait_comes_back_at_once() {
    let server = Server::start(vec![http(429, "retry-after: 60", "")]).await;
    let transport = retrying(server.url(""));
    let start = Instant::now();
    let response = transport.send(&get("/x"), Effect::Read, soon()).await.unwrap();
    assert_eq!((response.status, server.lines().len()), (429, 1));
    assert_eq!(response.retry_after(), Some(Duration::from_secs(60)));
    assert!(start.elapsed() < Duration::from_secs(1));
}

#[tokio::test]
async fn a_wait_beyond_the_deadline_comes_back_at_once() {
    let server = Server::start(vec![http(503, "retry-after: 2", "")]).await;
    let deadline = Instant::now() + Duration::from_secs(1);
    let response = retrying(server.url("")).send(&get("/x"), Effect::Read, deadline).await.unwrap();
    assert_eq!((response.status, server.lines().len()), (503, 1));
}

#[tokio::test]
async fn other_statuses_and_switched_off_retries_are_final() {
    let server = Server::start(vec![http(500, "", ""), http(503, "retry-after: 0", "")]).await;
    let response = retrying(server.url("")).send(&get("/x"), Effect::Read, soon()).await.unwrap();
    assert_eq!((response.status, server.lines().len()), (500, 1));
    let off = Transport::new(options(server.url(""))).unwrap();
    let response = off.send(&get("/x"), Effect::Read, soon()).await.unwrap();
    assert_eq!((response.status, server.lines().len()), (503, 2));
}

/// P72.
#[tokio::test]
async fn a_write_is_repeated_only_if_nothing_of_it_was_sent() {
    let broken = Server::start(vec![raw("")]).await;
    let error =
        retrying(broken.url("")).send(&post("/x"), Effect::Write, soon()).await.unwrap_err();
    assert_eq!((error.progress(), broken.lines().len()), (Progress::Sent, 1));

    let port = closed_port().await;
    let late = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(60)).await;
        let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
        let (mut stream, _) = listener.accept().await.unwrap();
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        assert!(stream.read(&mut [0; 4096]).await.unwrap() > 0);
        let answer = b"HTTP/1.1 201 Created\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
        stream.write_all(answer).await.unwrap();
        tokio::time::sleep(Duration::from_millis(200)).await;
    });
    let base = url::Url::parse(&format!("http://127.0.0.1:{port}")).unwrap();
    let response = retrying(base).send(&post("/x"), Effect::Write, soon()).await.unwrap();
    assert_eq!(response.status, 201);
    late.await.unwrap();
}

#[tokio::test]
async fn a_closed_port_is_reported_after_the_attempts() {
    let base = url::Url::parse(&format!("http://127.0.0.1:{}", closed_port().await)).unwrap();
    let start = Instant::now();
    let error = retrying(base).send(&get("/x"), Effect::Read, soon()).await.unwrap_err();
    assert_eq!((error.kind(), error.progress()), (&ErrorKind::Refused, Progress::NotSent));
    assert!(start.elapsed() < Duration::from_secs(2));
}
