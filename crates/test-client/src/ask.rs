//! A model at work with the server's tools: one prompt, or a chat.

use std::io::{self, IsTerminal as _, Write as _};

use anyhow::{Context as _, Result};
use model_client::{
    Agent, Choice, Conversation, Delta, End, Message, Model, Outcome as Ended, Protocol, Provider,
    Seen, Usage,
};
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use serde_json::{Map, Value, json};
use test_client::{Offer, ToolInfo};

use crate::commands::{Commands, Outcome, is_yes, note, print};
use crate::show::{self, Paint};

/// Of what tools are called with and answer, this many characters are shown.
const SHOWN: usize = 200;

/// Who is asked, and how much it may do.
pub(crate) struct Asking {
    pub(crate) model: Model,
    pub(crate) max_steps: u32,
    /// Whether tools that change something are called without asking.
    pub(crate) yes: bool,
}

/// Has one prompt answered.
pub(crate) async fn prompt(commands: &Commands, asking: &Asking, prompt: &str) -> Result<Outcome> {
    let offer = offer(commands, asking).await?;
    let mut conversation = conversation(commands, &offer);
    conversation.messages.push(Message::User(prompt.to_owned()));
    turn(commands, asking, &offer, &mut conversation).await
}

/// Has one line after the other answered, each knowing what was said before.
pub(crate) async fn chat(
    commands: &Commands,
    asking: &Asking,
    first: Option<&str>,
) -> Result<Outcome> {
    let offer = offer(commands, asking).await?;
    let mut conversation = conversation(commands, &offer);
    let terminal = io::stdin().is_terminal();
    if terminal {
        let model = &asking.model.settings().model;
        let place = asking.model.place();
        let tools = conversation.tools.len();
        note(commands.paint.dim(&format!("{model} at {place}, {tools} tools; Ctrl-D leaves")))?;
    }
    let mut editor = DefaultEditor::new()?;
    let mut outcome = Outcome::Done;
    let mut next = first.map(str::to_owned);
    loop {
        let line = match next.take() {
            Some(line) => line,
            None => match tokio::task::block_in_place(|| editor.readline("> ")) {
                Ok(line) => line,
                Err(ReadlineError::Interrupted) => continue,
                Err(ReadlineError::Eof) => break,
                Err(error) => return Err(error.into()),
            },
        };
        match line.trim() {
            "" => continue,
            "exit" | "quit" => break,
            line => conversation.messages.push(Message::User(line.to_owned())),
        }
        let said = conversation.messages.len();
        outcome = tokio::select! {
            ended = turn(commands, asking, &offer, &mut conversation) => ended?,
            _ = tokio::signal::ctrl_c() => {
                note(commands.paint.yellow("cancelled"))?;
                Outcome::Failed
            }
        };
        if outcome == Outcome::Failed {
            // What was not answered is not a part of what was said.
            conversation.messages.truncate(said - 1);
        }
        if let Some(why) = offer.lost() {
            return Err(test_client::Error::Connection(why.to_owned()).into());
        }
    }
    Ok(if terminal { Outcome::Done } else { outcome })
}

async fn offer<'c>(commands: &'c Commands, asking: &Asking) -> Result<Offer<'c>> {
    let offer = Offer::of(&commands.client).await?.timeout(commands.timeout);
    let (yes, paint) = (asking.yes, commands.paint);
    Ok(offer.approve(move |tool, arguments| {
        tool.is_read_only() || yes || allowed(tool, arguments, paint).unwrap_or(false)
    }))
}

/// Asks on stderr and reads a line of stdin; without an answer nothing is allowed.
fn allowed(tool: &ToolInfo, arguments: &Map<String, Value>, paint: Paint) -> io::Result<bool> {
    let call = format!("{} {}", tool.name, show::json(&Value::Object(arguments.clone())));
    write!(io::stderr(), "\n{}\nCall this? [y/N] ", paint.bold(&show::clean(call.trim_end())))?;
    let mut line = String::new();
    tokio::task::block_in_place(|| io::stdin().read_line(&mut line))?;
    if line.is_empty() {
        note("no answer: `--yes` allows every call".to_owned())?;
    }
    Ok(is_yes(&line))
}

fn conversation(commands: &Commands, offer: &Offer<'_>) -> Conversation {
    let server = commands.client.server();
    let mut system = format!("You have the tools of the MCP server `{}`.", server.name);
    if let Some(instructions) = &server.instructions {
        system = format!("{system}\n\n{instructions}");
    }
    Conversation { system: Some(system), tools: offer.tools(), ..Conversation::default() }
}

async fn turn(
    commands: &Commands,
    asking: &Asking,
    offer: &Offer<'_>,
    conversation: &mut Conversation,
) -> Result<Outcome> {
    let paint = commands.paint;
    let mut agent = Agent::new(asking.model.clone());
    agent.max_steps = asking.max_steps;
    agent.stream = !commands.json;
    let mut shown: io::Result<()> = Ok(());
    let json = commands.json;
    let ended = agent
        .run(conversation, offer, &mut |seen| {
            if shown.is_ok() && !json {
                shown = show_seen(&seen, paint);
            }
        })
        .await;
    shown?;
    if let Some(why) = offer.lost() {
        return Err(test_client::Error::Connection(why.to_owned()).into());
    }
    if json {
        print(&format!("{}\n", in_json(&ended)))?;
    } else {
        if ended.usage.requests > 0 {
            print("\n")?;
            note(paint.dim(&cost(&ended)))?;
        }
    }
    let problem = match &ended.end {
        End::Done => return Ok(Outcome::Done),
        End::Refused => "the model declined".to_owned(),
        End::Length => "the answer came to the limit of its length".to_owned(),
        End::Steps => {
            format!("stopped after {} requests; `--steps` allows more", asking.max_steps)
        }
        End::Time => "the time was up".to_owned(),
        End::Other(reason) => format!("the model stopped for the reason `{reason}`"),
        End::Failed(error) => match error.detail() {
            Some(detail) => format!("{error}: {detail}"),
            None => error.to_string(),
        },
    };
    note(paint.red(&show::clean(&problem)))?;
    Ok(Outcome::Failed)
}

/// Words go to stdout, what is done meanwhile to stderr.
fn show_seen(seen: &Seen<'_>, paint: Paint) -> io::Result<()> {
    match seen {
        Seen::Delta(Delta::Text(text)) => print(&show::clean(text)),
        Seen::Delta(Delta::Again) => note(paint.yellow("\n(the answer broke off; again)")),
        Seen::Delta(Delta::Call(_)) => Ok(()),
        Seen::Reply(reply) if !reply.turn.calls.is_empty() && !reply.turn.text.is_empty() => {
            print("\n")
        }
        Seen::Reply(_) => Ok(()),
        Seen::Call(call) => {
            let arguments = match &call.arguments {
                Ok(arguments) => json!(arguments).to_string(),
                Err(text) => text.clone(),
            };
            note(paint.bold(&format!("→ {} {}", call.name, in_short(&arguments))))
        }
        Seen::Result { result, bytes, took, .. } => {
            let line =
                format!("← {bytes} bytes, {} ms: {}", took.as_millis(), in_short(&result.text));
            note(if result.is_error { paint.red(&line) } else { paint.dim(&line) })
        }
    }
}

/// One line of a text that may have many.
fn in_short(text: &str) -> String {
    let mut line: String = text.chars().take(SHOWN).collect();
    if line.len() < text.len() {
        line.push('…');
    }
    show::clean(&line.replace(['\n', '\t'], " "))
}

fn cost(ended: &Ended) -> String {
    let Usage { uncached_input, cache_creation, cache_read, output, requests, .. } = ended.usage;
    let parts = [
        ("input", uncached_input),
        ("into the cache", cache_creation),
        ("from the cache", cache_read),
        ("output", output),
    ];
    let parts = parts.iter().filter_map(|(name, count)| Some(format!("{name} {}", (*count)?)));
    let parts: Vec<_> = parts.collect();
    let models = ended.models.join(", ");
    format!("{models}: {requests} requests, tokens: {}", parts.join(", "))
}

fn in_json(ended: &Ended) -> Value {
    let end = match &ended.end {
        End::Done => "done",
        End::Refused => "refused",
        End::Length => "length",
        End::Steps => "steps",
        End::Time => "time",
        End::Failed(_) => "failed",
        End::Other(_) => "other",
    };
    json!({ "text": ended.text, "end": end, "usage": ended.usage, "models": ended.models })
}

/// The model that the options and the environment name.
pub(crate) fn model(given: &model_client::Given, effort: Option<&str>) -> Result<Model> {
    let mut settings = match given.choose()? {
        Choice::Model(settings) => *settings,
        Choice::Without(why) => anyhow::bail!("a prompt needs a model: {why}"),
    };
    if settings.provider == Provider::OpenAi && given.openai.base_url.is_some() {
        // What is like OpenAI's API is so in this form.
        settings.protocol = Protocol::Chat;
    }
    if let Some(effort) = effort {
        settings.effort = Some(effort.to_owned());
    }
    Model::new(settings).context("the model cannot be used")
}
