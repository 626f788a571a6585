//! Sentry: what the catalog's tools and the evaluation tasks change, with the real server's traps.

use serde_json::{Value, json};

use crate::client::Client;

const ORGANIZATION: &str = "/organizations/harbor-lantern/";
const WEB: &str = "/projects/harbor-lantern/quay-web/";
const VERSION: &str = "/organizations/harbor-lantern/releases/quay%405.2.0%2Btrain.7/";

fn named(rows: &[Value], name: &str) -> Value {
    rows.iter().find(|row| row["name"] == name).unwrap().clone()
}

fn id(row: &Value) -> &str {
    row["id"].as_str().unwrap()
}

#[test]
fn a_release_is_created_once_and_gains_projects() {
    let client = Client::sentry();
    let path = format!("{ORGANIZATION}releases/");
    let body = json!({
        "version": "quay@5.2.0+train.7", "projects": ["quay-web"], "ref": "9b1f0c7d",
        "dateReleased": "2026-05-04T10:30:00+01:00", "date_started": "x",
    });
    let created = client.post(&path, body.clone());
    assert_eq!(created.status, 201);
    assert_eq!(created.json()["dateReleased"], "2026-05-04T09:30:00Z");
    assert_eq!(client.post(&path, body).status, 208);
    let gained = json!({
        "version": "quay@5.2.0+train.7", "projects": ["quay-api"], "ref": "other",
    });
    let (status, release) = client.post(&path, gained).pair();
    assert_eq!((status, &release["ref"]), (201, &json!("9b1f0c7d")));
    assert_eq!(release["projects"].as_array().unwrap().len(), 2);
    let wrong = client.post(&path, json!({ "version": "a/b", "projects": [] })).pair();
    assert_eq!(
        wrong,
        (
            400,
            json!({
                "version": ["Release with name a/b is not allowed"],
                "projects": ["This list may not be empty."],
            })
        )
    );
    let unknown = client.post(&path, json!({ "version": "1", "projects": ["nothing"] })).pair();
    assert_eq!(unknown, (400, json!({ "projects": ["Invalid project ids or slugs"] })));
    let changed = client.put(VERSION, json!({ "ref": null, "url": "https://notes.test" })).json();
    assert_eq!(
        (&changed["ref"], &changed["url"]),
        (&json!("9b1f0c7d"), &json!("https://notes.test"))
    );
    assert_eq!(client.get(VERSION).json(), changed);
}

#[test]
fn a_second_deploy_is_stored_though_the_list_hides_it() {
    let client = Client::sentry();
    let body = json!({ "version": "quay@5.2.0+train.7", "projects": ["quay-web", "quay-api"] });
    client.post(&format!("{ORGANIZATION}releases/"), body);
    let deploys = format!("{VERSION}deploys/");
    let deploy = json!({
        "environment": "staging", "name": "train-7 canary",
        "dateStarted": "2026-05-04T10:35:00+01:00", "dateFinished": "2026-05-04T10:42:00+01:00",
    });
    let first = client.post(&deploys, deploy.clone());
    assert_eq!((first.status, &first.json()["dateStarted"]), (201, &json!("2026-05-04T09:35:00Z")));
    let second = client.post(&deploys, deploy).json();
    assert_eq!(client.get(&deploys).rows(), [second]);
    assert_eq!(client.get(VERSION).json()["deployCount"], 2);
    let partial =
        client.post(&deploys, json!({ "environment": "canary", "projects": ["quay-api"] }));
    assert_eq!(partial.status, 201);
    let of_web = client.get(&format!("{deploys}?projectSlug=quay-web")).rows();
    assert_eq!(of_web.len(), 1);
    let wrong = json!({ "environment": "staging", "projects": ["tide-worker"] });
    let text = "Invalid projects (tide-worker) for release quay@5.2.0+train.7";
    assert_eq!(client.post(&deploys, wrong).pair(), (400, json!({ "detail": text })));
    let null = client.post(&deploys, json!({ "environment": "staging", "dateFinished": null }));
    assert_eq!(null.pair(), (400, json!({ "dateFinished": ["This field may not be null."] })));
}

#[test]
fn an_alert_that_is_changed_without_enabled_is_switched_on_again() {
    let client = Client::sentry();
    let list = format!("{ORGANIZATION}workflows/");
    let before = named(&client.get(&list).rows(), "Checkout error surge");
    let path = format!("{list}{}/", id(&before));
    let name = &before["name"];
    let off = client.put(&path, json!({ "name": name, "enabled": false })).json();
    assert_eq!(off["enabled"], false);
    let slower = json!({ "name": name, "config": { "frequency": 60 } });
    let (status, on) = client.put(&path, slower).pair();
    assert_eq!(
        (status, &on["enabled"], &on["config"]),
        (200, &json!(true), &json!({ "frequency": 60 }))
    );
    for untouched in ["triggers", "actionFilters", "detectorIds", "owner", "environment"] {
        assert_eq!(on[untouched], before[untouched], "{untouched}");
    }
}

#[test]
fn parts_of_an_alert_are_matched_by_id() {
    let client = Client::sentry();
    let list = format!("{ORGANIZATION}workflows/");
    let before = named(&client.get(&list).rows(), "Checkout error surge");
    let path = format!("{list}{}/", id(&before));
    let put = |mut body: Value| {
        body["name"] = before["name"].clone();
        client.put(&path, body)
    };
    let same =
        put(json!({ "triggers": before["triggers"], "actionFilters": before["actionFilters"] }));
    assert_eq!(same.json()["actionFilters"], before["actionFilters"]);
    assert_eq!(same.json()["triggers"], before["triggers"]);
    let mut nameless = before["triggers"].clone();
    nameless["conditions"][0].as_object_mut().unwrap().remove("id");
    let renewed = put(json!({ "triggers": nameless })).json();
    assert_ne!(
        renewed["triggers"]["conditions"][0]["id"],
        before["triggers"]["conditions"][0]["id"]
    );
    assert_eq!(put(json!({ "detectorIds": [] })).json()["detectorIds"], json!([]));
    for (body, text) in [
        (
            json!({ "actionFilters": [{ "id": "1", "actions": [] }] }),
            "does not belong to this workflow",
        ),
        (json!({ "actionFilters": [{}] }), "Missing actions key"),
        (json!({ "detectorIds": ["1"] }), "Some detectors do not exist: {1}"),
        (json!({ "triggers": { "id": "1" } }), "Invalid Condition Group ID"),
        (json!({ "detectorIds": [], "detector_ids": [] }), "collides with detector_ids"),
    ] {
        let refused = put(body);
        let body = String::from_utf8(refused.body.clone()).unwrap();
        assert!(refused.status == 400 && body.contains(text), "{body}");
    }
    assert_eq!(
        client.put(&path, json!({})).pair(),
        (400, json!({ "name": ["This field is required."] }))
    );
}

#[test]
fn a_bulk_change_hits_every_alert_the_filter_meets() {
    let client = Client::sentry();
    let list = format!("{ORGANIZATION}workflows/");
    assert_eq!(client.put(&list, json!({ "enabled": false })).status, 400);
    let none = client.put(&format!("{list}?id=1"), json!({ "enabled": false })).pair();
    assert_eq!(none, (200, json!({ "detail": "No workflows found." })));
    let hit = client.put(
        &format!("{list}?query=checkout error surge").replace(' ', "%20"),
        json!({ "enabled": false }),
    );
    assert_eq!(hit.rows().len(), 2);
    let page = client.get(&format!("{list}?query=name:%22*surge%20(*%22&projectSlug=quay-web"));
    assert_eq!((page.rows().len(), page.header("x-hits")), (1, Some("1")));
    let detectors = client.get(&format!("{ORGANIZATION}detectors/")).rows();
    let shared = detectors.iter().filter(|it| it["workflowIds"].as_array().unwrap().len() == 2);
    assert_eq!(shared.count(), 1);
}

#[test]
fn echoing_the_aggregate_mute_wakes_a_silenced_environment() {
    let client = Client::sentry();
    let path = format!("{ORGANIZATION}monitors/nightly-ledger-close/");
    let before = client.get(&path).json();
    assert_eq!(
        (&before["isMuted"], &before["environments"][1]["isMuted"]),
        (&json!(false), &json!(true))
    );
    let schedule = json!({ "config": { "schedule": "45 6 * * 1-5", "timezone": "Europe/Lisbon" } });
    let (status, after) = client.put(&path, schedule).pair();
    assert_eq!((status, &after["config"]["timezone"]), (200, &json!("Europe/Lisbon")));
    assert_eq!(after["config"]["checkin_margin"], before["config"]["checkin_margin"]);
    assert_eq!(after["environments"][1]["isMuted"], true);
    let woken = client.put(&path, json!({ "isMuted": false })).json();
    assert_eq!(woken["environments"][1]["isMuted"], false);
    let moved = client.put(&path, json!({ "project": "quay-web" })).pair();
    let text = "existing monitors may not be moved between projects";
    assert_eq!(moved, (400, json!({ "detail": { "message": text } })));
    assert_eq!(client.put(&path, json!({ "owner": before["owner"] })).status, 400);
    let by_project =
        client.get("/projects/harbor-lantern/tide-worker/monitors/nightly-ledger-close/");
    assert_eq!(by_project.json(), woken);
    assert_eq!(client.get(&format!("{WEB}monitors/nightly-ledger-close/")).status, 404);
}

#[test]
fn check_ins_and_their_counts_agree() {
    let client = Client::sentry();
    let path = format!("{ORGANIZATION}monitors/index-rebuild/");
    let listed = client.get(&format!("{path}checkins/?statsPeriod=24h")).rows();
    assert_eq!(
        (listed.len(), &listed[0]["status"], &listed[7]["status"]),
        (12, &json!("ok"), &json!("missed"))
    );
    let (since, until) = (1_777_885_200 - 86_400, 1_777_885_200);
    let stats =
        client.get(&format!("{path}stats/?since={since}&until={until}&resolution=3600s")).rows();
    let total = |name: &str| stats.iter().map(|it| it[name].as_u64().unwrap()).sum::<u64>();
    assert_eq!((total("ok"), total("error"), total("missed")), (10, 1, 1));
    assert_eq!(client.get(&format!("{path}checkins/?statsPeriod=soon")).status, 400);
}

#[test]
fn uptime_monitors_come_change_and_go() {
    let client = Client::sentry();
    let path = format!("{WEB}uptime/");
    let missing = client.post(&path, json!({ "name": "Basket", "intervalSeconds": 61 })).pair();
    let required = json!(["This field is required."]);
    assert_eq!(
        missing,
        (
            400,
            json!({ "url": required, "timeoutMs": required, "intervalSeconds": ["Invalid interval"] })
        )
    );
    let body = json!({
        "name": "Basket", "url": "https://basket.test/", "intervalSeconds": 300, "timeoutMs": 5000,
        "headers": [["X-Probe", "1"]], "environment": "staging",
    });
    let created = client.post(&path, body);
    assert_eq!((created.status, &created.json()["projectSlug"]), (201, &json!("quay-web")));
    let created = created.json();
    let one = format!("{path}{}/", id(&created));
    let changed = client.put(&one, json!({ "environment": null, "status": "disabled" })).json();
    assert_eq!((&changed["environment"], &changed["headers"]), (&Value::Null, &created["headers"]));
    assert_eq!(client.get(&format!("{ORGANIZATION}uptime/?query=BASKET")).rows(), [changed]);
    assert_eq!(client.delete(&one).status, 204);
    assert_eq!(client.delete(&one).status, 404);
    let failing = named(&client.get(&format!("{ORGANIZATION}uptime/")).rows(), "Orders API");
    let checks =
        format!("/projects/harbor-lantern/quay-api/uptime/{}/checks/?per_page=2", id(&failing));
    assert_eq!(client.get(&checks).rows()[0]["checkStatusReason"], "timeout");
}

#[test]
fn projects_teams_and_keys_are_made_and_changed() {
    let client = Client::sentry();
    let team = client.post(&format!("{ORGANIZATION}teams/"), json!({ "name": "Night Watch" }));
    assert_eq!((team.status, &team.json()["slug"]), (201, &json!("night-watch")));
    assert_eq!(
        client.post(&format!("{ORGANIZATION}teams/"), json!({ "name": "Night watch" })).status,
        409
    );
    let path = "/teams/harbor-lantern/night-watch/projects/";
    let project = client.post(path, json!({ "name": "Fog Horn", "platform": "rust" }));
    assert_eq!((project.status, &project.json()["slug"]), (201, &json!("fog-horn")));
    assert_eq!(client.post(path, json!({ "name": "x", "slug": "fog-horn" })).status, 409);
    let keys = client.get("/projects/harbor-lantern/fog-horn/keys/").rows();
    assert_eq!((keys.len(), &keys[0]["name"]), (1, &json!("Default")));
    let key = format!("/projects/harbor-lantern/fog-horn/keys/{}/", id(&keys[0]));
    let limited = client.put(&key, json!({ "rateLimit": { "window": 60, "count": 5 } })).json();
    assert_eq!(limited["rateLimit"], json!({ "window": 60, "count": 5 }));
    let loader = json!({ "dynamicSdkLoaderOptions": { "hasDebug": true }, "rateLimit": null });
    let loaded = client.put(&key, loader).json();
    assert_eq!(
        (&loaded["rateLimit"], &loaded["dynamicSdkLoaderOptions"]["hasDebug"]),
        (&Value::Null, &json!(true))
    );
    assert_eq!(
        client.put(&key, json!({ "rateLimit": { "window": 86_401, "count": 1 } })).status,
        400
    );

    let renamed =
        client.put("/projects/harbor-lantern/fog-horn/", json!({ "slug": "quay-web" })).pair();
    let text = "Another project (quay-web) is already using that slug";
    assert_eq!(renamed, (400, json!({ "slug": [text] })));
    let teams = |method: &str, team: &str| {
        client
            .call(method, &format!("/projects/harbor-lantern/fog-horn/teams/{team}/"), None)
            .status
    };
    assert_eq!((teams("POST", "web-crew"), teams("POST", "nobody")), (201, 404));
    assert_eq!(client.get("/projects/harbor-lantern/fog-horn/teams/").rows().len(), 2);
    assert_eq!(teams("DELETE", "night-watch"), 200);
    let mapping = json!({
        "project": "fog-horn", "repository": "zephyr-freight/tide-gate", "provider": "github",
        "mappings": [{ "stackRoot": "", "sourceRoot": "" }],
    });
    assert_eq!(client.post(&format!("{ORGANIZATION}code-mappings/bulk/"), mapping).status, 200);
}

#[test]
fn metric_rules_are_found_by_project_and_by_name() {
    let client = Client::sentry();
    let api = client.get("/projects/harbor-lantern/quay-api/").json();
    let rules = client.get(&format!("{ORGANIZATION}alert-rules/?project={}", id(&api))).rows();
    assert_eq!(rules.len(), 2);
    let found =
        client.get(&format!("{ORGANIZATION}combined-rules/?name=latency&alertType=alert_rule"));
    assert_eq!(found.rows().len(), 2);
    let one = format!("{ORGANIZATION}alert-rules/{}/", id(&rules[0]));
    assert_eq!(client.get(&one).json(), rules[0]);
}

#[test]
fn files_come_with_the_type_they_have_rather_than_the_one_they_claim() {
    let client = Client::sentry();
    let state = client.mock.state();
    let event =
        state["attachments"].as_object().unwrap().values().next().unwrap()["event_id"].clone();
    let list = format!("{WEB}events/{}/attachments/", event.as_str().unwrap());
    let picture = named(&client.get(&list).rows(), "screenshot.png");
    assert_eq!(picture["mimetype"], "text/plain");
    let file = client.get(&format!("{list}{}/?download=1", id(&picture)));
    assert_eq!((file.header("content-type"), &file.body[1..4]), (Some("image/png"), &b"PNG"[..]));
    assert_eq!(file.body.len() as u64, picture["size"].as_u64().unwrap());
}

#[test]
fn a_snapshot_tells_what_changed_and_each_image_has_its_bytes() {
    let client = Client::sentry();
    let list = format!("{ORGANIZATION}preprodartifacts/snapshots/");
    let app = "app_id=test.harbor-lantern.lamp";
    let base = client.get(&format!("{list}latest-base/?{app}&projectSlug=lamp-mobile")).json();
    assert_eq!(base["image_count"], 3);
    let branch = client.get(&format!("{list}latest-base/?{app}&branch=brighter-lamp")).json();
    let path = format!("{list}{}/", branch["head_artifact_id"].as_str().unwrap());
    let snapshot = client.get(&path).json();
    assert_eq!(snapshot["base_artifact_id"], base["head_artifact_id"]);
    let counts = ["changed", "added", "removed", "unchanged"]
        .map(|it| snapshot[format!("{it}_count")].clone());
    assert_eq!(counts, [1, 1, 1, 1]);
    let image = client.get(&format!("{path}images/settings/dark.png/")).json();
    let address = image["head_image"]["image_url"].as_str().unwrap();
    let file = client.get(address.strip_prefix("/api/0").unwrap());
    assert_eq!(file.header("content-type"), Some("image/png"));
    assert_eq!(client.get(&format!("{path}images/none.png/")).status, 404);
}

#[test]
fn detectors_and_alerts_are_two_sides_of_one_join() {
    let client = Client::sentry();
    let base = "/organizations/harbor-lantern";
    let alert = client.get(&format!("{base}/workflows/?query=name:%22Retired%20pager%22")).rows();
    let alert = alert[0]["id"].as_str().unwrap().to_owned();
    let detector =
        client.get(&format!("{base}/detectors/")).rows()[0]["id"].as_str().unwrap().to_owned();
    let one = format!("{base}/detectors/{detector}/");
    let put = client.put(&one, json!({ "enabled": false, "workflowIds": [alert] })).json();
    assert_eq!((&put["enabled"], &put["workflowIds"]), (&json!(false), &json!([alert])));
    let joined = client.get(&format!("{base}/workflows/{alert}/")).json();
    assert_eq!(joined["detectorIds"], json!([detector]));
    assert_eq!(client.put(&one, json!({ "workflowIds": ["1"] })).status, 400);
    assert_eq!(client.delete(&one).status, 204);
    assert_eq!(client.get(&format!("{base}/workflows/{alert}/")).json()["detectorIds"], json!([]));
    assert_eq!(client.delete(&format!("{base}/workflows/{alert}/")).status, 204);
    assert_eq!(client.get(&format!("{base}/workflows/{alert}/")).status, 404);
    let made =
        client.post(&format!("{base}/workflows/"), json!({ "name": "New", "enabled": false }));
    assert_eq!((made.status, &made.json()["enabled"]), (201, &json!(false)));
}

#[test]
fn a_monitor_goes_whole_or_by_environment() {
    let client = Client::sentry();
    let one = "/organizations/harbor-lantern/monitors/nightly-ledger-close/";
    assert_eq!(client.delete(&format!("{one}?environment=staging")).status, 202);
    let environments = client.get(one).json()["environments"].clone();
    assert_eq!(environments.as_array().unwrap().len(), 1);
    assert_eq!(client.delete(one).status, 202);
    assert_eq!(client.get(one).status, 404);
}

#[test]
fn a_new_monitor_has_a_slug_of_its_own_and_no_environment_to_silence() {
    let client = Client::sentry();
    let list = format!("{ORGANIZATION}monitors/");
    let body = json!({
        "name": "Nightly ledger close", "project": "quay-api", "isMuted": true,
        "config": { "scheduleType": "interval", "schedule": [6, "hour"], "max_runtime": 20 },
    });
    let (status, made) = client.post(&list, body).pair();
    assert_eq!((status, &made["slug"]), (201, &json!("nightly-ledger-close-2")));
    assert_eq!((&made["isMuted"], &made["environments"]), (&json!(false), &json!([])));
    assert_eq!((&made["status"], &made["owner"]), (&json!("active"), &Value::Null));
    assert_eq!(made["project"]["slug"], "quay-api");
    let config = json!({
        "schedule_type": "interval", "schedule": [6, "hour"], "checkin_margin": null,
        "max_runtime": 20, "timezone": null, "failure_issue_threshold": null,
        "recovery_threshold": null, "alert_rule_id": null,
    });
    assert_eq!(made["config"], config);
    assert_eq!(client.get(&format!("{list}{}/", id(&made))).json(), made);

    let crew = client.get("/teams/harbor-lantern/api-crew/").json();
    let project = client.get(WEB).json();
    let body = json!({
        "name": "Tide report", "slug": "tide-report", "project": id(&project), "status": "disabled",
        "owner": format!("team:{}", id(&crew)),
        "config": { "schedule": { "type": "crontab", "value": "@daily" }, "timezone": "UTC" },
    });
    let made = client.post(&list, body.clone()).json();
    assert_eq!((&made["slug"], &made["status"]), (&json!("tide-report"), &json!("disabled")));
    assert_eq!(
        (&made["owner"]["name"], &made["project"]["slug"]),
        (&json!("api-crew"), &json!("quay-web"))
    );
    assert_eq!(made["config"]["schedule"], "0 0 * * *");
    let taken = json!({ "slug": ["The slug \"tide-report\" is already in use."] });
    assert_eq!(client.post(&list, body).pair(), (400, taken));
    let silenced = client.put(&format!("{list}tide-report/"), json!({ "is_muted": true })).json();
    assert_eq!(silenced, made);
}

#[test]
fn a_monitor_that_is_none_is_refused_field_by_field() {
    let client = Client::sentry();
    let list = format!("{ORGANIZATION}monitors/");
    let before = client.get(&list).rows();
    let required = json!(["This field is required."]);
    assert_eq!(
        client.post(&list, json!({ "status": "active" })).pair(),
        (400, json!({ "name": required, "project": required, "config": required }))
    );
    let wrong = json!({
        "name": "Tide report", "slug": "7", "project": "nothing", "owner": "api-crew",
        "status": "paused", "config": { "schedule": "@daily", "maxRuntime": 0 },
    });
    let slug = "Enter a valid slug consisting of lowercase letters, numbers, underscores or \
                hyphens. It cannot be entirely numeric.";
    let errors = json!({
        "slug": [slug],
        "project": ["Invalid project"],
        "owner": ["Unknown actor input"],
        "status": ["\"paused\" is not a valid choice."],
        "config": {
            "scheduleType": ["Missing or invalid schedule type"],
            "maxRuntime": ["Ensure this value is greater than or equal to 1."],
        },
    });
    assert_eq!(client.post(&list, wrong).pair(), (400, errors));
    let bare = json!({ "name": "Tide report", "project": "quay-web", "config": {} });
    assert_eq!(
        client.post(&list, bare).pair(),
        (400, json!({ "config": { "schedule": required } }))
    );
    let both = json!({ "isMuted": true, "is_muted": true });
    assert_eq!(client.post(&list, both).status, 400);
    let renamed = client.put(&format!("{list}index-rebuild/"), json!({ "slug": "Index" })).pair();
    assert_eq!(renamed, (400, json!({ "slug": [slug] })));
    assert_eq!(client.get(&list).rows(), before);
}

#[test]
fn the_alert_of_a_monitor_is_shown_on_request_only() {
    let client = Client::sentry();
    let list = format!("{ORGANIZATION}monitors/");
    let path = format!("{list}nightly-ledger-close/");
    let plain = client.get(&path).json();
    assert!(plain.get("alertRule").is_none());
    let team: u64 = id(&plain["owner"]).parse().unwrap();
    let shown = client.get(&format!("{path}?expand=alertRule")).json();
    let target = json!({ "targetIdentifier": team, "targetType": "Team" });
    let alert = json!({ "targets": [target], "environment": "production" });
    assert_eq!(shown["alertRule"], alert);
    let rows = client.get(&format!("{list}?expand=other&expand=alertRule")).rows();
    assert_eq!(named(&rows, "Nightly ledger close"), shown);
    assert_eq!(named(&rows, "Index rebuild").get("alertRule"), Some(&Value::Null));
    assert_eq!(named(&client.get(&list).rows(), "Nightly ledger close"), plain);
}

#[test]
fn an_invitation_is_pending_until_it_is_taken_back() {
    let client = Client::sentry();
    let list = format!("{ORGANIZATION}members/");
    let body = json!({
        "email": "orla.finch@harbor-lantern.test", "orgRole": "manager", "sendInvite": false,
        "teamRoles": [{ "teamSlug": "api-crew", "role": "admin" }],
    });
    let (status, invited) = client.post(&list, body).pair();
    assert_eq!((status, &invited["orgRole"]), (201, &json!("manager")));
    assert_eq!((&invited["pending"], &invited["user"]), (&json!(true), &Value::Null));
    assert_eq!(
        (&invited["name"], &invited["inviterName"]),
        (&invited["email"], &json!("Eval Runner"))
    );
    assert_eq!(named(&client.get(&list).rows(), "orla.finch@harbor-lantern.test"), invited);
    let one = format!("{list}{}/", id(&invited));
    let details = client.get(&one).json();
    assert_eq!(details["teamRoles"], json!([{ "teamSlug": "api-crew", "role": null }]));
    assert_eq!(
        (&details["teams"], &details["roleName"]),
        (&json!(["api-crew"]), &json!("Manager"))
    );
    assert!(details["invite_link"].as_str().unwrap().contains(id(&invited)));
    assert_eq!(client.put(&one, json!({ "reinvite": true })).pair(), (200, details));
    let text = "You cannot modify member details when resending an invitation. Separate requests \
                are required.";
    assert_eq!(
        client.put(&one, json!({ "reinvite": true, "orgRole": "member" })).pair(),
        (403, json!({ "detail": text }))
    );
    let plain = client.post(&list, json!({ "email": "per.lund@harbor-lantern.test" })).json();
    assert_eq!(plain["orgRole"], "member");
    assert_eq!(client.delete(&one).status, 204);
    assert_eq!(client.get(&one).status, 404);
    assert_eq!(client.get(&list).rows().len(), 8);
}

#[test]
fn invitations_are_refused_in_the_words_of_the_serializer() {
    let client = Client::sentry();
    let list = format!("{ORGANIZATION}members/");
    let free = "orla.finch@harbor-lantern.test";
    let team = |role: &str| json!([{ "teamSlug": "api-crew", "role": role }]);
    for (body, errors) in [
        (json!({ "orgRole": "member" }), json!({ "email": ["This field is required."] })),
        (json!({ "email": "" }), json!({ "email": ["This field may not be blank."] })),
        (
            json!({ "email": "orla", "orgRole": "captain" }),
            json!({
                "email": ["Enter a valid email address."],
                "orgRole": ["\"captain\" is not a valid choice."],
            }),
        ),
        (
            json!({ "email": "Ada.Wren@harbor-lantern.test" }),
            json!({ "email": ["The user Ada.Wren@harbor-lantern.test is already a member"] }),
        ),
        (
            json!({ "email": "nils.aker@harbor-lantern.test" }),
            json!({ "email": ["The user nils.aker@harbor-lantern.test has already been invited"] }),
        ),
        (
            json!({ "email": free, "orgRole": "admin" }),
            json!({
                "orgRole": ["The role 'admin' is deprecated and may no longer be assigned."],
            }),
        ),
        (
            json!({ "email": free, "teamRoles": team("captain") }),
            json!({ "teamRoles": ["Invalid team-role"] }),
        ),
        (
            json!({ "email": free, "teamRoles": [{ "teamSlug": "nobody", "role": null }] }),
            json!({ "teamRoles": ["Invalid teams"] }),
        ),
        (
            json!({ "email": free, "role": "billing", "teamRoles": team("contributor") }),
            json!({ "email": "The user with a 'billing' role cannot have team-level permissions." }),
        ),
    ] {
        assert_eq!(client.post(&list, body).pair(), (400, errors));
    }
    assert_eq!(client.get(&list).rows().len(), 7);
}

#[test]
fn a_member_leaves_every_team_that_a_change_does_not_name() {
    let client = Client::sentry();
    let list = format!("{ORGANIZATION}members/");
    let one = format!("{list}{}/", id(&named(&client.get(&list).rows(), "Ada Wren")));
    let before = client.get(&one).json();
    assert_eq!(
        (&before["teams"], &before["orgRole"], &before["isOnlyOwner"], &before["invite_link"]),
        (&json!(["web-crew"]), &json!("manager"), &json!(false), &Value::Null)
    );
    let roles = json!([
        { "teamSlug": "web-crew", "role": "admin" },
        { "teamSlug": "api-crew", "role": "contributor" },
    ]);
    let (status, after) =
        client.put(&one, json!({ "orgRole": "member", "teamRoles": roles })).pair();
    assert_eq!((status, &after["orgRole"], &after["teamRoles"]), (200, &json!("member"), &roles));
    assert_eq!(client.get(&one).json(), after);
    let crew = client.get("/teams/harbor-lantern/api-crew/").json();
    assert_eq!(crew["memberCount"], 2);
    for (body, text) in [
        (
            json!({ "orgRole": "billing" }),
            "The user with a 'billing' role cannot have team-level permissions.",
        ),
        (
            json!({ "orgRole": "admin" }),
            "The role 'admin' is deprecated and may no longer be assigned.",
        ),
        (
            json!({ "reinvite": true }),
            "You cannot send an invitation to a user who is already a full member.",
        ),
    ] {
        assert_eq!(client.put(&one, body).pair(), (400, json!({ "detail": text })));
    }
    assert_eq!(client.get(&one).json(), after);
    let bare = client.put(&one, json!({ "orgRole": "manager" })).json();
    assert_eq!((&bare["orgRole"], &bare["teams"]), (&json!("manager"), &json!([])));
    let unknown = client.put(&format!("{list}1/"), json!({ "orgRole": "manager" }));
    assert_eq!(unknown.status, 404);
}

#[test]
fn the_only_owner_stays_and_invitations_go_with_their_sender() {
    let client = Client::sentry();
    let list = format!("{ORGANIZATION}members/");
    let me = client.get(&format!("{list}me/")).json();
    assert_eq!(
        (&me["email"], &me["isOnlyOwner"]),
        (&json!("eval@harbor-lantern.test"), &json!(true))
    );
    let mine = format!("{list}{}/", id(&me));
    let text = "You cannot remove the only remaining owner of the organization.";
    assert_eq!(client.delete(&mine).pair(), (403, json!({ "detail": text })));
    let text = "You cannot make changes to your own role.";
    assert_eq!(
        client.put(&mine, json!({ "orgRole": "member" })).pair(),
        (400, json!({ "detail": text }))
    );
    let body = json!({ "email": "orla.finch@harbor-lantern.test", "orgRole": "owner" });
    client.post(&list, body);
    assert_eq!(client.delete(&mine).status, 403);
    let ada = format!("{list}{}/", id(&named(&client.get(&list).rows(), "Ada Wren")));
    client.put(&ada, json!({ "orgRole": "owner" }));
    assert_eq!(client.delete(&mine).status, 204);
    assert_eq!(client.get(&ada).json()["isOnlyOwner"], true);
    let left = client.get(&list).rows();
    assert_eq!(left.len(), 6);
    assert!(left.iter().all(|it| it["email"] != "orla.finch@harbor-lantern.test"));
}
