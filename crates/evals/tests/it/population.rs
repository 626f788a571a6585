//! All scripted agents through the real server, once for all tests of this binary.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Instant;

use evals::agent::Budgets;
use evals::agents::{Expect, Options, find};
use evals::cli::prepare;
use evals::report::{Status, Trial};
use evals::run::{Template, Unit, units};
use evals::server::{Pool, Setup};
use evals::task::{Api, Surface, Task};
use evals::tasks;
use evals::trial::{self, Tried};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// How many seeds are played: one keeps the suite short, `EVALS_SEEDS=5` plays all that are pinned.
#[expect(clippy::disallowed_methods, reason = "whoever runs the suite says how long")]
fn seeds() -> usize {
    std::env::var("EVALS_SEEDS").ok().and_then(|it| it.parse().ok()).unwrap_or(1)
}

/// One scripted trial.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) task: &'static Task,
    pub(crate) surface: Surface,
    pub(crate) name: String,
    pub(crate) seed: u64,
    pub(crate) expect: Expect,
    pub(crate) trial: Trial,
    pub(crate) tried: Tried,
}

impl Outcome {
    fn shown(&self) -> String {
        let Self { task, surface, name, seed, trial, .. } = self;
        let failed: Vec<String> = trial
            .verdict
            .checks
            .iter()
            .filter(|it| !it.ok)
            .map(|it| format!("{} ({})", it.id, it.detail.as_deref().unwrap_or_default()))
            .collect();
        let last =
            trial.tool_sequence.last().map(|it| it.result.chars().take(1500).collect::<String>());
        format!(
            "{} {} {name} seed {seed}: {:?} {:?}\n  failed: {}\n  last result: {}\n",
            task.name,
            surface.name(),
            trial.status,
            trial.end,
            failed.join("\n    "),
            last.unwrap_or_default(),
        )
    }
}

/// What the server needs; none where it or Sentry's document is not at hand.
pub(crate) fn setup(folder: &Path) -> Option<Setup> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    match prepare(&root, folder, None, true) {
        Ok(setup) => Some(Setup { pool: Some(Pool::default()), ..setup }),
        Err(error) => {
            report_skip(&format!("{error:#}"));
            None
        }
    }
}

#[expect(clippy::print_stderr, reason = "a skipped test says so")]
pub(crate) fn report_skip(why: &str) {
    eprintln!("skipped: {why}");
}

/// Every script of every task; run once.
pub(crate) fn outcomes() -> &'static [Outcome] {
    static OUTCOMES: OnceLock<Vec<Outcome>> = OnceLock::new();
    OUTCOMES.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let Some(setup) = setup(folder.path()) else { return Vec::new() };
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let started = Instant::now();
        let outcomes = runtime.block_on(play(&setup, chosen()));
        report_time(&outcomes, started);
        outcomes
    })
}

#[expect(clippy::print_stderr, reason = "the time all scripts take is a promise")]
fn report_time(outcomes: &[Outcome], started: Instant) {
    eprintln!("{} scripted trials in {:.0} s", outcomes.len(), started.elapsed().as_secs_f64());
}

fn chosen() -> Vec<Unit> {
    let nothing = |_: &str| None;
    let options = Options { model: None, effort: None, variable: &nothing };
    let template = Template {
        runs: seeds(),
        seed: 1,
        gate: "plan",
        model: None,
        effort: None,
        budgets: Budgets::default(),
    };
    let mut all = Vec::new();
    for &task in tasks::ALL {
        for surface in Surface::ALL {
            for agent in ["reference", "equivalents", "mutants"] {
                let control = task.is_control(surface);
                let possible = task.surfaces.contains(&surface);
                let has_control = control && task.api == Api::Sentry && agent == "reference";
                // What a mutant does is the same on both surfaces with code.
                let again = surface == Surface::CatalogAndCode && agent != "reference";
                if has_control || (possible && !control && !again) {
                    let members = find(agent, task, surface, options).unwrap();
                    all.extend(units(task, surface, &members, &template));
                }
            }
        }
    }
    all
}

async fn play(setup: &Setup, units: Vec<Unit>) -> Vec<Outcome> {
    let seats = std::sync::Arc::new(Semaphore::new(
        2 * std::thread::available_parallelism().map_or(2, usize::from),
    ));
    let mut running = JoinSet::new();
    for (at, unit) in units.into_iter().enumerate() {
        let (setup, seats) = (setup.clone(), std::sync::Arc::clone(&seats));
        running.spawn(async move {
            let _seat = seats.acquire_owned().await;
            let Unit { member, setting } = unit;
            let (task, surface, seed) = (setting.task, setting.surface, setting.seed);
            let tried = trial::run(setting, &setup, &*member.agent).await.unwrap();
            let trial = Trial::new(at, &member.name, member.expect, task, &tried);
            let (name, expect) = (member.name, member.expect);
            (at, Outcome { task, surface, name, seed, expect, trial, tried })
        });
    }
    let mut outcomes = BTreeMap::new();
    while let Some(ended) = running.join_next().await {
        let (at, outcome) = ended.unwrap();
        outcomes.insert(at, outcome);
    }
    outcomes.into_values().collect()
}

#[test]
fn references_and_equivalents_pass_wherever_the_task_can_be_done() {
    let wrong: Vec<String> = outcomes()
        .iter()
        .filter(|it| it.expect == Expect::Pass && !it.task.is_control(it.surface))
        .filter(|it| it.trial.status != Status::Passed)
        .map(Outcome::shown)
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_task_has_a_reference_for_each_of_its_surfaces() {
    for task in tasks::ALL {
        for surface in task.surfaces {
            assert!(task.reference(*surface).is_some(), "{} on {}", task.name, surface.name());
        }
    }
}

#[test]
fn the_catalog_alone_can_do_none_of_it_and_changes_nothing() {
    let wrong: Vec<String> = outcomes()
        .iter()
        .filter(|it| it.task.is_control(it.surface) && it.trial.status != Status::ControlOk)
        .map(Outcome::shown)
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_mutant_fails_by_a_check_that_is_listed_for_it() {
    let wrong: Vec<String> = outcomes()
        .iter()
        .filter(|it| matches!(it.expect, Expect::Fail(_)) && !it.trial.as_expected)
        .map(Outcome::shown)
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_a_script_does_is_no_matter_of_the_seed() {
    let mut by_script: BTreeMap<(&str, &str, &str), Vec<Vec<&str>>> = BTreeMap::new();
    for it in outcomes() {
        let key = (it.task.name, it.surface.name(), it.name.as_str());
        by_script.entry(key).or_default().push(it.trial.verdict.failed());
    }
    for (script, failed) in by_script {
        assert!(failed.windows(2).all(|it| it[0] == it[1]), "{script:?}: {failed:?}");
    }
}
