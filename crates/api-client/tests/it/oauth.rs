//! Access tokens of OAuth clients: fetched once, replaced in time, sent nowhere else, never shown.

use std::time::Duration;

use api_client::auth::{Credential, SecretSource};
use api_client::error::{Error, ErrorKind};
use api_client::oauth::{ClientCredentials, Grant};
use api_client::transport::{Effect, Transport, TransportOptions};
use futures::future::join_all;
use url::Url;

use crate::server::{Reply, Server, closed_port, get, http, options, post, soon};

const CLIENT_SECRET: &str = "CLIENT/secret+77=x";

fn granted(token: &str, more: &str) -> Reply {
    http(200, "", &format!(r#"{{"access_token":"{token}","token_type":"Bearer"{more}}}"#))
}

/// A transport to `api` whose access tokens come from `token_url`.
fn transport(api: &Server, token_url: Url, retries: bool) -> Transport {
    let grant = Grant {
        token_url,
        client_id: "agent 7".to_owned(),
        client_secret: SecretSource::literal("CLIENT_SECRET", CLIENT_SECRET).unwrap(),
        scope: Some("read write".to_owned()),
    };
    let mut network = TransportOptions::new(api.url(""));
    network.retries = retries;
    network.timeout = Duration::from_secs(5);
    let client = ClientCredentials::new(network, grant).unwrap();
    let mut options = options(api.url("/api"));
    options.retries = retries;
    options.credential = Credential::Bearer(client.into_source("--token-url"));
    Transport::new(options).unwrap()
}

fn bearers(api: &Server) -> Vec<String> {
    let bearer = |text: &String| {
        let line = text.lines().find_map(|it| it.strip_prefix("authorization: Bearer "));
        line.unwrap_or_default().to_owned()
    };
    api.requests().iter().map(bearer).collect()
}

#[tokio::test]
async fn a_token_is_fetched_once_for_all_calls_that_wait() {
    let endpoint = Server::start(vec![granted("access-token-1", ",\"expires_in\":3600")]).await;
    let api = Server::start(vec![http(200, "", "ok")]).await;
    let transport = transport(&api, endpoint.url("/o/token/?tenant=a"), false);
    let request = get("/users");
    let calls = (0..10).map(|_| transport.send(&request, Effect::Read, soon()));
    assert!(join_all(calls).await.iter().all(Result::is_ok));
    assert_eq!(bearers(&api), ["access-token-1"; 10]);

    assert_eq!(endpoint.lines(), ["POST /o/token/?tenant=a"]);
    let asked = endpoint.requests().remove(0);
    // `agent+7:CLIENT%2Fsecret%2B77%3Dx`, each part as a form writes it.
    assert!(
        asked.contains("authorization: Basic YWdlbnQrNzpDTElFTlQlMkZzZWNyZXQlMkI3NyUzRHg="),
        "{asked}"
    );
    assert!(asked.ends_with("grant_type=client_credentials&scope=read+write"), "{asked}");
}

#[tokio::test]
async fn a_token_that_is_about_to_expire_is_replaced() {
    let endpoint = Server::start(vec![
        granted("access-token-1", ",\"expires_in\":\"0\""),
        granted("access-token-2", ",\"expires_in\":3600"),
    ])
    .await;
    let api = Server::start(vec![http(200, "", "ok")]).await;
    let transport = transport(&api, endpoint.url("/token"), false);
    for _ in 0..3 {
        transport.send(&get("/x"), Effect::Read, soon()).await.unwrap();
    }
    assert_eq!(bearers(&api), ["access-token-1", "access-token-2", "access-token-2"]);
}

#[tokio::test]
async fn a_read_that_is_turned_away_is_sent_once_more_with_another_token() {
    let tokens = vec![granted("access-token-1", ""), granted("access-token-2", "")];
    let endpoint = Server::start(tokens).await;
    let api =
        Server::start(vec![http(401, "", "no"), http(200, "", "ok"), http(401, "", "no")]).await;
    let transport = transport(&api, endpoint.url("/token"), true);
    let response = transport.send(&get("/x"), Effect::Read, soon()).await.unwrap();
    assert_eq!(response.status, 200);
    assert_eq!(bearers(&api), ["access-token-1", "access-token-2"]);
    // From now on every token is turned away: no flood of tokens, no second attempt.
    let response = transport.send(&get("/x"), Effect::Read, soon()).await.unwrap();
    assert_eq!((response.status, endpoint.lines().len(), api.lines().len()), (401, 2, 3));
}

#[tokio::test]
async fn a_write_that_is_turned_away_is_not_repeated_but_the_next_call_has_another_token() {
    let tokens = vec![granted("access-token-1", ""), granted("access-token-2", "")];
    let endpoint = Server::start(tokens).await;
    let api = Server::start(vec![http(401, "", "no"), http(200, "", "ok")]).await;
    let transport = transport(&api, endpoint.url("/token"), true);
    let response = transport.send(&post("/x"), Effect::Write, soon()).await.unwrap();
    assert_eq!((response.status, api.lines().len()), (401, 1));
    let response = transport.send(&post("/x"), Effect::Write, soon()).await.unwrap();
    assert_eq!(response.status, 200);
    assert_eq!(bearers(&api), ["access-token-1", "access-token-2"]);
}

#[tokio::test]
async fn a_server_that_takes_the_secret_in_the_body_alone_gets_it_there() {
    let endpoint = Server::start(vec![
        http(401, "", r#"{"error":"invalid_client"}"#),
        granted("access-token-1", ",\"expires_in\":0"),
    ])
    .await;
    let api = Server::start(vec![http(200, "", "ok")]).await;
    let transport = transport(&api, endpoint.url("/token"), false);
    transport.send(&get("/x"), Effect::Read, soon()).await.unwrap();
    transport.send(&get("/x"), Effect::Read, soon()).await.unwrap();
    let asked = endpoint.requests();
    let in_body = "&client_id=agent+7&client_secret=CLIENT%2Fsecret%2B77%3Dx";
    let way = |text: &String| (text.contains("authorization: "), text.ends_with(in_body));
    assert_eq!(
        asked.iter().map(way).collect::<Vec<_>>(),
        [(true, false), (false, true), (false, true)]
    );
}

async fn failure(transport: &Transport) -> Error {
    transport.send(&get("/x"), Effect::Read, soon()).await.unwrap_err()
}

/// P62.
#[tokio::test]
async fn no_secret_shows_in_what_goes_wrong_and_both_are_masked() {
    let echo = format!(r#"{{"error":"invalid_client","error_description":"not {CLIENT_SECRET}"}}"#);
    let elsewhere = Server::start(vec![granted("stolen-token", "")]).await;
    let endpoint = Server::start(vec![
        http(400, "", &echo),
        http(400, "", &echo),
        http(307, &format!("location: {}", elsewhere.url("/token")), ""),
        http(200, "", "<html>"),
        http(200, "", r#"{"access_token":"access-token-1","token_type":"mac"}"#),
    ])
    .await;
    let api = Server::start(vec![http(200, "", "ok")]).await;
    let expected = [
        "answered 400 invalid_client not [secret]",
        "only GET and HEAD follow to another origin",
        "holds no `access_token`",
        "another kind than bearer",
    ];
    for expected in expected {
        let transport = transport(&api, endpoint.url("/token"), false);
        let error = failure(&transport).await;
        assert!(matches!(error.kind(), ErrorKind::Credential(_)), "{error:?}");
        let text = format!("{error} {error:?} {transport:?}");
        assert!(text.contains(expected), "{text}");
        for hidden in ["CLIENT/", "secret+77", "access-token-1", "stolen"] {
            assert!(!text.contains(hidden), "{text}");
        }
    }
    assert_eq!((api.lines().len(), elsewhere.lines().len()), (0, 0));

    let working = Server::start(vec![granted("access-token-1", "")]).await;
    let transport = transport(&api, working.url("/token"), false);
    transport.send(&get("/x"), Effect::Read, soon()).await.unwrap();
    let echoed =
        "Bearer access-token-1, YWNjZXNzLXRva2VuLTE=, CLIENT%2Fsecret%2B77%3Dx, CLIENT/secret+77=x";
    let masked = transport.mask(echoed).into_owned();
    assert!(
        !masked.contains("token") && !masked.contains("YWNj") && !masked.contains("77"),
        "{masked}"
    );
    assert_eq!(masked.matches("[secret]").count(), 4, "{masked}");
}

#[tokio::test]
async fn an_endpoint_that_cannot_be_reached_is_named_and_nothing_is_sent_to_the_api() {
    let api = Server::start(vec![http(200, "", "ok")]).await;
    let closed = closed_port().await;
    let url = Url::parse(&format!("http://127.0.0.1:{closed}/token")).unwrap();
    let error = failure(&transport(&api, url, false)).await.to_string();
    assert!(error.contains(&format!("connection refused by `127.0.0.1:{closed}`")), "{error}");
    let endpoint = Server::start(vec![Reply::Stall(Vec::new())]).await;
    let transport = transport(&api, endpoint.url("/token"), false);
    let deadline = std::time::Instant::now() + Duration::from_millis(200);
    let error = transport.send(&get("/x"), Effect::Read, deadline).await.unwrap_err();
    assert!(error.to_string().contains("not there in time"), "{error}");
    assert_eq!(api.lines().len(), 0);
}
