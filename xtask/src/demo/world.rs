//! The demo world: a mock authentik in this process and the real server to be started against it.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use mocks::{Mock, Running};
use serde_json::Value;

/// Set by users for servers of their own; the demo must not see them.
const SETTINGS: [&str; 3] = ["MCP_", "AUTHENTIK_", "SENTRY_"];

#[derive(Debug)]
pub(crate) struct World {
    pub(crate) mock: Running,
    pub(crate) server: PathBuf,
}

impl World {
    pub(crate) const ARGUMENTS: [&str; 1] = ["--no-spec-cache"];

    /// Builds the server where it is out of date and starts the mock on a free port.
    pub(crate) fn start() -> Result<Self> {
        let server = build("mcp-stdio")?;
        let mock = Mock::start(mocks::World::authentik()).context("starting the mock")?;
        Ok(Self { mock, server })
    }

    pub(crate) fn environment(&self) -> [(&'static str, &str); 2] {
        [("AUTHENTIK_URL", &self.mock.base_url), ("AUTHENTIK_TOKEN", &self.mock.token)]
    }

    /// The server's command, ready to start.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.server);
        command.args(Self::ARGUMENTS);
        self.furnish(&mut command);
        command
    }

    /// Gives a process, and the server that it may start, the environment of this world alone.
    pub(crate) fn furnish(&self, command: &mut Command) {
        for (name, _) in std::env::vars_os() {
            let is_setting = |it: &&str| name.to_string_lossy().starts_with(*it);
            if SETTINGS.iter().any(is_setting) {
                command.env_remove(&name);
            }
        }
        command.envs(self.environment());
    }
}

/// Builds a binary of the workspace and says where it is.
pub(crate) fn build(name: &str) -> Result<PathBuf> {
    let mut command = Command::new("cargo");
    command.args(["build", "--package", name, "--bin", name]);
    command.arg("--message-format=json-render-diagnostics").stderr(Stdio::inherit());
    let output = command.output().context("starting cargo")?;
    ensure!(output.status.success(), "`{name}` does not build");
    let artifact = |line: &str| -> Option<PathBuf> {
        let message: Value = serde_json::from_str(line).ok()?;
        let is_ours = message["target"]["name"] == name;
        is_ours.then(|| message["executable"].as_str().map(PathBuf::from)).flatten()
    };
    let built = String::from_utf8_lossy(&output.stdout).lines().find_map(artifact);
    built.with_context(|| format!("cargo named no executable of `{name}`"))
}
