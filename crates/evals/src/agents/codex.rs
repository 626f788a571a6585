//! Codex, without its user's configuration and without tools of its own as far as it allows.

use anyhow::Result;
use async_trait::async_trait;
use serde_json::Value;

use super::Options;
use super::cli::{self, Installed, Printed};
use crate::agent::{Agent, Client, End, Job, Model, Transcript, Usage};

/// The variable the client reads the server's token from.
const TOKEN: &str = "EVAL_MCP_TOKEN";

/// What the client can do by itself and is not to do.
const FEATURES: [&str; 11] = [
    "shell_tool",
    "unified_exec",
    "view_image",
    "goals",
    "apps",
    "plugins",
    "hooks",
    "multi_agent",
    "tool_suggest",
    "skill_search",
    "image_generation",
];

#[derive(Clone, Debug)]
pub struct Codex {
    installed: Installed,
    model: String,
    effort: Option<String>,
}

impl Codex {
    /// The client named by `CODEX_BIN`, or `codex`, with the key of `OPENAI_API_KEY`.
    ///
    /// # Errors
    /// No client, or no key.
    pub fn new(options: Options<'_>) -> Result<Self> {
        let names = ("CODEX_BIN", "OPENAI_API_KEY", "OPENAI_BASE_URL");
        let installed = Installed::find("codex", names.0, names.1, names.2, options)?;
        let model = options.model.unwrap_or("gpt-5").to_owned();
        Ok(Self { installed, model, effort: options.effort.map(str::to_owned) })
    }

    fn arguments(&self, job: &Job) -> Vec<String> {
        let mut arguments: Vec<String> = [
            &["exec", "--json", "--ephemeral", "--ignore-user-config", "--ignore-rules"][..],
            &["--skip-git-repo-check", "--strict-config", "-s", "read-only", "-m", &self.model],
        ]
        .concat()
        .into_iter()
        .map(str::to_owned)
        .collect();
        let at = |name: &str| job.directory.join(name).display().to_string();
        arguments.extend(["-C".to_owned(), at("work"), "-o".to_owned(), at("last.txt")]);
        arguments.extend(FEATURES.iter().flat_map(|it| ["--disable".to_owned(), (*it).to_owned()]));
        let base = self.installed.base_url.as_deref().unwrap_or("https://api.openai.com/v1");
        let mut settings = vec![
            ("approval_policy", "never"),
            ("web_search", "disabled"),
            ("mcp_servers.sentry.url", job.mcp.url.as_str()),
            // Without this every call waits for an approval that never comes.
            ("mcp_servers.sentry.default_tools_approval_mode", "approve"),
            // A provider of our own takes its key from the environment, without a log-in.
            ("model_provider", "eval"),
            ("model_providers.eval.name", "eval"),
            ("model_providers.eval.base_url", base),
            ("model_providers.eval.env_key", self.installed.key_name),
            ("model_providers.eval.wire_api", "responses"),
        ];
        settings.extend(self.effort.as_deref().map(|it| ("model_reasoning_effort", it)));
        settings.extend(job.instructions.as_deref().map(|it| ("developer_instructions", it)));
        if job.mcp.bearer.is_some() {
            settings.push(("mcp_servers.sentry.bearer_token_env_var", TOKEN));
        }
        let settings = settings.iter().map(|(key, value)| format!("{key}={}", Value::from(*value)));
        let settings = settings.chain(["mcp_servers.sentry.required=true".to_owned()]);
        arguments.extend(settings.flat_map(|it| ["-c".to_owned(), it]));
        arguments.push(job.prompt.clone());
        arguments
    }

    async fn work(&self, job: &Job) -> Result<Transcript> {
        for name in ["work", "codex"] {
            tokio::fs::create_dir_all(job.directory.join(name)).await?;
        }
        let mut command = self.installed.command(job);
        command.env("CODEX_HOME", job.directory.join("codex")).args(self.arguments(job));
        if let Some(bearer) = &job.mcp.bearer {
            command.env(TOKEN, bearer);
        }
        let printed = cli::run(&self.installed, command, job).await?;
        Ok(read(&printed, &self.model, self.effort.as_deref()))
    }
}

#[async_trait]
impl Agent for Codex {
    fn client(&self) -> Client {
        Client {
            kind: "codex-cli".to_owned(),
            version: self.installed.version.clone(),
            argv: vec![self.installed.program.clone(), "exec".to_owned()],
            env_names: vec![self.installed.key_name.to_owned(), TOKEN.to_owned()],
        }
    }

    async fn run(&self, job: &Job) -> Transcript {
        match self.work(job).await {
            Ok(transcript) => transcript,
            Err(error) => Transcript::ended(End::Infra(format!("{error:#}"))),
        }
    }
}

/// Reads what the client printed. Its input includes what came from the cache; it names no model.
fn read(printed: &Printed, model: &str, effort: Option<&str>) -> Transcript {
    let of = |kind: &'static str| printed.events.iter().filter(move |event| event["type"] == kind);
    let items = || of("item.completed").map(|event| &event["item"]);
    let said = items().rfind(|item| item["type"] == "agent_message");
    let turn = of("turn.completed").next_back();
    let usage = turn.map_or(&Value::Null, |it| &it["usage"]);
    let (read, written) =
        (usage["cached_input_tokens"].as_u64(), usage["cache_write_input_tokens"].as_u64());
    let cached = read.unwrap_or(0) + written.unwrap_or(0);
    let outside = items().find(|item| {
        matches!(item["type"].as_str(), Some("command_execution" | "file_change" | "web_search"))
    });
    let failed = of("turn.failed").chain(of("error")).next_back();
    let end = match (printed.is_late, outside, turn, failed) {
        (true, ..) => End::Timeout,
        (_, Some(item), ..) => End::Infra(format!("it used a tool of its own: {}", item["type"])),
        (_, _, Some(_), _) => End::Completed,
        (_, _, None, Some(event)) => End::Infra(format!("the client failed: {event}")),
        (_, _, None, None) => {
            End::Infra(format!("the client ended early; it said: {}", printed.stderr))
        }
    };
    Transcript {
        final_text: said.and_then(|it| it["text"].as_str()).unwrap_or_default().to_owned(),
        end,
        usage: Usage {
            uncached_input: usage["input_tokens"].as_u64().map(|it| it.saturating_sub(cached)),
            cache_creation: written,
            cache_read: read,
            output: usage["output_tokens"].as_u64(),
            reasoning_output: usage["reasoning_output_tokens"].as_u64(),
            source: usage.is_object().then(|| "codex.turn.completed.usage".to_owned()),
            requests: u64::from(turn.is_some()),
            reported_cost_usd: None,
        },
        model: Model {
            requested: Some(model.to_owned()),
            resolved: None,
            resolved_source: "unknown".to_owned(),
            all_models_seen: Vec::new(),
            effort: effort.map(str::to_owned),
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn printed(events: Vec<Value>) -> Printed {
        Printed { events, status: Some(0), ..Printed::default() }
    }

    fn item(kind: &str) -> Value {
        json!({ "type": "item.completed", "item": { "type": kind, "text": kind } })
    }

    #[test]
    fn what_came_from_the_cache_is_not_counted_as_fresh_input() {
        let usage = json!({
            "input_tokens": 1000, "cached_input_tokens": 700, "output_tokens": 50,
            "reasoning_output_tokens": 20,
        });
        let done = json!({ "type": "turn.completed", "usage": usage });
        let events = vec![item("mcp_tool_call"), item("agent_message"), done];
        let transcript = read(&printed(events), "gpt-5", None);
        assert_eq!(transcript.end, End::Completed);
        assert_eq!(transcript.final_text, "agent_message");
        let usage = &transcript.usage;
        assert_eq!((usage.uncached_input, usage.cache_read), (Some(300), Some(700)));
        assert_eq!((usage.cache_creation, usage.reasoning_output), (None, Some(20)));
        assert_eq!(transcript.model.resolved, None);
    }

    #[test]
    fn a_tool_of_its_own_and_a_failed_turn_are_not_the_agents_fault() {
        let done = json!({ "type": "turn.completed", "usage": {} });
        let outside = read(&printed(vec![item("command_execution"), done]), "gpt-5", None);
        let why = "it used a tool of its own: \"command_execution\"";
        assert_eq!(outside.end, End::Infra(why.to_owned()));
        let failed = json!({ "type": "turn.failed", "error": { "message": "no" } });
        assert!(matches!(read(&printed(vec![failed]), "gpt-5", None).end, End::Infra(_)));
        assert!(matches!(read(&printed(Vec::new()), "gpt-5", None).end, End::Infra(_)));
    }
}
