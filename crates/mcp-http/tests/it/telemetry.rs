//! What leaves the process for its operators: traces and reports of errors, and nothing of what was said.

#[cfg(not(all(feature = "otel", feature = "sentry")))]
use crate::support::{against, authentik, refused};

#[cfg(not(all(feature = "otel", feature = "sentry")))]
#[test]
fn what_is_not_built_in_cannot_be_asked_for() {
    let mock = authentik();
    let cases = [
        (cfg!(feature = "otel"), "--otlp-endpoint", "http://127.0.0.1:9"),
        (cfg!(feature = "sentry"), "--sentry-dsn", "http://abc@127.0.0.1:9/1"),
    ];
    for (is_built, option, value) in cases {
        if is_built {
            continue;
        }
        let mut command = against(&mock);
        command.args([option, value]);
        let (code, said) = refused(command);
        assert!(code == 2 && said.contains("is not built into this program"), "{said}");
        assert!(said.contains("--features"), "{said}");
    }
}

#[cfg(any(feature = "otel", feature = "sentry"))]
mod sink {
    use std::{
        sync::{Arc, Mutex},
        time::{Duration, Instant},
    };

    use axum::{
        Router,
        body::Bytes,
        extract::State,
        http::{HeaderMap, StatusCode, Uri},
    };

    use crate::support::PATIENCE;

    /// Somebody who takes what is posted.
    pub(super) struct Sink {
        pub(super) base: String,
        posted: Arc<Mutex<Vec<Posted>>>,
    }

    #[derive(Debug, Clone)]
    pub(super) struct Posted {
        pub(super) path: String,
        pub(super) headers: HeaderMap,
        pub(super) body: String,
    }

    impl Sink {
        pub(super) async fn start() -> Self {
            let posted: Arc<Mutex<Vec<Posted>>> = Arc::default();
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let base = format!("http://{}", listener.local_addr().unwrap());
            let router = Router::new().fallback(take).with_state(Arc::clone(&posted));
            tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
            Self { base, posted }
        }

        /// Waits until what came, taken together, fits.
        pub(super) async fn until(&self, fits: impl Fn(&[Posted]) -> bool) -> Vec<Posted> {
            let deadline = Instant::now() + PATIENCE;
            loop {
                let posted = self.posted.lock().unwrap().clone();
                if fits(&posted) {
                    return posted;
                }
                assert!(Instant::now() < deadline, "{posted:?}");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }

    async fn take(
        State(posted): State<Arc<Mutex<Vec<Posted>>>>,
        uri: Uri,
        headers: HeaderMap,
        body: Bytes,
    ) -> StatusCode {
        let body = String::from_utf8(body.to_vec()).unwrap();
        posted.lock().unwrap().push(Posted { path: uri.path().to_owned(), headers, body });
        StatusCode::OK
    }
}

#[cfg(feature = "otel")]
#[tokio::test]
async fn a_collector_gets_a_span_for_request_call_and_upstream_in_the_clients_trace() {
    use std::collections::BTreeMap;

    use serde_json::{Value, json};

    use crate::support::{Server, against, authentik, call, result};

    let (mock, collector) = (authentik(), sink::Sink::start().await);
    let mut command = against(&mock);
    command.args(["--otlp-endpoint", &collector.base]);
    command.env("OTEL_EXPORTER_OTLP_HEADERS", "x-team=SECRET-team");
    let server = Server::start(command);
    let code = "return (await ak.request('GET', '/core/groups/', { query: { name: 'SECRET-crew' } })).status";
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let request = server.post(&call("execute", json!({ "code": code })));
    let request = request.header("traceparent", format!("00-{trace}-00f067aa0ba902b7-01"));
    result(request.send().await.unwrap()).await;
    let quiet = server.post(&call("search", json!({ "query": "users" })));
    let quiet = quiet.header("traceparent", format!("00-{trace}-00f067aa0ba902b7-00"));
    result(quiet.send().await.unwrap()).await;

    let posted = collector.until(|all| all.iter().any(|it| it.body.contains("\"kind\":2"))).await;
    assert!(posted.iter().all(|it| it.path == "/v1/traces" && !it.body.contains("SECRET")));
    assert_eq!(posted[0].headers["x-team"], "SECRET-team");
    let mut spans = BTreeMap::new();
    for one in &posted {
        let body: Value = serde_json::from_str(&one.body).unwrap();
        for span in body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap() {
            assert_eq!(span["traceId"], trace);
            spans.insert(span["name"].as_str().unwrap().to_owned(), span.clone());
        }
    }
    let root = &spans["tools/call"];
    assert_eq!(root["parentSpanId"], "00f067aa0ba902b7");
    for child in ["tools/call execute", "GET /core/groups/"] {
        assert_eq!(spans[child]["parentSpanId"], root["spanId"], "{child}");
    }
    assert!(!spans.contains_key("tools/call search"), "the client does not record that one");
    assert!(!server.written().contains("SECRET"));
}

#[cfg(all(feature = "sentry", target_os = "linux"))]
#[tokio::test]
async fn sentry_gets_a_report_of_a_write_that_could_not_be_recorded_and_was_not_sent() {
    use serde_json::{Value, json};

    use crate::support::{Server, against, authentik, text};

    let (mock, sentry) = (authentik(), sink::Sink::start().await);
    let mut command = against(&mock);
    command.args(["--audit-log", "/dev/full"]);
    command.arg("--sentry-dsn").arg(sentry.base.replace("http://", "http://abc@") + "/42");
    let server = Server::start(command);
    let code = "return (await ak.request('POST', '/core/groups/', { body: { name: 'SECRET-crew' } })).status";
    let planned = text(&server.call("execute_write", json!({ "code": code })).await);
    let arguments = json!({ "code": code, "confirm": planned["confirm"] });
    let refused = server.call("execute_write", arguments).await;
    assert_eq!(refused["isError"], true, "{refused}");
    assert!(mock.writes().is_empty());

    let posted = sentry.until(|all| !all.is_empty()).await;
    assert_eq!(posted[0].path, "/api/42/envelope/");
    let auth = posted[0].headers["x-sentry-auth"].to_str().unwrap();
    assert!(auth.contains("sentry_key=abc"), "{auth}");
    let lines: Vec<Value> =
        posted[0].body.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert_eq!(lines[1]["type"], "event");
    assert_eq!(lines[2]["message"]["formatted"], "the audit log cannot be written");
    assert!(!posted[0].body.contains("SECRET"), "{}", posted[0].body);
}
