//! Where redirects lead, with what, and where they do not.

use api_client::Method;
use api_client::error::ErrorKind;
use api_client::request::RequestBuilder;
use api_client::transport::{Effect, Transport};

use crate::server::{Server, TOKEN, get, http, options, post, soon, transport};

fn to(status: u16, location: &str) -> crate::server::Reply {
    http(status, &format!("location: {location}"), "")
}

fn refusal(error: &api_client::error::Error) -> (u16, String, String) {
    match error.kind() {
        ErrorKind::Redirect { status, target, why } => (*status, target.clone(), why.clone()),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_read_follows_within_the_api_if_the_policy_agrees() {
    let server = Server::start(vec![to(302, "/api/b/?q=1"), http(200, "", "done")]).await;
    let transport = transport(server.url("/api"));
    let asked = std::sync::Mutex::new(Vec::new());
    let policy = |method: &Method, path: &str, query: &str| {
        asked.lock().unwrap().push(format!("{method} {path} {query}"));
        Ok(())
    };
    let response = transport.send_checked(&get("/a"), Effect::Read, soon(), &policy).await.unwrap();
    assert_eq!(&response.body[..], b"done");
    assert_eq!(*asked.lock().unwrap(), ["GET /b/ q=1"]);
    assert_eq!(server.lines(), ["GET /api/a", "GET /api/b/?q=1"]);
    assert!(server.requests().iter().all(|it| it.contains(TOKEN)));
}

#[tokio::test]
async fn the_policy_and_the_base_path_bound_a_redirect() {
    let server =
        Server::start(vec![to(301, "/api/secret"), to(301, "/admin"), to(301, "/api/../admin")])
            .await;
    let transport = transport(server.url("/api"));
    let never = |_: &Method, _: &str, _: &str| Err("not for this caller".to_owned());
    for why in
        ["not for this caller", "it leaves the path of the API", "it leaves the path of the API"]
    {
        let error =
            transport.send_checked(&get("/a"), Effect::Read, soon(), &never).await.unwrap_err();
        let same = "another path of the same server".to_owned();
        assert_eq!(refusal(&error), (301, same, why.to_owned()));
    }
    assert_eq!(server.lines().len(), 3);
}

#[tokio::test]
async fn a_write_follows_nothing() {
    let other = Server::start(vec![http(200, "", "")]).await;
    let away = other.url("/x");
    let replies = vec![
        to(307, "/a/"),
        to(308, "/b"),
        to(301, "/a/"),
        to(303, "/done"),
        to(307, away.as_str()),
    ];
    let server = Server::start(replies).await;
    let mut options = options(server.url(""));
    options.allowed_origins = vec![away.origin()];
    let transport = Transport::new(options).unwrap();
    for (status, unknown) in [(307, false), (308, false), (301, true), (303, true), (307, false)] {
        let error = transport.send(&post("/a"), Effect::Write, soon()).await.unwrap_err();
        let (refused, _, why) = refusal(&error);
        assert_eq!((refused, error.is_outcome_unknown()), (status, unknown));
        assert_eq!(why, "a write never follows one");
    }
    assert_eq!((server.lines().len(), other.lines().len()), (5, 0));
    let error = transport.send(&post("/a"), Effect::Write, soon()).await.unwrap_err();
    assert_eq!(refusal(&error).1, format!("`{}`", away.origin().ascii_serialization()));
}

#[tokio::test]
async fn a_closing_slash_is_named() {
    let server = Server::start(vec![to(301, "/a/"), to(301, "/a")]).await;
    let transport = transport(server.url(""));
    let error = transport.send(&post("/a"), Effect::Write, soon()).await.unwrap_err();
    assert_eq!(refusal(&error).1, "the same path with a closing `/`");
    let error = transport.send(&post("/a/"), Effect::Write, soon()).await.unwrap_err();
    assert_eq!(refusal(&error).1, "the same path without its closing `/`");
}

/// P56.
#[tokio::test]
async fn another_origin_gets_a_read_only_if_allowed_and_never_the_credential() {
    let other = Server::start(vec![http(200, "", "elsewhere")]).await;
    let location = other.url("/file?signature=1");
    let server = Server::start(vec![to(302, location.as_str())]).await;
    let request = RequestBuilder::new(Method::GET, "/a")
        .header("X-Mine", "private")
        .header("Accept", "text/csv")
        .build()
        .unwrap();

    let closed = transport(server.url(""));
    let error = closed.send(&request, Effect::Read, soon()).await.unwrap_err();
    assert_eq!(refusal(&error).2, "the operator has not allowed that origin");
    assert_eq!(other.lines().len(), 0);
    assert!(!format!("{error} {error:?}").contains("signature"));

    let mut options = options(server.url(""));
    options.allowed_origins = vec![location.origin()];
    let open = Transport::new(options).unwrap();
    let response = open.send(&request, Effect::Read, soon()).await.unwrap();
    assert_eq!(&response.body[..], b"elsewhere");
    let sent = other.requests().remove(0);
    assert!(sent.starts_with("GET /file?signature=1 "), "{sent}");
    assert!(sent.contains("accept: text/csv"), "{sent}");
    assert!(!sent.contains(TOKEN) && !sent.contains("private"), "{sent}");

    let search = post("/search");
    let error = open.send(&search, Effect::Read, soon()).await;
    assert!(error.is_ok(), "302 turns a reading POST into GET");
    let sent = other.requests().remove(1);
    assert!(sent.starts_with("GET ") && !sent.contains("content-type"), "{sent}");
}

#[tokio::test]
async fn a_reading_post_keeps_its_body_on_307_within_the_api() {
    let server = Server::start(vec![to(307, "/b"), http(200, "", "")]).await;
    transport(server.url("")).send(&post("/a"), Effect::Read, soon()).await.unwrap();
    assert!(server.requests()[1].starts_with("POST /b "));
    assert!(server.requests()[1].ends_with("{\"a\":1}"));
}

#[tokio::test]
async fn a_redirect_that_carries_the_credential_away_is_refused() {
    let other = Server::start(vec![http(200, "", "")]).await;
    let server = Server::start(vec![to(302, other.url(&format!("/?t={TOKEN}")).as_str())]).await;
    let mut options = options(server.url(""));
    options.allowed_origins = vec![other.url("/").origin()];
    let transport = Transport::new(options).unwrap();
    let error = transport.send(&get("/a"), Effect::Read, soon()).await.unwrap_err();
    assert_eq!(refusal(&error).2, "its address holds the credential");
    assert!(!format!("{error} {error:?}").contains("abc123"));
}

#[tokio::test]
async fn a_host_name_that_leads_inside_is_not_reached_by_redirect() {
    // `ip6-localhost` and its like stand for loopback in most host files; where there is no such
    // name the look-up fails in the same way.
    let server = Server::start(vec![to(302, "http://ip6-localhost:9/x")]).await;
    let mut options = options(server.url(""));
    options.allowed_origins = vec![url::Url::parse("http://ip6-localhost:9").unwrap().origin()];
    let transport = Transport::new(options).unwrap();
    let error = transport.send(&get("/a"), Effect::Read, soon()).await.unwrap_err();
    let no_such_name = error.kind() == &ErrorKind::Dns;
    assert!(no_such_name || error.kind() == &ErrorKind::Inner, "{error:?}");
}

#[tokio::test]
async fn metadata_addresses_are_not_asked_because_a_server_says_so() {
    let addresses = [
        "http://169.254.169.254/latest/meta-data/",
        "http://[fd00:ec2::254]/latest/meta-data/",
        "http://metadata.google.internal/computeMetadata/v1/",
        "http://10.0.0.1/",
        "http://localhost/",
        "http://2130706433/",
    ];
    let server = Server::start(addresses.iter().map(|it| to(302, it)).collect()).await;
    let transport = transport(server.url(""));
    for _ in addresses {
        let error = transport.send(&get("/a"), Effect::Read, soon()).await.unwrap_err();
        assert_eq!(refusal(&error).2, "the operator has not allowed that origin");
    }
}

#[tokio::test]
async fn circles_end_after_five() {
    let server = Server::start(vec![to(302, "/a")]).await;
    let error = transport(server.url("")).send(&get("/a"), Effect::Read, soon()).await.unwrap_err();
    assert_eq!(refusal(&error).2, "there were 5 before it");
    assert_eq!(server.lines().len(), 6);
}

#[tokio::test]
async fn a_redirect_without_an_address_is_a_response() {
    let server = Server::start(vec![http(302, "", "body"), to(302, "http://[broken")]).await;
    let transport = transport(server.url(""));
    let response = transport.send(&get("/a"), Effect::Read, soon()).await.unwrap();
    assert_eq!((response.status, &response.body[..]), (302, &b"body"[..]));
    let error = transport.send(&get("/a"), Effect::Read, soon()).await.unwrap_err();
    assert_eq!(refusal(&error).2, "it cannot be read");
}
