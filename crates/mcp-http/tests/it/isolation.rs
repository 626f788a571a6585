//! Many callers at once: each request of the API carries the credential of whoever asked.

use std::collections::BTreeMap;

use futures::future::join_all;
use serde_json::json;

use crate::{
    support::{Server, call, result, text},
    upstream::Upstream,
};

const CALLERS: usize = 200;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_callers_never_meet() {
    let upstream = Upstream::start().await;
    let mut command = upstream.binary();
    command.args(["--forward-header", "X-Api-Key", "--address-rate", "0"]);
    // All of them wait for few workers.
    command.args(["--max-in-progress", "400", "--scripts", "4"]);
    let server = Server::start(command);
    let server = &server;
    let ask = |number: usize| async move {
        let code = format!(
            "const r = await api.call('getThing', {{ id: 'of-{number}' }}); return r.data.name"
        );
        let request = server.post(&call("execute", json!({ "code": code })));
        let request = request.header("x-api-key", format!("SECRET-{number}-x"));
        let answer = text(&result(request.send().await.unwrap()).await);
        assert_eq!(answer["result"], "thing", "{answer}");
    };
    join_all((0..CALLERS).map(ask)).await;
    let mut seen = BTreeMap::new();
    for one in upstream.seen() {
        let number = one.path.trim_start_matches("/things/of-").to_owned();
        assert_eq!(one.key, Some(format!("SECRET-{number}-x")), "{one:?}");
        *seen.entry(number).or_insert(0) += 1;
    }
    assert_eq!(seen.len(), CALLERS);
    assert!(seen.values().all(|it| *it == 1));
    let callers: std::collections::BTreeSet<_> = server
        .log()
        .into_iter()
        .filter(|it| it["message"] == "call")
        .map(|it| it["caller"].to_string())
        .collect();
    assert_eq!(callers.len(), CALLERS);
    assert!(!server.written().contains("SECRET"));
}
