//! The embedded agent: a model that looks fields up in Sentry and writes the search, in a few steps.

mod answer;
mod otel;
mod prompt;
#[cfg(test)]
mod tests;
mod tools;

use async_trait::async_trait;
use model_client::{Agent, Conversation, End, Message, Model};

use super::{AgentFailure, QueryAgent, Question, Translated};
use tools::Tools;

/// How many requests to the model one search may cost.
const MAX_STEPS: u32 = 5;

/// The longest answer of a tool, in bytes.
const MAX_TOOL_BYTES: usize = 16 * 1024;

/// Writes searches with a language model. Cheap to share; keeps nothing between questions.
#[derive(Debug, Clone)]
pub struct Embedded {
    model: Model,
}

impl Embedded {
    /// An agent with this model. What its settings say about attempts and time holds too.
    pub fn new(model: Model) -> Self {
        Self { model }
    }
}

#[async_trait]
impl QueryAgent for Embedded {
    async fn translate(&self, question: &Question<'_>) -> Result<Translated, AgentFailure> {
        let tools = Tools { question };
        let mut conversation = Conversation {
            system: Some(prompt::system(question.search)),
            messages: vec![Message::User(prompt::task(question))],
            tools: tools.list(),
            schema: Some(answer::schema(question.search)),
            max_output: None,
        };
        let mut agent = Agent::new(self.model.clone());
        agent.max_steps = MAX_STEPS;
        agent.deadline = Some(question.deadline);
        agent.max_result_bytes = MAX_TOOL_BYTES;
        let outcome = agent.run(&mut conversation, &tools, &mut |_| {}).await;
        tracing::debug!(
            end = ?outcome.end,
            requests = outcome.usage.requests,
            input = outcome.usage.total_input(),
            output = outcome.usage.output,
            "the embedded agent is done"
        );
        match outcome.end {
            End::Done if outcome.text.trim().is_empty() => {
                Err(AgentFailure::Provider("the model said nothing".to_owned()))
            }
            End::Done => answer::read(&outcome.text, question.search),
            // The last step may have an answer beside a call that nobody waits for.
            End::Steps => answer::read(&outcome.text, question.search).map_err(|_| {
                AgentFailure::Provider(format!("no answer within {MAX_STEPS} requests"))
            }),
            End::Length | End::Refused | End::Other(_) => {
                Err(AgentFailure::Request("the model gave no whole answer".to_owned()))
            }
            End::Time => Err(AgentFailure::Provider("the model was not done in time".to_owned())),
            End::Failed(error) => Err(AgentFailure::Provider(error.to_string())),
        }
    }
}
