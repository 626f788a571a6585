//! Addresses as people write them, and answers as APIs give them.

use std::process::{Command, Stdio};

use serde_json::json;

use crate::{support, upstream::Upstream};

const DOCUMENT: &str = r#"{"openapi":"3.0.0","info":{"title":"T","version":"1"},"paths":{"/a":{"get":{"operationId":"getA","responses":{}}}}}"#;
const READ: &str = "return (await api.request('GET', '/a')).data";

/// A server whose document is a file, so that only calls use the network.
fn command(base: &str) -> (tempfile::TempDir, Command) {
    let directory = tempfile::tempdir().unwrap();
    let document = directory.path().join("spec.json");
    std::fs::write(&document, DOCUMENT).unwrap();
    let mut command = support::binary();
    command.arg("--openapi").arg(document).args(["--base-url", base, "--trusted"]);
    (directory, command)
}

/// P40: each spelling is one base, and the start says where it came from.
#[test]
fn each_spelling_of_an_address_is_one_base_and_its_source_is_named() {
    let token = ("SENTRY_AUTH_TOKEN", "t-1");
    for (name, text) in [
        ("SENTRY_HOST", "sentry.test:9443"),
        ("SENTRY_URL", "https://sentry.test:9443/"),
        ("SENTRY_URL", "https://sentry.test:9443/api/0/"),
    ] {
        let output = support::binary().env(name, text).env(token.0, token.1).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        let expected = format!("ready: https://sentry.test:9443/ (from {name})");
        assert!(stderr.lines().next().unwrap().ends_with(&expected), "{stderr}");
    }
    let both = [("SENTRY_HOST", "a.test"), ("SENTRY_URL", "https://b.test"), token];
    let output = support::binary().envs(both).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("name different addresses"));
}

/// P41: plain http works where it is asked for, with a word about it, and never to the public service.
#[tokio::test]
async fn plain_http_is_honoured_and_refused_for_the_public_service() {
    let upstream = Upstream::start(DOCUMENT);
    let (_directory, command) = command(&upstream.base);
    let mut session = support::connect(command).await;
    support::ok(&mut session, "execute", json!({ "code": READ })).await;
    assert_eq!(upstream.received().len(), 1);
    let lan = [("SENTRY_URL", "http://sentry.lan"), ("SENTRY_AUTH_TOKEN", "t-1")];
    let output = support::binary().envs(lan).stdin(Stdio::null()).output().unwrap();
    assert!(String::from_utf8(output.stderr).unwrap().contains("is plain http"));
    let public = [("SENTRY_URL", "http://sentry.io"), ("SENTRY_AUTH_TOKEN", "t-1")];
    assert_eq!(support::binary().envs(public).output().unwrap().status.code(), Some(2));
}

/// P39: answers with fields missing, null or odd come through as they are.
#[tokio::test]
async fn answers_that_do_not_fit_the_document_are_not_held_back() {
    for body in [r#"[{"slug":"a"}]"#, r#"[{"slug":"a","links":null,"tags":[{"key":null}]}]"#, "{}"]
    {
        let upstream =
            Upstream::answering(DOCUMENT, move |_| (200, String::new(), body.to_owned()));
        let (_directory, command) = command(&upstream.base);
        let mut session = support::connect(command).await;
        let answer = support::ok(&mut session, "execute", json!({ "code": READ })).await;
        assert_eq!(answer["result"].to_string(), body);
    }
}
