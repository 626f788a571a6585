//! `cargo xtask bench start`: how soon the server answers after its start, and what `tools/list` takes,
//! with the full catalog; beside the start of a program that does nothing.

use std::{
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use mocks::{Mock, World};
use serde_json::{Value, json};
use test_client::raw;

use crate::demo::world::binary;

/// Starts of the server; medians are printed.
const STARTS: usize = 21;
/// Lists of one session.
const LISTS: usize = 50;
/// Never waited for when things work.
const PATIENCE: Duration = Duration::from_secs(30);

/// Measures and prints.
pub(crate) fn run(as_json: bool) -> Result<()> {
    let mock = Mock::start(World::sentry())?;
    let server = binary("mcp-stdio")?;
    let command = || {
        let mut command = Command::new(&server);
        command.env_clear().arg("--no-spec-cache").args(["--docs-url", "off"]);
        command.env("SENTRY_URL", &mock.base_url).env("SENTRY_ACCESS_TOKEN", &mock.token);
        command
    };
    let runtime = tokio::runtime::Runtime::new()?;
    let (mut starts, mut firsts) = (Vec::new(), Vec::new());
    let mut lists = Vec::new();
    let mut tools = 0;
    for _ in 0..STARTS {
        runtime.block_on(async {
            let begun = Instant::now();
            let mut session = raw::Session::spawn(command())?;
            session.initialize("2025-11-25").await?;
            starts.push(begun.elapsed());
            tools = list(&mut session).await?.1;
            firsts.push(begun.elapsed());
            if lists.is_empty() {
                for _ in 0..LISTS {
                    lists.push(list(&mut session).await?.0);
                }
            }
            session.close_stdin();
            session.wait(PATIENCE).await?;
            anyhow::Ok(())
        })?;
    }
    let nothing = (0..STARTS).map(|_| idle_start()).collect::<Result<Vec<_>>>()?;
    let figures = json!({
        "tools": tools,
        "start_to_initialize_ms": median(starts),
        "start_to_first_list_ms": median(firsts),
        "tools_list_ms": median(lists),
        "start_of_true_ms": median(nothing),
    });
    if as_json {
        println!("{figures}");
        return Ok(());
    }
    let row = |what: &str, key: &str| {
        println!("{what:<44}{:>8.2} ms", figures[key].as_f64().unwrap_or_default());
    };
    row("start to the answer of `initialize`", "start_to_initialize_ms");
    row("start to the first `tools/list`", "start_to_first_list_ms");
    row(&format!("`tools/list` of {tools} tools"), "tools_list_ms");
    row("beside it: a process that does nothing", "start_of_true_ms");
    Ok(())
}

/// Lists the tools; how long it took, and how many there are.
async fn list(session: &mut raw::Session) -> Result<(Duration, usize)> {
    let begun = Instant::now();
    let id = session.request("tools/list", json!({})).await?;
    let answer = session.response(id, PATIENCE).await?;
    let tools = answer["result"]["tools"].as_array().map_or(0, Vec::len);
    Ok((begun.elapsed(), tools))
}

fn idle_start() -> Result<Duration> {
    let begun = Instant::now();
    Command::new("true").status().context("cannot start `true`")?;
    Ok(begun.elapsed())
}

fn median(mut times: Vec<Duration>) -> Value {
    times.sort();
    json!(times.get(times.len() / 2).map(|it| it.as_secs_f64() * 1e3))
}
