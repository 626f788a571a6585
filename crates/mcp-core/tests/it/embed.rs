//! The example that embeds the server works as its documentation says.

use std::{path::PathBuf, process::Command, time::Duration};

use serde_json::json;
use test_client::raw;

const PATIENCE: Duration = Duration::from_secs(30);

#[tokio::test]
async fn an_embedder_serves_its_own_api_over_its_own_transport() {
    // Examples are built beside the crate's binaries whenever its tests are.
    let worker = PathBuf::from(env!("CARGO_BIN_EXE_sandbox-worker"));
    let example = worker.with_file_name("examples").join("embed");
    let mut session = raw::Session::spawn(Command::new(example)).unwrap();
    let hello = session.initialize("2025-11-25").await.unwrap();
    assert_eq!(hello["serverInfo"]["name"], json!("notes"));
    let found = session.call("search", json!({ "query": "write a note" }), PATIENCE).await.unwrap();
    let text = found["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("createNote POST /notes"), "{text}");
    let ran = session.call("execute", json!({ "code": "return 6 * 7" }), PATIENCE).await.unwrap();
    let text = ran["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("\"result\":42"), "{text}");
}
