//! An answer as Responses gives it, with a sealed thought before each call.

use serde_json::{Value, json};

use super::chat::written;
use super::{Turn, halves};

pub(super) fn whole(turn: &Turn<'_>) -> Value {
    response(turn, json!(items(turn)), "completed")
}

fn response(turn: &Turn<'_>, output: Value, status: &str) -> Value {
    let tokens = turn.tokens;
    let input = tokens.uncached_input + tokens.cache_read;
    json!({
        "id": format!("resp_{}", turn.id),
        "object": "response",
        "model": turn.model,
        "status": status,
        "error": null,
        "incomplete_details": null,
        "output": output,
        "usage": {
            "input_tokens": input,
            "input_tokens_details": { "cached_tokens": tokens.cache_read },
            "output_tokens": tokens.output,
            "output_tokens_details": { "reasoning_tokens": tokens.reasoning },
            "total_tokens": input + tokens.output,
        },
    })
}

fn items(turn: &Turn<'_>) -> Vec<Value> {
    let mut items = Vec::new();
    if !turn.calls.is_empty() {
        let sealed = format!("sealed-{}", turn.id);
        items.push(json!({
            "type": "reasoning",
            "id": format!("rs_{}", turn.id),
            "summary": [],
            "encrypted_content": sealed,
        }));
    }
    if !turn.text.is_empty() {
        let part = json!({ "type": "output_text", "text": turn.text, "annotations": [] });
        items.push(json!({
            "type": "message",
            "id": format!("msg_{}", turn.id),
            "status": "completed",
            "role": "assistant",
            "content": [part],
        }));
    }
    items.extend(turn.calls.iter().enumerate().map(|(index, (name, arguments))| {
        let mut spaces = turn.namespaces.iter();
        let within = spaces.find_map(|it| Some((it, name.strip_prefix(*it)?.strip_prefix("__")?)));
        let mut item = json!({
            "type": "function_call",
            "id": format!("fc_{}_{index}", turn.id),
            "call_id": turn.call_id(index),
            "name": name,
            "arguments": written(arguments),
            "status": "completed",
        });
        if let Some((space, name)) = within {
            item["namespace"] = json!(space);
            item["name"] = json!(name);
        }
        item
    }));
    items
}

pub(super) fn events(turn: &Turn<'_>) -> Vec<Value> {
    let begun = response(turn, json!([]), "in_progress");
    let mut events = vec![json!({ "type": "response.created", "response": begun })];
    for (index, item) in items(turn).into_iter().enumerate() {
        events.push(json!({
            "type": "response.output_item.added",
            "output_index": index,
            "item": item,
        }));
        if item["type"] == "message" {
            events.extend(halves(turn.text).into_iter().map(|piece| {
                json!({
                    "type": "response.output_text.delta",
                    "output_index": index,
                    "delta": piece,
                })
            }));
        }
        events.push(json!({
            "type": "response.output_item.done",
            "output_index": index,
            "item": item,
        }));
    }
    events.push(json!({ "type": "response.completed", "response": whole(turn) }));
    events
}
