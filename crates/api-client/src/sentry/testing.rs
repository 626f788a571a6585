//! A loopback Sentry whose every answer a test spells out, and what it was sent.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

use super::Client;
use crate::transport::{Transport, TransportOptions};

/// A whole response, as it goes over the wire.
pub(super) type Reply = Vec<u8>;

/// A JSON answer.
pub(super) fn json(status: u16, body: &str) -> Reply {
    with_headers(status, "content-type: application/json\r\n", body.as_bytes())
}

/// A page of a list, and where it goes on.
pub(super) fn page(body: &str, next: Option<&str>) -> Reply {
    let (results, cursor) = (next.is_some(), next.unwrap_or("0:9:0"));
    let link = format!(
        "link: <http://other.test/?cursor=0:0:1>; rel=\"previous\"; results=\"false\"; \
         cursor=\"0:0:1\", <http://other.test/?cursor={cursor}>; rel=\"next\"; \
         results=\"{results}\"; cursor=\"{cursor}\"\r\n"
    );
    with_headers(200, &link, body.as_bytes())
}

/// An answer with header lines, each closed by CRLF.
pub(super) fn with_headers(status: u16, headers: &str, body: &[u8]) -> Reply {
    let length = body.len();
    let head = format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {length}\r\n");
    [head.as_bytes(), headers.as_bytes(), b"\r\n", body].concat()
}

pub(super) struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Answers one connection after the other; the last reply is repeated.
    pub(super) async fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        tokio::spawn(async move {
            let mut index = 0;
            while let Ok((stream, _)) = listener.accept().await {
                let reply = &replies[index.min(replies.len() - 1)];
                index += 1;
                answer(stream, reply, &seen).await;
            }
        });
        Self { address, requests }
    }

    pub(super) fn transport(&self) -> Transport {
        let base = Url::parse(&format!("http://{}", self.address)).unwrap();
        let mut options = TransportOptions::new(base);
        options.retries = false;
        Transport::new(options).unwrap()
    }

    pub(super) fn client(&self) -> Client {
        Client::new(self.transport(), Instant::now() + Duration::from_secs(10))
    }

    /// The request lines so far, without the version, each with its body if there is one.
    pub(super) fn lines(&self) -> Vec<String> {
        let requests = self.requests.lock().unwrap();
        let line = |request: &String| {
            let (head, body) = request.split_once("\r\n\r\n").unwrap_or((request, ""));
            let first = head.lines().next().unwrap_or_default();
            format!("{} {body}", first.trim_end_matches(" HTTP/1.1")).trim_end().to_owned()
        };
        requests.iter().map(line).collect()
    }
}

/// Reads one request to its end and sends the reply.
async fn answer(mut stream: TcpStream, reply: &[u8], seen: &Mutex<Vec<String>>) {
    let mut request = Vec::new();
    let mut buffer = [0; 16 * 1024];
    while !is_complete(&request) {
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => break,
            Ok(count) => request.extend_from_slice(&buffer[..count]),
        }
    }
    seen.lock().unwrap().push(String::from_utf8_lossy(&request).into_owned());
    // A client that has hung up is none of the server's business.
    stream.write_all(reply).await.ok();
    stream.shutdown().await.ok();
}

fn is_complete(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    body.len() >= length.map_or(0, |it| it.parse::<usize>().unwrap())
}
