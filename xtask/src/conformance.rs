//! `cargo xtask conformance`: the official suite against both binaries, built with its fixtures. Opt-in:
//! it installs the suite and a newer Node from npm into `target/conformance`.

use std::{
    env, fs,
    io::{BufRead as _, BufReader},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, ExitCode, Stdio},
};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use crate::root;

const SUITE: &str = "@modelcontextprotocol/conformance@0.2.0-alpha.12";
const NODE: &str = "node@22";
const REVISIONS: [&str; 2] = ["2026-07-28", "2025-11-25"];
/// Speaks HTTP to the suite and stdio to a server; it lies beside the checkout.
const BRIDGE: &str = "../shared/tools/stdio-bridge.mjs";
/// Headers are HTTP's own: behind the bridge there are none that could contradict the message.
const NOT_FOR_STDIO: &[&str] = &["sep-2575-http-server-header-mismatch-400"];

/// An API of one operation, which nobody calls.
const DOCUMENT: &str = r#"{
  "openapi": "3.0.3", "info": { "title": "nothing", "version": "1" },
  "paths": { "/nothing": { "get": { "operationId": "nothing", "responses": {} } } }
}"#;

/// Runs the suite; fails when a required scenario does. Says so and passes where it cannot be had.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    ensure!(arguments.is_empty(), "`conformance` takes no arguments");
    let home = target()?.join("conformance");
    let Some(suite) = Suite::install(&home)? else {
        println!("skipped: npm cannot install the suite");
        return Ok(ExitCode::SUCCESS);
    };
    let programs = build()?;
    let document = home.join("document.json");
    fs::write(&document, DOCUMENT)?;
    let mut all = true;
    let http = Server::http(&programs.join("mcp-http"), &document)?;
    for revision in REVISIONS {
        all &= suite.judge("mcp-http", revision, &http.endpoint, &[])?;
    }
    drop(http);
    let bridge = root().join(BRIDGE);
    if bridge.is_file() {
        let stdio = Server::bridged(&suite, &bridge, &programs.join("mcp-stdio"), &document)?;
        for revision in REVISIONS {
            all &= suite.judge("mcp-stdio", revision, &stdio.endpoint, NOT_FOR_STDIO)?;
        }
    } else {
        println!("skipped: mcp-stdio, as `{BRIDGE}` is not here");
    }
    Ok(if all { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The directory cargo builds in: this program lies in `target/PROFILE`.
fn target() -> Result<PathBuf> {
    let here = env::current_exe().context("cannot tell where this program is")?;
    let target = here.ancestors().nth(2).context("this program lies in no target directory")?;
    Ok(target.to_owned())
}

/// Builds both binaries with the fixtures and returns where they are. What they depend on is chosen as
/// for the other commands, so that it is not built once more.
fn build() -> Result<PathBuf> {
    let mut build = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    build.args(["build", "--locked", "--workspace", "--bins"]);
    build.args(["--features", "xtask/full,mcp-http/conformance,mcp-stdio/conformance"]);
    let status = build.current_dir(root()).status().context("cannot start cargo")?;
    ensure!(status.success(), "the binaries do not build");
    Ok(target()?.join("debug"))
}

/// The suite, installed.
struct Suite {
    node: PathBuf,
    package: PathBuf,
    results: PathBuf,
}

impl Suite {
    fn install(home: &Path) -> Result<Option<Self>> {
        let modules = home.join("node_modules");
        let suite = Self {
            node: modules.join("node/bin/node"),
            package: modules.join("@modelcontextprotocol/conformance"),
            results: home.join("results"),
        };
        if !suite.is_there() {
            fs::create_dir_all(home)?;
            let mut npm = Command::new("npm");
            npm.args(["install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"]);
            npm.arg(home).args([SUITE, NODE]);
            if !npm.status().is_ok_and(|it| it.success()) {
                return Ok(None);
            }
        }
        Ok(suite.is_there().then_some(suite))
    }

    fn is_there(&self) -> bool {
        let manifest = fs::read_to_string(self.package.join("package.json")).unwrap_or_default();
        let version = SUITE.rsplit('@').next().unwrap_or_default();
        self.node.is_file() && manifest.contains(&format!("\"version\": \"{version}\""))
    }

    /// Runs one revision and says how many of its required scenarios passed; whether all did.
    fn judge(
        &self,
        server: &str,
        revision: &str,
        endpoint: &str,
        excepted: &[&str],
    ) -> Result<bool> {
        let results = self.results.join(format!("{server}-{revision}"));
        if results.exists() {
            fs::remove_dir_all(&results)?;
        }
        let mut command = Command::new(&self.node);
        command.arg(self.package.join("dist/index.js")).args(["server", "--url", endpoint]);
        command.args(["--requirements", revision, "-o"]).arg(&results);
        // What it prints is long, and its status knows no exceptions: the results say more.
        let output = command.output().context("starting the suite")?;
        let required = self.required(revision)?;
        let mut passed = 0;
        for scenario in &required {
            let faults = faults(&results, scenario)?;
            let faults = faults.map(|it| {
                it.into_iter()
                    .filter(|(id, _)| !excepted.contains(&id.as_str()))
                    .collect::<Vec<_>>()
            });
            match faults.as_deref() {
                Some([]) => passed += 1,
                Some(faults) => {
                    for (id, message) in faults {
                        println!("FAIL  {server} {revision} {scenario}: {id}: {message}");
                    }
                }
                None => println!("FAIL  {server} {revision} {scenario}: it was not run"),
            }
        }
        println!("{server} {revision}: {passed} of {} required scenarios", required.len());
        if passed == 0 {
            println!("{}", String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(passed == required.len())
    }

    /// The scenarios that servers of a revision must pass.
    fn required(&self, revision: &str) -> Result<Vec<String>> {
        let path = self.package.join(format!("requirements/{revision}.yaml"));
        let text = fs::read_to_string(&path).with_context(|| format!("`{}`", path.display()))?;
        let of_servers = text.lines().skip_while(|line| *line != "server:").skip(1);
        let items = of_servers.map_while(|line| {
            let is_over = !line.is_empty() && !line.starts_with(' ') && !line.starts_with('#');
            (!is_over).then(|| line.trim().strip_prefix("- ").unwrap_or_default().to_owned())
        });
        let required: Vec<_> = items.filter(|it| !it.is_empty()).collect();
        ensure!(!required.is_empty(), "`{}` names no scenario", path.display());
        Ok(required)
    }
}

/// The checks of a scenario that failed, with their messages; `None` when it was not run.
fn faults(results: &Path, scenario: &str) -> Result<Option<Vec<(String, String)>>> {
    let start = format!("server-{scenario}-");
    let Ok(entries) = fs::read_dir(results) else { return Ok(None) };
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // Behind the name stands a time; a longer name is another scenario.
        let is_it = name.strip_prefix(&start).is_some_and(|it| it.starts_with(char::is_numeric));
        if !is_it {
            continue;
        }
        let checks: Value = serde_json::from_slice(&fs::read(path.join("checks.json"))?)?;
        let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
        let failed = checks.as_array().into_iter().flatten().filter(|it| it["status"] == "FAILURE");
        return Ok(Some(failed.map(|it| (text(&it["id"]), text(&it["errorMessage"]))).collect()));
    }
    Ok(None)
}

/// A server that the suite can reach; ended when dropped.
struct Server {
    child: Child,
    endpoint: String,
}

impl Server {
    fn http(program: &Path, document: &Path) -> Result<Self> {
        let mut command = Command::new(program);
        command.env_clear().args(["--listen", "127.0.0.1:0", "--sessions", "--no-spec-cache"]);
        command.args(["--rate", "0", "--address-rate", "0", "--base-url", "http://127.0.0.1:9"]);
        command.arg("--openapi").arg(document).stderr(Stdio::piped());
        let mut child = command.spawn().context("starting mcp-http")?;
        let stderr = BufReader::new(child.stderr.take().context("no stderr")?);
        let mut lines = stderr.lines().map_while(Result::ok);
        let endpoint = lines.find_map(|line| {
            let line: Value = serde_json::from_str(&line).ok()?;
            line["endpoint"].as_str().map(str::to_owned)
        });
        // It logs on: somebody must read it.
        std::thread::spawn(move || lines.for_each(drop));
        let endpoint = endpoint.context("mcp-http did not start")?;
        Ok(Self { child, endpoint })
    }

    fn bridged(suite: &Suite, bridge: &Path, program: &Path, document: &Path) -> Result<Self> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let mut command = Command::new(&suite.node);
        command.env_clear().arg(bridge).arg(port.to_string()).arg(program);
        command.args(["--no-spec-cache", "--no-config", "--base-url", "http://127.0.0.1:9"]);
        command.arg("--openapi").arg(document).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().context("starting the bridge")?;
        for _ in 0..200 {
            if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Ok(Self { child, endpoint: format!("http://127.0.0.1:{port}/mcp") });
            }
            if child.try_wait()?.is_some() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        child.kill().ok();
        bail!("the bridge did not start")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
