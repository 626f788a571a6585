//! Many trials at once, gathered into reports.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::agent::{Budgets, Client, End, Model, Transcript};
use crate::agents::Member;
use crate::evidence::Evidence;
use crate::grade::Verdict;
use crate::provenance::{self, Origin};
use crate::report::{Inventory, Provenance, Report, SCHEMA, Status, Summary, Trial};
use crate::schema;
use crate::server::Setup;
use crate::task::{Surface, Task};
use crate::trial::{self, Setting, Tried};

/// One trial to be run.
#[derive(Clone, Debug)]
pub struct Unit {
    pub member: Member,
    pub setting: Setting,
}

/// What the trials of a run share.
#[derive(Clone, Debug)]
pub struct Plan {
    pub setup: Setup,
    pub origin: Origin,
    /// As it was named on the command line.
    pub agent: String,
    /// Where reports go.
    pub folder: PathBuf,
    /// Instead of a name made from task, agent and surface; for one report only.
    pub report: Option<PathBuf>,
    pub jobs: usize,
}

/// Called with every finished trial.
pub type Progress<'a> = &'a (dyn Fn(&Unit, &Trial) + Sync);

/// The trials of a task on a surface: each member with each seed.
pub fn units(
    task: &'static Task,
    surface: Surface,
    members: &[Member],
    template: &Template,
) -> Vec<Unit> {
    let mut units = Vec::new();
    for member in members {
        for run in 0..template.runs {
            let gate = if member.ungated { "off" } else { template.gate };
            let setting = Setting {
                task,
                surface,
                seed: template.seed + run as u64,
                gate,
                model: template.model.clone(),
                effort: template.effort.clone(),
                budgets: template.budgets,
                transcript: PathBuf::new(),
            };
            units.push(Unit { member: member.clone(), setting });
        }
    }
    units
}

/// What is the same for all trials of a command.
#[derive(Clone, Debug)]
pub struct Template {
    pub runs: usize,
    pub seed: u64,
    pub gate: &'static str,
    pub model: Option<String>,
    pub effort: Option<String>,
    pub budgets: Budgets,
}

/// Runs the trials, a few at a time, and writes a report for each task and surface.
pub async fn run(plan: &Plan, units: Vec<Unit>, progress: Progress<'_>) -> Result<Vec<PathBuf>> {
    let reports: BTreeSet<_> =
        units.iter().map(|it| (it.setting.task.name, it.setting.surface.name())).collect();
    ensure!(
        plan.report.is_none() || reports.len() <= 1,
        "`--report` is for one task and surface, here are {}: choose with `--task` and `--surface`",
        Vec::from_iter(reports.iter().map(|(task, surface)| format!("{task} on {surface}")))
            .join(", ")
    );
    std::fs::create_dir_all(plan.folder.join("evidence"))
        .with_context(|| format!("cannot create `{}`", plan.folder.display()))?;
    std::fs::create_dir_all(plan.folder.join("states"))?;
    let mut groups: BTreeMap<usize, Group> = BTreeMap::new();
    let mut running = JoinSet::new();
    let seats = Arc::new(Semaphore::new(plan.jobs.max(1)));
    let mut order: Vec<(&str, Surface)> = Vec::new();
    let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
    for mut unit in units {
        let key = (unit.setting.task.name, unit.setting.surface);
        let group = order.iter().position(|it| *it == key).unwrap_or_else(|| {
            order.push(key);
            order.len() - 1
        });
        let number = numbers.entry(group).or_default();
        *number += 1;
        let number = *number;
        let stem = stem(unit.setting.task.name, &plan.agent, unit.setting.surface);
        unit.setting.transcript =
            plan.folder.join("evidence").join(format!("{stem}-{number}.transcript.jsonl"));
        let (setup, seats) = (plan.setup.clone(), Arc::clone(&seats));
        running.spawn(async move {
            let _seat = seats.acquire_owned().await;
            let tried = trial::run(unit.setting.clone(), &setup, &*unit.member.agent).await;
            (group, number, unit, tried)
        });
    }
    while let Some(ended) = running.join_next().await {
        let (group, number, unit, tried) = ended?;
        let Setting { task, .. } = unit.setting;
        let tried = tried.unwrap_or_else(|error| not_tried(&unit.setting, &error));
        let mut trial = Trial::new(number, &unit.member.name, unit.member.expect, task, &tried);
        let stem = stem(unit.setting.task.name, &plan.agent, unit.setting.surface);
        trial.evidence = format!("evidence/{stem}-{number}.json");
        write(&plan.folder.join(&trial.evidence), &serde_json::to_value(&tried.evidence)?)?;
        let state = plan.folder.join(format!("states/{}.json", tried.evidence.baseline_hash));
        if !state.exists() {
            write(&state, &tried.baseline)?;
        }
        if unit.setting.transcript.exists() {
            trial.transcript = Some(format!("evidence/{stem}-{number}.transcript.jsonl"));
        }
        progress(&unit, &trial);
        let group = groups.entry(group).or_insert_with(|| Group::new(&unit, &tried));
        group.trials.push(trial);
    }
    let mut written = Vec::new();
    for group in groups.into_values() {
        let report = group.report(plan);
        let name = format!("{}.json", stem(&report.task, &plan.agent, report.surface));
        let path = plan.report.clone().unwrap_or_else(|| plan.folder.join(name));
        save(&path, &report)?;
        written.push(path);
    }
    Ok(written)
}

/// The trials of one report, and what they have in common.
struct Group {
    task: &'static Task,
    surface: Surface,
    gate: &'static str,
    client: Client,
    model: Model,
    budgets: Budgets,
    inventory: Inventory,
    trials: Vec<Trial>,
}

impl Group {
    fn new(unit: &Unit, tried: &Tried) -> Self {
        let Setting { task, surface, gate, budgets, .. } = unit.setting;
        let mut model = tried.transcript.model.clone();
        model.requested = model.requested.or_else(|| unit.setting.model.clone());
        model.effort = model.effort.or_else(|| unit.setting.effort.clone());
        Self {
            task,
            surface,
            gate,
            client: unit.member.agent.client(),
            model,
            budgets,
            inventory: Inventory::of(&tried.evidence.inventory),
            trials: Vec::new(),
        }
    }

    fn report(mut self, plan: &Plan) -> Report {
        self.trials.sort_by_key(|it| it.trial);
        Report {
            schema: SCHEMA.to_owned(),
            created: now(),
            suite: self.task.suite,
            task: self.task.name.to_owned(),
            surface: self.surface,
            gate: self.gate.to_owned(),
            control: self.task.is_control(self.surface),
            agent: plan.agent.clone(),
            client: self.client,
            model: self.model,
            budgets: self.budgets,
            prompt: provenance::prompt(self.task, self.surface),
            inventory: self.inventory,
            provenance: plan.origin.of(self.task),
            summary: Summary::of(&self.trials),
            trials: self.trials,
            regraded: None,
        }
    }
}

fn stem(task: &str, agent: &str, surface: Surface) -> String {
    format!("{task}-{}-{}", agent.replace(':', "-"), surface.name())
}

/// A trial whose world or server did not start.
fn not_tried(setting: &Setting, error: &anyhow::Error) -> Tried {
    let evidence = Evidence {
        task: setting.task.name.to_owned(),
        surface: setting.surface.name().to_owned(),
        seed: setting.seed,
        gate: setting.gate.to_owned(),
        ..Evidence::default()
    };
    Tried {
        evidence,
        baseline: Arc::new(Value::Null),
        verdict: Verdict { pass: false, checks: Vec::new() },
        transcript: Transcript::ended(End::Infra(format!("{error:#}"))),
        wall_ms: 0,
    }
}

fn write(path: &Path, value: &Value) -> Result<()> {
    std::fs::write(path, value.to_string())
        .with_context(|| format!("cannot write `{}`", path.display()))
}

/// Writes a report that has the form reports have.
pub fn save(path: &Path, report: &Report) -> Result<()> {
    let value = serde_json::to_value(report)?;
    if let Err(flaw) = schema::check(&schema::schema(), &value) {
        bail!("the report does not have its own form: {flaw}");
    }
    std::fs::write(path, format!("{value:#}\n"))
        .with_context(|| format!("cannot write `{}`", path.display()))
}

/// Reads a report.
pub fn load(path: &Path) -> Result<Report> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read `{}`", path.display()))?;
    let value: Value =
        serde_json::from_str(&text).with_context(|| format!("`{}` is not JSON", path.display()))?;
    if let Err(flaw) = schema::check(&schema::schema(), &value) {
        bail!("`{}` is not a report: {flaw}", path.display());
    }
    Ok(serde_json::from_value(value)?)
}

/// The evidence of a trial and the state it began with, as they were saved beside its report.
pub fn evidence(report: &Path, trial: &Trial) -> Result<(Evidence, Value)> {
    let folder = report.parent().unwrap_or(Path::new("."));
    let read = |name: &str| -> Result<Value> {
        let path = folder.join(name);
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read `{}`", path.display()))?;
        Ok(serde_json::from_str(&text)?)
    };
    let evidence = serde_json::from_value(read(&trial.evidence)?)?;
    Ok((evidence, read(&format!("states/{}.json", trial.baseline_hash))?))
}

/// What a run amounts to, as an exit status: 1 a trial did not go as expected, 2 one was not possible.
pub fn exit_status(reports: &[Report]) -> u8 {
    let trials = || reports.iter().flat_map(|it| &it.trials);
    match (trials().all(|it| it.as_expected), trials().any(|it| it.status == Status::InfraError)) {
        (true, _) => 0,
        (false, true) => 2,
        (false, false) => 1,
    }
}

/// The present moment, RFC 3339 in UTC.
pub fn now() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_secs());
    let (mut year, mut days) = (1970, seconds / 86_400);
    let leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let length = |year| if leap(year) { 366 } else { 365 };
    while days >= length(year) {
        days -= length(year);
        year += 1;
    }
    let february = if leap(year) { 29 } else { 28 };
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}Z", days + 1)
}

/// The report of one trial that was run elsewhere, written into its folder.
pub fn single(
    folder: &Path,
    task: &'static Task,
    surface: Surface,
    member: &Member,
    tried: &Tried,
    provenance: Provenance,
) -> Result<(Report, PathBuf)> {
    let mut trial = Trial::new(1, &member.name, member.expect, task, tried);
    trial.evidence = "graded.json".to_owned();
    std::fs::create_dir_all(folder.join("states"))?;
    write(&folder.join(&trial.evidence), &serde_json::to_value(&tried.evidence)?)?;
    let state = format!("states/{}.json", tried.evidence.baseline_hash);
    write(&folder.join(state), &tried.baseline)?;
    let trials = vec![trial];
    let report = Report {
        schema: SCHEMA.to_owned(),
        created: now(),
        suite: task.suite,
        task: task.name.to_owned(),
        surface,
        gate: tried.evidence.gate.clone(),
        control: task.is_control(surface),
        agent: member.name.clone(),
        client: member.agent.client(),
        model: Model::default(),
        budgets: Budgets::default(),
        prompt: provenance::prompt(task, surface),
        inventory: Inventory::of(&tried.evidence.inventory),
        provenance,
        summary: Summary::of(&trials),
        trials,
        regraded: None,
    };
    let path = folder.join("report.json");
    save(&path, &report)?;
    Ok((report, path))
}
