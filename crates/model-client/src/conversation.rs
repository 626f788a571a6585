//! What is said to a model and by it, in a form that belongs to no provider.

use serde_json::{Map, Value};

use crate::usage::Usage;

/// Everything one request to a model holds.
#[derive(Debug, Clone, Default)]
pub struct Conversation {
    /// The system prompt.
    pub system: Option<String>,
    /// What was said so far, oldest first.
    pub messages: Vec<Message>,
    /// What the model may call.
    pub tools: Vec<Tool>,
    /// The form of the answer, where the provider can be told; not enforced by it.
    pub schema: Option<Schema>,
    /// The most tokens the answer may have; the provider's own limit where it has one.
    pub max_output: Option<u32>,
}

impl Conversation {
    /// A conversation that begins with the user's words.
    pub fn new(prompt: impl Into<String>) -> Self {
        Self { messages: vec![Message::User(prompt.into())], ..Self::default() }
    }
}

/// One turn of a conversation.
#[derive(Debug, Clone)]
pub enum Message {
    /// The user's words.
    User(String),
    /// What the model said.
    Assistant(Turn),
    /// What its tool calls came to, all of one turn together.
    Tools(Vec<ToolResult>),
}

/// What a model said in one turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Turn {
    /// Its words, without its thoughts.
    pub text: String,
    /// What it wants to be called, in order.
    pub calls: Vec<ToolCall>,
    /// The turn as the provider wrote it, to be sent back to the letter: it holds what has no place
    /// above, such as signed thoughts. `null` in a turn that was made up.
    pub(crate) raw: Value,
}

impl Turn {
    /// A turn that only says something, for a history that was kept as text.
    pub fn said(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

/// A model's wish to have a tool called.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// Names the call in the result.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments, or what the model wrote in place of an object.
    pub arguments: Result<Map<String, Value>, String>,
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// The id of the call.
    pub id: String,
    /// The answer.
    pub text: String,
    /// Whether the tool reports a failure.
    pub is_error: bool,
}

/// What a model may call.
#[derive(Debug, Clone)]
pub struct Tool {
    /// The name: letters, digits, `_` and `-`, at most 64 of them.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// The JSON Schema of its arguments, an object.
    pub input_schema: Value,
}

/// The form an answer is asked to have.
#[derive(Debug, Clone)]
pub struct Schema {
    /// A name, as for tools.
    pub name: String,
    /// JSON Schema of an object.
    pub schema: Value,
}

/// The answer to one request.
#[derive(Debug, Clone)]
pub struct Reply {
    /// What the model said.
    pub turn: Turn,
    /// Why it said no more.
    pub stop: Stop,
    /// What it cost, in tokens.
    pub usage: Usage,
    /// The model that answered, as it calls itself.
    pub model: Option<String>,
}

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// It is done.
    End,
    /// It waits for the results of its calls.
    Tools,
    /// Its answer came to the limit of length.
    Length,
    /// It would go on when it is sent what it said.
    Pause,
    /// It, or a filter, declined.
    Refusal,
    /// A reason that is not known here.
    Other(String),
}
