//! `mcp-stdio check`: what it says, and the exit status that goes with it.

use std::process::{Command, Output, Stdio};

use mocks::{Mock, World};
use serde_json::json;

use crate::{support, upstream::Upstream};

fn check(mut command: Command) -> (Option<i32>, String) {
    let output: Output = command.arg("check").stdin(Stdio::null()).output().unwrap();
    let text =
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    (output.status.code(), text)
}

fn line<'t>(text: &'t str, heading: &str) -> &'t str {
    let found = text.lines().find(|line| line.starts_with(heading));
    found.unwrap_or_else(|| panic!("no {heading}: {text}")).strip_prefix(heading).unwrap().trim()
}

/// P44: what the token can do, before an agent stumbles over it.
#[test]
fn a_working_set_up_is_described_and_is_status_0() {
    let mock = Mock::start(World::authentik()).unwrap();
    let (code, text) = check(support::against(&mock));
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(line(&text, "base URL"), format!("{}/api/v3, from `AUTHENTIK_URL`", mock.base_url));
    assert_eq!(line(&text, "credential"), "from `AUTHENTIK_TOKEN`");
    assert_eq!(line(&text, "document at"), "/schema/ of the instance, from the profile");
    assert!(line(&text, "document  ").contains(" operations, 0 skipped"), "{text}");
    assert_eq!(line(&text, "token"), "accepted, of `akadmin`, a superuser");
    assert_eq!(line(&text, "result"), "it works");
    assert!(line(&text, "sandbox").contains("resource limits"), "{text}");
    assert!(!text.contains(&mock.token), "{text}");
}

#[test]
fn a_refused_token_is_named_by_its_setting_and_is_status_1() {
    let mock = Mock::start(World::authentik()).unwrap();
    let mut command = support::against(&mock);
    command.env("AUTHENTIK_TOKEN", "SECRET-abc123XYZ").args(["--read-only", "--deny", "DELETE /*"]);
    let (code, text) = check(command);
    assert_eq!(code, Some(1), "{text}");
    assert!(line(&text, "result").starts_with("it does not work: "), "{text}");
    assert!(text.contains("`AUTHENTIK_TOKEN`") && !text.contains("abc123XYZ"), "{text}");
    assert_eq!(line(&text, "everywhere"), "read only; deny `DELETE /*`");
}

#[test]
fn a_set_up_that_cannot_be_meant_is_status_2() {
    let (code, text) = check(support::binary());
    assert_eq!(code, Some(2));
    assert!(text.starts_with("error: no API is named"), "{text}");
}

/// Scopes of a token are told in a header there, and of another in the body.
#[test]
fn scopes_are_shown_where_the_api_tells_them() {
    let document = json!({
        "openapi": "3.0.0", "info": { "title": "Hub", "version": "2" },
        "paths": { "/user": { "get": { "operationId": "me", "responses": {} } }, "/bad": 7 },
    });
    let hub = Upstream::answering(&document.to_string(), |_| {
        (200, "x-oauth-scopes: repo, user\r\n".to_owned(), r#"{"login":"ann\u0007"}"#.to_owned())
    });
    let sentry = Upstream::answering("", |it| match it.target.as_str() {
        "/api/0/" => {
            let scopes =
                json!({ "version": "0", "auth": { "scopes": ["org:read"] }, "user": null });
            (200, String::new(), scopes.to_string())
        }
        _ => (404, String::new(), "{}".to_owned()),
    });
    let (_directory, path) = support::configured(&format!(
        "[[api]]\nname = \"hub\"\ndocument = \"{0}/spec.json\"\nbase_url = \"{0}\"\ntoken = \"SECRET-1\"\n\
         [[api]]\nprofile = \"sentry\"\nbase_url = \"{1}\"\ntoken = \"SECRET-2\"\ndocument = \"{0}/spec.json\"\n",
        hub.base, sentry.base
    ));
    let mut command = support::binary();
    command.arg("--config").arg(&path);
    let (code, text) = check(command);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("accepted, of `ann `, scopes: repo, user"), "{text}");
    assert!(text.contains("accepted, scopes: org:read"), "{text}");
    assert!(text.contains("`document` (config.toml:3)"), "{text}");
    assert!(text.contains("from `token` (config.toml:9)"), "{text}");
    assert_eq!(line(&text, "file"), path.display().to_string());
    assert!(!text.contains("SECRET"), "{text}");
}
