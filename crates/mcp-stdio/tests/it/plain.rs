//! Plain mode: single operations for clients that cannot write code.

use serde_json::json;

use crate::support::Connected;

async fn start() -> Connected {
    Connected::with(|command| {
        command.args(["--surface", "plain"]);
    })
    .await
}

#[tokio::test]
async fn the_tools_are_search_and_two_ways_to_call() {
    let mut connected = start().await;
    let id = connected.session.request("tools/list", json!({})).await.unwrap();
    let answer = connected.session.response(id, crate::support::PATIENCE).await.unwrap();
    let tools = answer["result"]["tools"].as_array().unwrap().clone();
    let hints: Vec<_> = tools
        .iter()
        .map(|it| (it["name"].clone(), it["annotations"]["readOnlyHint"].clone()))
        .collect();
    assert_eq!(
        hints,
        [
            (json!("search"), json!(true)),
            (json!("call_operation"), json!(true)),
            (json!("call_operation_write"), json!(false)),
        ]
    );
}

#[tokio::test]
async fn an_operation_is_called_by_its_id_or_its_route() {
    let mut connected = start().await;
    for operation in ["core_users_list", "GET /core/users/"] {
        let call = json!({ "operationId": operation, "arguments": { "username": "ada.wren" } });
        let answer = connected.ok("call_operation", call).await;
        assert_eq!(answer["result"]["status"], json!(200));
        assert_eq!(answer["result"]["data"]["results"][0]["name"], json!("Ada Wren"));
        assert!(answer["result"].get("next").is_none(), "{answer}");
    }
    let text = json!({ "operationId": "core_users_list", "arguments": "{\"page_size\": \"2\"}" });
    let answer = connected.ok("call_operation", text).await;
    assert_eq!(answer["result"]["data"]["results"].as_array().unwrap().len(), 2);
    assert_eq!(answer["result"]["next"]["page"], json!("2"), "{answer}");
}

#[tokio::test]
async fn a_reading_call_cannot_write() {
    let mut connected = start().await;
    let call = json!({ "operationId": "core_users_destroy", "arguments": { "id": 1 } });
    let failed = connected.fails("call_operation", call).await;
    assert_eq!(failed["error"]["rule"], json!("read-only"), "{failed}");
    assert!(
        failed["error"]["message"].as_str().unwrap().contains("`call_operation_write`"),
        "{failed}"
    );
    assert_eq!(connected.writes(), 0);
}

#[tokio::test]
async fn failures_name_what_is_wrong() {
    let mut connected = start().await;
    let unknown =
        connected.fails("call_operation", json!({ "operationId": "core_user_list" })).await;
    assert!(unknown["error"]["message"].as_str().unwrap().contains("core_users_list"), "{unknown}");
    let missing = json!({ "operationId": "core_users_retrieve" });
    let missing = connected.fails("call_operation", missing).await;
    assert!(missing["error"]["message"].as_str().unwrap().contains("`id`"), "{missing}");
    let absent = json!({ "operationId": "core_users_retrieve", "arguments": { "id": 999_999 } });
    let absent = connected.fails("call_operation", absent).await;
    assert_eq!(absent["error"]["status"], json!(404), "{absent}");
}

#[tokio::test]
async fn a_write_is_shown_confirmed_and_sent_once() {
    let mut connected = start().await;
    let call = json!({ "operationId": "core_groups_create", "arguments": { "body": { "name": "plain" } } });
    let planned = connected.ok("call_operation_write", call.clone()).await;
    assert_eq!(planned["status"], json!("needs_confirmation"), "{planned}");
    assert_eq!(planned["plan"][0]["body"], json!({ "name": "plain" }));
    assert_eq!(planned["complete"], json!(true));
    assert_eq!(connected.writes(), 0);
    let mut other = call.clone();
    other["arguments"]["body"]["name"] = json!("other");
    other["confirm"] = planned["confirm"].clone();
    let refused = connected.ok("call_operation_write", other).await;
    assert_eq!(refused["status"], json!("needs_confirmation"), "{refused}");
    assert_eq!(connected.writes(), 0);
    let mut confirmed = call;
    confirmed["confirm"] = planned["confirm"].clone();
    let done = connected.ok("call_operation_write", confirmed.clone()).await;
    assert_eq!(done["result"]["data"]["name"], json!("plain"), "{done}");
    assert_eq!(connected.writes(), 1);
    let again = connected.ok("call_operation_write", confirmed).await;
    assert_eq!(again["status"], json!("needs_confirmation"), "{again}");
    assert_eq!(connected.writes(), 1);
}
