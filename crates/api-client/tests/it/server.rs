//! A server whose every answer a test spells out, and what it was sent.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use api_client::Method;
use api_client::auth::{Credential, SecretSource};
use api_client::request::{Request, RequestBuilder};
use api_client::transport::{Transport, TransportOptions};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

/// The credential of every test.
pub(crate) const TOKEN: &str = "SECRET-abc123XYZ";

/// What one connection does after it has read a request.
#[derive(Clone)]
pub(crate) enum Reply {
    /// Sends these bytes and closes.
    Bytes(Vec<u8>),
    /// Sends these bytes and then nothing, with the connection open.
    Stall(Vec<u8>),
}

/// A whole response.
pub(crate) fn http(status: u16, headers: &str, body: &str) -> Reply {
    let length = body.len();
    let headers: String = headers.lines().map(|line| format!("{line}\r\n")).collect();
    let head = format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {length}\r\n");
    Reply::Bytes(format!("{head}{headers}\r\n{body}").into_bytes())
}

/// An answer to the letter.
pub(crate) fn raw(text: &str) -> Reply {
    Reply::Bytes(text.as_bytes().to_vec())
}

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Answers one connection after the other; the last reply is repeated.
    pub(crate) async fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        tokio::spawn(async move {
            let mut index = 0;
            while let Ok((stream, _)) = listener.accept().await {
                let reply = replies[index.min(replies.len() - 1)].clone();
                index += 1;
                tokio::spawn(answer(stream, reply, Arc::clone(&seen)));
            }
        });
        Self { address, requests }
    }

    pub(crate) fn url(&self, path: &str) -> Url {
        Url::parse(&format!("http://{}{path}", self.address)).unwrap()
    }

    /// The requests so far, headers in lower case as sent.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    /// The request lines so far, without the version.
    pub(crate) fn lines(&self) -> Vec<String> {
        let first = |text: &String| text.lines().next().unwrap_or_default().to_owned();
        let lines = self.requests().iter().map(first).collect::<Vec<_>>();
        lines.iter().map(|line| line.trim_end_matches(" HTTP/1.1").to_owned()).collect()
    }
}

async fn answer(mut stream: TcpStream, reply: Reply, seen: Arc<Mutex<Vec<String>>>) {
    let mut request = Vec::new();
    let mut buffer = [0; 16 * 1024];
    loop {
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => break,
            Ok(count) => request.extend_from_slice(&buffer[..count]),
        }
        if is_complete(&request) {
            break;
        }
    }
    seen.lock().unwrap().push(String::from_utf8_lossy(&request).into_owned());
    match reply {
        // A client that has hung up is none of the server's business.
        Reply::Bytes(bytes) => {
            stream.write_all(&bytes).await.ok();
            stream.shutdown().await.ok();
        }
        Reply::Stall(bytes) => {
            stream.write_all(&bytes).await.ok();
            while stream.read(&mut buffer).await.is_ok_and(|count| count > 0) {}
            seen.lock().unwrap().push("(closed by the client)".to_owned());
        }
    }
}

/// The first byte of a client that wants TLS.
const TLS_HANDSHAKE: u8 = 0x16;

fn is_complete(request: &[u8]) -> bool {
    if request.first() == Some(&TLS_HANDSHAKE) {
        return true;
    }
    let text = String::from_utf8_lossy(request);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    body.len() >= length.map_or(0, |it| it.parse::<usize>().unwrap())
}

/// Options with the test's credential and no retries.
pub(crate) fn options(base: Url) -> TransportOptions {
    let mut options = TransportOptions::new(base);
    options.credential = Credential::Bearer(SecretSource::literal("TOKEN", TOKEN).unwrap());
    options.retries = false;
    options.timeout = Duration::from_secs(5);
    options
}

pub(crate) fn transport(base: Url) -> Transport {
    Transport::new(options(base)).unwrap()
}

pub(crate) fn get(template: &str) -> Request {
    RequestBuilder::new(Method::GET, template).build().unwrap()
}

pub(crate) fn post(template: &str) -> Request {
    let builder = RequestBuilder::new(Method::POST, template);
    builder.json_body("application/json", "{\"a\":1}".to_owned()).build().unwrap()
}

pub(crate) fn soon() -> Instant {
    Instant::now() + Duration::from_secs(10)
}

/// A loopback port on which nothing listens.
pub(crate) async fn closed_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port()
}
