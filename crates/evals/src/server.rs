//! The server under evaluation: the shipped `mcp-http`, different from production in its context alone.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::task::{Api, Surface, Task};
use crate::world::World;

/// Long enough for an unoptimised build on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// How to start servers.
#[derive(Clone, Debug)]
pub struct Setup {
    pub binary: PathBuf,
    /// The API's description; by default, the world's own.
    pub document: Option<PathBuf>,
    /// Compiled documents are kept here, shared by all servers of a run.
    pub cache: PathBuf,
    /// Passes messages between agents and servers.
    pub passage: reqwest::Client,
    /// Servers that several trials share, one after the other; without it each trial has its own.
    pub pool: Option<Pool>,
}

/// Servers that wait for their next trial, each bound to the address of a world.
#[derive(Clone, Debug, Default)]
pub struct Pool(Arc<Mutex<Vec<(Kind, World, Server)>>>);

/// What servers have to have in common to stand in for each other.
pub type Kind = (Api, Surface, &'static str);

impl Pool {
    pub fn take(&self, kind: Kind) -> Option<(World, Server)> {
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = idle.iter().position(|(it, ..)| *it == kind)?;
        let (_, world, server) = idle.swap_remove(at);
        Some((world, server))
    }

    pub fn give(&self, kind: Kind, world: World, server: Server) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((kind, world, server));
    }
}

/// A running server; ended when dropped.
#[derive(Debug)]
pub struct Server {
    child: Child,
    _home: TempDir,
    /// `http://127.0.0.1:PORT/mcp`.
    pub endpoint: String,
}

impl Server {
    /// Starts it with an empty environment but for the world's address and token.
    pub async fn start(
        setup: &Setup,
        world: &World,
        task: &Task,
        surface: Surface,
        gate: &str,
    ) -> Result<Self> {
        let home = tempfile::tempdir()?;
        let Task { api, options, .. } = *task;
        let (name, token) = match api {
            Api::Authentik => ("authentik", "AUTHENTIK_TOKEN"),
            Api::Sentry => ("sentry", "SENTRY_AUTH_TOKEN"),
        };
        let mut command = Command::new(&setup.binary);
        command
            .env_clear()
            .env("HOME", home.path())
            .env(token, world.token())
            .args(["--api", name, "--base-url", world.base_url(), "--listen", "127.0.0.1:0"])
            .args(["--surface", surface.name(), "--confirm", gate, "--no-retries"])
            .args(["--rate", "0", "--address-rate", "0", "--no-config"])
            .args([OsStr::new("--spec-cache"), setup.cache.as_os_str()]);
        command.args(options);
        if api == Api::Sentry {
            // Nothing of a trial leaves this machine.
            command.args(["--docs-url", world.base_url(), "--docs-pages-url", world.base_url()]);
            if let Some(document) = &setup.document {
                command.args([OsStr::new("--openapi"), document.as_os_str()]);
            }
        }
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("starting `{}`", setup.binary.display()))?;
        let stderr = child.stderr.take().context("no stderr")?;
        let mut lines = BufReader::new(stderr).lines();
        let mut said = Vec::new();
        let ready = async {
            while let Some(line) = lines.next_line().await? {
                let parsed: Value = serde_json::from_str(&line).unwrap_or_default();
                if let Some(endpoint) = parsed["endpoint"].as_str() {
                    return Ok(endpoint.to_owned());
                }
                said.push(line);
            }
            bail!("the server did not start: {}", said.join("\n"))
        };
        let endpoint = tokio::time::timeout(PATIENCE, ready)
            .await
            .context("the server did not say that it is ready")??;
        // What it says later must not fill the pipe.
        drop(tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} }));
        Ok(Self { child, _home: home, endpoint })
    }

    /// Ends the process and waits for its end.
    pub async fn stop(mut self) {
        self.child.kill().await.ok();
    }
}

/// The binary that is built beside this program, or beside the folder of a test's.
pub fn binary() -> Result<PathBuf> {
    let here = std::env::current_exe().context("cannot tell where this program is")?;
    let name = format!("mcp-http{}", std::env::consts::EXE_SUFFIX);
    let beside = here.ancestors().skip(1).take(2).map(|it| it.join(&name));
    let mut built = beside.filter(|it| it.is_file());
    built.next().context("`mcp-http` is not built: run `cargo build --workspace --bins`")
}
