//! A trial whose agent sits elsewhere: the stage is held open, and judged by another command.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

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
    let job = stage.job();
    let place = json!({
        "mcpUrl": job.mcp.url, "task": job.task, "surface": stage.setting.surface.name(),
        "seed": stage.setting.seed, "prompt": job.prompt, "run": folder,
    });
    say(&place.to_string())?;
    loop {
        tokio::select! {
            interrupted = tokio::signal::ctrl_c() => {
                interrupted?;
                break;
            }
            () = changed.notified() => keep(&stage, folder)?,
            () = tokio::time::sleep(LOOK_AGAIN) => keep(&stage, folder)?,
        }
    }
    keep(&stage, folder)?;
    stage.close().await;
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
