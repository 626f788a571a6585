//! The same trivial work in `node:vm`, where there is a `node`.

use std::{
    io::Write as _,
    process::{Command, Stdio},
    time::Instant,
};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::{median, upstream};

/// Starts of a whole process.
const STARTS: usize = 7;

/// Reads a JSON text on stdin and prints the figures.
const SCRIPT: &str = r#"
const vm = require("node:vm");
const text = require("node:fs").readFileSync(0, "utf8");
const median = (times) => times.sort((a, b) => a - b)[times.length >> 1];
const run = () => vm.runInContext("(async () => { return 1 })()", vm.createContext({ console }), { timeout: 5000 });
const timed = async (count, action) => {
  const times = [];
  for (let n = 0; n < count; n++) {
    const start = process.hrtime.bigint();
    await action();
    times.push(Number(process.hrtime.bigint() - start) / 1e6);
  }
  return median(times);
};
(async () => {
  await timed(50, run);
  const trivial = await timed(300, run);
  const big = await timed(9, () => vm.runInContext("JSON.parse(text).length", vm.createContext({ text })));
  const start = process.hrtime.bigint();
  for (let n = 0; n < 1000; n++) await run();
  const rate = 1e12 / Number(process.hrtime.bigint() - start);
  console.log(JSON.stringify({ trivial, big, rate }));
})();
"#;

/// Milliseconds, and scripts a second.
#[derive(Debug)]
pub(super) struct Figures {
    /// A fresh context and a trivial script in it.
    pub(super) trivial: f64,
    /// Parsing the large response inside a fresh context.
    pub(super) big: f64,
    /// Trivial scripts a second, each in a fresh context.
    pub(super) rate: f64,
    /// Starting and ending a process that does nothing.
    pub(super) process: f64,
}

/// The figures; `None` where there is no `node`.
pub(super) fn measure() -> Result<Option<Figures>> {
    let mut node = Command::new("node");
    node.args(["-e", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut child) = node.spawn() else { return Ok(None) };
    let input = child.stdin.take().context("no stdin")?;
    { input }.write_all(upstream::rows().to_string().as_bytes())?;
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "the script for node failed");
    let said: Value = serde_json::from_slice(&output.stdout)?;
    let figure = |name: &str| said[name].as_f64().with_context(|| format!("no `{name}` from node"));
    let mut starts = Vec::new();
    for _ in 0..STARTS {
        let started = Instant::now();
        Command::new("node").args(["-e", "0"]).status()?;
        starts.push(started.elapsed().as_secs_f64() * 1e3);
    }
    Ok(Some(Figures {
        trivial: figure("trivial")?,
        big: figure("big")?,
        rate: figure("rate")?,
        process: median(starts),
    }))
}
