//! Issues of many kinds, from files: the issue, its newest event in full, what differs in older ones,
//! and whatever people and Sentry have added.

use serde_json::{Value, json};

use super::{State, activities, owner};
use crate::http::{Answer, Call, Reply};
use crate::route::{Route, get};
use crate::seed::Random;
use crate::table::{Columns as _, Row, row};
use crate::time::Timestamp;

const FIXTURES: [&str; 14] = [
    include_str!("../../fixtures/sentry/python.json"),
    include_str!("../../fixtures/sentry/javascript.json"),
    include_str!("../../fixtures/sentry/java.json"),
    include_str!("../../fixtures/sentry/go.json"),
    include_str!("../../fixtures/sentry/rust.json"),
    include_str!("../../fixtures/sentry/php.json"),
    include_str!("../../fixtures/sentry/csharp.json"),
    include_str!("../../fixtures/sentry/http.json"),
    include_str!("../../fixtures/sentry/csp.json"),
    include_str!("../../fixtures/sentry/n_plus_one.json"),
    include_str!("../../fixtures/sentry/metric.json"),
    include_str!("../../fixtures/sentry/regression.json"),
    include_str!("../../fixtures/sentry/threads.json"),
    include_str!("../../fixtures/sentry/feedback.json"),
];

pub(super) fn routes() -> Vec<Route<State>> {
    vec![get(
        "/projects/{organization_id_or_slug}/{project_id_or_slug}/stacktrace-link/",
        source_link,
    )]
}

pub(super) fn seed(state: &mut State, mut random: Random) {
    for text in FIXTURES {
        let fixture: Value = serde_json::from_str(text).unwrap_or_default();
        let slug = fixture["project"].as_str().unwrap_or_default();
        let Some(project) = state.projects.find("slug", slug).map(|it| it.text("id").to_owned())
        else {
            continue;
        };
        let id = state.ids.number("issue", 6_507_000_000).to_string();
        let number = state.issues.rows().filter(|it| it.text("project_id") == project).count() + 1;
        let mut issue = row(fixture["issue"].clone());
        let team = issue.value("assigned").as_str().map(|slug| owner::team(state, slug));
        issue.set("assigned_to", team.unwrap_or_default());
        issue.set("id", id.clone());
        issue.set("project_id", project);
        issue.set("short_id", format!("{}-{number}", slug.to_uppercase()));
        issue.set("status_details", json!({}));
        for column in ["external", "reports", "source"] {
            issue.set(column, fixture[column].clone());
        }
        state.issues.insert(&id, issue.clone());
        seed_events(state, &issue, &fixture, &mut random);
        seed_replays(state, &issue, &fixture);
        if fixture["autofix"].is_object() {
            let mut run = row(fixture["autofix"].clone());
            run.set("run_id", state.ids.number("autofix", 88_000));
            state.autofix_runs.insert(&id, run);
        }
        let first = Timestamp::parse(issue.text("first_seen")).unwrap_or(Timestamp::START);
        activities::add(state, &id, "first_seen", json!({}), None, first);
    }
}

fn seed_events(state: &mut State, issue: &Row, fixture: &Value, random: &mut Random) {
    let newest = row(fixture["event"].clone());
    let older = fixture["older"].as_array().cloned().unwrap_or_default();
    for change in std::iter::once(json!({})).chain(older) {
        let mut full = newest.clone();
        full.extend(row(change));
        let id = random.hex(32);
        let tag = |key: &str| {
            let found = full.list("tags").iter().find(|it| it["key"] == key);
            found.map(|it| it["value"].clone()).unwrap_or_default()
        };
        let columns = json!({
            "id": id,
            "issue_id": issue.text("id"),
            "trace_id": full["contexts"]["trace"]["trace_id"],
            "timestamp": full.text("dateCreated"),
            "environment": tag("environment"),
            "browser": tag("browser"),
            "user": full.value("user"),
            "full": full,
        });
        state.events.insert(id, row(columns));
    }
}

fn seed_replays(state: &mut State, issue: &Row, fixture: &Value) {
    for id in fixture["replay_ids"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let columns = json!({
            "id": id,
            "project_id": issue.text("project_id"),
            "issue_id": issue.text("id"),
            "error_id": null,
            "trace_id": null,
            "is_archived": false,
            "started_at": "2026-04-01T08:00:00Z",
            "duration": 31,
        });
        state.replays.insert(id, row(columns));
    }
}

/// Where a file is in the repository; most are in none.
fn source_link(state: &State, call: &Call<'_>) -> Answer {
    let project = super::project(state, call)?.text("id");
    let file = call.query("file").unwrap_or_default();
    let of_project = state.issues.rows().filter(|it| it.text("project_id") == project);
    let mut sources = of_project.map(|it| it.value("source"));
    let found = sources.find(|it| it["file"] == file.as_str() && !file.is_empty());
    let answer = match found {
        Some(source) => json!({
            "config": { "repoName": source["repository"], "provider": { "key": "github" } },
            "sourceUrl": source["url"],
            "sourcePath": source["path"],
            "integrations": [],
        }),
        None => json!({
            "config": null, "sourceUrl": null, "error": "stack_root_mismatch", "integrations": [],
        }),
    };
    Ok(Reply::json(200, &answer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fixture_is_an_issue_with_an_event() {
        for text in FIXTURES {
            let fixture: Value = serde_json::from_str(text).unwrap();
            assert!(fixture["issue"]["title"].is_string(), "{text}");
            assert!(fixture["event"]["entries"].is_array(), "{text}");
        }
    }
}
