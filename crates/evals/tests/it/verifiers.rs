//! The verifiers put to the test: which check kills which mutant, and which one is not needed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use evals::agents::Expect;
use evals::common::{CHECKS, CLAIM, SHARED};
use evals::grade::{Blindness, grade_blindly};
use evals::task::Task;
use evals::tasks;

use crate::population::{Outcome, outcomes};

/// One trial of every mutant: they are alike for all seeds.
fn mutants(task: &Task) -> Vec<&'static Outcome> {
    let all = outcomes().iter().filter(|it| {
        it.task.name == task.name && it.seed == 1 && matches!(it.expect, Expect::Fail(_))
    });
    all.collect()
}

fn passes(outcome: &Outcome, blind: Blindness<'_>) -> bool {
    let tried = &outcome.tried;
    grade_blindly(outcome.task, &tried.evidence, &tried.baseline, blind).pass
}

fn blind_to<'a>(to: &'a [&'a str]) -> Blindness<'a> {
    Blindness { to, to_the_way: false }
}

#[test]
fn which_check_kills_which_mutant() {
    if outcomes().is_empty() {
        return;
    }
    let mut matrix = String::new();
    for task in tasks::ALL {
        for mutant in mutants(task) {
            let failed = mutant.trial.verdict.failed().join(" ");
            writeln!(matrix, "{:<24} {:<11} {failed}", task.name, mutant.name).unwrap();
        }
    }
    insta::assert_snapshot!("kills", matrix);
}

/// Without the allow-list, which covers most of the others, each check either is the only one that
/// notices some mutant, or says why it is there all the same.
#[test]
fn every_check_is_needed_or_says_why_it_stays() {
    let mut flaws = Vec::new();
    let mut by_any = BTreeSet::new();
    for task in tasks::ALL.iter().filter(|it| !mutants(it).is_empty()) {
        let needed = sole_killers(task);
        by_any.extend(needed.keys().copied());
        for check in task.checks {
            let excused = task.shared.iter().any(|(id, _)| *id == check.id);
            match (needed.get(check.id), excused) {
                (None, false) => {
                    flaws.push(format!("{}: `{}` alone kills none", task.name, check.id));
                }
                (Some(mutants), true) => flaws.push(format!(
                    "{}: `{}` is excused and alone kills {mutants:?}",
                    task.name, check.id
                )),
                (None, true) | (Some(_), false) => {}
            }
        }
    }
    for check in CHECKS.iter().map(|it| it.id).chain([CLAIM]) {
        let excused = SHARED.iter().any(|(id, _)| *id == check);
        if !by_any.contains(check) && !excused && !outcomes().is_empty() {
            flaws.push(format!("`{check}` alone kills none"));
        }
    }
    assert!(flaws.is_empty(), "{}", flaws.join("\n"));
}

/// The mutants that only one check notices, by check; the allow-list and what follows from the other
/// checks do not count.
fn sole_killers(task: &Task) -> BTreeMap<&'static str, BTreeSet<&'static str>> {
    let mut needed: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for mutant in mutants(task) {
        let failed = mutant.trial.verdict.failed().into_iter();
        let failed: Vec<&str> = failed.filter(|it| !["c.collateral", CLAIM].contains(it)).collect();
        if let [only] = failed.as_slice() {
            assert!(passes(mutant, blind_to(&["c.collateral", CLAIM, only])), "{}", mutant.name);
            needed.entry(only).or_default().insert(&mutant.name);
        }
    }
    needed
}

#[test]
fn the_specific_checks_kill_without_the_allow_list() {
    for task in tasks::ALL {
        for mutant in mutants(task) {
            let lives = passes(mutant, blind_to(&["c.collateral"]));
            assert!(!lives, "{} {}", task.name, mutant.name);
        }
    }
}

/// What the allow-list covers as a whole.
const COVERED: [&str; 7] =
    ["a.boundary", "a.detectors", "a.other", "m.boundary", "m.mute", "m.other", "d.source"];

#[test]
fn the_allow_list_kills_without_the_specific_checks() {
    for task in tasks::ALL {
        for mutant in mutants(task) {
            let Expect::Fail(expected) = mutant.expect else { continue };
            if expected.iter().all(|it| COVERED.contains(it) || *it == "c.collateral") {
                let lives = passes(mutant, blind_to(&COVERED));
                assert!(!lives, "{} {}", task.name, mutant.name);
            }
        }
    }
}

/// Why every write is looked at: these did harm on the way and repaired it.
#[test]
fn what_a_look_at_the_end_alone_would_let_pass() {
    if outcomes().is_empty() {
        return;
    }
    let blind = Blindness { to: &[], to_the_way: true };
    let mut missed = String::new();
    for task in tasks::ALL {
        for mutant in mutants(task).into_iter().filter(|it| passes(it, blind)) {
            writeln!(missed, "{} {}", task.name, mutant.name).unwrap();
        }
    }
    insta::assert_snapshot!("final_state_only", missed);
}

#[test]
fn a_mutant_names_checks_that_exist() {
    for task in tasks::ALL {
        let known =
            |id: &str| id == CLAIM || CHECKS.iter().chain(task.checks).any(|it| it.id == id);
        for mutant in task.mutants {
            assert!(!mutant.expect.is_empty(), "{} {}", task.name, mutant.script.name);
            for id in mutant.expect {
                assert!(known(id), "{} {}: `{id}`", task.name, mutant.script.name);
            }
            assert!(mutant.script.on.iter().all(|it| !task.is_control(*it)));
        }
        for (id, _) in task.shared {
            assert!(known(id), "{}: `{id}`", task.name);
        }
    }
}
