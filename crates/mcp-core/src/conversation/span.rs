//! A span of a conversation: what it did, and what was said in it, by its attributes.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::render::event::{short, shorten};

use super::{Cut, moment_of};

/// Characters of a value that is no text of a conversation.
const LONGEST: usize = 200;

/// A span by its attributes' names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span<'s>(pub(crate) &'s Map<String, Value>);

/// What is told of a span.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SpanSummary {
    span_id: String,
    trace_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_span_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    span_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    span_op: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    span_description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    span_status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    transaction: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_transaction: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gen_ai: Option<GenAi>,
}

/// What the span says of models, agents and tools; texts as the SDK wrote them.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GenAi {
    #[serde(skip_serializing_if = "Option::is_none")]
    operation_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage_total_tokens: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_total_tokens: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instructions: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_messages: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_messages: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_messages: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_object: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_definitions: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_arguments: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_input: Option<String>,
    /// Names of the fields that were cut.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    truncated_fields: Vec<&'static str>,
}

impl<'s> Span<'s> {
    /// An attribute that says something.
    pub(crate) fn value(&self, key: &str) -> Option<&'s Value> {
        let value = self.0.get(key)?;
        let says = !value.is_null() && value.as_str().is_none_or(|it| !it.trim().is_empty());
        says.then_some(value)
    }

    /// An attribute in short.
    pub(crate) fn short(&self, key: &str) -> Option<String> {
        self.value(key).map(|it| short(it, LONGEST))
    }

    /// An attribute that is a number.
    pub(crate) fn number(&self, key: &str) -> Option<f64> {
        let value = self.0.get(key)?;
        let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
        number.filter(|it| it.is_finite())
    }

    pub(crate) fn id(&self) -> String {
        self.short("span_id").unwrap_or_default()
    }

    pub(crate) fn trace(&self) -> String {
        self.short("trace").unwrap_or_default()
    }

    /// Whether it is a call of a model.
    pub(crate) fn is_ai_call(&self) -> bool {
        self.operation() == Some("ai_client")
    }

    /// Whether it is a call of a tool.
    pub(crate) fn is_tool_call(&self) -> bool {
        self.operation() == Some("tool")
    }

    fn operation(&self) -> Option<&'s str> {
        self.0.get("gen_ai.operation.type")?.as_str()
    }

    /// When it began: seconds since 1970, or a moment as it was written.
    pub(crate) fn began(&self) -> Option<String> {
        self.moment("precise.start_ts")
    }

    /// When it ended.
    pub(crate) fn ended(&self) -> Option<String> {
        self.moment("precise.finish_ts")
    }

    fn moment(&self, key: &str) -> Option<String> {
        match self.number(key) {
            Some(seconds) => moment_of(seconds),
            None => self.value(key).and_then(Value::as_str).map(|it| shorten(it, 40)),
        }
    }

    /// Milliseconds.
    pub(crate) fn duration(&self) -> Option<f64> {
        let between = || {
            let seconds = self.number("precise.finish_ts")? - self.number("precise.start_ts")?;
            (seconds >= 0.0).then_some(seconds * 1_000.0)
        };
        let duration = self.number("span.duration").or_else(between)?;
        Some((duration * 100.0).round() / 100.0)
    }

    /// What is told of it, with texts as long as they may be.
    pub(crate) fn summary(&self, cut: Cut) -> SpanSummary {
        SpanSummary {
            span_id: self.id(),
            trace_id: self.trace(),
            parent_span_id: self.short("parent_span"),
            project: self.short("project"),
            project_id: self.short("project.id"),
            timestamp: self.began(),
            duration_ms: self.duration(),
            span_name: self.short("span.name"),
            span_op: self.short("span.op"),
            span_description: self.short("span.description"),
            span_status: self.short("span.status"),
            transaction: self.short("transaction"),
            is_transaction: self.0.get("is_transaction").and_then(Value::as_bool),
            gen_ai: self.gen_ai(cut.text),
        }
    }

    fn gen_ai(&self, most: usize) -> Option<GenAi> {
        if !self.0.iter().any(|(key, value)| key.starts_with("gen_ai.") && !value.is_null()) {
            return None;
        }
        let mut truncated_fields = Vec::new();
        let mut text = |key: &str, name: &'static str| {
            let value = self.value(key)?;
            let text = short(value, most);
            // What is cut ends with a mark that stands for the rest.
            if text.chars().count() > most {
                truncated_fields.push(name);
            }
            Some(text)
        };
        let mut found = GenAi {
            system_instructions: text("gen_ai.system_instructions", "systemInstructions"),
            input_messages: text("gen_ai.input.messages", "inputMessages"),
            output_messages: text("gen_ai.output.messages", "outputMessages"),
            request_messages: text("gen_ai.request.messages", "requestMessages"),
            response_text: text("gen_ai.response.text", "responseText"),
            response_object: text("gen_ai.response.object", "responseObject"),
            tool_definitions: text("gen_ai.tool.definitions", "toolDefinitions"),
            tool_call_arguments: text("gen_ai.tool.call.arguments", "toolCallArguments"),
            tool_input: text("gen_ai.tool.input", "toolInput"),
            ..GenAi::default()
        };
        found.truncated_fields = truncated_fields;
        found.operation_type = self.short("gen_ai.operation.type");
        found.agent_name = self.short("gen_ai.agent.name");
        found.request_model = self.short("gen_ai.request.model");
        found.response_model = self.short("gen_ai.response.model");
        found.usage_total_tokens = self.number("gen_ai.usage.total_tokens");
        found.cost_total_tokens = self.number("gen_ai.cost.total_tokens");
        found.tool_name = self.short("gen_ai.tool.name");
        Some(found)
    }
}
