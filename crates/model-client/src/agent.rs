//! A model and tools in turn, until the model is done or a limit is reached.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::conversation::{Conversation, Message, Reply, Stop, ToolCall, ToolResult};
use crate::error::Error;
use crate::model::{Delta, Model};
use crate::usage::Usage;

/// What an agent may call.
#[async_trait]
pub trait Toolbox: Send + Sync {
    /// Calls a tool. A failure is an answer too: the model reads it.
    async fn call(&self, name: &str, arguments: Map<String, Value>) -> ToolOutcome;
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOutcome {
    /// What the model reads.
    pub text: String,
    /// Whether the tool reports a failure.
    pub is_error: bool,
}

/// A model with limits.
#[derive(Debug, Clone)]
pub struct Agent {
    /// The model.
    pub model: Model,
    /// How many requests it gets at most.
    pub max_steps: u32,
    /// When it must be done.
    pub deadline: Option<Instant>,
    /// Longer results are cut, with a mark, in bytes.
    pub max_result_bytes: usize,
    /// Whether answers are told of while they come.
    pub stream: bool,
}

/// What a run tells of itself.
#[derive(Debug, Clone, Copy)]
pub enum Seen<'a> {
    /// A piece of an answer; only where they are streamed.
    Delta(Delta<'a>),
    /// A whole answer.
    Reply(&'a Reply),
    /// A tool is about to be called.
    Call(&'a ToolCall),
    /// A tool has answered.
    Result {
        /// The call.
        call: &'a ToolCall,
        /// The answer, as the model gets it.
        result: &'a ToolResult,
        /// How many bytes the whole answer has.
        bytes: usize,
        /// Whether the model gets less than that.
        is_cut: bool,
        /// How long it took.
        took: Duration,
    },
}

/// How a run ended.
#[derive(Debug)]
pub enum End {
    /// The model is done.
    Done,
    /// It declined.
    Refused,
    /// Its answer was too long.
    Length,
    /// It has used up its requests.
    Steps,
    /// The time was up.
    Time,
    /// There was no answer.
    Failed(Error),
    /// It stopped for a reason that is not known here.
    Other(String),
}

/// What a run came to.
#[derive(Debug)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// What the model said last, without what it said before its calls.
    pub text: String,
    /// What all requests cost.
    pub usage: Usage,
    /// The models that answered, as they call themselves, each once.
    pub models: Vec<String>,
}

impl Agent {
    /// An agent with room for 24 requests, without a time limit.
    pub fn new(model: Model) -> Self {
        Self { model, max_steps: 24, deadline: None, max_result_bytes: 256 * 1024, stream: false }
    }

    /// Runs until the model calls no more tools, and leaves all that was said in `conversation`.
    ///
    /// Calls of one turn run one after another, in their order. Dropping the future ends the run.
    pub async fn run(
        &self,
        conversation: &mut Conversation,
        tools: &dyn Toolbox,
        see: &mut (dyn FnMut(Seen<'_>) + Send),
    ) -> Outcome {
        let mut outcome = Outcome {
            end: End::Steps,
            text: String::new(),
            usage: Usage::default(),
            models: Vec::new(),
        };
        for _ in 0..self.max_steps {
            let reply = match self.in_time(self.ask(conversation, see)).await {
                Some(Ok(reply)) => reply,
                Some(Err(error)) => return Outcome { end: End::Failed(error), ..outcome },
                None => return Outcome { end: End::Time, ..outcome },
            };
            see(Seen::Reply(&reply));
            outcome.usage.add(&reply.usage);
            outcome.models.extend(reply.model.filter(|it| !outcome.models.contains(it)));
            outcome.text.clone_from(&reply.turn.text);
            let calls = reply.turn.calls.clone();
            conversation.messages.push(Message::Assistant(reply.turn));
            let end = match reply.stop {
                Stop::Pause => None,
                Stop::Tools | Stop::End if !calls.is_empty() => None,
                Stop::Tools | Stop::End => Some(End::Done),
                Stop::Length => Some(End::Length),
                Stop::Refusal => Some(End::Refused),
                Stop::Other(reason) => Some(End::Other(reason)),
            };
            if calls.is_empty() && end.is_none() {
                continue;
            }
            let mut results = Vec::new();
            let mut end = end;
            for call in &calls {
                if end.is_none() {
                    match self.in_time(self.call(call, tools, see)).await {
                        Some(result) => results.push(result),
                        None => end = Some(End::Time),
                    }
                }
                if end.is_some() {
                    results.push(not_run(call));
                }
            }
            if !calls.is_empty() {
                conversation.messages.push(Message::Tools(results));
            }
            if let Some(end) = end {
                return Outcome { end, ..outcome };
            }
        }
        outcome
    }

    async fn ask(
        &self,
        conversation: &Conversation,
        see: &mut (dyn FnMut(Seen<'_>) + Send),
    ) -> Result<Reply, Error> {
        if !self.stream {
            return self.model.complete(conversation).await;
        }
        self.model.stream(conversation, |delta| see(Seen::Delta(delta))).await
    }

    async fn call(
        &self,
        call: &ToolCall,
        tools: &dyn Toolbox,
        see: &mut (dyn FnMut(Seen<'_>) + Send),
    ) -> ToolResult {
        see(Seen::Call(call));
        let start = Instant::now();
        let outcome = match &call.arguments {
            Ok(arguments) => tools.call(&call.name, arguments.clone()).await,
            Err(_) => {
                let text = "the arguments are not a JSON object; write the call again".to_owned();
                ToolOutcome { text, is_error: true }
            }
        };
        let bytes = outcome.text.len();
        let text = cut(outcome.text, self.max_result_bytes);
        let is_cut = bytes > self.max_result_bytes;
        let result = ToolResult { id: call.id.clone(), text, is_error: outcome.is_error };
        see(Seen::Result { call, result: &result, bytes, is_cut, took: start.elapsed() });
        result
    }

    async fn in_time<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        match self.deadline {
            None => Some(work.await),
            Some(deadline) => tokio::time::timeout_at(deadline.into(), work).await.ok(),
        }
    }
}

/// Stands for the answer to a call that was cut short, so that the conversation can go on.
fn not_run(call: &ToolCall) -> ToolResult {
    ToolResult {
        id: call.id.clone(),
        text: "not finished: the run ended".to_owned(),
        is_error: true,
    }
}

fn cut(text: String, most: usize) -> String {
    if text.len() <= most {
        return text;
    }
    let kept = text.get(..text.floor_char_boundary(most)).unwrap_or_default();
    format!("{kept}\n[cut: {} of {} bytes are shown]", kept.len(), text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_result_is_cut_between_characters_and_says_so() {
        assert_eq!(cut("héé".to_owned(), 5), "héé");
        assert_eq!(cut("héé".to_owned(), 4), "hé\n[cut: 3 of 5 bytes are shown]");
    }
}
