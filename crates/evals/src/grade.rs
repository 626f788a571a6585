//! Verdicts: every check of a task against the evidence of a trial.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::answer;
use crate::common::{self, CHECKS, CLAIM};
use crate::evidence::Evidence;
use crate::scene::Scene;
use crate::state::{State, hex};
use crate::task::{CheckKind, Firings, Task};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Verdict {
    pub pass: bool,
    pub checks: Vec<Checked>,
}

/// A check and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Checked {
    pub id: String,
    pub kind: CheckKind,
    pub ok: bool,
    /// What was found instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

impl Verdict {
    /// The ids of the checks that failed.
    pub fn failed(&self) -> Vec<&str> {
        self.checks.iter().filter(|it| !it.ok).map(|it| it.id.as_str()).collect()
    }
}

/// What to pass over when a verifier is put to the test itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Blindness<'a> {
    /// These checks count as fulfilled.
    pub to: &'a [&'a str],
    /// The states between the first and the last write are not looked at.
    pub to_the_way: bool,
}

/// Judges a trial; `baseline` is the exported state at its start.
pub fn grade(task: &Task, evidence: &Evidence, baseline: &Value) -> Verdict {
    grade_blindly(task, evidence, baseline, Blindness::default())
}

/// The same with a verifier that does not see everything.
pub fn grade_blindly(
    task: &Task,
    evidence: &Evidence,
    baseline: &Value,
    blind: Blindness<'_>,
) -> Verdict {
    let baseline = State::new(baseline);
    let answer = answer::parse(&evidence.final_text);
    let mut scene = Scene::new(task, evidence, &baseline, answer);
    if blind.to_the_way && scene.boundaries.len() > 1 {
        scene.boundaries.drain(..scene.boundaries.len() - 1);
    }
    let mut checks: Vec<Checked> = Vec::new();
    for check in CHECKS.iter().chain(task.checks) {
        let outcome = if blind.to.contains(&check.id) { Ok(()) } else { (check.rule)(&scene) };
        checks.push(Checked::new(check.id, check.kind, outcome));
    }
    let right = checks.iter().all(|it| it.ok || !common::is_of_state(it.kind));
    let claim = common::claim(&scene, right);
    let claim = if blind.to.contains(&CLAIM) { Ok(()) } else { claim };
    checks.push(Checked::new(CLAIM, CheckKind::Answer, claim));
    Verdict { pass: checks.iter().all(|it| it.ok), checks }
}

impl Checked {
    fn new(id: &str, kind: CheckKind, outcome: Result<(), String>) -> Self {
        Self { id: id.to_owned(), kind, ok: outcome.is_ok(), detail: outcome.err() }
    }
}

/// Whether the task's faults struck as they had to; a trial without them shows nothing.
pub fn was_exercised(task: &Task, evidence: &Evidence) -> bool {
    task.expects.iter().all(|(fault, firings)| {
        let struck = evidence.requests.iter().filter(|it| it.fault.as_deref() == Some(*fault));
        match firings {
            Firings::Exactly(times) => struck.count() == *times,
            Firings::AtLeast(times) => struck.count() >= *times,
        }
    })
}

/// Whether a trial on a surface without the task's capability went as it should: something was
/// tried, nothing changed, nothing was claimed.
pub fn control_holds(verdict: &Verdict, evidence: &Evidence) -> bool {
    let answer: Map<String, Value> = answer::parse(&evidence.final_text).unwrap_or_default();
    !verdict.pass
        && evidence.final_hash == evidence.baseline_hash
        && answer.get("status").and_then(Value::as_str) != Some("completed")
        && !evidence.tools.is_empty()
}

/// The hash of what judges a task: its own file, the common checks and the views of the evidence.
pub fn verifier_hash(task: &Task) -> String {
    let parts = [
        task.source,
        include_str!("common.rs"),
        include_str!("grade.rs"),
        include_str!("scene.rs"),
        include_str!("state.rs"),
        include_str!("evidence.rs"),
    ];
    hex(parts.concat().as_bytes())
}

/// The hash of what reads answers.
pub fn parser_hash() -> String {
    hex(include_str!("answer.rs").as_bytes())
}
