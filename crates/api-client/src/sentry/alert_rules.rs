//! Metric alert rules: a number that is watched against thresholds.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::error::Error;
use super::lenient::{field, id, ids, list, optional_id};
use super::users::Actor;
use super::{Client, Page};

/// A metric alert rule.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AlertRule {
    /// The numeric id, as text.
    #[serde(deserialize_with = "id")]
    pub id: String,
    /// The name.
    #[serde(default, deserialize_with = "field")]
    pub name: String,
    /// The status as a number; see [`AlertRule::status_text`].
    #[serde(default, deserialize_with = "field")]
    pub status: Option<i64>,
    /// Whether it is silenced.
    #[serde(default, deserialize_with = "field")]
    pub snooze: Option<bool>,
    /// What it counts, as in `events`.
    #[serde(default, deserialize_with = "field")]
    pub dataset: Option<String>,
    /// How it counts, as in `count()`.
    #[serde(default, deserialize_with = "field")]
    pub aggregate: Option<String>,
    /// The filter.
    #[serde(default, deserialize_with = "field")]
    pub query: Option<String>,
    /// Minutes that are counted together.
    #[serde(default, deserialize_with = "field")]
    pub time_window: Option<f64>,
    /// 0 is above, 1 is below.
    #[serde(default, deserialize_with = "field")]
    pub threshold_type: Option<i64>,
    /// The number at which it is good again.
    #[serde(default, deserialize_with = "field")]
    pub resolve_threshold: Option<f64>,
    /// The only environment it looks at.
    #[serde(default, deserialize_with = "field")]
    pub environment: Option<String>,
    /// Who owns it.
    #[serde(default, deserialize_with = "field")]
    pub owner: Option<Actor>,
    /// The slugs of its projects.
    #[serde(default, deserialize_with = "ids")]
    pub projects: Vec<String>,
    /// When it was made.
    #[serde(default, deserialize_with = "field")]
    pub date_created: Option<String>,
    /// When it was last changed.
    #[serde(default, deserialize_with = "field")]
    pub date_modified: Option<String>,
    /// The thresholds.
    #[serde(default, deserialize_with = "list")]
    pub triggers: Vec<AlertTrigger>,
}

impl AlertRule {
    /// The word for its status (`sentry/incidents/models/alert_rule.py`).
    #[must_use]
    pub fn status_text(&self) -> &'static str {
        match (self.snooze, self.status) {
            (Some(true), _) => "muted",
            (_, Some(0)) => "active",
            (_, Some(4)) => "snapshot",
            (_, Some(5)) => "disabled",
            (_, Some(6)) => "not enough data",
            (_, Some(_) | None) => "unknown",
        }
    }
}

/// A threshold and what is done beyond it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AlertTrigger {
    /// `critical` or `warning`.
    #[serde(deserialize_with = "field")]
    pub label: Option<String>,
    /// 0 is above, 1 is below.
    #[serde(deserialize_with = "field")]
    pub threshold_type: Option<i64>,
    /// The number beyond which it fires.
    #[serde(deserialize_with = "field")]
    pub alert_threshold: Option<f64>,
    /// The number at which it is good again.
    #[serde(deserialize_with = "field")]
    pub resolve_threshold: Option<f64>,
    /// What is done.
    #[serde(deserialize_with = "list")]
    pub actions: Vec<AlertAction>,
}

/// Something that is done.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AlertAction {
    /// The kind, as in `slack`.
    #[serde(rename = "type", deserialize_with = "field")]
    pub kind: Option<String>,
    /// To what, as in `team`.
    #[serde(deserialize_with = "field")]
    pub target_type: Option<String>,
    /// To whom.
    #[serde(deserialize_with = "optional_id")]
    pub target_identifier: Option<String>,
    /// All of it in a sentence.
    #[serde(deserialize_with = "field")]
    pub desc: Option<String>,
    /// Whatever else is said.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// Which metric alert rules.
#[derive(Debug, Clone, Copy)]
pub struct AlertRuleList<'a> {
    /// The project's numeric id.
    pub project: Option<&'a str>,
    /// Text that the name holds.
    pub query: Option<&'a str>,
    /// Where the last answer ended.
    pub cursor: Option<&'a str>,
    /// At most this many.
    pub limit: u32,
}

impl Client {
    /// Lists metric alert rules.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn list_alert_rules(
        &self,
        organization: &str,
        list: &AlertRuleList<'_>,
    ) -> Result<Page<AlertRule>, Error> {
        // Only the list of all kinds of rules can be searched by name.
        let call = match list.query {
            Some(name) => self
                .get("/api/0/organizations/{organization}/combined-rules/")
                .query("name", name)
                .query("alertType", "alert_rule"),
            None => self.get("/api/0/organizations/{organization}/alert-rules/"),
        };
        call.path("organization", organization)
            .query("project", list.project)
            .query("cursor", list.cursor)
            .query("per_page", list.limit)
            .page()
            .await
    }

    /// Returns one metric alert rule.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn alert_rule(&self, organization: &str, id: &str) -> Result<AlertRule, Error> {
        self.get("/api/0/organizations/{organization}/alert-rules/{rule}/")
            .path("organization", organization)
            .path("rule", id)
            .entity()
            .await
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Server, page};
    use super::*;

    #[tokio::test]
    async fn a_search_by_name_takes_the_list_that_can_do_it() {
        let body = r#"[{"id":4,"name":"Latency","timeWindow":60,"projects":["web"],"owner":"team:7",
            "triggers":[{"label":"critical","alertThreshold":300,"actions":[{"type":"email","targetIdentifier":7}]}]},
            {"id":"5","projects":null,"triggers":{}}]"#;
        let server = Server::start(vec![page(body, Some("2:1:0"))]).await;
        let client = server.client();
        let list = AlertRuleList { project: Some("77"), query: None, cursor: None, limit: 2 };
        let found = client.list_alert_rules("acme", &list).await.unwrap();
        assert_eq!(found.items[0].triggers[0].alert_threshold, Some(300.0));
        assert_eq!(found.items[0].triggers[0].actions[0].target_identifier.as_deref(), Some("7"));
        assert!(found.items[1].triggers.is_empty());
        let cursor = found.next_cursor.as_deref();
        let list = AlertRuleList { query: Some("lat"), cursor, project: None, ..list };
        client.list_alert_rules("acme", &list).await.unwrap();
        assert_eq!(
            server.lines(),
            [
                "GET /api/0/organizations/acme/alert-rules/?project=77&per_page=2",
                "GET /api/0/organizations/acme/combined-rules/\
                 ?name=lat&alertType=alert_rule&cursor=2%3A1%3A0&per_page=2",
            ]
        );
    }
}
