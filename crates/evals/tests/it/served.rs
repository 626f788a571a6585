//! A stage that is held open for an agent that sits elsewhere.

use std::time::Duration;

use evals::agent::Budgets;
use evals::agents::scripted::fenced;
use evals::report::{Provenance, Status};
use evals::serve;
use evals::task::Surface;
use evals::tasks;
use evals::trial::Setting;
use serde_json::{Value, json};
use test_client::Client;
use tokio::sync::mpsc;

use crate::population::setup;

/// The agent's last call may be over for a moment only when its work is judged.
#[tokio::test]
async fn what_was_done_a_moment_ago_is_judged_while_the_stage_is_open() {
    let folder = tempfile::tempdir().unwrap();
    let Some(setup) = setup(folder.path()) else { return };
    let task = tasks::find("create-team").unwrap();
    let setting = Setting {
        task,
        surface: Surface::Catalog,
        seed: 1,
        gate: "plan",
        model: None,
        effort: None,
        budgets: Budgets::default(),
        transcript: folder.path().join("transcript.jsonl"),
    };
    let (told, mut places) = mpsc::unbounded_channel();
    let run = folder.path().to_owned();
    let stage = tokio::spawn(async move {
        let tell = |place: &str| Ok(told.send(place.to_owned())?);
        serve::serve(setting, &setup, &Provenance::default(), &run, tell).await.unwrap();
    });
    let place: Value = serde_json::from_str(&places.recv().await.unwrap()).unwrap();
    assert!(place["prompt"].as_str().unwrap().contains("Night Watch"), "{place}");

    let agent = Client::http(place["mcpUrl"].as_str().unwrap(), &[]).await.unwrap();
    let answer = folder.path().join("answer.txt");
    let judged = || {
        let (run, answer) = (folder.path().to_owned(), answer.clone());
        tokio::task::spawn_blocking(move || serve::grade(&run, &answer).unwrap().0)
    };
    let said = json!({ "status": "completed", "slug": "night-watch" });
    std::fs::write(&answer, fenced(&said)).unwrap();
    let report = judged().await.unwrap();
    assert_eq!(report.trials[0].status, Status::Failed);
    assert_eq!(
        report.trials[0].verdict.failed(),
        ["q.tool", "q.state", "q.facts", "c.no-unsupported-claim"]
    );

    let arguments = json!({ "organizationSlug": "harbor-lantern", "name": "Night Watch" });
    let call = json!({ "name": "create_team", "arguments": arguments });
    let made = agent.call("execute_sentry_tool", call).await.unwrap().json().unwrap();
    let said = json!({ "status": "completed", "slug": made["team"]["slug"] });
    std::fs::write(&answer, fenced(&said)).unwrap();
    let report = judged().await.unwrap();
    assert_eq!(report.trials[0].verdict.failed(), [""; 0]);
    assert_eq!(report.trials[0].status, Status::Passed);

    // A stage that ended without a word has kept what it saw; nobody waits for it for long.
    stage.abort();
    let late = tokio::time::timeout(Duration::from_secs(30), judged()).await.unwrap().unwrap();
    assert_eq!(late.trials[0].status, Status::Passed);
}
