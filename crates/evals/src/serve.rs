//! A trial whose agent sits elsewhere: the stage is held open, and judged by another command.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use clap::ValueEnum as _;
use serde_json::json;
use tokio::sync::Notify;

use crate::agent::{End, Transcript};
use crate::agents::{Expect, Member, external::External};
use crate::evidence::Evidence;
use crate::grade;
use crate::report::{Provenance, Report};
use crate::run;
use crate::server::Setup;
use crate::task::Surface;
use crate::tasks;
use crate::trial::{Setting, Stage, Tried};

/// A request of a call that was given up shows here at last.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// How often it is seen whether somebody wants to judge.
const ASKED: Duration = Duration::from_millis(50);
/// How long the one who judges waits for what was seen last.
const PATIENCE: Duration = Duration::from_secs(5);
/// Lies in the folder as long as the stage is open.
const OPEN: &str = "open";
/// Laid there by the one who judges, and taken away once all that was seen is kept.
const ASK: &str = "keep-now";

/// Opens the stage, says where it is, and keeps what is seen in `folder` until Ctrl-C.
pub async fn serve(
    setting: Setting,
    setup: &Setup,
    provenance: &Provenance,
    folder: &Path,
    say: impl Fn(&str) -> Result<()>,
) -> Result<()> {
    let changed = Arc::new(Notify::new());
    let tell = Arc::clone(&changed);
    let stage = Stage::open(setting, setup, Some(Arc::new(move || tell.notify_one()))).await?;
    std::fs::write(folder.join("baseline.json"), stage.world.baseline.to_string())?;
    std::fs::write(folder.join("provenance.json"), serde_json::to_string(provenance)?)?;
    keep(&stage, folder)?;
    std::fs::write(folder.join(OPEN), "")?;
    let job = stage.job();
    let place = json!({
        "mcpUrl": job.mcp.url, "task": job.task, "surface": stage.setting.surface.name(),
        "seed": stage.setting.seed, "prompt": job.prompt, "run": folder,
    });
    say(&place.to_string())?;
    let mut look_again = tokio::time::interval(LOOK_AGAIN);
    let mut asked = tokio::time::interval(ASKED);
    loop {
        tokio::select! {
            interrupted = tokio::signal::ctrl_c() => {
                interrupted?;
                break;
            }
            () = changed.notified() => keep(&stage, folder)?,
            _ = look_again.tick() => keep(&stage, folder)?,
            _ = asked.tick() => if folder.join(ASK).exists() {
                keep(&stage, folder)?;
                std::fs::remove_file(folder.join(ASK))?;
            },
        }
    }
    keep(&stage, folder)?;
    std::fs::remove_file(folder.join(OPEN))?;
    stage.close().await;
    Ok(())
}

/// Has an open stage keep what it has seen up to now; a stage that is gone has kept it.
fn settle(folder: &Path) -> Result<()> {
    if !folder.join(OPEN).exists() {
        return Ok(());
    }
    let ask = folder.join(ASK);
    std::fs::write(&ask, "").with_context(|| format!("cannot write `{}`", ask.display()))?;
    let deadline = Instant::now() + PATIENCE;
    while ask.exists() && Instant::now() < deadline {
        std::thread::sleep(ASKED);
    }
    // Ended without a word, `serve` kept what it saw until a second before.
    std::fs::remove_file(ask).ok();
    Ok(())
}

/// Saves what is seen so far, at once or not at all.
fn keep(stage: &Stage, folder: &Path) -> Result<()> {
    let evidence = serde_json::to_string(&stage.evidence("")?)?;
    let unfinished = folder.join("evidence.part");
    std::fs::write(&unfinished, evidence)?;
    Ok(std::fs::rename(unfinished, folder.join("evidence.json"))?)
}

/// Judges what is kept in `folder` together with the agent's final text, and writes the report.
pub fn grade(folder: &Path, answer: &Path) -> Result<(Report, PathBuf)> {
    let read = |path: PathBuf| {
        std::fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()))
    };
    settle(folder)?;
    let mut evidence: Evidence = serde_json::from_str(&read(folder.join("evidence.json"))?)?;
    let baseline = serde_json::from_str(&read(folder.join("baseline.json"))?)?;
    evidence.final_text = read(answer.to_owned())?;
    let task = tasks::find(&evidence.task)
        .with_context(|| format!("there is no task `{}`", evidence.task))?;
    let surface = Surface::from_str(&evidence.surface, true).map_err(anyhow::Error::msg)?;
    let verdict = grade::grade(task, &evidence, &baseline);
    let tried = Tried {
        evidence,
        baseline: Arc::new(baseline),
        verdict,
        transcript: Transcript::ended(End::Completed),
        wall_ms: 0,
    };
    let member = Member {
        name: "external".to_owned(),
        agent: Arc::new(External),
        expect: Expect::Pass,
        ungated: false,
    };
    let provenance = serde_json::from_str(&read(folder.join("provenance.json"))?)?;
    run::single(folder, task, surface, &member, &tried, provenance)
}
