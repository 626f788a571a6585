//! A model at work with a server's tools: what is shown, what is asked, how it ends.

use std::io::Write as _;
use std::process::{Command, Stdio};

use mocks::{ModelAnswer, ModelServer};
use serde_json::{Value, json};

/// Runs `test-client` with a model that answers by a script: exit status, stdout, stderr.
fn run(server: &ModelServer, words: &[&str], input: &str) -> (Option<i32>, String, String) {
    let url = format!("{}/v1", server.base_url);
    let mut child = Command::new(env!("CARGO_BIN_EXE_test-client"))
        .args(words)
        .args(["--model-url", &url, "--stdio", env!("CARGO_BIN_EXE_fake-server")])
        .env_clear()
        .env("OPENAI_API_KEY", "sk-test-0123456789")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A client that does not read has closed the pipe.
    child.stdin.take().unwrap().write_all(input.as_bytes()).ok();
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn script(answers: impl IntoIterator<Item = ModelAnswer>) -> ModelServer {
    ModelServer::script(answers).unwrap()
}

#[test]
fn words_go_to_stdout_and_calls_are_told_beside_them() {
    let server =
        script([ModelAnswer::call("search", json!({ "query": "x" })), ModelAnswer::say("Found.")]);
    let (status, shown, said) = run(&server, &["Look for x"], "");
    assert_eq!((status, shown.as_str()), (Some(0), "Found.\n"), "{said}");
    assert!(said.contains("→ search {\"query\":\"x\"}\n← "), "{said}");
    assert!(
        said.ends_with(
            "gpt-5-2026-11-30: 2 requests, tokens: input 22, from the cache 0, output 14\n"
        ),
        "{said}"
    );
    let requests = server.requests();
    assert_eq!(requests[0].body["stream"], true);
    assert!(requests[0].tools().contains(&"execute_write".to_owned()));
    assert!(requests[1].results()[0].contains("found"));
}

#[test]
fn a_tool_that_is_not_read_only_is_called_after_a_question() {
    let answers = || [ModelAnswer::call("add", json!({ "a": 1 })), ModelAnswer::say("So be it.")];
    for (words, input, is_allowed) in [
        (&["Add it"][..], "y\n", true),
        (&["Add it"], "n\n", false),
        (&["Add it"], "", false),
        (&["Add it", "--yes"], "", true),
    ] {
        let server = script(answers());
        let (status, shown, said) = run(&server, words, input);
        assert_eq!((status, shown.as_str()), (Some(0), "So be it.\n"), "{said}");
        assert_eq!(said.contains("Call this? [y/N]"), words.len() == 1, "{said}");
        let result = server.requests()[1].results().remove(0);
        assert_eq!(result == "the user did not allow this call", !is_allowed, "{result}");
    }
}

#[test]
fn a_chat_knows_what_was_said_before() {
    let server = script([ModelAnswer::say("One."), ModelAnswer::say("Two.")]);
    let (status, shown, said) = run(&server, &["the first", "--chat"], "second\nexit\nnever\n");
    assert_eq!((status, shown.as_str()), (Some(0), "One.\nTwo.\n"), "{said}");
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    let turns = requests[1].body["input"].as_array().map(Vec::len);
    // The endpoint is not OpenAI's own, so that it is spoken to in the form all of them know.
    let messages = requests[1].body["messages"].as_array().map(Vec::len);
    assert_eq!((turns, messages), (None, Some(4)), "{}", requests[1].body);
}

#[test]
fn a_failure_of_the_provider_is_a_plain_sentence() {
    let server = script([ModelAnswer::status(401, "Incorrect key sk-test-0123456789")]);
    let (status, _, said) = run(&server, &["Say hello"], "");
    assert_eq!(status, Some(1));
    assert!(said.contains("refuses the key (401); check the key"), "{said}");
    assert!(said.contains("Incorrect key [secret]") && !said.contains("0123456789"), "{said}");

    let server = script((0..3).map(|_| ModelAnswer::call("search", json!({ "query": "x" }))));
    let (status, _, said) = run(&server, &["Say hello", "--steps", "2"], "");
    assert_eq!(status, Some(1));
    assert!(said.ends_with("stopped after 2 requests; `--steps` allows more\n"), "{said}");
}

#[test]
fn json_is_one_document_with_the_cost_in_its_parts() {
    let server = script([ModelAnswer::say("Done.")]);
    let (status, shown, said) = run(&server, &["Go on", "--json"], "");
    assert_eq!((status, said.as_str()), (Some(0), ""));
    let document: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!((&document["text"], &document["end"]), (&json!("Done."), &json!("done")));
    assert_eq!(document["usage"]["uncached_input"], 11);
    assert_eq!(document["usage"]["cache_creation"], Value::Null);
}

#[test]
fn without_a_key_the_variables_are_named() {
    let output = Command::new(env!("CARGO_BIN_EXE_test-client"))
        .args(["Say hello", "--stdio", env!("CARGO_BIN_EXE_fake-server")])
        .env_clear()
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("a prompt needs a model: no key: set one of `ANTHROPIC_API_KEY`"),
        "{said}"
    );
}
