//! Anthropic's Messages.

use serde_json::{Map, Value, json};

use super::{Fault, append, object, text};
use crate::conversation::{Conversation, Message, Reply, Stop, ToolCall, Turn};
use crate::model::Delta;
use crate::settings::Settings;
use crate::usage::Usage;

/// The API wants a limit; this one is below what makes it ask for streaming.
const DEFAULT_MAX_OUTPUT: u32 = 16_000;

pub(super) fn body(settings: &Settings, conversation: &Conversation) -> Value {
    let mut messages: Vec<Value> = conversation.messages.iter().map(message).collect();
    // A growing conversation is read from the cache up to its last turn but one, and written there
    // up to its last.
    let turns = messages.iter_mut().rev().filter(|it| it["role"] == "user");
    for block in turns.take(2).filter_map(|it| it["content"].as_array_mut()?.last_mut()) {
        keep(block);
    }
    let mut body = json!({
        "model": settings.model,
        "max_tokens": conversation.max_output.unwrap_or(DEFAULT_MAX_OUTPUT),
        "messages": messages,
    });
    if let Some(system) = &conversation.system {
        let mut block = json!({ "type": "text", "text": system });
        keep(&mut block);
        body["system"] = json!([block]);
    }
    if !conversation.tools.is_empty() {
        let mut tools: Vec<Value> = conversation
            .tools
            .iter()
            .map(|tool| {
                json!({
                    "name": tool.name,
                    "description": tool.description,
                    "input_schema": tool.input_schema,
                })
            })
            .collect();
        tools.last_mut().map(keep);
        body["tools"] = Value::Array(tools);
    }
    if let Some(effort) = &settings.effort {
        body["output_config"] = json!({ "effort": effort });
    }
    body
}

/// Asks for a cache of everything up to this block.
fn keep(block: &mut Value) {
    block["cache_control"] = json!({ "type": "ephemeral" });
}

fn message(message: &Message) -> Value {
    match message {
        Message::User(words) => {
            json!({ "role": "user", "content": [{ "type": "text", "text": words }] })
        }
        Message::Assistant(turn) => json!({ "role": "assistant", "content": said(turn) }),
        Message::Tools(results) => {
            let blocks: Vec<Value> = results
                .iter()
                .map(|result| {
                    json!({
                        "type": "tool_result",
                        "tool_use_id": result.id,
                        "content": result.text,
                        "is_error": result.is_error,
                    })
                })
                .collect();
            json!({ "role": "user", "content": blocks })
        }
    }
}

fn said(turn: &Turn) -> Value {
    if turn.raw.is_array() {
        return turn.raw.clone();
    }
    let words =
        Some(json!({ "type": "text", "text": turn.text })).filter(|_| !turn.text.is_empty());
    let calls = turn.calls.iter().map(|call| {
        let input = call.arguments.clone().unwrap_or_default();
        json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": input })
    });
    words.into_iter().chain(calls).collect()
}

pub(super) fn reply(body: &Value) -> Result<Reply, Fault> {
    let Some(blocks) = body["content"].as_array() else {
        return Err(Fault::Form("it has no `content`".to_owned()));
    };
    let of = |kind: &'static str| blocks.iter().filter(move |block| block["type"] == kind);
    let calls = of("tool_use")
        .map(|block| ToolCall {
            id: text(&block["id"]),
            name: text(&block["name"]),
            arguments: match &block["input"] {
                Value::Object(arguments) => Ok(arguments.clone()),
                Value::Null => Ok(Map::new()),
                other => Err(other.to_string()),
            },
        })
        .collect();
    // An empty text is not accepted when it is sent back.
    let raw = blocks.iter().filter(|block| block["text"] != "").cloned().collect();
    let words = of("text").map(|block| text(&block["text"])).collect();
    let usage = &body["usage"];
    let details = &usage["output_tokens_details"];
    Ok(Reply {
        turn: Turn { text: words, calls, raw },
        stop: match body["stop_reason"].as_str().unwrap_or("end_turn") {
            "end_turn" | "stop_sequence" => Stop::End,
            "tool_use" => Stop::Tools,
            "max_tokens" | "model_context_window_exceeded" => Stop::Length,
            "pause_turn" => Stop::Pause,
            "refusal" => Stop::Refusal,
            other => Stop::Other(other.to_owned()),
        },
        usage: Usage {
            uncached_input: usage["input_tokens"].as_u64(),
            cache_creation: usage["cache_creation_input_tokens"].as_u64(),
            cache_read: usage["cache_read_input_tokens"].as_u64(),
            output: usage["output_tokens"].as_u64(),
            reasoning_output: details["thinking_tokens"].as_u64(),
            requests: 1,
        },
        model: body["model"].as_str().map(str::to_owned),
    })
}

#[derive(Default)]
pub(crate) struct Assembly {
    message: Map<String, Value>,
    blocks: Vec<Map<String, Value>>,
    /// The arguments of each block's call, as far as they came.
    inputs: Vec<String>,
    is_whole: bool,
}

impl Assembly {
    pub(super) fn take(&mut self, event: &Value, tell: &mut (dyn FnMut(Delta<'_>) + Send)) {
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => self.message = object(&event["message"]),
            "content_block_start" => {
                let block = object(&event["content_block"]);
                if event["content_block"]["type"] == "tool_use" {
                    tell(Delta::Call(event["content_block"]["name"].as_str().unwrap_or_default()));
                }
                self.blocks.push(block);
                self.inputs.push(String::new());
            }
            "content_block_delta" => self.piece(&event["delta"], tell),
            "content_block_stop" => self.end_block(),
            "message_delta" => {
                self.message
                    .insert("stop_reason".to_owned(), event["delta"]["stop_reason"].clone());
                let usage = self.message.entry("usage").or_insert_with(|| json!({}));
                // Counts so far: each replaces the one before it.
                for (name, count) in event["usage"].as_object().into_iter().flatten() {
                    if let Some(usage) = usage.as_object_mut().filter(|_| !count.is_null()) {
                        usage.insert(name.clone(), count.clone());
                    }
                }
            }
            "message_stop" => self.is_whole = true,
            _ => {}
        }
    }

    fn piece(&mut self, delta: &Value, tell: &mut (dyn FnMut(Delta<'_>) + Send)) {
        // Blocks come one after another, each ending before the next begins.
        let (Some(block), Some(input)) = (self.blocks.last_mut(), self.inputs.last_mut()) else {
            return;
        };
        match delta["type"].as_str().unwrap_or_default() {
            "text_delta" => {
                append(block, "text", &delta["text"]);
                tell(Delta::Text(delta["text"].as_str().unwrap_or_default()));
            }
            "input_json_delta" => {
                input.push_str(delta["partial_json"].as_str().unwrap_or_default());
            }
            "thinking_delta" => append(block, "thinking", &delta["thinking"]),
            "signature_delta" => append(block, "signature", &delta["signature"]),
            _ => {}
        }
    }

    fn end_block(&mut self) {
        let (Some(block), Some(input)) = (self.blocks.last_mut(), self.inputs.last()) else {
            return;
        };
        if block.get("type").is_some_and(|it| it == "tool_use") && !input.is_empty() {
            let input = serde_json::from_str(input).unwrap_or_else(|_| Value::from(input.as_str()));
            block.insert("input".to_owned(), input);
        }
    }

    pub(super) fn end(mut self) -> Option<Value> {
        let blocks = self.blocks.into_iter().map(Value::Object).collect();
        self.message.insert("content".to_owned(), blocks);
        Some(Value::Object(self.message)).filter(|_| self.is_whole)
    }
}
