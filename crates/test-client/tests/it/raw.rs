//! The raw line client: broken frames, stray output, the end of input.

use std::time::Duration;

use serde_json::json;
use test_client::raw::Session;

use crate::fake;

const SOON: Duration = Duration::from_secs(5);

#[tokio::test]
async fn broken_frames_can_be_sent_and_answers_come_in_any_order() {
    let mut session = Session::spawn(fake(&[])).unwrap();
    let hello = session.initialize("2025-06-18").await.unwrap();
    assert_eq!(hello["protocolVersion"], "2025-06-18");

    session.send_line("garbage").await.unwrap();
    session.send_line(r#"{"jsonrpc":"2.0","id":"x","method":"no/such"}"#).await.unwrap();
    let list = session.request("tools/list", json!({})).await.unwrap();
    let listed = session.response(list, SOON).await.unwrap();
    assert_eq!(listed["result"]["tools"][0]["name"], "search");
    assert_eq!(session.unread().count(), 1);
    let refused = session.response("x", SOON).await.unwrap();
    assert_eq!(refused["error"]["code"], -32601);

    session.close_stdin();
    assert!(session.wait(SOON).await.unwrap().success());
    assert_eq!(session.stderr(), "undecodable line\n");
    assert!(session.send_line("late").await.is_err());
}

#[tokio::test]
async fn notifications_are_read_apart_from_answers() {
    let mut session = Session::spawn(fake(&[])).unwrap();
    let params = json!({ "name": "slow", "arguments": {}, "_meta": { "progressToken": "p" } });
    let id = session.request("tools/call", params).await.unwrap();
    let progress = session.notification("notifications/progress", SOON).await.unwrap();
    assert_eq!(progress["params"]["progressToken"], "p");
    session.notify("notifications/cancelled", json!({ "requestId": id })).await.unwrap();
    let sum = session.call("add", json!({ "a": 1, "b": 1 }), SOON).await.unwrap();
    assert_eq!(sum["result"]["structuredContent"]["sum"], 2);
}

#[tokio::test]
async fn a_stray_line_on_stdout_is_an_error_wherever_it_is_met() {
    let mut session = Session::spawn(fake(&["--noise"])).unwrap();
    let error = session.initialize("2025-11-25").await.unwrap_err();
    assert_eq!(format!("{error}"), "not JSON-RPC on stdout: \"loading …\\n\"");

    let mut session = Session::spawn(fake(&["--noise"])).unwrap();
    session.close_stdin();
    let error = session.wait(SOON).await.unwrap_err();
    assert_eq!(format!("{error}"), "not JSON-RPC on stdout: \"loading …\\n\"");
}

#[tokio::test]
async fn a_wait_ends_with_what_the_child_said() {
    let mut session = Session::spawn(fake(&["--silent"])).unwrap();
    let brief = Duration::from_millis(200);
    let id = session.request("tools/list", json!({})).await.unwrap();
    let error = session.response(id, brief).await.unwrap_err();
    assert_eq!(error.to_string(), "no answer to 1 within 200ms; stderr: ");
    let error = session.wait(brief).await.unwrap_err();
    assert_eq!(error.to_string(), "still running after 200ms; stderr: ");

    let mut session = Session::spawn(fake(&["--die"])).unwrap();
    let error = session.response(1, SOON).await.unwrap_err().to_string();
    assert!(error.contains("no configuration"), "{error}");
    assert_eq!(session.wait(SOON).await.unwrap().code(), Some(1));
}
