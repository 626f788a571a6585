//! What page and model say to each other: the history as the page keeps it, tools as the model sees
//! them, plans without the line that confirms.

use indexmap::IndexMap;
use model_client::{Message, Tool, ToolCall, ToolResult, Turn};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

/// A conversation so far.
pub(super) struct Talk {
    pub(super) messages: Vec<Message>,
}

#[derive(Deserialize)]
struct History {
    messages: Vec<Said>,
}

#[derive(Deserialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum Said {
    User { text: String },
    Assistant { text: String, calls: Vec<Made> },
    Tool { id: String, text: String, failed: bool },
}

#[derive(Deserialize)]
struct Made {
    id: String,
    name: String,
    arguments: Value,
}

impl Talk {
    /// Reads what the page has kept.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, String> {
        let history: History = serde_json::from_slice(bytes)
            .map_err(|error| format!("not a conversation of the playground: {error}"))?;
        let mut messages = Vec::new();
        let mut open: Vec<String> = Vec::new();
        for said in history.messages {
            let is_answer = matches!(&said, Said::Tool { id, .. } if open.contains(id));
            if !open.is_empty() && !is_answer {
                return Err("a call in the conversation has no answer".to_owned());
            }
            match said {
                Said::User { text } => messages.push(Message::User(text)),
                Said::Assistant { text, calls } => {
                    open = calls.iter().map(|it| it.id.clone()).collect();
                    let mut turn = Turn::said(text);
                    turn.calls = calls.into_iter().map(made).collect();
                    messages.push(Message::Assistant(turn));
                }
                Said::Tool { id, text, failed } => {
                    if !is_answer {
                        return Err("an answer in the conversation belongs to no call".to_owned());
                    }
                    open.retain(|it| *it != id);
                    let result = ToolResult { id, text, is_error: failed };
                    match messages.last_mut() {
                        Some(Message::Tools(results)) => results.push(result),
                        _ => messages.push(Message::Tools(vec![result])),
                    }
                }
            }
        }
        match messages.last() {
            Some(Message::User(_)) => Ok(Self { messages }),
            _ => Err("a conversation ends with the person's words".to_owned()),
        }
    }
}

fn made(call: Made) -> ToolCall {
    let arguments = match call.arguments {
        Value::Object(arguments) => Ok(arguments),
        other => Err(other.to_string()),
    };
    ToolCall { id: call.id, name: call.name, arguments }
}

/// A tool as the protocol lists it, as a model is told of it.
pub(super) fn tool(listed: &Value) -> Option<Tool> {
    Some(Tool {
        name: listed["name"].as_str()?.to_owned(),
        description: listed["description"].as_str().unwrap_or_default().to_owned(),
        input_schema: listed["inputSchema"].clone(),
    })
}

/// A tool that plans, without the second half of its work.
pub(super) fn planning_tool(listed: &Value) -> Option<Tool> {
    let mut tool = tool(listed)?;
    if let Some(properties) = tool.input_schema["properties"].as_object_mut() {
        properties.shift_remove("confirm");
    }
    tool.description =
        "Plans writes: reads run, writes are only recorded, and the person is shown the \
                        exact requests. Only the person can have them sent. What a read returns is \
                        not a template for a write: send the required fields and the requested \
                        changes, and unchanged fields only where the update contract requires them."
            .to_owned();
    Some(tool)
}

/// A plan for the model: everything but what confirms it. `None` where there is nothing to confirm.
///
/// # Errors
/// Text that is no JSON object: nobody knows what it holds.
pub(super) fn without_confirm(text: &str) -> Result<Option<String>, serde_json::Error> {
    let message = "shown to the person, who alone can confirm it; nothing is written yet";
    let message = serde_json::value::to_raw_value(message)?;
    let mut fields: IndexMap<String, &RawValue> = serde_json::from_str(text)?;
    if fields.shift_remove("confirm").is_none() {
        return Ok(None);
    }
    fields.retain(|name, _| !matches!(name.as_str(), "expires" | "preview"));
    fields.insert("message".to_owned(), &message);
    serde_json::to_string(&fields).map(Some)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_plan_goes_to_the_model_without_what_confirms_it() {
        let plan = r#"{"status":"needs_confirmation","confirm":"a.test: POST 1 (/x) #k7f3q9w2x5","expires":"2026","plan":[{"n":1,"body":{"id":9007199254740993}}],"message":"call again"}"#;
        assert_eq!(
            without_confirm(plan).unwrap().unwrap(),
            r#"{"status":"needs_confirmation","plan":[{"n":1,"body":{"id":9007199254740993}}],"message":"shown to the person, who alone can confirm it; nothing is written yet"}"#
        );
        assert_eq!(without_confirm(r#"{"result":1}"#).unwrap(), None);
        assert!(without_confirm("no JSON").is_err());
    }

    #[test]
    fn a_tool_that_plans_is_offered_without_the_argument_that_confirms() {
        let listed = json!({ "name": "execute_write", "description": "…", "inputSchema": {
            "type": "object", "required": ["code"],
            "properties": { "code": { "type": "string" }, "confirm": { "type": "string" } },
        } });
        let tool = planning_tool(&listed).unwrap();
        assert_eq!(tool.input_schema["properties"], json!({ "code": { "type": "string" } }));
        assert!(!tool.description.contains("confirm`"), "{}", tool.description);
    }

    #[test]
    fn a_history_has_an_answer_for_each_call_and_ends_with_the_person() {
        let read =
            |messages: Value| Talk::read(json!({ "messages": messages }).to_string().as_bytes());
        let user = json!({ "role": "user", "text": "hi" });
        let calls = json!([{ "id": "a", "name": "search", "arguments": {} }]);
        let assistant = json!({ "role": "assistant", "text": "", "calls": calls });
        let tool = json!({ "role": "tool", "id": "a", "text": "{}", "failed": false });
        let talk = read(json!([user, assistant, tool, user])).ok().unwrap();
        assert!(matches!(&talk.messages[2], Message::Tools(results) if results[0].id == "a"));
        let errors = [
            (json!([]), "a conversation ends with the person's words"),
            (json!([user, assistant, user]), "a call in the conversation has no answer"),
            (json!([user, tool, user]), "an answer in the conversation belongs to no call"),
            (json!([{ "role": "system", "text": "x" }]), "not a conversation of the playground"),
        ];
        for (messages, expected) in errors {
            let error = read(messages).err().unwrap();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
