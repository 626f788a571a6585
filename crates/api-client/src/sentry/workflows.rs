//! Workflows: what is done when an issue changes, known to people as issue alerts.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::error::Error;
use super::filtered::filtered;
use super::lenient::{field, id, ids, list, optional_id};
use super::users::Actor;
use super::{Client, Page};

/// A workflow.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Workflow {
    /// The numeric id, as text.
    #[serde(deserialize_with = "id")]
    pub id: String,
    /// The name.
    #[serde(default, deserialize_with = "field")]
    pub name: String,
    /// Whether it runs.
    #[serde(default, deserialize_with = "field")]
    pub enabled: Option<bool>,
    /// The only environment it looks at.
    #[serde(default, deserialize_with = "field")]
    pub environment: Option<String>,
    /// How often it may run.
    #[serde(default, deserialize_with = "field")]
    pub config: WorkflowConfig,
    /// The detectors whose issues it looks at.
    #[serde(default, deserialize_with = "ids")]
    pub detector_ids: Vec<String>,
    /// Who owns it.
    #[serde(default, deserialize_with = "field")]
    pub owner: Option<Actor>,
    /// When it was made.
    #[serde(default, deserialize_with = "field")]
    pub date_created: Option<String>,
    /// When it was last changed.
    #[serde(default, deserialize_with = "field")]
    pub date_updated: Option<String>,
    /// When it last ran.
    #[serde(default, deserialize_with = "field")]
    pub last_triggered: Option<String>,
    /// What starts it.
    #[serde(default, deserialize_with = "field")]
    pub triggers: Option<ConditionGroup>,
    /// What it does, each under conditions of its own.
    #[serde(default, deserialize_with = "list")]
    pub action_filters: Vec<ConditionGroup>,
}

/// How often a workflow may run.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct WorkflowConfig {
    /// Minutes between two runs for the same issue.
    #[serde(deserialize_with = "field")]
    pub frequency: Option<u64>,
}

/// Conditions that count together, and what is done when they hold.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConditionGroup {
    /// `all`, `any`, `any-short` or `none`.
    #[serde(deserialize_with = "field")]
    pub logic_type: Option<String>,
    /// The conditions.
    #[serde(deserialize_with = "list")]
    pub conditions: Vec<Condition>,
    /// What is done.
    #[serde(deserialize_with = "list")]
    pub actions: Vec<Action>,
}

/// A condition.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Condition {
    /// The kind, as in `first_seen_event`.
    #[serde(rename = "type", deserialize_with = "field")]
    pub kind: Option<String>,
    /// What it compares with: a flag, a number, or an object of its own form.
    #[serde(deserialize_with = "field")]
    pub comparison: Value,
}

/// Something that is done.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Action {
    /// The kind, as in `slack`.
    #[serde(rename = "type", deserialize_with = "field")]
    pub kind: Option<String>,
    /// The integration it goes through.
    #[serde(deserialize_with = "optional_id")]
    pub integration_id: Option<String>,
    /// Where it goes.
    #[serde(deserialize_with = "field")]
    pub config: Map<String, Value>,
    /// What goes with it.
    #[serde(deserialize_with = "field")]
    pub data: Map<String, Value>,
}

/// Which workflows.
#[derive(Debug, Clone, Copy)]
pub struct WorkflowList<'a> {
    /// The project's slug.
    pub project: &'a str,
    /// Text that the name holds.
    pub query: Option<&'a str>,
    /// Where the last answer ended.
    pub cursor: Option<&'a str>,
    /// At most this many.
    pub limit: u32,
}

impl Client {
    /// Lists the workflows of a project that watch something, newest first.
    ///
    /// # Errors
    /// A refusal, no usable answer, or a cursor that this list did not give out.
    pub async fn list_workflows(
        &self,
        organization: &str,
        list: &WorkflowList<'_>,
    ) -> Result<Page<Workflow>, Error> {
        let query = list.query.map(name_holds);
        let watches = |it: &Workflow| !it.detector_ids.is_empty();
        filtered(list.limit, list.cursor, watches, || {
            self.get(WORKFLOWS)
                .path("organization", organization)
                .query("projectSlug", list.project)
                .query("sortBy", "-id")
                .query("query", query.as_deref())
        })
        .await
    }

    /// Returns the workflow of a project with this id, if there is one.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn workflow(
        &self,
        organization: &str,
        project: &str,
        id: &str,
    ) -> Result<Option<Workflow>, Error> {
        let call = self.get(WORKFLOWS).path("organization", organization);
        let call = call.query("projectSlug", project).query("id", id).query("per_page", 1);
        let found: Page<Workflow> = call.page().await?;
        Ok(found.items.into_iter().find(|it| it.id == id))
    }
}

const WORKFLOWS: &str = "/api/0/organizations/{organization}/workflows/";

/// The query for names that hold a text: quoted, with what the query language would read escaped.
fn name_holds(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '"' | '\\' | '*') {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    format!("name:\"*{escaped}*\"")
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Server, page};
    use super::*;

    #[tokio::test]
    async fn workflows_that_watch_nothing_are_left_out() {
        let body = r#"[{"id":"3","name":"a","detectorIds":[1],"config":{"frequency":1440},"owner":"team:7",
                "triggers":{"logicType":"any-short","conditions":[{"type":"first_seen_event","comparison":true}]},
                "actionFilters":[{"logicType":"all","conditions":[],"actions":[{"type":"slack","config":[]}]}]},
            {"id":"2","detectorIds":[]},{"id":"1","detectorIds":["x"],"config":null,"triggers":"none"}]"#;
        let server = Server::start(vec![page(body, None)]).await;
        let list = WorkflowList { project: "web", query: Some("a \"b*"), cursor: None, limit: 10 };
        let found = server.client().list_workflows("acme", &list).await.unwrap().items;
        let ids: Vec<_> = found.iter().map(|it| it.id.as_str()).collect();
        assert_eq!(ids, ["3", "1"]);
        assert_eq!(found[0].config.frequency, Some(1440));
        assert_eq!(found[0].owner.as_ref().unwrap().label().as_deref(), Some("team:7"));
        assert_eq!(found[0].action_filters[0].actions[0].kind.as_deref(), Some("slack"));
        assert!(found[1].triggers.is_none());
        assert_eq!(
            server.lines(),
            ["GET /api/0/organizations/acme/workflows/?projectSlug=web&sortBy=-id\
              &query=name%3A%22%2Aa%20%5C%22b%5C%2A%2A%22&per_page=10"]
        );
    }

    #[tokio::test]
    async fn one_workflow_is_the_one_with_that_id_or_none() {
        let server = Server::start(vec![page(r#"[{"id":9}]"#, None)]).await;
        let client = server.client();
        assert_eq!(client.workflow("acme", "web", "9").await.unwrap().unwrap().id, "9");
        assert!(client.workflow("acme", "web", "8").await.unwrap().is_none());
    }
}
