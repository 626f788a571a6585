//! authentik: lists, users, groups and events.

use serde_json::{Value, json};

use crate::client::Client;

fn names(rows: &[Value], column: &str) -> Vec<String> {
    rows.iter().map(|row| row[column].as_str().unwrap().to_owned()).collect()
}

fn user(client: &Client, username: &str) -> Value {
    client.get(&format!("/core/users/?username={username}")).results()[0].clone()
}

#[test]
fn pages_tell_the_next_number_and_zero_at_the_end() {
    let client = Client::authentik();
    let first = client.get("/events/events/").json();
    assert_eq!(
        first["pagination"],
        json!({ "next": 2, "previous": 0, "count": 250, "current": 1, "total_pages": 13,
            "start_index": 1, "end_index": 20 })
    );
    assert_eq!(first["autocomplete"], json!({}));
    let last = client.get("/events/events/?page=3&page_size=100").json();
    assert_eq!(
        last["pagination"],
        json!({ "next": 0, "previous": 2, "count": 250, "current": 3, "total_pages": 3,
            "start_index": 201, "end_index": 250 })
    );
    let huge = client.get("/events/events/?page_size=5000").json();
    assert_eq!(huge["results"].as_array().unwrap().len(), 100, "clamped, not refused");
    for page in ["0", "4", "x"] {
        let beyond = client.get(&format!("/events/events/?page_size=100&page={page}"));
        assert_eq!(beyond.pair(), (404, json!({ "detail": "Invalid page." })));
    }
    let empty = client.get("/core/users/?search=nobody-at-all").json();
    assert_eq!(
        empty["pagination"],
        json!({ "next": 0, "previous": 0, "count": 0, "current": 1, "total_pages": 1,
            "start_index": 0, "end_index": 0 })
    );
}

#[test]
fn the_pages_of_a_list_are_disjoint_and_complete() {
    let client = Client::authentik();
    let mut seen = std::collections::BTreeSet::new();
    for page in 1..=13 {
        for event in client.get(&format!("/events/events/?page={page}")).results() {
            assert!(seen.insert(event["pk"].to_string()));
        }
    }
    assert_eq!(seen.len(), 250);
}

#[test]
fn lists_are_searched_filtered_and_ordered() {
    let client = Client::authentik();
    let found = client.get("/core/users/?search=WREN&ordering=-username").results();
    assert_eq!(names(&found, "username"), ["ada.wrenfield", "ada.wren"]);
    let inactive = client.get("/core/users/?is_active=false&ordering=name").results();
    let expected = ["Ada Wrenfield", "Bo Teller", "Leila Novak", "Zeno Pryce"];
    assert_eq!(names(&inactive, "name"), expected);
    let partners = client.get("/core/users/?groups_by_name=partners&type=external").results();
    assert_eq!(partners.len(), 4);
    assert_eq!(client.get("/core/users/?groups_by_name=no-such-group").results().len(), 0);
    assert_eq!(client.get("/core/users/?last_login__isnull=true").results().len(), 1);
    let all = client.get("/core/users/?page_size=100").results().len();
    assert_eq!(all, 30);
    let early = client.get("/core/users/?page_size=100&date_joined__lt=2025-09-01T00:00:00Z");
    let late = client.get("/core/users/?page_size=100&date_joined__gt=2025-09-01T00:00:00Z");
    assert_eq!(early.results().len() + late.results().len(), all);
    assert_eq!(
        client.get("/core/users/?date_joined__lt=yesterday").pair(),
        (400, json!({ "date_joined__lt": ["Enter a valid date/time."] }))
    );
    let newest = client.get("/core/users/?ordering=-date_joined,username&page_size=2").results();
    assert!(newest[0]["date_joined"].as_str() >= newest[1]["date_joined"].as_str());
    assert_eq!(client.get("/core/users/?ordering=no_such_column").results().len(), 20);
}

#[test]
fn a_user_is_created_changed_and_deleted() {
    let client = Client::authentik();
    let groups = client.get("/core/groups/?name=support").results();
    let support = groups[0]["pk"].clone();
    let created = client.post(
        "/core/users/",
        json!({ "username": "nils.aker", "name": "Nils Aker", "email": "nils.aker@x.test",
            "groups": [support], "unknown": 1 }),
    );
    assert_eq!(created.status, 201);
    let created = created.json();
    assert_eq!(created["groups_obj"][0]["name"], "support");
    let shown =
        ["is_active", "is_superuser", "path", "type", "date_joined"].map(|field| &created[field]);
    assert_eq!(json!(shown), json!([true, false, "users", "internal", "2026-05-04T09:00:00Z"]));
    let path = format!("/core/users/{}/", created["pk"]);
    assert_eq!(client.get(&path).json(), created);

    let patched = client.patch(&path, json!({ "is_active": false })).json();
    assert_eq!(patched["is_active"], false);
    assert_eq!(patched["groups"], json!([support]));
    let replaced = client.put(&path, json!({ "username": "nils.aker", "name": "Nils" })).json();
    assert_eq!((&replaced["is_active"], &replaced["groups"]), (&json!(true), &json!([])));
    assert_eq!(replaced["email"], "");

    let deleted = client.delete(&path);
    assert_eq!((deleted.status, deleted.body.len()), (204, 0));
    let gone = (404, json!({ "detail": "No User matches the given query." }));
    assert_eq!(client.get(&path).pair(), gone);
    assert_eq!(client.delete(&path).pair(), gone);
}

#[test]
fn wrong_users_are_refused_field_by_field_and_change_nothing() {
    let client = Client::authentik();
    let before = client.mock.state();
    let refused = |body: Value| {
        let response = client.post("/core/users/", body);
        assert_eq!(response.status, 400);
        response.json()
    };
    let required = json!(["This field is required."]);
    assert_eq!(refused(json!({})), json!({ "username": required, "name": required }));
    assert_eq!(
        refused(json!({ "username": "akadmin", "name": "X", "email": "nobody" })),
        json!({
            "username": ["This field must be unique."],
            "email": ["Enter a valid email address."],
        })
    );
    let missing = "00000000-0000-4000-8000-000000000000";
    let text = format!("Invalid pk \"{missing}\" - object does not exist.");
    assert_eq!(
        refused(json!({ "username": "x", "name": "X", "groups": [missing] })),
        json!({ "groups": [text] })
    );
    assert_eq!(
        refused(json!([1])),
        json!({ "non_field_errors": ["Invalid data. Expected a dictionary, but got list."] })
    );
    let authorization = format!("Bearer {}", client.mock.token);
    let send = |content_type: &str, body: &str| {
        let headers = [("authorization", authorization.as_str()), ("content-type", content_type)];
        client.raw("POST", "/api/v3/core/users/", &headers, body.as_bytes()).unwrap()
    };
    let broken = send("application/json", "{\"username\": ");
    assert_eq!(broken.status, 400);
    assert!(broken.json()["detail"].as_str().unwrap().starts_with("JSON parse error - "));
    assert_eq!(send("text/plain", "username").status, 415);
    let wrong = client.call("PATCH", "/core/users/", Some(json!({})));
    assert_eq!(wrong.pair(), (405, json!({ "detail": "Method \"PATCH\" not allowed." })));
    assert_eq!(wrong.header("allow"), Some("GET, POST"));
    assert_eq!(client.mock.state(), before);
}

#[test]
fn membership_is_the_same_from_both_sides() {
    let client = Client::authentik();
    let ada = user(&client, "ada.wren");
    let bo = user(&client, "bo.teller");
    let created =
        client.post("/core/groups/", json!({ "name": "night shift", "users": [ada["pk"]] })).json();
    let path = format!("/core/groups/{}/", created["pk"].as_str().unwrap());
    assert_eq!(created["users_obj"][0]["username"], "ada.wren");
    let groups = user(&client, "ada.wren")["groups"].as_array().unwrap().clone();
    assert!(groups.contains(&created["pk"]));

    assert_eq!(client.post(&format!("{path}add_user/"), json!({ "pk": bo["pk"] })).status, 204);
    let users = client.get(&format!("{path}?include_users=false")).json();
    assert_eq!(users["users"].as_array().unwrap().len(), 2);
    assert_eq!(users["users_obj"], Value::Null);
    let kept = client.patch(&path, json!({ "is_superuser": true })).json();
    assert_eq!(kept["users"].as_array().unwrap().len(), 2, "a patch leaves members alone");
    assert_eq!(user(&client, "bo.teller")["is_superuser"], true);
    client.post(&format!("{path}remove_user/"), json!({ "pk": bo["pk"] }));
    assert_eq!(client.get(&path).json()["users"], json!([ada["pk"]]));
    assert_eq!(client.post(&format!("{path}add_user/"), json!({ "pk": 1 })).status, 404);

    let emptied = client.put(&path, json!({ "name": "night shift" })).json();
    assert_eq!((&emptied["users"], &emptied["is_superuser"]), (&json!([]), &json!(false)));
    assert_eq!(
        client.post("/core/groups/", json!({ "name": "support" })).pair(),
        (400, json!({ "name": ["This field must be unique."] }))
    );
    assert_eq!(client.delete(&path).status, 204);
    assert_eq!(client.get("/core/groups/").json()["pagination"]["count"], 7);
}

#[test]
fn the_token_belongs_to_the_administrator() {
    let me = Client::authentik().get("/core/users/me/").json();
    assert_eq!(me["user"]["username"], "akadmin");
    assert_eq!(me["user"]["is_superuser"], true);
    assert_eq!(me["user"]["groups"][0]["name"], "administrators");
    assert_eq!(me["users"], json!([me["user"]]));
}

#[test]
fn failed_sign_ins_carry_what_strangers_typed() {
    let client = Client::authentik();
    let failed = client.get("/events/events/?action=login_failed&page_size=100").results();
    assert_eq!(failed.len(), 42);
    assert!(failed.iter().all(|event| event["user"]["username"] == "AnonymousUser"));
    let created: Vec<&str> =
        failed.iter().map(|event| event["created"].as_str().unwrap()).collect();
    assert!(created.is_sorted_by(|left, right| left > right), "newest first");
    let typed = client.get("/events/events/?search=earlier%20instructions").results();
    assert_eq!(typed.len(), 1);
    let event = client.get(&format!("/events/events/{}/", typed[0]["pk"].as_str().unwrap()));
    assert_eq!(event.json(), typed[0]);
    let both = client.get("/events/events/?actions=login_failed&actions=logout&page_size=1");
    let logouts = client.get("/events/events/?actions=logout&page_size=1");
    let count =
        |response: &crate::client::Response| response.json()["pagination"]["count"].as_u64();
    assert_eq!(count(&both), count(&logouts).map(|logouts| logouts + 42));
}
