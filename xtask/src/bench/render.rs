//! `cargo xtask bench render`: what the largest answers of Sentry cost the real server, from the call to
//! the bounded answer, beside reading the same bytes as plain JSON and nothing else.

use std::{
    collections::BTreeMap,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use mocks::{Action, Fault, Mock, Phase, World};
use serde_json::{Map, Value, json};
use test_client::raw::Session;

use crate::{
    demo::world::binary,
    memory::{PEAK, megabytes},
};

/// Calls of each case; the median is printed.
const RUNS: usize = 7;
/// Never waited for when things work.
const PATIENCE: Duration = Duration::from_secs(60);
const TRACE: &str = "0123456789abcdef0123456789abcdef";
const PROFILE: &str = "fedcba9876543210fedcba9876543210";

/// A large answer of Sentry, and the call that meets it.
struct Case {
    what: &'static str,
    /// Answers by route; the last one is the large one.
    answers: Vec<(&'static str, String)>,
    tool: &'static str,
    arguments: Value,
    /// What the answer says where it left something out.
    says: &'static str,
}

/// Measures and prints.
pub(crate) fn run(as_json: bool) -> Result<()> {
    let server = binary("mcp-stdio")?;
    let runtime = tokio::runtime::Runtime::new()?;
    let mut all = Map::new();
    if !as_json {
        println!(
            "{:<44}{:>9}{:>11}{:>13}{:>11}{:>13}",
            "", "input", "answer", "call", "peak", "plain JSON"
        );
    }
    for case in cases() {
        let figures = runtime.block_on(measure(&server, &case)).with_context(|| case.what)?;
        if !as_json {
            let number = |key: &str| figures[key].as_f64().unwrap_or_default();
            println!(
                "{:<44}{:>6.1} MB{:>8.1} kB{:>10.0} ms{:>8.0} MB{:>10.0} ms",
                case.what,
                number("input_bytes") / 1e6,
                number("answer_bytes") / 1e3,
                number("call_ms"),
                number("peak_mb"),
                number("plain_ms"),
            );
        }
        all.insert(case.what.to_owned(), figures);
    }
    if as_json {
        println!("{}", Value::Object(all));
    } else {
        println!(
            "\nMedians of {RUNS} calls over stdio to a fresh server, whose answer comes over loopback. peak: the most\n\
             memory that server ever held. plain JSON: the same bytes as a tree of values, in this process."
        );
    }
    Ok(())
}

async fn measure(server: &Path, case: &Case) -> Result<Value> {
    let faults = case.answers.iter().map(|(route, body)| answered(route, body)).collect();
    let mock = Mock::start(World { faults, ..World::sentry() })?;
    let mut command = Command::new(server);
    command.env_clear().arg("--no-spec-cache").args(["--docs-url", "off"]);
    command.env("SENTRY_URL", &mock.base_url).env("SENTRY_ACCESS_TOKEN", &mock.token);
    let mut session = Session::spawn(command)?;
    session.initialize("2025-11-25").await?;
    let arguments = json!({ "name": case.tool, "arguments": case.arguments });
    let (mut times, mut size) = (Vec::new(), 0);
    for _ in 0..RUNS {
        let begun = Instant::now();
        let answer = session.call("execute_sentry_tool", arguments.clone(), PATIENCE).await?;
        times.push(begun.elapsed());
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
        ensure!(answer["result"]["isError"] != true, "the call failed: {text}");
        ensure!(text.contains(case.says), "`{}` is not in the answer:\n{text}", case.says);
        size = text.len();
    }
    let peak = megabytes(session.id().context("the server is gone")?, PEAK)?;
    let body = case.answers.last().map(|(_, body)| body.as_str()).unwrap_or_default();
    let plain = (0..RUNS).map(|_| {
        let begun = Instant::now();
        let value: Value = serde_json::from_str(body)?;
        let time = begun.elapsed();
        drop(value);
        anyhow::Ok(time)
    });
    Ok(json!({
        "input_bytes": body.len(),
        "answer_bytes": size,
        "call_ms": median(times),
        "peak_mb": peak,
        "plain_ms": median(plain.collect::<Result<Vec<_>>>()?),
    }))
}

/// A route of the mock that always answers this.
fn answered(route: &str, body: &str) -> Fault {
    let headers = BTreeMap::from([("content-type".to_owned(), "application/json".to_owned())]);
    let action = Action::Respond { status: 200, headers, body: body.to_owned() };
    Fault::new(route, "GET", route, Phase::Before, action)
}

fn median(mut times: Vec<Duration>) -> Value {
    times.sort();
    json!(times.get(times.len() / 2).map(|it| it.as_secs_f64() * 1e3))
}

fn cases() -> Vec<Case> {
    let meta = json!({ "span_count": 10_000, "errors": 12, "logs": 0 }).to_string();
    let (meta_route, trace_route) =
        ("/api/0/organizations/{o}/trace-meta/{t}/", "/api/0/organizations/{o}/trace/{t}/");
    let trace = trace().to_string();
    let of_trace = || vec![(meta_route, meta.clone()), (trace_route, trace.clone())];
    vec![
        Case {
            what: "an event of 5 MB",
            answers: vec![("/api/0/organizations/{o}/issues/{i}/events/{e}/", event().to_string())],
            tool: "get_issue_details",
            arguments: json!({ "organizationSlug": "harbor-lantern", "issueId": "QUAY-API-2" }),
            says: "frames are not shown",
        },
        Case {
            what: "a trace of 10,000 spans",
            answers: of_trace(),
            tool: "get_trace_details",
            arguments: json!({ "organizationSlug": "harbor-lantern", "traceId": TRACE }),
            says: "the 96 most telling of 10000",
        },
        Case {
            what: "one span of a trace of 10,000",
            answers: of_trace(),
            tool: "get_span_details",
            arguments: json!({ "organizationSlug": "harbor-lantern", "traceId": TRACE, "spanId": span_id(9_999) }),
            says: "## Attributes",
        },
        Case {
            what: "a profile of 100,000 samples",
            answers: vec![(
                "/api/0/projects/{o}/{p}/profiling/profiles/{id}/",
                profile().to_string(),
            )],
            tool: "get_profile_details",
            arguments: json!({ "organizationSlug": "harbor-lantern", "projectSlugOrId": "quay-api", "profileId": PROFILE }),
            says: "more paths",
        },
    ]
}

/// Frames with variables, a long message, many breadcrumbs.
fn event() -> Value {
    let frame = |n: usize| {
        json!({
            "function": format!("step_{n}"),
            "filename": format!("quay/steps/part_{}.py", n % 50),
            "lineNo": n,
            "inApp": n.is_multiple_of(3),
            "context": [[n - n.min(1), "before = 1"], [n, "fail(now)"], [n + 1, "after = 2"]],
            "vars": { "order": "v".repeat(1_500), "self": "<Step>" },
        })
    };
    let frames: Vec<Value> = (0..2_500).map(frame).collect();
    let crumb = |n: usize| json!({ "category": "query", "message": format!("SELECT {n}"), "data": { "rows": "r".repeat(800) } });
    let crumbs: Vec<Value> = (0..500).map(crumb).collect();
    json!({
        "id": "e".repeat(32),
        "type": "error",
        "platform": "python",
        "message": "a long story\n".repeat(5_000),
        "entries": [
            { "type": "exception", "data": { "values": [{ "type": "KeyError", "value": "'berth'", "stacktrace": { "frames": frames } }] } },
            { "type": "breadcrumbs", "data": { "values": crumbs } },
        ],
        "tags": (0..200).map(|n| json!({ "key": format!("tag{n}"), "value": "t".repeat(150) })).collect::<Vec<_>>(),
    })
}

fn span_id(number: usize) -> String {
    format!("{:016x}", number + 1)
}

/// One root, 99 spans below it, a hundred below each of those.
fn trace() -> Value {
    let span = |number: usize, op: &str, children: Vec<Value>| {
        json!({
            "event_id": span_id(number),
            "event_type": "span",
            "op": op,
            "description": format!("SELECT * FROM berths WHERE harbor = 'h{number}' AND night = {number}"),
            "transaction": "/api/berths",
            "is_transaction": op == "http.server",
            "project_slug": "quay-api",
            "project_id": 4,
            "start_timestamp": 1_777_883_460.0 + number as f64 / 1_000.0,
            "end_timestamp": 1_777_883_461.0 + number as f64 / 1_000.0,
            "duration": 5 + number % 997,
            "errors": if number % 900 == 7 { json!([{ "issue_id": number, "title": "Deadlock", "level": "error" }]) } else { json!([]) },
            "occurrences": [],
            "measurements": {},
            "additional_attributes": {
                "db.system.name": "postgresql",
                "db.query.text": format!("SELECT * FROM berths WHERE harbor = 'h{number}' AND night = {number}"),
                "server.address": "db-1.harbor-lantern.test",
                "thread.name": "worker",
            },
            "children": children,
        })
    };
    let mut number = 99;
    let branches: Vec<Value> = (1..100)
        .map(|branch| {
            let leaves = (0..100).map(|_| {
                number += 1;
                span(number, "db", Vec::new())
            });
            let leaves = leaves.collect();
            span(branch, "task", leaves)
        })
        .collect();
    json!([span(0, "http.server", branches)])
}

/// 3,000 stacks of 30 frames, seen on 16 threads.
fn profile() -> Value {
    let frame = |n: usize| json!({ "function": format!("step_{n}"), "filename": format!("quay/steps/part_{}.py", n % 50), "lineno": n, "in_app": n.is_multiple_of(3) });
    let stack = |n: usize| json!((0..30).map(|it| (n * 7 + it * 13) % 2_000).collect::<Vec<_>>());
    let sample = |n: usize| json!({ "stack_id": n * n % 3_000, "thread_id": (n % 16).to_string(), "elapsed_since_start_ns": (n * 101_000).to_string() });
    json!({
        "event_id": PROFILE,
        "platform": "python",
        "release": "quay@5.2.0",
        "transaction": { "name": "/api/berths", "trace_id": TRACE },
        "profile": {
            "frames": (0..2_000).map(frame).collect::<Vec<_>>(),
            "stacks": (0..3_000).map(stack).collect::<Vec<_>>(),
            "samples": (0..100_000).map(sample).collect::<Vec<_>>(),
            "thread_metadata": { "1": { "name": "MainThread" } },
        },
    })
}
