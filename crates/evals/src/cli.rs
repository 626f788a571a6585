//! The command line of `cargo xtask eval`, and the one reader of the environment.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, Result, ensure};
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::agent::{Budgets, End};
use crate::agents;
use crate::compare;
use crate::html;
use crate::provenance::{FIXTURE, Origin, published_document};
use crate::regrade;
use crate::report::{Report, Trial};
use crate::run::{self, Plan, Template, Unit};
use crate::serve;
use crate::server::{self, Pool, Setup};
use crate::task::{Api, Suite, Surface, Task};
use crate::tasks;
use crate::trial::{self, Setting};
use crate::wire;
use crate::world;

/// A wrong command line or set-up.
const USAGE: u8 = 3;

/// Evaluations: does an agent get the job done?
#[derive(Debug, Parser)]
#[command(name = "cargo xtask eval", max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run trials and write a report for each task and surface
    Run(RunOptions),
    /// Start a world and the server for a task, and wait: for an agent that sits elsewhere
    Serve(ServeOptions),
    /// Judge what an agent did with `serve`, and write the report
    Grade {
        /// The directory that `serve` named
        run: PathBuf,
        /// The file with the agent's final text
        #[arg(long, value_name = "FILE")]
        answer: PathBuf,
    },
    /// Judge the trials of reports again, with today's verifiers
    Regrade { reports: Vec<PathBuf> },
    /// Show two sets of reports side by side: each a file or a folder
    Compare { a: PathBuf, b: PathBuf },
    /// Make a page of reports
    Report {
        /// The file to write
        #[arg(long, value_name = "OUT")]
        html: PathBuf,
        /// Reports, or folders of them
        #[arg(default_value = ".cache/evals")]
        from: Vec<PathBuf>,
    },
    /// List the tasks
    Tasks,
    /// Pin how the worlds start for the seeds 1 to 5
    Baselines,
}

#[derive(Debug, Args)]
struct ServerOptions {
    /// The description of the API that is searched [default: Sentry's published one if it is here, else
    /// the fixture's own]
    #[arg(long, value_name = "FILE")]
    document: Option<PathBuf>,

    /// The server's `--confirm`
    #[arg(long, default_value = "plan")]
    confirm: Gate,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Gate {
    Plan,
    Code,
    Off,
}

impl Gate {
    fn name(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Code => "code",
            Self::Off => "off",
        }
    }
}

#[derive(Debug, Args)]
struct RunOptions {
    /// A task, or `all` (but those that take minutes); may be repeated
    #[arg(long, value_name = "TASK")]
    task: Vec<String>,

    /// All tasks of a suite; may be repeated
    #[arg(long)]
    suite: Vec<Suite>,

    /// The tools that are offered; may be repeated [default: where the task can be done]
    #[arg(long)]
    surface: Vec<Surface>,

    /// Who does it: reference, equivalents, equivalent:NAME, mutants, mutant:NAME, external, openai,
    /// anthropic, claude or codex
    #[arg(long)]
    agent: String,

    #[arg(long)]
    model: Option<String>,

    #[arg(long)]
    effort: Option<String>,

    /// Trials of each, with the seeds from `--seed` on
    #[arg(long, value_name = "N", default_value_t = 1)]
    runs: usize,

    #[arg(long, value_name = "K", default_value_t = 1)]
    seed: u64,

    /// The surface `catalog` is meant to fail: that it does is success
    #[arg(long)]
    expect_control: bool,

    /// Write the one report here
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// Write reports into this folder
    #[arg(long, value_name = "DIR", default_value = ".cache/evals")]
    out: PathBuf,

    /// Trials at once [default: for scripts twice the processors, else 1]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,

    /// Most turns of a model
    #[arg(long, value_name = "N", default_value_t = Budgets::default().max_turns)]
    max_turns: u32,

    /// Longest time for a trial
    #[arg(long, value_name = "SECONDS", default_value_t = Budgets::default().wall_s)]
    wall: u64,

    #[command(flatten)]
    server: ServerOptions,
}

#[derive(Debug, Args)]
struct ServeOptions {
    #[arg(long)]
    task: String,

    #[arg(long)]
    surface: Surface,

    #[arg(long, value_name = "K", default_value_t = 1)]
    seed: u64,

    /// Where runs are kept
    #[arg(long, value_name = "DIR", default_value = ".cache/evals/served")]
    out: PathBuf,

    #[command(flatten)]
    server: ServerOptions,
}

/// Runs a command; `root` is the workspace.
pub fn main(root: &Path, arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let name = OsString::from("cargo xtask eval");
    let cli = match Cli::try_parse_from(std::iter::once(name).chain(arguments)) {
        Ok(cli) => cli,
        Err(error) => {
            drop(error.print());
            return ExitCode::from(if error.use_stderr() { USAGE } else { 0 });
        }
    };
    let outcome = match cli.command {
        Command::Run(options) => on_runtime(run_trials(root, options)),
        Command::Serve(options) => on_runtime(serve_task(root, options)),
        Command::Grade { run, answer } => grade_run(root, &run, &answer),
        Command::Regrade { reports } => regrade_all(&reports),
        Command::Compare { a, b } => compare_sets(&a, &b),
        Command::Report { html, from } => page(&html, &from),
        Command::Tasks => list(),
        Command::Baselines => baselines(root),
    };
    match outcome {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            say(&format!("error: {error:#}"));
            ExitCode::from(USAGE)
        }
    }
}

fn on_runtime(work: impl Future<Output = Result<u8>>) -> Result<u8> {
    tokio::runtime::Runtime::new()?.block_on(work)
}

/// Progress and faults, for people.
fn say(line: &str) {
    drop(writeln!(io::stderr(), "{line}"));
}

/// Results, for people and programs.
fn print(text: &str) -> Result<()> {
    writeln!(io::stdout(), "{text}").context("nobody reads the output")
}

#[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|it| !it.is_empty())
}

async fn run_trials(root: &Path, options: RunOptions) -> Result<u8> {
    let chosen = chosen(&options.task, &options.suite)?;
    let model = !is_scripted(&options.agent);
    let budgets =
        Budgets { max_turns: options.max_turns, wall_s: options.wall, ..Budgets::default() };
    let template = Template {
        runs: options.runs,
        seed: options.seed,
        gate: options.server.confirm.name(),
        model: options.model.clone(),
        effort: options.effort.clone(),
        budgets,
    };
    let mut units = Vec::new();
    for task in chosen {
        for surface in surfaces(task, &options.surface, model) {
            let members = agents::find(
                &options.agent,
                task,
                surface,
                agents::Options {
                    model: options.model.as_deref(),
                    effort: options.effort.as_deref(),
                    variable: &variable,
                },
            )?;
            if members.is_empty() {
                say(&format!("{} on {}: no such script", task.name, surface.name()));
            }
            units.extend(run::units(task, surface, &members, &template));
        }
    }
    ensure!(!units.is_empty(), "there is nothing to run");
    let folder = root.join(&options.out);
    let mut setup = setup(root, &folder, options.server.document.as_deref(), &units)?;
    // Scripts leave nothing behind in a server; models get a fresh one each.
    setup.pool = (!model).then(Pool::default);
    let origin = Origin::look(root, &setup.binary, setup.document.as_deref())?;
    let processors = std::thread::available_parallelism().map_or(2, usize::from);
    let jobs = options.jobs.unwrap_or(if model { 1 } else { 2 * processors });
    let plan = Plan { setup, origin, agent: options.agent, folder, report: options.report, jobs };
    let (total, done) = (units.len(), AtomicUsize::new(0));
    let progress = |unit: &Unit, trial: &Trial| {
        let number = done.fetch_add(1, Ordering::Relaxed) + 1;
        say(&format!("[{number}/{total}] {}", line(unit, trial)));
    };
    let written = run::run(&plan, units, &progress).await?;
    let reports = written.iter().map(|it| run::load(it)).collect::<Result<Vec<Report>>>()?;
    for (path, report) in written.iter().zip(&reports) {
        let summary = &report.summary;
        print(&format!(
            "{:<29} {:<17} {:<12} {} of {} as expected, {} passed, {} infra   {}",
            report.task,
            report.surface.name(),
            report.agent,
            summary.as_expected,
            summary.trials,
            summary.passed,
            summary.infra,
            path.strip_prefix(root).unwrap_or(path).display(),
        ))?;
    }
    let control = reports.iter().any(|it| it.control) && !options.expect_control;
    Ok(if control { run::exit_status(&reports).max(1) } else { run::exit_status(&reports) })
}

fn is_scripted(agent: &str) -> bool {
    let kind = agent.split(':').next().unwrap_or_default();
    ["reference", "equivalents", "equivalent", "mutants", "mutant"].contains(&kind)
}

/// One line of progress.
fn line(unit: &Unit, trial: &Trial) -> String {
    let why = match &trial.end {
        End::Infra(what) => what.clone(),
        End::Completed | End::MaxTurns | End::Timeout => trial.verdict.failed().join(", "),
    };
    format!(
        "{} {} {} seed {}: {}{} in {:.1} s, {} tool calls, {} API calls {}",
        unit.setting.task.name,
        unit.setting.surface.name(),
        trial.agent,
        trial.seed,
        trial.status.name(),
        if trial.as_expected { "" } else { " — NOT AS EXPECTED" },
        trial.wall_ms as f64 / 1000.0,
        trial.tool_sequence.len(),
        trial.api_calls.len(),
        if why.is_empty() { why } else { format!("[{why}]") },
    )
}

fn chosen(names: &[String], suites: &[Suite]) -> Result<Vec<&'static Task>> {
    for name in names {
        let known = name == "all" || tasks::find(name).is_some();
        let all: Vec<&str> = tasks::every().map(|it| it.name).collect();
        ensure!(known, "there is no task `{name}`: the tasks are {}", all.join(", "));
    }
    let is_named = |task: &Task| {
        names.iter().any(|it| it == task.name || (it == "all" && task.suite != Suite::Nightly))
    };
    let chosen: Vec<&Task> =
        tasks::every().filter(|it| is_named(it) || suites.contains(&it.suite)).collect();
    ensure!(!chosen.is_empty(), "which tasks? Name some with `--task` or `--suite`");
    Ok(chosen)
}

fn surfaces(task: &Task, given: &[Surface], model: bool) -> Vec<Surface> {
    if !given.is_empty() {
        return given.to_vec();
    }
    let natural = Surface::CatalogAndCode;
    match task.surfaces {
        some if model && some.contains(&natural) => vec![natural],
        some => some.iter().copied().take(if model { 1 } else { usize::MAX }).collect(),
    }
}

fn setup(root: &Path, folder: &Path, given: Option<&Path>, units: &[Unit]) -> Result<Setup> {
    let sentry = units.iter().any(|it| it.setting.task.api == Api::Sentry);
    prepare(root, folder, given, sentry)
}

/// Where the binary, the document and the compiled documents are.
pub fn prepare(root: &Path, folder: &Path, given: Option<&Path>, sentry: bool) -> Result<Setup> {
    let cache = folder.join("documents");
    std::fs::create_dir_all(&cache)?;
    let document = match given.map(Path::to_owned).or_else(|| published_document(root)) {
        Some(path) => {
            ensure!(path.is_file(), "there is no document `{}`", path.display());
            Some(path.canonicalize()?)
        }
        None if sentry => {
            let path = cache.join(FIXTURE);
            std::fs::write(&path, world::fixture_document())?;
            Some(path.canonicalize()?)
        }
        None => None,
    };
    let (binary, passage) = (server::binary()?, wire::client()?);
    Ok(Setup { binary, document, cache: cache.canonicalize()?, passage, pool: None })
}

async fn serve_task(root: &Path, options: ServeOptions) -> Result<u8> {
    let task = tasks::find(&options.task)
        .with_context(|| format!("there is no task `{}`", options.task))?;
    let ServeOptions { surface, seed, out, server, .. } = options;
    let name = format!("{}-{}-{seed}-{}", task.name, surface.name(), std::process::id());
    let folder = root.join(out).join(name);
    std::fs::create_dir_all(&folder)?;
    let setup = prepare(root, &folder, server.document.as_deref(), task.api == Api::Sentry)?;
    let setting = Setting {
        task,
        surface,
        seed,
        gate: server.confirm.name(),
        model: None,
        effort: None,
        budgets: Budgets::default(),
        transcript: folder.join("transcript.jsonl"),
    };
    let origin = Origin::look(root, &setup.binary, setup.document.as_deref())?;
    let announce = |place: &str| {
        print(place)?;
        say("waiting: end with Ctrl-C, judge with `cargo xtask eval grade RUN --answer FILE`");
        Ok(())
    };
    serve::serve(setting, &setup, &origin.of(task), &folder, announce).await?;
    Ok(0)
}

fn grade_run(root: &Path, folder: &Path, answer: &Path) -> Result<u8> {
    let (report, path) = serve::grade(folder, answer)?;
    let trial = report.trials.first().context("no trial")?;
    for check in &trial.verdict.checks {
        let detail = check.detail.as_deref().unwrap_or_default();
        print(&format!("{} {:<26} {detail}", if check.ok { "ok  " } else { "FAIL" }, check.id))?;
    }
    let path = path.strip_prefix(root).unwrap_or(&path);
    print(&format!("{} — {}", trial.status.name(), path.display()))?;
    Ok(run::exit_status(&[report]))
}

fn regrade_all(paths: &[PathBuf]) -> Result<u8> {
    ensure!(!paths.is_empty(), "which reports?");
    for path in paths {
        let (written, changes) = regrade::regrade(path)?;
        print(&format!("{}: {} verdicts changed", written.display(), changes.len()))?;
        for change in changes {
            print(&format!("  {change}"))?;
        }
    }
    Ok(0)
}

fn compare_sets(a: &Path, b: &Path) -> Result<u8> {
    let load = |path| -> Result<Vec<Report>> {
        Ok(regrade::reports(path)?.into_iter().map(|(_, it)| it).collect())
    };
    print(compare::compare(&load(a)?, &load(b)?).trim_end())?;
    Ok(0)
}

fn page(out: &Path, from: &[PathBuf]) -> Result<u8> {
    let mut reports = Vec::new();
    for path in from {
        reports.extend(regrade::reports(path)?.into_iter().map(|(_, it)| it));
    }
    ensure!(!reports.is_empty(), "there are no reports: `cargo xtask eval run` writes some");
    std::fs::write(out, html::page(&reports))
        .with_context(|| format!("cannot write `{}`", out.display()))?;
    print(&format!("{} reports in {}", reports.len(), out.display()))?;
    Ok(0)
}

fn list() -> Result<u8> {
    for task in tasks::every() {
        let suite = task.suite.to_possible_value();
        let surfaces: Vec<&str> = task.surfaces.iter().map(|it| it.name()).collect();
        print(&format!(
            "{:<29} {:<11} {} checks, {} equivalents, {} mutants; {}",
            task.name,
            suite.as_ref().map_or("", |it| it.get_name()),
            task.checks.len(),
            task.equivalents.len(),
            task.mutants.len(),
            surfaces.join(", "),
        ))?;
    }
    Ok(0)
}

fn baselines(root: &Path) -> Result<u8> {
    let path = root.join("crates/evals/baselines.json");
    std::fs::write(&path, format!("{:#}\n", trial::baselines()?))?;
    print(&format!("wrote {}", path.display()))?;
    Ok(0)
}
