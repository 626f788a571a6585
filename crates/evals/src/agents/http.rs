//! Models behind an HTTP API, with our own loop: any OpenAI-compatible endpoint, and Anthropic.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::time::Instant;

use anyhow::{Context as _, Result};
use async_trait::async_trait;
use model_client::{
    Conversation, End as Ended, Message, Outcome, Protocol, Provider, Seen, Settings,
};
use serde_json::{Value, json};
use test_client::Offer;

use super::Options;
use crate::agent::{Agent, Client, End, Job, Model, Transcript, Usage};

/// A model, asked for one turn after the other.
#[derive(Clone, Debug)]
pub struct Http {
    model: model_client::Model,
    client: Client,
}

impl Http {
    /// Chat Completions at `OPENAI_BASE_URL`, with the key of `OPENAI_API_KEY`.
    ///
    /// # Errors
    /// No key, or a setting that cannot work.
    pub fn openai(options: Options<'_>) -> Result<Self> {
        let mut http = Self::new(Provider::OpenAi, Protocol::Chat, "OPENAI_BASE_URL", options)?;
        "openai-api".clone_into(&mut http.client.kind);
        Ok(http)
    }

    /// Messages at `ANTHROPIC_BASE_URL`, with the key of `ANTHROPIC_API_KEY`.
    ///
    /// # Errors
    /// No key, or a setting that cannot work.
    pub fn anthropic(options: Options<'_>) -> Result<Self> {
        let (provider, base) = (Provider::Anthropic, "ANTHROPIC_BASE_URL");
        let mut http = Self::new(provider, Protocol::Messages, base, options)?;
        "anthropic-api".clone_into(&mut http.client.kind);
        Ok(http)
    }

    fn new(
        provider: Provider,
        protocol: Protocol,
        base: &str,
        options: Options<'_>,
    ) -> Result<Self> {
        let variable = |name: &str| (options.variable)(name).filter(|it| !it.trim().is_empty());
        let name = provider.key_variable();
        let key = variable(name).with_context(|| {
            format!("the agent `{provider}` needs a key: set `{name}`, or take another agent")
        })?;
        let mut settings = Settings::new(provider).key(name, &key)?;
        let mut env_names = vec![name.to_owned()];
        if let Some(url) = variable(base) {
            settings = settings.base_url(&url)?;
            env_names.push(base.to_owned());
        }
        let model = options.model.map(str::to_owned);
        if let Some(model) = model.or_else(|| variable(provider.model_variable())) {
            settings = settings.model(model);
        }
        settings.protocol = protocol;
        settings.effort = options.effort.map(str::to_owned);
        let version = Some(env!("CARGO_PKG_VERSION").to_owned());
        let client = Client { version, env_names, ..Client::default() };
        Ok(Self { model: model_client::Model::new(settings)?, client })
    }

    async fn work(&self, job: &Job) -> Result<Transcript> {
        let connection = job.connect().await?;
        let offer = Offer::of(&connection).await?;
        let parts = [job.system.as_deref(), job.instructions.as_deref()];
        let system: Vec<&str> = parts.into_iter().flatten().collect();
        let mut conversation = Conversation {
            system: Some(system.join("\n\n")).filter(|it| !it.is_empty()),
            messages: vec![Message::User(job.prompt.clone())],
            tools: offer.tools(),
            ..Conversation::default()
        };
        let mut agent = model_client::Agent::new(self.model.clone());
        agent.max_steps = job.budgets.max_turns;
        agent.deadline = Some(Instant::now() + job.budgets.wall());
        agent.max_result_bytes = job.budgets.max_tool_result_bytes;
        let file = File::create(&job.transcript);
        let file = file.with_context(|| format!("writing `{}`", job.transcript.display()))?;
        let mut lines = BufWriter::new(file);
        let mut written: std::io::Result<()> = Ok(());
        let outcome = agent
            .run(&mut conversation, &offer, &mut |seen| {
                if written.is_ok()
                    && let Some(line) = line(&seen)
                {
                    written = writeln!(lines, "{line}");
                }
            })
            .await;
        written.and_then(|()| lines.flush()).context("writing the transcript")?;
        let lost = offer.lost().map(str::to_owned);
        drop(offer);
        connection.close().await.ok();
        Ok(match lost {
            Some(why) => Transcript { end: End::Infra(why), ..self.transcript(outcome) },
            None => self.transcript(outcome),
        })
    }

    fn transcript(&self, outcome: Outcome) -> Transcript {
        let settings = self.model.settings();
        let usage = outcome.usage;
        Transcript {
            end: match outcome.end {
                // An answer that is missing or cut is the model's own fault.
                Ended::Done | Ended::Refused | Ended::Length | Ended::Other(_) => End::Completed,
                Ended::Steps => End::MaxTurns,
                Ended::Time => End::Timeout,
                Ended::Failed(error) => End::Infra(match error.detail() {
                    Some(detail) => format!("{error}: {detail}"),
                    None => error.to_string(),
                }),
            },
            final_text: outcome.text,
            usage: Usage {
                uncached_input: usage.uncached_input,
                cache_creation: usage.cache_creation,
                cache_read: usage.cache_read,
                output: usage.output,
                reasoning_output: usage.reasoning_output,
                source: Some("response.usage".to_owned()),
                requests: usage.requests.into(),
                reported_cost_usd: None,
            },
            model: Model {
                requested: Some(settings.model.clone()),
                resolved: outcome.models.last().cloned(),
                resolved_source: match outcome.models.as_slice() {
                    [] => "unknown".to_owned(),
                    _ => "response.model".to_owned(),
                },
                all_models_seen: outcome.models,
                effort: settings.effort.clone(),
            },
        }
    }
}

#[async_trait]
impl Agent for Http {
    fn client(&self) -> Client {
        self.client.clone()
    }

    async fn run(&self, job: &Job) -> Transcript {
        match self.work(job).await {
            Ok(transcript) => transcript,
            Err(error) => Transcript::ended(End::Infra(format!("{error:#}"))),
        }
    }
}

/// What the transcript keeps of a step. Nothing in it is secret: the key is in no message.
fn line(seen: &Seen<'_>) -> Option<Value> {
    match seen {
        Seen::Reply(reply) => {
            let calls = reply.turn.calls.iter().map(|call| {
                let arguments = match &call.arguments {
                    Ok(arguments) => json!(arguments),
                    Err(text) => json!(text),
                };
                json!({ "id": call.id, "name": call.name, "arguments": arguments })
            });
            Some(json!({
                "type": "reply",
                "text": reply.turn.text,
                "calls": calls.collect::<Vec<_>>(),
                "stop": format!("{:?}", reply.stop),
                "usage": reply.usage,
                "model": reply.model,
            }))
        }
        Seen::Result { call, result, bytes, is_cut, took } => Some(json!({
            "type": "result",
            "id": call.id,
            "text": result.text,
            "is_error": result.is_error,
            "bytes": bytes,
            "truncated": is_cut,
            "ms": u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        })),
        Seen::Delta(_) | Seen::Call(_) => None,
    }
}
