//! Seer: runs that look for the cause of an issue and a way to fix it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Client;
use super::error::Error;
use super::lenient::{field, list, optional_id};

/// A run, as far as it has come.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Autofix {
    /// The number of the run.
    #[serde(deserialize_with = "optional_id")]
    pub run_id: Option<String>,
    /// `processing`, `completed`, `error`, `awaiting_user_input`, …; older servers shout it.
    #[serde(deserialize_with = "field")]
    pub status: Option<String>,
    /// What the agent did, in order.
    #[serde(deserialize_with = "list")]
    pub blocks: Vec<Block>,
    /// What older servers have instead of blocks.
    #[serde(deserialize_with = "list")]
    pub steps: Vec<Map<String, Value>>,
    /// Pull requests, by repository.
    #[serde(deserialize_with = "field")]
    pub repo_pr_states: Map<String, Value>,
}

/// One piece of an agent's work.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Block {
    /// What it set out to do.
    #[serde(deserialize_with = "list")]
    pub todos: Vec<Todo>,
    /// What it found.
    #[serde(deserialize_with = "list")]
    pub artifacts: Vec<Artifact>,
}

/// An intention of the agent.
#[derive(Debug, Clone, Deserialize)]
pub struct Todo {
    /// In words.
    pub content: String,
    /// `pending`, `in_progress`, `completed`.
    #[serde(default, deserialize_with = "field")]
    pub status: Option<String>,
}

/// A result of the agent.
#[derive(Debug, Clone, Deserialize)]
pub struct Artifact {
    /// `root_cause`, `solution`, …
    pub key: String,
    /// What it says; empty while it is being written.
    #[serde(default, deserialize_with = "field")]
    pub data: Map<String, Value>,
}

impl Autofix {
    /// The newest artifact of a kind that says something.
    #[must_use]
    pub fn artifact(&self, key: &str) -> Option<&Map<String, Value>> {
        let artifacts = self.blocks.iter().rev().flat_map(|block| block.artifacts.iter().rev());
        artifacts.filter(|it| it.key == key && !it.data.is_empty()).map(|it| &it.data).next()
    }

    /// Whether nothing more comes by itself.
    #[must_use]
    pub fn is_over(&self) -> bool {
        let over =
            ["completed", "error", "awaiting_user_input", "cancelled", "need_more_information"];
        let status = self.status.as_deref().unwrap_or_default();
        over.iter().any(|it| status.eq_ignore_ascii_case(it))
    }
}

/// What a run is asked.
#[derive(Debug, Clone, Copy, Default)]
pub struct AutofixRequest<'a> {
    /// The event to begin with.
    pub event: Option<&'a str>,
    /// What to pay attention to.
    pub instruction: Option<&'a str>,
}

/// The body; the instruction goes under the name of either generation of the endpoint.
#[derive(Debug, Serialize)]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    event_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instruction: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_context: Option<&'a str>,
    stopping_point: &'static str,
}

#[derive(Debug, Default, Deserialize)]
struct State {
    #[serde(default, deserialize_with = "field")]
    autofix: Option<Autofix>,
}

#[derive(Debug, Default, Deserialize)]
struct Started {
    #[serde(default, deserialize_with = "optional_id")]
    run_id: Option<String>,
}

const AUTOFIX: &str = "/api/0/organizations/{organization}/issues/{issue}/autofix/";

impl Client {
    /// Returns the newest run of an issue, if there ever was one.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn autofix(&self, organization: &str, issue: &str) -> Result<Option<Autofix>, Error> {
        let call = self.get(AUTOFIX).path("organization", organization).path("issue", issue);
        Ok(call.entity::<State>().await?.autofix)
    }

    /// Starts a run that ends with a solution in words; returns its number.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn start_autofix(
        &self,
        organization: &str,
        issue: &str,
        request: AutofixRequest<'_>,
    ) -> Result<Option<String>, Error> {
        let body = Body {
            event_id: request.event,
            instruction: request.instruction,
            user_context: request.instruction,
            stopping_point: "solution",
        };
        let call = self.post(AUTOFIX).path("organization", organization).path("issue", issue);
        Ok(call.json(&body).entity::<Started>().await?.run_id)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Server, json};
    use super::*;

    #[tokio::test]
    async fn a_run_is_read_as_far_as_it_has_come() {
        let body = r#"{"autofix":{"run_id":7,"status":"PROCESSING","repo_pr_states":[],"blocks":[
            {"artifacts":[{"key":"root_cause","data":{"one_line_description":"old"}}]},
            {"todos":[{"content":"read"},3],"artifacts":[{"key":"root_cause","data":{"one_line_description":"new"}},{"key":"root_cause","data":null}]}]}}"#;
        let server = Server::start(vec![
            json(200, body),
            json(200, r#"{"autofix":null}"#),
            json(202, r#"{"run_id":8,"sentry_run_id":null}"#),
        ])
        .await;
        let client = server.client();
        let run = client.autofix("acme", "SHOP-7").await.unwrap().unwrap();
        assert_eq!((run.run_id.as_deref(), run.is_over()), (Some("7"), false));
        assert_eq!(run.artifact("root_cause").unwrap()["one_line_description"], "new");
        assert!(run.artifact("solution").is_none());
        assert!(client.autofix("acme", "SHOP-7").await.unwrap().is_none());
        let request = AutofixRequest { event: None, instruction: Some("look at the cache") };
        let started = client.start_autofix("acme", "SHOP-7", request).await.unwrap();
        assert_eq!(started.as_deref(), Some("8"));
        let body = r#"{"instruction":"look at the cache","user_context":"look at the cache","stopping_point":"solution"}"#;
        assert_eq!(
            server.lines()[2],
            format!("POST /api/0/organizations/acme/issues/SHOP-7/autofix/ {body}")
        );
    }

    #[test]
    fn a_run_is_over_in_either_spelling() {
        for (status, over) in
            [("COMPLETED", true), ("awaiting_user_input", true), ("processing", false)]
        {
            let run = Autofix { status: Some(status.to_owned()), ..Autofix::default() };
            assert_eq!(run.is_over(), over, "{status}");
        }
    }
}
