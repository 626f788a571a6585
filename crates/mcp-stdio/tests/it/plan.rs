//! Plan, confirm, apply: what is shown is what is sent, judged by the upstream's log.

use std::process::Command;

use mocks::{Mock, World};
use serde_json::{Value, json};

use crate::support::{self, Connected};

/// Users whose name starts with `Plan`, for scripts to work on.
const MAKE_USERS: &str = "
for (let i = 0; i < 60; i++) {
  await ak.request('POST', '/core/users/', { body: { username: `plan-${i}`, name: `Plan ${i}`, is_active: i % 6 !== 0 } });
}
";

/// The first call of `execute_write`.
async fn plan(connected: &mut Connected, code: &str) -> Value {
    let answer = connected.ok("execute_write", json!({ "code": code })).await;
    assert_eq!(answer["status"], json!("needs_confirmation"), "{answer}");
    answer
}

/// The second call, which may fail.
async fn apply(connected: &mut Connected, code: &str, planned: &Value) -> (bool, Value) {
    let arguments = json!({ "code": code, "confirm": planned["confirm"] });
    let (is_error, text) = support::call(&mut connected.session, "execute_write", arguments).await;
    (is_error, serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}")))
}

/// Runs a script behind the server's back, as another person would change things meanwhile.
async fn meanwhile(connected: &Connected, code: &str) -> Value {
    let mut command: Command = support::against(&connected.mock);
    command.args(["--confirm", "off"]);
    let mut session = support::connect(command).await;
    support::ok(&mut session, "execute_write", json!({ "code": code })).await["result"].clone()
}

/// The upstream's writes since `from`, as `METHOD /path`.
fn writes(connected: &Connected, from: usize) -> Vec<String> {
    let log = connected.mock.writes();
    log.iter().skip(from).map(|it| format!("{} {}", it.method, it.path)).collect()
}

#[tokio::test]
async fn the_plan_shows_the_exact_writes_and_the_confirmed_run_sends_them() {
    let mut connected = Connected::start().await;
    let code = "const user = (await ak.request('GET', '/core/users/', { query: { username: 'ada.wren' } })).data.results[0];
        const made = await ak.request('POST', '/core/groups/', { body: { name: 'night shift' } });
        await ak.request('PATCH', `/core/users/${user.pk}/`, { body: { groups: [made.data.pk] } });
        return made.data.pk";
    let state = connected.mock.state();
    let planned = plan(&mut connected, code).await;
    assert_eq!(connected.mock.state(), state, "a rehearsal changes nothing");
    assert_eq!(connected.writes(), 0);
    let pk = connected
        .execute("return (await ak.request('GET', '/core/users/', { query: { username: 'ada.wren' } })).data.results[0].pk")
        .await;
    let first = &planned["plan"][0];
    assert_eq!(first["n"], json!(1));
    assert_eq!(first["api"], json!("ak"));
    assert_eq!((&first["method"], &first["path"]), (&json!("POST"), &json!("/core/groups/")));
    assert_eq!(first["operation"], json!("core_groups_create"));
    assert_eq!(first["body"], json!({ "name": "night shift" }));
    let second = &planned["plan"][1];
    assert_eq!(second["path"], json!(format!("/core/users/{pk}/")));
    assert_eq!(second["body"], json!({ "groups": ["«1.pk»"] }));
    assert!(second["before"]["groups"].is_array(), "{second}");
    assert_eq!(planned["complete"], json!(true), "{planned}");
    assert_eq!(planned["preview"], json!(code));
    let line = planned["confirm"].as_str().unwrap();
    let host = connected.mock.base_url.strip_prefix("http://").unwrap();
    assert!(
        line.starts_with(&format!("{host}: POST 1, PATCH 1 (/core/groups/, /core/users/{pk}/) #")),
        "{line}"
    );

    let (is_error, done) = apply(&mut connected, code, &planned).await;
    assert!(!is_error, "{done}");
    let created = done["result"].as_str().unwrap();
    assert_eq!(
        writes(&connected, 0),
        ["POST /api/v3/core/groups/".to_owned(), format!("PATCH /api/v3/core/users/{pk}/")]
    );
    let check = format!(
        "return (await ak.request('GET', '/core/users/{pk}/')).data.groups.includes('{created}')"
    );
    assert_eq!(connected.execute(&check).await, json!(true));
    let outcomes: Vec<_> = done["calls"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["method"] != "GET")
        .map(|it| it["outcome"].clone())
        .collect();
    assert_eq!(outcomes, [json!("applied"), json!("applied")]);
}

#[tokio::test]
async fn what_is_created_can_be_read_back_changed_and_deleted_in_one_plan() {
    let mut connected = Connected::start().await;
    let code = "const made = (await ak.request('POST', '/core/groups/', { body: { name: 'brief' } })).data;
        const item = `/core/groups/${made.pk}/`;
        const back = (await ak.request('GET', item)).data;
        await ak.request('PATCH', item, { body: { name: 'briefer' } });
        const changed = (await ak.request('GET', item)).data;
        await ak.request('DELETE', item);
        const gone = await ak.request('GET', item);
        return [back.name, changed.name, gone.status];";
    let planned = plan(&mut connected, code).await;
    assert_eq!(planned["complete"], json!(true), "{planned}");
    let paths: Vec<_> =
        planned["plan"].as_array().unwrap().iter().map(|it| it["path"].clone()).collect();
    assert_eq!(
        paths,
        [json!("/core/groups/"), json!("/core/groups/«1.pk»/"), json!("/core/groups/«1.pk»/")]
    );
    let (is_error, done) = apply(&mut connected, code, &planned).await;
    assert!(!is_error, "{done}");
    assert_eq!(done["result"], json!(["brief", "briefer", 404]));
    assert_eq!(connected.writes(), 3);
}

/// Its present state is none when the plan is made, and no longer none when its turn comes.
#[tokio::test]
async fn what_is_created_under_a_given_name_can_be_changed_in_the_same_plan() {
    let mock = Mock::start(World::sentry()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let document = folder.path().join("sentry.json");
    std::fs::write(&document, mocks::SENTRY_DOCUMENT).unwrap();
    let mut command = support::binary();
    command.args(["--api", "sentry", "--surface", "code-mode", "--base-url", &mock.base_url]);
    command.arg("--openapi").arg(&document).env("SENTRY_ACCESS_TOKEN", &mock.token);
    let mut session = support::connect(command).await;
    let code = "const releases = '/api/0/organizations/harbor-lantern/releases/';
        await api.request('POST', releases, { body: { version: 'night-1', projects: ['quay-web'] } });
        await api.request('PUT', `${releases}night-1/`, { body: { dateReleased: '2026-05-04T10:00:00Z' } });
        return (await api.request('GET', `${releases}night-1/`)).data.dateReleased;";
    let planned = support::ok(&mut session, "execute_write", json!({ "code": code })).await;
    assert_eq!(planned["plan"][1]["before"], Value::Null, "{planned}");
    let arguments = json!({ "code": code, "confirm": planned["confirm"] });
    let done = support::ok(&mut session, "execute_write", arguments).await;
    assert_eq!(done["result"], json!("2026-05-04T10:00:00Z"), "{done}");
    assert_eq!(mock.writes().len(), 2);
}

#[tokio::test]
async fn deleting_and_verifying_shows_the_item_as_gone() {
    let mut connected = Connected::start().await;
    let code = "const user = (await ak.request('GET', '/core/users/', { query: { username: 'ada.wren' } })).data.results[0];
        await ak.request('DELETE', `/core/users/${user.pk}/`);
        const gone = await ak.request('GET', `/core/users/${user.pk}/`);
        if (gone.status !== 404) await ak.request('DELETE', `/core/users/${user.pk}/`);
        return gone.status;";
    let planned = plan(&mut connected, code).await;
    assert_eq!(planned["complete"], json!(true), "{planned}");
    assert_eq!(planned["plan"].as_array().unwrap().len(), 1);
    assert_eq!(planned["plan"][0]["before"]["username"], json!("ada.wren"));
    let (_, done) = apply(&mut connected, code, &planned).await;
    assert_eq!(done["result"], json!(404), "{done}");
}

#[tokio::test]
async fn fifty_items_are_updated_where_they_need_it() {
    let mut connected = Connected::start().await;
    meanwhile(&connected, MAKE_USERS).await;
    let from = connected.mock.writes().len();
    let code = "const users = (await ak.paginate('core_users_list', { search: 'plan-' })).items;
        const inactive = users.filter((it) => !it.is_active && it.username.startsWith('plan-'));
        await Promise.all(inactive.map((it) => ak.request('PATCH', `/core/users/${it.pk}/`, { body: { is_active: true } })));
        return inactive.length;";
    let planned = plan(&mut connected, code).await;
    assert_eq!(planned["complete"], json!(true), "{planned}");
    assert_eq!(planned["plan"].as_array().unwrap().len(), 10);
    assert!(
        planned["plan"]
            .as_array()
            .unwrap()
            .iter()
            .all(|it| it["before"] == json!({ "is_active": false }))
    );
    let (is_error, done) = apply(&mut connected, code, &planned).await;
    assert!(!is_error, "{done}");
    assert_eq!(done["result"], json!(10));
    assert_eq!(writes(&connected, from).len(), 10);
}

#[tokio::test]
async fn a_write_that_would_differ_stops_the_run_before_it_is_sent() {
    let cases = [
        (
            "the path",
            "const u = (await ak.request('GET', '/core/users/', { query: { search: 'drift', ordering: '-name' } })).data.results[0]; await ak.request('PATCH', `/core/users/${u.pk}/`, { body: { type: 'external' } })",
        ),
        (
            "the query",
            "const u = (await ak.request('GET', '/core/users/', { query: { username: 'drift-1' } })).data.results[0]; await ak.request('POST', '/core/groups/', { query: { note: u.name }, body: { name: 'g' } })",
        ),
        (
            "a header",
            "const u = (await ak.request('GET', '/core/users/', { query: { username: 'drift-1' } })).data.results[0]; await ak.request('POST', '/core/groups/', { headers: { 'Idempotency-Key': u.name.replace(' ', '-') }, body: { name: 'g' } })",
        ),
        (
            "the body",
            "const u = (await ak.request('GET', '/core/users/', { query: { username: 'drift-1' } })).data.results[0]; await ak.request('POST', '/core/groups/', { body: { name: u.name } })",
        ),
        (
            "the method",
            "const u = (await ak.request('GET', '/core/users/', { query: { username: 'drift-1' } })).data.results[0]; await ak.request(u.name === 'Drift 1' ? 'PATCH' : 'DELETE', `/core/users/${u.pk}/`, { body: { type: 'external' } })",
        ),
    ];
    let make = "for (const n of [1, 2]) await ak.request('POST', '/core/users/', { body: { username: `drift-${n}`, name: `Drift ${n}` } })";
    for (what, code) in cases {
        let mut connected = Connected::start().await;
        meanwhile(&connected, make).await;
        let code = format!(
            "{code}; await ak.request('POST', '/core/groups/', {{ body: {{ name: 'after' }} }})"
        );
        let planned = plan(&mut connected, &code).await;
        assert_eq!(planned["plan"].as_array().unwrap().len(), 2, "{what}: {planned}");
        meanwhile(&connected, "const u = (await ak.request('GET', '/core/users/', { query: { username: 'drift-1' } })).data.results[0]; await ak.request('PATCH', `/core/users/${u.pk}/`, { body: { name: 'Drift 9' } })").await;
        let from = connected.mock.writes().len();
        let (is_error, done) = apply(&mut connected, &code, &planned).await;
        assert!(is_error, "{what}: {done}");
        assert_eq!(writes(&connected, from), [""; 0], "{what}");
        assert_eq!(done["error"]["name"], json!("PlanError"), "{what}: {done}");
        assert!(done["incomplete"].as_str().unwrap().starts_with("2 of 2"), "{what}: {done}");
        let again = connected
            .ok("execute_write", json!({ "code": code, "confirm": planned["confirm"] }))
            .await;
        assert_eq!(again["status"], json!("needs_confirmation"), "the confirmation is used up");
    }
}

#[tokio::test]
async fn a_script_cannot_catch_its_way_past_the_plan() {
    let mut connected = Connected::start().await;
    meanwhile(&connected, "await ak.request('POST', '/core/groups/', { body: { name: 'old' } })")
        .await;
    let code = "const n = (await ak.request('GET', '/core/groups/', { query: { name: 'old' } })).data.results.length;
        try { await ak.request('POST', '/core/groups/', { body: { name: `count ${n}` } }) } catch {}
        try { await ak.request('POST', '/core/groups/', { body: { name: 'second' } }) } catch {}
        return 'fine'";
    let planned = plan(&mut connected, code).await;
    meanwhile(&connected, "const g = (await ak.request('GET', '/core/groups/', { query: { name: 'old' } })).data.results[0]; await ak.request('DELETE', `/core/groups/${g.pk}/`)").await;
    let from = connected.mock.writes().len();
    let (is_error, done) = apply(&mut connected, code, &planned).await;
    assert!(is_error && done["error"]["name"] == json!("PlanError"), "{done}");
    assert_eq!(writes(&connected, from), [""; 0]);
    let reached =
        done["calls"].as_array().unwrap().iter().filter(|it| it["outcome"] == "not reached");
    assert_eq!(reached.count(), 2, "{done}");
}

#[tokio::test]
async fn data_that_changed_since_the_plan_was_shown_stops_the_write() {
    let mut connected = Connected::start().await;
    let find = "const u = (await ak.request('GET', '/core/users/', { query: { username: 'ada.wren' } })).data.results[0];";
    let code = format!(
        "{find} await ak.request('PATCH', `/core/users/${{u.pk}}/`, {{ body: {{ name: 'Ada W.' }} }})"
    );
    let planned = plan(&mut connected, &code).await;
    assert_eq!(planned["plan"][0]["before"], json!({ "name": "Ada Wren" }));
    meanwhile(&connected, &format!("{find} await ak.request('PATCH', `/core/users/${{u.pk}}/`, {{ body: {{ name: 'Ada Lark' }} }})")).await;
    let from = connected.mock.writes().len();
    let (is_error, done) = apply(&mut connected, &code, &planned).await;
    assert!(is_error, "{done}");
    assert!(
        done["error"]["message"].as_str().unwrap().contains("no longer as it was shown"),
        "{done}"
    );
    assert_eq!(writes(&connected, from), [""; 0]);
}

#[tokio::test]
async fn a_plan_that_nobody_would_read_is_not_offered() {
    let mut connected = Connected::with(|command| {
        command.args(["--max-requests", "500"]);
    })
    .await;
    let code = "for (let i = 0; i < 400; i++) {
          if (i === 397) await ak.request('DELETE', '/core/users/1/');
          else await ak.request('POST', '/core/groups/', { body: { name: `g${i}` } });
        }";
    let answer = connected.fails("execute_write", json!({ "code": code })).await;
    assert_eq!(answer["status"], json!("too_large"));
    assert!(answer.get("confirm").is_none());
    let message = answer["message"].as_str().unwrap();
    assert!(message.contains("400 writes") && message.contains("split the work"), "{message}");
    let long = "for (let i = 0; i < 10; i++) await ak.request('POST', '/core/groups/', { body: { name: 'x'.repeat(5000) } })";
    let answer = connected.fails("execute_write", json!({ "code": long })).await;
    assert_eq!(answer["status"], json!("too_large"));
    assert_eq!(connected.writes(), 0);
}

#[tokio::test]
async fn nothing_in_a_plan_is_hidden_or_passes_for_a_symbol() {
    let mut connected = Connected::start().await;
    let code = "await ak.request('POST', '/core/groups/', { body: { name: 'a\\u202eb «1.pk» \\u200b' } });
        await ak.request('DELETE', '/core/groups/a\\u202eb «1.pk»/');
        await ak.request('POST', '/core/groups/', { query: { note: '«1.pk»' }, body: { name: 'x' } });";
    let planned = plan(&mut connected, code).await;
    assert_eq!(planned["plan"][0]["body"]["name"], json!("a\\u{202e}b \\u{ab}1.pk» \\u{200b}"));
    assert_eq!(planned["plan"][1]["path"], json!("/core/groups/a%E2%80%AEb%20%C2%AB1.pk%C2%BB/"));
    assert_eq!(planned["plan"][2]["query"], json!({ "note": "\\u{ab}1.pk»" }));
    assert!(planned["confirm"].as_str().unwrap().is_ascii(), "{}", planned["confirm"]);
}

#[tokio::test]
async fn a_branch_on_what_is_not_known_yet_makes_the_plan_incomplete() {
    let mut connected = Connected::start().await;
    let branch =
        "const g = (await ak.request('POST', '/core/groups/', { body: { name: 'b' } })).data;
        if (g.is_superuser) await ak.request('POST', '/core/groups/', { body: { name: 'super' } });
        else await ak.request('POST', '/core/groups/', { body: { name: 'plain' } });";
    let planned = plan(&mut connected, branch).await;
    assert_eq!(planned["complete"], json!(false), "{planned}");
    assert!(planned["warnings"].to_string().contains("only the real responses"), "{planned}");
    assert!(planned["confirm"].as_str().unwrap().contains("more may follow"));
    let (is_error, done) = apply(&mut connected, branch, &planned).await;
    assert!(is_error, "the second write is another than the planned one: {done}");
    assert_eq!(writes(&connected, 0), ["POST /api/v3/core/groups/"]);
}

/// Writes that were asked for at once go out one after the other: none overtakes a check that fails.
#[tokio::test]
async fn a_failed_check_stops_the_writes_that_were_asked_for_with_it() {
    let mut connected = Connected::start().await;
    let code = "const users = (await ak.request('GET', '/core/users/', { query: { ordering: 'pk', page_size: 6 } })).data.results;
        await Promise.all(users.map((it) => ak.request('PATCH', `/core/users/${it.pk}/`, { body: { name: 'Same' } })));";
    let planned = plan(&mut connected, code).await;
    assert_eq!(planned["plan"].as_array().unwrap().len(), 6);
    let second = planned["plan"][1]["path"].as_str().unwrap();
    meanwhile(
        &connected,
        &format!("await ak.request('PATCH', '{second}', {{ body: {{ name: 'Other' }} }})"),
    )
    .await;
    let from = connected.mock.writes().len();
    let (is_error, done) = apply(&mut connected, code, &planned).await;
    assert!(is_error, "{done}");
    assert_eq!(writes(&connected, from).len(), 1, "the first one, and nothing after the second");
    assert!(done["incomplete"].as_str().unwrap().starts_with("5 of 6"), "{done}");
}

/// A run that goes on beyond an incomplete plan stops there, and the rest is a plan of its own.
#[tokio::test]
async fn the_rest_of_an_incomplete_plan_is_planned_again() {
    let mut connected = Connected::start().await;
    let code = "const g = (await ak.request('POST', '/core/groups/', { body: { name: 'first' } })).data;
        const name = g.name.toUpperCase();
        if (g.users.length === 0) await ak.request('POST', '/core/groups/', { body: { name: `${g.pk}` } });
        for (const letter of g.pk.slice(0, 2)) await ak.request('POST', '/core/groups/', { body: { name: `${name} ${letter}` } });
        return name;";
    let planned = plan(&mut connected, code).await;
    assert_eq!(planned["complete"], json!(false), "{planned}");
    let count = planned["plan"].as_array().unwrap().len();
    assert_eq!(count, 2, "{planned}");
    let (is_error, next) = apply(&mut connected, code, &planned).await;
    assert!(!is_error && next["status"] == json!("needs_confirmation"), "{next}");
    assert_eq!(
        next["applied"].as_array().unwrap().iter().filter(|it| it["outcome"] == "applied").count(),
        2
    );
    assert_eq!(writes(&connected, 0).len(), 2);
    assert_eq!(next["complete"], json!(true), "{next}");
    let (is_error, done) = apply(&mut connected, code, &next).await;
    assert!(!is_error, "{done}");
    assert_eq!(done["result"], json!("FIRST"));
    assert_eq!(writes(&connected, 0).len(), 4, "nothing is sent twice");
}

#[tokio::test]
async fn a_script_that_fails_by_itself_gets_no_confirmation() {
    let mut connected = Connected::start().await;
    let code = "await ak.request('POST', '/core/groups/', { body: {} })";
    let failed = connected.fails("execute_write", json!({ "code": code })).await;
    assert!(failed["error"]["message"].as_str().unwrap().contains("`name`"), "{failed}");
    assert!(failed.get("confirm").is_none());
    let code = "await ak.request('DELETE', '/core/users/1/'); nonsense()";
    let failed = connected.fails("execute_write", json!({ "code": code })).await;
    assert!(failed.get("confirm").is_none(), "{failed}");
    assert_eq!(failed["calls"][0]["outcome"], json!("planned"));
    assert_eq!(connected.writes(), 0);
}

#[tokio::test]
async fn a_script_without_writes_is_answered_at_once() {
    let mut connected = Connected::start().await;
    let answer = connected.ok("execute_write", json!({ "code": "return 6 * 7" })).await;
    assert_eq!(answer["result"], json!(42));
    assert!(answer["warnings"].to_string().contains("use `execute`"), "{answer}");
}

#[tokio::test]
async fn reads_after_a_write_are_marked_stale() {
    let mut connected = Connected::start().await;
    let code = "await ak.request('POST', '/core/groups/', { body: { name: 's' } });
        return (await ak.request('GET', '/core/groups/')).data.pagination.count";
    let planned = plan(&mut connected, code).await;
    let read =
        planned["calls"].as_array().unwrap().iter().find(|it| it["method"] == "GET").unwrap();
    assert_eq!(read["stale"], json!(true), "{planned}");
    assert_eq!(planned["complete"], json!(true), "{planned}");
}

/// The same dice and the same clock in the rehearsal and in the run.
#[tokio::test]
async fn chance_and_time_are_the_same_in_both_runs() {
    let mut connected = Connected::start().await;
    let code = "await sleep(5000); await ak.request('POST', '/core/groups/', { body: { name: `${Math.random()} ${Date.now()}` } });";
    let started = std::time::Instant::now();
    let planned = plan(&mut connected, code).await;
    assert!(started.elapsed().as_secs() < 4, "sleeping takes no time in a rehearsal");
    let code_name = planned["plan"][0]["body"]["name"].clone();
    let (is_error, done) = apply(&mut connected, code, &planned).await;
    assert!(!is_error, "{done}");
    let name: Value =
        serde_json::from_slice::<Value>(connected.mock.state().to_string().as_bytes()).unwrap();
    assert!(
        name.to_string().contains(code_name.as_str().unwrap()),
        "the planned name is the one that was sent"
    );
}
