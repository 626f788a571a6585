//! Events: one of an issue, lists of them, and rows of the event search.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::error::Error;
use super::lenient::{field, id, list, optional_id};
use super::time::TimeRange;
use super::{Client, Page};

/// An event with everything that came with it. Whoever can send one chooses most of it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// 32 hexadecimal digits.
    #[serde(deserialize_with = "id")]
    pub id: String,
    /// The issue it belongs to.
    #[serde(default, rename = "groupID", deserialize_with = "optional_id")]
    pub group_id: Option<String>,
    /// `error`, `transaction`, `default`, `generic`, `csp`, …
    #[serde(default, rename = "type", deserialize_with = "field")]
    pub kind: Option<String>,
    /// The title.
    #[serde(default, deserialize_with = "field")]
    pub title: Option<String>,
    /// The message.
    #[serde(default, deserialize_with = "field")]
    pub message: Option<String>,
    /// The SDK's platform.
    #[serde(default, deserialize_with = "field")]
    pub platform: Option<String>,
    /// Where it comes from in the code.
    #[serde(default, deserialize_with = "field")]
    pub culprit: Option<String>,
    /// When it happened.
    #[serde(default, deserialize_with = "field")]
    pub date_created: Option<String>,
    /// When Sentry got it.
    #[serde(default, deserialize_with = "field")]
    pub date_received: Option<String>,
    /// The project's numeric id.
    #[serde(default, rename = "projectID", deserialize_with = "optional_id")]
    pub project_id: Option<String>,
    /// Exceptions, threads, request, breadcrumbs, …
    #[serde(default, deserialize_with = "list")]
    pub entries: Vec<Entry>,
    /// The tags; malformed ones are left out.
    #[serde(default, deserialize_with = "list")]
    pub tags: Vec<Tag>,
    /// Contexts by name.
    #[serde(default, deserialize_with = "field")]
    pub contexts: Map<String, Value>,
    /// Extra data.
    #[serde(default, deserialize_with = "field")]
    pub context: Map<String, Value>,
    /// The user it happened to.
    #[serde(default, deserialize_with = "field")]
    pub user: Option<Map<String, Value>>,
    /// What a performance or metric issue was made of.
    #[serde(default, deserialize_with = "field")]
    pub occurrence: Option<Value>,
    /// The release it happened in.
    #[serde(default, deserialize_with = "field")]
    pub release: Option<Value>,
    /// Name and version of the SDK.
    #[serde(default, deserialize_with = "field")]
    pub sdk: Map<String, Value>,
}

impl Event {
    /// The data of the first entry of a kind, as in `exception`.
    #[must_use]
    pub fn entry(&self, kind: &str) -> Option<&Value> {
        self.entries.iter().find(|it| it.kind == kind).map(|it| &it.data)
    }

    /// The value of a tag.
    #[must_use]
    pub fn tag(&self, key: &str) -> Option<&str> {
        self.tags.iter().find(|it| it.key == key).map(|it| it.value.as_str())
    }
}

/// A part of an event.
#[derive(Debug, Clone, Deserialize)]
pub struct Entry {
    /// `exception`, `threads`, `request`, `breadcrumbs`, `message`, `spans`, …
    #[serde(rename = "type")]
    pub kind: String,
    /// What it holds, by kind.
    #[serde(default)]
    pub data: Value,
}

/// A tag.
#[derive(Debug, Clone, Deserialize)]
pub struct Tag {
    /// The key.
    pub key: String,
    /// The value.
    pub value: String,
}

/// Which event of an issue: an id of 32 hexadecimal digits, or `latest`.
pub const LATEST: &str = "latest";

/// Which events of an issue.
#[derive(Debug, Clone, Copy)]
pub struct IssueEventList<'a> {
    /// Sentry's query language.
    pub query: Option<&'a str>,
    /// As in `-timestamp`.
    pub sort: Option<&'a str>,
    /// The time they are from.
    pub time: &'a TimeRange,
    /// At most this many.
    pub per_page: u32,
}

/// A search over all events of a data set.
#[derive(Debug, Clone)]
pub struct EventSearch<'a> {
    /// `errors`, `spans`, `logs`, `tracemetrics`, `profiles`.
    pub dataset: &'a str,
    /// Sentry's query language.
    pub query: &'a str,
    /// The columns.
    pub fields: &'a [String],
    /// As in `-timestamp`.
    pub sort: Option<&'a str>,
    /// The project's numeric id.
    pub project: Option<&'a str>,
    /// Environments to look at.
    pub environments: &'a [String],
    /// The time they are from.
    pub time: &'a TimeRange,
    /// At most this many rows.
    pub per_page: u32,
}

/// Rows of a search; the keys are the columns that were asked for.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct EventRows {
    /// The rows.
    #[serde(default, deserialize_with = "list")]
    pub data: Vec<Map<String, Value>>,
    /// Types and units of the columns.
    #[serde(default, deserialize_with = "field")]
    pub meta: Map<String, Value>,
    /// Where the list goes on; nothing on the last page.
    #[serde(skip)]
    pub next_cursor: Option<String>,
}

/// What Sentry thinks of a search before it is run.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Validation {
    /// Whether it can be run.
    #[serde(deserialize_with = "field")]
    pub valid: Option<bool>,
    /// What is said about its parts, by name.
    #[serde(flatten)]
    pub parts: Map<String, Value>,
}

impl Client {
    /// Returns an event of an issue by id, or the [`LATEST`].
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn issue_event(
        &self,
        organization: &str,
        issue: &str,
        event: &str,
    ) -> Result<Event, Error> {
        self.get("/api/0/organizations/{organization}/issues/{issue}/events/{event}/")
            .path("organization", organization)
            .path("issue", issue)
            .path("event", event)
            .entity()
            .await
    }

    /// Lists events of an issue, in short.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn issue_events(
        &self,
        organization: &str,
        issue: &str,
        list: &IssueEventList<'_>,
    ) -> Result<Page<Map<String, Value>>, Error> {
        let call = self
            .get("/api/0/organizations/{organization}/issues/{issue}/events/")
            .path("organization", organization)
            .path("issue", issue)
            .query("query", list.query)
            .query("per_page", list.per_page)
            .query("sort", list.sort);
        list.time.apply(call).page().await
    }

    /// Runs a search.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn search_events(
        &self,
        organization: &str,
        search: &EventSearch<'_>,
    ) -> Result<EventRows, Error> {
        let sampling = (search.dataset == "spans").then_some("NORMAL");
        let call = self
            .get("/api/0/organizations/{organization}/events/")
            .path("organization", organization)
            .query("dataset", search.dataset)
            .query("query", search.query)
            .query("field", search.fields)
            .query("sort", search.sort)
            .query("project", search.project)
            .query("environment", search.environments)
            .query("per_page", search.per_page)
            .query("sampling", sampling)
            .query("referrer", "api.mcp.search-events");
        let (rows, next_cursor) = search.time.apply(call).entity_of_list::<EventRows>().await?;
        Ok(EventRows { next_cursor, ..rows })
    }

    /// Asks what is wrong with a search; a search that cannot be run is no error here.
    ///
    /// # Errors
    /// A refusal other than 400, or no usable answer.
    pub async fn validate_events(
        &self,
        organization: &str,
        search: &EventSearch<'_>,
    ) -> Result<Validation, Error> {
        let call = self
            .get("/api/0/organizations/{organization}/events/validate/")
            .path("organization", organization)
            .query("dataset", search.dataset)
            .query("query", search.query)
            .query("field", search.fields)
            .query("orderby", search.sort)
            .query("project", search.project)
            .query("environment", search.environments);
        search.time.apply(call).entity_or(400).await
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Server, json, page};
    use super::*;

    fn day() -> TimeRange {
        TimeRange::Last("24h".to_owned())
    }

    #[tokio::test]
    async fn an_event_keeps_its_good_parts() {
        let body = r#"{"id":"7ca5","groupID":41,"type":"error","tags":[{"key":"env","value":"prod"},{"key":"x"}],
            "entries":[{"type":"exception","data":{"values":[]}},{"data":1},"x"],"contexts":null,"user":[]}"#;
        let server = Server::start(vec![json(200, body)]).await;
        let event = server.client().issue_event("acme", "SHOP-7", LATEST).await.unwrap();
        assert_eq!((event.group_id.as_deref(), event.tag("env")), (Some("41"), Some("prod")));
        assert_eq!((event.entries.len(), event.tags.len()), (1, 1));
        assert!(event.entry("exception").is_some() && event.user.is_none());
        assert_eq!(server.lines(), ["GET /api/0/organizations/acme/issues/SHOP-7/events/latest/"]);
    }

    #[tokio::test]
    async fn a_search_repeats_fields_and_a_validation_may_say_no() {
        let server = Server::start(vec![
            page(r#"{"data":[{"id":1},7],"meta":{}}"#, Some("0:10:0")),
            json(400, r#"{"valid":false,"query":{"valid":false,"error":"bad"}}"#),
            json(403, r#"{"detail":"no"}"#),
        ])
        .await;
        let client = server.client();
        let time = day();
        let fields = ["id".to_owned(), "count()".to_owned()];
        let search = EventSearch {
            dataset: "spans",
            query: "a:b",
            fields: &fields,
            sort: Some("-count()"),
            project: Some("7"),
            environments: &[],
            time: &time,
            per_page: 10,
        };
        let found = client.search_events("acme", &search).await.unwrap();
        assert_eq!((found.data.len(), found.next_cursor.as_deref()), (1, Some("0:10:0")));
        let validation = client.validate_events("acme", &search).await.unwrap();
        assert_eq!(
            (validation.valid, &validation.parts["query"]["error"]),
            (Some(false), &Value::from("bad"))
        );
        assert_eq!(client.validate_events("acme", &search).await.unwrap_err().status(), Some(403));
        let first = &server.lines()[0];
        for part in
            ["field=id&field=count%28%29", "sampling=NORMAL", "statsPeriod=24h", "project=7"]
        {
            assert!(first.contains(part), "{part} in {first}");
        }
        assert!(!first.contains("environment"), "{first}");
    }

    #[tokio::test]
    async fn events_of_an_issue_are_listed_in_short() {
        let server = Server::start(vec![page(r#"[{"id":"a","title":"x"}]"#, Some("1:1:0"))]).await;
        let time = day();
        let list =
            IssueEventList { query: None, sort: Some("-timestamp"), time: &time, per_page: 1 };
        let found = server.client().issue_events("acme", "7", &list).await.unwrap();
        assert_eq!((found.items.len(), found.next_cursor.as_deref()), (1, Some("1:1:0")));
    }
}
