//! `cargo xtask interop`: official clients against both real servers and a mock authentik; with
//! `--servers`, the real server against APIs that none of us wrote. Opt-in: it installs clients and
//! servers from their registries into `target/interop`.

mod hosted;
mod servers;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Map, Value, json};

use self::hosted::Hosted;
use crate::demo::world::World;

const INSPECTOR: &str = "@modelcontextprotocol/inspector@2.12.0";
const TYPESCRIPT_CLIENT: &str = "@modelcontextprotocol/client@2.4.0";
const PYTHON_CLIENT: &str = "mcp==2.3.0";

/// Of what a failed client wrote, the end is shown.
const SAID_LINES: usize = 10;

const FLOW: &str = "default-authentication-flow";

/// Runs every check; an error when one fails. Says so and passes where the clients cannot be had.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let with_servers = match arguments {
        [] => false,
        [one] if one == "--servers" => true,
        [unknown, ..] => bail!("`interop` takes `--servers` or nothing, not `{unknown}`"),
    };
    for program in ["node", "npm", "python3"] {
        if !is_there(program) {
            println!("skipped: `{program}` is not installed");
            return Ok(());
        }
    }
    let world = World::start()?;
    let profile = world.server.parent();
    let target = profile.and_then(Path::parent).context("the server is in no target directory")?;
    let clients = match Clients::install(target.join("interop")) {
        Ok(clients) => clients,
        // Registries that cannot be reached say nothing about the server.
        Err(error) => {
            println!("skipped: the clients cannot be installed: {error:#}");
            return Ok(());
        }
    };
    let hosted = Hosted::start(&world)?;
    let mut report = Report::default();
    for way in [Way::Stdio(&world), Way::Http(&hosted)] {
        for era in ["legacy", "modern"] {
            let seen = clients.inspector(way, era);
            report.client(&format!("inspector ({era}, {})", way.name()), seen);
        }
        for (mode, protocol) in
            [("legacy", "2025-11-25"), ("2026-07-28", "2026-07-28"), ("auto", "2026-07-28")]
        {
            let seen = clients.python(way, mode);
            report.speaking(&format!("python ({mode}, {})", way.name()), protocol, seen);
            let seen = clients.typescript(way, mode);
            report.speaking(&format!("typescript ({mode}, {})", way.name()), protocol, seen);
        }
    }
    if with_servers {
        servers::run(&world.server, &target.join("interop"), &mut report)?;
    }
    let Report { passed, failed } = report;
    println!("{passed} passed, {failed} failed");
    ensure!(failed == 0, "interop: {failed} checks failed");
    Ok(())
}

/// How a client reaches the server.
#[derive(Clone, Copy)]
enum Way<'a> {
    Stdio(&'a World),
    Http(&'a Hosted),
}

impl Way<'_> {
    fn name(self) -> &'static str {
        match self {
            Self::Stdio(_) => "stdio",
            Self::Http(_) => "http",
        }
    }

    /// What a client is told to do.
    fn task(self, mode: &str) -> Value {
        let calls: Vec<_> = calls()
            .into_iter()
            .map(|(tool, it)| json!({ "tool": tool, "arguments": it }))
            .collect();
        let mut task = json!({ "mode": mode, "calls": calls });
        match self {
            Self::Stdio(world) => {
                let named = |(name, it): (&str, &str)| (name.to_owned(), Value::from(it));
                let environment: Map<_, _> = world.environment().map(named).into_iter().collect();
                task["command"] = json!(world.server.to_string_lossy());
                task["arguments"] = json!(World::ARGUMENTS);
                task["environment"] = Value::Object(environment);
            }
            Self::Http(hosted) => task["url"] = json!(hosted.endpoint),
        }
        task
    }
}

/// The calls that each client makes.
fn calls() -> [(&'static str, Value); 2] {
    let path = format!("/flows/instances/{FLOW}/");
    let code = format!("return (await ak.request(\"GET\", \"{path}\")).data.slug");
    [("search", json!({ "query": "create a captcha stage" })), ("execute", json!({ "code": code }))]
}

/// What a client has seen of the server.
struct Seen {
    protocol: Option<String>,
    tools: Vec<String>,
    /// Text and error mark, one for each of [`calls`].
    answers: Vec<(String, bool)>,
}

#[derive(Default)]
struct Report {
    passed: usize,
    failed: usize,
}

impl Report {
    fn client(&mut self, name: &str, seen: Result<Seen>) {
        let Seen { tools, answers, .. } = match seen {
            Ok(seen) => seen,
            Err(error) => {
                println!("FAIL  {name}: {error:#}");
                self.failed += 1;
                return;
            }
        };
        self.check(name, "lists the tools", tools == ["search", "execute", "execute_write"]);
        let answer = |at: usize| answers.get(at).filter(|(_, is_error)| !is_error);
        let found = answer(0).is_some_and(|(text, _)| text.contains("stages_captcha_create"));
        self.check(name, "searches", found);
        let result = answer(1).and_then(|(text, _)| serde_json::from_str::<Value>(text).ok());
        self.check(name, "executes", result.is_some_and(|it| it["result"] == FLOW));
    }

    /// [`Self::client`], and whether it speaks this revision.
    fn speaking(&mut self, name: &str, protocol: &str, seen: Result<Seen>) {
        let spoken = seen.as_ref().ok().and_then(|it| it.protocol.clone());
        self.client(name, seen);
        self.check(name, &format!("speaks {protocol}"), spoken.as_deref() == Some(protocol));
    }

    fn check(&mut self, client: &str, what: &str, holds: bool) {
        println!("{}  {client}: {what}", if holds { "ok  " } else { "FAIL" });
        *(if holds { &mut self.passed } else { &mut self.failed }) += 1;
    }
}

struct Clients {
    inspector: PathBuf,
    python: PathBuf,
    /// The script of the client in TypeScript's own language, beside its modules.
    typescript: PathBuf,
}

impl Clients {
    fn install(directory: PathBuf) -> Result<Self> {
        let (npm, venv) = (directory.join("npm"), directory.join("venv"));
        let python = venv.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
        std::fs::create_dir_all(&npm)?;
        if ![INSPECTOR, TYPESCRIPT_CLIENT].into_iter().all(|package| is_installed(&npm, package)) {
            let mut command = Command::new("npm");
            command.args(["install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"]);
            done(command.arg(&npm).args([INSPECTOR, TYPESCRIPT_CLIENT]))?;
        }
        if !python.exists() {
            done(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
        }
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        done(pip.arg(PYTHON_CLIENT))?;
        let typescript = npm.join("client.mjs");
        std::fs::write(&typescript, include_str!("interop/client.mjs"))?;
        Ok(Self { inspector: npm.join("node_modules/.bin/mcp-inspector"), python, typescript })
    }

    /// One process a request, as the inspector's command line works.
    fn inspector(&self, way: Way<'_>, era: &str) -> Result<Seen> {
        let ask = |method: &str, more: &[&str]| -> Result<Value> {
            let mut command = Command::new(&self.inspector);
            command.arg("--cli");
            if let Way::Http(hosted) = way {
                command.arg(&hosted.endpoint).args(["--transport", "http"]);
            }
            command.args(["--protocol-era", era, "--format", "json", "--method", method]);
            command.args(more);
            if let Way::Stdio(world) = way {
                world.furnish(&mut command);
                for (name, value) in world.environment() {
                    command.arg("-e").arg(format!("{name}={value}"));
                }
                command.arg("--").arg(&world.server).args(World::ARGUMENTS);
            }
            Ok(json_line(&mut command)?["result"].take())
        };
        let tools = ask("tools/list", &[])?;
        let mut answers = Vec::new();
        for (tool, arguments) in calls() {
            let arguments = arguments.to_string();
            let answer = ask("tools/call", &["--tool-name", tool, "--tool-args-json", &arguments])?;
            let text = answer["content"][0]["text"].as_str().unwrap_or_default();
            answers.push((text.to_owned(), answer["isError"] == true));
        }
        Ok(Seen { protocol: None, tools: names(&tools["tools"]), answers })
    }

    fn python(&self, way: Way<'_>, mode: &str) -> Result<Seen> {
        let mut command = Command::new(&self.python);
        command.args(["-c", include_str!("interop/client.py"), &way.task(mode).to_string()]);
        seen(&mut command)
    }

    fn typescript(&self, way: Way<'_>, mode: &str) -> Result<Seen> {
        let mut command = Command::new("node");
        command.arg(&self.typescript).arg(way.task(mode).to_string());
        seen(&mut command)
    }
}

/// What a script of ours says that its client saw.
fn seen(command: &mut Command) -> Result<Seen> {
    let seen = json_line(command)?;
    let answer =
        |it: &Value| (it["text"].as_str().unwrap_or_default().to_owned(), it["isError"] == true);
    Ok(Seen {
        protocol: seen["protocol"].as_str().map(str::to_owned),
        tools: names(&seen["tools"]),
        answers: seen["answers"].as_array().into_iter().flatten().map(answer).collect(),
    })
}

/// Whether a package is there in the version that its name ends with.
fn is_installed(npm: &Path, package: &str) -> bool {
    let (name, wanted) = package.rsplit_once('@').unwrap_or((package, ""));
    let manifest =
        std::fs::read_to_string(npm.join("node_modules").join(name).join("package.json"));
    let manifest = manifest.ok().and_then(|it| serde_json::from_str::<Value>(&it).ok());
    manifest.is_some_and(|it| it["version"] == wanted)
}

/// The names of tools, or the strings that are names already.
fn names(tools: &Value) -> Vec<String> {
    let name = |it: &Value| it.get("name").unwrap_or(it).as_str().map(str::to_owned);
    tools.as_array().into_iter().flatten().filter_map(name).collect()
}

fn is_there(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|it| it.success())
}

fn done(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("starting {command:?}"))?;
    ensure!(status.success(), "{command:?} ended with {status}");
    Ok(())
}

/// The line of JSON on a process's stdout; an error with the end of its stderr when there is none.
fn json_line(command: &mut Command) -> Result<Value> {
    let output = command.stdin(Stdio::null()).output().context("starting the client")?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    let line = stdout.lines().find_map(|it| serde_json::from_str(it).ok());
    line.with_context(|| {
        let said = String::from_utf8_lossy(&output.stderr);
        let last: Vec<_> = said.trim().lines().rev().take(SAID_LINES).collect();
        let last: Vec<_> = last.into_iter().rev().collect();
        format!("{} without an answer: {}", output.status, last.join("\n      "))
    })
}
