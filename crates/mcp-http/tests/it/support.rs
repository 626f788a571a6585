//! A server as a child process, and the words to speak with it.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use mocks::{Mock, Running, World};
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};

/// Long enough for a cold debug build on a loaded machine; never waited for when things work.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A running server; ended when dropped.
pub(crate) struct Server {
    child: Child,
    /// `http://127.0.0.1:PORT`.
    pub(crate) base: String,
    log: Arc<Mutex<Vec<String>>>,
    pub(crate) client: Client,
}

/// The real binary, with an empty environment, on a free port.
pub(crate) fn binary() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-http"));
    command.env_clear().env("MCP_LISTEN", "127.0.0.1:0").arg("--no-spec-cache");
    command
}

/// A client of which nothing goes through a proxy of the machine.
pub(crate) fn client() -> Client {
    rustls::crypto::aws_lc_rs::default_provider().install_default().ok();
    Client::builder().no_proxy().build().unwrap()
}

/// A browser for the playground, where there is one; its pictures are kept with the test's artifacts.
pub(crate) async fn browser() -> Option<browser::Browser> {
    let pictures = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("playground");
    browser::Browser::start(client(), pictures).await
}

/// The binary pointed at a mock authentik.
pub(crate) fn against(mock: &Running) -> Command {
    let mut command = binary();
    command.env("AUTHENTIK_URL", &mock.base_url).env("AUTHENTIK_TOKEN", &mock.token);
    command
}

pub(crate) fn authentik() -> Running {
    Mock::start(World::authentik()).unwrap()
}

impl Server {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let log = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&log);
        let (ready, is_ready) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                let parsed: Value = serde_json::from_str(&line).unwrap_or_default();
                if let Some(endpoint) = parsed["endpoint"].as_str() {
                    ready.send(endpoint.trim_end_matches("/mcp").to_owned()).ok();
                }
                kept.lock().unwrap().push(line);
            }
        });
        let base = is_ready.recv_timeout(PATIENCE).unwrap_or_else(|_| {
            panic!("it did not start: {:?}", log.lock().unwrap());
        });
        Self { child, base, log, client: client() }
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("{}/mcp", self.base)
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base)).timeout(PATIENCE)
    }

    /// Sends a message as clients do.
    pub(crate) fn post(&self, message: &Value) -> RequestBuilder {
        self.post_to("/mcp", message)
    }

    pub(crate) fn post_to(&self, path: &str, message: &Value) -> RequestBuilder {
        self.request(Method::POST, path)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .body(message.to_string())
    }

    /// Calls a tool without a session; the result.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        let response = self.post(&call(tool, arguments)).send().await.unwrap();
        result(response).await
    }

    pub(crate) fn log(&self) -> Vec<Value> {
        let log = self.log.lock().unwrap();
        log.iter().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// All that was written to stderr.
    pub(crate) fn written(&self) -> String {
        self.log.lock().unwrap().join("\n")
    }

    /// Waits until a line of the log fits.
    pub(crate) async fn logged(&self, fits: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(line) = self.log().into_iter().find(&fits) {
                return line;
            }
            assert!(Instant::now() < deadline, "not logged: {}", self.written());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Asks the process to end, as a supervisor does.
    #[cfg(unix)]
    pub(crate) fn terminate(&self) {
        Command::new("kill").arg(self.child.id().to_string()).status().unwrap();
    }

    pub(crate) fn wait(&mut self) -> std::process::ExitStatus {
        self.child.wait().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// A command that must not start; what it said.
pub(crate) fn refused(mut command: Command) -> (i32, String) {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code().unwrap(), said)
}

pub(crate) fn request(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

pub(crate) fn call(tool: &str, arguments: Value) -> Value {
    request("tools/call", json!({ "name": tool, "arguments": arguments }))
}

pub(crate) fn list() -> Value {
    request("tools/list", json!({}))
}

pub(crate) fn initialize() -> Value {
    request(
        "initialize",
        json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "t", "version": "1" },
        }),
    )
}

/// A message of the stateless revision; its headers are added by [`modern_headers`].
pub(crate) fn modern(method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
    });
    request(method, params)
}

pub(crate) fn modern_headers(request: RequestBuilder, message: &Value) -> RequestBuilder {
    let request = request
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", message["method"].as_str().unwrap());
    match message["params"]["name"].as_str() {
        Some(name) => request.header("mcp-name", name),
        None => request,
    }
}

/// The message of a response, whether it came alone or as the last of a stream.
pub(crate) async fn message(response: Response) -> Value {
    let kind = response.headers()["content-type"].to_str().unwrap().to_owned();
    let text = response.text().await.unwrap();
    if !kind.starts_with("text/event-stream") {
        return serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    }
    let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
    let mut parsed = data.filter_map(|it| serde_json::from_str::<Value>(it.trim()).ok());
    parsed.rfind(|it| it.get("id").is_some()).unwrap_or_else(|| panic!("{text}"))
}

pub(crate) async fn result(response: Response) -> Value {
    let status = response.status();
    let mut message = message(response).await;
    assert!(status == StatusCode::OK && message.get("result").is_some(), "{status}: {message}");
    message["result"].take()
}

/// The one text of a tool's result, as JSON.
pub(crate) fn text(result: &Value) -> Value {
    let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}"));
    serde_json::from_str(text).unwrap_or_else(|_| json!(text))
}

/// The names of a list of tools.
pub(crate) fn names(result: &Value) -> Vec<&str> {
    result["tools"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect()
}

#[expect(clippy::print_stderr, reason = "a skipped test says so")]
pub(crate) fn report_skip(why: &str) {
    eprintln!("skipped: {why}");
}
