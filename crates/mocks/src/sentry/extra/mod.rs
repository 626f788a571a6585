//! The rows of `Extra`, one file per kind.

mod alarms;
mod drift;
mod injection;
mod issues;
mod releases;

use serde_json::{Value, json};

use super::{State, dashboards, owner, projects};
use crate::Extra;
use crate::seed::Random;
use crate::table::{Columns as _, row};

pub(super) fn seed(state: &mut State, seed: u64, extra: Extra) {
    let random = Random::new(seed, "extra");
    match extra {
        Extra::None | Extra::FirmPassword => {}
        Extra::IssuePages(pages) => issues::seed(state, random, pages),
        Extra::BulkMute => alarms::seed(state, random),
        Extra::OwnerDrift => drift::seed(state),
        Extra::TideGate => dashboards::seed_decoy(state, "Tide gate pulse (2025)", "tide-worker"),
        Extra::HugeReleases => releases::seed(state, random),
        Extra::Injection => injection::seed(state),
        Extra::LoudStaging => alarms::wake(state),
    }
}

/// A team and a project of it.
fn add_project(state: &mut State, slug: &str, team: &str) -> String {
    if state.teams.find("slug", team).is_none() {
        super::teams::add(state, team);
    }
    projects::add(state, slug, "node-express", team)
}

fn project_id(state: &State, slug: &str) -> String {
    state.projects.find("slug", slug).map(|it| it.text("id").to_owned()).unwrap_or_default()
}

/// Each of `items` with its place, in an order the random numbers decide.
fn shuffled<T>(mut items: Vec<T>, random: &mut Random) -> Vec<T> {
    for place in (1..items.len()).rev() {
        let other = usize::try_from(random.below(place as u64 + 1)).unwrap_or_default();
        items.swap(place, other);
    }
    items
}

/// An environment of a cron monitor.
fn environment(name: &str, status: &str) -> Value {
    json!({
        "name": name,
        "status": status,
        "is_muted": false,
        "date_created": "2025-09-01T06:00:00Z",
        "last_checkin": "2026-05-04T02:15:03Z",
        "next_checkin": "2026-05-05T02:15:00Z",
        "next_checkin_latest": "2026-05-05T02:22:00Z",
    })
}

/// An hourly cron monitor; the owner is a team's slug, or nobody.
fn add_monitor(
    state: &mut State,
    name: &str,
    project: &str,
    team: Option<&str>,
    environments: Vec<Value>,
) -> String {
    let id = state.ids.uuid("monitor");
    let words = name.to_lowercase();
    let words = words.split(|it: char| !it.is_ascii_alphanumeric()).filter(|it| !it.is_empty());
    let columns = json!({
        "id": id,
        "name": name,
        "slug": words.collect::<Vec<_>>().join("-"),
        "project_id": project_id(state, project),
        "status": "active",
        "is_upserting": false,
        "owner": team.map(|team| owner::team(state, team)),
        "config": {
            "schedule_type": "crontab", "schedule": "5 * * * *", "checkin_margin": 5,
            "max_runtime": 30, "timezone": "UTC", "failure_issue_threshold": 1,
            "recovery_threshold": 1, "alert_rule_id": null,
        },
        "environments": environments,
        "date_created": "2025-09-01T06:00:00Z",
    });
    state.monitors.insert(&id, row(columns));
    id
}
