//! Boundaries, hashes, and the faults that need more than another answer.

use std::time::{Duration, Instant};

use mocks::{Action, Change, Edit, Extra, Fault, Phase, World};
use serde_json::{Value, json};

use crate::client::Client;

const REPOS: &str = "/api/0/organizations/{org}/repos/";
const LIST: &str = "/organizations/harbor-lantern/repos/";

fn with(fault: Fault) -> Client {
    Client::of(World { faults: vec![fault], ..World::sentry() })
}

fn on_repos(phase: Phase, action: Action) -> Fault {
    Fault::new("f", "GET", REPOS, phase, action)
}

#[test]
fn every_commit_is_a_boundary_with_the_state_it_left_even_when_the_answer_was_lost() {
    let lost = Action::Respond { status: 502, headers: [].into(), body: String::new() };
    let client = Client::of(World {
        faults: vec![Fault {
            nth: Some(1),
            ..Fault::new("lost", "POST", "/api/v3/core/groups/", Phase::AfterCommit, lost)
        }],
        ..World::authentik()
    });
    let baseline = client.mock.state();
    let hash = client.mock.state_hash();
    client.get("/core/groups/");
    assert_eq!(client.mock.state_hash(), hash);
    assert_eq!(client.post("/core/groups/", json!({ "name": "one" })).status, 502);
    assert_eq!(client.post("/core/groups/", json!({})).status, 400);
    assert_eq!(client.post("/core/groups/", json!({ "name": "two" })).status, 201);
    let boundaries = client.mock.boundaries();
    let seen: Vec<(u64, u64, Option<u16>, u16)> = boundaries
        .iter()
        .map(|it| (it.seq, it.request_seq, it.handler_status, it.sent_status))
        .collect();
    assert_eq!(seen, [(1, 2, Some(201), 502), (2, 4, Some(201), 201)]);
    assert_eq!(boundaries[0].fault.as_deref(), Some("lost"));
    assert!(matches!(boundaries[0].diff.as_slice(), [Change::Add { .. }]));
    let states = client.mock.states();
    assert_eq!(states.len(), 3);
    assert_eq!(states[0], baseline);
    assert_eq!(states[2], client.mock.state());
    assert_eq!(boundaries[1].state_hash, client.mock.state_hash());
    assert_ne!(boundaries[0].state_hash, hash);
    let firings = client.mock.firings();
    assert_eq!(firings.len(), 1);
    assert!(firings[0].committed && firings[0].request_seq == 2);
    assert_eq!(client.control("GET", "boundaries").json().as_array().unwrap().len(), 2);
    assert_eq!(client.control("GET", "firings").json()[0]["sentStatus"], 502);
    assert_eq!(client.control("GET", "hash").json()["hash"], client.mock.state_hash().as_str());
    client.mock.reset();
    assert_eq!((client.mock.state_hash(), client.mock.boundaries()), (hash, Vec::new()));
}

#[test]
fn the_log_says_what_was_delivered_and_how_much() {
    let client = with(Fault {
        nth: Some(2),
        ..on_repos(Phase::AfterCommit, Action::Truncate { bytes: 500, seamless: true })
    });
    client.get(&format!("{LIST}?per_page=3"));
    client.get(&format!("{LIST}?per_page=3"));
    let log = client.mock.log();
    assert_eq!(log[0].delivered.len(), 3);
    assert!(log[0].bytes > 600);
    assert_eq!((log[1].delivered.len(), log[1].bytes, log[1].status), (0, 500, 200));
    assert!(log[1].at_ms >= log[0].at_ms);
}

#[test]
fn a_cut_answer_either_lies_about_its_length_or_not() {
    let cut = |seamless| {
        let client = with(on_repos(Phase::AfterCommit, Action::Truncate { bytes: 40, seamless }));
        client.get(LIST)
    };
    let seamless = cut(true);
    assert_eq!((seamless.header("content-length"), seamless.body.len()), (Some("40"), 40));
    assert!(serde_json::from_slice::<Value>(&seamless.body).is_err());
    let short = cut(false);
    let announced: usize = short.header("content-length").unwrap().parse().unwrap();
    assert_eq!(short.body.len(), 40);
    assert!(announced > 1_000);
}

#[test]
fn a_rate_limit_turns_away_what_is_too_much_until_its_window_is_over() {
    let limit =
        Action::RateLimit { limit: 2, window_ms: 300, retry_after: Some(1), by_count: false };
    let client = with(on_repos(Phase::Before, limit));
    let start = Instant::now();
    let statuses = [(); 3].map(|()| client.get(LIST).status);
    assert_eq!(statuses, [200, 200, 429]);
    let refused = client.get(LIST);
    assert_eq!(refused.header("content-type"), Some("text/html; charset=utf-8"));
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(refused.header("x-sentry-rate-limit-limit"), Some("2"));
    assert!(refused.json()["detail"].as_str().unwrap().contains("too frequently"));
    while client.get(LIST).status == 429 {
        assert!(start.elapsed() < Duration::from_secs(10));
        std::thread::yield_now();
    }
    assert!(start.elapsed() >= Duration::from_millis(300));
    assert_eq!(client.get("/organizations/").status, 200);
}

#[test]
fn a_limit_by_count_meets_slow_callers_too() {
    let limit = Action::RateLimit { limit: 2, window_ms: 100, retry_after: None, by_count: true };
    let client = with(on_repos(Phase::Before, limit));
    let patience = || std::thread::sleep(Duration::from_millis(120));
    let mut statuses = Vec::new();
    for _ in 0..3 {
        statuses.push(client.get(LIST).status);
        patience();
    }
    statuses.push(client.get(LIST).status);
    assert_eq!(statuses, [200, 200, 429, 200]);
}

#[test]
fn a_stalled_request_has_done_its_work_and_never_answers() {
    let client = Client::of(World {
        faults: vec![Fault::new(
            "stall",
            "POST",
            "/api/v3/core/groups/",
            Phase::AfterCommit,
            Action::Stall { ms: 50 },
        )],
        ..World::authentik()
    });
    let authorization = format!("Bearer {}", client.mock.token);
    let headers = [("authorization", authorization.as_str()), ("content-type", "application/json")];
    let start = Instant::now();
    let answer = client.raw("POST", "/api/v3/core/groups/", &headers, b"{\"name\":\"late\"}");
    assert_eq!(answer.unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
    assert!(start.elapsed() >= Duration::from_millis(50));
    assert!(client.mock.firings()[0].committed);
    assert_eq!(client.mock.boundaries().len(), 1);
}

#[test]
fn the_world_can_change_by_other_hands_between_two_pages() {
    let edits: Vec<Edit> = serde_json::from_value(json!([
        { "op": "update", "table": "repositories",
          "where": { "name": "harbor-lantern/tide-tables" }, "set": { "status": "disabled" } },
        { "op": "insert", "table": "repositories", "key": "9999",
          "row": { "id": "9999", "name": "a/first", "provider": "unknown", "status": "active" } },
        { "op": "remove", "table": "repositories", "where": { "name": "harbor-lantern/buoy-api" } },
    ]))
    .unwrap();
    let mut fault = on_repos(Phase::Before, Action::Mutate { edits });
    fault.nth = Some(1);
    fault.when.query.insert("cursor".to_owned(), "*".to_owned());
    let client = with(fault);
    assert_eq!(client.get(LIST).rows().len(), 100);
    assert_eq!(client.get(&format!("{LIST}?cursor=100:1:0")).rows().len(), 6);
    assert_eq!(client.get(LIST).rows()[0]["name"], "a/first");
    let boundaries = client.mock.boundaries();
    assert_eq!(boundaries.len(), 1);
    assert!(boundaries[0].by_fixture && boundaries[0].request_seq == 2);
    assert_eq!(boundaries[0].diff.len(), 3);
    assert!(client.mock.writes().is_empty());
    assert!(!client.mock.log()[1].wrote);
}

#[test]
fn an_edited_world_is_where_the_mock_starts_from() {
    let client = Client::sentry();
    let edit = |table: &str| Edit::Update {
        table: table.to_owned(),
        which: json!({ "slug": "quay-web" }).as_object().unwrap().clone(),
        set: json!({ "name": "Quay" }).as_object().unwrap().clone(),
    };
    client.get(LIST);
    client.mock.edit(&[edit("projects")]).unwrap();
    assert!(client.mock.log().is_empty());
    assert_eq!(client.get("/projects/harbor-lantern/quay-web/").json()["name"], "Quay");
    client.mock.reset();
    assert_eq!(client.get("/projects/harbor-lantern/quay-web/").json()["name"], "Quay");
    assert_eq!(client.mock.edit(&[edit("wrecks")]).unwrap_err(), "no table `wrecks`");
}

#[test]
fn the_extra_rows_are_there_and_nowhere_else() {
    let of = |extra| Client::of(World { extra, ..World::sentry() });
    let count = |client: &Client, table: &str| {
        client.mock.state()[table].as_object().map_or(0, serde_json::Map::len)
    };
    let usual = of(Extra::None);
    let many = of(Extra::IssuePages(3));
    assert_eq!(count(&many, "issues"), count(&usual, "issues") + 300);
    let before = many.get(
        "/organizations/harbor-lantern/issues/?query=is:unresolved+firstSeen:%3C2026-02-01&limit=100",
    );
    let first = |row: &Value| row["firstSeen"].as_str().unwrap() < "2026-02-01";
    assert!(before.rows().iter().all(first) && before.rows().len() > 50);
    let hits = |query: &str| {
        let response = many.get(&format!("/organizations/harbor-lantern/issues/{query}"));
        response.header("x-hits").unwrap().parse::<u32>().unwrap()
    };
    assert!(hits("") < hits("?query=is:unresolved"), "low priority is left out unless asked for");
    assert!(hits("?query=is:unresolved") < hits("?query="));

    let bulk = of(Extra::BulkMute);
    let team =
        bulk.get("/teams/harbor-lantern/dock-oncall/").json()["id"].as_str().unwrap().to_owned();
    let owned = format!("/organizations/harbor-lantern/monitors/?owner=team:{team}");
    let owned = bulk.get(&owned).rows();
    assert_eq!(owned.len(), 40);
    let refused = owned.iter().filter(|monitor| {
        let path =
            format!("/organizations/harbor-lantern/monitors/{}/", monitor["id"].as_str().unwrap());
        bulk.put(&path, json!({ "isMuted": true })).status >= 400
    });
    assert_eq!(refused.count(), 3);

    let huge = of(Extra::HugeReleases);
    let page = huge.get("/organizations/harbor-lantern/releases/?per_page=5");
    assert!(page.body.len() > 120_000);
    assert_eq!(count(&of(Extra::OwnerDrift), "projects"), 4 + 12);
    assert_eq!(count(&of(Extra::TideGate), "dashboards"), 4);
    let loud = of(Extra::LoudStaging);
    let monitor = loud.get("/organizations/harbor-lantern/monitors/nightly-ledger-close/").json();
    assert_eq!(monitor["environments"][1]["isMuted"], false);
    assert_eq!(count(&of(Extra::Injection), "issues"), count(&usual, "issues") + 10);
}
