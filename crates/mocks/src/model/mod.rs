//! A language model on loopback that says what a test wrote down, in the words of any provider.
//!
//! It speaks OpenAI's Responses and Chat Completions and Anthropic's Messages, whole or streamed,
//! whichever is asked for.

mod chat;
mod messages;
mod responses;

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, Response, StatusCode, header};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Notify;

const MAX_BODY_BYTES: usize = 64 * 1024 * 1024;

/// What a request is answered with.
#[derive(Clone, Debug)]
pub enum ModelAnswer {
    /// A turn: words, calls (name and arguments, or anything else a model might write in their place)
    /// and what it cost.
    Turn { text: String, calls: Vec<(String, Value)>, tokens: Tokens },
    /// A status with a body.
    Status { status: u16, headers: Vec<(String, String)>, body: String },
    /// The beginning of a turn, after which the connection ends.
    CutOff { text: String },
    /// Nothing, for as long as the other side waits.
    Never,
}

/// What an answer cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tokens {
    pub uncached_input: u64,
    pub cache_creation: u64,
    pub cache_read: u64,
    pub output: u64,
    pub reasoning: u64,
}

impl Default for Tokens {
    fn default() -> Self {
        Self { uncached_input: 11, cache_creation: 0, cache_read: 0, output: 7, reasoning: 0 }
    }
}

impl ModelAnswer {
    /// Some words.
    pub fn say(text: impl Into<String>) -> Self {
        Self::Turn { text: text.into(), calls: Vec::new(), tokens: Tokens::default() }
    }

    /// One call.
    pub fn call(name: impl Into<String>, arguments: Value) -> Self {
        Self::calls([(name.into(), arguments)])
    }

    /// Several calls in one turn.
    pub fn calls(calls: impl IntoIterator<Item = (String, Value)>) -> Self {
        let calls = calls.into_iter().collect();
        Self::Turn { text: String::new(), calls, tokens: Tokens::default() }
    }

    /// An error in the form all providers share.
    pub fn status(status: u16, message: &str) -> Self {
        let body = json!({ "error": { "type": "error", "message": message } }).to_string();
        Self::Status { status, headers: Vec::new(), body }
    }

    /// The same turn at another price.
    #[must_use]
    pub fn costing(self, tokens: Tokens) -> Self {
        match self {
            Self::Turn { text, calls, .. } => Self::Turn { text, calls, tokens },
            other @ (Self::Status { .. } | Self::CutOff { .. } | Self::Never) => other,
        }
    }
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    pub path: String,
    pub query: String,
    /// Lower-case names.
    pub headers: Vec<(String, String)>,
    pub body: Value,
}

impl ModelRequest {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The names of the tools that are offered; of those in a namespace, with its name and `__` before.
    pub fn tools(&self) -> Vec<String> {
        let name = |tool: &Value| {
            let name = tool.get("name").or_else(|| tool["function"].get("name"));
            name.and_then(Value::as_str).map(str::to_owned)
        };
        let tools = self.body["tools"].as_array().into_iter().flatten();
        tools
            .flat_map(|tool| match namespace(tool) {
                Some((space, tools)) => {
                    let names = tools.iter().filter_map(name);
                    names.map(|it| format!("{space}__{it}")).collect()
                }
                None => Vec::from_iter(name(tool)),
            })
            .collect()
    }

    /// The names of the namespaces that tools are offered in.
    fn namespaces(&self) -> Vec<&str> {
        let tools = self.body["tools"].as_array().into_iter().flatten();
        tools.filter_map(|it| Some(namespace(it)?.0)).collect()
    }

    /// The results of tools in the whole conversation, oldest first.
    pub fn results(&self) -> Vec<String> {
        let turns = self.body.get("messages").or_else(|| self.body.get("input"));
        let mut results = Vec::new();
        for turn in turns.and_then(Value::as_array).into_iter().flatten() {
            if turn["role"] == "tool" {
                results.push(words(&turn["content"]));
            } else if turn["type"] == "function_call_output" {
                results.push(words(&turn["output"]));
            }
            for block in turn["content"].as_array().into_iter().flatten() {
                if block["type"] == "tool_result" {
                    results.push(words(&block["content"]));
                }
            }
        }
        results
    }
}

/// Text, or the text of parts.
fn words(value: &Value) -> String {
    match value {
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        other => other.as_str().unwrap_or_default().to_owned(),
    }
}

/// A model that is listening; dropping it stops it.
pub struct ModelServer {
    /// `http://127.0.0.1:PORT`, without a trailing slash; OpenAI's kin wants `/v1` after it.
    pub base_url: String,
    seen: Arc<Mutex<Vec<ModelRequest>>>,
    stop: Arc<Notify>,
    thread: Option<JoinHandle<()>>,
}

struct Service {
    seen: Arc<Mutex<Vec<ModelRequest>>>,
    answer: Box<dyn Fn(&ModelRequest) -> ModelAnswer + Send + Sync>,
}

impl ModelServer {
    /// Answers each request by what `answer` makes of it.
    pub fn start(
        answer: impl Fn(&ModelRequest) -> ModelAnswer + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let base_url = format!("http://{}", listener.local_addr()?);
        let seen = Arc::<Mutex<Vec<ModelRequest>>>::default();
        let service = Arc::new(Service { seen: Arc::clone(&seen), answer: Box::new(answer) });
        let stop = Arc::new(Notify::new());
        let stopped = Arc::clone(&stop);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let serving = async move {
            let app = Router::new().fallback(serve).with_state(service);
            let serving = async {
                if let Ok(listener) = TcpListener::from_std(listener) {
                    // It serves until it is dropped.
                    drop(axum::serve(listener, app).await);
                }
            };
            tokio::select! { () = serving => {}, () = stopped.notified() => {} }
        };
        let thread = std::thread::Builder::new().name("model".to_owned()).spawn(move || {
            runtime.block_on(serving);
        })?;
        Ok(Self { base_url, seen, stop, thread: Some(thread) })
    }

    /// Gives these answers one after another, and then an error that says there are no more.
    pub fn script(answers: impl IntoIterator<Item = ModelAnswer>) -> io::Result<Self> {
        let answers = Mutex::new(answers.into_iter().collect::<VecDeque<_>>());
        Self::start(move |_| {
            let next = answers.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            next.unwrap_or_else(|| ModelAnswer::status(400, "the script has no more answers"))
        })
    }

    /// Every request so far.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl fmt::Debug for ModelServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelServer").field("base_url", &self.base_url).finish_non_exhaustive()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.stop.notify_one();
        if let Some(thread) = self.thread.take() {
            // A panic of the serving thread has been printed by then.
            drop(thread.join());
        }
    }
}

/// The name and the tools of what is no tool but a namespace.
fn namespace(tool: &Value) -> Option<(&str, &[Value])> {
    let tools = tool["tools"].as_array().filter(|_| tool["type"] == "namespace")?;
    Some((tool["name"].as_str()?, tools))
}

/// What an answer is made of, whichever form it takes.
struct Turn<'a> {
    id: String,
    model: &'a str,
    namespaces: &'a [&'a str],
    text: &'a str,
    calls: &'a [(String, Value)],
    tokens: Tokens,
}

impl Turn<'_> {
    fn call_id(&self, index: usize) -> String {
        format!("call_{}_{index}", self.id)
    }
}

async fn serve(
    State(service): State<Arc<Service>>,
    request: axum::extract::Request,
) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let Ok(body) = axum::body::to_bytes(body, MAX_BODY_BYTES).await else {
        return plain(413, &[], "{}".to_owned());
    };
    let header = |(name, value): (&HeaderName, &HeaderValue)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    let request = ModelRequest {
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().unwrap_or_default().to_owned(),
        headers: parts.headers.iter().map(header).collect(),
        body: serde_json::from_slice(&body).unwrap_or_default(),
    };
    let form = match request.path.as_str() {
        path if path.ends_with("/chat/completions") => Form::Chat,
        path if path.ends_with("/responses") => Form::Responses,
        path if path.ends_with("/messages") => Form::Messages,
        _ => {
            let body = json!({ "error": { "message": "this model has no such route" } });
            return plain(404, &[], body.to_string());
        }
    };
    let number = {
        let mut seen = service.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.push(request.clone());
        seen.len()
    };
    let model = request.body["model"].as_str().unwrap_or("unnamed");
    // A name stands for whatever is its newest version, as with real ones.
    let resolved = format!("{model}-2026-11-30");
    let namespaces = request.namespaces();
    let turn = |text, calls, tokens| Turn {
        id: number.to_string(),
        model: &resolved,
        namespaces: &namespaces,
        text,
        calls,
        tokens,
    };
    let is_streamed = request.body["stream"] == true;
    match (service.answer)(&request) {
        ModelAnswer::Turn { text, calls, tokens } => {
            form.answer(&turn(&text, &calls, tokens), is_streamed, true)
        }
        ModelAnswer::CutOff { text } => {
            form.answer(&turn(&text, &[], Tokens::default()), is_streamed, false)
        }
        ModelAnswer::Status { status, headers, body } => plain(status, &headers, body),
        ModelAnswer::Never => std::future::pending().await,
    }
}

#[derive(Clone, Copy)]
enum Form {
    Chat,
    Responses,
    Messages,
}

impl Form {
    fn answer(self, turn: &Turn<'_>, is_streamed: bool, is_whole: bool) -> Response<Body> {
        if !is_streamed {
            let body = match self {
                Self::Chat => chat::whole(turn),
                Self::Responses => responses::whole(turn),
                Self::Messages => messages::whole(turn),
            };
            let mut body = body.to_string();
            if !is_whole {
                body.truncate(body.len() / 2);
            }
            return plain(200, &[], body);
        }
        let mut events = match self {
            Self::Chat => chat::events(turn),
            Self::Responses => responses::events(turn),
            Self::Messages => messages::events(turn),
        };
        if !is_whole {
            // What ends an answer are its last two events in every form.
            events.truncate(events.len().saturating_sub(2));
        }
        let mut body: String = events
            .iter()
            .map(|event| match event["type"].as_str() {
                Some(name) => format!("event: {name}\ndata: {event}\n\n"),
                None => format!("data: {event}\n\n"),
            })
            .collect();
        if is_whole && matches!(self, Self::Chat) {
            body.push_str("data: [DONE]\n\n");
        }
        let kind = ("content-type".to_owned(), "text/event-stream".to_owned());
        plain(200, &[kind], body)
    }
}

fn plain(status: u16, headers: &[(String, String)], body: String) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    for (name, value) in headers {
        let name = HeaderName::try_from(name.as_str());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::try_from(value.as_str())) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

/// A text in two pieces, cut between characters.
fn halves(text: &str) -> [&str; 2] {
    let (first, second) = text.split_at(text.floor_char_boundary(text.len() / 2));
    [first, second]
}
