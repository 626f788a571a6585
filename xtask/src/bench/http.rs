//! `cargo xtask bench http`: calls per second over HTTP, beside the same tools on the official TypeScript SDK,
//! over the same document.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use mocks::{Mock, World};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::{
    demo::world::binary,
    memory::{OWN, RESIDENT, megabytes},
};

const SDK: &str = "@modelcontextprotocol/sdk@1.32.2";
/// Callers at once, each on a connection of its own.
const CALLERS: usize = 8;
/// Connections that are left, and how many of them are open at once.
const ABANDONED: usize = 10_000;
const AT_ONCE: usize = 250;
/// Calls of each caller, before the ones that count and then.
const WARM_UP: usize = 50;
const CALLS: usize = 400;

/// Measures both servers and prints a table. Both know `document` (JSON), or the one that the mock has.
pub(crate) fn run(document: Option<&Path>, as_json: bool) -> Result<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    let mock = Mock::start(World::authentik()).context("starting the mock")?;
    let program = binary("mcp-http")?;
    let home = program.parent().and_then(Path::parent);
    let home = home.context("the server is in no target directory")?.join("bench-http");
    fs::create_dir_all(&home)?;
    let own = home.join("document.json");
    let document = match document {
        Some(document) => fs::canonicalize(document).context("no such document")?,
        None => {
            fs::write(&own, runtime.block_on(fetch_document(&mock))?)?;
            own
        }
    };
    let mut command = Command::new(program);
    command.env_clear().env("AUTHENTIK_TOKEN", &mock.token).arg("--openapi").arg(&document);
    command.args(["--api", "authentik", "--base-url", &mock.base_url]);
    command.args(["--no-spec-cache", "--listen", "127.0.0.1:0", "--rate", "0"]);
    command.args(["--address-rate", "0"]).stderr(Stdio::piped());
    let ours = Server::start(command, true)?;
    let peer = peer(&home, &document)?;
    if peer.is_none() {
        println!("skipped: the TypeScript SDK, as npm cannot install it");
    }
    let mut rows = Vec::new();
    for (name, message) in messages() {
        let mut row = json!({ "call": name });
        let servers = [("mcp-http", Some(&ours)), ("typescript", peer.as_ref())];
        for (server, running) in servers {
            let Some(running) = running else { continue };
            let figures = runtime.block_on(measure(running, &message));
            row[server] = figures.with_context(|| format!("{name} of {server}"))?;
        }
        rows.push(row);
    }
    let mut row = json!({ "call": "abandoned" });
    for (server, running) in [("mcp-http", Some(&ours)), ("typescript", peer.as_ref())] {
        let Some(running) = running else { continue };
        row[server] = runtime.block_on(abandon(running)).context(server)?;
    }
    rows.push(row);
    if as_json {
        println!("{}", Value::Array(rows));
        return Ok(());
    }
    println!("{:<12}{:>47}{:>47}{:>18}", "", "mcp-http", "TypeScript SDK", "as many, in");
    for row in &rows {
        print!("{:<12}", row["call"].as_str().unwrap_or_default());
        for server in ["mcp-http", "typescript"] {
            print_figures(&row[server]);
        }
        print_ratios(row);
    }
    println!(
        "\n{CALLERS} callers at once, {CALLS} calls each: calls a second, median, 99th of a hundred, and memory \
         held afterwards:\nall that is resident, and in brackets the process's own, without the pages of its \
         program. At the end of a line: how many\ntimes the calls of the TypeScript server, in which part of \
         its memory.\nAbandoned: {ABANDONED} connections were left, half of them in the middle of a request, \
         half before the answer.\nThe TypeScript server knows the same document; its `search` counts words, \
         its `execute` starts a fresh isolate of Node."
    );
    Ok(())
}

fn print_figures(figures: &Value) {
    let number = |name: &str| figures[name].as_f64().unwrap_or_default();
    if figures.is_null() {
        print!("{:>47}", "–");
        return;
    }
    match figures["a_second"] {
        Value::Null => print!("{:>30}", ""),
        _ => {
            let (rate, median, last) = (number("a_second"), number("p50_ms"), number("p99_ms"));
            print!("{rate:>10.0}/s{median:>7.2} ms{last:>6.1} ms");
        }
    }
    print!("{:>6.0} MB ({:>3.0} MB)", number("mb"), number("own_mb"));
}

fn print_ratios(row: &Value) {
    let ratio =
        |name: &str| Some(row["mcp-http"][name].as_f64()? / row["typescript"][name].as_f64()?);
    let rate = ratio("a_second").map_or_else(String::new, |times| format!("{times:.1} x"));
    let part = |name| ratio(name).map_or_else(String::new, |part| format!("1/{:.0}", 1.0 / part));
    println!("{rate:>8}{:>6} ({})", part("mb"), part("own_mb"));
}

/// The document that the mock serves, as JSON.
async fn fetch_document(mock: &mocks::Running) -> Result<Vec<u8>> {
    let address = mock.base_url.trim_start_matches("http://").trim_end_matches('/');
    let mut stream = TcpStream::connect(address).await?;
    let request = format!(
        "GET /api/v3/schema/?format=json HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {}\r\n\
         Connection: close\r\n\r\n",
        mock.token
    );
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    let body = answer.windows(4).position(|it| it == b"\r\n\r\n").context("no answer")? + 4;
    Ok(answer.split_off(body))
}

fn messages() -> [(&'static str, Value); 3] {
    let message = |method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let call = |name: &str, arguments: Value| {
        message("tools/call", json!({ "name": name, "arguments": arguments }))
    };
    [
        ("tools/list", message("tools/list", json!({}))),
        ("search", call("search", json!({ "query": "create a captcha stage" }))),
        ("execute", call("execute", json!({ "code": "return 1" }))),
    ]
}

fn request(server: &Server, message: &Value) -> String {
    let body = message.to_string();
    format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-06-18\r\n\
         Content-Length: {}\r\n\r\n{body}",
        server.address,
        body.len()
    )
}

async fn measure(server: &Server, message: &Value) -> Result<Value> {
    let request = request(server, message);
    let mut callers = Vec::new();
    for _ in 0..CALLERS {
        let mut connection = Connection::open(&server.address).await?;
        for _ in 0..WARM_UP / CALLERS + 1 {
            connection.call(&request).await?;
        }
        callers.push(connection);
    }
    let started = Instant::now();
    let tasks: Vec<_> = callers
        .into_iter()
        .map(|mut connection| {
            let request = request.clone();
            tokio::spawn(async move {
                let mut times = Vec::with_capacity(CALLS);
                for _ in 0..CALLS {
                    let asked = Instant::now();
                    connection.call(&request).await?;
                    times.push(asked.elapsed());
                }
                anyhow::Ok(times)
            })
        })
        .collect();
    let mut times = Vec::new();
    for task in tasks {
        times.extend(task.await??);
    }
    let took = started.elapsed().as_secs_f64();
    times.sort();
    let ms = |at: usize| times.get(at).map_or(0.0, Duration::as_secs_f64) * 1e3;
    Ok(json!({
        "a_second": times.len() as f64 / took,
        "p50_ms": ms(times.len() / 2),
        "p99_ms": ms(times.len() * 99 / 100),
        "mb": megabytes(server.child.id(), RESIDENT)?,
        "own_mb": megabytes(server.child.id(), OWN)?,
    }))
}

/// Leaves many connections, and tells what memory is held then.
async fn abandon(server: &Server) -> Result<Value> {
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} });
    let whole = request(server, &list);
    let half = whole.get(..whole.len() / 2).unwrap_or_default();
    for _ in 0..ABANDONED / AT_ONCE {
        let mut held = Vec::new();
        for number in 0..AT_ONCE {
            let mut stream = TcpStream::connect(&server.address).await?;
            let text = if number % 2 == 0 { half } else { whole.as_str() };
            stream.write_all(text.as_bytes()).await?;
            held.push(stream);
        }
    }
    // One more is served when those before it are done with.
    Connection::open(&server.address).await?.call(&whole).await?;
    let process = server.child.id();
    Ok(json!({ "mb": megabytes(process, RESIDENT)?, "own_mb": megabytes(process, OWN)? }))
}

/// A connection that is kept: the client's own cost must not hide the server's.
struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    async fn open(address: &str) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::new() })
    }

    /// Sends a request and reads its answer, which must be a good one of known length or in chunks.
    async fn call(&mut self, request: &str) -> Result<()> {
        self.stream.write_all(request.as_bytes()).await?;
        let head_end = loop {
            match self.buffer.windows(4).position(|it| it == b"\r\n\r\n") {
                Some(at) => break at + 4,
                None => self.fill().await?,
            }
        };
        let head = String::from_utf8_lossy(self.buffer.get(..head_end).unwrap_or_default());
        let head = head.to_ascii_lowercase();
        ensure!(head.starts_with("http/1.1 200"), "{head}");
        let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
        let end = match length {
            Some(length) => head_end + length.trim().parse::<usize>()?,
            None => loop {
                let body = self.buffer.get(head_end..).unwrap_or_default();
                match body.windows(5).position(|it| it == b"0\r\n\r\n") {
                    Some(at) => break head_end + at + 5,
                    None => self.fill().await?,
                }
            },
        };
        while self.buffer.len() < end {
            self.fill().await?;
        }
        let body = self.buffer.get(head_end..end).unwrap_or_default();
        let failed = body.windows(14).any(|it| it == br#""isError":true"#);
        ensure!(!failed, "{}", String::from_utf8_lossy(body));
        self.buffer.drain(..end);
        Ok(())
    }

    async fn fill(&mut self) -> Result<()> {
        let read = self.stream.read_buf(&mut self.buffer).await?;
        ensure!(read > 0, "the server closed the connection");
        Ok(())
    }
}

/// A server under measurement; ended when dropped.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    /// Starts it and waits for the line that says where it is.
    fn start(mut command: Command, on_stderr: bool) -> Result<Self> {
        let mut child = command.spawn().with_context(|| format!("starting {command:?}"))?;
        let output: Box<dyn std::io::Read + Send> = match on_stderr {
            true => Box::new(child.stderr.take().context("no stderr")?),
            false => Box::new(child.stdout.take().context("no stdout")?),
        };
        let mut lines = BufReader::new(output).lines().map_while(Result::ok);
        let address = lines.find_map(|line| {
            let line: Value = serde_json::from_str(&line).ok()?;
            let endpoint = line["endpoint"].as_str()?;
            let address = endpoint.trim_start_matches("http://").trim_end_matches("/mcp");
            Some(address.to_owned())
        });
        std::thread::spawn(move || lines.for_each(drop));
        Ok(Self { child, address: address.context("the server did not start")? })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// The server on the TypeScript SDK; `None` where npm cannot install it.
fn peer(home: &Path, document: &Path) -> Result<Option<Server>> {
    if !home.join("node_modules/@modelcontextprotocol/sdk").exists() {
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"]);
        npm.arg(home).arg(SDK).stdout(Stdio::null());
        if !npm.status().is_ok_and(|it| it.success()) {
            return Ok(None);
        }
    }
    let script = home.join("peer.mjs");
    fs::write(&script, include_str!("http/peer.mjs"))?;
    let mut node = Command::new("node");
    node.arg(&script).arg(document).stdout(Stdio::piped());
    Server::start(node, false).map(Some)
}
