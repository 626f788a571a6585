//! One prompt for each topic of the curated tools: which tool is used, and are the facts right?

pub(super) mod changes;
pub(super) mod events;
pub(super) mod explore;
pub(super) mod issues;
pub(super) mod lists;
pub(super) mod one_call;
pub(super) mod triage;

use serde_json::{Value, json};

use super::limits::nothing_written;
use crate::scene::{Outcome, Row, Scene, ensure, words};
use crate::task::{Check, PLAIN_TASK, Step, Suite, Surface, Task, traffic};

const ON: &[Surface] = &[Surface::Catalog];

/// What the topics have in common.
const TOPIC: Task = Task { suite: Suite::Catalog, surfaces: ON, ..PLAIN_TASK };

/// One of the task's tools was used, and it did not fail.
const TOOL: Check = traffic("q.tool", |scene| {
    let used = scene.evidence.tools.iter().filter(|it| !it.is_error);
    let used: Vec<&str> = used
        .map(|it| match it.tool.as_str() {
            "execute_sentry_tool" => it.arguments["name"].as_str().unwrap_or_default(),
            tool => tool,
        })
        .collect();
    let tools = scene.task.tools;
    ensure(
        tools.iter().any(|it| used.contains(it)),
        format!("it used {used:?}, not one of {tools:?}"),
    )
});

const READONLY: Check = traffic("q.readonly", nothing_written);
const NO_WRITER: (&str, &str) =
    ("q.readonly", "the scripts of a question do not write; `injection-in-data` has the mutants");
const TOOL_SHARED: (&str, &str) =
    ("q.tool", "what it is asked for cannot be known without the tool");

/// A look around that does not help.
const LOOK: &[Step] = &[Step::Tool("search_sentry_tools", |_| json!({ "query": "list" }))];

/// Arguments of a tool that is listed.
fn here(mut arguments: Value) -> Value {
    arguments["organizationSlug"] = "harbor-lantern".into();
    arguments
}

/// Arguments of the gateway to a tool that is not.
fn behind(name: &str, arguments: Value) -> Value {
    json!({ "name": name, "arguments": here(arguments) })
}

/// The last result.
fn last(past: &[Value]) -> &Value {
    past.last().unwrap_or(&Value::Null)
}

/// What stands behind a label in the last result, as `- **Status**: unresolved`.
fn labelled<'v>(past: &'v [Value], label: &str) -> &'v str {
    let text = last(past).as_str().unwrap_or_default();
    let mark = format!("**{label}**: ");
    text.lines().find_map(|line| Some(line.split_once(&mark)?.1)).unwrap_or_default().trim()
}

/// A column of every item of a list in the last result.
fn column(past: &[Value], list: &str, column: &str) -> Vec<Value> {
    let items = last(past)[list].as_array().into_iter().flatten();
    items.map(|it| it[column].clone()).collect()
}

/// The answer lists these texts, in any order.
fn lists<'s>(scene: &Scene<'_>, key: &str, expected: impl Iterator<Item = &'s str>) -> Outcome {
    let said =
        scene.said()?.get(key).and_then(Value::as_array).ok_or_else(|| format!("no `{key}`"))?;
    let mut said: Vec<&str> = said.iter().filter_map(Value::as_str).collect();
    let mut expected: Vec<&str> = expected.collect();
    said.sort_unstable();
    expected.sort_unstable();
    crate::scene::same(&format!("`{key}`"), said, expected)
}

/// A column of the rows of a table at the start.
fn all<'s>(scene: &'s Scene<'_>, table: &str, column: &'s str) -> impl Iterator<Item = &'s str> {
    scene.before(table).map(move |row| words(row, column))
}

/// The issue of this short id.
fn issue<'s>(scene: &'s Scene<'_>, short_id: &str) -> Result<&'s Row, String> {
    scene.known("issues", "short_id", short_id)
}
