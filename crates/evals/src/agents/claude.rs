//! Claude Code, cut off from everything of its user's: settings, memory, servers, own tools.

use anyhow::Result;
use async_trait::async_trait;
use serde_json::{Value, json};

use super::Options;
use super::cli::{self, Installed, Printed};
use crate::agent::{Agent, Client, End, Job, Model, Transcript, Usage};

/// The name the server gets in the client.
const SERVER: &str = "sentry";

#[derive(Clone, Debug)]
pub struct Claude {
    installed: Installed,
    model: String,
    effort: Option<String>,
}

impl Claude {
    /// The client named by `CLAUDE_BIN`, or `claude`, with the key of `ANTHROPIC_API_KEY`.
    ///
    /// # Errors
    /// No client, or no key.
    pub fn new(options: Options<'_>) -> Result<Self> {
        let names = ("CLAUDE_BIN", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL");
        let installed = Installed::find("claude", names.0, names.1, names.2, options)?;
        let model = options.model.unwrap_or("opus").to_owned();
        Ok(Self { installed, model, effort: options.effort.map(str::to_owned) })
    }

    fn arguments(&self, job: &Job) -> Vec<String> {
        let turns = job.budgets.max_turns.to_string();
        let mcp = job.directory.join("mcp.json").display().to_string();
        let mut arguments: Vec<String> = [
            &["-p", &job.prompt, "--output-format", "stream-json", "--verbose"][..],
            &["--model", &self.model, "--max-turns", &turns],
            &["--mcp-config", &mcp, "--strict-mcp-config"],
            // Without this the server's tools hide behind a search for tools.
            &["--tools", "", "--allowedTools", &format!("mcp__{SERVER}")],
            &["--permission-mode", "dontAsk", "--setting-sources", ""],
            &["--disable-slash-commands", "--no-session-persistence", "--no-chrome"],
        ]
        .concat()
        .into_iter()
        .map(str::to_owned)
        .collect();
        for (flag, value) in [
            ("--effort", &self.effort),
            ("--system-prompt", &job.system),
            ("--append-system-prompt", &job.instructions),
        ] {
            if let Some(value) = value {
                arguments.extend([flag.to_owned(), value.clone()]);
            }
        }
        arguments
    }

    async fn work(&self, job: &Job) -> Result<Transcript> {
        let mut server = json!({ "type": "http", "url": job.mcp.url });
        if let Some(bearer) = &job.mcp.bearer {
            server["headers"] = json!({ "Authorization": format!("Bearer {bearer}") });
        }
        let servers = json!({ "mcpServers": { SERVER: server } });
        cli::write_private(&job.directory.join("mcp.json"), &servers.to_string()).await?;
        let mut command = self.installed.command(job);
        command
            .env("CLAUDE_CONFIG_DIR", job.directory.join("config"))
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .env("DISABLE_AUTOUPDATER", "1")
            .env("DISABLE_TELEMETRY", "1")
            .args(self.arguments(job));
        if let Some(url) = &self.installed.base_url {
            command.env("ANTHROPIC_BASE_URL", url);
        }
        let printed = cli::run(&self.installed, command, job).await?;
        Ok(read(&printed, &self.model, self.effort.as_deref()))
    }
}

#[async_trait]
impl Agent for Claude {
    fn client(&self) -> Client {
        let base = self.installed.base_url.iter().map(|_| "ANTHROPIC_BASE_URL".to_owned());
        Client {
            kind: "claude-cli".to_owned(),
            version: self.installed.version.clone(),
            argv: vec![self.installed.program.clone(), "-p".to_owned()],
            env_names: std::iter::once(self.installed.key_name.to_owned()).chain(base).collect(),
        }
    }

    async fn run(&self, job: &Job) -> Transcript {
        match self.work(job).await {
            Ok(transcript) => transcript,
            Err(error) => Transcript::ended(End::Infra(format!("{error:#}"))),
        }
    }
}

/// Reads what the client printed. Its last line alone has the cost: earlier ones repeat parts of it.
fn read(printed: &Printed, model: &str, effort: Option<&str>) -> Transcript {
    let events = || printed.events.iter();
    // Other events of the system tell of retries.
    let init = events().find(|event| event["subtype"] == "init");
    let result = events().rfind(|event| event["type"] == "result").unwrap_or(&Value::Null);
    let used = result["modelUsage"].as_object();
    let seen: Vec<String> = used.into_iter().flatten().map(|(name, _)| name.clone()).collect();
    let named = init.and_then(|it| it["model"].as_str()).map(str::to_owned);
    let resolved = named.filter(|it| seen.contains(it)).or_else(|| seen.first().cloned());
    let usage = &result["usage"];
    Transcript {
        final_text: result["result"].as_str().unwrap_or_default().to_owned(),
        end: end(printed, init, result),
        usage: Usage {
            uncached_input: usage["input_tokens"].as_u64(),
            cache_creation: usage["cache_creation_input_tokens"].as_u64(),
            cache_read: usage["cache_read_input_tokens"].as_u64(),
            output: usage["output_tokens"].as_u64(),
            reasoning_output: None,
            source: usage.is_object().then(|| "claude.result.usage".to_owned()),
            requests: result["num_turns"].as_u64().unwrap_or(0),
            reported_cost_usd: result["total_cost_usd"].as_f64(),
        },
        model: Model {
            requested: Some(model.to_owned()),
            resolved_source: match resolved {
                Some(_) => "result.modelUsage".to_owned(),
                None => "unknown".to_owned(),
            },
            resolved,
            all_models_seen: seen,
            effort: effort.map(str::to_owned),
        },
    }
}

fn end(printed: &Printed, init: Option<&Value>, result: &Value) -> End {
    if printed.is_late {
        return End::Timeout;
    }
    if let Some(why) = init.map_or_else(|| Some("it did not begin".to_owned()), alien) {
        return End::Infra(format!("{why}; it said: {}", printed.stderr));
    }
    if result["permission_denials"].as_array().is_some_and(|it| !it.is_empty()) {
        return End::Infra("the client did not allow a call".to_owned());
    }
    match (result["subtype"].as_str(), result["is_error"].as_bool()) {
        (Some("error_max_turns"), _) => End::MaxTurns,
        (Some("success"), Some(false) | None) if result["result"].is_string() => End::Completed,
        (Some("success"), Some(false) | None) => End::MaxTurns,
        (Some(_), _) => End::Infra(format!("the client failed: {}", result["result"])),
        (None, _) => End::Infra(format!("the client ended early; it said: {}", printed.stderr)),
    }
}

/// What a trial must not have: another server, or a tool that is not the server's.
fn alien(init: &Value) -> Option<String> {
    let servers = init["mcp_servers"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_ours = |it: &Value| it["name"] == SERVER && it["status"] == "connected";
    if servers.len() != 1 || !servers.iter().all(is_ours) {
        return Some(format!("the servers are {}", init["mcp_servers"]));
    }
    let prefix = format!("mcp__{SERVER}__");
    let tools = init["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_own = |it: &Value| it.as_str().is_some_and(|name| name.starts_with(&prefix));
    if tools.is_empty() || !tools.iter().all(is_own) {
        return Some(format!("the tools are {}", init["tools"]));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(result: Value) -> Printed {
        let init = json!({
            "type": "system", "subtype": "init", "model": "claude-opus-5-5",
            "tools": ["mcp__sentry__search", "mcp__sentry__execute"],
            "mcp_servers": [{ "name": "sentry", "status": "connected" }],
        });
        let retry = json!({ "type": "system", "subtype": "api_retry", "attempt": 1 });
        Printed { events: vec![init, retry, result], status: Some(0), ..Printed::default() }
    }

    fn done() -> Value {
        json!({
            "type": "result", "subtype": "success", "is_error": false, "result": "All done",
            "num_turns": 3, "total_cost_usd": 0.5, "permission_denials": [],
            "usage": {
                "input_tokens": 8, "cache_creation_input_tokens": 9234,
                "cache_read_input_tokens": 11060, "output_tokens": 1944,
            },
            "modelUsage": { "claude-haiku-4-5": {}, "claude-opus-5-5": {} },
        })
    }

    #[test]
    fn the_last_line_has_the_answer_and_the_cost_in_four_parts() {
        let transcript = read(&printed(done()), "opus", Some("medium"));
        assert_eq!(
            (transcript.final_text.as_str(), &transcript.end),
            ("All done", &End::Completed)
        );
        let usage = &transcript.usage;
        assert_eq!((usage.uncached_input, usage.cache_creation), (Some(8), Some(9234)));
        assert_eq!((usage.cache_read, usage.output), (Some(11060), Some(1944)));
        assert_eq!((usage.requests, usage.reported_cost_usd), (3, Some(0.5)));
        assert_eq!(transcript.model.resolved.as_deref(), Some("claude-opus-5-5"));
        assert_eq!(transcript.model.all_models_seen.len(), 2);
    }

    #[test]
    fn a_denied_call_an_alien_tool_and_a_client_that_fails_are_not_the_agents_fault() {
        let infra = |printed: &Printed| match read(printed, "opus", None).end {
            End::Infra(why) => why,
            other => panic!("{other:?}"),
        };
        let mut denied = done();
        denied["permission_denials"] = json!([{ "tool_name": "mcp__sentry__execute" }]);
        assert_eq!(infra(&printed(denied)), "the client did not allow a call");
        let mut alien = printed(done());
        alien.events[0]["tools"] = json!(["Bash", "mcp__sentry__search"]);
        assert!(infra(&alien).starts_with("the tools are [\"Bash\""));
        alien.events[0]["mcp_servers"] = json!([{ "name": "sentry", "status": "failed" }]);
        assert!(infra(&alien).starts_with("the servers are"));
        assert!(infra(&Printed::default()).starts_with("it did not begin"));
    }

    #[test]
    fn the_turns_can_be_used_up_in_two_ways() {
        let mut result = done();
        result.as_object_mut().unwrap().remove("result");
        assert_eq!(read(&printed(result.clone()), "opus", None).end, End::MaxTurns);
        result["subtype"] = json!("error_max_turns");
        result["is_error"] = json!(true);
        assert_eq!(read(&printed(result), "opus", None).end, End::MaxTurns);
    }
}
