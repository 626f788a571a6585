//! Between agent and server: passes every message on and writes down the calls of tools.

use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context as _, Result};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Response, StatusCode};
use futures::StreamExt as _;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::evidence::ToolCall;
use crate::world::World;

const MAX_BODY_BYTES: usize = 8 * 1024 * 1024;
/// What belongs to a connection, and what the client sets anew.
const NOT_PASSED_ON: [&str; 6] =
    ["host", "connection", "content-length", "transfer-encoding", "keep-alive", "accept-encoding"];

/// A listener in front of a server; gone when dropped.
#[derive(Debug)]
pub struct Wire {
    /// Where agents connect.
    pub endpoint: String,
    seen: Arc<Mutex<Seen>>,
    _stop: oneshot::Sender<()>,
}

#[derive(Clone, Debug, Default)]
struct Seen {
    calls: Vec<ToolCall>,
    inventory: Vec<Value>,
}

/// What passes messages on; making one takes a while, so all trials of a run share it.
pub fn client() -> Result<reqwest::Client> {
    // An error says that a provider is installed already, and any will do.
    rustls::crypto::aws_lc_rs::default_provider().install_default().ok();
    Ok(reqwest::Client::builder().no_proxy().build()?)
}

/// Told after every finished call of a tool.
pub type OnCall = Arc<dyn Fn() + Send + Sync>;

#[derive(Clone)]
struct Passage {
    server: String,
    client: reqwest::Client,
    world: World,
    started: Instant,
    seen: Arc<Mutex<Seen>>,
    on_call: Option<OnCall>,
}

impl Wire {
    pub async fn lay(
        server: &str,
        world: &World,
        client: &reqwest::Client,
        on_call: Option<OnCall>,
    ) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let endpoint = format!("http://{}/mcp", listener.local_addr()?);
        let seen = Arc::<Mutex<Seen>>::default();
        let passage = Passage {
            server: server.to_owned(),
            client: client.clone(),
            world: world.clone(),
            started: Instant::now(),
            seen: Arc::clone(&seen),
            on_call,
        };
        let app = Router::new().fallback(pass).with_state(passage);
        let (stop, stopped) = oneshot::channel::<()>();
        drop(tokio::spawn(async move {
            tokio::select! {
                served = axum::serve(listener, app) => drop(served),
                _ = stopped => {}
            }
        }));
        Ok(Self { endpoint, seen, _stop: stop })
    }

    /// The calls so far, in the order of asking.
    pub fn calls(&self) -> Vec<ToolCall> {
        let mut calls = lock(&self.seen).calls.clone();
        calls.sort_by_key(|it| it.n);
        calls
    }

    /// The tools the server listed.
    pub fn inventory(&self) -> Vec<Value> {
        lock(&self.seen).inventory.clone()
    }
}

fn lock(seen: &Mutex<Seen>) -> std::sync::MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn pass(State(passage): State<Passage>, request: Request) -> Response<Body> {
    passage.pass(request).await.unwrap_or_else(|error| {
        let mut response = Response::new(Body::from(format!("{error:#}")));
        *response.status_mut() = StatusCode::BAD_GATEWAY;
        response
    })
}

/// A call of a tool that has not ended.
struct Pending {
    passage: Passage,
    id: Value,
    call: ToolCall,
    since: Instant,
}

impl Passage {
    async fn pass(&self, request: Request) -> Result<Response<Body>> {
        let (parts, body) = request.into_parts();
        let body = axum::body::to_bytes(body, MAX_BODY_BYTES).await?;
        let message: Value = serde_json::from_slice(&body).unwrap_or_default();
        let mut pending = self.begin(&message);
        let target = parts.uri.path_and_query().map_or("/mcp", |it| it.as_str());
        let base = self.server.trim_end_matches("/mcp");
        let answer = self
            .client
            .request(parts.method, format!("{base}{target}"))
            .headers(passed_on(&parts.headers))
            .body(body)
            .send()
            .await
            .context("the server cannot be reached")?;
        let mut response = Response::builder().status(answer.status());
        if let Some(headers) = response.headers_mut() {
            *headers = passed_on(answer.headers());
        }
        let lists = message["method"] == "tools/list";
        if pending.is_none() && !lists {
            return Ok(response.body(Body::from_stream(answer.bytes_stream()))?);
        }
        let passage = self.clone();
        let mut text = Vec::new();
        let chunks = answer.bytes_stream().map(Some).chain(futures::stream::once(async { None }));
        let chunks = chunks.filter_map(move |chunk| {
            let chunk = match chunk {
                Some(chunk) => {
                    if let Ok(bytes) = &chunk {
                        text.extend_from_slice(bytes);
                    }
                    // The end has to be written down before the client can act on it.
                    if let Some(answer) = answer_in(&text) {
                        match pending.take_if(|it| answer["id"] == it.id) {
                            Some(pending) => pending.finish(&answer),
                            None if lists => passage.note(&answer),
                            None => {}
                        }
                    }
                    Some(chunk)
                }
                None => {
                    if let Some(pending) = pending.take() {
                        pending.finish(&json!({ "error": { "message": "no answer came" } }));
                    }
                    None
                }
            };
            std::future::ready(chunk)
        });
        Ok(response.body(Body::from_stream(chunks))?)
    }

    fn begin(&self, message: &Value) -> Option<Pending> {
        if message["method"] != "tools/call" {
            return None;
        }
        let mut seen = lock(&self.seen);
        let since = Instant::now();
        let call = ToolCall {
            n: seen.calls.len() + 1,
            tool: message["params"]["name"].as_str().unwrap_or_default().to_owned(),
            arguments: message["params"]["arguments"].clone(),
            result: String::new(),
            is_error: true,
            ms: 0,
            at_ms: millis(self.started),
            requests: (self.world.count(), u64::MAX),
        };
        seen.calls.push(call.clone());
        Some(Pending { passage: self.clone(), id: message["id"].clone(), call, since })
    }

    fn note(&self, answer: &Value) {
        let tools = answer["result"]["tools"].as_array().cloned().unwrap_or_default();
        let mut seen = lock(&self.seen);
        for tool in tools {
            if !seen.inventory.iter().any(|it| it["name"] == tool["name"]) {
                seen.inventory.push(tool);
            }
        }
    }
}

impl Pending {
    fn finish(mut self, answer: &Value) {
        let result = &answer["result"];
        let blocks = result["content"].as_array().into_iter().flatten();
        let text: Vec<&str> = blocks.filter_map(|it| it["text"].as_str()).collect();
        self.call.is_error = result["isError"] == true || result.is_null();
        self.call.result = match answer["error"]["message"].as_str() {
            Some(message) => message.to_owned(),
            None => text.join("\n"),
        };
        self.call.ms = millis(self.since);
        self.call.requests.1 = self.passage.world.count();
        let mut seen = lock(&self.passage.seen);
        let at = self.call.n - 1;
        if let Some(call) = seen.calls.get_mut(at) {
            *call = self.call;
        }
        drop(seen);
        if let Some(tell) = &self.passage.on_call {
            tell();
        }
    }
}

/// The answer in a body so far: the body itself, or the last event of a stream that has one.
fn answer_in(text: &[u8]) -> Option<Value> {
    let is_answer = |it: &Value| it.get("result").is_some() || it.get("error").is_some();
    if let Ok(message) = serde_json::from_slice::<Value>(text) {
        return Some(message).filter(is_answer);
    }
    let text = std::str::from_utf8(text).ok()?;
    let events = text.lines().filter_map(|line| line.strip_prefix("data:"));
    let mut messages = events.filter_map(|it| serde_json::from_str::<Value>(it.trim()).ok());
    messages.rfind(is_answer)
}

fn passed_on(headers: &HeaderMap) -> HeaderMap {
    let kept = headers.iter().filter(|(name, _)| !NOT_PASSED_ON.contains(&name.as_str()));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn millis(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}
