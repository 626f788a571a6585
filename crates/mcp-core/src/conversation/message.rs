//! Messages as SDKs write them down: JSON texts and plain ones, in the forms of several generations.

use std::borrow::Cow;

use serde_json::Value;

/// What the user said last in the messages that a model got.
pub(super) fn last_of_user(messages: &Value) -> Option<String> {
    let messages = read(messages);
    match messages.as_ref() {
        Value::Array(items) => {
            let mut own = items.iter().rev().filter(|it| role(it) == Some("user"));
            own.find_map(content)
        }
        // Words that are no JSON are the message itself.
        Value::String(text) => said(text),
        _ => None,
    }
}

/// What a model answered.
pub(super) fn answer(output: &Value) -> Option<String> {
    let output = read(output);
    match output.as_ref() {
        Value::Array(items) => {
            let is_answer = |it: &&Value| role(it).is_none_or(|it| it == "assistant");
            let texts: Vec<String> = items.iter().filter(is_answer).filter_map(content).collect();
            said(&texts.join("\n"))
        }
        Value::String(text) => said(text),
        Value::Object(_) => content(&output),
        _ => None,
    }
}

/// JSON that came as a text, or the value as it is.
fn read(value: &Value) -> Cow<'_, Value> {
    let Value::String(text) = value else { return Cow::Borrowed(value) };
    let looks_so = text.trim_start().starts_with(['[', '{', '"']);
    let read = looks_so.then(|| serde_json::from_str(text).ok()).flatten();
    read.map_or(Cow::Borrowed(value), Cow::Owned)
}

fn role(message: &Value) -> Option<&str> {
    message.get("role").and_then(Value::as_str)
}

/// The text of a message: `content` as a text or in parts, `parts`, or the message itself.
fn content(message: &Value) -> Option<String> {
    let field = |key: &str| message.get(key).filter(|it| !it.is_null());
    match message {
        Value::String(text) => said(text),
        Value::Object(_) => match field("content").or_else(|| field("parts")) {
            Some(Value::String(text)) => said(text),
            Some(Value::Array(parts)) => {
                let texts: Vec<&str> = parts.iter().filter_map(part).collect();
                said(&texts.join("\n"))
            }
            _ => field("text").and_then(Value::as_str).and_then(said),
        },
        _ => None,
    }
}

fn part(part: &Value) -> Option<&str> {
    let text = |key: &str| part.get(key).and_then(Value::as_str);
    part.as_str().or_else(|| text("text")).or_else(|| {
        let is_text = text("type").is_none_or(|it| it == "text");
        text("content").filter(|_| is_text)
    })
}

fn said(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_the_user_said_is_found_in_every_form() {
        for (messages, expected) in [
            (
                json!(r#"[{"role":"system","content":"s"},{"role":"user","content":"hi"}]"#),
                Some("hi"),
            ),
            (
                json!([{"role": "user", "content": "old"}, {"role": "user", "content": " new "}]),
                Some("new"),
            ),
            (
                json!([{"role": "user", "parts": [{"type": "text", "content": "a"}, {"type": "tool_call", "content": "x"}, {"type": "text", "content": "b"}]}]),
                Some("a\nb"),
            ),
            (
                json!([{"role": "user", "content": [{"type": "text", "text": "c"}, "d"]}]),
                Some("c\nd"),
            ),
            (json!("plain words"), Some("plain words")),
            (json!("[Filtered]"), Some("[Filtered]")),
            (json!([{"role": "assistant", "content": "no"}]), None),
            (json!(null), None),
            (json!(7), None),
            (json!([7, null, {"role": "user"}]), None),
        ] {
            assert_eq!(last_of_user(&messages).as_deref(), expected, "{messages}");
        }
    }

    #[test]
    fn what_a_model_answered_is_found_in_every_form() {
        for (output, expected) in [
            (json!("yes"), Some("yes")),
            (json!(r#""yes""#), Some("yes")),
            (json!(r#"["one","two"]"#), Some("one\ntwo")),
            (
                json!([{"role": "assistant", "content": "yes"}, {"role": "tool", "content": "x"}]),
                Some("yes"),
            ),
            (json!({"text": "yes"}), Some("yes")),
            (json!([{"role": "assistant", "parts": [{"type": "tool_call"}]}]), None),
            (json!("  "), None),
        ] {
            assert_eq!(answer(&output).as_deref(), expected, "{output}");
        }
    }
}
