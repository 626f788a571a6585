//! The library over stdio: listing, calling, progress, questions, cancellation.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_client::{Answer, Client, Error, Options, Protocol};

use crate::fake;

#[tokio::test]
async fn the_server_says_who_it_is_in_both_eras() {
    for (protocol, flags, version) in [
        (Protocol::Auto, &[][..], "2026-07-28"),
        (Protocol::Modern, &[], "2026-07-28"),
        (Protocol::Auto, &["--legacy"], "2025-11-25"),
        (Protocol::Legacy, &[], "2025-11-25"),
    ] {
        let client = Options::default().protocol(protocol).stdio(fake(flags)).await.unwrap();
        let server = client.server();
        assert_eq!((server.name.as_str(), server.version.as_str()), ("fake", "1.2.3"));
        assert_eq!(server.protocol, version, "{protocol:?} {flags:?}");
        assert_eq!(server.instructions.as_deref(), Some("Only for tests."));
        client.close().await.unwrap();
    }
}

#[tokio::test]
async fn the_list_has_all_pages_and_what_each_tool_says_about_itself() {
    let client = Client::stdio(fake(&[])).await.unwrap();
    let tools = client.list().await.unwrap();
    let marks: Vec<_> =
        tools.iter().map(|it| (it.name.as_str(), it.is_read_only(), it.is_destructive())).collect();
    assert_eq!(
        marks,
        [
            ("search", true, false),
            ("execute", true, false),
            ("execute_write", false, true),
            ("note", false, false),
            ("add", false, true),
            ("fail", false, true),
            ("slow", false, true),
            ("ask", false, true),
        ]
    );
    assert_eq!(tools[0].input_schema["properties"]["limit"]["type"], "integer");
    assert_eq!(tools[0].annotations.open_world, Some(false));
    assert_eq!(tools[2].annotations.title.as_deref(), Some("Write"));
    assert_eq!(tools[4].definition, json!({ "name": "add", "inputSchema": { "type": "object" } }));
}

#[tokio::test]
async fn a_result_carries_text_structure_and_error_mark() {
    let client = Client::stdio(fake(&[])).await.unwrap();
    let sum = client.call("add", json!({ "a": 2, "b": 3 })).await.unwrap();
    assert_eq!(sum.text, "{\"sum\":5}\ndone");
    assert_eq!((sum.structured, sum.is_error), (Some(json!({ "sum": 5 })), false));

    let failed = client.call("fail", Value::Null).await.unwrap();
    assert_eq!((failed.text.as_str(), failed.is_error), ("it did not work", true));
    assert_eq!(failed.json(), None);

    let found = client.call("search", json!({ "query": "x" })).await.unwrap();
    assert_eq!(found.json(), Some(json!({ "found": { "query": "x" } })));
}

#[tokio::test]
async fn a_protocol_error_keeps_its_code() {
    let client = Client::stdio(fake(&[])).await.unwrap();
    let error = client.call("nothing", json!({})).await.unwrap_err();
    let Error::Rpc { code, message, .. } = error else { panic!("{error:?}") };
    assert_eq!((code, message.as_str()), (-32602, "unknown tool `nothing`"));

    let error = client.call("add", json!([1])).await.unwrap_err();
    assert_eq!(error.to_string(), "arguments must be an object, not `[1]`");
}

#[tokio::test]
async fn progress_is_reported_and_a_dropped_call_is_cancelled_on_the_server() {
    let reported = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&reported);
    let options = Options::default().on_progress(move |it| seen.lock().unwrap().push(it));
    let client = options.stdio(fake(&[])).await.unwrap();

    let call = client.call("slow", json!({}));
    assert!(tokio::time::timeout(Duration::from_millis(350), call).await.is_err());
    let deadline = Instant::now() + Duration::from_secs(5);
    while !client.stderr().contains("cancelled at step") && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(client.stderr().starts_with("cancelled at step"), "{}", client.stderr());
    let first = reported.lock().unwrap()[0].clone();
    assert_eq!((first.progress, first.total), (1.0, Some(50.0)));
    assert_eq!(first.message.as_deref(), Some("step 1"));
}

#[tokio::test]
async fn a_question_of_the_server_reaches_the_callback() {
    let options = Options::default().protocol(Protocol::Legacy).on_elicitation(|question| {
        assert_eq!(question.message, "Who is it?");
        assert_eq!(question.schema.unwrap()["properties"]["name"]["type"], "string");
        Answer::Accept(json!({ "name": "Ada" }))
    });
    let client = options.stdio(fake(&[])).await.unwrap();
    let answered = client.call("ask", json!({})).await.unwrap();
    assert_eq!(answered.json(), Some(json!(["accept", { "name": "Ada" }])));
}

#[tokio::test]
async fn without_a_callback_a_question_is_declined() {
    let options = Options::default().protocol(Protocol::Legacy);
    let client = options.stdio(fake(&[])).await.unwrap();
    let answered = client.call("ask", json!({})).await.unwrap();
    assert_eq!(answered.json(), Some(json!(["decline", null])));
}

#[tokio::test]
async fn a_server_that_does_not_start_is_told_from_one_that_dies() {
    let error = Client::stdio(tokio::process::Command::new("no-such-program")).await.unwrap_err();
    assert!(error.to_string().starts_with("cannot start `no-such-program`: "), "{error}");

    let error = Client::stdio(fake(&["--die"])).await.unwrap_err().to_string();
    assert!(error.contains("it wrote: no configuration"), "{error}");
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up() {
    let options = Options::default().connect_timeout(Duration::from_millis(300));
    let error = options.stdio(fake(&["--silent"])).await.unwrap_err();
    assert!(error.to_string().ends_with("nothing came within 300ms"), "{error}");
}
