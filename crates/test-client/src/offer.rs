//! A server's tools as a language model gets them.

use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use async_trait::async_trait;
use model_client::{Tool, ToolOutcome, Toolbox};
use serde_json::{Map, Value};

use crate::client::{Client, Error, ToolInfo};

/// Decides whether a call may be made.
pub type Approve = dyn Fn(&ToolInfo, &Map<String, Value>) -> bool + Send + Sync;

/// The tools of one server, for a [`model_client::Agent`].
pub struct Offer<'c> {
    client: &'c Client,
    /// Each under the name the model knows it by.
    tools: Vec<(String, ToolInfo)>,
    approve: Box<Approve>,
    timeout: Option<Duration>,
    lost: OnceLock<String>,
}

impl fmt::Debug for Offer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.tools.iter().map(|(name, _)| name).collect();
        f.debug_struct("Offer").field("tools", &names).finish_non_exhaustive()
    }
}

impl<'c> Offer<'c> {
    /// Lists the server's tools; every call is allowed.
    pub async fn of(client: &'c Client) -> Result<Self, Error> {
        let mut tools: Vec<(String, ToolInfo)> = Vec::new();
        for tool in client.list().await? {
            let name = model_name(&tool.name, |name| tools.iter().any(|(known, _)| known == name));
            tools.push((name, tool));
        }
        let approve = Box::new(|_: &ToolInfo, _: &Map<String, Value>| true);
        Ok(Self { client, tools, approve, timeout: None, lost: OnceLock::new() })
    }

    /// Asks before each call.
    #[must_use]
    pub fn approve(
        mut self,
        approve: impl Fn(&ToolInfo, &Map<String, Value>) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.approve = Box::new(approve);
        self
    }

    /// Gives a call up, and cancels it on the server, after this time.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// The tools, as a request to a model names them.
    pub fn tools(&self) -> Vec<Tool> {
        self.tools
            .iter()
            .map(|(name, tool)| Tool {
                name: name.clone(),
                description: tool.description.clone(),
                input_schema: tool.input_schema.clone(),
            })
            .collect()
    }

    /// Why the connection to the server was lost, if it was.
    pub fn lost(&self) -> Option<&str> {
        self.lost.get().map(String::as_str)
    }

    async fn answer(&self, tool: &ToolInfo, arguments: Map<String, Value>) -> ToolOutcome {
        let call = self.client.call(&tool.name, Value::Object(arguments));
        let result = match self.timeout {
            None => call.await,
            // Dropping the call cancels it on the server.
            Some(timeout) => match tokio::time::timeout(timeout, call).await {
                Ok(result) => result,
                Err(_) => return failed(format!("no answer within {timeout:?}; cancelled")),
            },
        };
        match result {
            Ok(result) => {
                let structured = result.structured.filter(|_| result.text.is_empty());
                let text = structured.map_or(result.text, |value| value.to_string());
                ToolOutcome { text, is_error: result.is_error }
            }
            Err(error) => {
                if matches!(error, Error::Connection(_)) {
                    // The first reason is the cause of the others.
                    self.lost.get_or_init(|| error.to_string());
                }
                failed(error.to_string())
            }
        }
    }
}

#[async_trait]
impl Toolbox for Offer<'_> {
    async fn call(&self, name: &str, arguments: Map<String, Value>) -> ToolOutcome {
        let Some((_, tool)) = self.tools.iter().find(|(known, _)| known == name) else {
            let names: Vec<_> = self.tools.iter().map(|(name, _)| name.as_str()).collect();
            return failed(format!("there is no tool `{name}`; there are: {}", names.join(", ")));
        };
        if !(self.approve)(tool, &arguments) {
            return failed("the user did not allow this call".to_owned());
        }
        self.answer(tool, arguments).await
    }
}

fn failed(text: String) -> ToolOutcome {
    ToolOutcome { text, is_error: true }
}

/// A name that every provider takes: letters, digits, `_` and `-`, at most 64, and no other tool's.
fn model_name(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let plain = |it: char| if it.is_ascii_alphanumeric() || it == '-' { it } else { '_' };
    let base: String = name.chars().map(plain).take(60).collect();
    let numbered = (2..).map(|number| format!("{base}_{number}"));
    std::iter::once(base.clone()).chain(numbered).find(|it| !is_taken(it)).unwrap_or(base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_plain_short_and_distinct() {
        let taken = ["a_b".to_owned()];
        let name = |name: &str| model_name(name, |it| taken.iter().any(|known| known == it));
        assert_eq!(name("execute_write"), "execute_write");
        assert_eq!(name("a.b"), "a_b_2");
        assert_eq!(name(&"é".repeat(70)), "_".repeat(60));
    }
}
