//! The frame: listening, tokens, slashes, the log, the control plane, transactions, faults.

use std::collections::BTreeMap;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use mocks::{Action, Change, Fault, Mock, Phase, World};
use serde_json::json;

use crate::client::Client;

#[test]
fn only_loopback_addresses_are_listened_on() {
    let world = World { address: "0.0.0.0:0".parse().unwrap(), ..World::authentik() };
    let error = Mock::start(world).unwrap_err();
    assert!(error.to_string().contains("loopback"), "{error}");
}

#[test]
fn dropping_the_handle_stops_the_mock() {
    let mock = Mock::start(World::authentik()).unwrap();
    let address = mock.base_url.trim_start_matches("http://").to_owned();
    // A connection that is kept open must not hold up the stop.
    let idle = TcpStream::connect(&address).unwrap();
    let start = Instant::now();
    drop(mock);
    assert!(start.elapsed() < Duration::from_secs(2));
    assert!(TcpStream::connect(&address).is_err());
    drop(idle);
}

#[test]
fn a_given_token_is_the_only_one_let_in() {
    let client = Client::of(World { token: Some("t0".to_owned()), ..World::authentik() });
    assert_eq!(client.mock.token, "t0");
    assert_eq!(client.get("/admin/version/").status, 200);
    let sent = |headers: &[(&str, &str)]| {
        client.raw("GET", "/api/v3/admin/version/", headers, b"").unwrap().pair()
    };
    let detail = |text: &str| (403, json!({ "detail": text }));
    assert_eq!(sent(&[]), detail("Authentication credentials were not provided."));
    assert_eq!(sent(&[("authorization", "Bearer t1")]), detail("Token invalid/expired"));
    assert_eq!(
        sent(&[("authorization", "Token t0")]),
        detail("Authentication credentials were not provided.")
    );
}

#[test]
fn a_read_without_the_slash_is_redirected_and_a_write_is_not() {
    let client = Client::authentik();
    let read = client.get("/core/users?page=2");
    assert_eq!(read.status, 301);
    assert_eq!(read.header("location"), Some("/api/v3/core/users/?page=2"));
    assert_eq!(client.call("HEAD", "/core/users", None).status, 301);
    let write = client.post("/core/users", json!({ "username": "a", "name": "A" }));
    assert_eq!(write.pair(), (404, json!({ "detail": "Not found." })));
    let log = client.mock.log();
    assert!(log.iter().all(|entry| !entry.unimplemented && !entry.wrote));
}

#[test]
fn a_miss_of_the_fixture_is_told_apart_from_a_miss_of_the_caller() {
    let client = Client::authentik();
    assert_eq!(client.get("/providers/oauth2/").status, 404);
    assert_eq!(client.get("/core/users/999999/").status, 404);
    assert_eq!(client.call("PUT", "/core/users/me/", Some(json!({}))).status, 405);
    let log = client.mock.log();
    let misses: Vec<bool> = log.iter().map(|entry| entry.unimplemented).collect();
    assert_eq!(misses, [true, false, false]);
    assert_eq!(log[1].route.as_deref(), Some("/api/v3/core/users/{id}/"));
}

#[test]
fn the_log_holds_what_was_sent_with_the_credential_masked() {
    let client = Client::authentik();
    client.get("/core/users/?search=a%26b&page=1");
    client.post("/core/users/", json!({ "username": "new", "name": "New" }));
    let log = client.mock.log();
    assert_eq!(log.len(), 2);
    assert_eq!((log[0].seq, log[1].seq), (1, 2));
    assert_eq!(log[0].path, "/api/v3/core/users/");
    assert_eq!(log[0].query, "search=a%26b&page=1");
    assert_eq!(log[0].parameter("search").as_deref(), Some("a&b"));
    assert_eq!(log[0].header("authorization"), Some("Bearer ***"));
    assert_eq!((log[0].body.as_ref(), log[0].wrote), (None, false));
    assert_eq!(log[1].body, Some(json!({ "username": "new", "name": "New" })));
    assert_eq!((log[1].status, log[1].handler_status, log[1].wrote), (201, Some(201), true));
    let [Change::Add { path, to }] = log[1].diff.as_slice() else {
        panic!("{:?}", log[1].diff);
    };
    assert_eq!(path, &format!("/users/{}", to["pk"]));
    assert!(!format!("{log:?}").contains(&client.mock.token));
    assert_eq!(client.mock.writes(), log[1..]);
}

#[test]
fn the_control_plane_wants_its_header_and_leaves_no_trace_in_the_log() {
    let client = Client::authentik();
    let plain = client.get("/core/groups/");
    assert_eq!(plain.status, 200);
    assert_eq!(client.raw("GET", "/__mock/log", &[], b"").unwrap().status, 403);
    let log = client.control("GET", "log").json();
    assert_eq!(log.as_array().unwrap().len(), 2, "the refused one is an ordinary request");
    assert_eq!(log[0]["path"], "/api/v3/core/groups/");
    assert_eq!(log[0]["handlerStatus"], 200);
    assert_eq!(client.control("GET", "state").json(), client.mock.state());
    assert_eq!(client.control("GET", "reset").status, 404);
    assert_eq!(client.control("POST", "reset").status, 204);
    assert!(client.mock.log().is_empty());
}

#[test]
fn a_reset_brings_back_the_seeded_state_and_equal_seeds_equal_worlds() {
    let client = Client::authentik();
    let before = client.mock.state();
    let user = client.post("/core/users/", json!({ "username": "new", "name": "New" })).json();
    assert_ne!(client.mock.state(), before);
    client.mock.reset();
    assert_eq!(client.mock.state(), before);
    let again = client.post("/core/users/", json!({ "username": "new", "name": "New" })).json();
    assert_eq!(again, user, "ids and times start over as well");
    assert_eq!(Client::authentik().mock.state(), before);
    let other = Client::of(World { seed: 2, ..World::authentik() });
    assert_ne!(other.mock.state(), before);
}

#[test]
fn the_clock_stands_still_between_writes() {
    let client = Client::authentik();
    client.get("/core/users/");
    let create = |name: &str| {
        client.post("/core/users/", json!({ "username": name, "name": name })).json()["date_joined"]
            .clone()
    };
    assert_eq!(create("one"), "2026-05-04T09:00:00Z");
    client.get("/core/users/");
    assert_eq!(client.post("/core/users/", json!({})).status, 400);
    assert_eq!(create("two"), "2026-05-04T09:00:01Z");
}

fn fault(nth: Option<u32>, phase: Phase, action: Action) -> World {
    let fault = Fault { nth, ..Fault::new("f", "POST", "/api/v3/core/users/", phase, action) };
    World { faults: vec![fault], ..World::authentik() }
}

fn bad_gateway() -> Action {
    Action::Respond {
        status: 502,
        headers: BTreeMap::from([("content-type".to_owned(), "text/plain".to_owned())]),
        body: "upstream connect error".to_owned(),
    }
}

#[test]
fn a_lost_response_keeps_the_change_and_a_refused_request_does_not_use_it_up() {
    let client = Client::of(fault(Some(1), Phase::AfterCommit, bad_gateway()));
    let user = json!({ "username": "new", "name": "New" });
    assert_eq!(client.post("/core/users/", json!({})).status, 400);
    let lost = client.post("/core/users/", user.clone());
    assert_eq!((lost.status, lost.header("content-type")), (502, Some("text/plain")));
    assert_eq!(lost.body, b"upstream connect error");
    assert_eq!(
        client.post("/core/users/", user).pair(),
        (400, json!({ "username": ["This field must be unique."] }))
    );
    let log = client.mock.log();
    assert_eq!((log[1].status, log[1].handler_status, log[1].wrote), (502, Some(201), true));
    let fired: Vec<Option<&str>> = log.iter().map(|entry| entry.fault.as_deref()).collect();
    assert_eq!(fired, [None, Some("f"), None]);
}

#[test]
fn a_fault_before_the_handler_leaves_no_trace_and_without_a_number_it_always_strikes() {
    let client = Client::of(fault(None, Phase::Before, bad_gateway()));
    let before = client.mock.state();
    for _ in 0..2 {
        let user = json!({ "username": "new", "name": "New" });
        assert_eq!(client.post("/core/users/", user).status, 502);
    }
    assert_eq!(client.mock.state(), before);
    assert_eq!(client.mock.log()[1].handler_status, None);
    assert_eq!(client.raw("POST", "/api/v3/core/users/", &[], b"").unwrap().status, 403);
    assert_eq!(client.get("/core/users/").status, 200);
}

#[test]
fn a_reset_connection_gives_an_error_instead_of_an_answer() {
    let client = Client::of(fault(Some(2), Phase::AfterCommit, Action::Reset));
    let users = |client: &Client| client.mock.state()["users"].as_object().unwrap().len();
    let before = users(&client);
    let authorization = format!("Bearer {}", client.mock.token);
    let headers = [("authorization", authorization.as_str()), ("content-type", "application/json")];
    let post = |name: &str| {
        let body = json!({ "username": name, "name": name }).to_string();
        client.raw("POST", "/api/v3/core/users/", &headers, body.as_bytes())
    };
    assert_eq!(post("one").unwrap().status, 201);
    assert_eq!(post("two").unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
    assert_eq!(post("three").unwrap().status, 201);
    assert_eq!(users(&client), before + 3);
    assert_eq!((client.mock.log()[1].status, client.mock.log()[1].handler_status), (0, Some(201)));
}

#[test]
fn a_delayed_answer_is_late_and_otherwise_right() {
    let client = Client::of(fault(Some(1), Phase::AfterCommit, Action::Delay { ms: 120 }));
    let start = Instant::now();
    let user = json!({ "username": "new", "name": "New" });
    assert_eq!(client.post("/core/users/", user).status, 201);
    assert!(start.elapsed() >= Duration::from_millis(120));
    assert_eq!(client.mock.log()[0].fault.as_deref(), Some("f"));
}

#[test]
fn faults_are_read_from_json() {
    let text = r#"[{"id":"denied","method":"GET","route":"/api/0/organizations/{org}/repos/",
        "phase":"before","action":{"type":"respond","status":403,"body":"{}"}},
        {"id":"slow","method":"GET","route":"/x/","nth":3,"phase":"after_commit",
        "action":{"type":"delay","ms":5}}]"#;
    let faults: Vec<Fault> = serde_json::from_str(text).unwrap();
    assert_eq!((faults[0].nth, faults[1].nth), (None, Some(3)));
    assert_eq!(faults[1].action, Action::Delay { ms: 5 });
}
