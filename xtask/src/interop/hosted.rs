//! The hosted server in front of the mock, for clients that speak HTTP.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
};

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::demo::world::{World, binary};

/// A running `mcp-http`; ended when dropped.
pub(super) struct Hosted {
    child: Child,
    pub(super) endpoint: String,
}

impl Hosted {
    pub(super) fn start(world: &World) -> Result<Self> {
        let mut command = Command::new(binary("mcp-http")?);
        world.furnish(&mut command);
        command.args(["--listen", "127.0.0.1:0", "--sessions", "--no-spec-cache"]);
        let mut child = command.stderr(Stdio::piped()).spawn().context("starting mcp-http")?;
        let stderr = BufReader::new(child.stderr.take().context("no stderr")?);
        let mut lines = stderr.lines().map_while(Result::ok);
        let endpoint = lines.find_map(|line| {
            let line: Value = serde_json::from_str(&line).ok()?;
            line["endpoint"].as_str().map(str::to_owned)
        });
        // It logs on: somebody must read it.
        std::thread::spawn(move || lines.for_each(drop));
        Ok(Self { child, endpoint: endpoint.context("mcp-http did not start")? })
    }
}

impl Drop for Hosted {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
