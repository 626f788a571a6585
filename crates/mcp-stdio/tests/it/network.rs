//! The way out of the real binary: credentials, certificates, proxies, and what the log never shows.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::{SocketAddr, TcpListener},
    path::PathBuf,
    process::Command,
    sync::{Arc, Mutex},
    thread,
};

use serde_json::{Value, json};
use tempfile::TempDir;
use test_client::raw;

use crate::{
    echo::{self, Echo},
    support,
};

const TOKEN: &str = "SECRET-abc123XYZ";
const ECHO: &str = "return (await api.request('GET', '/echo')).data";

/// A folder with an awkward name that holds the document.
struct Folder {
    folder: TempDir,
}

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let this = Self { folder };
        std::fs::create_dir(this.path("")).unwrap();
        std::fs::write(this.path("spec.json"), echo::document().to_string()).unwrap();
        this
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("a b & c").join(name)
    }

    fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.path(name), text).unwrap();
        self.path(name).to_str().unwrap().to_owned()
    }

    /// The binary for an API at `base`.
    fn command(&self, base: &str) -> Command {
        let mut command = support::binary();
        command.arg("--openapi").arg(self.path("spec.json")).args([
            "--base-url",
            base,
            "--trusted",
        ]);
        command
    }
}

async fn run(session: &mut raw::Session, code: &str) -> (bool, String) {
    support::call(session, "execute", json!({ "code": code })).await
}

/// Runs one script on a server of its own; its text, and what it logged.
async fn once(command: Command, code: &str) -> (String, String) {
    let mut session = support::connect(command).await;
    let (_, text) = run(&mut session, code).await;
    session.close_stdin();
    session.wait(support::PATIENCE).await.unwrap();
    (text, session.stderr())
}

/// P58 and P74: each way to give a credential, with files behind spaces; none shows in the list of
/// processes.
#[tokio::test]
async fn each_way_to_give_a_credential_puts_it_into_its_place() {
    let folder = Folder::new();
    let file = folder.write("token file", &format!("{TOKEN}\n"));
    let url = format!("file://{}", file.replace(' ', "%20").replace('&', "%26"));
    let bearer = format!("authorization: Bearer {TOKEN}\r\n");
    // A shell-like command: one word is quoted, none is expanded.
    let command = format!("cat '{file}'");
    let table: [(&[&str], &str); 8] = [
        (&["--token-env", "MY_TOKEN"], &bearer),
        (&["--token-file", &file], &bearer),
        (&["--token-file", &url], &bearer),
        (&["--token-command", &command], &bearer),
        (
            &["--token-env", "MY_TOKEN", "--auth", "header:X-Api-Key"],
            "x-api-key: SECRET-abc123XYZ\r\n",
        ),
        // ann:SECRET-abc123XYZ
        (
            &["--token-env", "MY_TOKEN", "--auth", "basic:ann"],
            "authorization: Basic YW5uOlNFQ1JFVC1hYmMxMjNYWVo=\r\n",
        ),
        (
            &["--token-file", &file, "--auth", "query:key"],
            "GET /echo?key=SECRET-abc123XYZ HTTP/1.1\r\n",
        ),
        (&["--header", "X-Tenant: acme"], "x-tenant: acme\r\n"),
    ];
    for (arguments, expected) in table {
        let echo = Echo::start();
        let mut command = folder.command(&echo.base());
        command
            .args(arguments)
            .env("MY_TOKEN", TOKEN)
            .env("PATH", std::env::var_os("PATH").unwrap());
        let mut session = support::connect(command).await;
        let (is_error, text) = run(&mut session, ECHO).await;
        assert!(!is_error && !text.contains("abc123"), "{arguments:?}: {text}");
        let head = echo.heads().remove(0);
        assert!(head.contains(expected), "{arguments:?}: {head}");
        let shown = std::fs::read(format!("/proc/{}/cmdline", session.id().unwrap()));
        assert!(!String::from_utf8_lossy(&shown.unwrap_or_default()).contains("abc123"));
    }
}

/// P78.
#[tokio::test]
async fn a_changed_token_file_counts_at_once_and_a_refused_token_leaves_the_session_up() {
    let folder = Folder::new();
    let file = folder.write("token", "first-token");
    let echo = Echo::start();
    let mut command = folder.command(&echo.base());
    command.args(["--token-file", &file]);
    let mut session = support::connect(command).await;
    run(&mut session, ECHO).await;
    let (is_error, text) =
        run(&mut session, "return (await api.request('GET', '/denied')).data").await;
    assert!(is_error && text.contains("token expired"), "{text}");
    assert!(text.contains("not accepted: check `--token-file`"), "{text}");
    folder.write("token", "second-token");
    run(&mut session, ECHO).await;
    let heads = echo.heads();
    let token = |head: &String| head.contains("second-token");
    assert_eq!(heads.iter().map(token).collect::<Vec<_>>(), [false, false, true]);
    let list = session.request("tools/list", json!({})).await.unwrap();
    let answer = session.response(list, support::PATIENCE).await.unwrap();
    assert!(answer["result"]["tools"].is_array());
}

/// P57.
#[tokio::test]
async fn a_token_nobody_filled_in_ends_the_start() {
    let folder = Folder::new();
    let echo = Echo::start();
    for text in ["${MY_TOKEN}", "<token>", "your-token-here", "{env:MY_TOKEN}"] {
        let output =
            folder.command(&echo.base()).args(["--token-env", "T"]).env("T", text).output();
        let output = output.unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{text}: {stderr}");
        assert!(stderr.starts_with("error: `T` holds "), "{text}: {stderr}");
    }
    assert_eq!(echo.heads().len(), 0);
}

/// P62.
#[tokio::test]
async fn no_log_level_and_no_echo_shows_the_token() {
    let folder = Folder::new();
    let echo = Echo::start();
    let levels =
        "trace,hyper=trace,hyper_util=trace,h2=trace,reqwest=trace,rustls=trace,rmcp=trace";
    for scheme in ["bearer", "header:X-Key", "basic:ann", "query:key", "oauth:agent"] {
        let mut command = folder.command(&echo.base());
        if scheme.starts_with("oauth") {
            command.arg("--token-url").arg(format!("{}/token", echo.base()));
        }
        command.args(["--token-env", "T", "--auth", scheme, "--header", "X-Gate: gate-hunter22"]);
        command.env("T", TOKEN).env("RUST_LOG", levels);
        let code = "const r = await api.request('GET', '/echo?a=1'); console.log(r.headers); const f = await api.request('GET', '/denied'); return f.ok || [r.data, f.data]";
        let (text, log) = once(command, code).await;
        assert!(text.contains("[secret]") && log.contains("TRACE"), "{scheme}: {text}");
        for hidden in ["abc123", "uvw456", "hunter22", "U0VDUkVULWFiYzEyM", "%61%62%63%31%32%33"] {
            assert!(!text.contains(hidden), "{scheme}: {hidden} in {text}");
            assert!(!log.contains(hidden), "{scheme}: {hidden} in the log");
        }
    }
    let sent = echo.heads();
    assert!(
        sent.iter().any(|it| it.contains("authorization: Bearer ACCESS-uvw456RST")),
        "{sent:?}"
    );
}

/// P59 and P74: a private authority is trusted by option or by variable, from a path with spaces.
#[tokio::test]
async fn a_private_authority_is_named_until_it_is_trusted() {
    let folder = Folder::new();
    let echo = Echo::secure();
    let base = format!("https://{}", echo.address);
    let copy = folder.write("ca.pem", &std::fs::read_to_string(echo::authority()).unwrap());
    let (text, _) = once(folder.command(&base), ECHO).await;
    assert!(text.contains("issued by `Example Test Authority`, which is not trusted"), "{text}");
    for variable in ["SSL_CERT_FILE", "MCP_CA_CERT"] {
        let mut command = folder.command(&base);
        command.env(variable, &copy);
        let (text, log) = once(command, ECHO).await;
        assert!(text.contains("GET /echo"), "{variable}: {text}");
        assert!(!log.contains("insecure"), "{log}");
    }
    let mut command = folder.command(&base);
    command.arg("--insecure-tls");
    let (text, log) = once(command, ECHO).await;
    assert!(text.contains("GET /echo"), "{text}");
    assert!(log.contains("WARN") && log.contains("`--insecure-tls`: anyone on the way"), "{log}");
}

/// A proxy that answers every request itself and refuses every tunnel; its request lines.
fn proxy() -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let lines = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&lines);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream);
            let mut line = String::new();
            reader.read_line(&mut line).ok();
            seen.lock().unwrap().push(line.trim_end().to_owned());
            let mut header = String::new();
            while reader.read_line(&mut header).is_ok_and(|it| it > 2) {
                header.clear();
            }
            let answer = match line.starts_with("CONNECT ") {
                true => "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n",
                false => "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 3\r\n\r\nvia",
            };
            reader.get_mut().write_all(answer.as_bytes()).ok();
        }
    });
    (address, lines)
}

/// P60.
#[tokio::test]
async fn proxies_are_taken_from_the_environment_or_the_option() {
    let folder = Folder::new();
    let (address, lines) = proxy();
    let proxy = format!("http://{address}");
    let (http, https) = ("http://api.test", "https://api.test");
    let plain = "GET http://api.test/echo HTTP/1.1";
    let tunnel = "CONNECT api.test:443 HTTP/1.1";
    let cases = [
        ("HTTP_PROXY", http, plain),
        ("http_proxy", http, plain),
        ("HTTPS_PROXY", https, tunnel),
        ("https_proxy", https, tunnel),
        ("ALL_PROXY", https, tunnel),
        ("all_proxy", http, plain),
        ("MCP_PROXY", https, tunnel),
    ];
    for (variable, base, expected) in cases {
        let mut command = folder.command(base);
        command.env(variable, &proxy).arg("--no-retries");
        let (text, _) = once(command, ECHO).await;
        assert_eq!(*lines.lock().unwrap(), [expected], "{variable}: {text}");
        lines.lock().unwrap().clear();
    }
    for exception in ["NO_PROXY", "no_proxy"] {
        let mut command = folder.command("http://api.invalid");
        command.env("HTTP_PROXY", &proxy).env(exception, "other.test,.invalid").arg("--no-retries");
        let (text, _) = once(command, ECHO).await;
        assert!(text.contains("`api.invalid:80` is unknown (DNS)"), "{exception}: {text}");
    }
    let echo = Echo::start();
    let mut command = folder.command(&echo.base());
    command.env("ALL_PROXY", &proxy).args(["--proxy", &proxy]);
    once(command, ECHO).await;
    assert_eq!((echo.heads().len(), lines.lock().unwrap().len()), (1, 0), "loopback goes straight");
}

/// P42, P44, P45 and P72.
#[tokio::test]
async fn what_went_wrong_upstream_is_said_with_what_to_do() {
    let folder = Folder::new();
    let echo = Echo::start();
    let mut session = support::connect(folder.command(&echo.base())).await;
    for (path, expected) in [
        ("/forbidden", &["needs org:admin", "asks for the scopes org:admin"][..]),
        ("/orgs/hidden/", &["no such thing", "no permission to see it"]),
        ("/limited", &["429", "slow", "1 s"]),
    ] {
        let before = echo.heads().len();
        let code = format!("return (await api.request('GET', '{path}')).data");
        let (is_error, text) = run(&mut session, &code).await;
        assert!(is_error, "{path}: {text}");
        for expected in expected {
            assert!(text.contains(expected), "{path}: {expected} in {text}");
        }
        let sent = echo.heads().len() - before;
        assert_eq!(sent, if path == "/limited" { 3 } else { 1 }, "{path}");
    }
}

#[tokio::test]
async fn a_script_sees_what_is_left_of_the_rate_limit() {
    let folder = Folder::new();
    let echo = Echo::start();
    let mut session = support::connect(folder.command(&echo.base())).await;
    let code = "const before = api.budget(); await api.request('GET', '/echo'); return [before, api.budget()]";
    let answer = support::ok(&mut session, "execute", json!({ "code": code })).await;
    assert_eq!(answer["result"][0], json!([]));
    let budget = &answer["result"][1][0];
    assert_eq!((&budget["origin"], &budget["remaining"]), (&json!(echo.base()), &json!(7)));
    assert!(budget["reset"].as_f64().is_some_and(|it| it > 25.0), "{budget}");
}

/// P75.
#[tokio::test]
async fn every_line_of_stdout_ends_with_a_line_feed_alone() {
    let folder = Folder::new();
    let mut command = folder.command("http://127.0.0.1:9");
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = command.stderr(std::process::Stdio::null()).spawn().unwrap();
    let initialize = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } },
    });
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let mut input = child.stdin.take().unwrap();
    for message in [&initialize, &ready, &list] {
        input.write_all(format!("{message}\r\n").as_bytes()).unwrap();
    }
    drop(input);
    let output = child.wait_with_output().unwrap().stdout;
    assert!(!output.contains(&b'\r'));
    let lines: Vec<Value> = output
        .split(|it| *it == b'\n')
        .filter(|it| !it.is_empty())
        .map(|it| serde_json::from_slice(it).unwrap())
        .collect();
    assert_eq!(lines.len(), 2);
    assert!(output.ends_with(b"}\n"));
}

/// P56: a document's own servers and token addresses are never asked.
#[tokio::test]
async fn servers_and_token_addresses_of_a_document_are_left_alone() {
    let folder = Folder::new();
    let (trap, other, echo) = (Echo::start(), Echo::start(), Echo::start());
    let mut document = echo::document();
    document["servers"] = json!([{ "url": trap.base() }]);
    document["paths"]["/denied"]["get"]["servers"] = json!([{ "url": other.base() }]);
    document["paths"]["/meta"] = document["paths"]["/limited"].clone();
    document["paths"]["/meta"]["servers"] = json!([{ "url": "http://169.254.169.254/latest" }]);
    let flows = &mut document["components"]["securitySchemes"]["oauth"]["flows"];
    flows["clientCredentials"]["tokenUrl"] = json!(format!("{}/token", trap.base()));
    std::fs::write(folder.path("spec.json"), document.to_string()).unwrap();
    let mut command = folder.command(&echo.base());
    command.args(["--token-env", "T"]).env("T", TOKEN);
    let mut session = support::connect(command).await;
    for path in ["/denied", "/meta"] {
        let code = format!("return (await api.request('GET', '{path}')).status");
        let (is_error, text) = run(&mut session, &code).await;
        assert!(is_error && text.contains("not this API's configured address"), "{path}: {text}");
    }
    run(&mut session, "return (await api.request('GET', '/forbidden')).status").await;
    assert_eq!((trap.heads().len(), other.heads().len(), echo.heads().len()), (0, 0, 1));
}
