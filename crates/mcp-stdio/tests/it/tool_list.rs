//! What a client is told: schemas every model API takes, honest hints, a small and equal size.

use serde_json::{Value, json};

use crate::support::{self, Connected, PATIENCE};

async fn tools(session: &mut test_client::raw::Session) -> Vec<Value> {
    let id = session.request("tools/list", json!({})).await.unwrap();
    let list = session.response(id, PATIENCE).await.unwrap();
    list["result"]["tools"].as_array().unwrap().clone()
}

fn tokens(tools: &[Value]) -> usize {
    let bpe = tiktoken_rs::o200k_base().unwrap();
    bpe.encode_ordinary(&Value::from(tools).to_string()).len()
}

/// P11 and P12: the smallest common subset of what clients and model APIs take.
#[tokio::test]
async fn schemas_are_flat_objects_without_unions_references_or_odd_keywords() {
    let mut connected = Connected::start().await;
    for tool in tools(&mut connected.session).await {
        let schema = &tool["inputSchema"];
        assert_eq!(schema["type"], json!("object"), "{tool}");
        let mut keys: Vec<_> = schema.as_object().unwrap().keys().map(String::as_str).collect();
        keys.sort_unstable();
        assert_eq!(keys, ["properties", "required", "type"], "{tool}");
        for (name, property) in schema["properties"].as_object().unwrap() {
            let kind = property["type"].as_str().unwrap_or_else(|| panic!("{name} has one type"));
            assert!(matches!(kind, "string" | "integer"), "{name}: {kind}");
            for key in property.as_object().unwrap().keys() {
                let known = ["type", "description", "enum", "minimum", "maximum"];
                assert!(known.contains(&key.as_str()), "{name} has the keyword `{key}`");
            }
        }
    }
}

/// P13: no output schema is promised, and an error is its text alone.
#[tokio::test]
async fn no_output_schema_is_declared_and_errors_are_text_alone() {
    let mut connected = Connected::start().await;
    for tool in tools(&mut connected.session).await {
        assert!(tool.get("outputSchema").is_none(), "{tool}");
    }
    let failed = connected
        .session
        .call("execute", json!({"code": "throw new Error('boom')"}), PATIENCE)
        .await;
    let result = &failed.unwrap()["result"];
    assert_eq!(result["isError"], json!(true));
    assert!(result["content"][0]["text"].as_str().unwrap().contains("boom"));
    assert!(result.get("structuredContent").is_none());
}

/// P14: the text is complete, and there is no second copy of it.
#[tokio::test]
async fn a_result_is_one_complete_text() {
    let mut connected = Connected::start().await;
    let code = "return 'x'.repeat(20000)";
    let message =
        connected.session.call("execute", json!({ "code": code }), PATIENCE).await.unwrap();
    let text = message["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains(&"x".repeat(20_000)));
    assert!(message.to_string().len() < 26_000, "{} bytes", message.to_string().len());
}

/// P15, P71: the hints are there, and true; a client can let reading pass by them alone.
#[tokio::test]
async fn reading_tools_say_so_and_writing_ones_do_not() {
    let mut connected = Connected::start().await;
    let hints: Vec<_> = tools(&mut connected.session)
        .await
        .into_iter()
        .map(|tool| {
            let hints = &tool["annotations"];
            let hint =
                |name: &str| hints[name].as_bool().unwrap_or_else(|| panic!("{name} is set"));
            (
                tool["name"].as_str().unwrap().to_owned(),
                hint("readOnlyHint"),
                hint("destructiveHint"),
                hint("openWorldHint"),
            )
        })
        .collect();
    let expected = [
        ("search".to_owned(), true, false, false),
        ("execute".to_owned(), true, false, true),
        ("execute_write".to_owned(), false, true, true),
    ];
    assert_eq!(hints, expected);
}

/// P16.
#[tokio::test]
async fn names_are_short_plain_and_unique() {
    let mut connected = Connected::start().await;
    let mut names = std::collections::HashSet::new();
    for tool in tools(&mut connected.session).await {
        let name = tool["name"].as_str().unwrap().to_owned();
        assert!(name.len() <= 20 && name.starts_with(|it: char| it.is_ascii_lowercase()), "{name}");
        assert!(name.chars().all(|it| it.is_ascii_lowercase() || it == '_' || it.is_ascii_digit()));
        assert!(names.insert(name));
    }
}

/// P17: small, and the same whatever the document's size.
#[tokio::test]
async fn definitions_stay_below_800_tokens_and_within_5_percent_for_every_api() {
    let mut sizes = Vec::new();
    let mut connected = Connected::start().await;
    sizes.push(("authentik", tokens(&tools(&mut connected.session).await)));

    let mut sentry = support::binary();
    sentry.env("SENTRY_ACCESS_TOKEN", "sntrys_test").env("SENTRY_HOST", "sentry.test");
    sentry.args(["--surface", "code-mode"]);
    sizes.push(("sentry", tokens(&tools(&mut support::connect(sentry).await).await)));

    if let Some(document) = support::shared("specs/github.json") {
        let mut github = support::binary();
        github.args(["--name", "github", "--base-url", "http://127.0.0.1:9"]);
        github.arg("--openapi").arg(document);
        sizes.push(("github", tokens(&tools(&mut support::connect(github).await).await)));
    }
    let most = sizes.iter().map(|it| it.1).max().unwrap();
    let least = sizes.iter().map(|it| it.1).min().unwrap();
    assert!(most <= 800, "{sizes:?}");
    assert!(most * 100 <= least * 105, "{sizes:?}");
}

/// P17: instructions are small too.
#[tokio::test]
async fn server_instructions_stay_below_2_kb() {
    let mock = mocks::Mock::start(mocks::World::authentik()).unwrap();
    let mut session = test_client::raw::Session::spawn(support::against(&mock)).unwrap();
    let hello = session.initialize("2025-11-25").await.unwrap();
    let instructions = hello["instructions"].as_str().unwrap();
    assert!(instructions.contains("`search`") && instructions.len() < 2_000, "{instructions}");
}

/// P18.
#[tokio::test]
async fn an_unknown_tool_is_answered_with_the_real_ones() {
    let mut connected = Connected::start().await;
    for (name, advice) in [
        ("listItems", "`search`"),
        ("request", "inside the `code` of `execute`"),
        ("api.call", "inside the `code` of `execute`"),
    ] {
        let answer = connected.session.call(name, json!({}), PATIENCE).await.unwrap();
        assert_eq!(answer["error"]["code"], json!(-32602));
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(
            message.contains(name) && message.contains(advice) && message.contains("`execute`"),
            "{message}"
        );
    }
}

/// P5: the same thing three times.
#[tokio::test]
async fn missing_null_and_empty_arguments_are_the_same() {
    let mut connected = Connected::start().await;
    let session = &mut connected.session;
    let mut answers = Vec::new();
    for params in [
        json!({"name": "search"}),
        json!({"name": "search", "arguments": null}),
        json!({"name": "search", "arguments": {}}),
    ] {
        let id = session.request("tools/call", params).await.unwrap();
        let answer = session.response(id, PATIENCE).await.unwrap();
        answers.push(answer["result"].clone());
    }
    assert_eq!(answers[0]["isError"], json!(true));
    assert!(
        answers[0]["content"][0]["text"].as_str().unwrap().contains("needs the argument `query`")
    );
    assert!(answers.iter().all(|it| *it == answers[0]));
}

/// P7.
#[tokio::test]
async fn arguments_are_coerced_to_their_declared_types() {
    let mut connected = Connected::start().await;
    let found = connected.ok("search", json!({"query": "user", "limit": "5"})).await;
    assert_eq!(found["operations"].as_array().unwrap().len(), 5, "{found}");
    assert!(found.get("more").is_none());
    let failed = connected.fails("search", json!({"query": "user", "limit": "five"})).await;
    assert_eq!(
        failed["error"]["message"],
        json!("argument `limit` of `search` must be a whole number from 1 to 50")
    );
    assert_eq!(connected.ok("execute", json!({"code": 1})).await["result"], json!(1));
}

/// P67: the writing tool is neither listed nor callable.
#[tokio::test]
async fn a_read_only_server_has_no_writing_tool() {
    let mut connected = Connected::with(|command| {
        command.arg("--read-only");
    })
    .await;
    let names: Vec<_> =
        tools(&mut connected.session).await.iter().map(|it| it["name"].clone()).collect();
    assert_eq!(names, [json!("search"), json!("execute")]);
    let failed = connected.fails("execute", json!({"code": "return await ak.request('POST', '/core/users/', {body: {username: 'a', name: 'b'}})"})).await;
    assert!(
        failed["error"]["message"].as_str().unwrap().contains("this server is read-only"),
        "{failed}"
    );
    let found = connected.ok("search", json!({"query": "create user", "limit": 50})).await;
    assert!(!found.to_string().contains("core_users_create"), "writes are not offered: {found}");
}

/// The list is fixed when the server is built, so nobody is promised news of it.
#[tokio::test]
async fn a_subscription_is_acknowledged_without_tools_list_changed() {
    let mock = mocks::Mock::start(mocks::World::authentik()).unwrap();
    let mut session = test_client::raw::Session::spawn(support::against(&mock)).unwrap();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "0" },
    });
    let params = json!({ "_meta": meta, "notifications": { "toolsListChanged": true } });
    session.request("subscriptions/listen", params).await.unwrap();
    let acknowledged =
        session.notification("notifications/subscriptions/acknowledged", PATIENCE).await.unwrap();
    assert!(
        acknowledged["params"]["notifications"].get("toolsListChanged").is_none(),
        "{acknowledged}"
    );
}
