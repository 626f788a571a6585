//! `cargo xtask bench code`: what a script costs over stdio, beside the same work without a sandbox.

mod node;
mod upstream;

use std::{
    env, fs,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use api_client::transport::Effect;
use async_trait::async_trait;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use mcp_core::{
    code_mode,
    context::Api,
    openapi::{self, LoadOptions},
    sandbox::{
        Host, HostCall, HostError, HostReply, Limits, Pace, Pool, PoolOptions, Script,
        WorkerProgram, prepare,
    },
};
use serde_json::{Value, json, value::RawValue};
use test_client::raw::Session;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::{demo::world, full};
use upstream::Upstream;

/// Runs of a trivial script; the median is printed.
const TRIVIAL: usize = 300;
/// Runs of a script with a hundred requests or a large response.
const LARGE: usize = 9;
/// Time between two scripts in which the next worker gets ready: agents are slower than that.
const BREATH: Duration = Duration::from_millis(10);
/// Scripts run for the rate.
const MANY: usize = 2_000;
/// Scripts in flight meanwhile.
const IN_FLIGHT: usize = 8;
/// Requests in flight, which is the server's own limit.
const REQUESTS_IN_FLIGHT: usize = 8;
const PATIENCE: Duration = Duration::from_secs(60);

const SEQUENTIAL: &str =
    "for (let n = 0; n < 100; n++) await api.request('GET', `/items/${n}`); return 100";
const PARALLEL: &str = "return (await Promise.all(Array.from({ length: 100 }, (_, n) => api.request('GET', `/items/${n}`)))).length";
const BIG: &str = "return (await api.request('GET', '/big')).data.length";

/// One line of the table.
#[derive(Debug)]
struct Figure {
    what: &'static str,
    measured: f64,
    reach: f64,
    unit: &'static str,
    beside: Vec<(&'static str, f64)>,
}

/// Measures everything and prints a table.
pub(crate) fn run(as_json: bool) -> Result<()> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let figures = runtime.block_on(measure())?;
    if as_json {
        let rows = figures.iter().map(|it| {
            let beside: serde_json::Map<_, _> =
                it.beside.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
            json!({ "what": it.what, "measured": it.measured, "reach": it.reach, "unit": it.unit, "beside": beside })
        });
        println!("{}", Value::Array(rows.collect()));
        return Ok(());
    }
    println!("{:<44}{:>14}{:>14}   beside it", "", "measured", "to reach");
    for Figure { what, measured, reach, unit, beside } in figures {
        let beside = beside.iter().map(|(name, value)| {
            format!("{name} {} ({:.2} x)", shown(*value, unit), measured / value)
        });
        println!(
            "{what:<44}{:>14}{:>14}   {}",
            shown(measured, unit),
            shown(reach, unit),
            beside.collect::<Vec<_>>().join(", ")
        );
    }
    println!(
        "\nMedians. Every script has a fresh process. Requests go over loopback; their figures are what a \
         script adds to\nthe same requests made directly. node:vm has no isolation and no limits; it is there \
         when `node` is."
    );
    Ok(())
}

fn shown(value: f64, unit: &str) -> String {
    if unit == "ms" { format!("{value:.2} ms") } else { format!("{value:.0} {unit}") }
}

async fn measure() -> Result<Vec<Figure>> {
    let node = node::measure()?;
    let beside = |name, figure: fn(&node::Figures) -> f64| {
        node.as_ref().map(|it| (name, figure(it))).into_iter().collect::<Vec<_>>()
    };
    let server = world::binary("mcp-stdio")?;
    let upstream = Upstream::start().await?;
    let api = full::api_at(upstream.base.clone())?;
    let mut session = start(&server, &upstream.base).await?;

    let warm = {
        let mut times = Vec::new();
        for _ in 0..TRIVIAL {
            tokio::time::sleep(BREATH).await;
            times.push(timed(&mut session, "return 1").await?);
        }
        median(times)
    };
    let cold = without_spares(&server).await?;
    let sequential = median_of(&mut session, SEQUENTIAL).await?;
    let direct_sequential = direct(&api, 1).await?;
    let parallel = median_of(&mut session, PARALLEL).await?;
    let direct_parallel = direct(&api, REQUESTS_IN_FLIGHT).await?;
    let big = median_of(&mut session, BIG).await?;
    let rate = rate(&mut session).await?;

    let figure =
        |what, measured, reach, unit, beside| Figure { what, measured, reach, unit, beside };
    Ok(vec![
        figure(
            "a trivial script, a worker being ready",
            warm,
            1.5,
            "ms",
            beside("node:vm", |it| it.trivial),
        ),
        figure(
            "a trivial script, no worker being ready",
            cold,
            6.0,
            "ms",
            beside("node process", |it| it.process),
        ),
        figure(
            "100 requests one by one, more than direct",
            sequential - direct_sequential,
            60.0,
            "ms",
            vec![("direct", direct_sequential)],
        ),
        figure(
            "100 requests at once, more than direct",
            parallel - direct_parallel,
            30.0,
            "ms",
            vec![("direct", direct_parallel)],
        ),
        figure(
            "4 MB of JSON into a script",
            big,
            160.0,
            "ms",
            beside("node: JSON.parse", |it| it.big),
        ),
        figure("trivial scripts a second", rate, 600.0, "/s", beside("node:vm", |it| it.rate)),
    ])
}

async fn start(server: &Path, base: &Url) -> Result<Session> {
    let document = env::temp_dir().join(format!("xtask-bench-code-{}.json", std::process::id()));
    fs::write(&document, upstream::document().to_string())?;
    let mut command = std::process::Command::new(server);
    command.env_clear().args(["--no-spec-cache", "--openapi"]).arg(&document);
    command.args(["--base-url", base.as_str(), "--name", "bench", "--max-requests", "1000"]);
    let mut session = Session::spawn(command)?;
    session.initialize("2025-11-25").await?;
    // The document is read, and everything was used once.
    for script in ["return 1", SEQUENTIAL, PARALLEL, BIG] {
        timed(&mut session, script).await?;
    }
    fs::remove_file(&document).ok();
    Ok(session)
}

/// Milliseconds from the call to its answer, which must be a result.
async fn timed(session: &mut Session, code: &str) -> Result<f64> {
    let started = Instant::now();
    let answer = session.call("execute", json!({ "code": code }), PATIENCE).await?;
    let time = started.elapsed().as_secs_f64() * 1e3;
    ensure!(answer["result"]["isError"] != true, "the script failed: {answer}");
    Ok(time)
}

async fn median_of(session: &mut Session, code: &str) -> Result<f64> {
    let mut times = Vec::new();
    for _ in 0..LARGE {
        tokio::time::sleep(BREATH).await;
        times.push(timed(session, code).await?);
    }
    Ok(median(times))
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// The hundred requests without a sandbox, this many at once.
async fn direct(api: &Api, at_once: usize) -> Result<f64> {
    let document =
        openapi::load(upstream::document().to_string().as_bytes(), &LoadOptions::default())?;
    let mut times = Vec::new();
    for _ in 0..LARGE {
        let started = Instant::now();
        stream::iter(0..100)
            .map(|n| {
                let document = &document;
                async move {
                    let arguments = RawValue::from_string(json!({ "n": n }).to_string())?;
                    let request = code_mode::request_for(api, document, "item", &arguments)
                        .map_err(anyhow::Error::msg)?;
                    let deadline = Instant::now() + PATIENCE;
                    let response = api.transport.send(&request, Effect::Read, deadline).await?;
                    ensure!(response.status == 200, "the upstream answered {}", response.status);
                    Ok(())
                }
            })
            .buffer_unordered(at_once)
            .try_collect::<Vec<()>>()
            .await?;
        times.push(started.elapsed().as_secs_f64() * 1e3);
    }
    Ok(median(times))
}

/// A trivial script whose worker is started for it, without the way over stdio.
async fn without_spares(server: &Path) -> Result<f64> {
    let worker = WorkerProgram::Path(server.to_owned());
    let pool = Pool::new(PoolOptions { worker, spares: 0, ..PoolOptions::default() });
    let mut times = Vec::new();
    for _ in 0..TRIVIAL / 3 {
        let script = Script {
            prepared: prepare("return 1").map_err(anyhow::Error::msg)?,
            bindings: Vec::new(),
            clock_ms: 0,
            seed: 1,
            pace: Pace::Free,
        };
        let (host, cancel) = (Arc::new(Nothing), CancellationToken::new());
        let started = Instant::now();
        let outcome = pool.run(script, &Limits::default(), host, cancel, "bench").await;
        times.push(started.elapsed().as_secs_f64() * 1e3);
        outcome.result.map_err(anyhow::Error::msg)?;
    }
    Ok(median(times))
}

struct Nothing;

#[async_trait]
impl Host for Nothing {
    async fn call(&self, _: HostCall) -> Result<HostReply, HostError> {
        Err(HostError::new("Error", "there is no host"))
    }
}

/// Trivial scripts a second, several in flight.
async fn rate(session: &mut Session) -> Result<f64> {
    let started = Instant::now();
    let mut waiting = std::collections::VecDeque::new();
    for sent in 0..MANY + IN_FLIGHT {
        if sent < MANY {
            let call = json!({ "name": "execute", "arguments": { "code": "return 1" } });
            waiting.push_back(session.request("tools/call", call).await?);
        }
        if sent >= IN_FLIGHT {
            let id = waiting.pop_front().context("an answer is due")?;
            let answer = session.response(id, PATIENCE).await?;
            ensure!(answer["result"]["isError"] != true, "the script failed: {answer}");
        }
    }
    Ok(MANY as f64 / started.elapsed().as_secs_f64())
}
