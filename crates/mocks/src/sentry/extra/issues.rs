//! Many issues in ten projects: most of them old or new, open or not, of high or of low priority.

use serde_json::json;

use super::super::State;
use super::{add_project, project_id};
use crate::seed::Random;
use crate::table::row;
use crate::time::Timestamp;

/// With how many of a hundred issues each has: no two share a rank.
const PROJECTS: [(&str, u64); 10] = [
    ("quay-web", 9),
    ("quay-api", 19),
    ("tide-worker", 5),
    ("lamp-mobile", 3),
    ("berth-booking", 23),
    ("cargo-labels", 13),
    ("pilot-roster", 2),
    ("harbor-bell", 16),
    ("chart-tiles", 7),
    ("fog-signal", 3),
];

pub(super) fn seed(state: &mut State, mut random: Random, pages: u32) {
    for (slug, _) in PROJECTS.iter().skip(4) {
        add_project(state, slug, "lamp-keepers");
    }
    let ids: Vec<(String, &str, u64)> =
        PROJECTS.iter().map(|(slug, share)| (project_id(state, slug), *slug, *share)).collect();
    // Between 1 October 2025 and 1 May 2026; 1 February lies in it.
    let from = Timestamp::parse("2025-10-01T00:00:00Z").unwrap_or(Timestamp::START);
    for number in 0..u64::from(pages) * 100 {
        let mut place = random.below(100);
        let project = ids.iter().find(|(_, _, share)| match place.checked_sub(*share) {
            Some(rest) => {
                place = rest;
                false
            }
            None => true,
        });
        let Some((project, slug, _)) = project else { continue };
        let id = state.ids.number("issue", 6_507_000_000).to_string();
        let first = from.plus_seconds(i64::try_from(random.below(212 * 86_400)).unwrap_or(0));
        let status =
            random.pick(&["unresolved", "unresolved", "unresolved", "resolved", "ignored"]);
        let priority = random.pick(&["high", "medium", "medium", "low"]);
        let last = first.plus_seconds(i64::try_from(random.below(86_400)).unwrap_or(0) + 60);
        let columns = json!({
            "id": id,
            "short_id": format!("{}-{}", slug.to_uppercase(), 10_000 + number),
            "project_id": project,
            "title": format!("LoadError: part {number} of the manifest is missing"),
            "culprit": "manifest.load",
            "type": "error",
            "category": "error",
            "level": "error",
            "priority": priority,
            "count": 1 + random.below(900),
            "user_count": random.below(90),
            "first_seen": first.to_string(),
            "last_seen": last.to_string(),
            "status": status,
            "substatus": if status == "unresolved" { json!("ongoing") } else { json!(null) },
            "status_details": {},
            "assigned_to": null,
            "fixability": null,
        });
        state.issues.insert(&id, row(columns));
    }
}
