//! A small upstream that serves a document of the test's own and records every other request.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use serde_json::json;

/// One request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) method: String,
    /// Path and query, as they were on the wire.
    pub(crate) target: String,
    pub(crate) body: String,
}

/// The upstream; ends with the test process.
pub(crate) struct Upstream {
    pub(crate) base: String,
    document: Arc<Mutex<String>>,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Upstream {
    pub(crate) fn start(document: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let document = Arc::new(Mutex::new(document.to_owned()));
        let received = Arc::new(Mutex::new(Vec::new()));
        let (served, seen) = (Arc::clone(&document), Arc::clone(&received));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (served, seen) = (Arc::clone(&served), Arc::clone(&seen));
                thread::spawn(move || answer(stream, &served, &seen));
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

fn answer(stream: TcpStream, document: &Mutex<String>, seen: &Mutex<Vec<Received>>) {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    if reader.read_line(&mut line).unwrap_or(0) == 0 {
        return;
    }
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (mut length, mut authorization) = (0, String::new());
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok();
        if header.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = header.split_once(':')
            && name.eq_ignore_ascii_case("authorization")
        {
            value.trim().clone_into(&mut authorization);
        }
        if let Some(value) = header.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok();
    let (content_type, text) = match target.as_str() {
        "/spec.json" => ("application/json", document.lock().unwrap().clone()),
        "/spec.html" => ("text/html", "<!doctype html><title>API docs</title>".to_owned()),
        _ => {
            let body = String::from_utf8_lossy(&body).into_owned();
            let echoes = target == "/echo/authorization";
            seen.lock().unwrap().push(Received { method, target, body });
            let text = if echoes { json!({ "sent": authorization }) } else { json!({}) };
            ("application/json", text.to_string())
        }
    };
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        text.len()
    );
    let mut stream = reader.into_inner();
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(text.as_bytes())).ok();
}
