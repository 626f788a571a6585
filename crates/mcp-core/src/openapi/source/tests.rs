//! A document source against a real upstream, real files and a real cache.

use std::{
    path::PathBuf,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use api_client::{
    auth::{Credential, SecretSource},
    transport::TransportOptions,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use super::*;
use crate::openapi::cache::sha256;

type Answer = fn(usize, &str) -> String;

/// An upstream that answers each request as told and remembers what it was asked.
struct Upstream {
    base: Url,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Upstream {
    /// `answer` gets the number of the request and its head, and gives a whole response.
    async fn start<A: Into<Vec<u8>>>(
        answer: impl Fn(usize, &str) -> A + Send + Sync + 'static,
    ) -> Self {
        Self::start_slow(Duration::ZERO, answer).await
    }

    async fn start_slow<A: Into<Vec<u8>>>(
        delay: Duration,
        answer: impl Fn(usize, &str) -> A + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = Url::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (log, count) = (Arc::clone(&requests), AtomicUsize::new(0));
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") && stream.read_buf(&mut head).await.unwrap() > 0
                {
                }
                let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
                time::sleep(delay).await;
                let response = answer(count.fetch_add(1, Ordering::Relaxed), &head).into();
                log.lock().unwrap().push(head);
                drop(stream.write_all(&response).await);
            }
        });
        Self { base, requests }
    }

    fn count(&self) -> usize {
        self.requests.lock().unwrap().len()
    }

    fn last(&self) -> String {
        self.requests.lock().unwrap().last().unwrap().clone()
    }

    fn options(&self, path: &'static str) -> SourceOptions {
        options(self.base.clone(), DocumentLocation::Instance { path })
    }
}

fn options(base: Url, location: DocumentLocation) -> SourceOptions {
    let mut transport = TransportOptions::new(base);
    transport.credential =
        Credential::Bearer(SecretSource::literal("TOKEN", "t0ken-t0ken").unwrap());
    SourceOptions {
        title: "things".to_owned(),
        location,
        transport: Arc::new(Transport::new(transport).unwrap()),
        credential_setting: Some("`THINGS_TOKEN`".to_owned()),
        cache: None,
        objection: None,
    }
}

fn nowhere(location: DocumentLocation) -> SourceOptions {
    options(Url::parse("http://127.0.0.1:9").unwrap(), location)
}

fn response(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n{body}"
    )
}

fn json(headers: &str, body: &str) -> String {
    response("200 OK", &format!("content-type: application/json\r\n{headers}"), body)
}

fn text(version: &str) -> String {
    format!(
        r#"{{"openapi":"3.0.3","info":{{"title":"Things","version":"{version}"}},"paths":{{"/things":{{"get":{{"operationId":"list","responses":{{}}}}}}}}}}"#
    )
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(10)
}

/// The hash of what a source gives, or its failure.
async fn outcome(source: &DocumentSource) -> Result<String, String> {
    let loaded = source.get(soon()).await;
    loaded.map(|it| it.document.hash().to_owned()).map_err(|failure| failure.to_string())
}

#[tokio::test]
async fn the_instances_own_document_is_fetched_once_and_with_the_credential() {
    let upstream = Upstream::start(|_, _| json("", &text("1"))).await;
    let source = DocumentSource::new(upstream.options("/schema/"));
    assert_eq!(outcome(&source).await, Ok(sha256(text("1").as_bytes())));
    assert_eq!(outcome(&source).await, Ok(sha256(text("1").as_bytes())));
    assert_eq!(upstream.count(), 1);
    assert!(upstream.last().starts_with("get /schema/ http/1.1\r\n"), "{}", upstream.last());
    assert!(upstream.last().contains("authorization: bearer t0ken-t0ken"));
}

#[tokio::test]
async fn a_redirect_is_followed_and_names_the_place_of_the_document() {
    let upstream = Upstream::start(|_, head| {
        if head.starts_with("get /schema/ ") {
            response("302 Found", "location: /files/openapi.json\r\n", "")
        } else {
            json("", &text("1"))
        }
    })
    .await;
    let source = DocumentSource::new(upstream.options("/schema/"));
    assert_eq!(outcome(&source).await, Ok(sha256(text("1").as_bytes())));
    assert!(upstream.last().starts_with("get /files/openapi.json "), "{}", upstream.last());
    assert!(upstream.last().contains("authorization: bearer t0ken-t0ken"));
    // Relative servers are read against it.
    let found = source.get(soon()).await.unwrap().document.document_url();
    assert_eq!(found, Some(upstream.base.join("files/openapi.json").unwrap()));
}

#[tokio::test]
async fn a_redirect_to_plain_http_elsewhere_is_not_followed() {
    let elsewhere = Upstream::start(|_, _| json("", &text("2"))).await;
    let location = format!("location: {}openapi.json\r\n", elsewhere.base);
    let upstream = Upstream::start(move |_, _| response("302 Found", &location, "")).await;
    let source = DocumentSource::new(upstream.options("/schema/"));
    let failure = outcome(&source).await.unwrap_err();
    assert!(failure.contains("cannot be fetched from"), "{failure}");
    assert_eq!(elsewhere.count(), 0);
}

#[tokio::test]
async fn a_compressed_document_is_unpacked() {
    let upstream = Upstream::start(|_, head| {
        assert!(head.contains("accept-encoding: ") && head.contains("gzip"), "{head}");
        let packed = gzip(text("1").as_bytes());
        let headers = "content-type: application/json\r\ncontent-encoding: gzip\r\n";
        let length = packed.len();
        let mut answer = format!(
            "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n"
        )
        .into_bytes();
        answer.extend_from_slice(&packed);
        answer
    })
    .await;
    let source = DocumentSource::new(upstream.options("/schema/"));
    assert_eq!(outcome(&source).await, Ok(sha256(text("1").as_bytes())));
}

/// A gzip stream that holds the bytes as they are.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut checksum = u32::MAX;
    for byte in bytes {
        checksum ^= u32::from(*byte);
        for _ in 0..8 {
            checksum = (checksum >> 1) ^ (0xedb8_8320 * (checksum & 1));
        }
    }
    let length = u16::try_from(bytes.len()).unwrap();
    let mut packed = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1];
    packed.extend_from_slice(&length.to_le_bytes());
    packed.extend_from_slice(&(!length).to_le_bytes());
    packed.extend_from_slice(bytes);
    packed.extend_from_slice(&(!checksum).to_le_bytes());
    packed.extend_from_slice(&u32::from(length).to_le_bytes());
    packed
}

#[tokio::test]
async fn a_call_that_cannot_wait_longer_says_that_the_document_is_loading() {
    let upstream = Upstream::start_slow(Duration::from_millis(300), |_, _| json("", &text("1")));
    let source = DocumentSource::new(upstream.await.options("/schema/"));
    let failure = source.get(Instant::now() + Duration::from_millis(50)).await.unwrap_err();
    let expected = "the document of `things` is still loading (0 s so far): try again";
    assert_eq!(failure.to_string(), expected);
    assert!(outcome(&source).await.is_ok());
}

#[tokio::test]
async fn what_came_instead_of_a_document_is_said() {
    let page = |_: usize, _: &str| {
        response("200 OK", "content-type: text/html\r\n", "\n<!doctype html><p>Docs")
    };
    let cases: [(Answer, &str); 4] = [
        (page, "is HTML, not OpenAPI"),
        (
            |_, _| response("401 Unauthorized", "", "{}"),
            "was refused with status 401: check the credential in `THINGS_TOKEN`",
        ),
        (
            |_, _| response("404 Not Found", "", ""),
            "was refused with status 404: check the address",
        ),
        (|_, _| json("", "[1]"), "cannot be used: "),
    ];
    for (answer, expected) in cases {
        let upstream = Upstream::start(answer).await;
        let source = DocumentSource::new(upstream.options("/spec.html"));
        let failure = outcome(&source).await.unwrap_err();
        let place = format!("the document of `things` at {}spec.html ", upstream.base);
        assert!(failure.starts_with(&place) && failure.contains(expected), "{failure}");
    }
}

#[tokio::test]
async fn a_failure_is_remembered_and_a_later_call_tries_again() {
    let upstream = Upstream::start(|number, _| match number {
        0 => response("500 Internal Server Error", "", ""),
        _ => json("", &text("1")),
    })
    .await;
    let source = DocumentSource::new(upstream.options("/schema/"));
    assert!(outcome(&source).await.unwrap_err().contains("status 500"));
    assert!(outcome(&source).await.unwrap_err().contains("status 500"));
    assert_eq!(upstream.count(), 1);
    time::sleep(FIRST_PAUSE + Duration::from_millis(50)).await;
    assert!(outcome(&source).await.is_ok());
}

#[tokio::test]
async fn a_cached_document_is_asked_about_and_not_fetched_again() {
    let directory = tempfile::tempdir().unwrap();
    let upstream = Upstream::start(|_, head| match head.contains("if-none-match: \"v1\"") {
        true => response("304 Not Modified", "", ""),
        false => json("etag: \"v1\"\r\n", &text("1")),
    })
    .await;
    for count in 1..=2 {
        let mut options = upstream.options("/schema/");
        options.cache = Some(CacheDir::new(directory.path().join("cache")));
        let source = DocumentSource::new(options);
        assert_eq!(outcome(&source).await, Ok(sha256(text("1").as_bytes())));
        assert_eq!(upstream.count(), count);
    }
    assert!(upstream.last().contains("if-none-match: \"v1\""));
}

#[tokio::test]
async fn a_newer_document_replaces_the_cached_one_before_the_first_call_is_answered() {
    let directory = tempfile::tempdir().unwrap();
    let upstream = Upstream::start(|number, _| json("", &text(&number.to_string()))).await;
    for number in ["0", "1"] {
        let mut options = upstream.options("/schema/");
        options.cache = Some(CacheDir::new(directory.path().join("cache")));
        let source = DocumentSource::new(options);
        assert_eq!(outcome(&source).await, Ok(sha256(text(number).as_bytes())));
    }
}

#[tokio::test]
async fn without_the_source_the_cached_document_serves() {
    let directory = tempfile::tempdir().unwrap();
    let upstream = Upstream::start(|number, _| match number {
        0 => json("", &text("1")),
        _ => response("502 Bad Gateway", "", ""),
    })
    .await;
    for _ in 0..2 {
        let mut options = upstream.options("/schema/");
        options.cache = Some(CacheDir::new(directory.path().join("cache")));
        let source = DocumentSource::new(options);
        assert_eq!(outcome(&source).await, Ok(sha256(text("1").as_bytes())));
    }
    assert_eq!(upstream.count(), 2);
}

#[tokio::test]
async fn a_document_that_is_objected_to_is_not_taken() {
    let directory = tempfile::tempdir().unwrap();
    let upstream = Upstream::start(|number, _| json("", &text(&number.to_string()))).await;
    for _ in 0..2 {
        let mut options = upstream.options("/schema/");
        options.cache = Some(CacheDir::new(directory.path().join("cache")));
        options.objection = Some(Arc::new(|_, _| Some("it empties a deny rule".to_owned())));
        let source = DocumentSource::new(options);
        assert_eq!(outcome(&source).await, Ok(sha256(text("0").as_bytes())));
    }
    assert_eq!(upstream.count(), 2);
}

#[tokio::test]
async fn bytes_that_do_not_have_the_known_hash_are_refused() {
    let upstream = Upstream::start(|_, _| json("", &text("1"))).await;
    let pinned: &'static str = "b71216654e44cc18f5e262fbb5075df67f1504a123d4bcb51cc8e8cc74ebd435";
    let location = DocumentLocation::Url { url: upstream.base.clone(), sha256: Some(pinned) };
    let failure = outcome(&DocumentSource::new(nowhere(location))).await.unwrap_err();
    assert!(
        failure.contains(&format!("is not the one this release was made for (SHA-256 {pinned})"))
    );
    assert!(!upstream.last().contains("authorization"), "{}", upstream.last());
}

#[tokio::test]
async fn a_file_is_read_again_only_when_it_changed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a b & c.json");
    let cache = directory.path().join("cache");
    let load = async || {
        let mut options = nowhere(DocumentLocation::File(path.clone()));
        options.cache = Some(CacheDir::new(&cache));
        outcome(&DocumentSource::new(options)).await
    };
    std::fs::write(&path, text("1")).unwrap();
    assert_eq!(load().await, Ok(sha256(text("1").as_bytes())));
    assert_eq!(load().await, Ok(sha256(text("1").as_bytes())));
    std::fs::write(&path, text("1.1")).unwrap();
    assert_eq!(load().await, Ok(sha256(text("1.1").as_bytes())));

    for entry in std::fs::read_dir(&cache).unwrap() {
        std::fs::write(entry.unwrap().path(), "damaged").unwrap();
    }
    assert_eq!(load().await, Ok(sha256(text("1.1").as_bytes())));
    let files = std::fs::read_dir(&cache).unwrap().map(|entry| entry.unwrap().metadata().unwrap());
    assert!(files.map(|it| it.len()).all(|length| length > 100), "the damaged file was rewritten");
}

#[tokio::test]
async fn a_file_that_is_missing_or_a_page_is_named_as_it_was_given() {
    let directory = tempfile::tempdir().unwrap();
    let page = directory.path().join("docs.html");
    std::fs::write(&page, "<html>").unwrap();
    for (path, expected) in [
        (PathBuf::from(r"C:\temp\x"), r"is not in `C:\temp\x`: no such file".to_owned()),
        (page.clone(), format!("in `{}` is HTML or XML, not OpenAPI", page.display())),
        (
            directory.path().to_owned(),
            format!("cannot be read from `{}`: it is a directory", directory.path().display()),
        ),
    ] {
        let source = DocumentSource::new(nowhere(DocumentLocation::File(path)));
        assert_eq!(outcome(&source).await, Err(format!("the document of `things` {expected}")));
    }
}
