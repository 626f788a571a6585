//! Hostile scripts end to end: what they find, what they leave behind, what the upstream gives away.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Instant,
};

use serde_json::{Value, json};

use crate::{
    support::{self, Connected, PATIENCE},
    upstream::Upstream,
};

/// P24: whatever a script does to an answer, the credential is not in it.
#[tokio::test]
async fn a_token_that_the_upstream_echoes_cannot_be_pieced_together() {
    const TOKEN: &str = "k3y-Very+Secret/9F2=tail";
    let echo = json!({ "openapi": "3.0.3", "info": { "title": "Echo", "version": "1" }, "paths": {
        "/echo/{how}": { "get": {
            "operationId": "echo",
            "parameters": [{ "name": "how", "in": "path", "required": true, "schema": { "type": "string" } }],
            "responses": { "200": { "description": "" } },
        } },
    } });
    let upstream = Upstream::start(&echo.to_string());
    let mut command = support::binary();
    command.args(["--openapi", &format!("{}/spec.json", upstream.base)]);
    command.args(["--base-url", &upstream.base, "--name", "echo"]);
    command.env("TOKEN", TOKEN).args(["--token-env", "TOKEN"]);
    let mut session = support::connect(command).await;
    let script = |result: &str| {
        format!(
            "const {{ data, headers }} = await api.request('GET', '/echo/authorization');\n\
             const text = JSON.stringify([data, headers]);\n\
             return {result}"
        )
    };
    let secret = TOKEN.split('-').next_back().unwrap();
    for (result, hidden) in [
        ("text", secret.to_owned()),
        ("text.match(/.{1,3}/g)", "\"ery\"".to_owned()),
        ("[...text].reverse().join('')", secret.chars().rev().collect()),
        ("[...text].join(' ')", "S e c r e t".to_owned()),
        ("btoa(text)", "U2Vjcm".to_owned()),
        ("text.toUpperCase()", secret.to_uppercase()),
        ("[...text].map((it) => it.charCodeAt(0))", "83,101,99,114,101,116".to_owned()),
    ] {
        let answer = support::ok(&mut session, "execute", json!({ "code": script(result) })).await;
        let text = answer.to_string();
        assert!(text.contains("result") && !text.contains(&hidden), "{result}: {text}");
    }
    assert_eq!(upstream.received().len(), 7, "the upstream was asked, and it answered");
}

/// P23: each name that the description promises is there.
#[tokio::test]
async fn every_name_in_the_description_of_execute_exists() {
    let mut connected = Connected::start().await;
    let id = connected.session.request("tools/list", json!({})).await.unwrap();
    let tools = connected.session.response(id, PATIENCE).await.unwrap();
    let tools = tools["result"]["tools"].as_array().unwrap();
    let execute = tools.iter().find(|it| it["name"] == "execute").unwrap();
    let text = execute["description"].as_str().unwrap();
    let mut names = Vec::new();
    let word = |c: char| c.is_ascii_alphanumeric() || c == '.';
    for token in text.split(|c| !word(c)) {
        let is_member = token.split_once('.').is_some_and(|(object, member)| {
            ["api", "ak", "console", "Promise"].contains(&object) && !member.is_empty()
        });
        if is_member || ["api", "ak", "sleep"].contains(&token) {
            names.push(token.trim_end_matches('.'));
        }
    }
    for expected in ["api.request", "api.paginate", "api.operations", "sleep", "console.log", "ak"]
    {
        assert!(names.contains(&expected), "{expected} is not in {names:?}");
    }
    for name in names {
        let kind = connected.execute(&format!("return typeof {name}")).await;
        assert_ne!(kind, json!("undefined"), "{name}");
    }
}

/// The first programs of each kind; `cargo xtask hostile` runs them all.
#[tokio::test]
async fn a_sample_of_hostile_programs_ends_in_time_and_leaves_nothing() {
    const EACH: usize = 2;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mcp-core/tests/hostile");
    let mut connected = Connected::with(|command| {
        command.args(["--cpu", "0.3", "--wall", "2"]);
    })
    .await;
    connected.execute("return 1").await;
    for kind in files(&folder).into_iter().filter(|it| it.is_dir()) {
        let mut programs = files(&kind);
        programs.sort();
        for program in programs.into_iter().take(EACH) {
            let name = program.display();
            let code = fs::read_to_string(&program).unwrap();
            let arguments = json!({ "code": code });
            let started = Instant::now();
            let (is_error, text) =
                support::call(&mut connected.session, "execute", arguments).await;
            assert!(started.elapsed().as_secs() < 20, "{name}");
            assert!(serde_json::from_str::<Value>(&text).is_ok_and(|it| it.is_object()), "{name}");
            if code.starts_with("// expect: fails") {
                assert!(is_error, "{name}: {text}");
            }
            let next = "return [1, Object.keys(globalThis).join(), {}.then === undefined]";
            assert_eq!(connected.execute(next).await, json!([1, "api,ak", true]), "{name}");
        }
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}
