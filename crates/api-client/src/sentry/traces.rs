//! Traces: counts of what they hold, and their spans as a tree.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::Client;
use super::error::Error;
use super::lenient::{Items, field, list, optional_id};

/// Counts of what a trace holds. Sentry has written the names in both spellings.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct TraceMeta {
    /// How many error events.
    #[serde(deserialize_with = "field")]
    pub errors: Option<u64>,
    /// How many performance issues.
    #[serde(alias = "performanceIssues", deserialize_with = "field")]
    pub performance_issues: Option<u64>,
    /// How many spans.
    #[serde(alias = "spanCount", deserialize_with = "field")]
    pub span_count: Option<f64>,
    /// How many log lines.
    #[serde(deserialize_with = "field")]
    pub logs: Option<u64>,
    /// How many spans of each operation.
    #[serde(alias = "spanCountMap", deserialize_with = "field")]
    pub span_count_map: Map<String, Value>,
}

/// A span or an error within a trace.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct TraceNode {
    /// The id of the span, or of the event.
    #[serde(deserialize_with = "optional_id")]
    pub event_id: Option<String>,
    /// The same, as some servers name it.
    #[serde(deserialize_with = "optional_id")]
    pub id: Option<String>,
    /// `span`, `error`, `occurrence`.
    #[serde(deserialize_with = "field")]
    pub event_type: Option<String>,
    /// The operation, as in `db`.
    #[serde(deserialize_with = "field")]
    pub op: Option<String>,
    /// What it did.
    #[serde(deserialize_with = "field")]
    pub description: Option<String>,
    /// The name of the span, where it has one.
    #[serde(deserialize_with = "field")]
    pub name: Option<String>,
    /// The transaction it belongs to.
    #[serde(deserialize_with = "field")]
    pub transaction: Option<String>,
    /// Whether it begins a transaction.
    #[serde(deserialize_with = "field")]
    pub is_transaction: bool,
    /// The span above it.
    #[serde(deserialize_with = "optional_id")]
    pub parent_span_id: Option<String>,
    /// The level of an error.
    #[serde(deserialize_with = "field")]
    pub level: Option<String>,
    /// The issue of an error.
    #[serde(deserialize_with = "optional_id")]
    pub issue_id: Option<String>,
    /// The title of an error's issue.
    #[serde(deserialize_with = "field")]
    pub title: Option<String>,
    /// The slug of its project.
    #[serde(deserialize_with = "field")]
    pub project_slug: Option<String>,
    /// The project's numeric id.
    #[serde(deserialize_with = "optional_id")]
    pub project_id: Option<String>,
    /// When it began.
    #[serde(deserialize_with = "field")]
    pub start_timestamp: Value,
    /// When it ended.
    #[serde(deserialize_with = "field")]
    pub end_timestamp: Value,
    /// Milliseconds.
    #[serde(deserialize_with = "field")]
    pub duration: Option<f64>,
    /// Errors that happened in it.
    #[serde(deserialize_with = "list")]
    pub errors: Vec<Map<String, Value>>,
    /// Performance issues that were found in it.
    #[serde(deserialize_with = "list")]
    pub occurrences: Vec<Map<String, Value>>,
    /// Attributes beyond the usual ones.
    #[serde(deserialize_with = "field")]
    pub additional_attributes: Map<String, Value>,
    /// Data of older SDKs.
    #[serde(deserialize_with = "field")]
    pub data: Map<String, Value>,
    /// Tags of older SDKs.
    #[serde(deserialize_with = "field")]
    pub tags: Value,
    /// What is below it.
    #[serde(deserialize_with = "list")]
    pub children: Vec<Self>,
}

impl TraceNode {
    /// The id of the span or of the event, under whichever name it came.
    #[must_use]
    pub fn any_id(&self) -> Option<&str> {
        self.event_id.as_deref().or(self.id.as_deref())
    }
}

impl Client {
    /// Counts what a trace holds.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn trace_meta(
        &self,
        organization: &str,
        trace: &str,
        period: &str,
    ) -> Result<TraceMeta, Error> {
        self.get("/api/0/organizations/{organization}/trace-meta/{trace}/")
            .path("organization", organization)
            .path("trace", trace)
            .query("statsPeriod", period)
            .entity()
            .await
    }

    /// Returns the spans of a trace, at most `limit` of them, from all projects.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn trace(
        &self,
        organization: &str,
        trace: &str,
        period: &str,
        limit: u32,
    ) -> Result<Vec<TraceNode>, Error> {
        let call = self
            .get("/api/0/organizations/{organization}/trace/{trace}/")
            .path("organization", organization)
            .path("trace", trace);
        let call = call.query("limit", limit).query("project", -1).query("statsPeriod", period);
        Ok(call.entity::<Items<TraceNode>>().await?.items)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Server, json};

    #[tokio::test]
    async fn counts_are_read_in_both_spellings() {
        for body in [
            r#"{"errors":1,"performance_issues":2,"span_count":12.0,"span_count_map":{"db":3}}"#,
            r#"{"errors":1,"performanceIssues":2,"spanCount":12,"logs":null,"spanCountMap":{"db":3}}"#,
        ] {
            let server = Server::start(vec![json(200, body)]).await;
            let meta = server.client().trace_meta("acme", "a4d1", "14d").await.unwrap();
            assert_eq!((meta.errors, meta.performance_issues), (Some(1), Some(2)));
            assert_eq!((meta.span_count, meta.span_count_map.len()), (Some(12.0), 1));
        }
    }

    #[tokio::test]
    async fn a_tree_keeps_what_can_be_read() {
        let body = r#"[{"event_id":"s1","op":"http","duration":12.5,"is_transaction":true,
            "children":[{"id":"s2","errors":"none","children":null},7]},"x"]"#;
        let server = Server::start(vec![json(200, body)]).await;
        let spans = server.client().trace("acme", "a4d1", "14d", 1000).await.unwrap();
        assert!(spans[0].is_transaction);
        assert_eq!(spans[0].children.len(), 1);
        assert_eq!(spans[0].children[0].any_id(), Some("s2"));
        let line =
            "GET /api/0/organizations/acme/trace/a4d1/?limit=1000&project=-1&statsPeriod=14d";
        assert_eq!(server.lines(), [line]);
    }
}
