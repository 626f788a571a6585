//! Reports: one file for a task, a surface and an agent, with what can be looked up of each trial.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::agent::{Budgets, Client, End, Model, Usage};
use crate::agents::Expect;
use crate::answer::{self, Rejection};
use crate::evidence::{Evidence, Request, ToolCall};
use crate::grade::{self, Verdict};
use crate::state::Change;
use crate::task::{Suite, Surface, Task};
use crate::trial::Tried;

/// The version of the form below.
pub const SCHEMA: &str = "evals.report/1";

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    pub schema: String,
    /// RFC 3339, UTC.
    pub created: String,
    pub suite: Suite,
    pub task: String,
    pub surface: Surface,
    /// The server's `--confirm`.
    pub gate: String,
    /// Whether the surface is the negative control.
    pub control: bool,
    /// As it was named on the command line.
    pub agent: String,
    pub client: Client,
    pub model: Model,
    pub budgets: Budgets,
    pub prompt: Prompt,
    pub inventory: Inventory,
    pub provenance: Provenance,
    pub trials: Vec<Trial>,
    pub summary: Summary,
    /// Set in a report that judges the trials of another one again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regraded: Option<Regraded>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Prompt {
    pub user: String,
    /// `default`, or what replaced the client's own.
    pub system: String,
    pub instructions: Option<String>,
    pub sha256: String,
}

/// The tools as the agent was shown them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Inventory {
    pub tools: Vec<ToolShown>,
    pub sha256: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolShown {
    pub name: String,
    pub description_bytes: usize,
    pub schema_sha256: String,
}

/// What decides whether two reports are of the same series.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Provenance {
    pub git_commit: Option<String>,
    pub git_dirty: Option<bool>,
    pub binary_sha256: String,
    pub cargo_lock_sha256: Option<String>,
    pub openapi: Option<OpenApi>,
    pub fixture_src_sha256: Option<String>,
    pub verifier_src_sha256: String,
    pub parser_src_sha256: String,
    /// The prompt, the faults and the answer's form.
    pub scenario_sha256: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpenApi {
    /// The file, or `fixture`.
    pub source: String,
    pub version: Option<String>,
    pub sha256: String,
    pub paths: usize,
    pub operations: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Passed,
    Failed,
    /// Nobody's fault but the harness's, the model API's or the client's; counts in no rate.
    InfraError,
    /// All checks are fulfilled, but the fault that the task is about did not strike.
    FaultNotExercised,
    /// The control could not do it, said so and changed nothing.
    ControlOk,
    ControlUnexpected,
}

impl Status {
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::InfraError => "infra_error",
            Self::FaultNotExercised => "fault_not_exercised",
            Self::ControlOk => "control_ok",
            Self::ControlUnexpected => "control_unexpected",
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Trial {
    pub trial: usize,
    pub seed: u64,
    /// The member of a population, such as `mutant:M3`.
    pub agent: String,
    pub status: Status,
    /// Whether this is what the population is there to show.
    pub as_expected: bool,
    /// The checks of which one has to fail, for a mutant.
    pub expected_failures: Vec<String>,
    pub end: End,
    pub gate: String,
    pub wall_ms: u64,
    pub time_to_first_tool_ms: Option<u64>,
    pub usage: Usage,
    pub total_input: Option<u64>,
    pub tool_sequence: Vec<ToolUse>,
    pub api_calls: Vec<ApiCall>,
    /// Counts by method and class of status, and what never left the server.
    pub api_outcomes: BTreeMap<String, u64>,
    pub boundaries: Vec<Boundary>,
    pub baseline_hash: String,
    pub final_hash: String,
    pub answer: Answer,
    pub verdict: Verdict,
    /// Files beside the report.
    pub evidence: String,
    pub transcript: Option<String>,
    pub canary_hits: usize,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ToolUse {
    pub n: usize,
    pub tool: String,
    pub args_bytes: usize,
    pub result_bytes: usize,
    pub is_error: bool,
    pub ms: u64,
    /// The program, word for word.
    pub code: Option<String>,
    /// The arguments of tools that take none.
    pub arguments: Option<Value>,
    /// The beginning of the result.
    pub result: String,
    /// The requests meanwhile, by `seq`.
    pub api_calls: Vec<u64>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ApiCall {
    pub seq: u64,
    pub method: String,
    pub path: String,
    pub route: Option<String>,
    pub query: String,
    pub status: u16,
    pub bytes_in: usize,
    pub bytes_out: u64,
    pub fault: Option<String>,
    /// A 404 of the fixture, not of the agent.
    pub unimplemented: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Boundary {
    pub seq: u64,
    pub method: String,
    pub path: String,
    pub diff: Vec<Change>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    pub raw: String,
    pub rejection: Option<Rejection>,
    pub object: Option<Map<String, Value>>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    pub trials: usize,
    pub passed: usize,
    pub failed: usize,
    /// In no rate: harness, model API or client failed.
    pub infra: usize,
    pub as_expected: usize,
    pub mcp_calls_mean: f64,
    pub api_calls_mean: f64,
    pub wall_s_mean: f64,
}

/// Where the trials come from.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Regraded {
    pub original_sha256: String,
    pub verifier_src_sha256: String,
    pub parser_src_sha256: String,
    /// The verdicts of the original, in order.
    pub verdicts: Vec<Verdict>,
}

/// The longest part of a result that is kept in a report; the evidence has all of it.
const SHOWN_BYTES: usize = 4_000;

impl Trial {
    pub fn new(number: usize, agent: &str, expect: Expect, task: &Task, tried: &Tried) -> Self {
        let Tried { evidence, verdict, transcript, wall_ms, .. } = tried;
        let control =
            Surface::ALL.into_iter().any(|it| it.name() == evidence.surface && task.is_control(it));
        let status = status(task, tried, control);
        let met = |ids: &[&str]| verdict.failed().iter().any(|it| ids.contains(it));
        let as_expected = match expect {
            Expect::Pass => matches!(status, Status::Passed | Status::ControlOk),
            Expect::Fail(ids) => status == Status::Failed && met(ids),
        };
        let parsed = answer::parse(&evidence.final_text);
        Self {
            trial: number,
            seed: evidence.seed,
            agent: agent.to_owned(),
            status,
            as_expected,
            expected_failures: match expect {
                Expect::Pass => Vec::new(),
                Expect::Fail(ids) => ids.iter().map(|it| (*it).to_owned()).collect(),
            },
            end: transcript.end.clone(),
            gate: evidence.gate.clone(),
            wall_ms: *wall_ms,
            time_to_first_tool_ms: evidence.tools.first().map(|it| it.at_ms),
            usage: transcript.usage.clone(),
            total_input: transcript.usage.total_input(),
            tool_sequence: evidence.tools.iter().map(|it| tool_use(evidence, it)).collect(),
            api_calls: evidence.requests.iter().map(api_call).collect(),
            api_outcomes: outcomes(evidence),
            boundaries: evidence.requests.iter().filter(|it| it.wrote).map(boundary).collect(),
            baseline_hash: evidence.baseline_hash.clone(),
            final_hash: evidence.final_hash.clone(),
            answer: Answer {
                raw: evidence.final_text.clone(),
                rejection: parsed.as_ref().err().copied(),
                object: parsed.ok(),
            },
            verdict: verdict.clone(),
            evidence: String::new(),
            transcript: None,
            canary_hits: evidence.leaks,
        }
    }
}

/// What a trial amounts to.
pub fn status(task: &Task, tried: &Tried, control: bool) -> Status {
    let Tried { evidence, verdict, transcript, .. } = tried;
    match (&transcript.end, verdict.pass) {
        (End::Infra(_), _) => Status::InfraError,
        (_, _) if control && grade::control_holds(verdict, evidence) => Status::ControlOk,
        (_, _) if control => Status::ControlUnexpected,
        (_, false) => Status::Failed,
        (_, true) if grade::was_exercised(task, evidence) => Status::Passed,
        (_, true) => Status::FaultNotExercised,
    }
}

fn tool_use(evidence: &Evidence, call: &ToolCall) -> ToolUse {
    let code = call.arguments["code"].as_str().map(str::to_owned);
    let end = call.result.floor_char_boundary(SHOWN_BYTES);
    ToolUse {
        n: call.n,
        tool: call.tool.clone(),
        args_bytes: call.arguments.to_string().len(),
        result_bytes: call.result.len(),
        is_error: call.is_error,
        ms: call.ms,
        arguments: code.is_none().then(|| call.arguments.clone()),
        code,
        result: call.result.get(..end).unwrap_or_default().to_owned(),
        api_calls: evidence.requests_of(call).map(|it| it.seq).collect(),
    }
}

fn api_call(request: &Request) -> ApiCall {
    ApiCall {
        seq: request.seq,
        method: request.method.clone(),
        path: request.path.clone(),
        route: request.route.clone(),
        query: request.query.clone(),
        status: request.status,
        bytes_in: request.body.as_ref().map_or(0, |it| it.to_string().len()),
        bytes_out: request.bytes,
        fault: request.fault.clone(),
        unimplemented: request.unimplemented,
    }
}

fn boundary(request: &Request) -> Boundary {
    Boundary {
        seq: request.seq,
        method: request.method.clone(),
        path: request.path.clone(),
        diff: request.diff.clone(),
    }
}

fn outcomes(evidence: &Evidence) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for request in &evidence.requests {
        let class = format!("{} {}xx", request.method, request.status / 100);
        *counts.entry(class).or_default() += 1;
    }
    counts.insert("policy_refused".to_owned(), evidence.refused() as u64);
    counts
}

impl Summary {
    pub fn of(trials: &[Trial]) -> Self {
        let count = |holds: fn(&Trial) -> bool| trials.iter().filter(|it| holds(it)).count();
        let mean = |value: fn(&Trial) -> f64| {
            trials.iter().map(value).sum::<f64>() / trials.len().max(1) as f64
        };
        Self {
            trials: trials.len(),
            passed: count(|it| it.status == Status::Passed),
            failed: count(|it| matches!(it.status, Status::Failed | Status::FaultNotExercised)),
            infra: count(|it| it.status == Status::InfraError),
            as_expected: count(|it| it.as_expected),
            mcp_calls_mean: mean(|it| it.tool_sequence.len() as f64),
            api_calls_mean: mean(|it| it.api_calls.len() as f64),
            wall_s_mean: mean(|it| it.wall_ms as f64 / 1000.0),
        }
    }
}

impl Inventory {
    pub fn of(tools: &[Value]) -> Self {
        let shown = tools.iter().map(|it| ToolShown {
            name: it["name"].as_str().unwrap_or_default().to_owned(),
            description_bytes: it["description"].as_str().map_or(0, str::len),
            schema_sha256: crate::state::hash(&it["inputSchema"]),
        });
        Self { tools: shown.collect(), sha256: crate::state::hash(&Value::from(tools.to_vec())) }
    }
}
