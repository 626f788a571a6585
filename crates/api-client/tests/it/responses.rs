//! Bodies of all kinds: chunked, compressed, too large, cut off, slow, or none.

use std::time::{Duration, Instant};

use api_client::Method;
use api_client::error::{ErrorKind, Progress};
use api_client::request::RequestBuilder;
use api_client::transport::{Effect, Transport};

use crate::server::{Reply, Server, get, http, options, post, raw, soon, transport};

const ZEROS: &[u8] = include_bytes!("fixtures/zeros.gz");

fn gzipped(body: &[u8]) -> Reply {
    let length = body.len();
    let head =
        format!("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {length}\r\n\r\n");
    Reply::Bytes([head.as_bytes(), body].concat())
}

#[tokio::test]
async fn chunked_bodies_are_put_together() {
    let chunked =
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    let server = Server::start(vec![raw(chunked)]).await;
    let response = transport(server.url("")).send(&get("/"), Effect::Read, soon()).await.unwrap();
    assert_eq!(&response.body[..], b"abcde");
}

#[tokio::test]
async fn compressed_bodies_are_unpacked() {
    let server = Server::start(vec![gzipped(ZEROS)]).await;
    let response = transport(server.url("")).send(&get("/"), Effect::Read, soon()).await.unwrap();
    assert_eq!(response.body.len(), 4_000_000);
    assert!(server.requests()[0].contains("gzip"));
}

#[tokio::test]
async fn a_body_above_the_limit_is_cut_off_with_its_size_if_known() {
    let endless = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let chunk = format!("{:x}\r\n{}\r\n", 8000, "x".repeat(8000)).repeat(20);
    let server = Server::start(vec![
        raw("HTTP/1.1 200 OK\r\ncontent-length: 5000000000\r\n\r\nabc"),
        Reply::Stall(format!("{endless}{chunk}").into_bytes()),
        gzipped(ZEROS),
        http(200, "", &"x".repeat(100_000)),
    ])
    .await;
    let mut options = options(server.url(""));
    options.max_response_bytes = 100_000;
    let transport = Transport::new(options).unwrap();
    for size in [Some(5_000_000_000), None, None] {
        let error = transport.send(&get("/big"), Effect::Read, soon()).await.unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::TooLarge { limit: 100_000, size });
        assert_eq!(error.progress(), Progress::Answered(200));
    }
    let response = transport.send(&get("/big"), Effect::Read, soon()).await.unwrap();
    assert_eq!(response.body.len(), 100_000);
}

#[tokio::test]
async fn head_204_and_304_have_no_body() {
    let server = Server::start(vec![
        raw("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 5000000000\r\n\r\n"),
        raw("HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n"),
        raw("HTTP/1.1 304 Not Modified\r\nconnection: close\r\ncontent-length: 10\r\n\r\n"),
    ])
    .await;
    let transport = transport(server.url(""));
    let head = RequestBuilder::new(Method::HEAD, "/").build().unwrap();
    for (request, status) in [(&head, 200), (&get("/"), 204), (&get("/"), 304)] {
        let response = transport.send(request, Effect::Read, soon()).await.unwrap();
        assert_eq!((response.status, response.body.len()), (status, 0));
    }
}

#[tokio::test]
async fn a_body_that_breaks_off_is_no_response() {
    let server = Server::start(vec![
        raw("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc"),
        raw("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab"),
        raw(""),
        gzipped(b"not gzip at all"),
    ])
    .await;
    let transport = transport(server.url(""));
    for progress in [Progress::Answered(200), Progress::Answered(200), Progress::Sent] {
        let error = transport.send(&post("/x"), Effect::Write, soon()).await.unwrap_err();
        assert_eq!((error.kind(), error.progress()), (&ErrorKind::Incomplete, progress));
        assert_eq!(error.is_outcome_unknown(), progress == Progress::Sent);
    }
    let error = transport.send(&get("/x"), Effect::Read, soon()).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Decode { .. }), "{error:?}");
}

#[tokio::test]
async fn a_slow_server_is_given_up_at_the_deadline() {
    let server = Server::start(vec![
        Reply::Stall(Vec::new()),
        Reply::Stall(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc".to_vec()),
    ])
    .await;
    let transport = transport(server.url(""));
    for progress in [Progress::Sent, Progress::Answered(200)] {
        let start = Instant::now();
        let deadline = start + Duration::from_millis(200);
        let error = transport.send(&post("/x"), Effect::Write, deadline).await.unwrap_err();
        assert_eq!((error.kind(), error.progress()), (&ErrorKind::Timeout, progress));
        assert!(start.elapsed() < Duration::from_secs(2));
    }
}

#[tokio::test]
async fn dropping_the_future_closes_the_connection() {
    let server = Server::start(vec![Reply::Stall(Vec::new())]).await;
    let transport = transport(server.url(""));
    let request = get("/x");
    let sending = transport.send(&request, Effect::Read, soon());
    assert!(tokio::time::timeout(Duration::from_millis(300), sending).await.is_err());
    for _ in 0..100 {
        if server.requests().iter().any(|it| it.contains("closed by the client")) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the connection stayed open: {:?}", server.requests());
}
