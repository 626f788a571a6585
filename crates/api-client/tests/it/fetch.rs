//! Fetching documents.

use api_client::error::ErrorKind;
use api_client::transport::{Fetched, Validators};
use url::Url;

use crate::server::{Server, TOKEN, http, soon, transport};

#[tokio::test]
async fn a_document_comes_with_its_validators_and_is_asked_for_with_them() {
    let server = Server::start(vec![
        http(200, "etag: \"v1\"\nlast-modified: Fri, 06 Nov 2026 10:00:00 GMT\ncontent-type: application/json", "{}"),
        http(304, "", ""),
    ])
    .await;
    let transport = transport(server.url("/api"));
    let url = server.url("/schema/?format=json");
    let fetched = transport.fetch(&url, None, soon()).await.unwrap();
    let Fetched::Document { bytes, content_type, validators, url: found } = fetched else {
        panic!()
    };
    assert_eq!(
        (&bytes[..], content_type.as_deref(), found),
        (&b"{}"[..], Some("application/json"), url.clone())
    );
    let expected = Validators {
        etag: Some("\"v1\"".to_owned()),
        last_modified: Some("Fri, 06 Nov 2026 10:00:00 GMT".to_owned()),
    };
    assert_eq!(validators, expected);
    let again = transport.fetch(&url, Some(&validators), soon()).await.unwrap();
    assert!(matches!(again, Fetched::NotModified));
    let sent = server.requests().remove(1);
    assert!(
        sent.contains("if-none-match: \"v1\"") && sent.contains("if-modified-since: Fri"),
        "{sent}"
    );
    assert!(sent.contains(TOKEN), "the document lies on the API's own origin");
}

#[tokio::test]
async fn the_credential_stays_on_its_origin_across_redirects() {
    let api = Server::start(vec![http(200, "", "doc")]).await;
    let location = api.url("/doc");
    let other = Server::start(vec![http(302, "location: /moved", ""), http(200, "", "doc")]).await;
    let transport = transport(api.url("/api"));
    let Fetched::Document { url, .. } =
        transport.fetch(&other.url("/spec"), None, soon()).await.unwrap()
    else {
        panic!()
    };
    assert_eq!(url, other.url("/moved"));
    assert!(other.requests().iter().all(|it| !it.contains(TOKEN)));
    transport.fetch(&location, None, soon()).await.unwrap();
    assert!(api.requests()[0].contains(TOKEN));
    let known = Validators { etag: Some("\"v1\"".to_owned()), last_modified: None };
    transport.fetch(&other.url("/spec"), Some(&known), soon()).await.unwrap();
    assert!(other.requests()[2].contains("if-none-match: \"v1\""));
}

#[tokio::test]
async fn a_document_does_not_move_to_plain_http_elsewhere() {
    let inner = Server::start(vec![http(200, "", "metadata")]).await;
    let location = format!("location: {}", inner.url("/latest"));
    let server = Server::start(vec![http(302, &location, "")]).await;
    let error =
        transport(server.url("")).fetch(&server.url("/spec"), None, soon()).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Redirect { status: 302, .. }), "{error}");
    assert_eq!(inner.lines().len(), 0);
}

/// P56.
#[tokio::test]
async fn a_document_does_not_lead_into_an_inner_network() {
    let inner = Server::start(vec![http(200, "", "metadata")]).await;
    let port = inner.address.port();
    let addresses = [
        "https://169.254.169.254/latest/meta-data/".to_owned(),
        "https://[::ffff:10.0.0.1]/".to_owned(),
        format!("https://localhost:{port}/"),
        format!("https://[::1]:{port}/"),
    ];
    let replies = addresses.iter().map(|it| http(302, &format!("location: {it}"), "")).collect();
    let server = Server::start(replies).await;
    let transport = transport(server.url(""));
    for address in addresses {
        let error = transport.fetch(&server.url("/spec"), None, soon()).await.unwrap_err();
        let ErrorKind::Redirect { why, .. } = error.kind() else { panic!("{address}: {error:?}") };
        assert!(why.starts_with("it leads into an inner network"), "{address}: {why}");
    }
    assert_eq!(inner.lines().len(), 0);
}

/// P41.
#[tokio::test]
async fn plain_http_needs_a_plain_base_or_loopback() {
    let secure = transport(Url::parse("https://api.test/").unwrap());
    let plain = Url::parse("http://docs.invalid/spec").unwrap();
    let error = secure.fetch(&plain, None, soon()).await.unwrap_err();
    assert!(error.to_string().contains("over `https` only"), "{error}");
    let file = Url::parse("file:///etc/passwd").unwrap();
    assert!(matches!(
        secure.fetch(&file, None, soon()).await.unwrap_err().kind(),
        ErrorKind::Request { .. }
    ));
    let local = Server::start(vec![http(200, "", "x")]).await;
    assert!(secure.fetch(&local.url("/spec"), None, soon()).await.is_ok());
    let base = transport(Url::parse("http://api.invalid/").unwrap());
    assert_eq!(base.fetch(&plain, None, soon()).await.unwrap_err().kind(), &ErrorKind::Dns);
}

#[tokio::test]
async fn a_document_that_is_not_there_or_too_large_is_an_error() {
    let server = Server::start(vec![
        http(404, "", "no"),
        http(429, "retry-after: 9", ""),
        http(304, "", ""),
        crate::server::raw("HTTP/1.1 200 OK\r\ncontent-length: 70000000\r\n\r\n"),
    ])
    .await;
    let transport = transport(server.url(""));
    let nine = Some(std::time::Duration::from_secs(9));
    for expected in [
        ErrorKind::Status(404),
        ErrorKind::RateLimited { retry_after: nine },
        ErrorKind::Status(304),
        ErrorKind::TooLarge { limit: 64 * 1024 * 1024, size: Some(70_000_000) },
    ] {
        let error = transport.fetch(&server.url("/spec"), None, soon()).await.unwrap_err();
        assert_eq!(error.kind(), &expected);
    }
}
