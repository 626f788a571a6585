//! Several instances behind one store: a plan of one is confirmed at another, once.

use std::{
    net::TcpListener,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::{
    support::{PATIENCE, Server, call, list, message, report_skip, result, text},
    upstream::Upstream,
};

const WRITE: &str = "return (await api.call('createThing', { body: { name: 'x' } })).status";

/// A store of our own; ended when dropped.
struct Store {
    child: Child,
    address: String,
}

impl Store {
    fn start() -> Option<Self> {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new("redis-server");
        command.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""]);
        command.args(["--appendonly", "no", "--requirepass", "SECRET-redis"]);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let Ok(child) = child else {
            report_skip("redis-server is not installed");
            return None;
        };
        let deadline = Instant::now() + PATIENCE;
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < deadline, "redis-server did not start");
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(Self { child, address: format!("redis://:SECRET-redis@127.0.0.1:{port}") })
    }

    fn stop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.stop();
    }
}

fn instance(upstream: &Upstream, store: &Store, key: &std::path::Path, more: &[&str]) -> Server {
    let mut command = upstream.binary();
    command.args(["--forward-header", "X-Api-Key", "--redis", &store.address]).args(more);
    command.arg("--state-key").arg(key);
    Server::start(command)
}

async fn write(server: &Server, arguments: Value) -> Value {
    let request = server.post(&call("execute_write", arguments)).header("x-api-key", "SECRET-ann");
    text(&result(request.send().await.unwrap()).await)
}

#[tokio::test]
async fn a_plan_of_one_instance_is_confirmed_at_another_and_only_once() {
    let Some(mut store) = Store::start() else { return };
    let upstream = Upstream::start().await;
    let directory = tempfile::tempdir().unwrap();
    let key = directory.path().join("key");
    std::fs::write(&key, "a key of at least thirty-two bytes, shared").unwrap();
    let unlimited = ["--rate", "0", "--address-rate", "0"];
    let first = instance(&upstream, &store, &key, &unlimited);
    let second = instance(&upstream, &store, &key, &unlimited);
    let planned = write(&first, json!({ "code": WRITE })).await;
    let arguments = json!({ "code": WRITE, "confirm": planned["confirm"] });
    let both = tokio::join!(write(&first, arguments.clone()), write(&second, arguments));
    let done = [both.0, both.1].into_iter().filter(|it| it["result"] == 201).count();
    assert_eq!((done, upstream.writes()), (1, 1));

    let planned = write(&second, json!({ "code": WRITE })).await;
    store.stop();
    let arguments = json!({ "code": WRITE, "confirm": planned["confirm"] });
    let refused = write(&first, arguments).await;
    assert_ne!(refused["result"], 201, "{refused}");
    assert_eq!(upstream.writes(), 1, "an outage refuses");
    assert!(!first.written().contains("SECRET") && !second.written().contains("SECRET"));
}

#[tokio::test]
async fn rates_are_counted_over_all_instances() {
    let Some(mut store) = Store::start() else { return };
    let upstream = Upstream::start().await;
    let directory = tempfile::tempdir().unwrap();
    let key = directory.path().join("key");
    std::fs::write(&key, "a key of at least thirty-two bytes, shared").unwrap();
    let first = instance(&upstream, &store, &key, &["--rate", "4"]);
    let second = instance(&upstream, &store, &key, &["--rate", "4"]);
    let mut refused = 0;
    for number in 0..12 {
        let server = if number % 2 == 0 { &first } else { &second };
        let request = server.post(&list()).header("x-api-key", "SECRET-ann");
        let status = request.send().await.unwrap().status();
        refused += usize::from(status == StatusCode::TOO_MANY_REQUESTS);
    }
    // A new minute may have begun in between.
    assert!((4..=8).contains(&refused), "{refused}");
    store.stop();
    let answer = first.post(&list()).header("x-api-key", "SECRET-bob").send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(answer.headers().contains_key("retry-after"));
    assert!(message(answer).await.to_string().contains("the store"));
}
