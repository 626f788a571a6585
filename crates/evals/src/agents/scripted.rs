//! Agents without a model: fixed programs sent through the real server.

use async_trait::async_trait;
use serde_json::{Value, json};
use test_client::Client as Connection;

use crate::agent::{Agent, Client, End, Job, Transcript};
use crate::task::{Says, Script, Step, Surface, edited, script};

/// A plan that covers a part asks again for the rest; more often than this it is stuck.
const MAX_CONFIRMATIONS: usize = 4;

/// Runs one script.
#[derive(Clone, Copy, Debug)]
pub struct Scripted {
    script: &'static Script,
}

impl Scripted {
    pub fn new(script: &'static Script) -> Self {
        Self { script }
    }
}

/// On the surface without code: looks for a tool, finds none, and says so.
pub static GIVES_UP: Script = script(
    "reference",
    &[Surface::Catalog],
    &[Step::Tool("search_sentry_tools", |_| json!({ "query": "create change list" }))],
    Says::Answer(|_| json!({ "status": "blocked", "reason": "no tool can do this" })),
);

#[async_trait]
impl Agent for Scripted {
    fn client(&self) -> Client {
        Client { kind: "scripted".to_owned(), ..Client::default() }
    }

    async fn run(&self, job: &Job) -> Transcript {
        match self.play(job).await {
            Ok(final_text) => Transcript { final_text, ..Transcript::ended(End::Completed) },
            Err(what) => Transcript::ended(End::Infra(what)),
        }
    }
}

impl Scripted {
    async fn play(&self, job: &Job) -> Result<String, String> {
        let connection = job.connect().await.map_err(|it| it.to_string())?;
        connection.list().await.map_err(|it| it.to_string())?;
        let mut past: Vec<Value> = Vec::new();
        for step in self.script.steps {
            let result = take(&connection, step, &past).await?;
            past.push(result);
        }
        connection.close().await.ok();
        Ok(match self.script.says {
            Says::Last => fenced(past.last().unwrap_or(&Value::Null)),
            Says::Answer(answer) => fenced(&answer(&past)),
            Says::Text(text) => text(&past),
        })
    }
}

/// An answer as the contract wants it.
pub fn fenced(answer: &Value) -> String {
    format!("Done.\n\n```json\n{answer:#}\n```\n")
}

async fn take(connection: &Connection, step: &Step, past: &[Value]) -> Result<Value, String> {
    let program = |text, edits| {
        let text = edited(text, edits)?;
        Ok::<_, String>(match past.last() {
            Some(last) => format!("const last = {last};\n{text}"),
            None => text,
        })
    };
    let (tool, mut arguments) = match *step {
        Step::Search(query) => ("search", json!({ "query": query })),
        Step::Read(text, edits) => ("execute", json!({ "code": program(text, edits)? })),
        Step::Write(text, edits) => ("execute_write", json!({ "code": program(text, edits)? })),
        Step::Tool(tool, arguments) | Step::Once(tool, arguments) => (tool, arguments(past)),
    };
    for _ in 0..MAX_CONFIRMATIONS {
        let result = connection.call(tool, arguments.clone()).await.map_err(|it| it.to_string())?;
        let report = result.json().unwrap_or(Value::String(result.text));
        if matches!(step, Step::Once(..)) {
            return Ok(report);
        }
        if report["status"] != "needs_confirmation" {
            return Ok(report.get("result").cloned().unwrap_or(report));
        }
        arguments["confirm"] = report["confirm"].clone();
        if arguments["confirm"].is_null() {
            return Ok(report);
        }
    }
    Err(format!("`{tool}` asks for one confirmation after the other"))
}
