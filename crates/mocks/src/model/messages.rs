//! An answer as Anthropic's Messages gives it.

use serde_json::{Value, json};

use super::chat::written;
use super::{Turn, halves};

pub(super) fn whole(turn: &Turn<'_>) -> Value {
    let mut message = message(turn, json!(blocks(turn)), json!(stop(turn)));
    message["usage"]["output_tokens"] = json!(turn.tokens.output);
    message
}

fn message(turn: &Turn<'_>, content: Value, stop: Value) -> Value {
    let tokens = turn.tokens;
    json!({
        "id": format!("msg_{}", turn.id),
        "type": "message",
        "role": "assistant",
        "model": turn.model,
        "content": content,
        "stop_reason": stop,
        "stop_sequence": null,
        "usage": {
            "input_tokens": tokens.uncached_input,
            "cache_creation_input_tokens": tokens.cache_creation,
            "cache_read_input_tokens": tokens.cache_read,
            "output_tokens": 1,
        },
    })
}

fn blocks(turn: &Turn<'_>) -> Vec<Value> {
    let words =
        Some(json!({ "type": "text", "text": turn.text })).filter(|_| !turn.text.is_empty());
    let calls = turn.calls.iter().enumerate().map(|(index, (name, arguments))| {
        json!({ "type": "tool_use", "id": turn.call_id(index), "name": name, "input": arguments })
    });
    words.into_iter().chain(calls).collect()
}

fn stop(turn: &Turn<'_>) -> &'static str {
    if turn.calls.is_empty() { "end_turn" } else { "tool_use" }
}

pub(super) fn events(turn: &Turn<'_>) -> Vec<Value> {
    let begun = message(turn, json!([]), Value::Null);
    let mut events =
        vec![json!({ "type": "message_start", "message": begun }), json!({ "type": "ping" })];
    for (index, block) in blocks(turn).into_iter().enumerate() {
        let mut start = block.clone();
        let deltas: Vec<Value> = if block["type"] == "text" {
            start["text"] = json!("");
            let delta = |text| json!({ "type": "text_delta", "text": text });
            halves(turn.text).into_iter().map(delta).collect()
        } else {
            start["input"] = json!({});
            let arguments = written(&block["input"]);
            let delta = |piece| json!({ "type": "input_json_delta", "partial_json": piece });
            halves(&arguments).into_iter().map(delta).collect()
        };
        events
            .push(json!({ "type": "content_block_start", "index": index, "content_block": start }));
        events.extend(
            deltas.into_iter().map(
                |delta| json!({ "type": "content_block_delta", "index": index, "delta": delta }),
            ),
        );
        events.push(json!({ "type": "content_block_stop", "index": index }));
    }
    let stop = json!({ "stop_reason": stop(turn), "stop_sequence": null });
    let usage = json!({ "output_tokens": turn.tokens.output });
    events.push(json!({ "type": "message_delta", "delta": stop, "usage": usage }));
    events.push(json!({ "type": "message_stop" }));
    events
}
