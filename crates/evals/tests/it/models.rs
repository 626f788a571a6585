//! Agents with a model behind them, where the model is on loopback and follows a script: the whole
//! way from the model's calls to the verdict.

use std::path::{Path, PathBuf};

use evals::agent::{Agent, Budgets, End, Endpoint, Job};
use evals::agents::claude::Claude;
use evals::agents::codex::Codex;
use evals::agents::http::Http;
use evals::agents::scripted::fenced;
use evals::agents::{Options, find};
use evals::cli::prepare;
use evals::task::{Says, Script, Step, Surface, edited};
use evals::tasks;
use evals::trial::{self, Setting, Tried};
use mocks::{ModelAnswer, ModelRequest, ModelServer, Tokens};
use serde_json::{Value, json};

use crate::population::report_skip;

const KEY: &str = "sk-loopback-0123456789";

/// A model that plays a reference script, whichever client stands in between.
fn playing(script: &'static Script) -> ModelServer {
    ModelServer::start(move |request| {
        let tokens = Tokens {
            uncached_input: 10,
            cache_creation: 3,
            cache_read: 5,
            output: 7,
            reasoning: 2,
        };
        play(script, request).costing(tokens)
    })
    .unwrap()
}

fn play(script: &Script, request: &ModelRequest) -> ModelAnswer {
    let mut past: Vec<Value> = Vec::new();
    let mut confirm = None;
    for result in request.results() {
        // Codex says how long a call took, and gives its answer below.
        let result =
            match result.strip_prefix("Wall time: ").and_then(|it| it.split_once("Output:")) {
                Some((_, answer)) => answer.trim().to_owned(),
                None => result,
            };
        let report: Value = serde_json::from_str(&result).unwrap_or(Value::String(result));
        if report["status"] == "needs_confirmation" {
            confirm = report.get("confirm").cloned();
        } else {
            past.push(report.get("result").cloned().unwrap_or(report));
            confirm = None;
        }
    }
    let Some(step) = script.steps.get(past.len()) else {
        return ModelAnswer::say(match script.says {
            Says::Last => fenced(past.last().unwrap_or(&Value::Null)),
            Says::Answer(answer) => fenced(&answer(&past)),
            Says::Text(text) => text(&past),
        });
    };
    let program = |text, edits| match past.last() {
        Some(last) => format!("const last = {last};\n{}", edited(text, edits).unwrap()),
        None => edited(text, edits).unwrap(),
    };
    let (tool, mut arguments) = match *step {
        Step::Search(query) => ("search", json!({ "query": query })),
        Step::Read(text, edits) => ("execute", json!({ "code": program(text, edits) })),
        Step::Write(text, edits) => ("execute_write", json!({ "code": program(text, edits) })),
        Step::Tool(tool, arguments) | Step::Once(tool, arguments) => (tool, arguments(&past)),
    };
    if let Some(confirm) = confirm {
        arguments["confirm"] = confirm;
    }
    // Clients put the server's name before the tool's.
    let whole = format!("__{tool}");
    let name = request.tools().into_iter().find(|it| it == tool || it.ends_with(&whole));
    ModelAnswer::call(name.unwrap_or_else(|| tool.to_owned()), arguments)
}

fn variables(server: &ModelServer) -> impl Fn(&str) -> Option<String> {
    let base = server.base_url.clone();
    move |name| match name {
        "OPENAI_API_KEY" | "ANTHROPIC_API_KEY" => Some(KEY.to_owned()),
        "OPENAI_BASE_URL" => Some(format!("{base}/v1")),
        "ANTHROPIC_BASE_URL" => Some(base.clone()),
        _ => None,
    }
}

/// A trial of the first task, with an agent for a loopback model that plays its reference.
async fn tried(
    folder: &Path,
    agent: impl FnOnce(&ModelServer) -> anyhow::Result<Box<dyn Agent>>,
) -> Option<(Tried, ModelServer)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let setup = match prepare(&root, folder, None, true) {
        Ok(setup) => setup,
        Err(error) => {
            report_skip(&format!("{error:#}"));
            return None;
        }
    };
    let task = tasks::find("dashboard").unwrap();
    let server = playing(task.reference(Surface::CodeMode).unwrap());
    let agent = agent(&server).unwrap();
    let setting = Setting {
        task,
        surface: Surface::CodeMode,
        seed: 1,
        gate: "plan",
        model: None,
        effort: None,
        budgets: Budgets::default(),
        transcript: folder.join("transcript.jsonl"),
    };
    let tried = trial::run(setting, &setup, &*agent).await.unwrap();
    Some((tried, server))
}

fn options(variable: &dyn Fn(&str) -> Option<String>) -> Options<'_> {
    Options { model: Some("loopback-1"), effort: None, variable }
}

#[track_caller]
fn assert_passed(tried: &Tried, transcript: &str) {
    assert_eq!(tried.transcript.end, End::Completed, "{transcript}");
    assert!(tried.verdict.pass, "{:?}\n{transcript}", tried.verdict);
    assert_eq!(tried.evidence.leaks, 0);
    assert!(!transcript.contains(KEY), "the key is in the transcript");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_follows_the_reference_passes_over_both_apis_and_its_cost_is_split() {
    for kind in ["openai", "anthropic"] {
        let folder = tempfile::tempdir().unwrap();
        let made = |server: &ModelServer| -> anyhow::Result<Box<dyn Agent>> {
            let variable = variables(server);
            Ok(match kind {
                "openai" => Box::new(Http::openai(options(&variable))?),
                _ => Box::new(Http::anthropic(options(&variable))?),
            })
        };
        let Some((tried, server)) = tried(folder.path(), made).await else { return };
        let transcript = std::fs::read_to_string(folder.path().join("transcript.jsonl")).unwrap();
        assert_passed(&tried, &transcript);
        let requests = server.requests().len() as u64;
        let usage = &tried.transcript.usage;
        assert_eq!((usage.requests, usage.uncached_input), (requests, Some(10 * requests)));
        let creation = (kind == "anthropic").then_some(3 * requests);
        assert_eq!((usage.cache_creation, usage.cache_read), (creation, Some(5 * requests)));
        assert_eq!(usage.output, Some(7 * requests));
        let model = &tried.transcript.model;
        assert_eq!(model.resolved.as_deref(), Some("loopback-1-2026-11-30"));
        assert_eq!(model.resolved_source, "response.model");
        assert!(transcript.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
    }
}

fn job(folder: &Path) -> Job {
    Job {
        mcp: Endpoint { url: "http://127.0.0.1:9/mcp".to_owned(), bearer: None },
        task: "none",
        prompt: "Go".to_owned(),
        system: None,
        instructions: None,
        model: None,
        effort: None,
        budgets: Budgets::default(),
        directory: folder.to_owned(),
        transcript: folder.join("transcript.jsonl"),
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_no_fault_of_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let server = ModelServer::script([]).unwrap();
    let variable = variables(&server);
    let agent = Http::openai(options(&variable)).unwrap();
    let transcript = agent.run(&job(folder.path())).await;
    let End::Infra(why) = transcript.end else { panic!("{:?}", transcript.end) };
    assert!(why.contains("127.0.0.1:9"), "{why}");
    assert!(server.requests().is_empty());
}

#[test]
fn a_missing_key_is_named() {
    let nothing = |_: &str| None;
    let options = Options { model: None, effort: None, variable: &nothing };
    for (agent, variable) in [
        ("openai", "OPENAI_API_KEY"),
        ("anthropic", "ANTHROPIC_API_KEY"),
        ("claude", "ANTHROPIC_API_KEY"),
        ("codex", "OPENAI_API_KEY"),
    ] {
        let error = find(agent, tasks::ALL[0], Surface::CodeMode, options).unwrap_err();
        assert!(error.to_string().contains(&format!("needs a key: set `{variable}`")), "{error}");
    }
}

/// The clients of `CLAUDE_BIN` and `CODEX_BIN`, where they are named.
#[expect(clippy::disallowed_methods, reason = "an opt-in test")]
fn client(name: &str) -> Option<PathBuf> {
    let named = std::env::var(name).ok();
    if named.is_none() {
        report_skip(&format!("`{name}` names no client"));
    }
    named.map(PathBuf::from)
}

/// Runs the named client against the loopback model.
async fn with_client(
    name: &'static str,
    made: impl FnOnce(Options<'_>) -> anyhow::Result<Box<dyn Agent>>,
) {
    let Some(program) = client(name) else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = std::env::var_os("PATH").and_then(|it| it.into_string().ok());
    let agent = |server: &ModelServer| {
        let rest = variables(server);
        let variable = move |asked: &str| match asked {
            "PATH" => path.clone(),
            _ if asked == name => Some(program.display().to_string()),
            _ => rest(asked),
        };
        made(options(&variable))
    };
    let Some((tried, server)) = tried(folder.path(), agent).await else { return };
    let transcript = std::fs::read_to_string(folder.path().join("transcript.jsonl")).unwrap();
    let tools: Vec<_> = server.requests().iter().map(ModelRequest::tools).collect();
    assert_passed(&tried, &format!("{tools:?}\n{transcript}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn claude_code_passes_with_a_loopback_model() {
    with_client("CLAUDE_BIN", |options| Ok(Box::new(Claude::new(options)?))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn codex_passes_with_a_loopback_model() {
    with_client("CODEX_BIN", |options| Ok(Box::new(Codex::new(options)?))).await;
}
