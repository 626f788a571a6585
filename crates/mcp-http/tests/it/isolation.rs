//! Many callers at once: each request of the API carries the credential of whoever asked.

use std::collections::{BTreeMap, BTreeSet};

use futures::future::join_all;
use serde_json::{Value, json};

use crate::{
    support::{Server, call, result, text},
    upstream::Upstream,
};

const CALLERS: usize = 200;
/// Of each caller: one script, the rest without one.
const CALLS: usize = 50;

fn key(caller: usize) -> String {
    format!("SECRET-{caller}-x")
}

/// One caller after another call; each asks for things of its own alone.
async fn calls(server: &Server, caller: usize) {
    for number in 0..CALLS {
        let thing = format!("of-{caller}-{number}");
        // Scripts wait for few workers: not all callers run theirs at once.
        let is_script = number == caller % CALLS;
        let (path, message) = match is_script {
            true => {
                let code = format!(
                    "const r = await api.call('getThing', {{ id: '{thing}' }}); return r.data.name"
                );
                ("/mcp", call("execute", json!({ "code": code })))
            }
            false => {
                let arguments = json!({ "operationId": "getThing", "arguments": { "id": thing } });
                ("/mcp?surface=plain", call("call_operation", arguments))
            }
        };
        let answer = loop {
            let request = server.post_to(path, &message).header("x-api-key", key(caller));
            let answer = text(&result(request.send().await.unwrap()).await);
            // On a busy machine no worker may become free in time; then nothing was run.
            if answer["error"]["name"] != "LimitError" {
                break answer;
            }
        };
        let name: &Value = match is_script {
            true => &answer["result"],
            false => &answer["result"]["data"]["name"],
        };
        assert_eq!(name, "thing", "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_callers_never_meet() {
    let upstream = Upstream::start().await;
    let mut command = upstream.binary();
    command.args(["--forward-header", "X-Api-Key", "--address-rate", "0", "--rate", "0"]);
    command.args(["--max-in-progress", "400", "--scripts", "4"]);
    let server = Server::start(command);
    join_all((0..CALLERS).map(|caller| calls(&server, caller))).await;

    let mut seen = BTreeMap::new();
    for one in upstream.seen() {
        let thing = one.path.trim_start_matches("/things/of-").to_owned();
        let caller = thing.split('-').next().unwrap().parse().unwrap();
        assert_eq!(one.key, Some(key(caller)), "{one:?}");
        *seen.entry(thing).or_insert(0) += 1;
    }
    assert_eq!(seen.len(), CALLERS * CALLS);
    assert!(seen.values().all(|it| *it == 1));
    let lines = server.log().into_iter().filter(|it| it["message"] == "call");
    let callers: BTreeSet<_> = lines.map(|it| it["caller"].to_string()).collect();
    assert_eq!(callers.len(), CALLERS);
    assert!(!server.written().contains("SECRET"));
}
