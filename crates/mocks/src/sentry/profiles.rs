//! Profiles of quay-api: one of a transaction, a continuous one, and the flame graph of many.

use serde_json::{Value, json};

use super::{State, by_id_or_slug, not_found, organization, project};
use crate::http::{Answer, Call, Reply};
use crate::route::{Route, get};
use crate::table::Columns as _;

const PROJECT: &str = "quay-api";
const TRANSACTION: &str = "/api/pay";
const PROFILE: &str = "7f3b9c2ad1e84056b1c29e7d0a4f5c86";
const PROFILER: &str = "c2a96f0b7e314d58a0f7d3b6e5914c27";
/// Between two samples.
const STEP_NS: u64 = 10_000_000;

/// Function, file, line, whether it is the app's own.
const FRAMES: [(&str, &str, u64, bool); 8] = [
    ("run", "gunicorn/app/wsgiapp.py", 66, false),
    ("get_response", "django/core/handlers/base.py", 140, false),
    ("pay", "quay/payments/views.py", 31, true),
    ("charge", "quay/payments/gateway.py", 58, true),
    ("read", "ssl.py", 1107, false),
    ("total", "quay/basket/pricing.py", 22, true),
    ("quantize", "decimal.py", 1019, false),
    ("to_json", "quay/basket/serializers.py", 12, true),
];

/// Stacks, the outermost frame first, and how often each was seen.
const STACKS: [(&[usize], u64); 5] = [
    (&[0, 1, 2, 3, 4], 120),
    (&[0, 1, 2, 5, 6], 30),
    (&[0, 1, 2, 5], 14),
    (&[0, 1, 2, 7], 9),
    (&[0, 1], 7),
];

pub(super) fn routes() -> Vec<Route<State>> {
    vec![
        get("/organizations/{organization_id_or_slug}/profiling/flamegraph/", flamegraph),
        get("/organizations/{organization_id_or_slug}/profiling/chunks/", chunk),
        get(
            "/projects/{organization_id_or_slug}/{project_id_or_slug}/profiling/profiles/{profile_id}/",
            retrieve,
        ),
    ]
}

/// Empty for other projects and transactions, and for the last hour. The payments of the last 7 days
/// are slower than before.
fn flamegraph(state: &State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let id = call.query("project").unwrap_or_default();
    let project = state.projects.get(&id);
    let query = call.query("query").unwrap_or_default();
    let other_transaction = query.contains("transaction:\"") && !query.contains(TRANSACTION);
    let period = call.query("statsPeriod").unwrap_or_default();
    let is_known = project.is_some_and(|it| it.text("slug") == PROJECT)
        && !other_transaction
        && period != "1h";
    let slowness = if period == "7d" { 1.0 } else { 0.6 };
    let stacks = if is_known { &STACKS[..] } else { &[] };
    let samples: Vec<&[usize]> = stacks.iter().map(|(stack, _)| *stack).collect();
    let counts: Vec<u64> = stacks.iter().map(|(_, count)| *count).collect();
    let nanoseconds: Vec<u64> = counts.iter().map(|it| it * STEP_NS).collect();
    let thread = json!({
        "name": "MainThread",
        "threadID": 1,
        "isMainThread": true,
        "type": "sampled",
        "unit": "nanoseconds",
        "startValue": 0,
        "endValue": nanoseconds.iter().sum::<u64>(),
        "samples": samples,
        "samples_profiles": [],
        "weights": nanoseconds,
        "sample_durations_ns": nanoseconds,
        "sample_counts": counts,
    });
    let frames = if is_known { &FRAMES[..] } else { &[] };
    let shared: Vec<Value> =
        (1..).zip(frames).map(|(number, it)| shared_frame(number, it)).collect();
    let infos: Vec<Value> = (0..frames.len()).map(|it| frame_info(it, slowness)).collect();
    let profiles = if is_known { vec![thread] } else { Vec::new() };
    let examples = if is_known { json!([{ "profile_id": PROFILE }]) } else { json!([]) };
    let answer = json!({
        "activeProfileIndex": 0,
        "metadata": {},
        "platform": if is_known { "python" } else { "" },
        "profiles": profiles,
        "projectID": id,
        "shared": { "frames": shared, "frame_infos": infos, "profiles": examples },
        "transactionName": if is_known { TRANSACTION } else { "" },
    });
    Ok(Reply::json(200, &answer))
}

fn shared_frame(number: u64, (name, file, line, in_app): &(&str, &str, u64, bool)) -> Value {
    json!({
        "name": name,
        "file": file,
        "line": line,
        "is_application": in_app,
        "fingerprint": 3_141_592_000 + number,
    })
}

/// The outer frames take whatever the inner ones take.
fn frame_info(frame: usize, slowness: f64) -> Value {
    let taken = |holds: &dyn Fn(&[usize]) -> bool| {
        let counts = STACKS.iter().filter(|(stack, _)| holds(stack)).map(|(_, count)| count);
        (counts.sum::<u64>() * STEP_NS) as f64
    };
    let whole = taken(&|stack| stack.contains(&frame)) * if frame == 3 { slowness } else { 1.0 };
    let own = taken(&|stack| stack.last() == Some(&frame));
    json!({
        "count": 12,
        "weight": whole,
        "sumDuration": whole,
        "sumSelfTime": own,
        "p75Duration": whole / 10.0,
        "p95Duration": whole / 8.0,
        "p99Duration": whole / if frame == 3 { 2.5 } else { 7.0 },
    })
}

/// As SDKs send it: stacks begin with the innermost frame.
fn retrieve(state: &State, call: &Call<'_>) -> Answer {
    let slug = project(state, call)?.text("slug");
    if slug != PROJECT || call.value(2) != PROFILE {
        return Err(not_found());
    }
    let samples =
        samples(|number| ("elapsed_since_start_ns", json!((number * STEP_NS).to_string())));
    let trace = state.spans.rows().find(|it| it.text("project") == PROJECT);
    let answer = json!({
        "event_id": PROFILE,
        "version": "1",
        "platform": "python",
        "environment": "production",
        "release": "quay@5.2.0",
        "timestamp": "2026-05-04T08:31:00Z",
        "transaction": {
            "id": "b0a6e3d2c1f94857a6b5c4d3e2f10987",
            "name": TRANSACTION,
            "trace_id": trace.map(|it| it.value("trace")),
            "active_thread_id": 1,
        },
        "profile": sampled(&samples),
    });
    Ok(Reply::json(200, &answer))
}

fn chunk(state: &State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let project = by_id_or_slug(&state.projects, &call.query("project").unwrap_or_default())?;
    let profiler = call.query("profiler_id").unwrap_or_default();
    if project.text("slug") != PROJECT || profiler != PROFILER {
        return Err(not_found());
    }
    let begin = 1_777_883_460_f64;
    let samples = samples(|number| ("timestamp", json!(begin + number as f64 / 100.0)));
    let answer = json!({
        "chunk": {
            "profiler_id": PROFILER,
            "chunk_id": "d3c2b1a0f9e84756a5b4c3d2e1f09876",
            "version": "2",
            "platform": "python",
            "environment": "production",
            "release": "quay@5.2.0",
            "profile": sampled(&samples),
        },
    });
    Ok(Reply::json(200, &answer))
}

fn samples(moment: impl Fn(u64) -> (&'static str, Value)) -> Vec<Value> {
    let stacks = STACKS.iter().enumerate();
    let stacks = stacks.flat_map(|(stack, (_, count))| (0..*count).map(move |_| stack));
    let sample = |(number, stack): (u64, usize)| {
        let (name, value) = moment(number);
        let thread = if number % 60 == 59 { "2" } else { "1" };
        json!({ "stack_id": stack, "thread_id": thread, name: value })
    };
    (0..).zip(stacks).map(sample).collect()
}

fn sampled(samples: &[Value]) -> Value {
    let frames: Vec<Value> = FRAMES
        .iter()
        .map(|(name, file, line, in_app)| {
            json!({ "function": name, "filename": file, "lineno": line, "in_app": in_app })
        })
        .collect();
    let stacks: Vec<Vec<usize>> =
        STACKS.iter().map(|(stack, _)| stack.iter().rev().copied().collect()).collect();
    json!({
        "frames": frames,
        "stacks": stacks,
        "samples": samples,
        "thread_metadata": { "1": { "name": "MainThread" }, "2": { "name": "metrics" } },
    })
}
