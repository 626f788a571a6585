//! A small API of two operations that says what it was sent, for tests that look at credentials.

use std::sync::{Arc, Mutex};

use axum::{
    Json, Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, Method, StatusCode, Uri},
    response::{IntoResponse as _, Response},
};
use serde_json::{Value, json};

/// One request that arrived.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) authorization: Option<String>,
    pub(crate) key: Option<String>,
}

/// The API; it is there as long as its runtime.
pub(crate) struct Upstream {
    pub(crate) base: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    /// Its document, in a file.
    pub(crate) document: tempfile::NamedTempFile,
}

impl Upstream {
    pub(crate) async fn start() -> Self {
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(answer).with_state(Arc::clone(&seen));
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        let document = tempfile::Builder::new().suffix(".json").tempfile().unwrap();
        std::fs::write(document.path(), DOCUMENT).unwrap();
        Self { base, seen, document }
    }

    /// What arrived, in order.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub(crate) fn writes(&self) -> usize {
        self.seen().iter().filter(|it| it.method != "GET").count()
    }

    /// The binary with this API behind it.
    pub(crate) fn binary(&self) -> std::process::Command {
        let mut command = crate::support::binary();
        command.arg("--openapi").arg(self.document.path()).args(["--base-url", &self.base]);
        command
    }
}

async fn answer(
    State(seen): State<Arc<Mutex<Vec<Seen>>>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    _body: Bytes,
) -> Response {
    let header = |name: &str| headers.get(name).map(|it| it.to_str().unwrap().to_owned());
    let one = Seen {
        method: method.to_string(),
        path: uri.path().to_owned(),
        authorization: header("authorization"),
        key: header("x-api-key"),
    };
    let echo = one.authorization.clone().or_else(|| one.key.clone());
    seen.lock().unwrap().push(one);
    let body: Value = json!({ "id": 7, "name": "thing", "echo": echo });
    let status = if method == Method::POST { StatusCode::CREATED } else { StatusCode::OK };
    (status, Json(body)).into_response()
}

const DOCUMENT: &str = r#"{
  "openapi": "3.0.3",
  "info": { "title": "things", "version": "1" },
  "paths": {
    "/things/{id}": {
      "get": {
        "operationId": "getThing", "summary": "One thing",
        "parameters": [
          { "name": "id", "in": "path", "required": true, "schema": { "type": "string" } }
        ],
        "responses": { "200": { "description": "ok" } }
      }
    },
    "/things": {
      "post": {
        "operationId": "createThing", "summary": "A new thing",
        "requestBody": { "content": { "application/json": { "schema": {
          "type": "object", "properties": { "name": { "type": "string" } }
        } } } },
        "responses": { "201": { "description": "made" } }
      }
    }
  }
}"#;
