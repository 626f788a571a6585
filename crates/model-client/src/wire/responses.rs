//! OpenAI's Responses, without anything being stored there.

use serde_json::{Map, Value, json};

use super::{Fault, arguments, arguments_text, text};
use crate::conversation::{Conversation, Message, Reply, Stop, ToolCall, Turn};
use crate::model::Delta;
use crate::settings::Settings;
use crate::usage::Usage;

pub(super) fn body(settings: &Settings, conversation: &Conversation) -> Value {
    let mut input = Vec::new();
    for message in &conversation.messages {
        add(&mut input, message);
    }
    let mut body = json!({ "model": settings.model, "input": input, "store": false });
    if let Some(system) = &conversation.system {
        body["instructions"] = json!(system);
    }
    if !conversation.tools.is_empty() {
        let tools = conversation.tools.iter().map(|tool| {
            json!({
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.input_schema,
                "strict": false,
            })
        });
        body["tools"] = tools.collect();
    }
    if let Some(form) = &conversation.schema {
        let format = json!({
            "type": "json_schema",
            "name": form.name,
            "schema": form.schema,
            "strict": false,
        });
        body["text"] = json!({ "format": format });
    }
    if let Some(effort) = &settings.effort {
        body["reasoning"] = json!({ "effort": effort });
    }
    if thinks(settings) {
        // Thoughts come sealed, to be sent back: nothing is kept on the other side.
        body["include"] = json!(["reasoning.encrypted_content"]);
    }
    if let Some(most) = conversation.max_output {
        body["max_output_tokens"] = json!(most);
    }
    body
}

/// Whether a model has thoughts to send back; others refuse to be asked for them.
fn thinks(settings: &Settings) -> bool {
    let name = settings.model.rsplit('/').next().unwrap_or_default();
    let series = name.strip_prefix("gpt-").unwrap_or_default();
    let number: String = series.chars().take_while(char::is_ascii_digit).collect();
    let is_late = number.parse::<u32>().is_ok_and(|it| it >= 5) && !name.contains("-chat");
    let is_o =
        name.strip_prefix('o').is_some_and(|it| it.starts_with(|c: char| c.is_ascii_digit()));
    settings.effort.is_some() || is_late || is_o
}

fn add(input: &mut Vec<Value>, message: &Message) {
    match message {
        Message::User(words) => input.push(json!({ "role": "user", "content": words })),
        Message::Assistant(turn) => match turn.raw.as_array() {
            Some(items) => input.extend(items.iter().cloned()),
            None => made_up(input, turn),
        },
        Message::Tools(results) => input.extend(results.iter().map(|result| {
            json!({ "type": "function_call_output", "call_id": result.id, "output": result.text })
        })),
    }
}

fn made_up(input: &mut Vec<Value>, turn: &Turn) {
    if !turn.text.is_empty() {
        input.push(json!({ "role": "assistant", "content": turn.text }));
    }
    input.extend(turn.calls.iter().map(|call| {
        json!({
            "type": "function_call",
            "call_id": call.id,
            "name": call.name,
            "arguments": arguments_text(call),
        })
    }));
}

pub(super) fn reply(body: &Value) -> Result<Reply, Fault> {
    let Some(items) = body["output"].as_array() else {
        return Err(Fault::Form("it has no `output`".to_owned()));
    };
    let of = |kind: &'static str| items.iter().filter(move |item| item["type"] == kind);
    let parts: Vec<&Value> =
        of("message").filter_map(|it| it["content"].as_array()).flatten().collect();
    let calls: Vec<ToolCall> = of("function_call")
        .map(|item| ToolCall {
            id: text(&item["call_id"]),
            name: text(&item["name"]),
            arguments: arguments(item["arguments"].as_str().unwrap_or_default()),
        })
        .collect();
    let stop = match (body["status"].as_str(), body["incomplete_details"]["reason"].as_str()) {
        (Some("incomplete"), Some("content_filter")) => Stop::Refusal,
        (Some("incomplete"), Some("max_output_tokens") | None) => Stop::Length,
        (Some("incomplete"), Some(other)) => Stop::Other(other.to_owned()),
        _ if parts.iter().any(|part| part["type"] == "refusal") => Stop::Refusal,
        _ if !calls.is_empty() => Stop::Tools,
        _ => Stop::End,
    };
    // Thoughts that came unsealed are kept nowhere, so that naming them again would be refused.
    let is_kept = |it: &&Value| it["type"] != "reasoning" || it["encrypted_content"].is_string();
    let words = parts.iter().filter(|part| part["type"] == "output_text");
    Ok(Reply {
        turn: Turn {
            text: words.map(|part| text(&part["text"])).collect(),
            calls,
            raw: items.iter().filter(is_kept).cloned().collect(),
        },
        stop,
        usage: usage(&body["usage"]),
        model: body["model"].as_str().map(str::to_owned),
    })
}

/// The input includes what came from the cache; what went into it is told by few.
fn usage(usage: &Value) -> Usage {
    let details = &usage["input_tokens_details"];
    let read = details["cached_tokens"].as_u64();
    let written = details["cache_write_tokens"].as_u64();
    let cached = read.unwrap_or(0) + written.unwrap_or(0);
    Usage {
        uncached_input: usage["input_tokens"].as_u64().map(|it| it.saturating_sub(cached)),
        cache_creation: written,
        cache_read: read,
        output: usage["output_tokens"].as_u64(),
        reasoning_output: usage["output_tokens_details"]["reasoning_tokens"].as_u64(),
        requests: 1,
    }
}

#[derive(Default)]
pub(crate) struct Assembly {
    items: Vec<Value>,
    response: Option<Map<String, Value>>,
}

impl Assembly {
    pub(super) fn take(&mut self, event: &Value, tell: &mut (dyn FnMut(Delta<'_>) + Send)) {
        match event["type"].as_str().unwrap_or_default() {
            "response.output_text.delta" => {
                tell(Delta::Text(event["delta"].as_str().unwrap_or_default()));
            }
            "response.output_item.added" if event["item"]["type"] == "function_call" => {
                tell(Delta::Call(event["item"]["name"].as_str().unwrap_or_default()));
            }
            "response.output_item.done" => self.items.push(event["item"].clone()),
            "response.completed" | "response.incomplete" => {
                self.response = event["response"].as_object().cloned();
            }
            _ => {}
        }
    }

    pub(super) fn end(self) -> Option<Value> {
        let mut response = self.response?;
        // Some endpoints leave out of the end what they have said before.
        if response.get("output").and_then(Value::as_array).is_none_or(Vec::is_empty) {
            response.insert("output".to_owned(), Value::Array(self.items));
        }
        Some(Value::Object(response))
    }
}
