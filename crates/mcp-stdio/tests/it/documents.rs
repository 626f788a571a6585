//! Real documents: the server is there before the document, and a plain question finds a sensible
//! operation.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::{self, PATIENCE};

/// Document, operations in it, a question, and what must be among the five best.
const DOCUMENTS: &[(&str, u64, &str, &str)] = &[
    ("authentik.yaml", 1193, "list all users", "core_users_list"),
    ("sentry.json", 223, "list the projects of an organization", "/projects/"),
    ("github.json", 1223, "create an issue", "issues/create"),
    ("stripe.json", 452, "refund a charge", "PostChargesChargeRefund"),
    ("openai.yaml", 288, "create a chat completion", "createChatCompletion"),
    ("slack-v2.json", 174, "post a message to a channel", "chat_postMessage"),
    ("kubernetes.json", 845, "list pods in a namespace", "listCoreV1NamespacedPod"),
    ("msgraph.json", 11_422, "send a mail", "sendMail"),
];

#[tokio::test]
async fn real_documents_are_searched_and_never_waited_for() {
    for (name, operations, question, expected) in DOCUMENTS {
        let Some(path) = support::shared(&format!("specs/{name}")) else { return };
        let mut command = support::binary();
        command.arg("--openapi").arg(path).args(["--base-url", "http://127.0.0.1:9"]);
        let started = Instant::now();
        let mut session = support::connect(command).await;
        let id = session.request("tools/list", json!({})).await.unwrap();
        session.response(id, PATIENCE).await.unwrap();
        assert!(started.elapsed() < Duration::from_secs(1), "{name}: {:?}", started.elapsed());

        let overview = support::ok(&mut session, "search", json!({ "query": "" })).await;
        assert_eq!(overview["operations"], json!(operations), "{name}");
        let found = support::ok(&mut session, "search", json!({ "query": question })).await;
        let best = found["operations"].to_string();
        assert!(best.contains(expected), "{name}: {question}: {best}");
        session.close_stdin();
    }
}

/// P22: a hit alone is enough to write the call.
#[tokio::test]
async fn a_signature_is_enough_to_write_the_call() {
    let mut connected = support::Connected::start().await;
    let found = connected.ok("search", json!({ "query": "update a user" })).await;
    let signature = found["operations"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|it| it.as_str())
        .find(|it| it.contains("core_users_partial_update"))
        .expect("the operation is among the best")
        .to_owned();
    for part in ["PATCH /core/users/{id}/", "id", "username", "is_active", "body"] {
        assert!(signature.contains(part), "{part} in {signature}");
    }
}
