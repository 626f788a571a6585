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
    sandbox::{self, Binding, Pace, Prepared, Script, ScriptError},
};

use super::{policy::Mode, report, report::Report, script_api::ScriptApi};

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

/// Runs a prepared script in a worker and reports.
///
/// # Errors
/// When the machine cannot give randomness.
pub(super) async fn run(
    cx: &Context,
    caller: &dyn Caller,
    prepared: Prepared,
    mode: Mode,
) -> Result<Content, ToolError> {
    let mut seed = [0_u8; 8];
    getrandom::fill(&mut seed).map_err(ToolError::system)?;
    let now = cx.clock.now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let script = Script {
        prepared,
        bindings: bindings(cx),
        clock_ms: i64::try_from(now.as_millis()).unwrap_or(i64::MAX),
        seed: u64::from_le_bytes(seed),
        pace: Pace::default(),
    };
    let host = Arc::new(ScriptApi::new(cx, mode, Instant::now() + cx.limits.wall));
    let running = cx.pool.run(
        script,
        &cx.limits,
        Arc::clone(&host) as Arc<dyn sandbox::Host>,
        caller.cancelled().clone(),
        &cx.caller,
    );
    let outcome = with_progress(caller, &host, running).await;
    let report = Report {
        outcome,
        calls: host.calls(),
        warnings: host.warnings(),
        untrusted: host.untrusted(),
    };
    Ok(report.to_content(cx.limits.result))
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
