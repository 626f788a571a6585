//! What lies between: HTTP/2, IPv6, kept connections, compression, proxies, endless answers.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use api_client::error::{ErrorKind, Progress};
use api_client::secret::Secret;
use api_client::transport::{Effect, ProxyOptions, Transport, TransportOptions};
use futures::future::join_all;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use url::Url;

use crate::server::{Reply, Server, TOKEN, get, http, options, post, soon, transport};
use crate::tls::{AUTHORITY, ELSEWHERE, LOCALHOST, server_config};

/// Serves HTTP/2 over TLS; counts connections and requests.
async fn http2() -> (SocketAddr, Arc<AtomicUsize>, Arc<AtomicUsize>) {
    let mut config = server_config(LOCALHOST, false);
    config.alpn_protocols = vec![b"h2".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let counts = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (connections, requests) = counts.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            connections.fetch_add(1, Ordering::Relaxed);
            let (acceptor, requests) = (acceptor.clone(), Arc::clone(&requests));
            tokio::spawn(async move {
                let stream = acceptor.accept(stream).await.unwrap();
                let mut connection = h2::server::handshake(stream).await.unwrap();
                while let Some(Ok((request, mut respond))) = connection.accept().await {
                    requests.fetch_add(1, Ordering::Relaxed);
                    let head = http::Response::builder().header("x-path", request.uri().path());
                    let mut body = respond.send_response(head.body(()).unwrap(), false).unwrap();
                    body.send_data("over h2".into(), true).unwrap();
                }
            });
        }
    });
    (address, counts.0, counts.1)
}

fn trusting(base: &str) -> TransportOptions {
    let mut options = options(Url::parse(base).unwrap());
    options.tls.extra_ca_pem = vec![AUTHORITY.to_owned()];
    options
}

#[tokio::test]
async fn http2_is_agreed_on_and_one_connection_carries_many_calls() {
    let (address, connections, requests) = http2().await;
    let transport = Transport::new(trusting(&format!("https://{address}"))).unwrap();
    let request = get("/users");
    let first = transport.send(&request, Effect::Read, soon()).await.unwrap();
    assert_eq!((&first.body[..], first.header("x-path")), (&b"over h2"[..], Some("/users")));
    let calls = (0..10).map(|_| transport.send(&request, Effect::Read, soon()));
    assert!(join_all(calls).await.into_iter().all(|it| it.is_ok_and(|it| it.status == 200)));
    assert_eq!((connections.load(Ordering::Relaxed), requests.load(Ordering::Relaxed)), (1, 11));
}

/// Answers one request after the other on each connection; counts connections.
async fn keeping(answers: usize) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let connections = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&connections);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(async move {
                for _ in 0..answers {
                    let head = head(&mut stream).await;
                    if head.is_empty() {
                        return;
                    }
                    stream
                        .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
                        .await
                        .unwrap();
                }
            });
        }
    });
    (address, connections)
}

/// Reads up to the end of a request's head.
async fn head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => break,
        }
    }
    String::from_utf8(head).unwrap()
}

#[tokio::test]
async fn one_connection_is_kept_for_calls_that_follow_each_other() {
    let (address, connections) = keeping(usize::MAX).await;
    let transport = transport(Url::parse(&format!("http://{address}")).unwrap());
    for _ in 0..20 {
        transport.send(&get("/x"), Effect::Read, soon()).await.unwrap();
    }
    assert_eq!(connections.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_kept_connection_that_the_server_closes_costs_a_read_nothing() {
    let (address, connections) = keeping(2).await;
    let mut options = options(Url::parse(&format!("http://{address}")).unwrap());
    options.retries = true;
    let transport = Transport::new(options).unwrap();
    for _ in 0..10 {
        let response = transport.send(&get("/x"), Effect::Read, soon()).await.unwrap();
        assert_eq!(response.status, 200);
    }
    assert!(connections.load(Ordering::Relaxed) >= 5);
}

#[tokio::test]
async fn an_ipv6_address_is_reached_and_named_in_brackets() {
    let Ok(listener) = TcpListener::bind("[::1]:0").await else { return };
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        assert!(head(&mut stream).await.contains(&format!("host: {address}")));
        stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nsix").await.unwrap();
    });
    let transport = transport(Url::parse(&format!("http://{address}")).unwrap());
    let response = transport.send(&get("/x"), Effect::Read, soon()).await.unwrap();
    assert_eq!(&response.body[..], b"six");
    let error = transport.send(&get("/x"), Effect::Read, soon()).await.unwrap_err();
    assert!(error.to_string().contains(&format!("connection refused by `{address}`")), "{error}");
}

#[tokio::test]
async fn brotli_is_asked_for_and_unpacked() {
    // "brotli says hello, hello, hello"
    const BODY: &str = "1b1e00f81da9539fbb702d5686262759d8e8922dedad6489a71250077ed53433";
    let body =
        (0..BODY.len()).step_by(2).map(|at| u8::from_str_radix(&BODY[at..at + 2], 16).unwrap());
    let head = b"HTTP/1.1 200 OK\r\ncontent-encoding: br\r\nconnection: close\r\n\r\n";
    let reply = head.iter().copied().chain(body).collect();
    let server = Server::start(vec![Reply::Bytes(reply)]).await;
    let response = transport(server.url("")).send(&get("/"), Effect::Read, soon()).await.unwrap();
    assert_eq!(&response.body[..], b"brotli says hello, hello, hello");
    let sent = server.requests().remove(0);
    let accepted = sent.lines().find(|it| it.starts_with("accept-encoding: ")).unwrap();
    assert!(accepted.contains("gzip") && accepted.contains("br"), "{accepted}");
}

/// Resident memory of this process, where the system tells.
fn resident() -> Option<u64> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    pages.split(' ').nth(1)?.parse::<u64>().ok().map(|pages| pages * 4096)
}

#[tokio::test]
async fn a_gigabyte_is_cut_at_the_limit_and_neither_read_nor_kept() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let sent = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&sent);
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        head(&mut stream).await;
        let mut chunk = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
        for _ in 0..16 * 1024 {
            chunk.extend_from_slice(b"10000\r\n");
            chunk.resize(chunk.len() + 0x10000, b'x');
            chunk.extend_from_slice(b"\r\n");
            if stream.write_all(&chunk).await.is_err() {
                return;
            }
            count.fetch_add(0x10000, Ordering::Relaxed);
            chunk.clear();
        }
    });
    let transport = transport(Url::parse(&format!("http://{address}")).unwrap());
    let before = resident();
    let error = transport.send(&get("/big"), Effect::Read, soon()).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::TooLarge { limit: 4 * 1024 * 1024, size: None });
    if let (Some(before), Some(after)) = (before, resident()) {
        assert!(after.saturating_sub(before) < 100 << 20, "{before} {after}");
    }
    assert!(sent.load(Ordering::Relaxed) < 100 << 20, "{sent:?}");
}

#[tokio::test]
async fn a_connection_that_is_half_closed_is_told_from_a_slow_one() {
    let server = Server::start(vec![
        Reply::Bytes(b"HTTP/1.1 200 OK\r\ncontent-le".to_vec()),
        Reply::Stall(b"HTTP/1.1 200 OK\r\ncontent-le".to_vec()),
    ])
    .await;
    let transport = transport(server.url(""));
    let cut = transport.send(&post("/x"), Effect::Write, soon()).await.unwrap_err();
    assert_eq!((cut.kind(), cut.progress()), (&ErrorKind::Incomplete, Progress::Sent));
    let deadline = std::time::Instant::now() + Duration::from_millis(200);
    let slow = transport.send(&post("/x"), Effect::Write, deadline).await.unwrap_err();
    assert_eq!((slow.kind(), slow.progress()), (&ErrorKind::Timeout, Progress::Sent));
    let place = server.address;
    assert!(
        slow.to_string().ends_with(&format!("no complete answer from `{place}` in time")),
        "{slow}"
    );
}

/// A forward proxy that passes every tunnel on to one server, and the heads it was sent.
async fn forward_proxy(to: SocketAddr) -> (SocketAddr, Arc<std::sync::Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let heads = Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = Arc::clone(&heads);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let seen = Arc::clone(&seen);
            tokio::spawn(async move {
                let head = head(&mut stream).await;
                let tunnel = head.starts_with("CONNECT ");
                seen.lock().unwrap().push(head.clone());
                let mut target = TcpStream::connect(to).await.unwrap();
                match tunnel {
                    true => stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap(),
                    false => target.write_all(head.as_bytes()).await.unwrap(),
                }
                tokio::io::copy_bidirectional(&mut stream, &mut target).await.ok();
            });
        }
    });
    (address, heads)
}

fn through(base: &str, proxy: SocketAddr) -> Transport {
    let mut options = trusting(base);
    let url = Secret::new(format!("http://gate:proxypass@{proxy}"));
    options.proxy = Some(ProxyOptions { url, no_proxy: "spared.test".to_owned() });
    Transport::new(options).unwrap()
}

/// P60.
#[tokio::test]
async fn a_proxy_gets_a_tunnel_for_https_and_the_whole_address_for_http() {
    let secure = crate::tls::serve(ELSEWHERE, false);
    let (proxy, heads) = forward_proxy(secure).await;
    let base = format!("https://{}/api", crate::tls::ELSEWHERE_NAME);
    let response = through(&base, proxy).send(&get("/x"), Effect::Read, soon()).await.unwrap();
    assert_eq!(&response.body[..], b"ok", "TLS with the server itself, through the tunnel");
    let tunnel = heads.lock().unwrap().remove(0);
    assert!(
        tunnel.starts_with(&format!("CONNECT {}:443 ", crate::tls::ELSEWHERE_NAME)),
        "{tunnel}"
    );
    assert!(!tunnel.contains(TOKEN) && !tunnel.contains("/api"), "{tunnel}");
    assert!(tunnel.to_ascii_lowercase().contains("proxy-authorization: basic "), "{tunnel}");

    let plain = Server::start(vec![http(200, "", "plain")]).await;
    let (proxy, heads) = forward_proxy(plain.address).await;
    let response =
        through("http://api.test/v1", proxy).send(&get("/x"), Effect::Read, soon()).await.unwrap();
    assert_eq!(&response.body[..], b"plain");
    let absolute = heads.lock().unwrap().remove(0);
    assert!(absolute.starts_with("GET http://api.test/v1/x HTTP/1.1\r\n"), "{absolute}");

    let spared = through("http://spared.test", proxy);
    let error = spared.send(&get("/x"), Effect::Read, soon()).await.unwrap_err();
    assert_eq!((error.kind(), heads.lock().unwrap().len()), (&ErrorKind::Dns, 0));
}
