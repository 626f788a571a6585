//! Cron monitors: schedules that are watched, their check-ins and counts.

use serde::Deserialize;
use serde_json::Value;

use super::call::Call;
use super::error::Error;
use super::lenient::{field, id, list, optional_id};
use super::time::TimeRange;
use super::users::Actor;
use super::{Client, Page};

/// A cron monitor.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Monitor {
    /// The UUID.
    #[serde(default, deserialize_with = "optional_id")]
    pub id: Option<String>,
    /// The name in paths.
    pub slug: String,
    /// The name for people.
    #[serde(default, deserialize_with = "field")]
    pub name: Option<String>,
    /// `active` or `disabled`.
    #[serde(default, deserialize_with = "field")]
    pub status: Option<String>,
    /// Whether all its environments are silenced.
    #[serde(default, deserialize_with = "field")]
    pub is_muted: Option<bool>,
    /// Who is told.
    #[serde(default, deserialize_with = "field")]
    pub owner: Option<Actor>,
    /// The project it belongs to.
    #[serde(default, deserialize_with = "field")]
    pub project: Option<MonitorProject>,
    /// When it is expected, and how strictly.
    #[serde(default, deserialize_with = "field")]
    pub config: Option<MonitorConfig>,
    /// Its state by environment.
    #[serde(default, deserialize_with = "list")]
    pub environments: Vec<MonitorEnvironment>,
    /// When it was made.
    #[serde(default, deserialize_with = "field")]
    pub date_created: Option<String>,
}

/// The project of a monitor.
#[derive(Debug, Clone, Deserialize)]
pub struct MonitorProject {
    /// The numeric id, as text.
    #[serde(default, deserialize_with = "optional_id")]
    pub id: Option<String>,
    /// The name in paths.
    pub slug: String,
}

/// When a monitor is expected, and how strictly.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct MonitorConfig {
    /// `crontab` or `interval`.
    #[serde(deserialize_with = "field")]
    pub schedule_type: Option<String>,
    /// A crontab line, or a number and a unit.
    #[serde(deserialize_with = "field")]
    pub schedule: Value,
    /// The time zone of the crontab line.
    #[serde(deserialize_with = "field")]
    pub timezone: Option<String>,
    /// Minutes it may be late.
    #[serde(deserialize_with = "field")]
    pub checkin_margin: Option<i64>,
    /// Minutes it may run.
    #[serde(deserialize_with = "field")]
    pub max_runtime: Option<i64>,
    /// Failures in a row that make an issue.
    #[serde(deserialize_with = "field")]
    pub failure_issue_threshold: Option<i64>,
    /// Successes in a row that resolve it.
    #[serde(deserialize_with = "field")]
    pub recovery_threshold: Option<i64>,
}

impl MonitorConfig {
    /// The schedule in words: the crontab line, or as in `every 2 hours`.
    #[must_use]
    pub fn schedule_text(&self) -> Option<String> {
        let (count, unit) = match &self.schedule {
            Value::String(line) => return Some(line.clone()),
            Value::Array(parts) => (parts.first()?.as_i64()?, parts.get(1)?.as_str()?),
            Value::Object(parts) => (parts.get("value")?.as_i64()?, parts.get("unit")?.as_str()?),
            Value::Null | Value::Bool(_) | Value::Number(_) => return None,
        };
        Some(if count == 1 { format!("every {unit}") } else { format!("every {count} {unit}s") })
    }
}

/// The state of a monitor in one environment.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MonitorEnvironment {
    /// The environment's name.
    pub name: String,
    /// `ok`, `error`, `missed_checkin`, …
    #[serde(default, deserialize_with = "field")]
    pub status: Option<String>,
    /// Whether it is silenced here.
    #[serde(default, deserialize_with = "field")]
    pub is_muted: Option<bool>,
    /// When it last reported.
    #[serde(default, deserialize_with = "field")]
    pub last_check_in: Option<String>,
    /// When it should report next.
    #[serde(default, deserialize_with = "field")]
    pub next_check_in: Option<String>,
}

/// One report of a monitor.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckIn {
    /// The UUID.
    #[serde(deserialize_with = "id")]
    pub id: String,
    /// `ok`, `error`, `missed`, `timeout`, `in_progress`.
    #[serde(default, deserialize_with = "field")]
    pub status: Option<String>,
    /// How long it took, in milliseconds.
    #[serde(default, deserialize_with = "field")]
    pub duration: Option<f64>,
    /// Where it ran.
    #[serde(default, deserialize_with = "field")]
    pub environment: Option<String>,
    /// When it was recorded, by its old name.
    #[serde(default, deserialize_with = "field")]
    pub date_created: Option<String>,
    /// When it was recorded.
    #[serde(default, deserialize_with = "field")]
    pub date_added: Option<String>,
    /// When it was due.
    #[serde(default, deserialize_with = "field")]
    pub expected_time: Option<String>,
}

impl CheckIn {
    /// When it was recorded.
    #[must_use]
    pub fn at(&self) -> Option<&str> {
        self.date_added.as_deref().or(self.date_created.as_deref())
    }
}

/// Counts of reports in one step of time.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub struct MonitorStats {
    /// The second since 1970 at which the step begins.
    #[serde(deserialize_with = "field")]
    pub ts: i64,
    /// Good ones.
    #[serde(deserialize_with = "field")]
    pub ok: u64,
    /// Failed ones.
    #[serde(deserialize_with = "field")]
    pub error: u64,
    /// Those that did not come.
    #[serde(deserialize_with = "field")]
    pub missed: u64,
    /// Those that took too long.
    #[serde(deserialize_with = "field")]
    pub timeout: u64,
    /// Those that have not ended.
    #[serde(deserialize_with = "field")]
    pub in_progress: u64,
    /// Those without a known state.
    #[serde(deserialize_with = "field")]
    pub unknown: u64,
    /// The mean time they took, in milliseconds.
    #[serde(deserialize_with = "field")]
    pub duration: f64,
}

/// Which monitors.
#[derive(Debug, Clone, Copy, Default)]
pub struct MonitorFilter<'a> {
    /// The project's slug.
    pub project: Option<&'a str>,
    /// An environment it runs in.
    pub environment: Option<&'a str>,
    /// `team:7`, `user:7` or `myteams`.
    pub owner: Option<&'a str>,
    /// Text that name or slug holds.
    pub query: Option<&'a str>,
}

/// Names one monitor: by its organization or, if one is given, by its project.
#[derive(Debug, Clone, Copy)]
pub struct MonitorPath<'a> {
    /// The organization's slug.
    pub organization: &'a str,
    /// The project's slug or id.
    pub project: Option<&'a str>,
    /// The monitor's slug or UUID.
    pub monitor: &'a str,
}

impl Client {
    /// Lists the first monitors that pass the filter.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn list_monitors(
        &self,
        organization: &str,
        filter: &MonitorFilter<'_>,
        per_page: u32,
    ) -> Result<Page<Monitor>, Error> {
        self.get("/api/0/organizations/{organization}/monitors/")
            .path("organization", organization)
            .query("projectSlug", filter.project)
            .query("environment", filter.environment)
            .query("owner", filter.owner)
            .query("query", filter.query)
            .query("per_page", per_page)
            .page()
            .await
    }

    /// Returns one monitor.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn monitor(
        &self,
        path: &MonitorPath<'_>,
        environment: Option<&str>,
    ) -> Result<Monitor, Error> {
        let call = self.of_monitor(
            path,
            "/api/0/projects/{organization}/{project}/monitors/{monitor}/",
            "/api/0/organizations/{organization}/monitors/{monitor}/",
        );
        call.query("environment", environment).entity().await
    }

    /// Lists the newest reports of a monitor.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn monitor_check_ins(
        &self,
        path: &MonitorPath<'_>,
        environment: Option<&str>,
        time: &TimeRange,
        per_page: u32,
    ) -> Result<Page<CheckIn>, Error> {
        let call = self.of_monitor(
            path,
            "/api/0/projects/{organization}/{project}/monitors/{monitor}/checkins/",
            "/api/0/organizations/{organization}/monitors/{monitor}/checkins/",
        );
        let call = call.query("environment", environment).query("per_page", per_page);
        time.apply(call).page().await
    }

    /// Returns counts of reports, from one second since 1970 to another, in steps of `rollup` seconds.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn monitor_stats(
        &self,
        path: &MonitorPath<'_>,
        environment: Option<&str>,
        (since, until): (i64, i64),
        rollup: Option<u32>,
    ) -> Result<Vec<MonitorStats>, Error> {
        let call = self.of_monitor(
            path,
            "/api/0/projects/{organization}/{project}/monitors/{monitor}/stats/",
            "/api/0/organizations/{organization}/monitors/{monitor}/stats/",
        );
        call.query("environment", environment)
            .query("since", since)
            .query("until", until)
            .query("resolution", rollup.map(|seconds| format!("{seconds}s")))
            .entity()
            .await
    }

    fn of_monitor(
        &self,
        path: &MonitorPath<'_>,
        of_project: &'static str,
        of_organization: &'static str,
    ) -> Call<'_> {
        let call = match path.project {
            Some(project) => self.get(of_project).path("project", project),
            None => self.get(of_organization),
        };
        call.path("organization", path.organization).path("monitor", path.monitor)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Server, json, page};
    use super::*;

    const PATH: MonitorPath<'_> =
        MonitorPath { organization: "acme", project: None, monitor: "nightly" };

    #[tokio::test]
    async fn a_monitor_is_read_with_either_form_of_schedule() {
        for (schedule, words) in [
            (r#""15 2 * * *""#, Some("15 2 * * *")),
            (r#"[2,"hour"]"#, Some("every 2 hours")),
            (r#"{"value":1,"unit":"day"}"#, Some("every day")),
            (r#"[2]"#, None),
            ("7", None),
        ] {
            let body = format!(
                r#"{{"id":"2f0c","slug":"nightly","owner":{{"type":"team","id":"7","name":"crew"}},
                "config":{{"schedule_type":"crontab","schedule":{schedule},"max_runtime":"long"}},
                "environments":[{{"name":"production","status":"ok","lastCheckIn":null}},{{"status":"ok"}}]}}"#
            );
            let server = Server::start(vec![json(200, &body)]).await;
            let monitor = server.client().monitor(&PATH, None).await.unwrap();
            let config = monitor.config.unwrap();
            assert_eq!(config.schedule_text().as_deref(), words);
            assert_eq!((config.max_runtime, monitor.environments.len()), (None, 1));
        }
    }

    #[tokio::test]
    async fn each_list_has_a_form_for_the_project_and_one_for_the_organization() {
        let stats = r#"[{"ts":10,"ok":2,"error":null,"duration":1.5}]"#;
        let server = Server::start(vec![
            page(r#"[{"id":"c","status":"ok","duration":12,"dateAdded":"2026-05-04T09:00:00Z","dateCreated":null}]"#, None),
            json(200, stats),
        ])
        .await;
        let client = server.client();
        let time = TimeRange::Last("24h".to_owned());
        let check_ins = client.monitor_check_ins(&PATH, None, &time, 11).await.unwrap();
        assert_eq!(check_ins.items[0].at(), Some("2026-05-04T09:00:00Z"));
        let path = MonitorPath { project: Some("web"), ..PATH };
        let stats = client.monitor_stats(&path, Some("prod"), (1, 2), Some(60)).await.unwrap();
        assert_eq!((stats[0].ok, stats[0].error, stats[0].duration), (2, 0, 1.5));
        assert_eq!(
            server.lines(),
            [
                "GET /api/0/organizations/acme/monitors/nightly/checkins/?per_page=11&statsPeriod=24h",
                "GET /api/0/projects/acme/web/monitors/nightly/stats/\
                 ?environment=prod&since=1&until=2&resolution=60s",
            ]
        );
    }

    #[tokio::test]
    async fn an_empty_filter_adds_nothing_to_the_query() {
        let server = Server::start(vec![page("[]", None)]).await;
        server.client().list_monitors("acme", &MonitorFilter::default(), 11).await.unwrap();
        assert_eq!(server.lines(), ["GET /api/0/organizations/acme/monitors/?per_page=11"]);
    }
}
