//! The chat: a model that reads by itself, and whose plans wait for a person.

use std::{
    process::Command,
    sync::{Arc, Mutex},
};

use mocks::{ModelAnswer, ModelServer};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::{
    support::{Server, against, authentik, binary, browser},
    upstream::Upstream,
};

const KEY: &str = "sk-SECRET-of-the-model";
const READ: &str = "const { items } = await ak.paginate('/core/users/', { query: { search: 'wren' } });\n\
     return items.map(({ pk, name, is_active }) => ({ pk, name, is_active }));";
const WRITE: &str = "const { items } = await ak.paginate('/core/users/', { query: { search: 'wren' } });\n\
     await ak.request('PATCH', `/core/users/${items[0].pk}/`, { body: { name: 'Ada Wren-Hart', is_active: false } });\n\
     return 'renamed';";

/// The binary with a playground whose chat has this model.
fn with_model(mut command: Command, model: &ModelServer) -> Command {
    command.env("OPENAI_API_KEY", KEY).args(["--playground", "--chat", "openai"]);
    command.arg("--chat-base-url").arg(format!("{}/v1", model.base_url));
    command
}

/// What the chat answers to one message: its events, in order.
async fn ask(server: &Server, words: &str) -> Vec<(String, Value)> {
    let body = json!({ "messages": [{ "role": "user", "text": words }] });
    let request = server.request(Method::POST, "/playground/chat").json_body(&body);
    let answer = request.header("origin", &server.base).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    let text = answer.text().await.unwrap();
    let event = |block: &str| {
        let (name, data) = block.strip_prefix("event: ")?.split_once("\ndata: ")?;
        Some((name.to_owned(), serde_json::from_str(data).unwrap()))
    };
    text.split("\n\n").filter_map(event).collect()
}

trait JsonBody {
    fn json_body(self, body: &Value) -> Self;
}

impl JsonBody for reqwest::RequestBuilder {
    fn json_body(self, body: &Value) -> Self {
        self.header("content-type", "application/json").body(body.to_string())
    }
}

fn of<'a>(events: &'a [(String, Value)], name: &str) -> Vec<&'a Value> {
    events.iter().filter(|(event, _)| event == name).map(|(_, data)| data).collect()
}

#[tokio::test]
async fn a_model_reads_by_itself_and_its_plan_waits_for_a_persons_click() {
    let Some(browser) = browser().await else { return };
    let mock = authentik();
    let model = ModelServer::script([
        ModelAnswer::call("search", json!({ "query": "update user" })),
        ModelAnswer::call("execute", json!({ "code": READ })),
        ModelAnswer::call("execute_write", json!({ "code": WRITE })),
        ModelAnswer::say(
            "The plan renames `Ada Wren` and **deactivates** the account. <b>Confirm it</b> above.",
        ),
        ModelAnswer::say("Ada Wren is now called Ada Wren-Hart."),
    ])
    .unwrap();
    let server = Server::start(with_model(against(&mock), &model));
    browser.open(&server.base).await;
    browser.click("#tab-chat").await;
    browser.shows("#chat-note", "gpt-5").await;
    browser.write("#question", "Rename Ada Wren and deactivate her account.\u{e007}").await;
    browser.shows("#talk", "<b>Confirm it</b> above.").await;
    let talk = browser.text("#talk").await;
    for seen in
        ["search", "update user", "execute", "done", "PATCH", "Ada Wren-Hart", "Send 1 write"]
    {
        assert!(talk.contains(seen), "{seen}: {talk}");
    }
    browser.until("return !document.querySelector('.decide .danger').disabled").await;
    browser.picture("chat").await;
    browser.prefers("dark").await;
    browser.picture("chat-dark").await;
    let line = browser.text(".decide code").await;
    let token = line.rsplit('#').next().unwrap().to_owned();
    assert_eq!(token.len(), 10, "{line}");
    assert_eq!(mock.writes().len(), 0);

    browser.script("document.querySelector('.decide .danger').click()").await;
    assert_eq!(mock.writes().len(), 0);
    browser.click(".decide .danger").await;
    browser.shows("#talk", "Sent as planned").await;
    browser.shows("#talk", "is now called").await;
    assert_eq!(mock.writes().len(), 1);
    browser.picture("chat-sent").await;
    let requests = model.requests();
    assert_eq!(requests.len(), 5);
    // The model learns of the outcome, and never what confirms.
    assert!(requests[4].body.to_string().contains("The person confirmed the plan"));
    for request in &requests {
        assert!(!request.body.to_string().contains(&token));
        assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    }
    let page = browser.script("return document.documentElement.outerHTML").await;
    assert!(!page.as_str().unwrap().contains("SECRET") && !server.written().contains("SECRET"));
    assert_eq!(browser.complaints().await, [""; 0]);
}

#[tokio::test]
async fn a_model_that_knows_what_confirms_cannot_confirm() {
    let upstream = Upstream::start().await;
    const WRITE: &str = "return (await api.call('createThing', { body: { name: 'x' } })).status";
    let known: Arc<Mutex<Option<String>>> = Arc::default();
    let line = Arc::clone(&known);
    let model = ModelServer::start(move |request| match request.results().len() {
        0 => {
            let mut arguments = json!({ "code": WRITE });
            if let Some(line) = &*line.lock().unwrap() {
                arguments["confirm"] = json!(line);
            }
            ModelAnswer::call("execute_write", arguments)
        }
        1 => ModelAnswer::call("execute", json!({ "code": WRITE })),
        2 => ModelAnswer::call("call_operation_write", json!({ "operation": "createThing" })),
        _ => ModelAnswer::say("I could not."),
    });
    let model = model.unwrap();
    let server = Server::start(with_model(upstream.binary(), &model));

    let events = ask(&server, "make a thing").await;
    let [plan] = of(&events, "plan")[..] else { panic!("{events:?}") };
    let plan: Value = serde_json::from_str(plan["text"].as_str().unwrap()).unwrap();
    let confirm = plan["confirm"].as_str().unwrap().to_owned();
    for result in of(&events, "result") {
        assert!(!result.to_string().contains(&confirm), "{result}");
    }
    *known.lock().unwrap() = Some(confirm.clone());
    let events = ask(&server, "make it so").await;
    let results = of(&events, "result");
    assert_eq!((results.len(), of(&events, "plan").len()), (3, 0), "{events:?}");
    assert!(results.iter().all(|it| it["failed"] == true), "{results:?}");
    assert!(results[0]["text"].as_str().unwrap().starts_with("only the person can confirm"));
    assert_eq!(of(&events, "done").len(), 1);
    assert_eq!(upstream.writes(), 0);
    // And it was good all the while.
    let arguments = json!({ "code": WRITE, "confirm": confirm });
    server.call("execute_write", arguments).await;
    assert_eq!(upstream.writes(), 1);
}

#[tokio::test]
async fn tools_that_write_at_once_are_not_a_models() {
    let mock = mocks::Mock::start(mocks::World::sentry()).unwrap();
    let upstream = Upstream::start().await;
    let model = ModelServer::script([
        ModelAnswer::call("update_issue", json!({ "issueId": "1", "status": "resolved" })),
        ModelAnswer::say("I could not."),
    ]);
    let model = model.unwrap();
    let mut command = binary();
    command.args(["--api", "sentry", "--base-url", &mock.base_url, "--access-token", &mock.token]);
    command.arg("--openapi").arg(upstream.document.path());
    let server = Server::start(with_model(command, &model));
    let events = ask(&server, "resolve it").await;
    assert_eq!(of(&events, "result")[0]["failed"], true, "{events:?}");
    let offered = model.requests()[0].tools();
    let has = |name: &str| offered.iter().any(|it| it == name);
    assert!(has("find_organizations") && has("execute") && has("execute_write"), "{offered:?}");
    assert!(!has("update_issue") && !has("analyze_issue_with_seer"), "{offered:?}");
    assert_eq!(mock.writes().len(), 0);
}

#[tokio::test]
async fn the_chat_is_there_with_a_model_and_for_the_servers_own_page() {
    let mock = authentik();
    let chat = |server: &Server| {
        let body = json!({ "messages": [{ "role": "user", "text": "hi" }] });
        server.request(Method::POST, "/playground/chat").json_body(&body)
    };
    let mut plain = against(&mock);
    plain.arg("--playground").env("OPENAI_API_KEY", KEY);
    let without = Server::start(plain);
    assert_eq!(chat(&without).send().await.unwrap().status(), StatusCode::NOT_FOUND);

    let model = ModelServer::script([ModelAnswer::status(401, "no such key")]).unwrap();
    let server = Server::start(with_model(against(&mock), &model));
    for (name, value) in
        [("origin", "http://localhost:1"), ("origin", "https://evil.test"), ("via", "x")]
    {
        let answer = chat(&server).header(name, value).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::FORBIDDEN, "{name}: {value}");
    }
    let text = server.request(Method::POST, "/playground/chat").body("{}");
    assert_eq!(text.send().await.unwrap().status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    let empty =
        server.request(Method::POST, "/playground/chat").json_body(&json!({ "messages": [] }));
    assert_eq!(empty.send().await.unwrap().status(), StatusCode::BAD_REQUEST);
    assert!(model.requests().is_empty());
    let events = ask(&server, "hi").await;
    let message = of(&events, "error")[0]["message"].as_str().unwrap();
    assert!(message.contains("refuses the key (401)"), "{message}");
    assert!(!server.written().contains("SECRET"));
}

#[tokio::test]
async fn whoever_may_not_call_may_not_chat() {
    let mock = authentik();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("callers");
    std::fs::write(&file, "").unwrap();
    let model = ModelServer::script([]).unwrap();
    let mut command = with_model(against(&mock), &model);
    command.arg("--shared-credential").arg("--callers").arg(&file);
    let server = Server::start(command);
    let body = json!({ "messages": [{ "role": "user", "text": "hi" }] });
    let answer = server.request(Method::POST, "/playground/chat").json_body(&body).send().await;
    assert_eq!(answer.unwrap().status(), StatusCode::UNAUTHORIZED);
    assert!(model.requests().is_empty());
}
