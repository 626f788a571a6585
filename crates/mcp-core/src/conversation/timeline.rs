//! The course of a conversation: messages and calls of tools, as they followed each other.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::render::event::{short, shorten};

use super::{Cut, Span, message};

/// A message or a call of a tool.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Entry {
    #[serde(rename = "type")]
    pub(crate) kind: EntryKind,
    /// Of a message: `user` or `assistant`.
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    /// Of a message.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    /// Of a tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<String>,
    span_id: String,
    trace_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_email: Option<String>,
    /// Of a call of a tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<f64>,
    /// Of a call of a tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    /// Of a call of a tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<String>,
    /// Of a call of a tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<String>,
    /// Of an answer: how it came about.
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Metadata>,
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EntryKind {
    Message,
    ToolCall,
}

/// How an answer came about.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Metadata {
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    total_tokens: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<f64>,
}

/// The entries in the order of the spans, which is that of their beginnings.
pub(crate) fn timeline(spans: &[Span<'_>], cut: Cut) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut asked: Option<String> = None;
    for span in spans {
        if span.is_tool_call() {
            entries.push(tool_call(span, cut));
        }
        if !span.is_ai_call() {
            continue;
        }
        // Every call of a model repeats what was said before.
        let question = first(span, &QUESTIONS, message::last_of_user);
        if let Some(question) = question.filter(|it| asked.as_ref() != Some(it)) {
            entries.push(Entry {
                timestamp: span.began(),
                user_email: span.short("user.email"),
                ..said(span, "user", &question, cut)
            });
            asked = Some(question);
        }
        if let Some(answer) = first(span, &ANSWERS, message::answer) {
            entries.push(Entry {
                timestamp: span.ended().or_else(|| span.began()),
                metadata: Some(metadata(span)),
                ..said(span, "assistant", &answer, cut)
            });
        }
    }
    entries
}

const QUESTIONS: [&str; 2] = ["gen_ai.input.messages", "gen_ai.request.messages"];
const ANSWERS: [&str; 3] =
    ["gen_ai.output.messages", "gen_ai.response.text", "gen_ai.response.object"];

fn first(span: &Span<'_>, keys: &[&str], read: fn(&Value) -> Option<String>) -> Option<String> {
    keys.iter().find_map(|key| span.value(key).and_then(read))
}

fn said(span: &Span<'_>, role: &'static str, content: &str, cut: Cut) -> Entry {
    Entry {
        role: Some(role),
        content: Some(shorten_lines(content, cut.text)),
        ..entry(span, EntryKind::Message)
    }
}

/// A text that keeps its line breaks.
fn shorten_lines(text: &str, most: usize) -> String {
    let start: String = text.chars().take(most).collect();
    let is_cut = start.len() < text.len();
    let lines: Vec<String> = start.lines().map(|it| shorten(it, most)).collect();
    lines.join("\n") + if is_cut { "…" } else { "" }
}

fn tool_call(span: &Span<'_>, cut: Cut) -> Entry {
    let text = |key: &str| span.value(key).map(|it| short(it, cut.text));
    let name = span.short("gen_ai.tool.name").or_else(|| span.short("span.name"));
    Entry {
        name: Some(name.unwrap_or_else(|| "unknown".to_owned())),
        timestamp: span.began(),
        duration_ms: span.duration(),
        status: span.short("span.status"),
        arguments: text("gen_ai.tool.call.arguments"),
        input: text("gen_ai.tool.input"),
        ..entry(span, EntryKind::ToolCall)
    }
}

fn metadata(span: &Span<'_>) -> Metadata {
    let model = span.short("gen_ai.response.model").or_else(|| span.short("gen_ai.request.model"));
    Metadata {
        agent_name: span.short("gen_ai.agent.name"),
        model,
        total_tokens: span.number("gen_ai.usage.total_tokens").unwrap_or_default(),
        status: span.short("span.status"),
        duration_ms: span.duration(),
    }
}

fn entry(span: &Span<'_>, kind: EntryKind) -> Entry {
    Entry {
        kind,
        role: None,
        content: None,
        name: None,
        timestamp: None,
        span_id: span.id(),
        trace_id: span.trace(),
        user_email: None,
        duration_ms: None,
        status: None,
        arguments: None,
        input: None,
        metadata: None,
    }
}
