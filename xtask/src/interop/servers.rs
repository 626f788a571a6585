//! `cargo xtask interop --servers`: APIs that none of us wrote, started on loopback, driven through
//! the real server: something is listed, created, changed and deleted.

use std::{
    fs::File,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use test_client::Client;

use super::{Report, done};

const PREFECT: &str = "prefect==3.9.1";
/// The last release that runs on Node 20: newer ones bring parts that are compiled for Node 22.
const DIRECTUS: &str = "directus@11.3.5";
const DIRECTUS_TOKEN: &str = "interop-admin-token";
/// Time a server gets until it answers.
const START: Duration = Duration::from_secs(120);

/// What is done with one API; the scripts find what they need by the name `interop`.
struct Steps {
    /// Plain words, and the operation they must find.
    search: (&'static str, &'static str),
    list: &'static str,
    create: &'static str,
    update: &'static str,
    read: &'static str,
    delete: &'static str,
}

const PREFECT_STEPS: Steps = Steps {
    search: ("create a variable", "create_variable_variables__post"),
    list: "return (await api.request('POST', '/variables/filter', { body: {} })).data.length",
    create: "return (await api.request('POST', '/variables/', { body: { name: 'interop', value: 'one', tags: ['a'] } })).data.name",
    update: "const it = (await api.request('GET', '/variables/name/interop')).data;
        return (await api.request('PATCH', `/variables/${it.id}`, { body: { value: 'two' } })).status",
    read: "return (await api.request('GET', '/variables/name/interop')).data.value",
    delete: "return (await api.request('DELETE', '/variables/name/interop')).status",
};

const DIRECTUS_STEPS: Steps = Steps {
    search: ("create a folder", "createFolder"),
    list: "return (await api.request('GET', '/folders')).data.data.length",
    create: "return (await api.request('POST', '/folders', { body: { name: 'interop' } })).data.data.name",
    update: "const it = (await api.request('GET', '/folders')).data.data.find((it) => it.name === 'interop');
        return (await api.request('PATCH', `/folders/${it.id}`, { body: { name: 'two' } })).status",
    read: "return (await api.request('GET', '/folders')).data.data[0].name",
    delete: "const it = (await api.request('GET', '/folders')).data.data.find((it) => it.name === 'two');
        return (await api.request('DELETE', `/folders/${it.id}`)).status",
};

/// Runs both; a server that cannot be installed is skipped with a message.
pub(super) fn run(binary: &Path, directory: &Path, report: &mut Report) -> Result<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    let servers: [(&str, fn(&Path) -> Result<Upstream>, &Steps); 2] =
        [("prefect", prefect, &PREFECT_STEPS), ("directus", directus, &DIRECTUS_STEPS)];
    for (name, start, steps) in servers {
        let upstream = match start(&directory.join(name)) {
            Ok(upstream) => upstream,
            Err(error) => {
                println!("skipped: {name} cannot be started: {error:#}");
                continue;
            }
        };
        runtime.block_on(drive(name, binary, &upstream, steps, report))?;
    }
    Ok(())
}

/// A server on loopback; ends with this value.
struct Upstream {
    process: Child,
    base: String,
    document: String,
    token: Option<&'static str>,
    /// Operations that read although they are no GETs.
    reads: &'static [&'static str],
}

impl Drop for Upstream {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

fn prefect(directory: &Path) -> Result<Upstream> {
    let python = directory.join("venv/bin/python");
    if !python.exists() {
        done(Command::new("python3").args(["-m", "venv"]).arg(directory.join("venv")))?;
    }
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    done(pip.arg(PREFECT))?;
    let port = free_port()?;
    let home = fresh(directory)?;
    let mut command = Command::new(directory.join("venv/bin/prefect"));
    command.args(["server", "start", "--host", "127.0.0.1", "--port", &port.to_string()]);
    command.env("PREFECT_HOME", home).env("PREFECT_SERVER_ANALYTICS_ENABLED", "false");
    let process = quiet(&mut command, directory)?;
    let base = format!("http://127.0.0.1:{port}/api");
    let upstream = Upstream {
        process,
        document: format!("http://127.0.0.1:{port}/openapi.json"),
        base,
        token: None,
        reads: &["POST /variables/filter"],
    };
    wait_for(port)?;
    Ok(upstream)
}

fn directus(directory: &Path) -> Result<Upstream> {
    let package = directory.join("node_modules/directus/cli.js");
    if !package.exists() {
        std::fs::create_dir_all(directory)?;
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"]);
        done(npm.arg(directory).arg(DIRECTUS))?;
    }
    let port = free_port()?;
    let data = fresh(directory)?;
    let package = package.canonicalize()?;
    let node = |word: &str| {
        let mut command = Command::new("node");
        command.arg(&package).arg(word).current_dir(&data);
        command
            .env("DB_CLIENT", "sqlite3")
            .env("DB_FILENAME", data.join("data.db"))
            .env("SECRET", "a-secret-of-the-interop-run")
            .env("ADMIN_EMAIL", "admin@example.com")
            .env("ADMIN_PASSWORD", "interop")
            .env("ADMIN_TOKEN", DIRECTUS_TOKEN)
            .env("HOST", "127.0.0.1")
            .env("PORT", port.to_string())
            .env("TELEMETRY", "false");
        command
    };
    let log = File::create(directory.join("bootstrap.log"))?;
    let mut bootstrap = node("bootstrap");
    done(bootstrap.stdout(log.try_clone()?).stderr(log))?;
    let process = quiet(&mut node("start"), directory)?;
    let base = format!("http://127.0.0.1:{port}");
    let upstream = Upstream {
        process,
        document: format!("{base}/server/specs/oas"),
        base,
        token: Some(DIRECTUS_TOKEN),
        reads: &[],
    };
    wait_for(port)?;
    Ok(upstream)
}

/// An empty folder for the server's data.
fn fresh(directory: &Path) -> Result<PathBuf> {
    let data = directory.join("data");
    if data.exists() {
        std::fs::remove_dir_all(&data)?;
    }
    std::fs::create_dir_all(&data)?;
    Ok(data.canonicalize()?)
}

/// Starts a server with its output in a file.
fn quiet(command: &mut Command, directory: &Path) -> Result<Child> {
    let log = File::create(directory.join("server.log"))?;
    let command = command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    command.spawn().with_context(|| format!("starting {command:?}"))
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

fn wait_for(port: u16) -> Result<()> {
    let begin = Instant::now();
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        ensure!(begin.elapsed() < START, "no answer on port {port} for {} s", START.as_secs());
        std::thread::sleep(Duration::from_millis(200));
    }
    Ok(())
}

async fn drive(
    name: &str,
    binary: &Path,
    upstream: &Upstream,
    steps: &Steps,
    report: &mut Report,
) -> Result<()> {
    let mut command = Command::new(PathBuf::from(binary));
    command.args(["--no-config", "--no-spec-cache", "--trusted", "--name", name]);
    command.args(["--openapi", &upstream.document, "--base-url", &upstream.base]);
    for read in upstream.reads {
        command.args(["--mark-read", read]);
    }
    if let Some(token) = upstream.token {
        command.env("INTEROP_TOKEN", token).args(["--token-env", "INTEROP_TOKEN"]);
    }
    let begin = Instant::now();
    let client = Client::stdio(command).await?;
    let (words, operation) = steps.search;
    let found = client.call("search", json!({ "query": words })).await?;
    report.check(name, &format!("`{words}` finds `{operation}`"), found.text.contains(operation));
    let before = result(&client, "execute", steps.list).await?;
    report.check(name, "lists", before.is_number());
    let created = write(&client, name, steps.create, "POST", report).await?;
    report.check(name, "creates", created == "interop");
    write(&client, name, steps.update, "PATCH", report).await?;
    report.check(name, "has updated", result(&client, "execute", steps.read).await? == "two");
    write(&client, name, steps.delete, "DELETE", report).await?;
    let after = result(&client, "execute", steps.list).await?;
    report.check(name, "has deleted", after == before);
    println!("      {name}: {} ms from start to end", begin.elapsed().as_millis());
    client.close().await?;
    Ok(())
}

async fn result(client: &Client, tool: &str, code: &str) -> Result<Value> {
    let answer = client.call(tool, json!({ "code": code })).await?;
    let mut answer = answer.json().context("an answer that is not JSON")?;
    ensure!(answer["error"].is_null(), "{answer}");
    Ok(answer["result"].take())
}

/// Plans, confirms and applies one write.
async fn write(
    client: &Client,
    name: &str,
    code: &str,
    method: &str,
    report: &mut Report,
) -> Result<Value> {
    let planned = client.call("execute_write", json!({ "code": code })).await?;
    let planned = planned.json().context("a plan that is not JSON")?;
    let shown = planned["plan"].as_array().map(Vec::len) == Some(1)
        && planned["plan"][0]["method"] == method
        && planned["complete"] == true;
    report.check(name, &format!("plans one {method}"), shown);
    let confirmed = json!({ "code": code, "confirm": planned["confirm"] });
    let applied = client.call("execute_write", confirmed).await?;
    let mut applied = applied.json().context("an answer that is not JSON")?;
    ensure!(applied["error"].is_null(), "{applied}");
    Ok(applied["result"].take())
}
