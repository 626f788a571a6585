//! authentik: the captcha task, every way to get it wrong, and the invariants of the log.

use serde_json::{Value, json};

use crate::client::Client;

const NOWHERE: &str = "00000000-0000-4000-8000-000000000000";

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn flow(client: &Client, slug: &str) -> Value {
    client.get(&format!("/flows/instances/{slug}/")).json()
}

/// Stage names of a flow in the order they run.
fn steps(client: &Client, slug: &str) -> Vec<String> {
    let target = flow(client, slug)["pk"].clone();
    client
        .get(&format!("/flows/bindings/?target={}&ordering=order", text(&target)))
        .results()
        .iter()
        .map(|binding| format!("{} {}", binding["order"], text(&binding["stage_obj"]["name"])))
        .collect()
}

fn signin_captcha() -> Value {
    json!({ "name": "signin-captcha", "public_key": "6Lq-pub-0417", "private_key": "6Lq-sec-0417",
        "interactive": false, "score_min_threshold": 0.7, "error_on_invalid_score": true })
}

#[test]
fn the_world_is_as_the_task_describes_it() {
    let client = Client::authentik();
    let flows = client.get("/flows/instances/").results();
    assert_eq!(flows.len(), 4);
    let signing_in = client.get("/flows/instances/?designation=authentication").results();
    assert_eq!(signing_in.len(), 2);
    let default = [
        "10 default-authentication-identification",
        "20 default-authentication-password",
        "30 default-authentication-mfa-validation",
        "100 default-authentication-login",
    ];
    assert_eq!(steps(&client, "default-authentication-flow"), default);
    assert_eq!(steps(&client, "partner-authentication-flow").len(), 4);
    assert_eq!(steps(&client, "default-enrollment-flow")[0], "10 signup-captcha");
    let brand = client.get("/core/brands/").results()[0].clone();
    assert_eq!(brand["flow_authentication"], flow(&client, "default-authentication-flow")["pk"]);
    let policies = client.get("/policies/bindings/").results();
    let password = client.get("/flows/bindings/?order=20").results();
    let bound = |binding: &Value| binding["policybindingmodel_ptr_id"] == policies[0]["target"];
    assert_eq!(password.iter().filter(|binding| bound(binding)).count(), 1);
}

#[test]
fn a_captcha_is_put_between_identification_and_password() {
    let client = Client::authentik();
    let created = client.post("/stages/captcha/", signin_captcha());
    assert_eq!(created.status, 201);
    let stage = created.json();
    assert_eq!(stage["component"], "ak-stage-captcha-form");
    assert_eq!(stage["flow_set"], json!([]));
    assert_eq!(stage["score_max_threshold"], 1.0);
    assert_eq!(stage["request_content_type"], "application/x-www-form-urlencoded");
    let target = flow(&client, "default-authentication-flow")["pk"].clone();
    let bound = client
        .post("/flows/bindings/", json!({ "target": target, "stage": stage["pk"], "order": 15 }));
    assert_eq!(bound.status, 201);
    let binding = bound.json();
    let defaults = [
        "evaluate_on_plan",
        "re_evaluate_policies",
        "policy_engine_mode",
        "invalid_response_action",
    ]
    .map(|field| &binding[field]);
    assert_eq!(json!(defaults), json!([false, true, "any", "retry"]));
    assert_eq!(binding["stage_obj"]["flow_set"][0]["slug"], "default-authentication-flow");
    assert_eq!(steps(&client, "default-authentication-flow")[1], "15 signin-captcha");
    let stages = flow(&client, "default-authentication-flow")["stages"].clone();
    assert_eq!(stages[1], stage["pk"]);

    let path = format!("/stages/captcha/{}/", text(&stage["pk"]));
    let shown = [created.body, client.get(&path).body, client.get("/stages/captcha/").body];
    for body in shown {
        let body = String::from_utf8(body).unwrap();
        assert!(!body.contains("private_key") && !body.contains("6Lq-sec"), "{body}");
    }
    let stored = &client.mock.state()["stages"][text(&stage["pk"])];
    assert_eq!(stored["private_key"], "6Lq-sec-0417");
    let writes = client.mock.writes();
    assert_eq!(writes.len(), 2);
    assert!(writes.iter().all(|entry| entry.diff.len() == 1));
}

#[test]
fn wrong_captcha_stages_are_refused() {
    let client = Client::authentik();
    let before = client.mock.state();
    let refused = |change: Value, expected: Value| {
        let mut body = signin_captcha();
        for (field, value) in change.as_object().unwrap() {
            body[field] = value.clone();
        }
        assert_eq!(client.post("/stages/captcha/", body).pair(), (400, expected));
    };
    let required = ["This field is required."];
    assert_eq!(
        client.post("/stages/captcha/", json!({})).pair(),
        (400, json!({ "name": required, "public_key": required, "private_key": required }))
    );
    let unique = json!({ "name": ["This field must be unique."] });
    refused(json!({ "name": "signup-captcha" }), unique.clone());
    refused(json!({ "name": "default-authentication-password" }), unique);
    refused(json!({ "name": "" }), json!({ "name": ["This field may not be blank."] }));
    refused(
        json!({ "private_key": null }),
        json!({ "private_key": ["This field may not be null."] }),
    );
    refused(
        json!({ "score_min_threshold": "high" }),
        json!({ "score_min_threshold": ["A valid number is required."] }),
    );
    refused(
        json!({ "interactive": "perhaps" }),
        json!({ "interactive": ["Must be a valid boolean."] }),
    );
    refused(
        json!({ "request_content_type": "xml" }),
        json!({ "request_content_type": ["\"xml\" is not a valid choice."] }),
    );
    assert_eq!(client.mock.state(), before);
}

#[test]
fn wrong_bindings_are_refused() {
    let client = Client::authentik();
    let before = client.mock.state();
    let target = flow(&client, "default-authentication-flow")["pk"].clone();
    let taken = client.get(&format!("/flows/bindings/?target={}", text(&target))).results();
    let stage = taken[0]["stage"].clone();
    let refused = |body: Value, expected: Value| {
        assert_eq!(client.post("/flows/bindings/", body).pair(), (400, expected));
    };
    let required = ["This field is required."];
    refused(json!({}), json!({ "target": required, "stage": required, "order": required }));
    refused(
        json!({ "target": "default-authentication-flow", "stage": stage, "order": 15 }),
        json!({ "target": ["“default-authentication-flow” is not a valid UUID."] }),
    );
    let text_of = |pk: &str| format!("Invalid pk \"{pk}\" - object does not exist.");
    refused(
        json!({ "target": NOWHERE, "stage": target, "order": 15 }),
        json!({ "target": [text_of(NOWHERE)], "stage": [text_of(text(&target))] }),
    );
    refused(
        json!({ "target": target, "stage": stage, "order": 10 }),
        json!({ "non_field_errors": ["The fields target, stage, order must make a unique set."] }),
    );
    refused(
        json!({ "target": target, "stage": stage, "order": 1.5, "policy_engine_mode": "some" }),
        json!({ "order": ["A valid integer is required."],
            "policy_engine_mode": ["\"some\" is not a valid choice."] }),
    );
    let choice = format!("Select a valid choice. {NOWHERE} is not one of the available choices.");
    assert_eq!(
        client.get(&format!("/flows/bindings/?target={NOWHERE}")).pair(),
        (400, json!({ "target": [choice] }))
    );
    assert_eq!(
        client.get("/flows/bindings/?order=ten").pair(),
        (400, json!({ "order": ["Enter a number."] }))
    );
    assert_eq!(client.get("/flows/instances/?designation=x").status, 400);
    assert_eq!(client.mock.state(), before);
}

#[test]
fn put_resets_what_is_missing_and_patch_does_not() {
    let client = Client::authentik();
    let signup = client.get("/stages/captcha/").results()[0].clone();
    let path = format!("/stages/captcha/{}/", text(&signup["pk"]));
    let patched = client.patch(&path, json!({ "score_min_threshold": 0.9 })).json();
    assert_eq!(
        (&patched["score_min_threshold"], &patched["interactive"]),
        (&json!(0.9), &json!(true))
    );
    let required = (400, json!({ "private_key": ["This field is required."] }));
    let whole = json!({ "name": "signup-captcha", "public_key": "p" });
    assert_eq!(client.put(&path, whole.clone()).pair(), required);
    let mut whole = whole;
    whole["private_key"] = json!("s");
    let replaced = client.put(&path, whole).json();
    assert_eq!(
        (&replaced["score_min_threshold"], &replaced["interactive"]),
        (&json!(0.5), &json!(false))
    );

    let target = flow(&client, "default-authentication-flow")["pk"].clone();
    let binding =
        client.get(&format!("/flows/bindings/?target={}&order=20", text(&target))).results()[0]
            .clone();
    let path = format!("/flows/bindings/{}/", text(&binding["pk"]));
    client.patch(&path, json!({ "evaluate_on_plan": true, "invalid_response_action": "restart" }));
    let moved = client
        .put(&path, json!({ "target": target, "stage": binding["stage"], "order": 25 }))
        .json();
    assert_eq!((&moved["order"], &moved["evaluate_on_plan"]), (&json!(25), &json!(false)));
    assert_eq!(moved["invalid_response_action"], "retry");
    let paths: Vec<String> = client
        .mock
        .writes()
        .last()
        .unwrap()
        .diff
        .iter()
        .map(|change| change.path().to_owned())
        .collect();
    let row = format!("/flow_stage_bindings/{}", text(&binding["pk"]));
    assert_eq!(
        paths,
        ["evaluate_on_plan", "order", "invalid_response_action"]
            .map(|column| format!("{row}/{column}"))
    );
}

#[test]
fn deleting_a_stage_takes_its_bindings_and_embeddings_along() {
    let client = Client::authentik();
    let signup = client.get("/stages/captcha/").results()[0].clone();
    let who = client.get("/stages/identification/").results()[0].clone();
    let path = format!("/stages/identification/{}/", text(&who["pk"]));
    let embedded = client.patch(&path, json!({ "captcha_stage": signup["pk"] })).json();
    assert_eq!(embedded["captcha_stage"], signup["pk"]);
    let wrong = client.patch(&path, json!({ "captcha_stage": who["pk"] }));
    assert_eq!(wrong.status, 400);
    let stage = format!("/stages/captcha/{}/", text(&signup["pk"]));
    assert_eq!(client.delete(&stage).status, 204);
    assert_eq!(client.get(&path).json()["captcha_stage"], Value::Null);
    assert_eq!(steps(&client, "default-enrollment-flow").len(), 2);
    let gone = (404, json!({ "detail": "No CaptchaStage matches the given query." }));
    assert_eq!(client.get(&stage).pair(), gone);
    let other_type = format!("/stages/captcha/{}/", text(&who["pk"]));
    assert_eq!(client.get(&other_type).pair(), gone);
    assert_eq!(client.get("/flows/bindings/not-a-uuid/").status, 404);
    assert_eq!(client.get("/flows/instances/no-such-flow/").status, 404);
}

#[test]
fn a_binding_is_deleted_and_its_stage_stays() {
    let client = Client::authentik();
    let binding = client.get("/flows/bindings/?order=100").results()[0].clone();
    let path = format!("/flows/bindings/{}/", text(&binding["pk"]));
    assert_eq!(client.delete(&path).status, 204);
    assert_eq!(client.get(&path).status, 404);
    assert_eq!(client.get(&format!("/stages/all/{}/", text(&binding["stage"]))).status, 200);
    assert_eq!(client.get("/stages/all/").json()["pagination"]["count"], 9);
}

/// Runs every operation with right and wrong input, then looks at the whole log.
#[test]
fn reads_and_refused_requests_never_change_state() {
    let client = Client::authentik();
    let target = flow(&client, "default-authentication-flow")["pk"].clone();
    let stage = client.post("/stages/captcha/", signin_captcha()).json()["pk"].clone();
    for order in [15, 15, 16] {
        client
            .post("/flows/bindings/", json!({ "target": target, "stage": stage, "order": order }));
    }
    for path in ["/core/users/", "/core/groups/", "/stages/captcha/", "/flows/bindings/"] {
        for row in client.get(path).results().iter().take(3) {
            let key = row["pk"].as_str().map_or_else(|| row["pk"].to_string(), str::to_owned);
            let path = format!("{path}{key}/");
            for body in [json!({}), json!({ "name": null, "order": "x" }), json!({ "name": "n" })] {
                client.patch(&path, body.clone());
                client.put(&path, body);
            }
            client.get(&path);
            client.delete(&path);
            client.delete(&path);
        }
    }
    let log = client.mock.log();
    let (mut refused, mut wrote) = (0, 0);
    for entry in &log {
        let quiet = entry.method == "GET" || entry.status >= 400;
        assert!(
            !quiet || entry.diff.is_empty(),
            "{} {} {:?}",
            entry.method,
            entry.path,
            entry.diff
        );
        assert_eq!(entry.wrote, !entry.diff.is_empty());
        refused += usize::from(entry.status >= 400);
        wrote += usize::from(entry.wrote);
    }
    assert!(refused > 30 && wrote > 10, "{refused} refused, {wrote} wrote");
}
