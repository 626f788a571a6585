//! `execute_write`: nothing runs without its own confirmation, judged by the upstream's log.

use mocks::{Mock, World};
use serde_json::{Value, json};
use test_client::{Answer, Options, Protocol};

use crate::support::{self, Connected};

const CREATE: &str = "return (await ak.request('POST', '/stages/captcha/', { body: { name: 'c1', public_key: 'a', private_key: 'b' } })).data.name";

/// The captcha pivot: find the operations, create a stage, bind it to the login flow.
const PIVOT: &str = "
const flow = (await ak.request('GET', '/flows/instances/default-authentication-flow/')).data;
const stage = (await ak.request('POST', '/stages/captcha/', {
  body: { name: 'signin-captcha', public_key: '6Lq-pub', private_key: '6Lq-sec', interactive: false, score_min_threshold: 0.7 },
})).data;
const binding = (await ak.call('flows_bindings_create', { body: { target: flow.pk, stage: stage.pk, order: 15 } })).data;
return { stage: stage.pk, binding: binding.pk, order: binding.order };
";

#[tokio::test]
async fn the_captcha_pivot_is_found_confirmed_run_and_verified() {
    let mut connected = Connected::start().await;
    let found = connected.ok("search", json!({ "query": "create a captcha stage" })).await;
    assert!(
        found["operations"][0]
            .as_str()
            .unwrap()
            .contains("stages_captcha_create POST /stages/captcha/"),
        "{found}"
    );
    let found = connected.ok("search", json!({ "query": "bind a stage to a flow" })).await;
    assert!(found["operations"].to_string().contains("flows_bindings_create"), "{found}");

    let before = connected.mock.state();
    let first = connected.ok("execute_write", json!({ "code": PIVOT })).await;
    assert_eq!(first["status"], json!("needs_confirmation"));
    assert_eq!(first["preview"], json!(PIVOT));
    assert_eq!(connected.mock.state(), before, "asking changes nothing");
    assert_eq!(connected.writes(), 0);

    let done =
        connected.ok("execute_write", json!({ "code": PIVOT, "confirm": first["confirm"] })).await;
    assert_eq!(done["result"]["order"], json!(15), "{done}");
    let stage = done["result"]["stage"].as_str().unwrap();
    let writes: Vec<_> =
        connected.mock.writes().iter().map(|it| format!("{} {}", it.method, it.path)).collect();
    assert_eq!(writes, ["POST /api/v3/stages/captcha/", "POST /api/v3/flows/bindings/"]);

    let check = format!(
        "const flow = (await ak.request('GET', '/flows/instances/default-authentication-flow/')).data;
         const bindings = await ak.paginate('flows_bindings_list', {{ target: flow.pk, ordering: 'order' }});
         return bindings.items.map((it) => [it.order, it.stage === '{stage}']);"
    );
    let orders = connected.execute(&check).await;
    assert_eq!(orders, json!([[10, false], [15, true], [20, false], [30, false], [100, false]]));
    let text = connected
        .mock
        .log()
        .iter()
        .map(|it| it.headers.iter().map(|h| h.1.clone()).collect::<String>())
        .collect::<String>();
    assert!(!text.contains(&connected.mock.token), "the mock masks tokens in its log");
}

#[tokio::test]
async fn a_confirmation_is_used_once() {
    let mut connected = Connected::start().await;
    let first = connected.ok("execute_write", json!({ "code": CREATE })).await;
    let confirmed = json!({ "code": CREATE, "confirm": first["confirm"] });
    let done = connected.ok("execute_write", confirmed.clone()).await;
    assert_eq!(done["result"], json!("c1"));
    assert_eq!(connected.writes(), 1);
    let again = connected.ok("execute_write", confirmed).await;
    assert_fresh(&again, &first);
    assert!(again["reason"].as_str().unwrap().contains("used already"), "{again}");
    assert_eq!(connected.writes(), 1, "the second use ran nothing");
}

#[tokio::test]
async fn a_missing_wrong_or_foreign_confirmation_runs_nothing_and_uses_nothing_up() {
    let mut connected = Connected::start().await;
    let first = connected.ok("execute_write", json!({ "code": CREATE })).await;
    let line = first["confirm"].as_str().unwrap();
    let changed = CREATE.replace("'c1'", "'c2'");
    let edited = line.replace("#", "# ");
    let attempts = [
        json!({ "code": CREATE }),
        json!({ "code": CREATE, "confirm": "" }),
        json!({ "code": CREATE, "confirm": "yes" }),
        json!({ "code": CREATE, "confirm": edited }),
        json!({ "code": changed, "confirm": line }),
        json!({ "code": format!("{CREATE} "), "confirm": line }),
    ];
    for attempt in attempts {
        let answer = connected.ok("execute_write", attempt.clone()).await;
        assert_fresh(&answer, &first);
        assert_eq!(connected.writes(), 0, "{attempt}");
    }
    let done = connected.ok("execute_write", json!({ "code": CREATE, "confirm": line })).await;
    assert_eq!(done["result"], json!("c1"), "the first confirmation is still good");
}

#[tokio::test]
async fn a_restarted_server_knows_no_old_confirmation() {
    let mut connected = Connected::start().await;
    let first = connected.ok("execute_write", json!({ "code": CREATE })).await;
    let mut restarted = support::connect(support::against(&connected.mock)).await;
    let answer = support::ok(
        &mut restarted,
        "execute_write",
        json!({ "code": CREATE, "confirm": first["confirm"] }),
    )
    .await;
    assert_fresh(&answer, &first);
    assert_eq!(connected.writes(), 0);
}

#[tokio::test]
async fn two_confirmations_at_once_run_the_script_once() {
    let mut connected = Connected::start().await;
    let first = connected.ok("execute_write", json!({ "code": CREATE })).await;
    let call = json!({ "name": "execute_write", "arguments": { "code": CREATE, "confirm": first["confirm"] } });
    let one = connected.session.request("tools/call", call.clone()).await.unwrap();
    let two = connected.session.request("tools/call", call).await.unwrap();
    let mut ran = 0;
    for id in [one, two] {
        let answer = connected.session.response(id, support::PATIENCE).await.unwrap();
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        ran += usize::from(text.contains("\"result\":\"c1\""));
    }
    assert_eq!((ran, connected.writes()), (1, 1));
}

#[tokio::test]
async fn a_script_that_cannot_be_read_gets_no_confirmation() {
    let mut connected = Connected::start().await;
    let failed = connected.fails("execute_write", json!({ "code": "return (" })).await;
    assert_eq!(failed["error"]["name"], json!("SyntaxError"));
    assert!(failed.get("confirm").is_none());
}

#[tokio::test]
async fn confirm_off_runs_at_once() {
    let mut connected = Connected::with(|command| {
        command.args(["--confirm", "off"]);
    })
    .await;
    assert_eq!(
        connected.ok("execute_write", json!({ "code": CREATE })).await["result"],
        json!("c1")
    );
    assert_eq!(connected.writes(), 1);
}

#[tokio::test]
async fn the_confirmation_of_code_is_one_line_that_names_the_host() {
    let mut connected = Connected::with(|command| {
        command.args(["--confirm", "code"]);
    })
    .await;
    let answer = connected
        .ok("execute_write", json!({ "code": format!("// \u{202e}hidden\n{CREATE}") }))
        .await;
    let line = answer["confirm"].as_str().unwrap();
    let host = connected.mock.base_url.strip_prefix("http://").unwrap();
    assert!(line.starts_with(host) && line.contains("2 lines") && !line.contains('\n'), "{line}");
    assert!(answer["preview"].as_str().unwrap().contains("\\u{202e}hidden"), "{answer}");
    assert!(answer["expires"].as_str().unwrap().ends_with('Z'));
}

/// A client that can ask its person is asked, in addition.
#[tokio::test]
async fn a_person_who_is_asked_directly_decides() {
    for (answer, expected, writes) in [
        (Answer::Accept(json!({})), "\"result\":\"c1\"", 1),
        (Answer::Decline, "declined", 0),
        (Answer::Cancel, "needs_confirmation", 0),
    ] {
        let mock = Mock::start(World::authentik()).unwrap();
        let client = Options::default()
            .protocol(Protocol::Legacy)
            .on_elicitation(move |question| {
                assert!(
                    question.message.contains("\"path\":\"/stages/captcha/\""),
                    "{}",
                    question.message
                );
                answer.clone()
            })
            .stdio(support::against(&mock))
            .await
            .unwrap();
        let result = client.call("execute_write", json!({ "code": CREATE })).await.unwrap();
        assert!(result.text.contains(expected), "{}", result.text);
        assert_eq!(mock.writes().len(), writes);
        client.close().await.unwrap();
    }
}

fn assert_fresh(answer: &Value, first: &Value) {
    assert_eq!(answer["status"], json!("needs_confirmation"), "{answer}");
    assert!(answer["confirm"].is_string() && answer["confirm"] != first["confirm"], "{answer}");
    assert!(answer["preview"].is_string() && answer["message"].is_string(), "{answer}");
}
