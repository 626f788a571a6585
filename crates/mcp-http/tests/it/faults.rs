//! What breaks around the server: workers that die, an API that is not there, a client that leaves.

use std::{process::Command, time::Duration};

use serde_json::json;

use crate::support::{
    Server, against, authentik, binary, call, list, names, request, result, text,
};

/// The workers of a server: its child processes.
fn workers(server: &Server) -> Vec<String> {
    let output = Command::new("pgrep").args(["-P", &server.id().to_string()]).output();
    let text = output.map(|it| String::from_utf8_lossy(&it.stdout).into_owned());
    text.unwrap_or_default().split_whitespace().map(str::to_owned).collect()
}

#[tokio::test]
async fn a_killed_worker_costs_only_its_script() {
    let mock = authentik();
    let server = Server::start(against(&mock));
    let slow = call("execute", json!({ "code": "await sleep(20000); return 1" }));
    let running = server.post(&slow).send();
    let killed = async {
        tokio::time::sleep(Duration::from_millis(1500)).await;
        for worker in workers(&server) {
            Command::new("kill").args(["-9", &worker]).status().unwrap();
        }
    };
    let (answer, ()) = tokio::join!(running, killed);
    let answer = result(answer.unwrap()).await;
    assert_eq!(answer["isError"], true, "{answer}");
    let next = text(&server.call("execute", json!({ "code": "return 2" })).await);
    assert_eq!(next["result"], 2, "{next}");
}

#[tokio::test]
async fn without_its_api_the_server_still_answers_and_says_what_is_wrong() {
    let mut command = binary();
    command.env("AUTHENTIK_URL", "http://127.0.0.1:9").env("AUTHENTIK_TOKEN", "SECRET-1");
    command.arg("--no-retries");
    let server = Server::start(command);
    let listed = result(server.post(&list()).send().await.unwrap()).await;
    assert_eq!(names(&listed).len(), 3);
    let answer = server.call("search", json!({ "query": "users" })).await;
    assert_eq!(answer["isError"], true);
    let said = answer["content"][0]["text"].as_str().unwrap();
    assert!(said.contains("127.0.0.1:9") && !said.contains("SECRET"), "{said}");
    let ping = result(server.post(&request("ping", json!({}))).send().await.unwrap()).await;
    assert_eq!(ping, json!({}));
}

#[tokio::test]
async fn a_client_that_leaves_ends_its_script() {
    let mock = authentik();
    let server = Server::start(against(&mock));
    let slow = call("execute", json!({ "code": "await sleep(40000); return 1" }));
    let left = server.post(&slow).timeout(Duration::from_millis(800)).send().await;
    assert!(left.unwrap_err().is_timeout());
    let line = server.logged(|it| it["message"] == "call" && it["tool"] == "execute").await;
    assert_eq!(line["outcome"], "cancelled", "{line}");
    assert!(line["ms"].as_u64().unwrap() < 15_000, "{line}");
}
