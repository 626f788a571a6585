//! Samples of metrics and profiles beside the first errors: rows that only the event search shows.

use serde_json::json;

use super::State;
use crate::table::{Columns as _, Row, row};

pub(super) const METRICS: &[&str] = &[
    "environment",
    "id",
    "metric.name",
    "metric.type",
    "metric.unit",
    "project",
    "timestamp",
    "trace",
    "value",
];
pub(super) const PROFILES: &[&str] = &[
    "environment",
    "precise.finish_ts",
    "precise.start_ts",
    "profile.id",
    "profiler.id",
    "project",
    "release",
    "thread.id",
    "timestamp",
    "trace",
    "transaction",
    "transaction.duration",
];

/// Moments and traces that samples are beside: those of the oldest errors.
fn places(state: &State) -> Vec<(String, String)> {
    let mut places: Vec<(String, String)> = state
        .events
        .rows()
        .map(|it| (it.text("timestamp").to_owned(), it.text("trace_id").to_owned()))
        .collect();
    places.sort();
    places.truncate(3);
    places
}

/// Two metrics: how long a charge takes, and what is in the basket.
pub(super) fn metrics(state: &State) -> Vec<Row> {
    let series = [
        ("charge.duration", "distribution", json!("millisecond"), 1_790),
        ("basket.items", "gauge", json!(null), 3),
    ];
    let places = places(state);
    let rows = places.iter().enumerate().flat_map(|(number, (at, trace))| {
        series.iter().enumerate().map(move |(place, (name, kind, unit, value))| {
            row(json!({
                "id": format!("{:032x}", 0x5eed_0000 + number * 16 + place),
                "timestamp": at,
                "trace": trace,
                "project": "quay-api",
                "environment": "production",
                "metric.name": name,
                "metric.type": kind,
                "metric.unit": unit,
                "value": value + number,
            }))
        })
    });
    rows.collect()
}

/// A profile of a transaction, then stretches of a continuous one.
pub(super) fn profiles(state: &State) -> Vec<Row> {
    let rows = places(state).into_iter().enumerate().map(|(number, (at, trace))| {
        let id = |base: usize| format!("{:032x}", base + number);
        let is_continuous = number > 0;
        let begin = 1_777_880_000 + number * 60;
        row(json!({
            "profile.id": if is_continuous { json!(null) } else { json!(id(0xf1a3_0000)) },
            "profiler.id": if is_continuous { json!(id(0xc0_0000)) } else { json!(null) },
            "thread.id": if is_continuous { json!("1") } else { json!(null) },
            "timestamp": at,
            "trace": trace,
            "project": "quay-api",
            "environment": "production",
            "release": "quay@5.2.0",
            "transaction": "/api/pay",
            "transaction.duration": 1_880,
            "precise.start_ts": begin,
            "precise.finish_ts": begin + 30,
        }))
    });
    rows.collect()
}
