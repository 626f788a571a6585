//! Cron monitors by the dozen, of one team and of others.

use serde_json::{Value, json};

use super::super::State;
use super::{add_monitor, environment, shuffled};
use crate::seed::Random;
use crate::table::Columns as _;

const PLACES: [&str; 10] = [
    "crane", "ferry", "dredger", "lock", "tugboat", "ballast", "mooring", "fender", "winch", "buoy",
];
const JOBS: [&str; 5] = ["sync", "audit", "backup", "report", "sweep"];
/// Whose the others are: another team, or nobody.
const OTHERS: [Option<&str>; 3] = [Some("web-crew"), None, Some("api-crew")];

/// Two exist already; of all forty, three refuse to be silenced.
pub(super) fn seed(state: &mut State, mut random: Random) {
    let names: Vec<String> = PLACES
        .iter()
        .flat_map(|place| JOBS.iter().map(move |job| format!("{place} {job}")))
        .collect();
    let mut own = Vec::new();
    for (number, name) in shuffled(names, &mut random).into_iter().enumerate() {
        let others = number.checked_sub(38).and_then(|it| OTHERS.get(it % OTHERS.len()));
        let project = if number % 4 == 3 { "quay-api" } else { "tide-worker" };
        let mut environments = vec![environment("production", "ok")];
        if number % 3 == 0 {
            environments.push(environment("staging", "ok"));
        }
        let team = others.copied().unwrap_or(Some("dock-oncall"));
        let id = add_monitor(state, &name, project, team, environments);
        if others.is_none() {
            own.push(id);
        }
    }
    let limit = "Monitor seats of the plan are used up, so its mute state is locked";
    let broken = "The stored schedule is invalid; repair it before any other change";
    let busy = "The monitor is being changed by somebody else";
    let refusals = [
        json!({ "status": 400, "body": { "isMuted": [limit] } }),
        json!({ "status": 400, "body": { "config": { "schedule": [broken] } } }),
        json!({ "status": 409, "body": { "detail": busy } }),
    ];
    for (id, refusal) in shuffled(own, &mut random).iter().zip(refusals) {
        if let Some(monitor) = state.monitors.get_mut(id) {
            monitor.set("refusal", refusal);
        }
    }
}

/// Takes the silence off every environment of the nightly monitor.
pub(super) fn wake(state: &mut State) {
    for monitor in state.monitors.rows_mut() {
        let mut environments: Vec<Value> = monitor.list("environments").to_vec();
        for environment in &mut environments {
            environment["is_muted"] = false.into();
        }
        monitor.set("environments", environments);
    }
}
