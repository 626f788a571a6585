//! Worker processes: what holds them, what ends them, and that one never disturbs another.
#![expect(clippy::unwrap_used, reason = "a test fails where something is not as expected")]

mod escape;
#[cfg(target_os = "linux")]
mod linux;

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use async_trait::async_trait;
use mcp_core::sandbox::{
    Binding, Host, HostCall, HostError, HostReply, Limits, Outcome, Pace, Pool, PoolOptions,
    Script, Stop, WorkerProgram, prepare,
};
use tokio_util::sync::CancellationToken;

fn program() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_sandbox-worker"))
}

fn pool() -> Pool {
    Pool::new(PoolOptions { worker: WorkerProgram::Path(program()), ..PoolOptions::default() })
}

fn script(source: &str) -> Script {
    Script {
        prepared: prepare(source).unwrap(),
        bindings: vec![Binding { names: vec!["api".to_owned()] }],
        clock_ms: 1_700_000_000_000,
        seed: 1,
        pace: Pace::Free,
    }
}

/// Tight enough for a test, and nothing a busy machine runs into.
fn limits() -> Limits {
    Limits { wall: Duration::from_secs(40), queue: Duration::from_secs(120), ..Limits::default() }
}

/// Answers after the milliseconds named in the path; `/never` does not, `/big` is 4 MB.
#[derive(Default)]
struct Echo {
    running: AtomicUsize,
    most: AtomicUsize,
}

#[async_trait]
impl Host for Echo {
    async fn call(&self, call: HostCall) -> Result<HostReply, HostError> {
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(running, Ordering::SeqCst);
        let path = call.arguments.split('"').nth(3).unwrap_or_default().to_owned();
        let data = match path.as_str() {
            "/never" => std::future::pending().await,
            "/refused" => {
                return Err(HostError::new("ApiError", "refused").with("status", 403));
            }
            "/big" => format!("\"{}\"", "x".repeat(4 << 20)),
            _ => {
                let milliseconds = path.trim_matches('/').parse().unwrap_or_default();
                tokio::time::sleep(Duration::from_millis(milliseconds)).await;
                format!("\"{path}\"")
            }
        };
        self.running.fetch_sub(1, Ordering::SeqCst);
        let json = format!(r#"{{"status":200,"ok":true,"headers":{{}},"data":{data}}}"#);
        Ok(HostReply { json, big_integers: false })
    }
}

async fn run_as(pool: &Pool, script: Script, limits: &Limits, caller: &str) -> Outcome {
    pool.run(script, limits, Arc::new(Echo::default()), CancellationToken::new(), caller).await
}

async fn run(pool: &Pool, source: &str, limits: &Limits) -> Outcome {
    run_as(pool, script(source), limits, "somebody").await
}

#[tokio::test]
async fn a_script_runs_in_a_process_and_talks_to_its_host() {
    let pool = pool();
    let source = "console.log('here');\nconst { data } = await api.request('GET', '/1');\nreturn [data, (await api.request('GET', '/big')).data.length]";
    let outcome = run(&pool, source, &limits()).await;
    assert_eq!(outcome.result.as_deref(), Ok(r#"["/1",4194304]"#));
    assert_eq!(outcome.logs, ["here"]);
    assert_eq!((outcome.stop, outcome.warnings.len()), (None, 0));
    let refused = run(
        &pool,
        "const go = async () => {\n  await api.request('GET', '/refused')\n}\nawait go()",
        &limits(),
    )
    .await;
    let error = refused.result.unwrap_err();
    assert_eq!(
        (error.name.as_str(), error.message.as_str(), error.line),
        ("ApiError", "refused", Some(2))
    );
    assert_eq!(error.properties["status"], 403);
    assert!(error.stack[0].starts_with("at go (2:"), "{:?}", error.stack);
}

/// P27: an error says what and where, in the agent's own text.
#[tokio::test]
async fn errors_carry_the_line_and_column_of_the_agents_text() {
    let pool = pool();
    for (source, line, column) in [
        ("foo.bar()", 1, 1),
        ("console.log(1);\n  foo.bar()", 2, 3),
        ("Here it is:\n```js\nconst a = 1;\nfoo.bar()\n```\n", 4, 1),
        ("async () => {\n  return foo\n}", 2, 10),
        ("const n: number = 1;\nreturn foo as string", 2, 8),
    ] {
        let error = run(&pool, source, &limits()).await.result.unwrap_err();
        assert_eq!((error.line, error.column), (Some(line), Some(column)), "{source}: {error}");
    }
}

#[tokio::test]
async fn no_run_leaves_anything_to_the_next() {
    let pool = pool();
    let first = "globalThis.left = 1; Array.prototype.left = 2; Object.prototype.toJSON = () => 'evil'; return 1";
    assert_eq!(run(&pool, first, &limits()).await.result.as_deref(), Ok("1"));
    let second = "return [typeof left, typeof [].left, { a: 1 }]";
    assert_eq!(
        run(&pool, second, &limits()).await.result.as_deref(),
        Ok(r#"["undefined","undefined",{"a":1}]"#)
    );
}

#[tokio::test]
async fn a_hanging_built_in_is_killed_when_its_processor_time_is_used_up() {
    let limits = Limits { cpu: Duration::from_millis(200), ..limits() };
    let source = "console.log('before'); [].reverse.call({ length: 2 ** 53 - 1 })";
    let outcome = run(&pool(), source, &limits).await;
    assert_eq!(outcome.stop, Some(Stop::Cpu));
    assert_eq!(outcome.logs, ["before"]);
    let error = outcome.result.unwrap_err();
    assert!(error.message.starts_with("CPU limit of 0.2 s reached"), "{error}");
}

#[tokio::test]
async fn a_hanging_built_in_is_killed_at_the_wall_limit() {
    let limits = Limits { wall: Duration::from_millis(300), ..limits() };
    let outcome = run(&pool(), "[].reverse.call({ length: 2 ** 53 - 1 })", &limits).await;
    assert_eq!(outcome.stop, Some(Stop::Wall));
    assert!(outcome.result.unwrap_err().message.starts_with("wall limit of 0.3 s reached"));
}

/// P25: a stuck script harms nobody else.
#[tokio::test]
async fn a_stuck_script_delays_nobody() {
    let pool = Arc::new(pool());
    let limits = limits();
    let stuck = tokio::spawn({
        let (pool, limits) = (Arc::clone(&pool), limits.clone());
        async move { run(&pool, "[].reverse.call({ length: 2 ** 53 - 1 })", &limits).await }
    });
    for _ in 0..5 {
        assert_eq!(run(&pool, "return 1", &limits).await.result.as_deref(), Ok("1"));
    }
    assert!(!stuck.is_finished());
    stuck.abort();
}

#[tokio::test]
async fn a_cancelled_script_ends_at_once_with_its_process() {
    let pool = pool();
    for source in ["[].reverse.call({ length: 2 ** 53 - 1 })", "await api.request('GET', '/never')"]
    {
        let cancel = CancellationToken::new();
        let started = Instant::now();
        let later = cancel.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(100)).await;
            later.cancel();
        });
        let outcome =
            pool.run(script(source), &limits(), Arc::new(Echo::default()), cancel, "me").await;
        assert_eq!(outcome.stop, Some(Stop::Cancelled), "{source}");
        assert_eq!(outcome.result.unwrap_err().name, "Cancelled");
        assert!(started.elapsed() < Duration::from_secs(20));
    }
}

#[tokio::test]
async fn two_hundred_scripts_at_once_all_run_a_few_at_a_time() {
    let options = PoolOptions {
        worker: WorkerProgram::Path(program()),
        at_once: 4,
        ..PoolOptions::default()
    };
    let pool = Arc::new(Pool::new(options));
    let host = Arc::new(Echo::default());
    let runs: Vec<_> = (0..200)
        .map(|n| {
            let (pool, host) = (Arc::clone(&pool), Arc::clone(&host));
            tokio::spawn(async move {
                let source = format!("await api.request('GET', '/1'); return {n}");
                let cancel = CancellationToken::new();
                pool.run(script(&source), &limits(), host, cancel, &format!("{}", n % 7)).await
            })
        })
        .collect();
    for (n, run) in runs.into_iter().enumerate() {
        assert_eq!(run.await.unwrap().result, Ok(n.to_string()));
    }
    assert!(host.most.load(Ordering::SeqCst) <= 4);
}

#[tokio::test]
async fn who_waits_too_long_for_a_worker_is_told_that_nothing_ran() {
    let options = PoolOptions {
        worker: WorkerProgram::Path(program()),
        at_once: 1,
        ..PoolOptions::default()
    };
    let pool = Arc::new(Pool::new(options));
    let first = tokio::spawn({
        let pool = Arc::clone(&pool);
        async move { run(&pool, "await api.request('GET', '/never')", &limits()).await }
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    let impatient = Limits { queue: Duration::from_millis(50), ..limits() };
    let outcome = run(&pool, "return 1", &impatient).await;
    assert_eq!(outcome.stop, Some(Stop::Busy));
    assert!(outcome.result.unwrap_err().message.contains("nothing was run"));
    first.abort();
}

#[tokio::test]
async fn replies_come_in_the_order_of_the_calls_where_runs_must_be_alike() {
    let pool = pool();
    let source = "const seen = []; await Promise.all(['/300', '/1', '/100'].map(async path => { seen.push((await api.request('GET', path)).data) })); return seen";
    let ordered = Script { pace: Pace::Ordered, ..script(source) };
    assert_eq!(
        run_as(&pool, ordered, &limits(), "me").await.result.as_deref(),
        Ok(r#"["/300","/1","/100"]"#)
    );
}

#[tokio::test]
async fn a_memory_limit_is_named_and_the_memory_comes_back() {
    let pool = pool();
    let limits = Limits { heap: 16 << 20, ..limits() };
    let outcome =
        run(&pool, "const all = []; for (;;) all.push('x'.repeat(100) + all.length)", &limits)
            .await;
    assert_eq!(outcome.stop, Some(Stop::Memory));
    assert!(outcome.result.unwrap_err().message.starts_with("memory limit of 16 MB reached"));
    assert_eq!(run(&pool, "return 1", &limits).await.result.as_deref(), Ok("1"));
}

#[tokio::test]
async fn a_program_that_is_no_worker_is_reported_as_such() {
    for (path, expected) in [
        ("/nowhere/at/all", "no sandbox worker could be started: "),
        ("/bin/true", "no sandbox worker could be started: the worker closed the connection"),
    ] {
        let options =
            PoolOptions { worker: WorkerProgram::Path(path.into()), ..PoolOptions::default() };
        let error = run(&Pool::new(options), "return 1", &limits()).await.result.unwrap_err();
        assert_eq!(error.name, "SandboxError");
        assert!(error.message.starts_with(expected), "{error}");
    }
}

#[tokio::test]
async fn the_fallback_in_a_thread_runs_the_same_scripts() {
    let options = PoolOptions { worker: WorkerProgram::InThread, ..PoolOptions::default() };
    let pool = Pool::new(options);
    let outcome = run(&pool, "return (await api.request('GET', '/1')).data", &limits()).await;
    assert_eq!(outcome.result.as_deref(), Ok(r#""/1""#));
    let quick = Limits { cpu: Duration::from_millis(100), ..limits() };
    assert_eq!(run(&pool, "for (;;);", &quick).await.stop, Some(Stop::Cpu));
    assert!(!pool.protections().await.unwrap().seccomp);
}
