//! Uptime monitors: URLs that Sentry asks for now and then, and what came back.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::Error;
use super::lenient::{field, id, list};
use super::time::TimeRange;
use super::users::Actor;
use super::{Client, Page};

/// An uptime monitor.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UptimeMonitor {
    /// The numeric id, as text.
    #[serde(deserialize_with = "id")]
    pub id: String,
    /// The name for people.
    #[serde(default, deserialize_with = "field")]
    pub name: Option<String>,
    /// The slug of its project.
    #[serde(default, deserialize_with = "field")]
    pub project_slug: Option<String>,
    /// `active` or `disabled`.
    #[serde(default, deserialize_with = "field")]
    pub status: Option<String>,
    /// Whether the URL answers.
    #[serde(default, deserialize_with = "field")]
    pub uptime_status: UptimeStatus,
    /// The URL.
    #[serde(default, deserialize_with = "field")]
    pub url: Option<String>,
    /// The HTTP method.
    #[serde(default, deserialize_with = "field")]
    pub method: Option<String>,
    /// The headers that are sent. Their values may be secrets.
    #[serde(default, deserialize_with = "list")]
    pub headers: Vec<(String, String)>,
    /// The body that is sent, if any.
    #[serde(default, deserialize_with = "field")]
    pub body: Option<String>,
    /// Seconds between two checks.
    #[serde(default, deserialize_with = "field")]
    pub interval_seconds: Option<u64>,
    /// Milliseconds until a check has failed.
    #[serde(default, deserialize_with = "field")]
    pub timeout_ms: Option<u64>,
    /// The environment its issues are filed under.
    #[serde(default, deserialize_with = "field")]
    pub environment: Option<String>,
    /// Who is told.
    #[serde(default, deserialize_with = "field")]
    pub owner: Option<Actor>,
    /// Successes in a row that make it good again.
    #[serde(default, deserialize_with = "field")]
    pub recovery_threshold: Option<u64>,
    /// Failures in a row that make it bad.
    #[serde(default, deserialize_with = "field")]
    pub downtime_threshold: Option<u64>,
    /// Whether the URL's own traces may be sampled.
    #[serde(default, deserialize_with = "field")]
    pub trace_sampling: Option<bool>,
    /// Whether failing responses are kept.
    #[serde(default, deserialize_with = "field")]
    pub response_capture_enabled: Option<bool>,
    /// What the response must fulfil.
    #[serde(default, deserialize_with = "field")]
    pub assertion: Option<Value>,
}

/// Whether a URL answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UptimeStatus {
    /// It does.
    Ok,
    /// It does not.
    Failed,
    /// Nobody has said so.
    #[default]
    Unknown,
}

impl UptimeStatus {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }
}

/// Sentry writes it as a number.
impl<'de> Deserialize<'de> for UptimeStatus {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match i64::deserialize(deserializer)? {
            1 => Self::Ok,
            2 => Self::Failed,
            _ => Self::Unknown,
        })
    }
}

/// One look at a URL.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct UptimeCheck {
    /// When it took place.
    #[serde(deserialize_with = "field")]
    pub timestamp: Option<String>,
    /// `success`, `failure`, `missed_window`, …
    #[serde(deserialize_with = "field")]
    pub check_status: Option<String>,
    /// Why it failed.
    #[serde(deserialize_with = "field")]
    pub check_status_reason: Option<String>,
    /// The status the URL answered with.
    #[serde(deserialize_with = "field")]
    pub http_status_code: Option<u16>,
    /// How long it took, in milliseconds.
    #[serde(deserialize_with = "field")]
    pub duration_ms: Option<f64>,
    /// Where it was made from.
    #[serde(deserialize_with = "field")]
    pub region_name: Option<String>,
    /// Where it was made from, in short.
    #[serde(deserialize_with = "field")]
    pub region: Option<String>,
    /// The environment of the monitor.
    #[serde(deserialize_with = "field")]
    pub environment: Option<String>,
    /// The trace the check began.
    #[serde(deserialize_with = "field")]
    pub trace_id: Option<String>,
}

/// Which uptime monitors.
#[derive(Debug, Clone, Copy, Default)]
pub struct UptimeFilter<'a> {
    /// The project's numeric id.
    pub project: Option<&'a str>,
    /// The environment.
    pub environment: Option<&'a str>,
    /// `team:7` or `user:7`.
    pub owner: Option<&'a str>,
    /// Text that name or URL holds.
    pub query: Option<&'a str>,
}

/// What an uptime monitor is made of; what is absent gets a default or stays.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UptimeSettings {
    /// The name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Seconds between two checks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval_seconds: Option<u64>,
    /// Milliseconds until a check has failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// The HTTP method.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The headers to send.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headers: Option<Vec<(String, String)>>,
    /// The body to send; `Some(None)` takes it away.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Option<String>>,
    /// `active` or `disabled`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Who is told; `Some(None)` is nobody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<Option<String>>,
    /// The environment; `Some(None)` takes it away.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<Option<String>>,
    /// Whether the URL's own traces may be sampled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_sampling: Option<bool>,
    /// Whether failing responses are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_capture_enabled: Option<bool>,
    /// Successes in a row that make it good again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery_threshold: Option<u64>,
    /// Failures in a row that make it bad.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub downtime_threshold: Option<u64>,
}

impl UptimeSettings {
    /// Whether there is nothing to set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Client {
    /// Lists the first uptime monitors that pass the filter.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn list_uptime_monitors(
        &self,
        organization: &str,
        filter: &UptimeFilter<'_>,
        per_page: u32,
    ) -> Result<Page<UptimeMonitor>, Error> {
        self.get("/api/0/organizations/{organization}/uptime/")
            .path("organization", organization)
            .query("project", filter.project)
            .query("environment", filter.environment)
            .query("owner", filter.owner)
            .query("query", filter.query)
            .query("per_page", per_page)
            .page()
            .await
    }

    /// Returns one uptime monitor.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn uptime_monitor(
        &self,
        organization: &str,
        project: &str,
        monitor: &str,
    ) -> Result<UptimeMonitor, Error> {
        let call = self.get(MONITOR).path("organization", organization).path("project", project);
        call.path("monitor", monitor).entity().await
    }

    /// Lists the newest checks of an uptime monitor.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn uptime_checks(
        &self,
        organization: &str,
        project: &str,
        monitor: &str,
        time: &TimeRange,
        per_page: u32,
    ) -> Result<Page<UptimeCheck>, Error> {
        let call = self
            .get("/api/0/projects/{organization}/{project}/uptime/{monitor}/checks/")
            .path("organization", organization)
            .path("project", project)
            .path("monitor", monitor)
            .query("per_page", per_page);
        time.apply(call).page().await
    }

    /// Makes an uptime monitor.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn create_uptime_monitor(
        &self,
        organization: &str,
        project: &str,
        settings: &UptimeSettings,
    ) -> Result<UptimeMonitor, Error> {
        self.post("/api/0/projects/{organization}/{project}/uptime/")
            .path("organization", organization)
            .path("project", project)
            .json(settings)
            .entity()
            .await
    }

    /// Changes an uptime monitor.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn update_uptime_monitor(
        &self,
        organization: &str,
        project: &str,
        monitor: &str,
        settings: &UptimeSettings,
    ) -> Result<UptimeMonitor, Error> {
        let call = self.put(MONITOR).path("organization", organization).path("project", project);
        call.path("monitor", monitor).json(settings).entity().await
    }

    /// Removes an uptime monitor.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn delete_uptime_monitor(
        &self,
        organization: &str,
        project: &str,
        monitor: &str,
    ) -> Result<(), Error> {
        let call = self.delete(MONITOR).path("organization", organization).path("project", project);
        call.path("monitor", monitor).send().await?;
        Ok(())
    }
}

const MONITOR: &str = "/api/0/projects/{organization}/{project}/uptime/{monitor}/";

#[cfg(test)]
mod tests {
    use super::super::testing::{Server, json, page, with_headers};
    use super::*;

    #[tokio::test]
    async fn states_are_numbers_and_odd_headers_are_left_out() {
        let body = r#"[{"id":"1","uptimeStatus":1,"headers":[["a","b"],["c"],"d"]},
                       {"id":2,"uptimeStatus":2,"headers":null},{"id":"3","uptimeStatus":"?"}]"#;
        let server = Server::start(vec![page(body, None)]).await;
        let filter = UptimeFilter { project: Some("7"), ..UptimeFilter::default() };
        let found = server.client().list_uptime_monitors("acme", &filter, 11).await.unwrap().items;
        let states: Vec<_> = found.iter().map(|it| it.uptime_status.as_str()).collect();
        assert_eq!(states, ["ok", "failed", "unknown"]);
        assert_eq!(found[0].headers, [("a".to_owned(), "b".to_owned())]);
        assert_eq!(server.lines(), ["GET /api/0/organizations/acme/uptime/?project=7&per_page=11"]);
    }

    #[tokio::test]
    async fn what_is_not_given_is_not_sent_and_none_takes_away() {
        let server =
            Server::start(vec![json(200, r#"{"id":"1"}"#), with_headers(204, "", b"")]).await;
        let client = server.client();
        let settings = UptimeSettings {
            name: Some("Shop".to_owned()),
            owner: Some(None),
            headers: Some(vec![("a".to_owned(), "b".to_owned())]),
            ..UptimeSettings::default()
        };
        client.update_uptime_monitor("acme", "web", "1", &settings).await.unwrap();
        client.delete_uptime_monitor("acme", "web", "1").await.unwrap();
        assert_eq!(
            server.lines(),
            [
                r#"PUT /api/0/projects/acme/web/uptime/1/ {"name":"Shop","headers":[["a","b"]],"owner":null}"#,
                "DELETE /api/0/projects/acme/web/uptime/1/",
            ]
        );
    }
}
