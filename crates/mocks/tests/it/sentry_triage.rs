//! Sentry: issues of many kinds, searched by tags, ignored in every way, looked at by Seer.

use serde_json::{Value, json};

use crate::client::Client;

const LIST: &str = "/organizations/harbor-lantern/issues/";
const ISSUE: &str = "/organizations/harbor-lantern/issues/QUAY-API-2/";

fn short_ids(rows: &[Value]) -> Vec<&str> {
    rows.iter().map(|it| it["shortId"].as_str().unwrap()).collect()
}

#[test]
fn issues_are_found_by_category_by_tags_of_their_events_and_by_what_they_are_not() {
    let client = Client::sentry();
    for (query, expected) in [
        ("issue.category:metric%20is:unresolved", &["QUAY-API-7"][..]),
        ("port:bergen", &["TIDE-WORKER-2"]),
        ("is:resolved", &["QUAY-API-8"]),
        ("%22no%20elements%22", &["QUAY-API-4"]),
        ("level:fatal%20!device:%22Pixel%209%22", &["TIDE-WORKER-3"]),
    ] {
        let rows = client.get(&format!("{LIST}?query={query}")).rows();
        assert_eq!(short_ids(&rows), expected, "{query}");
    }
    assert_eq!(client.get(&format!("{LIST}?query=%22half")).status, 400);
}

#[test]
fn every_way_of_ignoring_has_its_substatus_and_details() {
    for (body, substatus, details) in [
        (
            json!({ "status": "ignored", "substatus": "archived_until_escalating" }),
            "archived_until_escalating",
            json!({}),
        ),
        (json!({ "status": "ignored" }), "archived_forever", json!({})),
        (
            json!({ "status": "ignored", "ignoreDuration": 60 }),
            "archived_until_condition_met",
            json!({ "ignoreUntil": "2026-05-04T10:00:00Z" }),
        ),
        (
            json!({ "status": "ignored", "statusDetails": { "ignoreCount": 5, "ignoreWindow": 60 } }),
            "archived_until_condition_met",
            json!({ "ignoreCount": 5, "ignoreWindow": 60 }),
        ),
        (
            json!({ "status": "ignored", "ignoreUserCount": 3 }),
            "archived_until_condition_met",
            json!({ "ignoreUserCount": 3 }),
        ),
    ] {
        let client = Client::sentry();
        let changed = client.put(ISSUE, body.clone()).json();
        let state = (&changed["status"], &changed["substatus"], &changed["statusDetails"]);
        assert_eq!(state, (&json!("ignored"), &json!(substatus), &details), "{body}");
        assert_eq!(client.get(ISSUE).json()["statusDetails"], details);
    }
    let client = Client::sentry();
    let wide = json!({ "status": "ignored", "statusDetails": { "ignoreWindow": 10_081 } });
    assert_eq!(client.put(ISSUE, wide).status, 400);
}

#[test]
fn an_event_of_a_fixture_is_whole_and_belongs_to_its_issue() {
    let client = Client::sentry();
    let issue = client.get(ISSUE).json();
    assert_eq!(issue["assignedTo"]["name"], "api-crew");
    let events = client.get(&format!("{ISSUE}events/")).rows();
    assert_eq!(events.len(), 3);
    let newest = client.get(&format!("{ISSUE}events/latest/")).json();
    assert_eq!((&newest["id"], &newest["groupID"]), (&events[0]["id"], &issue["id"]));
    assert_eq!(newest["entries"][0]["type"], "exception");
    let tag = client.get(&format!("{ISSUE}tags/environment/")).json();
    assert_eq!(
        (&tag["totalValues"], &tag["topValues"][0]["value"]),
        (&json!(3), &json!("production"))
    );
    let reports = client.get(&format!("{LIST}QUAY-WEB-3/user-reports/")).rows();
    assert_eq!(reports.len(), 2);
    assert_eq!(client.get(&format!("{ISSUE}external-issues/")).rows().len(), 1);
}

#[test]
fn a_frame_is_found_in_the_repository_of_its_own_project_alone() {
    let client = Client::sentry();
    let link = |project: &str| {
        let path = format!("/projects/harbor-lantern/{project}/stacktrace-link/");
        client.get(&format!("{path}?file=quay/berths/pricing.py")).json()["sourceUrl"].clone()
    };
    assert!(link("quay-api").as_str().unwrap().ends_with("pricing.py#L21"));
    assert_eq!(link("quay-web"), Value::Null);
}

#[test]
fn a_run_of_seer_is_there_once_it_was_started() {
    let client = Client::sentry();
    let path = format!("{LIST}TIDE-WORKER-2/autofix/");
    assert_eq!(client.get(&path).json(), json!({ "autofix": null }));
    let started = client.post(&path, json!({ "instruction": "look" }));
    assert_eq!(started.status, 202);
    let run = client.get(&path).json();
    assert_eq!(run["autofix"]["run_id"], started.json()["run_id"]);
    assert_eq!(run["autofix"]["status"], "completed");
}
