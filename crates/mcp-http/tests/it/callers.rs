//! Who may call: nobody is asked on loopback, tokens of a file, credentials that are passed on.

use std::{fs, process::Command};

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::{
    support::{
        Server, against, authentik, binary, call, list, message, names, refused, result, text,
    },
    upstream::Upstream,
};

const READ: &str = "return (await api.call('getThing', { id: '7' })).data.echo";
const WRITE: &str = "return (await api.call('createThing', { body: { name: 'x' } })).status";

/// A token of our own making, and the line that lets it in.
fn token(name: &str) -> (String, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_mcp-http")).args(["token", name]).output().unwrap();
    let line = String::from_utf8(output.stdout).unwrap().trim().to_owned();
    let said = String::from_utf8(output.stderr).unwrap();
    (said.trim().rsplit(' ').next().unwrap().to_owned(), line)
}

#[test]
fn what_would_let_in_anybody_does_not_start() {
    let mock = authentik();
    let mut open = against(&mock);
    open.args(["--listen", "0.0.0.0:0"]);
    let (code, said) = refused(open);
    assert_eq!(code, 2);
    assert!(said.contains("nobody is asked who they are"), "{said}");
    let mut shared = against(&mock);
    shared.args(["--callers", "/nowhere"]);
    let (_, said) = refused(shared);
    assert!(said.contains("every caller would act with the credential"), "{said}");
    let mut nowhere = against(&mock);
    nowhere.args(["--callers", "/nowhere", "--shared-credential"]);
    let (_, said) = refused(nowhere);
    assert!(said.contains("the callers' file `/nowhere` cannot be read"), "{said}");
    let (_, said) = refused(binary());
    assert!(said.contains("no API is named"), "{said}");
}

#[tokio::test]
async fn a_token_of_the_file_lets_in_with_what_it_grants_and_nothing_else_does() {
    let mock = authentik();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("callers");
    let ((ann, ann_line), (bob, bob_line)) = (token("ann"), token("bob"));
    fs::write(&file, format!("{ann_line}\n{bob_line} skills=api-read\n")).unwrap();
    let mut command = against(&mock);
    command.arg("--callers").arg(&file).arg("--shared-credential");
    let server = Server::start(command);
    let bearer =
        |token: &str| server.post(&list()).header("authorization", format!("Bearer {token}"));

    let none = server.post(&list()).send().await.unwrap();
    assert_eq!(none.status(), StatusCode::UNAUTHORIZED);
    let challenges: Vec<_> = none.headers().get_all("www-authenticate").iter().collect();
    assert_eq!(challenges, ["Bearer realm=\"mcp\""]);
    let said = message(none).await;
    assert!(said["error"]["message"].as_str().unwrap().contains("Bearer TOKEN"), "{said}");

    let wrong = bearer("mcp_wrong").send().await.unwrap();
    assert_eq!(wrong.status(), StatusCode::UNAUTHORIZED);
    let challenge = wrong.headers()["www-authenticate"].to_str().unwrap().to_owned();
    assert!(challenge.contains("error=\"invalid_token\""), "{challenge}");
    assert!(!challenge.contains("mcp_wrong"));

    let all = result(bearer(&ann).send().await.unwrap()).await;
    assert_eq!(names(&all), ["search", "execute", "execute_write"]);
    let reading = result(bearer(&bob).send().await.unwrap()).await;
    assert_eq!(names(&reading), ["search", "execute"]);
    let line = server.logged(|it| it["message"] == "request" && it["name"] == "ann").await;
    assert_eq!((&line["method"], &line["status"]), (&json!("tools/list"), &json!(200)));
    for secret in [&ann, &bob, &mock.token] {
        assert!(!server.written().contains(secret.as_str()));
    }
}

#[tokio::test]
async fn a_credential_that_is_passed_on_reaches_the_api_and_the_servers_own_does_not() {
    let upstream = Upstream::start().await;
    let mut command = upstream.binary();
    command.env("MCP_ACCESS_TOKEN", "SECRET-of-the-server");
    command.args(["--forward-header", "Authorization"]);
    let server = Server::start(command);
    let none = server.post(&list()).send().await.unwrap();
    assert_eq!(none.status(), StatusCode::UNAUTHORIZED);
    let mut echoes = Vec::new();
    for credential in ["Bearer SECRET-ann-1", "token SECRET-bob-2"] {
        let request = server.post(&call("execute", json!({ "code": READ })));
        let answer = request.header("authorization", credential).send().await.unwrap();
        echoes.push(text(&result(answer).await)["result"].clone());
    }
    let seen: Vec<_> = upstream.seen().into_iter().filter_map(|it| it.authorization).collect();
    assert_eq!(seen, ["Bearer SECRET-ann-1", "token SECRET-bob-2"]);
    // What comes back is masked.
    assert!(echoes.iter().all(|it| !it.to_string().contains("SECRET")), "{echoes:?}");
    assert!(!server.written().contains("SECRET"));
}

#[tokio::test]
async fn a_header_that_nobody_allowed_stays_here() {
    let upstream = Upstream::start().await;
    let server = Server::start(upstream.binary());
    let request = server.post(&call("execute", json!({ "code": READ })));
    let request =
        request.header("x-api-key", "SECRET-1").header("authorization", "Bearer SECRET-2");
    result(request.send().await.unwrap()).await;
    let seen = upstream.seen();
    assert_eq!((seen.len(), &seen[0].key, &seen[0].authorization), (1, &None, &None));
}

#[tokio::test]
async fn sentrys_own_scheme_is_passed_on_as_a_bearer_token() {
    let mock = mocks::Mock::start(mocks::World::sentry()).unwrap();
    let upstream = Upstream::start().await;
    let mut command = binary();
    command.args(["--api", "sentry", "--pass-through", "--base-url", &mock.base_url, "--openapi"]);
    command.arg(upstream.document.path());
    let server = Server::start(command);
    let plain = server.post(&list()).header("authorization", "Bearer x").send().await.unwrap();
    assert_eq!(plain.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(plain.headers()["www-authenticate"], "Sentry-Bearer realm=\"mcp\"");
    let request = server.post(&call("find_organizations", json!({})));
    let request = request.header("authorization", format!("sentry-bearer {}", mock.token));
    let answer = result(request.send().await.unwrap()).await;
    assert!(answer["content"][0]["text"].as_str().unwrap().contains("harbor-lantern"), "{answer}");

    let path = "/mcp/harbor-lantern";
    let stale = server.post_to(path, &list()).header("authorization", "Sentry-Bearer sntryu_stale");
    let stale = stale.send().await.unwrap();
    assert_eq!(stale.status(), StatusCode::UNAUTHORIZED);
    let challenge = stale.headers()["www-authenticate"].to_str().unwrap();
    assert_eq!(challenge, "Sentry-Bearer realm=\"mcp\", error=\"invalid_token\"");
    let good = server.post_to(path, &list());
    let good = good.header("authorization", format!("Sentry-Bearer {}", mock.token));
    assert_eq!(good.send().await.unwrap().status(), StatusCode::OK, "what others got is not kept");
}

#[tokio::test]
async fn an_open_server_serves_no_proxy_and_other_pages_of_the_machine_only_read() {
    let upstream = Upstream::start().await;
    let server = Server::start(upstream.binary());
    for header in ["via", "forwarded", "x-forwarded-for"] {
        let answer = server.post(&list()).header(header, "1.1.1.1").send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::FORBIDDEN, "{header}");
    }
    let tools = |origin: Option<String>| {
        let request = server.post(&list());
        let request = match origin {
            Some(origin) => request.header("origin", origin),
            None => request,
        };
        async { result(request.send().await.unwrap()).await["tools"].as_array().unwrap().len() }
    };
    assert_eq!(tools(None).await, 3);
    assert_eq!(tools(Some(server.base.clone())).await, 3);
    assert_eq!(tools(Some("http://localhost:6274".to_owned())).await, 2);
    let write = server.post(&call("execute_write", json!({ "code": WRITE })));
    let answer = write.header("origin", "http://localhost:6274").send().await.unwrap();
    assert!(message(answer).await.get("error").is_some());
    assert_eq!(upstream.writes(), 0);
}

#[tokio::test]
async fn plans_are_each_callers_own() {
    let upstream = Upstream::start().await;
    let mut command = upstream.binary();
    command.args(["--forward-header", "X-Api-Key"]);
    let server = Server::start(command);
    let ask = |key: &'static str, arguments: Value| {
        let request = server.post(&call("execute_write", arguments)).header("x-api-key", key);
        async { text(&result(request.send().await.unwrap()).await) }
    };
    let planned = ask("SECRET-ann", json!({ "code": WRITE })).await;
    let confirm = planned["confirm"].clone();
    assert!(confirm.is_string(), "{planned}");
    let arguments = json!({ "code": WRITE, "confirm": confirm });
    let others = ask("SECRET-bob", arguments.clone()).await;
    assert_eq!(others["status"], "needs_confirmation", "{others}");
    assert_eq!(upstream.writes(), 0);
    let own = ask("SECRET-ann", arguments).await;
    assert_eq!(own["result"], 201, "{own}");
    assert_eq!(upstream.writes(), 1);
}
