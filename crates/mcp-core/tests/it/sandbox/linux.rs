//! What only Linux offers, or shows.

use std::{
    fs::Permissions,
    io::Read as _,
    os::{
        fd::OwnedFd,
        unix::{fs::PermissionsExt as _, net::UnixStream, process::ExitStatusExt as _},
    },
    path::Path,
    process::Command,
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

/// A pool whose workers are its own children, recognised by their processor time limit.
fn marked_pool(seconds: u64, spares: usize) -> (Pool, u64) {
    pool_of(seconds, spares, false)
}

fn pool_of(seconds: u64, spares: usize, fork: bool) -> (Pool, u64) {
    let ceiling = Limits { cpu: Duration::from_secs(seconds), ..Limits::default() };
    let worker = WorkerProgram::Path(program());
    let options = PoolOptions { worker, spares, fork, ceiling, ..PoolOptions::default() };
    (Pool::new(options), seconds + 2)
}

#[tokio::test]
async fn workers_are_held_by_the_kernel() {
    let protections = pool().protections().await.unwrap();
    assert!(protections.rlimits && protections.no_new_privs, "{protections:?}");
    assert!(protections.seccomp || protections.landlock, "{protections:?}");
}

/// What a script could try whose engine has a fault.
const FORBIDDEN: [&str; 8] =
    ["read", "write", "tcp", "udp", "unix", "process", "environment", "memory"];

fn probe(what: &str, jail: &str) -> std::process::ExitStatus {
    Command::new(program()).args(["probe", what, jail]).output().unwrap().status
}

#[test]
fn what_a_jailed_process_tries_beyond_computing_ends_it() {
    assert!(probe("nothing", "whole").success());
    for what in FORBIDDEN.iter().chain(&["thread", "signal"]) {
        let status = probe(what, "whole");
        assert!(!status.success(), "{what} was possible");
        // SIGSYS, from the filter.
        assert_eq!(status.signal(), Some(31), "{what}");
    }
}

#[test]
fn without_the_filter_what_a_jailed_process_tries_is_denied() {
    let status = probe("landlock", "without-filter");
    if !status.success() {
        return skipped("this kernel has no landlock");
    }
    assert!(probe("nothing", "without-filter").success());
    for what in FORBIDDEN {
        let status = probe(what, "without-filter");
        assert!(!status.success(), "{what} was possible");
        assert_eq!(status.signal(), None, "{what}");
    }
}

#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn skipped(why: &str) {
    eprintln!("skipped: {why}");
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
        let variables = String::from_utf8_lossy(&environment);
        // The C library ends each of its settings where it stands.
        let mut variables: Vec<&str> = variables.split_terminator(['\0', ':']).collect();
        variables.sort_unstable();
        let heap = ["GLIBC_TUNABLES=glibc.malloc.hugetlb=1", "glibc.malloc.top_pad=4194304"];
        assert_eq!(variables, [heap[0], "TZ=UTC0", heap[1]]);
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
            run(&pool, "console.log('alive'); await api.request('GET', '/never')", &limits()).await
        }
    });
    eventually("a worker", || !workers_of(marker).is_empty()).await;
    // Long enough for the script to have begun; the outcome is the same if it has not.
    tokio::time::sleep(Duration::from_millis(200)).await;
    let killed = Command::new("kill").args(["-SEGV", &workers_of(marker)[0].to_string()]).status();
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
        let pool =
            Pool::new(PoolOptions { worker, spares: 0, fork: false, ..PoolOptions::default() });
        let outcome = run(&pool, "return 1", &limits()).await;
        assert_eq!(outcome.stop, None, "{times}");
        match outcome.result {
            Ok(result) => assert!(works && result == "1", "{times}"),
            Err(error) => {
                assert!(!works, "{times}: {error}");
                assert!(error.message.starts_with("no sandbox worker could be started"), "{error}");
            }
        }
        let tried = std::fs::read_dir(folder.path()).unwrap().count() - 2;
        assert_eq!(tried, times);
    }
}

/// The nursery of a pool and the workers it has forked.
fn nursery_of(marker: u64) -> Option<(u32, Vec<u32>)> {
    let nursery = workers_of(marker).into_iter().find(|id| {
        let line = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).split('\0').any(|part| part == "nursery")
    })?;
    let born = std::fs::read_to_string(format!("/proc/{nursery}/task/{nursery}/children"));
    let born = born.ok()?.split_whitespace().map(|id| id.parse().unwrap()).collect();
    Some((nursery, born))
}

#[tokio::test]
async fn once_one_has_proved_itself_workers_are_forked_and_as_jailed_as_ever() {
    let (pool, marker) = pool_of(1_006, 2, true);
    assert_eq!(run(&pool, "return 1", &limits()).await.result.as_deref(), Ok("1"));
    eventually("two forked spares", || nursery_of(marker).is_some_and(|it| it.1.len() == 2)).await;
    let (nursery, spares) = nursery_of(marker).unwrap();
    for id in &spares {
        eventually("the jail", || is_jailed(*id)).await;
        if let Ok(descriptors) = std::fs::read_dir(format!("/proc/{id}/fd")) {
            let mut names: Vec<_> = descriptors.flatten().map(|entry| entry.file_name()).collect();
            names.sort();
            assert_eq!(names, ["0", "1", "2"]);
        }
    }
    for n in 0..20 {
        let source = format!("globalThis.n = (globalThis.n ?? 0) + 1; return [{n}, n]");
        let outcome = run(&pool, &source, &limits()).await;
        assert_eq!(outcome.result, Ok(format!("[{n},1]")));
    }
    eventually("the burial of the dead", || {
        nursery_of(marker).is_some_and(|(id, born)| id == nursery && born.len() == 2)
    })
    .await;
    drop(pool);
    eventually("the end of all", || {
        workers_of(marker).is_empty() && !std::fs::exists(format!("/proc/{}", spares[0])).unwrap()
    })
    .await;
}

#[tokio::test]
async fn limits_hold_a_forked_worker_and_its_crash_costs_its_own_run_alone() {
    let (pool, marker) = pool_of(1_007, 0, true);
    let pool = Arc::new(pool);
    run(&pool, "return 1", &limits()).await.result.unwrap();
    let quick = Limits { cpu: Duration::from_millis(200), ..limits() };
    for source in ["for (;;);", "[].reverse.call({ length: 2 ** 53 - 1 })"] {
        assert_eq!(run(&pool, source, &quick).await.stop, Some(Stop::Cpu), "{source}");
    }
    let born = || nursery_of(marker).map(|it| it.1).unwrap_or_default();
    eventually("the burial of the dead", || born().is_empty()).await;
    let crash = tokio::spawn({
        let pool = Arc::clone(&pool);
        async move { run(&pool, "await api.request('GET', '/never')", &limits()).await }
    });
    eventually("a forked worker", || born().len() == 1).await;
    // What comes before the script is not lost but done again.
    tokio::time::sleep(Duration::from_millis(200)).await;
    Command::new("kill").args(["-SEGV", &born()[0].to_string()]).status().unwrap();
    assert_eq!(crash.await.unwrap().stop, Some(Stop::Crashed));
    assert_eq!(run(&pool, "return 2", &limits()).await.result.as_deref(), Ok("2"));
}

#[tokio::test]
async fn a_nursery_that_is_gone_is_replaced() {
    let (pool, marker) = pool_of(1_008, 2, true);
    run(&pool, "return 1", &limits()).await.result.unwrap();
    eventually("a nursery", || nursery_of(marker).is_some_and(|it| it.1.len() == 2)).await;
    let (nursery, spares) = nursery_of(marker).unwrap();
    Command::new("kill").args(["-KILL", &nursery.to_string()]).status().unwrap();
    // Its workers end with it, a moment later: a script they had taken on would be lost.
    let is_gone = |id: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_none_or(|(_, fields)| fields.starts_with(['Z', 'X']))
    };
    eventually("the end of its workers", || spares.iter().all(is_gone)).await;
    assert_eq!(run(&pool, "return 2", &limits()).await.result.as_deref(), Ok("2"));
    eventually("another nursery", || nursery_of(marker).is_some_and(|it| it.0 != nursery)).await;
    assert_eq!(run(&pool, "return 3", &limits()).await.result.as_deref(), Ok("3"));
}
