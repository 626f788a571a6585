//! One trial: a fresh world, a fresh server, an agent, and what can be proved afterwards.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use serde_json::Value;

use crate::agent::{Agent, Budgets, End, Endpoint, Job, Transcript};
use crate::evidence::Evidence;
use crate::grade::{self, Verdict};
use crate::server::{Kind, Server, Setup};
use crate::state::{self, apply};
use crate::task::{Api, Surface, Task};
use crate::tasks;
use crate::wire::{OnCall, Wire};
use crate::world::World;

/// What decides how a trial goes, but for the agent.
#[derive(Clone, Debug)]
pub struct Setting {
    pub task: &'static Task,
    pub surface: Surface,
    pub seed: u64,
    /// The server's `--confirm`.
    pub gate: &'static str,
    pub model: Option<String>,
    pub effort: Option<String>,
    pub budgets: Budgets,
    /// Where the raw transcript goes.
    pub transcript: PathBuf,
}

/// Everything that runs during a trial.
#[derive(Debug)]
pub struct Stage {
    pub setting: Setting,
    pub world: World,
    pub wire: Arc<Wire>,
    server: Server,
    directory: tempfile::TempDir,
}

impl Stage {
    pub async fn open(setting: Setting, setup: &Setup, on_call: Option<OnCall>) -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let Setting { task, surface, gate, seed, .. } = setting;
        let idle = setting.kind().and_then(|kind| setup.pool.as_ref()?.take(kind));
        let (world, server) = match idle {
            Some((world, server)) => (world.turn_into(task, seed)?, server),
            None => {
                let world = World::start(task, seed)?;
                let server = Server::start(setup, &world, task, surface, gate).await?;
                (world, server)
            }
        };
        let wire = Arc::new(Wire::lay(&server.endpoint, &world, &setup.passage, on_call).await?);
        Ok(Self { setting, world, wire, server, directory })
    }

    pub fn job(&self) -> Job {
        let Setting { task, surface, budgets, .. } = self.setting;
        Job {
            mcp: Endpoint { url: self.wire.endpoint.clone(), bearer: None },
            task: task.name,
            prompt: task.full_prompt(),
            system: None,
            instructions: instructions(surface).map(str::to_owned),
            model: self.setting.model.clone(),
            effort: self.setting.effort.clone(),
            budgets,
            directory: self.directory.path().to_owned(),
            transcript: self.setting.transcript.clone(),
        }
    }

    /// What can be seen of the trial so far, the world's token taken out.
    pub fn evidence(&self, final_text: &str) -> Result<Evidence> {
        evidence(&self.setting, &self.world, &self.wire, final_text)
    }

    pub async fn close(self) {
        self.server.stop().await;
    }

    /// Leaves the server to another trial where that can do no harm.
    async fn leave(self, setup: &Setup) {
        match (&setup.pool, self.setting.kind()) {
            (Some(pool), Some(kind)) => pool.give(kind, self.world, self.server),
            (_, _) => self.close().await,
        }
    }
}

impl Setting {
    /// What its server is like; none when no other trial should have it: options of its own, or
    /// requests that may still hang when the trial is over.
    fn kind(&self) -> Option<Kind> {
        let Task { api, options, faults, .. } = self.task;
        let alike = options.is_empty() && !faults().to_string().contains("stall");
        alike.then_some((*api, self.surface, self.gate))
    }
}

/// What is seen from outside of a stage.
pub fn evidence(
    setting: &Setting,
    world: &World,
    wire: &Wire,
    final_text: &str,
) -> Result<Evidence> {
    let Setting { task, surface, seed, gate, .. } = setting;
    let tools = wire.calls();
    let spoken = serde_json::to_string(&(&tools, final_text))?;
    let evidence = Evidence {
        task: task.name.to_owned(),
        surface: surface.name().to_owned(),
        seed: *seed,
        gate: (*gate).to_owned(),
        baseline_hash: world.baseline_hash.clone(),
        expected_hash: expected_hash(task, *seed).unwrap_or_else(|| world.baseline_hash.clone()),
        final_hash: world.final_hash(),
        requests: world.requests()?,
        tools,
        inventory: wire.inventory(),
        final_text: final_text.to_owned(),
        leaks: spoken.matches(world.token()).count(),
    };
    let hash = state::hex(world.token().as_bytes());
    let mark = format!("«redacted:{}»", hash.get(..8).unwrap_or_default());
    let text = serde_json::to_string(&evidence)?.replace(world.token(), &mark);
    Ok(serde_json::from_str(&text)?)
}

/// What is added to the system prompt of a model that has code mode and nothing else.
pub fn instructions(surface: Surface) -> Option<&'static str> {
    (surface == Surface::CodeMode).then_some(include_str!("instructions.md"))
}

/// The committed hash of a world at its start; none for seeds that nobody pinned.
pub fn expected_hash(task: &Task, seed: u64) -> Option<String> {
    let table: Value = serde_json::from_str(include_str!("../baselines.json")).unwrap_or_default();
    table[world_name(task)][seed.to_string()].as_str().map(str::to_owned)
}

/// The API, and what the world has beyond the usual.
fn world_name(task: &Task) -> String {
    let name = match task.api {
        Api::Authentik => "authentik",
        Api::Sentry => "sentry",
    };
    match (task.extra)() {
        Value::Null => name.to_owned(),
        Value::String(extra) => format!("{name} {extra}"),
        extra => format!("{name} {extra}"),
    }
}

/// What a trial brought.
#[derive(Clone, Debug)]
pub struct Tried {
    pub evidence: Evidence,
    pub baseline: Arc<Value>,
    pub verdict: Verdict,
    pub transcript: Transcript,
    pub wall_ms: u64,
}

/// Runs an agent through a trial and judges it.
///
/// # Errors
/// The world or the server did not start: nothing was tried.
pub async fn run(setting: Setting, setup: &Setup, agent: &dyn Agent) -> Result<Tried> {
    let stage = Stage::open(setting, setup, None).await?;
    let job = stage.job();
    let started = Instant::now();
    let mut transcript = match tokio::time::timeout(job.budgets.wall(), agent.run(&job)).await {
        Ok(transcript) => transcript,
        Err(_) => Transcript::ended(End::Timeout),
    };
    let wall_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let evidence = stage.evidence(&transcript.final_text)?;
    let baseline = Arc::clone(&stage.world.baseline);
    if let Some(flaw) = flaw(&evidence, &baseline) {
        transcript.end = End::Infra(flaw);
    }
    let verdict = grade::grade(stage.setting.task, &evidence, &baseline);
    match transcript.end {
        End::Completed => stage.leave(setup).await,
        End::MaxTurns | End::Timeout | End::Infra(_) => stage.close().await,
    }
    Ok(Tried { evidence, baseline, verdict, transcript, wall_ms })
}

/// What makes the evidence itself doubtful.
fn flaw(evidence: &Evidence, baseline: &Value) -> Option<String> {
    let mut state = baseline.clone();
    let changes = evidence.requests.iter().flat_map(|it| it.mutated.iter().chain(&it.diff));
    changes.for_each(|change| apply(&mut state, change));
    if state::hash(&state) != evidence.final_hash {
        return Some("the logged changes do not lead to the final state".to_owned());
    }
    let broken = evidence.requests.iter().find(|it| it.handler_status == Some(500));
    broken.map(|it| format!("the world failed at {} {}", it.method, it.path))
}

/// How the worlds start for the seeds that are pinned, as `baselines.json` has it.
pub fn baselines() -> Result<Value> {
    let mut table = serde_json::Map::new();
    for task in tasks::every() {
        let name = world_name(task);
        if table.contains_key(&name) {
            continue;
        }
        let seeds = (1..=5)
            .map(|seed| Ok((seed.to_string(), World::start(task, seed)?.baseline_hash.into())));
        table.insert(name, Value::Object(seeds.collect::<Result<_>>()?));
    }
    Ok(table.into())
}
