//! The library over HTTP.

use std::io;

use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};
use test_client::{Client, Error, Options, Protocol};
use tokio::net::TcpListener;

use crate::protocol::answer;

#[tokio::test]
async fn an_http_endpoint_is_called_with_the_given_headers() {
    let url = serve().await.unwrap();
    let client = Client::http(&url, &[("authorization", "Bearer sesame")]).await.unwrap();
    assert_eq!((client.server().name.as_str(), client.list().await.unwrap().len()), ("fake", 8));
    let sum = client.call("add", json!({ "a": 20, "b": 22 })).await.unwrap();
    assert_eq!(sum.structured, Some(json!({ "sum": 42 })));
    client.close().await.unwrap();
}

#[tokio::test]
async fn the_legacy_era_works_over_http_without_a_session() {
    let url = serve().await.unwrap();
    let options = Options::default().protocol(Protocol::Legacy);
    let client = options.http(&url, &[("authorization", "Bearer sesame")]).await.unwrap();
    assert_eq!(client.server().protocol, "2025-11-25");
    assert_eq!(client.call("fail", json!({})).await.unwrap().text, "it did not work");
}

#[tokio::test]
async fn a_missing_token_is_said_so() {
    let url = serve().await.unwrap();
    let error = Client::http(&url, &[]).await.unwrap_err();
    let Error::Connection(message) = error else { panic!("{error:?}") };
    assert!(
        message.ends_with("it asks for authorization (Bearer realm=\"t\"); name a token"),
        "{message}"
    );
}

#[tokio::test]
async fn headers_and_addresses_that_cannot_be_sent_are_usage_errors() {
    for (url, name, value, message) in [
        ("http://127.0.0.1:9/", "bad name", "x", "`bad name` is not a header name"),
        ("http://127.0.0.1:9/", "x-key", "sec\nret", "the value of header `x-key` cannot be sent"),
        ("nowhere", "x-key", "secret", "`nowhere`: relative URL without a base"),
    ] {
        let error = Client::http(url, &[(name, value)]).await.unwrap_err();
        assert!(matches!(&error, Error::Usage(said) if said == message), "{error:?}");
    }
}

async fn serve() -> io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    let router = Router::new().route("/mcp", post(endpoint));
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(url)
}

async fn endpoint(headers: HeaderMap, Json(message): Json<Value>) -> Response {
    if headers.get(header::AUTHORIZATION).is_none_or(|it| it != "Bearer sesame") {
        let challenge = [(header::WWW_AUTHENTICATE, "Bearer realm=\"t\"")];
        return (StatusCode::UNAUTHORIZED, challenge).into_response();
    }
    match answer(&message) {
        Some(reply) => Json(reply).into_response(),
        None => StatusCode::ACCEPTED.into_response(),
    }
}
