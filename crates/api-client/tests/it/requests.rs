//! What goes over the wire: address, headers, credential, body.

use api_client::Method;
use api_client::auth::{Credential, SecretSource};
use api_client::request::RequestBuilder;
use api_client::secret::Secret;
use api_client::transport::{Effect, Transport, TransportOptions};
use serde_json::json;

use crate::server::{Server, TOKEN, get, http, options, post, soon, transport};

#[tokio::test]
async fn a_request_carries_the_credential_and_what_was_built() {
    let server = Server::start(vec![http(200, "x-a: 1\nset-cookie: s=1", "{\"ok\":true}")]).await;
    let transport = transport(server.url("/api/v3/"));
    let request = RequestBuilder::new(Method::POST, "/users/{id}/")
        .parameter(
            &api_client::request::Parameter::new("id", api_client::request::Location::Path),
            &json!("a/b c"),
        )
        .query("q", &json!(["x y", "z"]))
        .header("X-Mine", "1")
        .json_body("application/merge-patch+json", "{\"n\":12345678901234567890123}".to_owned())
        .build()
        .unwrap();
    let response = transport.send(&request, Effect::Write, soon()).await.unwrap();
    assert_eq!((response.status, &response.body[..]), (200, &b"{\"ok\":true}"[..]));
    assert_eq!(response.header("x-a"), Some("1"));
    assert_eq!(response.header("set-cookie"), None);

    let sent = server.requests().remove(0);
    assert!(sent.starts_with("POST /api/v3/users/a%2Fb%20c/?q=x%20y&q=z HTTP/1.1\r\n"), "{sent}");
    for line in [
        format!("authorization: Bearer {TOKEN}"),
        "x-mine: 1".to_owned(),
        "content-type: application/merge-patch+json".to_owned(),
        "content-length: 29".to_owned(),
    ] {
        assert!(sent.contains(&format!("\r\n{line}\r\n")), "{line} in {sent}");
    }
    assert!(sent.ends_with("\r\n\r\n{\"n\":12345678901234567890123}"), "{sent}");
}

#[tokio::test]
async fn base_and_path_are_joined_without_loss_or_doubling() {
    let server = Server::start(vec![http(200, "", "")]).await;
    for (base, path, expected) in [
        ("", "/a", "/a"),
        ("/", "/a/", "/a/"),
        ("/api", "/a", "/api/a"),
        ("/api/", "/a", "/api/a"),
        ("/api/0?v=1#frag", "/a?b=2", "/api/0/a?v=1&b=2"),
        ("/api", "/", "/api/"),
    ] {
        let transport = transport(server.url(base));
        transport.send(&get(path), Effect::Read, soon()).await.unwrap();
        assert_eq!(server.lines().last().unwrap(), &format!("GET {expected}"), "{base} {path}");
    }
}

#[tokio::test]
async fn a_path_that_would_normalise_into_another_is_not_sent() {
    let server = Server::start(vec![http(200, "", "")]).await;
    let mut request = get("/a");
    request.path = "/a/../admin".to_owned();
    let error =
        transport(server.url("/api")).send(&request, Effect::Read, soon()).await.unwrap_err();
    assert!(error.to_string().contains("name another one"), "{error}");
    assert_eq!(server.lines(), Vec::<String>::new());
}

#[tokio::test]
async fn a_request_cannot_replace_the_credential() {
    let server = Server::start(vec![http(200, "", "")]).await;
    let request = RequestBuilder::new(Method::GET, "/")
        .header("Authorization", "Bearer mine")
        .header("X-Gate", "mine")
        .build()
        .unwrap();
    let mut options = options(server.url(""));
    options.headers = vec![("X-Gate".to_owned(), Secret::new("operator"))];
    let transport = Transport::new(options).unwrap();
    transport.send(&request, Effect::Read, soon()).await.unwrap();
    let sent = server.requests().remove(0);
    assert!(sent.contains(&format!("authorization: Bearer {TOKEN}")), "{sent}");
    assert!(sent.contains("x-gate: operator") && !sent.contains("mine"), "{sent}");
}

#[tokio::test]
async fn callers_and_bases_can_differ_on_one_transport() {
    let (one, two) = (
        Server::start(vec![http(200, "", "")]).await,
        Server::start(vec![http(200, "", "")]).await,
    );
    let first = transport(one.url("/a"));
    let second = first.with_base(two.url("/b")).unwrap();
    let source = SecretSource::literal("X", "other-token").unwrap();
    let second = second.with_credential(Credential::Bearer(source)).unwrap();
    first.send(&get("/x"), Effect::Read, soon()).await.unwrap();
    second.send(&get("/x"), Effect::Read, soon()).await.unwrap();
    assert!(one.requests()[0].contains(TOKEN) && one.lines() == ["GET /a/x"]);
    assert!(two.requests()[0].contains("Bearer other-token") && two.lines() == ["GET /b/x"]);
    assert_eq!(second.mask("other-token SECRET-abc123XYZ"), "[secret] SECRET-abc123XYZ");
}

#[tokio::test]
async fn a_query_key_is_sent_and_masked() {
    let server = Server::start(vec![http(200, "", "")]).await;
    let source = SecretSource::literal("KEY", "a key/+=").unwrap();
    let mut options = TransportOptions::new(server.url("/api"));
    options.credential = Credential::Query { name: "key".to_owned(), secret: source };
    let transport = Transport::new(options).unwrap();
    transport.send(&get("/x?a=1"), Effect::Read, soon()).await.unwrap();
    assert_eq!(server.lines(), ["GET /api/x?a=1&key=a+key%2F%2B%3D"]);
    assert_eq!(
        transport.mask("next: /api/x?key=a+key%2F%2B%3D&b=2"),
        "next: /api/x?key=[secret]&b=2"
    );
}

#[tokio::test]
async fn an_empty_post_has_a_length() {
    let server = Server::start(vec![http(204, "", "")]).await;
    let request = RequestBuilder::new(Method::POST, "/run").build().unwrap();
    let response = transport(server.url("")).send(&request, Effect::Write, soon()).await.unwrap();
    assert_eq!((response.status, response.body.len()), (204, 0));
    assert!(server.requests()[0].contains("content-length: 0"), "{:?}", server.requests());
}

#[tokio::test]
async fn settings_that_cannot_work_are_found_at_once() {
    for (text, word) in [
        ("ftp://h/", "`https://`"),
        ("https://user:hunter22@h/", "user name or password"),
        ("data:text/plain,x", "`https://`"),
    ] {
        let error = Transport::new(TransportOptions::new(base(text))).unwrap_err().to_string();
        assert!(error.contains(word) && !error.contains("hunter22"), "{error}");
    }
    let mut options = TransportOptions::new(base("https://h/"));
    options.headers = vec![("X-Gate".to_owned(), Secret::new("hunter22\r\nX: y"))];
    let error = Transport::new(options).unwrap_err().to_string();
    assert!(error.contains("`X-Gate`") && !error.contains("hunter22"), "{error}");
    let mut options = TransportOptions::new(base("https://h/"));
    options.tls.extra_ca_pem = vec!["no certificate".to_owned()];
    assert!(Transport::new(options).unwrap_err().to_string().contains("holds no certificate"));
    let mut options = TransportOptions::new(base("https://h/"));
    options.proxy = Some(api_client::transport::ProxyOptions {
        url: Secret::new("hunter22"),
        no_proxy: String::new(),
    });
    let error = Transport::new(options).unwrap_err().to_string();
    assert!(error.contains("proxy") && !error.contains("hunter22"), "{error}");
}

#[test]
fn a_request_in_flight_can_move_between_threads() {
    fn movable(_: &impl Send) {}
    let transport = Transport::new(TransportOptions::new(base("https://h/"))).unwrap();
    movable(&transport.send(&get("/x"), Effect::Read, soon()));
    movable(&transport.fetch(&base("https://h/"), None, soon()));
}

fn base(text: &str) -> url::Url {
    url::Url::parse(text).unwrap()
}

#[tokio::test]
async fn a_write_is_sent_once() {
    let server = Server::start(vec![http(503, "retry-after: 0", "")]).await;
    let mut options = options(server.url(""));
    options.retries = true;
    let transport = Transport::new(options).unwrap();
    let response = transport.send(&post("/x"), Effect::Write, soon()).await.unwrap();
    assert_eq!((response.status, server.lines().len()), (503, 1));
}
