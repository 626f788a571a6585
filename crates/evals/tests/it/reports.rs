//! What is written of a trial: read, judged again, compared and shown.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use browser::Browser;
use evals::agents::{Expect, Member, scripted::Scripted};
use evals::compare::compare;
use evals::html;
use evals::regrade;
use evals::report::{Provenance, Report, Status};
use evals::run;
use evals::task::{Script, Surface};
use serde_json::{Value, json};

use crate::population::{Outcome, outcomes};

/// The first trial of a script of the task `alert`.
fn outcome(name: &str, surface: Surface) -> Option<&'static Outcome> {
    outcomes().iter().find(|it| {
        it.task.name == "alert" && it.name == name && it.surface == surface && it.seed == 1
    })
}

/// Writes the report of a trial as `eval run` does.
fn saved(
    folder: &Path,
    outcome: &Outcome,
    script: &'static Script,
    expect: Expect,
) -> (Report, PathBuf) {
    let agent = Arc::new(Scripted::new(script));
    let member = Member { name: outcome.name.clone(), agent, expect, ungated: false };
    let (task, surface) = (outcome.task, outcome.surface);
    run::single(folder, task, surface, &member, &outcome.tried, Provenance::default()).unwrap()
}

#[test]
fn a_report_can_be_read_judged_again_compared_and_shown() {
    let Some(mutant) = outcome("mutant:M1", Surface::CodeMode) else { return };
    let folder = tempfile::tempdir().unwrap();
    let script = &mutant.task.mutants[0].script;
    let (report, path) = saved(folder.path(), mutant, script, Expect::Fail(&["a.final"]));
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

/// What a reader of the page sees and opens, with a mutant that pretends to be right among the runs.
#[tokio::test]
async fn the_page_shows_every_run_down_to_its_requests_in_a_browser() {
    let (Some(right), Some(wrong)) =
        (outcome("reference", Surface::CodeMode), outcome("mutant:M1", Surface::CodeMode))
    else {
        return;
    };
    let pictures = Path::new(env!("CARGO_TARGET_TMPDIR")).join("eval-report");
    let Some(browser) = Browser::start(evals::wire::client().unwrap(), pictures).await else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let reference = right.task.reference(right.surface).unwrap();
    let (passed, _) = saved(folder.path(), right, reference, Expect::Pass);
    let (failed, _) = saved(folder.path(), wrong, &wrong.task.mutants[0].script, Expect::Pass);
    let file = folder.path().join("evals.html");
    std::fs::write(&file, html::page(&[passed, failed])).unwrap();

    browser.open(&format!("file://{}", file.display())).await;
    let rows = browser.script("return [...document.querySelectorAll('#overview tbody tr')].map(it => it.innerText.split('\\t').map(it => it.trim()))").await;
    assert_eq!(rows[0][0], "alert");
    assert_eq!((&rows[0][2], &rows[0][4]), (&json!("reference"), &json!("1/1 (21–100 %)")));
    assert_eq!((&rows[1][2], &rows[1][4]), (&json!("mutant:M1"), &json!("0/1 (0–79 %)")));
    // What is as expected is folded; what is not lies open, with the check that says why.
    let open = "return [...document.querySelectorAll('.trial')].map(it => it.open)";
    assert_eq!(browser.script(open).await, json!([false, true]));
    browser.shows(".checks .failed", "a.final").await;
    browser.picture("failed").await;

    browser.click("#overview a").await;
    browser.until("return location.hash === '#alert-code-mode-reference'").await;
    browser.click(".trial summary").await;
    browser.click(".trial .call:nth-of-type(3) > summary").await;
    browser.shows(".trial .call[open] pre", "Checkout error surge").await;
    browser
        .shows(".trial .call[open] .api", "PUT /api/0/organizations/harbor-lantern/workflows/")
        .await;
    browser.picture("requests").await;
    browser.prefers("dark").await;
    browser.picture("requests-dark").await;
    let wide =
        "return document.documentElement.scrollWidth <= document.documentElement.clientWidth";
    assert_eq!(browser.script(wide).await, true);
    assert_eq!(browser.complaints().await, [""; 0]);
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
