//! An answer as Chat Completions gives it.

use serde_json::{Value, json};

use super::{Turn, halves};

pub(super) fn whole(turn: &Turn<'_>) -> Value {
    let mut message = json!({ "role": "assistant", "content": turn.text, "refusal": null });
    if !turn.calls.is_empty() {
        let calls = turn.calls.iter().enumerate().map(|(index, (name, arguments))| {
            let function = json!({ "name": name, "arguments": written(arguments) });
            json!({ "id": turn.call_id(index), "type": "function", "function": function })
        });
        message["tool_calls"] = calls.collect();
    }
    json!({
        "id": turn.id,
        "object": "chat.completion",
        "model": turn.model,
        "choices": [{ "index": 0, "message": message, "finish_reason": finish(turn) }],
        "usage": usage(turn),
    })
}

pub(super) fn events(turn: &Turn<'_>) -> Vec<Value> {
    let chunk = |delta: Value, finish: Value| {
        json!({
            "id": turn.id,
            "object": "chat.completion.chunk",
            "model": turn.model,
            "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }],
        })
    };
    let mut events = vec![chunk(json!({ "role": "assistant", "content": "" }), Value::Null)];
    for piece in halves(turn.text).into_iter().filter(|it| !it.is_empty()) {
        events.push(chunk(json!({ "content": piece }), Value::Null));
    }
    for (index, (name, arguments)) in turn.calls.iter().enumerate() {
        let first = json!({
            "index": index,
            "id": turn.call_id(index),
            "type": "function",
            "function": { "name": name, "arguments": "" },
        });
        events.push(chunk(json!({ "tool_calls": [first] }), Value::Null));
        for piece in halves(&written(arguments)) {
            let next = json!({ "index": index, "function": { "arguments": piece } });
            events.push(chunk(json!({ "tool_calls": [next] }), Value::Null));
        }
    }
    events.push(chunk(json!({}), json!(finish(turn))));
    let usage = usage(turn);
    events.push(json!({ "id": turn.id, "model": turn.model, "choices": [], "usage": usage }));
    events
}

/// Arguments are text; one that is none already is written as JSON.
pub(super) fn written(arguments: &Value) -> String {
    arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned)
}

fn finish(turn: &Turn<'_>) -> &'static str {
    if turn.calls.is_empty() { "stop" } else { "tool_calls" }
}

fn usage(turn: &Turn<'_>) -> Value {
    let tokens = turn.tokens;
    let input = tokens.uncached_input + tokens.cache_read;
    json!({
        "prompt_tokens": input,
        "completion_tokens": tokens.output,
        "total_tokens": input + tokens.output,
        "prompt_tokens_details": { "cached_tokens": tokens.cache_read },
        "completion_tokens_details": { "reasoning_tokens": tokens.reasoning },
    })
}
