//! Sentry: issues, their events and what is done with them.

use serde_json::{Value, json};

use crate::client::Client;

const LIST: &str = "/organizations/harbor-lantern/issues/";
const FIRST: &str = "/organizations/harbor-lantern/issues/quay-web-1/";

fn short_ids(rows: &[Value]) -> Vec<&str> {
    rows.iter().map(|it| it["shortId"].as_str().unwrap()).collect()
}

#[test]
fn issues_are_searched_sorted_and_cut() {
    let client = Client::sentry();
    let rows = client.get(&format!("{LIST}?sort=freq&limit=3")).rows();
    assert_eq!(short_ids(&rows), ["TIDE-WORKER-1", "QUAY-WEB-3", "QUAY-API-6"]);
    let page = client.get(&format!("{LIST}?query=is:unresolved%20level:error&limit=1"));
    assert_eq!((page.rows().len(), page.header("x-hits")), (1, Some("10")));
    let found = client.get(&format!("{LIST}?query=payment")).rows();
    assert_eq!(short_ids(&found), ["QUAY-API-1"]);
    for wrong in ["sort=loud", "query=is:loud", "query=project:nothing"] {
        assert_eq!(client.get(&format!("{LIST}?{wrong}")).status, 400, "{wrong}");
    }
    let event = client.get(&format!("{FIRST}events/latest/")).json();
    let by_event = client.get(&format!("{LIST}?query={}", event["id"].as_str().unwrap())).rows();
    assert_eq!(short_ids(&by_event), ["QUAY-WEB-1"]);
}

#[test]
fn a_status_brings_its_substatus_and_an_activity() {
    let client = Client::sentry();
    let change = |body: Value| client.put(FIRST, body).json();
    let ignored = change(json!({ "status": "ignored", "ignoreCount": 10, "ignoreWindow": 60 }));
    assert_eq!(ignored["substatus"], "archived_until_condition_met");
    assert_eq!(ignored["statusDetails"], json!({ "ignoreCount": 10, "ignoreWindow": 60 }));
    let next = change(json!({ "status": "resolvedInNextRelease" }));
    assert_eq!(
        (&next["status"], &next["statusDetails"]),
        (&json!("resolved"), &json!({ "inNextRelease": true }))
    );
    let back = change(json!({ "status": "unresolved", "assignedTo": "user:7001" }));
    assert_eq!(
        (&back["substatus"], &back["assignedTo"]["name"]),
        (&json!("ongoing"), &json!("Eval Runner"))
    );
    assert_eq!(change(json!({ "assignedTo": "" }))["assignedTo"], Value::Null);
    let refused = client.put(FIRST, json!({ "assignedTo": "user:1", "status": "gone" })).pair();
    let expected = json!({
        "status": ["\"gone\" is not a valid choice."], "assignedTo": ["Unknown actor input"],
    });
    assert_eq!(refused, (400, expected));
    let activity = client.get(&format!("{FIRST}activities/")).json();
    let kinds: Vec<&str> = activity["activity"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        ["unassigned", "assigned", "set_unresolved", "set_resolved", "set_ignored", "first_seen"]
    );
}

#[test]
fn comments_are_kept_but_not_twice_in_a_row() {
    let client = Client::sentry();
    let notes = format!("{FIRST}notes/");
    let note = client.post(&notes, json!({ "text": "looking at it" }));
    assert_eq!((note.status, &note.json()["data"]["text"]), (201, &json!("looking at it")));
    assert_eq!(client.post(&notes, json!({ "text": "looking at it" })).status, 400);
    assert_eq!(client.post(&notes, json!({ "text": " " })).status, 400);
    assert_eq!(client.get(&notes).rows().len(), 1);
    assert_eq!(client.get(FIRST).json()["numComments"], 1);
}

#[test]
fn events_know_their_neighbours_and_tags_their_values() {
    let client = Client::sentry();
    let rows = client.get(&format!("{FIRST}events/")).rows();
    assert_eq!(rows.len(), 3);
    let latest = client.get(&format!("{FIRST}events/latest/")).json();
    assert_eq!((&latest["id"], &latest["nextEventID"]), (&rows[0]["id"], &Value::Null));
    assert_eq!(latest["previousEventID"], rows[1]["id"]);
    let middle = client.get(&format!("{FIRST}events/{}/", rows[1]["id"].as_str().unwrap())).json();
    assert_eq!(middle["nextEventID"], rows[0]["id"]);
    let staging = client.get(&format!("{FIRST}events/?query=environment:staging")).rows();
    assert_eq!(staging.len(), 1);
    let tag = client.get(&format!("{FIRST}tags/browser/")).json();
    assert_eq!(
        (&tag["totalValues"], &tag["topValues"][0]["value"]),
        (&json!(3), &json!("Chrome 137"))
    );
    assert_eq!(client.get(&format!("{FIRST}tags/moon/")).status, 404);
    let reports = client.get(&format!("{FIRST}user-reports/")).rows();
    assert_eq!(reports[0]["eventID"].as_str().map(str::len), Some(32));
    assert_eq!(client.get(&format!("{FIRST}external-issues/")).rows().len(), 1);
}

#[test]
fn a_trace_counts_what_its_tree_holds() {
    let client = Client::sentry();
    let event = client.get(&format!("{FIRST}events/latest/")).json();
    let trace = event["contexts"]["trace"]["trace_id"].as_str().unwrap();
    let meta = client.get(&format!("/organizations/harbor-lantern/trace-meta/{trace}/")).json();
    assert_eq!(
        (&meta["span_count"], &meta["errors"], &meta["logs"]),
        (&json!(6), &json!(1), &json!(3))
    );
    let path = format!("/organizations/harbor-lantern/trace/{trace}/");
    let tree = client.get(&path).rows();
    assert_eq!((tree.len(), tree[0]["children"].as_array().unwrap().len()), (1, 2));
    assert_eq!(tree[0]["errors"][0]["event_id"], event["id"]);
    assert_eq!(client.get(&format!("{path}?limit=1")).rows()[0]["children"], json!([]));
    assert_eq!(client.get("/organizations/harbor-lantern/trace/0000/").status, 404);
}

#[test]
fn events_are_searched_grouped_and_validated() {
    let client = Client::sentry();
    let events = "/organizations/harbor-lantern/events/";
    let found = client.get(&format!(
        "{events}?dataset=spans&field=span.op&field=count()&query=project:quay-api&sort=-count()"
    ));
    assert_eq!(
        found.json()["data"],
        json!([
            { "span.op": "http.server", "count()": 12 },
            { "span.op": "http.client", "count()": 12 },
            { "span.op": "db", "count()": 12 },
        ])
    );
    let rows = client.get(&format!(
        "{events}?dataset=errors&field=issue&field=timestamp&query=payment&sort=-timestamp&per_page=1"
    ));
    assert_eq!(rows.json()["data"][0]["issue"], "QUAY-API-1");
    let wrong = client.get(&format!("{events}validate/?dataset=logs&field=moon")).pair();
    let text = "moon is not a field of this dataset";
    assert_eq!(
        wrong,
        (400, json!({ "valid": false, "field": [{ "valid": false, "error": text }] }))
    );
    assert_eq!(client.get(&format!("{events}?dataset=logs&field=moon")).status, 400);
    assert_eq!(
        client.get(&format!("{events}validate/?dataset=logs&field=message")).json(),
        json!({ "valid": true })
    );
}

#[test]
fn a_replay_leads_to_its_error_and_an_archived_one_has_no_recording() {
    let client = Client::sentry();
    let replays = client.get("/organizations/harbor-lantern/replays/").json();
    let (kept, archived) = (&replays["data"][0], &replays["data"][1]);
    let issue = client.get(FIRST).json();
    let issue = issue["id"].as_str().unwrap();
    let count = format!(
        "/organizations/harbor-lantern/replay-count/?returnIds=true&query=issue.id:[{issue}]"
    );
    assert_eq!(client.get(&count).json()[issue], json!([kept["id"]]));
    let path = |replay: &Value| {
        let id = replay["id"].as_str().unwrap();
        format!("/projects/harbor-lantern/quay-web/replays/{id}/recording-segments/?download=true")
    };
    assert_eq!(client.get(&path(kept)).rows().len(), 2);
    assert_eq!(client.get(&path(archived)).status, 404);
}

#[test]
fn profiles_of_one_project_are_there_in_all_three_forms() {
    let client = Client::sentry();
    let project = client.get("/projects/harbor-lantern/quay-api/").json();
    let (id, base) = (project["id"].as_str().unwrap(), "/organizations/harbor-lantern/profiling");
    let graph = |project: &str, query: &str| {
        client
            .get(&format!("{base}/flamegraph/?project={project}&statsPeriod=7d&query={query}"))
            .json()
    };
    let found = graph(id, "transaction:%22/api/pay%22");
    assert_eq!(found["transactionName"], "/api/pay");
    let frames = found["shared"]["frames"].as_array().unwrap().len();
    assert_eq!(found["shared"]["frame_infos"].as_array().unwrap().len(), frames);
    assert_eq!(graph("1", "")["profiles"], json!([]));
    assert_eq!(graph(id, "transaction:%22/other%22")["profiles"], json!([]));
    let example = found["shared"]["profiles"][0]["profile_id"].as_str().unwrap();
    let path =
        |project: &str| format!("/projects/harbor-lantern/{project}/profiling/profiles/{example}/");
    let profile = client.get(&path("quay-api")).json();
    assert_eq!(profile["profile"]["samples"].as_array().unwrap().len(), 180);
    assert_eq!(client.get(&path("quay-web")).status, 404);
    let chunk = format!("{base}/chunks/?project={id}&start=a&end=b&profiler_id=");
    let known = client.get(&format!("{chunk}c2a96f0b7e314d58a0f7d3b6e5914c27")).json();
    assert_eq!(known["chunk"]["profile"]["stacks"].as_array().unwrap().len(), 5);
    assert_eq!(client.get(&format!("{chunk}x")).status, 404);
}
