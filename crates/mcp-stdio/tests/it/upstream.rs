//! A small upstream that serves a document of the test's own, records every other request and answers
//! it as the test says.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

/// One request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) method: String,
    /// Path and query, as they were on the wire.
    pub(crate) target: String,
    /// Lower-case names.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value.as_str())
    }
}

/// What a request is answered with: status, further headers with their line ends, body.
pub(crate) type Answer = (u16, String, String);
type Answers = dyn Fn(&Received) -> Answer + Send + Sync;

/// The upstream; ends with the test process.
pub(crate) struct Upstream {
    pub(crate) base: String,
    document: Arc<Mutex<String>>,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Upstream {
    /// Answers every request with an empty object.
    pub(crate) fn start(document: &str) -> Self {
        Self::answering(document, |_| (200, String::new(), "{}".to_owned()))
    }

    pub(crate) fn answering(
        document: &str,
        answers: impl Fn(&Received) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let answers: Arc<Answers> = Arc::new(answers);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let document = Arc::new(Mutex::new(document.to_owned()));
        let received = Arc::new(Mutex::new(Vec::new()));
        let (served, seen) = (Arc::clone(&document), Arc::clone(&received));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (served, seen) = (Arc::clone(&served), Arc::clone(&seen));
                let answers = Arc::clone(&answers);
                thread::spawn(move || answer(stream, &served, &seen, &*answers));
            }
        });
        Self { base, document, received }
    }

    /// Serves another document from now on.
    pub(crate) fn publish(&self, document: &str) {
        document.clone_into(&mut self.document.lock().unwrap());
    }

    /// What arrived besides requests for the document.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }
}

fn answer(
    stream: TcpStream,
    document: &Mutex<String>,
    seen: &Mutex<Vec<Received>>,
    answers: &Answers,
) {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    if reader.read_line(&mut line).unwrap_or(0) == 0 {
        return;
    }
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut length = 0;
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok();
        if header.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = header.split_once(':') {
            let (name, value) = (name.to_ascii_lowercase(), value.trim().to_owned());
            if name == "content-length" {
                length = value.parse().unwrap_or(0);
            }
            headers.push((name, value));
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok();
    let json = "application/json";
    let (content_type, (status, more, text)) = match target.as_str() {
        "/spec.json" => (json, (200, String::new(), document.lock().unwrap().clone())),
        "/spec.html" => {
            let page = "<!doctype html><title>API docs</title>".to_owned();
            ("text/html", (200, String::new(), page))
        }
        _ => {
            let body = String::from_utf8_lossy(&body).into_owned();
            let received = Received { method, target, headers, body };
            let answer = if received.target == "/echo/authorization" {
                let sent = received.header("authorization");
                (200, String::new(), serde_json::json!({ "sent": sent }).to_string())
            } else {
                answers(&received)
            };
            seen.lock().unwrap().push(received);
            (json, answer)
        }
    };
    let head = format!(
        "HTTP/1.1 {status} OK\r\ncontent-type: {content_type}\r\n{more}content-length: {}\r\nconnection: close\r\n\r\n",
        text.len()
    );
    let mut stream = reader.into_inner();
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(text.as_bytes())).ok();
}
