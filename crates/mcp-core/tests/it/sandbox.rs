//! Worker processes: what holds them, what ends them, and that one never disturbs another.
#![expect(clippy::unwrap_used, reason = "a test fails where something is not as expected")]

use std::{
    path::PathBuf,
    process::Command,
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

#[cfg(target_os = "linux")]
mod linux {
    //! What only Linux offers, or shows.

    use std::{
        fs::Permissions,
        io::Read as _,
        os::{
            fd::OwnedFd,
            unix::{fs::PermissionsExt as _, net::UnixStream, process::ExitStatusExt as _},
        },
        path::Path,
    };

    use super::*;

    /// The processes that this one started and that still exist, as (id, state).
    fn children() -> Vec<(u32, String)> {
        let me = std::process::id().to_string();
        let mut children = Vec::new();
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let Ok(id) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
            let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
            let Some((_, fields)) = stat.rsplit_once(") ") else { continue };
            let fields: Vec<&str> = fields.split(' ').collect();
            if fields[1] == me {
                children.push((id, fields[0].to_owned()));
            }
        }
        children
    }

    /// Waits until `condition` holds; panics after a long while.
    async fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
        for _ in 0..2_000 {
            if condition() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{what} did not happen");
    }

    /// The argument a worker carries, which tells it from the other processes of this test program.
    fn workers_of(marker: u64) -> Vec<u32> {
        children()
            .into_iter()
            .filter(|(id, _)| {
                let line = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
                String::from_utf8_lossy(&line).split('\0').any(|part| part == marker.to_string())
            })
            .map(|(id, _)| id)
            .collect()
    }

    /// A pool whose workers are recognised by their processor time limit.
    fn marked_pool(seconds: u64, spares: usize) -> (Pool, u64) {
        let ceiling = Limits { cpu: Duration::from_secs(seconds), ..Limits::default() };
        let worker = WorkerProgram::Path(program());
        let options = PoolOptions { worker, spares, ceiling, ..PoolOptions::default() };
        (Pool::new(options), seconds + 2)
    }

    #[tokio::test]
    async fn workers_are_held_by_the_kernel() {
        let protections = pool().protections().await.unwrap();
        assert!(protections.rlimits && protections.no_new_privs, "{protections:?}");
        assert!(protections.seccomp || protections.landlock, "{protections:?}");
    }

    #[test]
    fn what_a_jailed_process_tries_beyond_computing_ends_it() {
        let probe = |what| Command::new(program()).args(["probe", what]).output().unwrap().status;
        assert!(probe("nothing").success());
        for what in ["read", "write", "tcp", "udp", "process", "thread"] {
            let status = probe(what);
            assert!(!status.success(), "{what} was possible");
            // SIGSYS, from the filter.
            assert_eq!(status.signal(), Some(31), "{what}");
        }
    }

    #[tokio::test]
    async fn a_worker_has_no_environment() {
        let (pool, marker) = marked_pool(1_001, 0);
        let pool = Arc::new(pool);
        let run = tokio::spawn({
            let pool = Arc::clone(&pool);
            async move { run(&pool, "await api.request('GET', '/never')", &limits()).await }
        });
        eventually("a worker", || !workers_of(marker).is_empty()).await;
        let id = workers_of(marker)[0];
        eventually("the jail", || is_jailed(id)).await;
        // Readable for root alone: the worker is not dumpable.
        if let Ok(environment) = std::fs::read(format!("/proc/{id}/environ")) {
            assert_eq!(String::from_utf8_lossy(&environment), "TZ=UTC0\0");
        }
        run.abort();
    }

    #[tokio::test]
    async fn a_worker_closes_the_descriptors_that_leak_into_it() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let leak = "exec 7</dev/null; exec \"$0\" --mcp-sandbox-worker 6 536870912";
        let mut worker = Command::new("/bin/sh")
            .args(["-c", leak])
            .arg(program())
            .stdin(OwnedFd::from(theirs))
            .spawn()
            .unwrap();
        eventually("the jail", || is_jailed(worker.id())).await;
        if let Ok(descriptors) = std::fs::read_dir(format!("/proc/{}/fd", worker.id())) {
            let mut names: Vec<_> = descriptors.flatten().map(|entry| entry.file_name()).collect();
            names.sort();
            assert_eq!(names, ["0", "1", "2"]);
        }
        // A worker that has lost its host ends by itself.
        drop(ours);
        worker.wait().unwrap();
    }

    fn is_jailed(id: u32) -> bool {
        std::fs::read_to_string(format!("/proc/{id}/status"))
            .is_ok_and(|status| status.lines().any(|line| line == "Seccomp:\t2"))
    }

    #[tokio::test]
    async fn a_worker_that_dies_costs_its_own_run_alone() {
        let (pool, marker) = marked_pool(1_002, 0);
        let pool = Arc::new(pool);
        let run = tokio::spawn({
            let pool = Arc::clone(&pool);
            async move {
                run(&pool, "console.log('alive'); await api.request('GET', '/never')", &limits())
                    .await
            }
        });
        eventually("a worker", || !workers_of(marker).is_empty()).await;
        // Long enough for the script to have begun; the outcome is the same if it has not.
        tokio::time::sleep(Duration::from_millis(200)).await;
        let killed =
            Command::new("kill").args(["-SEGV", &workers_of(marker)[0].to_string()]).status();
        assert!(killed.unwrap().success());
        let outcome = run.await.unwrap();
        assert_eq!(outcome.stop, Some(Stop::Crashed));
        assert_eq!(outcome.logs, ["alive"]);
        assert!(outcome.result.unwrap_err().message.contains("ended unexpectedly"));
        assert_eq!(super::run(&pool, "return 1", &limits()).await.result.as_deref(), Ok("1"));
    }

    #[tokio::test]
    async fn spares_are_kept_ready_replaced_and_gone_with_the_pool() {
        let (pool, marker) = marked_pool(1_003, 3);
        assert_eq!(workers_of(marker), [0; 0]);
        pool.warm_up();
        eventually("three spares", || workers_of(marker).len() == 3).await;
        let first = workers_of(marker);
        run(&pool, "return 1", &limits()).await.result.unwrap();
        eventually("a new spare", || {
            let now = workers_of(marker);
            now.len() == 3 && now != first
        })
        .await;
        drop(pool);
        eventually("the end of all workers", || workers_of(marker).is_empty()).await;
    }

    #[tokio::test]
    async fn a_run_that_is_dropped_takes_its_process_with_it() {
        let (pool, marker) = marked_pool(1_004, 0);
        let pool = Arc::new(pool);
        let run = tokio::spawn({
            let pool = Arc::clone(&pool);
            async move { run(&pool, "[].reverse.call({ length: 2 ** 53 - 1 })", &limits()).await }
        });
        eventually("a worker", || !workers_of(marker).is_empty()).await;
        run.abort();
        eventually("the end of the worker", || workers_of(marker).is_empty()).await;
    }

    #[tokio::test]
    async fn a_spare_that_died_is_passed_over() {
        let (pool, marker) = marked_pool(1_005, 2);
        pool.warm_up();
        eventually("two spares", || workers_of(marker).len() == 2).await;
        for id in workers_of(marker) {
            Command::new("kill").args(["-KILL", &id.to_string()]).status().unwrap();
        }
        eventually("the end of the spares", || workers_of(marker).is_empty()).await;
        assert_eq!(run(&pool, "return 1", &limits()).await.result.as_deref(), Ok("1"));
    }

    /// A program that introduces itself as a worker and dies, `times` times, and is a real one then.
    fn short_lived(folder: &Path, times: usize) -> PathBuf {
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        let mut worker = Command::new(program())
            .args(["--mcp-sandbox-worker", "6", "536870912"])
            .stdin(OwnedFd::from(theirs))
            .spawn()
            .unwrap();
        let mut hello = vec![0; 4];
        ours.read_exact(&mut hello).unwrap();
        let length = u32::from_le_bytes(hello[..].try_into().unwrap()) as usize;
        hello.resize(4 + length, 0);
        ours.read_exact(&mut hello[4..]).unwrap();
        drop(ours);
        worker.wait().unwrap();
        std::fs::write(folder.join("hello"), hello).unwrap();
        let path = folder.join("worker");
        let (folder, program) = (folder.display(), program());
        let text = format!(
            "#!/bin/sh\nfor n in $(/usr/bin/env seq {times}); do\n  if /usr/bin/env mkdir {folder}/$n 2>/dev/null; then\n    \
             /usr/bin/env cat {folder}/hello >&0\n    exit\n  fi\ndone\nexec {} \"$@\"\n",
            program.display()
        );
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[tokio::test]
    async fn a_worker_lost_before_the_script_began_is_replaced() {
        for (times, works) in [(1, true), (2, true), (3, false)] {
            let folder = tempfile::tempdir().unwrap();
            let worker = WorkerProgram::Path(short_lived(folder.path(), times));
            let pool = Pool::new(PoolOptions { worker, spares: 0, ..PoolOptions::default() });
            let outcome = run(&pool, "return 1", &limits()).await;
            assert_eq!(outcome.stop, None, "{times}");
            match outcome.result {
                Ok(result) => assert!(works && result == "1", "{times}"),
                Err(error) => {
                    assert!(!works, "{times}: {error}");
                    assert!(
                        error.message.starts_with("no sandbox worker could be started"),
                        "{error}"
                    );
                }
            }
            let tried = std::fs::read_dir(folder.path()).unwrap().count() - 2;
            assert_eq!(tried, times);
        }
    }
}
