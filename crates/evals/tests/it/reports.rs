//! What is written of a trial: read, judged again, compared and shown.

use std::sync::Arc;

use evals::agents::{Expect, Member, scripted::Scripted};
use evals::compare::compare;
use evals::html;
use evals::regrade;
use evals::report::{Provenance, Report, Status};
use evals::run;
use evals::task::Surface;
use serde_json::{Value, json};

use crate::population::{Outcome, outcomes};

/// The first trial of a script of the task `alert`.
fn outcome(name: &str, surface: Surface) -> Option<&'static Outcome> {
    outcomes().iter().find(|it| {
        it.task.name == "alert" && it.name == name && it.surface == surface && it.seed == 1
    })
}

#[test]
fn a_report_can_be_read_judged_again_compared_and_shown() {
    let Some(mutant) = outcome("mutant:M1", Surface::CodeMode) else { return };
    let folder = tempfile::tempdir().unwrap();
    let member = Member {
        name: mutant.name.clone(),
        agent: Arc::new(Scripted::new(&mutant.task.mutants[0].script)),
        expect: Expect::Fail(&["a.final"]),
        ungated: false,
    };
    let save = || -> (Report, std::path::PathBuf) {
        let provenance = Provenance::default();
        let (task, surface) = (mutant.task, mutant.surface);
        run::single(folder.path(), task, surface, &member, &mutant.tried, provenance).unwrap()
    };
    let (report, path) = save();
    assert_eq!((report.trials[0].status, report.trials[0].as_expected), (Status::Failed, true));
    assert_eq!(run::exit_status(std::slice::from_ref(&report)), 0);

    let before = std::fs::read(&path).unwrap();
    let (again, changes) = regrade::regrade(&path).unwrap();
    assert_eq!(changes, Vec::<String>::new());
    assert_eq!(std::fs::read(&path).unwrap(), before);
    let again = run::load(&again).unwrap();
    assert_eq!(again.trials[0].verdict, report.trials[0].verdict);
    assert_eq!(again.regraded.unwrap().verdicts, [report.trials[0].verdict.clone()]);

    let evidence = folder.path().join(&report.trials[0].evidence);
    let mut changed: Value = serde_json::from_slice(&std::fs::read(&evidence).unwrap()).unwrap();
    changed["final_text"] = json!("I am done.");
    std::fs::write(&evidence, changed.to_string()).unwrap();
    let (_, changes) = regrade::regrade(&path).unwrap();
    assert_eq!(changes.len(), 1);
    assert!(changes[0].contains("c.answer-parse"), "{changes:?}");

    let both = compare(std::slice::from_ref(&report), std::slice::from_ref(&report));
    assert!(both.contains("0/1 (0–79 %)") && !both.contains("not one series"), "{both}");

    let page = html::page(std::slice::from_ref(&report));
    for part in [
        "a.final",
        "<code>PUT /api/0/organizations/harbor-lantern/workflows/",
        "it.name === &quot;Checkout error surge&quot;",
        "0/1 (0–79 %)",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("<script") && !page.contains("src="));
}

#[test]
fn a_file_that_is_no_report_is_named_with_its_flaw() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json");
    std::fs::write(&path, r#"{"schema": "evals.report/1"}"#).unwrap();
    let error = run::load(&path).unwrap_err().to_string();
    assert!(error.contains("a.json` is not a report") && error.contains("is missing"), "{error}");
}

#[test]
fn calls_are_seen_on_the_wire_with_the_requests_they_caused() {
    let Some(reference) = outcome("reference", Surface::CodeMode) else { return };
    let evidence = &reference.tried.evidence;
    let tools: Vec<&str> = evidence.tools.iter().map(|it| it.tool.as_str()).collect();
    assert_eq!(tools, ["search", "execute_write", "execute_write"]);
    let [search, rehearsed, applied] = evidence.tools.as_slice() else { panic!("{tools:?}") };
    assert_eq!(evidence.requests_of(search).count(), 0);
    assert!(rehearsed.is_asked() && !applied.is_asked());
    assert_eq!(rehearsed.plan().len(), 1);
    assert!(evidence.requests_of(rehearsed).all(|it| it.method == "GET"));
    let writes: Vec<&str> = evidence
        .requests_of(applied)
        .filter(|it| it.asks_to_write())
        .map(|it| it.method.as_str())
        .collect();
    assert_eq!(writes, ["PUT"]);
    let names: Vec<&str> = evidence.inventory.iter().filter_map(|it| it["name"].as_str()).collect();
    assert_eq!(names, ["search", "execute", "execute_write"]);
}

#[test]
fn no_tool_description_gives_a_task_away() {
    let words =
        ["harbor-lantern", "quay", "tide-", "ledger", "Checkout", "train", "captcha", "wallboard"];
    for surface in Surface::ALL {
        let Some(reference) = outcome("reference", surface) else { continue };
        let shown = json!(reference.tried.evidence.inventory).to_string();
        for word in words {
            assert!(!shown.contains(word), "`{word}` on {}", surface.name());
        }
    }
}
