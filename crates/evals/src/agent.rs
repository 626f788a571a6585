//! What plugs in: an agent gets a job and hands back its last words.
//!
//! What it did meanwhile is not its to tell: the harness sees every call of a tool on the wire and
//! every request in the world.

use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

/// Someone who can be given a job.
#[async_trait]
pub trait Agent: Send + Sync {
    fn client(&self) -> Client;

    /// Does the job, within its budgets.
    async fn run(&self, job: &Job) -> Transcript;
}

/// Who the agent is, for the report.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Client {
    /// `scripted`, `external`, `openai-api`, `anthropic-api`, `claude-cli`, `codex-cli`.
    pub kind: String,
    pub version: Option<String>,
    /// The command line, secrets left out.
    pub argv: Vec<String>,
    /// The names of the environment variables it was given.
    pub env_names: Vec<String>,
}

/// One job: a prompt, and a server to do it with.
#[derive(Clone, Debug)]
pub struct Job {
    pub mcp: Endpoint,
    pub task: &'static str,
    pub prompt: String,
    /// Replaces the client's own system prompt, where it can be replaced.
    pub system: Option<String>,
    /// Added to the client's system prompt.
    pub instructions: Option<String>,
    pub model: Option<String>,
    pub effort: Option<String>,
    pub budgets: Budgets,
    /// An empty directory of its own.
    pub directory: PathBuf,
    /// Where an agent may leave its raw transcript, as JSON lines.
    pub transcript: PathBuf,
}

/// Where the MCP server is: streamable HTTP on a loopback address.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Endpoint {
    pub url: String,
    /// What to send as `Authorization: Bearer …`, if anything.
    pub bearer: Option<String>,
}

impl Job {
    /// Connects to the server as a well-behaved client does.
    pub async fn connect(&self) -> Result<test_client::Client, test_client::Error> {
        let bearer = self.mcp.bearer.as_ref().map(|it| format!("Bearer {it}"));
        let headers: Vec<(&str, &str)> =
            bearer.iter().map(|it| ("authorization", it.as_str())).collect();
        test_client::Client::http(&self.mcp.url, &headers).await
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Budgets {
    pub max_turns: u32,
    pub wall_s: u64,
    /// A longer result is cut before a model sees it.
    pub max_tool_result_bytes: usize,
}

impl Default for Budgets {
    fn default() -> Self {
        Self { max_turns: 24, wall_s: 300, max_tool_result_bytes: 256 * 1024 }
    }
}

impl Budgets {
    pub fn wall(&self) -> Duration {
        Duration::from_secs(self.wall_s)
    }
}

/// What an agent hands back.
#[derive(Clone, Debug)]
pub struct Transcript {
    pub final_text: String,
    pub end: End,
    pub usage: Usage,
    pub model: Model,
}

impl Transcript {
    /// An end without an answer.
    pub fn ended(end: End) -> Self {
        Self { final_text: String::new(), end, usage: Usage::default(), model: Model::default() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    Completed,
    MaxTurns,
    Timeout,
    /// Not the agent's doing: no key, a model's error, a client that crashed, a wrong inventory.
    Infra(String),
}

/// The model as it was asked for and as it answered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Model {
    pub requested: Option<String>,
    pub resolved: Option<String>,
    /// Where `resolved` comes from, or `unknown`.
    pub resolved_source: String,
    pub all_models_seen: Vec<String>,
    pub effort: Option<String>,
}

/// Tokens in their separate parts; what a client does not tell is none, never zero.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Usage {
    pub uncached_input: Option<u64>,
    pub cache_creation: Option<u64>,
    pub cache_read: Option<u64>,
    pub output: Option<u64>,
    /// Part of `output`.
    pub reasoning_output: Option<u64>,
    /// Where the figures come from.
    pub source: Option<String>,
    /// Requests to the model.
    pub requests: u64,
    pub reported_cost_usd: Option<f64>,
}

impl Usage {
    /// All tokens that went in, where all parts are known or absent.
    pub fn total_input(&self) -> Option<u64> {
        let rest = self.cache_creation.unwrap_or(0) + self.cache_read.unwrap_or(0);
        self.uncached_input.map(|it| it + rest)
    }
}
