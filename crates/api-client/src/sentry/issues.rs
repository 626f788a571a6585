//! Issues: lists of them, one, its changes, links and tags.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::error::Error;
use super::lenient::{field, id, list, optional_id};
use super::users::Actor;
use super::{Client, Page};

/// An issue.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Issue {
    /// The numeric id, as text.
    #[serde(deserialize_with = "id")]
    pub id: String,
    /// The id for people, as in `SHOP-42`.
    #[serde(default, deserialize_with = "field")]
    pub short_id: Option<String>,
    /// The title.
    #[serde(default, deserialize_with = "field")]
    pub title: String,
    /// Where it comes from in the code.
    #[serde(default, deserialize_with = "field")]
    pub culprit: Option<String>,
    /// `unresolved`, `resolved`, `ignored`.
    #[serde(default, deserialize_with = "field")]
    pub status: Option<String>,
    /// `ongoing`, `escalating`, `archived_forever`, …
    #[serde(default, deserialize_with = "field")]
    pub substatus: Option<String>,
    /// What the status depends on.
    #[serde(default, deserialize_with = "field")]
    pub status_details: Map<String, Value>,
    /// `error`, `warning`, …
    #[serde(default, deserialize_with = "field")]
    pub level: Option<String>,
    /// The SDK's platform.
    #[serde(default, deserialize_with = "field")]
    pub platform: Option<String>,
    /// The kind, as in `error` or `performance_n_plus_one_db_queries`.
    #[serde(default, deserialize_with = "field")]
    pub issue_type: Option<String>,
    /// `error`, `performance`, `metric`, …
    #[serde(default, deserialize_with = "field")]
    pub issue_category: Option<String>,
    /// When its first event came.
    #[serde(default, deserialize_with = "field")]
    pub first_seen: Option<String>,
    /// When its last event came.
    #[serde(default, deserialize_with = "field")]
    pub last_seen: Option<String>,
    /// How many events it has; Sentry writes it as text.
    #[serde(default, deserialize_with = "optional_id")]
    pub count: Option<String>,
    /// How many users have seen it.
    #[serde(default, deserialize_with = "field")]
    pub user_count: Option<u64>,
    /// Who looks after it.
    #[serde(default, deserialize_with = "field")]
    pub assigned_to: Option<Actor>,
    /// Its project.
    #[serde(default, deserialize_with = "field")]
    pub project: Option<IssueProject>,
    /// How likely Seer is to find a fix, from 0 to 1.
    #[serde(default, deserialize_with = "field")]
    pub seer_fixability_score: Option<f64>,
    /// What its kind needs to be shown.
    #[serde(default, deserialize_with = "field")]
    pub metadata: Map<String, Value>,
}

/// The project of an issue.
#[derive(Debug, Clone, Deserialize)]
pub struct IssueProject {
    /// The numeric id, as text.
    #[serde(default, deserialize_with = "optional_id")]
    pub id: Option<String>,
    /// The name in paths.
    pub slug: String,
    /// The name for people.
    #[serde(default, deserialize_with = "field")]
    pub name: Option<String>,
}

/// An issue of another tracker.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExternalIssue {
    /// The numeric id, as text.
    #[serde(default, deserialize_with = "optional_id")]
    pub id: Option<String>,
    /// The tracker, as in `jira`.
    #[serde(default, deserialize_with = "field")]
    pub service_type: Option<String>,
    /// The name for people, as in `SHOP-7`.
    #[serde(default, deserialize_with = "field")]
    pub display_name: Option<String>,
    /// Where it is.
    #[serde(default, deserialize_with = "field")]
    pub web_url: Option<String>,
}

/// A tag of an issue's events and its most frequent values.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TagValues {
    /// The key.
    pub key: String,
    /// The name for people.
    #[serde(default, deserialize_with = "field")]
    pub name: Option<String>,
    /// How many events have the tag.
    #[serde(default, deserialize_with = "field")]
    pub total_values: Option<u64>,
    /// The most frequent values.
    #[serde(default, deserialize_with = "list")]
    pub top_values: Vec<TagValue>,
}

/// A value of a tag.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TagValue {
    /// The value; nothing stands for the empty one.
    #[serde(default, deserialize_with = "optional_id")]
    pub value: Option<String>,
    /// How many events have it.
    #[serde(default, deserialize_with = "field")]
    pub count: u64,
    /// When it was first seen.
    #[serde(default, deserialize_with = "field")]
    pub first_seen: Option<String>,
    /// When it was last seen.
    #[serde(default, deserialize_with = "field")]
    pub last_seen: Option<String>,
}

/// Which issues.
#[derive(Debug, Clone, Copy)]
pub struct IssueList<'a> {
    /// Sentry's query language.
    pub query: &'a str,
    /// `date`, `freq`, `new`, `user`, `recommended`.
    pub sort: Option<&'a str>,
    /// How far back, as in `30d`.
    pub period: Option<&'a str>,
    /// The project's numeric id.
    pub project: Option<&'a str>,
    /// At most this many.
    pub limit: u32,
    /// Where the last answer ended.
    pub cursor: Option<&'a str>,
}

/// What changes of an issue; what is absent stays.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct IssueChanges<'a> {
    /// `resolved`, `resolvedInNextRelease`, `unresolved`, `ignored`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<&'a str>,
    /// `archived_until_escalating`, `archived_forever`, `archived_until_condition_met`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub substatus: Option<&'a str>,
    /// `user:7` or `team:7`; the empty text is nobody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assigned_to: Option<&'a str>,
    /// Minutes it stays ignored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignore_duration: Option<u64>,
    /// Events it stays ignored for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignore_count: Option<u64>,
    /// Minutes in which the events must come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignore_window: Option<u64>,
    /// Users it stays ignored for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignore_user_count: Option<u64>,
    /// Minutes in which the users must be met.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignore_user_window: Option<u64>,
}

impl Client {
    /// Lists issues.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn list_issues(
        &self,
        organization: &str,
        list: &IssueList<'_>,
    ) -> Result<Page<Issue>, Error> {
        self.get("/api/0/organizations/{organization}/issues/")
            .path("organization", organization)
            .query("query", list.query)
            .query("sort", list.sort)
            .query("statsPeriod", list.period)
            .query("project", list.project)
            .query("limit", list.limit)
            .query("cursor", list.cursor)
            .query("collapse", "unhandled")
            .page()
            .await
    }

    /// Returns one issue by number or short id.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn issue(&self, organization: &str, issue: &str) -> Result<Issue, Error> {
        let call = self.get(ISSUE).path("organization", organization);
        call.path("issue", issue).entity().await
    }

    /// Changes an issue.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn update_issue(
        &self,
        organization: &str,
        issue: &str,
        changes: &IssueChanges<'_>,
    ) -> Result<Issue, Error> {
        let call = self.put(ISSUE).path("organization", organization);
        call.path("issue", issue).json(changes).entity().await
    }

    /// Lists the issues of other trackers that an issue is linked to.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn external_issues(
        &self,
        organization: &str,
        issue: &str,
    ) -> Result<Page<ExternalIssue>, Error> {
        self.get("/api/0/organizations/{organization}/issues/{issue}/external-issues/")
            .path("organization", organization)
            .path("issue", issue)
            .page()
            .await
    }

    /// Returns the most frequent values of a tag among an issue's events.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn issue_tag_values(
        &self,
        organization: &str,
        issue: &str,
        key: &str,
    ) -> Result<TagValues, Error> {
        self.get("/api/0/organizations/{organization}/issues/{issue}/tags/{key}/")
            .path("organization", organization)
            .path("issue", issue)
            .path("key", key)
            .entity()
            .await
    }
}

const ISSUE: &str = "/api/0/organizations/{organization}/issues/{issue}/";

#[cfg(test)]
mod tests {
    use super::super::testing::{Server, json, page};
    use super::*;

    #[tokio::test]
    async fn an_issue_is_read_whatever_its_kind_leaves_out() {
        let body = r#"[{"id":7,"shortId":"SHOP-7","title":"Error","count":"41","userCount":"many",
            "assignedTo":{"type":"team","id":"3","name":"crew"},"project":{"id":1,"slug":"web"}},
            {"id":"8","culprit":null,"metadata":null,"count":12,"assignedTo":"user:4"}]"#;
        let server = Server::start(vec![page(body, None)]).await;
        let list = IssueList {
            query: "is:unresolved",
            sort: Some("freq"),
            period: Some("14d"),
            project: None,
            limit: 10,
            cursor: None,
        };
        let found = server.client().list_issues("acme", &list).await.unwrap().items;
        assert_eq!((found[0].count.as_deref(), found[0].user_count), (Some("41"), None));
        assert_eq!(found[0].assigned_to.as_ref().unwrap().label().as_deref(), Some("crew"));
        assert_eq!((found[1].count.as_deref(), found[1].metadata.len()), (Some("12"), 0));
        let line = "GET /api/0/organizations/acme/issues/\
                    ?query=is%3Aunresolved&sort=freq&statsPeriod=14d&limit=10&collapse=unhandled";
        assert_eq!(server.lines(), [line]);
    }

    #[tokio::test]
    async fn a_change_sends_what_it_says() {
        let server = Server::start(vec![json(200, r#"{"id":"7","status":"ignored"}"#)]).await;
        let client = server.client();
        let changes = IssueChanges {
            status: Some("ignored"),
            substatus: Some("archived_until_condition_met"),
            ignore_count: Some(10),
            ..IssueChanges::default()
        };
        client.update_issue("acme", "SHOP-7", &changes).await.unwrap();
        let issue = "/api/0/organizations/acme/issues/SHOP-7/";
        let body =
            r#"{"status":"ignored","substatus":"archived_until_condition_met","ignoreCount":10}"#;
        assert_eq!(server.lines(), [format!("PUT {issue} {body}")]);
    }

    #[tokio::test]
    async fn values_of_a_tag_may_be_empty() {
        let body = r#"{"key":"url","totalValues":3,"topValues":[{"value":"","count":2},{"value":5,"count":1}]}"#;
        let server = Server::start(vec![json(200, body)]).await;
        let tag = server.client().issue_tag_values("acme", "7", "url").await.unwrap();
        let values: Vec<_> =
            tag.top_values.iter().map(|it| (it.value.as_deref(), it.count)).collect();
        assert_eq!(values, [(None, 2), (Some("5"), 1)]);
    }
}
