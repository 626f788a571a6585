//! A loopback API that costs next to nothing, so that what is measured is ours.

use std::sync::Arc;

use anyhow::Result;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
};
use url::Url;

/// Bytes of the large response: just below what a script may be given.
const BIG: usize = 4_150_000;

/// The API; it ends with the runtime.
pub(super) struct Upstream {
    pub(super) base: Url,
}

/// What the API says of itself.
pub(super) fn document() -> Value {
    let ok = json!({ "200": { "description": "" } });
    let number =
        json!({ "name": "n", "in": "path", "required": true, "schema": { "type": "integer" } });
    json!({
        "openapi": "3.0.3",
        "info": { "title": "Bench", "version": "1" },
        "paths": {
            "/items/{n}": { "get": { "operationId": "item", "parameters": [number], "responses": ok } },
            "/big": { "get": { "operationId": "big", "responses": ok } },
        },
    })
}

impl Upstream {
    pub(super) async fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let base = Url::parse(&format!("http://{}", listener.local_addr()?))?;
        let item: Arc<[u8]> =
            answer(&json!({ "id": 1, "name": "an item", "tags": ["a", "b"] })).into();
        let big: Arc<[u8]> = answer(&rows()).into();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(serve(socket, Arc::clone(&item), Arc::clone(&big)));
            }
        });
        Ok(Self { base })
    }
}

/// Rows such as an API lists, about four megabytes of them.
pub(super) fn rows() -> Value {
    let row = |n: usize| {
        json!({
            "id": n, "name": format!("user-{n}"), "email": format!("user-{n}@example.com"),
            "active": n.is_multiple_of(3), "score": n as f64 / 7.0, "groups": ["a", "b"], "manager": null,
        })
    };
    let size = row(10_000).to_string().len() + 1;
    (0..BIG / size).map(row).collect()
}

fn answer(body: &Value) -> Vec<u8> {
    let body = body.to_string();
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}")
        .into_bytes()
}

async fn serve(socket: TcpStream, item: Arc<[u8]>, big: Arc<[u8]>) -> Result<()> {
    socket.set_nodelay(true)?;
    let mut socket = BufReader::new(socket);
    let mut line = String::new();
    loop {
        line.clear();
        if socket.read_line(&mut line).await? == 0 {
            return Ok(());
        }
        let answer = if line.starts_with("GET /big") { &big } else { &item };
        while line.trim_end() != "" {
            line.clear();
            socket.read_line(&mut line).await?;
        }
        socket.write_all(answer).await?;
    }
}
