//! OpenAI's Chat Completions, which most other endpoints speak too.

use serde_json::{Map, Value, json};

use super::{Fault, append, arguments, arguments_text, text};
use crate::conversation::{Conversation, Message, Reply, Stop, ToolCall, Turn};
use crate::model::Delta;
use crate::settings::{Provider, Settings};
use crate::usage::Usage;

pub(super) fn body(settings: &Settings, conversation: &Conversation, stream: bool) -> Value {
    let mut messages: Vec<Value> =
        conversation.system.iter().map(|it| json!({ "role": "system", "content": it })).collect();
    for message in &conversation.messages {
        add(&mut messages, message);
    }
    let mut body = json!({ "model": settings.model, "messages": messages });
    if !conversation.tools.is_empty() {
        let tools = conversation.tools.iter().map(|tool| {
            let function = json!({
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.input_schema,
            });
            json!({ "type": "function", "function": function })
        });
        body["tools"] = tools.collect();
    }
    if let Some(form) = &conversation.schema {
        let schema = json!({ "name": form.name, "schema": form.schema, "strict": false });
        body["response_format"] = json!({ "type": "json_schema", "json_schema": schema });
    }
    match (&settings.effort, settings.provider) {
        (None, _) => {}
        (Some(effort), Provider::OpenRouter) => body["reasoning"] = json!({ "effort": effort }),
        (Some(effort), Provider::OpenAi | Provider::AzureOpenAi | Provider::Anthropic) => {
            body["reasoning_effort"] = json!(effort);
        }
    }
    if let Some(most) = conversation.max_output {
        // OpenAI's reasoning models refuse the older name, many others know no newer one.
        let is_own = settings.provider == Provider::AzureOpenAi
            || settings.provider == Provider::OpenAi && settings.base.is_none();
        body[if is_own { "max_completion_tokens" } else { "max_tokens" }] = json!(most);
    }
    if stream {
        body["stream_options"] = json!({ "include_usage": true });
    }
    body
}

fn add(messages: &mut Vec<Value>, message: &Message) {
    match message {
        Message::User(words) => messages.push(json!({ "role": "user", "content": words })),
        Message::Assistant(turn) => messages.push(said(turn)),
        Message::Tools(results) => messages.extend(results.iter().map(
            |result| json!({ "role": "tool", "tool_call_id": result.id, "content": result.text }),
        )),
    }
}

fn said(turn: &Turn) -> Value {
    if turn.raw.is_object() {
        return turn.raw.clone();
    }
    let mut message = json!({ "role": "assistant", "content": turn.text });
    if !turn.calls.is_empty() {
        let calls = turn.calls.iter().map(|call| {
            let function = json!({ "name": call.name, "arguments": arguments_text(call) });
            json!({ "id": call.id, "type": "function", "function": function })
        });
        message["tool_calls"] = calls.collect();
    }
    message
}

pub(super) fn reply(body: &Value) -> Result<Reply, Fault> {
    let Some(choice) = body["choices"].get(0) else {
        return Err(Fault::Form("it has no `choices`".to_owned()));
    };
    let message = &choice["message"];
    let calls: Vec<ToolCall> = message["tool_calls"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|call| ToolCall {
            id: text(&call["id"]),
            name: text(&call["function"]["name"]),
            arguments: arguments(call["function"]["arguments"].as_str().unwrap_or_default()),
        })
        .collect();
    let stop = match choice["finish_reason"].as_str().unwrap_or("stop") {
        // Some endpoints say so beside calls too.
        "stop" if !calls.is_empty() => Stop::Tools,
        "stop" => Stop::End,
        "tool_calls" | "function_call" => Stop::Tools,
        "length" => Stop::Length,
        "content_filter" => Stop::Refusal,
        other => Stop::Other(other.to_owned()),
    };
    Ok(Reply {
        turn: Turn { text: words(message), calls, raw: own(message) },
        stop: if message["refusal"].is_string() { Stop::Refusal } else { stop },
        usage: usage(&body["usage"]),
        model: body["model"].as_str().map(str::to_owned),
    })
}

/// The words, which some endpoints give in parts.
fn words(message: &Value) -> String {
    match &message["content"] {
        Value::Array(parts) => parts.iter().map(|part| text(&part["text"])).collect(),
        other => text(other),
    }
}

/// What of a message may be sent back: what the model wrote, not what the endpoint says about it.
fn own(message: &Value) -> Value {
    let mut own = Map::new();
    own.insert("role".to_owned(), json!("assistant"));
    own.insert("content".to_owned(), message["content"].clone());
    for name in ["tool_calls", "reasoning_content", "reasoning_details"] {
        if let Some(value) = message.get(name).filter(|it| !it.is_null()) {
            own.insert(name.to_owned(), value.clone());
        }
    }
    Value::Object(own)
}

/// The input includes what came from the cache; what went into it is known to few.
fn usage(usage: &Value) -> Usage {
    let details = &usage["prompt_tokens_details"];
    let read = details["cached_tokens"].as_u64();
    let written = details["cache_write_tokens"].as_u64();
    let input = usage["prompt_tokens"].as_u64();
    let cached = read.unwrap_or(0) + written.unwrap_or(0);
    Usage {
        uncached_input: input.map(|it| it.saturating_sub(cached)),
        cache_creation: written,
        cache_read: read,
        output: usage["completion_tokens"].as_u64(),
        reasoning_output: usage["completion_tokens_details"]["reasoning_tokens"].as_u64(),
        requests: 1,
    }
}

#[derive(Default)]
struct Call {
    id: String,
    name: String,
    arguments: String,
}

#[derive(Default)]
pub(crate) struct Assembly {
    body: Map<String, Value>,
    message: Map<String, Value>,
    calls: Vec<Call>,
    finish: Value,
}

impl Assembly {
    pub(super) fn take(&mut self, event: &Value, tell: &mut (dyn FnMut(Delta<'_>) + Send)) {
        for name in ["model", "usage"] {
            if let Some(value) = event.get(name).filter(|it| !it.is_null()) {
                self.body.insert(name.to_owned(), value.clone());
            }
        }
        let Some(choice) = event["choices"].get(0) else { return };
        if let Some(reason) = choice.get("finish_reason").filter(|it| !it.is_null()) {
            self.finish = reason.clone();
        }
        let delta = &choice["delta"];
        for name in ["content", "refusal", "reasoning_content"] {
            append(&mut self.message, name, &delta[name]);
        }
        if let Some(details) = delta["reasoning_details"].as_array() {
            let kept = self.message.entry("reasoning_details").or_insert_with(|| json!([]));
            kept.as_array_mut().into_iter().for_each(|kept| kept.extend(details.iter().cloned()));
        }
        if let Some(words) = delta["content"].as_str().filter(|it| !it.is_empty()) {
            tell(Delta::Text(words));
        }
        for piece in delta["tool_calls"].as_array().into_iter().flatten() {
            self.call(piece, tell);
        }
    }

    /// A piece of a call: it is named by its place, and by endpoints that leave that out by its id.
    fn call(&mut self, piece: &Value, tell: &mut (dyn FnMut(Delta<'_>) + Send)) {
        let place = piece["index"].as_u64().and_then(|it| usize::try_from(it).ok());
        let place = place.unwrap_or_else(|| match (piece["id"].is_string(), self.calls.len()) {
            (true, length) => length,
            (false, length) => length.saturating_sub(1),
        });
        if place >= self.calls.len() {
            self.calls.push(Call::default());
        }
        let last = self.calls.len().saturating_sub(1);
        let Some(call) = self.calls.get_mut(place.min(last)) else { return };
        if let Some(id) = piece["id"].as_str().filter(|it| !it.is_empty()) {
            id.clone_into(&mut call.id);
        }
        let function = &piece["function"];
        // The name comes whole, with the first piece or with each.
        if let Some(name) = function["name"].as_str().filter(|it| !it.is_empty()) {
            if call.name.is_empty() {
                tell(Delta::Call(name));
            }
            name.clone_into(&mut call.name);
        }
        call.arguments.push_str(function["arguments"].as_str().unwrap_or_default());
    }

    pub(super) fn end(mut self) -> Option<Value> {
        if self.finish.is_null() {
            return None;
        }
        if !self.calls.is_empty() {
            let calls = self.calls.iter().map(|call| {
                let function = json!({ "name": call.name, "arguments": call.arguments });
                json!({ "id": call.id, "type": "function", "function": function })
            });
            self.message.insert("tool_calls".to_owned(), calls.collect());
        }
        let choices = json!([{ "message": self.message, "finish_reason": self.finish }]);
        self.body.insert("choices".to_owned(), choices);
        Some(Value::Object(self.body))
    }
}
