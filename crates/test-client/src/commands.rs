//! The commands: what each asks of the server and shows of the answer.

use std::io::{self, Write as _};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use test_client::{Client, ToolInfo, ToolResult};

use crate::show::{self, Paint};

/// Plans that are confirmed one after another, where a run ends with a plan for its rest.
const MAX_PLANS: usize = 20;

pub(crate) struct Commands {
    pub(crate) client: Client,
    pub(crate) timeout: Duration,
    pub(crate) json: bool,
    pub(crate) paint: Paint,
}

/// How a command ended, where the server could be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    /// The tool reports an error, or a write is not confirmed.
    Failed,
}

/// Asks a person to confirm a write, which is named by the one line of its confirmation.
pub(crate) type Ask<'a> = &'a mut dyn FnMut(&str) -> Result<bool>;

impl Commands {
    pub(crate) async fn list(&self) -> Result<Outcome> {
        let tools = self.client.list().await?;
        if self.json {
            let definitions: Vec<_> = tools.iter().map(|it| &it.definition).collect();
            print(&format!("{}\n", json!(definitions)))?;
        } else {
            let server = show::server(self.client.server(), self.paint);
            print(&format!("{server}\n{}", show::tools(&tools, self.paint)))?;
        }
        Ok(Outcome::Done)
    }

    pub(crate) async fn tools(&self) -> Result<Vec<ToolInfo>> {
        Ok(self.client.list().await?)
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Result<Outcome> {
        match self.answer(tool, arguments).await? {
            Some(result) => self.show(&result),
            None => Ok(Outcome::Failed),
        }
    }

    pub(crate) async fn run(&self, file: &Path) -> Result<Outcome> {
        self.call("execute", json!({ "code": script(file)? })).await
    }

    pub(crate) async fn write(&self, file: &Path, ask: Ask<'_>) -> Result<Outcome> {
        let mut arguments = json!({ "code": script(file)? });
        for _ in 0..MAX_PLANS {
            let Some(result) = self.answer("execute_write", arguments.clone()).await? else {
                return Ok(Outcome::Failed);
            };
            let Some(reply) = result.json().filter(|it| it["status"] == "needs_confirmation")
            else {
                return self.show(&result);
            };
            if self.json {
                print(&format!("{}\n", result.raw))?;
            } else {
                print(&show::plan(&reply, self.paint))?;
            }
            let Some(confirm) = reply["confirm"].as_str() else {
                note(self.paint.red("this cannot be confirmed; nothing was written"))?;
                return Ok(Outcome::Failed);
            };
            if !ask(confirm)? {
                note(self.paint.yellow("not confirmed; nothing was written"))?;
                return Ok(Outcome::Failed);
            }
            arguments["confirm"] = json!(confirm);
        }
        note(
            self.paint.red(&format!("stopped after {MAX_PLANS} plans, each followed by another")),
        )?;
        Ok(Outcome::Failed)
    }

    /// The tool's answer; `None` when the time is up, which is said.
    async fn answer(&self, tool: &str, arguments: Value) -> Result<Option<ToolResult>> {
        // Dropping the call cancels it on the server.
        match tokio::time::timeout(self.timeout, self.client.call(tool, arguments)).await {
            Ok(result) => Ok(Some(result?)),
            Err(_) => {
                let text = format!("`{tool}` was cancelled after {:?}", self.timeout);
                note(self.paint.red(&text))?;
                Ok(None)
            }
        }
    }

    fn show(&self, result: &ToolResult) -> Result<Outcome> {
        if self.json {
            print(&format!("{}\n", result.raw))?;
        } else {
            match &result.structured {
                Some(value) if result.text.is_empty() => print(&show::result(&value.to_string()))?,
                _ => print(&show::result(&result.text))?,
            }
        }
        if result.is_error {
            note(self.paint.red("the tool reports an error"))?;
            return Ok(Outcome::Failed);
        }
        Ok(Outcome::Done)
    }
}

/// Asks on stderr and reads a line of stdin, so that stdout holds the answers alone.
pub(crate) fn ask_on_stdin(confirm: &str, paint: Paint) -> Result<bool> {
    write!(io::stderr(), "{}", question(confirm, paint))?;
    let mut line = String::new();
    tokio::task::block_in_place(|| io::stdin().read_line(&mut line))?;
    if line.is_empty() {
        note("no answer: `--yes` confirms without asking".to_owned())?;
    }
    Ok(is_yes(&line))
}

pub(crate) fn question(confirm: &str, paint: Paint) -> String {
    format!("\n{}\nSend this? [y/N] ", paint.bold(&show::clean(confirm)))
}

pub(crate) fn is_yes(line: &str) -> bool {
    matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

pub(crate) fn script(file: &Path) -> Result<String> {
    std::fs::read_to_string(file).with_context(|| format!("cannot read `{}`", file.display()))
}

pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// What is said about a result, apart from it.
pub(crate) fn note(text: String) -> io::Result<()> {
    writeln!(io::stderr(), "{text}")
}
