//! Projects between monitors, alerts and releases: three meet all conditions, each other fails one.

use serde_json::json;

use super::super::{State, deploys, releases, workflows};
use super::{add_monitor, add_project, environment, project_id};
use crate::table::row;

struct Drift {
    project: &'static str,
    team: &'static str,
    /// The state of the monitor in production and in staging.
    monitor: (&'static str, &'static str),
    /// Where each release went, oldest first; a release may go several ways.
    releases: &'static [&'static [&'static str]],
}

/// Teams and their alerts: on or off.
const ALERTS: [(&str, &[bool]); 5] = [
    ("gull-squad", &[]),
    ("heron-squad", &[false, false]),
    ("tern-squad", &[false, true]),
    ("petrel-squad", &[true]),
    ("skua-squad", &[false]),
];

const DRIFT: [Drift; 12] = [
    // All three conditions hold.
    Drift {
        project: "anchor-ledger",
        team: "gull-squad",
        monitor: ("error", "ok"),
        releases: &[&["staging", "production"], &["staging"]],
    },
    Drift {
        project: "kelp-router",
        team: "heron-squad",
        monitor: ("error", "error"),
        releases: &[&["production"], &[]],
    },
    Drift {
        project: "sonar-feed",
        team: "skua-squad",
        monitor: ("error", "ok"),
        releases: &[&["staging"]],
    },
    // The monitor is well, or fails elsewhere, or there is none.
    Drift {
        project: "barge-import",
        team: "gull-squad",
        monitor: ("ok", "error"),
        releases: &[&["production"], &["staging"]],
    },
    Drift {
        project: "coral-index",
        team: "heron-squad",
        monitor: ("ok", "ok"),
        releases: &[&["staging"]],
    },
    Drift {
        project: "delta-forms",
        team: "skua-squad",
        monitor: ("", ""),
        releases: &[&["staging"]],
    },
    // The team has an alert that is on.
    Drift {
        project: "eddy-search",
        team: "tern-squad",
        monitor: ("error", "ok"),
        releases: &[&["production"], &["staging"]],
    },
    Drift {
        project: "fjord-mailer",
        team: "petrel-squad",
        monitor: ("error", "ok"),
        releases: &[&[]],
    },
    // The newest release is in production, though its last rollout was elsewhere.
    Drift {
        project: "gale-metrics",
        team: "gull-squad",
        monitor: ("error", "ok"),
        releases: &[&["staging"], &["production", "staging"]],
    },
    Drift {
        project: "islet-cache",
        team: "heron-squad",
        monitor: ("error", "ok"),
        releases: &[&["staging"], &["staging", "production"]],
    },
    // The monitor missed nothing but is about to: not failing yet.
    Drift {
        project: "lagoon-sync",
        team: "skua-squad",
        monitor: ("active", "error"),
        releases: &[&["staging"]],
    },
    // Never released at all: there is no newest release.
    Drift { project: "marsh-tools", team: "gull-squad", monitor: ("error", "ok"), releases: &[] },
];

pub(super) fn seed(state: &mut State) {
    for drift in &DRIFT {
        add_project(state, drift.project, drift.team);
    }
    for (team, alerts) in ALERTS {
        for (number, enabled) in alerts.iter().enumerate() {
            let name = format!("{team} alert {}", number + 1);
            workflows::add_plain(state, &name, team, *enabled);
        }
    }
    for drift in &DRIFT {
        let (production, staging) = drift.monitor;
        if !production.is_empty() {
            let environments =
                vec![environment("staging", staging), environment("production", production)];
            let name = format!("{} heartbeat", drift.project);
            add_monitor(state, &name, drift.project, Some(drift.team), environments);
        }
        let id = project_id(state, drift.project);
        for (number, places) in drift.releases.iter().enumerate() {
            let version = format!("{}@1.{number}.0", drift.project);
            let created = format!("2026-04-{:02}T09:00:00Z", 10 + number);
            let release =
                releases::add(state, &version, std::slice::from_ref(&id), &created, &json!({}));
            for (hour, place) in places.iter().enumerate() {
                let finished = format!("2026-04-{:02}T{:02}:00:00Z", 10 + number, 10 + hour);
                let deploy = json!({
                    "environment": place, "name": null, "url": null,
                    "date_started": null, "date_finished": finished,
                });
                deploys::add(state, &release, &row(deploy), std::slice::from_ref(&id));
            }
        }
    }
}
