//! `cargo xtask bench load`: what a document costs from its bytes to the first search, and from the
//! disk cache; each in a process of its own, beside plain JSON parsing of the same bytes.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context as _, Result, bail, ensure};
use mcp_core::openapi::{self, LoadOptions, source::Loaded};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Map, Value, json};

use crate::memory::{RESIDENT, megabytes};

/// Runs of each measurement; the median is printed.
const RUNS: usize = 5;
/// Asks the child process for one measurement: `--one WAY FILE`.
pub(crate) const ONE: &str = "--one";

/// A document without operations.
const SMALLEST: &[u8] = br#"{"openapi":"3.0.3","info":{"title":"t","version":"1"},"paths":{}}"#;

/// The ways a document is brought into memory, each measured in a fresh process.
const WAYS: [&str; 3] = ["ready", "cached", "plain"];

/// Measures every document of a folder and prints a table.
pub(crate) fn run(specs: &Path, as_json: bool) -> Result<()> {
    let mut documents: Vec<PathBuf> = fs::read_dir(specs)
        .with_context(|| format!("cannot read `{}`", specs.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|it| it == "json" || it == "yaml"))
        .collect();
    documents.sort();
    ensure!(!documents.is_empty(), "no document in `{}`", specs.display());
    let mut all = Map::new();
    if !as_json {
        println!(
            "{:<28}{:>7}{:>8}{:>29}{:>21}{:>21}",
            "", "MB", "ops", "ready", "from cache", "plain JSON"
        );
    }
    for document in documents {
        let name = document.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let figures = measure(&document).with_context(|| format!("`{name}`"))?;
        if !as_json {
            print_row(&name, &figures);
        }
        all.insert(name, figures);
    }
    if as_json {
        println!("{}", Value::Object(all));
    } else {
        println!(
            "\nMedians of {RUNS} fresh processes: CPU time (and how many times that of plain JSON), and memory held \
             afterwards above\na process that holds no document."
        );
        println!(
            "ready: from bytes to the first search. plain JSON: the same bytes as a tree of values, nothing else."
        );
    }
    Ok(())
}

fn print_row(name: &str, figures: &Value) {
    let number = |value: &Value| value.as_f64().unwrap_or_default();
    let operations = figures["operations"].as_u64().unwrap_or_default();
    print!("{name:<28}{:>7.1}{operations:>8}", number(&figures["bytes"]) / 1e6);
    let plain = figures["plain"]["cpu_ms"].as_f64();
    for way in WAYS {
        let figure = &figures[way];
        if figure.is_null() {
            print!("{:>21}", "–");
            continue;
        }
        let milliseconds = number(&figure["cpu_ms"]);
        print!("{milliseconds:>9.1} ms");
        if way == "ready" {
            let times = plain.map(|plain| format!("({:.1} x)", milliseconds / plain));
            print!("{:>8}", times.unwrap_or_default());
        }
        print!("{:>6.1} MB", number(&figure["mb"]));
    }
    println!();
}

fn measure(document: &Path) -> Result<Value> {
    let bytes = fs::read(document)?;
    let loaded = Loaded::new(openapi::load(&bytes, &LoadOptions::default())?);
    let cached = env::temp_dir().join(format!("xtask-bench-load-{}", std::process::id()));
    fs::write(&cached, loaded.to_bytes().context("the document cannot be stored")?)?;
    let mut figures = Map::new();
    figures.insert("bytes".to_owned(), json!(bytes.len()));
    figures.insert("operations".to_owned(), json!(loaded.document.len()));
    let is_json = serde_json::from_slice::<&serde_json::value::RawValue>(&bytes).is_ok();
    for way in WAYS {
        let file = if way == "cached" { &cached } else { document };
        let figure = if way == "plain" && !is_json { Value::Null } else { median(way, file)? };
        figures.insert(way.to_owned(), figure);
    }
    fs::remove_file(&cached).ok();
    Ok(Value::Object(figures))
}

fn median(way: &str, file: &Path) -> Result<Value> {
    let mut runs: Vec<Value> = (0..RUNS).map(|_| child(way, file)).collect::<Result<_>>()?;
    runs.sort_by(|a, b| f64::total_cmp(&cpu_of(a), &cpu_of(b)));
    Ok(runs.swap_remove(RUNS / 2))
}

fn cpu_of(figure: &Value) -> f64 {
    figure["cpu_ms"].as_f64().unwrap_or_default()
}

fn child(way: &str, file: &Path) -> Result<Value> {
    let program = env::current_exe()?;
    let output = Command::new(program).args(["bench", "load", ONE, way]).arg(file).output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr).trim());
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Makes one measurement in this process and prints it as JSON.
pub(crate) fn one(way: &str, file: &Path) -> Result<()> {
    // What any server has in memory that has read a document, however small: its own code above all.
    drop(Loaded::new(openapi::load(SMALLEST, &LoadOptions::default())?));
    let bytes = fs::read(file)?;
    let empty = megabytes("self", RESIDENT)? - bytes.len() as f64 / 1e6;
    let started = cpu_time();
    let held: Box<dyn std::any::Any> = match way {
        "ready" => Box::new(Loaded::new(openapi::load(&bytes, &LoadOptions::default())?)),
        "cached" => Box::new(Loaded::from_bytes(&bytes).context("what was stored cannot be read")?),
        "plain" => Box::new(serde_json::from_slice::<Value>(&bytes)?),
        other => bail!("no way `{other}`"),
    };
    let cpu = cpu_time() - started;
    drop(bytes);
    let mb = megabytes("self", RESIDENT)? - empty;
    drop(held);
    println!("{}", json!({ "cpu_ms": cpu.as_secs_f64() * 1e3, "mb": mb }));
    Ok(())
}

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}
