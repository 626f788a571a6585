//! The demo world: a mock authentik in this process and the real server to be started against it.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use mocks::{Mock, Running};

/// Set by users for servers of their own; the demo must not see them.
const SETTINGS: [&str; 3] = ["MCP_", "AUTHENTIK_", "SENTRY_"];

#[derive(Debug)]
pub(crate) struct World {
    pub(crate) mock: Running,
    pub(crate) server: PathBuf,
}

impl World {
    pub(crate) const ARGUMENTS: [&str; 2] = ["--no-config", "--no-spec-cache"];

    /// Starts the mock on a free port.
    pub(crate) fn start() -> Result<Self> {
        let server = binary("mcp-stdio")?;
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

/// A binary of the workspace: all of them are built together and lie beside this one.
pub(crate) fn binary(name: &str) -> Result<PathBuf> {
    let here = std::env::current_exe().context("cannot tell where this program is")?;
    let path = here.with_file_name(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    ensure!(path.is_file(), "`{}` is not built: run `cargo build --workspace`", path.display());
    Ok(path)
}
