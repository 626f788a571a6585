//! What the user is told when there is no response, and what never shows.

use std::error::Error as _;
use std::time::Duration;

use api_client::auth::{Credential, SecretSource};
use api_client::error::{Error, ErrorKind};
use api_client::secret::Secret;
use api_client::transport::{Effect, ProxyOptions, Transport};
use url::Url;

use crate::server::{Reply, Server, TOKEN, closed_port, get, http, options, raw, soon};

async fn failure(base: &str) -> Error {
    let transport = Transport::new(options(Url::parse(base).unwrap())).unwrap();
    transport.send(&get("/users/7"), Effect::Read, soon()).await.unwrap_err()
}

/// P42.
#[tokio::test]
async fn a_closed_port_tls_on_a_plain_port_and_an_unknown_host_read_differently() {
    let closed = closed_port().await;
    let plain = Server::start(vec![raw("HTTP/1.1 400 Bad Request\r\n\r\n")]).await.address.port();

    let refused = failure(&format!("http://127.0.0.1:{closed}")).await;
    assert_eq!(
        refused.to_string(),
        format!(
            "`GET /users/7`: connection refused by `127.0.0.1:{closed}`; nothing listens there: check host and port"
        )
    );
    let tls = failure(&format!("https://127.0.0.1:{plain}")).await;
    assert_eq!(
        tls.to_string(),
        format!(
            "`GET /users/7`: no secure connection (TLS) to `127.0.0.1:{plain}`: what answers there speaks no TLS; perhaps it is plain `http://`"
        )
    );
    let unknown = failure("http://nowhere.invalid").await;
    assert_eq!(
        unknown.to_string(),
        "`GET /users/7`: the host of `nowhere.invalid:80` is unknown (DNS); check the name, the network and the VPN"
    );
}

#[tokio::test]
async fn what_does_not_speak_http_is_named() {
    let server = Server::start(vec![raw("SSH-2.0-OpenSSH_9.9\r\n")]).await;
    let error = failure(server.url("").as_str()).await;
    assert_eq!(error.kind(), &ErrorKind::NotHttp);
}

#[tokio::test]
async fn a_connection_that_does_not_come_about_ends_in_time() {
    // A listener whose backlog is full answers no further handshake.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut held = Vec::new();
    for _ in 0..200 {
        match std::net::TcpStream::connect_timeout(&address, Duration::from_millis(50)) {
            Ok(stream) => held.push(stream),
            Err(_) => break,
        }
    }
    if held.len() == 200 {
        return; // this system queues without end
    }
    let mut options = options(Url::parse(&format!("http://{address}")).unwrap());
    options.connect_timeout = Duration::from_millis(200);
    let transport = Transport::new(options).unwrap();
    let error = transport.send(&get("/"), Effect::Read, soon()).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::ConnectTimeout, "{error:?}");
}

fn through(proxy: &str) -> Transport {
    let mut options = options(Url::parse("http://api.test/base").unwrap());
    options.proxy = Some(ProxyOptions { url: Secret::new(proxy), no_proxy: String::new() });
    Transport::new(options).unwrap()
}

#[tokio::test]
async fn a_proxy_is_used_and_blamed() {
    let proxy = Server::start(vec![http(200, "", "via")]).await;
    let address = proxy.address;
    let transport = through(&format!("http://user:proxypass@{address}"));
    let response = transport.send(&get("/x"), Effect::Read, soon()).await.unwrap();
    assert_eq!(&response.body[..], b"via");
    let sent = proxy.requests().remove(0);
    assert!(sent.starts_with("GET http://api.test/base/x HTTP/1.1"), "{sent}");
    assert!(sent.contains("proxy-authorization: Basic"), "{sent}");

    let closed = closed_port().await;
    let transport = through(&format!("http://user:proxypass@127.0.0.1:{closed}"));
    let error = transport.send(&get("/x"), Effect::Read, soon()).await.unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains(&format!("through the proxy `127.0.0.1:{closed}`: nothing listens")),
        "{text}"
    );
    assert!(!format!("{text} {error:?}").contains("proxypass"));
}

#[tokio::test]
async fn a_proxy_that_refuses_the_tunnel_is_blamed() {
    let proxy = Server::start(vec![http(403, "", "no")]).await;
    let mut options = options(Url::parse("https://api.test/").unwrap());
    let url = Secret::new(format!("http://{}", proxy.address));
    options.proxy = Some(ProxyOptions { url, no_proxy: String::new() });
    let transport = Transport::new(options).unwrap();
    let error = transport.send(&get("/x"), Effect::Read, soon()).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Proxy { .. }), "{error:?}");
    assert_eq!(proxy.lines(), ["CONNECT api.test:443"]);
}

/// P60.
#[tokio::test]
async fn loopback_is_never_reached_through_a_proxy() {
    let server = Server::start(vec![http(200, "", "direct")]).await;
    let mut options = options(server.url(""));
    let closed = closed_port().await;
    let url = Secret::new(format!("http://127.0.0.1:{closed}"));
    options.proxy = Some(ProxyOptions { url, no_proxy: String::new() });
    let transport = Transport::new(options).unwrap();
    let response = transport.send(&get("/x"), Effect::Read, soon()).await.unwrap();
    assert_eq!(&response.body[..], b"direct");
}

/// P62.
#[tokio::test]
async fn no_failure_shows_a_credential_or_a_value() {
    let plain = Server::start(vec![
        raw("not http\r\n\r\n"),
        raw(""),
        http(302, &format!("location: http://evil.invalid/?k={TOKEN}"), ""),
        raw("HTTP/1.1 200 OK\r\ncontent-length: 9000000000\r\n\r\n"),
        Reply::Stall(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n".to_vec()),
    ])
    .await;
    let closed = closed_port().await;
    let mut bases = vec![plain.url("/"); 5];
    bases.push(Url::parse(&format!("https://127.0.0.1:{}", plain.address.port())).unwrap());
    bases.push(Url::parse(&format!("http://127.0.0.1:{closed}")).unwrap());
    bases.push(Url::parse("http://nowhere.invalid").unwrap());
    let source = || SecretSource::literal("TOKEN", TOKEN).unwrap();
    for base in bases {
        let mut options = options(base);
        options.timeout = Duration::from_millis(500);
        options.headers = vec![("X-Gate".to_owned(), Secret::new("gate-hunter22"))];
        options.credential = Credential::Query { name: "key".to_owned(), secret: source() };
        assert!(!format!("{options:?}").contains("abc123"));
        let transport = Transport::new(options).unwrap();
        let mut request = get("/users");
        request.template = "/users/{id}".to_owned();
        request.path = "/users/PRIVATE-VALUE".to_owned();
        let error = transport.send(&request, Effect::Read, soon()).await.unwrap_err();
        let mut text = format!("{error} {error:?} {transport:?}");
        let mut source = error.source();
        while let Some(cause) = source {
            text.extend([cause.to_string(), format!("{cause:?}")]);
            source = cause.source();
        }
        assert!(text.contains("GET /users/{id}"), "{text}");
        for hidden in ["abc123", "PRIVATE-VALUE", "hunter22"] {
            assert!(!text.contains(hidden), "{hidden} in {text}");
        }
    }
}
