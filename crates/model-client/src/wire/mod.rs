//! The three forms a request can take, and what they share.

mod chat;
mod messages;
mod responses;

use serde_json::{Map, Value, json};

use crate::conversation::{Conversation, Reply, ToolCall};
use crate::model::Delta;
use crate::settings::{Protocol, Settings};

/// Why an answer cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It has not the form it should have.
    Form(String),
    /// The provider reports an error inside it; its words.
    Reported(String),
}

impl Protocol {
    /// The path below the base.
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Responses => "/responses",
            Self::Chat => "/chat/completions",
            Self::Messages => "/v1/messages",
        }
    }

    /// The body of a request.
    pub(crate) fn body(
        self,
        settings: &Settings,
        conversation: &Conversation,
        stream: bool,
    ) -> Value {
        let mut body = match self {
            Self::Responses => responses::body(settings, conversation),
            Self::Chat => chat::body(settings, conversation, stream),
            Self::Messages => messages::body(settings, conversation),
        };
        if stream {
            body["stream"] = json!(true);
        }
        body
    }

    /// Reads a whole answer.
    pub(crate) fn reply(self, body: &Value) -> Result<Reply, Fault> {
        if let Some(words) = reported(body) {
            return Err(Fault::Reported(words));
        }
        match self {
            Self::Responses => responses::reply(body),
            Self::Chat => chat::reply(body),
            Self::Messages => messages::reply(body),
        }
    }

    /// Puts an answer together that comes event by event.
    pub(crate) fn assembly(self) -> Assembly {
        match self {
            Self::Responses => Assembly::Responses(responses::Assembly::default()),
            Self::Chat => Assembly::Chat(chat::Assembly::default()),
            Self::Messages => Assembly::Messages(messages::Assembly::default()),
        }
    }
}

/// An answer in the making.
pub(crate) enum Assembly {
    Responses(responses::Assembly),
    Chat(chat::Assembly),
    Messages(messages::Assembly),
}

impl Assembly {
    /// Takes an event and tells what it brings.
    pub(crate) fn take(
        &mut self,
        event: &Value,
        tell: &mut (dyn FnMut(Delta<'_>) + Send),
    ) -> Result<(), Fault> {
        if let Some(words) = reported(event) {
            return Err(Fault::Reported(words));
        }
        match self {
            Self::Responses(assembly) => assembly.take(event, tell),
            Self::Chat(assembly) => assembly.take(event, tell),
            Self::Messages(assembly) => assembly.take(event, tell),
        }
        Ok(())
    }

    /// The answer as it would have come in one piece; `None` if it was broken off.
    pub(crate) fn end(self) -> Option<Value> {
        match self {
            Self::Responses(assembly) => assembly.end(),
            Self::Chat(assembly) => assembly.end(),
            Self::Messages(assembly) => assembly.end(),
        }
    }
}

/// A provider's words about an error, wherever it puts them.
pub(crate) fn reported(body: &Value) -> Option<String> {
    let failed = || body.get("response").and_then(|it| it.get("error"));
    let is_error = body["type"] == "error";
    let error = body.get("error").or_else(failed).or_else(|| is_error.then_some(body))?;
    let words = match error {
        Value::Null => return None,
        Value::String(words) => words.clone(),
        _ => error["message"].as_str().map_or_else(|| error.to_string(), str::to_owned),
    };
    Some(words)
}

/// The arguments of a call as text; none at all are an empty object.
fn arguments(text: &str) -> Result<Map<String, Value>, String> {
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(_) | Err(_) => Err(text.to_owned()),
    }
}

/// The arguments of a call that was made up or kept, as text.
fn arguments_text(call: &ToolCall) -> String {
    match &call.arguments {
        Ok(arguments) => Value::Object(arguments.clone()).to_string(),
        Err(text) => text.clone(),
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The fields of an object; what is none has none.
fn object(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

/// Appends a piece of text to a field.
fn append(object: &mut Map<String, Value>, name: &str, piece: &Value) {
    let Some(piece) = piece.as_str() else { return };
    match object.get_mut(name) {
        Some(Value::String(text)) => text.push_str(piece),
        Some(_) | None => drop(object.insert(name.to_owned(), Value::from(piece))),
    }
}
