//! What the command-line clients share: a process without our environment, its lines, its time.

use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::Command;

use super::Options;
use crate::agent::Job;

/// Of what a client says on stderr, this much of the end is kept.
const MAX_STDERR: usize = 2000;

/// What a run of a client printed.
#[derive(Debug, Default)]
pub struct Printed {
    /// The lines of stdout that are JSON.
    pub events: Vec<Value>,
    /// The end of stderr.
    pub stderr: String,
    /// The exit status; none after a timeout.
    pub status: Option<i32>,
    pub is_late: bool,
}

/// A client that is installed, and the key it is given.
#[derive(Clone)]
pub struct Installed {
    pub program: String,
    pub version: Option<String>,
    pub path: OsString,
    key: String,
    /// The variable that carries the key.
    pub key_name: &'static str,
    pub base_url: Option<String>,
}

impl std::fmt::Debug for Installed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Installed").field("program", &self.program).finish_non_exhaustive()
    }
}

impl Installed {
    /// Looks for a client; `program_name` is the variable that may name it.
    ///
    /// # Errors
    /// It is not there, or has no key.
    pub fn find(
        program: &str,
        program_name: &str,
        key_name: &'static str,
        base_name: &str,
        options: Options<'_>,
    ) -> Result<Self> {
        let variable = |name: &str| (options.variable)(name).filter(|it| !it.trim().is_empty());
        let program = variable(program_name).unwrap_or_else(|| program.to_owned());
        let key = variable(key_name).with_context(|| {
            format!("the agent `{program}` needs a key: set `{key_name}`, or take another agent")
        })?;
        let path = variable("PATH").unwrap_or_default().into();
        let asked = std::process::Command::new(&program).arg("--version").output();
        let asked = asked.with_context(|| {
            format!("`{program}` cannot be started: install it, or name it with `{program_name}`")
        })?;
        let said = String::from_utf8_lossy(&asked.stdout);
        let version =
            said.split_whitespace().find(|it| it.starts_with(|c: char| c.is_ascii_digit()));
        let version = version.map(str::to_owned);
        Ok(Self { program, version, path, key, key_name, base_url: variable(base_name) })
    }

    /// The client with an environment of its own: a path, a home that is empty, and the key.
    pub fn command(&self, job: &Job) -> Command {
        let mut command = Command::new(&self.program);
        command
            .env_clear()
            .env("PATH", &self.path)
            .env("HOME", job.directory.join("home"))
            .env(self.key_name, &self.key)
            .current_dir(&job.directory)
            .kill_on_drop(true)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Takes the key out of a text.
    pub fn redacted(&self, text: &str) -> String {
        text.replace(&self.key, "[secret]")
    }
}

/// Runs a client to its end or the end of its time, and keeps what it prints in the transcript.
pub async fn run(installed: &Installed, mut command: Command, job: &Job) -> Result<Printed> {
    tokio::fs::create_dir_all(job.directory.join("home")).await.context("making a home")?;
    let mut child =
        command.spawn().with_context(|| format!("`{}` cannot be started", installed.program))?;
    let (Some(stdout), Some(mut stderr)) = (child.stdout.take(), child.stderr.take()) else {
        bail!("`{}` has no output", installed.program);
    };
    let said = tokio::spawn(async move {
        let mut said = Vec::new();
        stderr.read_to_end(&mut said).await.ok();
        said
    });
    let mut printed = Printed::default();
    let mut file = tokio::fs::File::create(&job.transcript).await.context("the transcript")?;
    let mut lines = BufReader::new(stdout).lines();
    let events = &mut printed.events;
    let reading = async {
        while let Some(line) = lines.next_line().await.context("reading the client's output")? {
            let line = installed.redacted(&line);
            file.write_all(format!("{line}\n").as_bytes()).await.context("the transcript")?;
            events.extend(serde_json::from_str::<Value>(&line));
        }
        file.flush().await.context("the transcript")?;
        child.wait().await.context("waiting for the client")
    };
    match tokio::time::timeout(job.budgets.wall(), reading).await {
        Ok(status) => printed.status = status?.code(),
        Err(_) => printed.is_late = true,
    }
    // Ends the client, so that nothing holds its stderr open.
    drop(child);
    // A grandchild may hold it open all the same.
    let said = tokio::time::timeout(Duration::from_secs(2), said).await;
    let said = said.ok().and_then(Result::ok).unwrap_or_default();
    let said = installed.redacted(&String::from_utf8_lossy(&said));
    let start = said.floor_char_boundary(said.len().saturating_sub(MAX_STDERR));
    printed.stderr = said.get(start..).unwrap_or_default().trim().to_owned();
    Ok(printed)
}

/// Writes a file that only we can read.
pub async fn write_private(path: &Path, text: &str) -> Result<()> {
    let mut options = tokio::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    options.mode(0o600);
    let mut file = options.open(path).await.with_context(|| format!("`{}`", path.display()))?;
    file.write_all(text.as_bytes()).await.with_context(|| format!("`{}`", path.display()))?;
    file.flush().await.with_context(|| format!("`{}`", path.display()))
}
