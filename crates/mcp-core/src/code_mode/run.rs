//! One script, from the agent's text to the report.

use std::{
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use crate::{
    caller::Caller,
    context::Context,
    error::ToolError,
    output::Content,
    sandbox::{self, Binding, Host as _, HostCall, Outcome, Pace, Prepared, Script, ScriptError},
};

use super::{
    plan::{self, Gate},
    policy::Mode,
    report,
    report::Report,
    script_api::ScriptApi,
    single_call,
};

/// A running script says so this often, where the client asked for it.
const PROGRESS_EVERY: Duration = Duration::from_secs(4);

/// Reads the script without running it.
///
/// # Errors
/// The failure as the tool's answer: a syntax error with its place, or a script that is too large.
pub(super) fn prepare(cx: &Context, code: &str) -> Result<Prepared, Content> {
    if code.len() > cx.limits.script {
        return Err(failure(&ScriptError::new(
            "LimitError",
            format!("the script has {} bytes, the limit is {}", code.len(), cx.limits.script),
        )));
    }
    sandbox::prepare(code).map_err(|error| failure(&error))
}

fn failure(error: &ScriptError) -> Content {
    Content::error(
        serde_json::json!({ "error": report::error_json(error), "calls": [], "logs": [] })
            .to_string(),
    )
}

/// Does a task, everything the policy admits, and reports.
///
/// # Errors
/// When the machine cannot give randomness.
pub(crate) async fn run(
    cx: &Context,
    caller: &dyn Caller,
    task: Task,
    mode: Mode,
) -> Result<Content, ToolError> {
    let moment = Moment::now(cx)?;
    let finished = launch(cx, caller, task, mode, Gate::Open, moment).await;
    Ok(finished.report().to_content(cx.limits.result))
}

/// What a script's clock and dice start from: the same in every run of a plan.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    pub(super) clock_ms: i64,
    pub(super) seed: u64,
}

impl Moment {
    /// The present, and dice nobody has thrown before.
    ///
    /// # Errors
    /// When the machine cannot give randomness.
    pub(super) fn now(cx: &Context) -> Result<Self, ToolError> {
        let mut seed = [0_u8; 8];
        getrandom::fill(&mut seed).map_err(ToolError::system)?;
        let now = cx.clock.now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Ok(Self {
            clock_ms: i64::try_from(now.as_millis()).unwrap_or(i64::MAX),
            seed: u64::from_le_bytes(seed),
        })
    }
}

/// A run that is over.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) outcome: Outcome,
    pub(super) host: Arc<ScriptApi>,
}

impl Finished {
    /// What the run brought, as it is told.
    pub(super) fn report(&self) -> Report {
        Report {
            outcome: self.outcome.clone(),
            calls: self.host.calls(),
            warnings: self.host.warnings(),
            untrusted: self.host.untrusted(),
            incomplete: None,
        }
    }
}

/// What an agent wants done: a script, or one call.
#[derive(Debug, Clone)]
pub(crate) enum Task {
    Script(Prepared),
    /// A call of one operation, as `api.call` would make it.
    Call {
        /// The API's number.
        binding: usize,
        /// `[operationId, arguments]`.
        arguments: String,
    },
}

/// Does a task behind a gate.
pub(super) async fn launch(
    cx: &Context,
    caller: &dyn Caller,
    task: Task,
    mode: Mode,
    gate: Gate,
    moment: Moment,
) -> Finished {
    let end = caller.cancelled().child_token();
    let deadline = Instant::now() + cx.limits.wall;
    let pace = match gate {
        Gate::Open => Pace::Free,
        Gate::Apply(_) => Pace::Ordered,
        Gate::Rehearsal(_) | Gate::Replay(_) => Pace::Rehearsal,
    };
    let host = Arc::new(ScriptApi::new(cx, mode, gate, deadline, end.clone()));
    let mut outcome = match task {
        Task::Script(prepared) => {
            let script = script(cx, prepared, pace, moment);
            let host_functions = Arc::clone(&host) as Arc<dyn sandbox::Host>;
            let running = cx.pool.run(script, &cx.limits, host_functions, end, &cx.caller);
            with_progress(caller, &host, running).await
        }
        Task::Call { binding, arguments } => {
            let call = HostCall { binding, function: "call".to_owned(), arguments };
            let answer = async {
                tokio::select! {
                    answer = host.call(call) => single_call::outcome(cx, binding, &host, answer),
                    () = end.cancelled() => single_call::cancelled(),
                }
            };
            with_progress(caller, &host, answer).await
        }
    };
    // Whatever the script made of it, the reason why nothing more was sent is the result.
    if let Some(halted) = host.halted()
        && !outcome.result.as_ref().is_err_and(|error| error.message == halted.message)
    {
        outcome.result = Err(ScriptError::from(halted.clone()));
        outcome.stop = None;
    }
    if let Some(nonce) = host.gate().nonce() {
        tidy(&mut outcome, nonce);
    }
    Finished { outcome, host }
}

fn script(cx: &Context, prepared: Prepared, pace: Pace, moment: Moment) -> Script {
    Script { prepared, bindings: bindings(cx), clock_ms: moment.clock_ms, seed: moment.seed, pace }
}

/// Shows symbols as people know them.
fn tidy(outcome: &mut Outcome, nonce: &str) {
    for line in &mut outcome.logs {
        *line = plan::clean(line, nonce);
    }
    match &mut outcome.result {
        Ok(json) => *json = plan::clean(json, nonce),
        Err(error) => error.message = plan::clean(&error.message, nonce),
    }
}

/// What a script can call: each API under its names, and `files` behind them, if there are any.
fn bindings(cx: &Context) -> Vec<Binding> {
    let alone = cx.apis.len() == 1;
    let apis = cx.apis.iter().map(|api| Binding { names: api.binding_names(alone) });
    let files = (!cx.files.is_empty()).then(|| Binding { names: vec!["files".to_owned()] });
    apis.chain(files).collect()
}

/// Tells the client every few seconds that the script is still running.
async fn with_progress<T>(
    caller: &dyn Caller,
    host: &ScriptApi,
    running: impl Future<Output = T>,
) -> T {
    let mut running = std::pin::pin!(running);
    if !caller.wants_progress() {
        return running.await;
    }
    let mut step = 0.0;
    loop {
        tokio::select! {
            finished = &mut running => return finished,
            () = tokio::time::sleep(PROGRESS_EVERY) => {
                step += 1.0;
                let calls = host.calls().len();
                caller.progress(step, &format!("running, {calls} calls so far")).await;
            }
        }
    }
}
