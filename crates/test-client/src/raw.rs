//! A JSON-RPC line session with a child process, for frames that no well-behaved client sends.

use std::collections::VecDeque;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::output::Captured;

/// A child process and the lines it has written. Every line must be a JSON-RPC message: a stray
/// one is an error of [`Session::response`], [`Session::notification`] and [`Session::wait`].
/// The child is killed when the session is dropped.
#[derive(Debug)]
pub struct Session {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: mpsc::UnboundedReceiver<String>,
    unread: VecDeque<Value>,
    last_id: i64,
    stderr: Captured,
}

impl Session {
    pub fn spawn(command: impl Into<Command>) -> Result<Self> {
        let mut command: Command = command.into();
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let mut child = command.spawn().with_context(|| format!("starting {command:?}"))?;
        let stdin = child.stdin.take();
        let lines = read_lines(child.stdout.take().context("no stdout")?);
        let stderr = Captured::read(child.stderr.take().context("no stderr")?);
        Ok(Self { child, stdin, lines, unread: VecDeque::new(), last_id: 0, stderr })
    }

    /// The handshake of the legacy era; the result of `initialize`.
    pub async fn initialize(&mut self, protocol_version: &str) -> Result<Value> {
        let client = json!({ "name": "raw", "version": "1" });
        let params = json!({
            "protocolVersion": protocol_version, "capabilities": {}, "clientInfo": client
        });
        let id = self.request("initialize", params).await?;
        let response = self.response(id, Duration::from_secs(10)).await?;
        self.notify("notifications/initialized", json!({})).await?;
        response.get("result").cloned().with_context(|| format!("not a result: {response}"))
    }

    /// Sends the text as it is, with a line feed after it.
    pub async fn send_line(&mut self, line: &str) -> Result<()> {
        let stdin = self.stdin.as_mut().context("stdin is closed")?;
        stdin.write_all(format!("{line}\n").as_bytes()).await?;
        Ok(stdin.flush().await?)
    }

    /// Sends a request with the next free number as its id, which is returned.
    pub async fn request(&mut self, method: &str, params: Value) -> Result<i64> {
        self.last_id += 1;
        let id = self.last_id;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send_line(&request.to_string()).await?;
        Ok(id)
    }

    pub async fn notify(&mut self, method: &str, params: Value) -> Result<()> {
        let notification = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.send_line(&notification.to_string()).await
    }

    /// `tools/call`, and the result or error that came for it, as the whole message.
    pub async fn call(&mut self, name: &str, arguments: Value, within: Duration) -> Result<Value> {
        let params = json!({ "name": name, "arguments": arguments });
        let id = self.request("tools/call", params).await?;
        self.response(id, within).await
    }

    /// The message that answers the request `id`, whenever it came. Other messages stay unread.
    pub async fn response(&mut self, id: impl Into<Value>, within: Duration) -> Result<Value> {
        let id = id.into();
        let answers =
            |message: &Value| message.get("method").is_none() && message.get("id") == Some(&id);
        self.message(&format!("answer to {id}"), answers, within).await
    }

    /// The next unread notification of this method.
    pub async fn notification(&mut self, method: &str, within: Duration) -> Result<Value> {
        let wanted = |message: &Value| {
            message.get("id").is_none()
                && message.get("method").and_then(Value::as_str) == Some(method)
        };
        self.message(method, wanted, within).await
    }

    /// Ends the child's input, as a client does that goes away.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Waits for the child's own end and checks what it wrote until then.
    pub async fn wait(&mut self, within: Duration) -> Result<ExitStatus> {
        let Ok(status) = tokio::time::timeout(within, self.child.wait()).await else {
            bail!("still running after {within:?}; stderr: {}", self.stderr());
        };
        while let Some(line) = self.lines.recv().await {
            self.unread.push_back(message(&line)?);
        }
        self.stderr.finish().await;
        Ok(status?)
    }

    /// The child's process id, while it runs.
    pub fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// The messages that nobody has asked for yet, among those received so far.
    pub fn unread(&self) -> impl Iterator<Item = &Value> {
        self.unread.iter()
    }

    /// What the child has written to stderr so far; complete after [`Session::wait`].
    pub fn stderr(&self) -> String {
        self.stderr.text()
    }

    async fn message(
        &mut self,
        what: &str,
        wanted: impl Fn(&Value) -> bool,
        within: Duration,
    ) -> Result<Value> {
        let deadline = Instant::now() + within;
        loop {
            if let Some(found) = self.unread.iter().position(&wanted) {
                return self.unread.remove(found).context("just found");
            }
            let Ok(line) = tokio::time::timeout_at(deadline, self.lines.recv()).await else {
                bail!("no {what} within {within:?}; stderr: {}", self.stderr());
            };
            let Some(line) = line else {
                self.stderr.finish().await;
                bail!("stdout ended before the {what}; stderr: {}", self.stderr());
            };
            self.unread.push_back(message(&line)?);
        }
    }
}

fn read_lines(stdout: ChildStdout) -> mpsc::UnboundedReceiver<String> {
    let (sender, lines) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut stdout = BufReader::new(stdout);
        loop {
            // Not `lines()`, which would take a carriage return off.
            let mut line = Vec::new();
            let Ok(1..) = stdout.read_until(b'\n', &mut line).await else { return };
            if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                return;
            }
        }
    });
    lines
}

fn message(line: &str) -> Result<Value> {
    ensure!(line.ends_with('\n'), "stdout ended inside a line: {line:?}");
    ensure!(!line.contains('\r'), "a carriage return on stdout: {line:?}");
    let message: Value =
        serde_json::from_str(line).with_context(|| format!("not JSON-RPC on stdout: {line:?}"))?;
    let is_message = message.get("jsonrpc").and_then(Value::as_str) == Some("2.0")
        && (message.get("method").is_some() || message.get("id").is_some());
    ensure!(is_message, "not JSON-RPC on stdout: {line:?}");
    Ok(message)
}
