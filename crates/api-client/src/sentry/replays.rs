//! Session replays: what a user saw and did.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::error::Error;
use super::lenient::{field, id, ids, list, optional_id};
use super::time::TimeRange;
use super::{Client, Page};

/// A replay.
#[derive(Debug, Clone, Deserialize)]
pub struct Replay {
    /// 32 hexadecimal digits; Sentry sometimes writes them with hyphens.
    #[serde(deserialize_with = "id")]
    pub id: String,
    /// The project's numeric id.
    #[serde(default, deserialize_with = "optional_id")]
    pub project_id: Option<String>,
    /// When it began.
    #[serde(default, deserialize_with = "field")]
    pub started_at: Option<String>,
    /// When it ended.
    #[serde(default, deserialize_with = "field")]
    pub finished_at: Option<String>,
    /// Seconds.
    #[serde(default, deserialize_with = "field")]
    pub duration: Option<f64>,
    /// Where it was.
    #[serde(default, deserialize_with = "field")]
    pub environment: Option<String>,
    /// The user.
    #[serde(default, deserialize_with = "field")]
    pub user: Map<String, Value>,
    /// Name and version.
    #[serde(default, deserialize_with = "field")]
    pub browser: Map<String, Value>,
    /// Name and version.
    #[serde(default, deserialize_with = "field")]
    pub os: Map<String, Value>,
    /// Brand, family, model, name.
    #[serde(default, deserialize_with = "field")]
    pub device: Map<String, Value>,
    /// The pages, in order.
    #[serde(default, deserialize_with = "list")]
    pub urls: Vec<String>,
    /// The releases it ran.
    #[serde(default, deserialize_with = "list")]
    pub releases: Vec<String>,
    /// Events that happened during it.
    #[serde(default, deserialize_with = "ids")]
    pub error_ids: Vec<String>,
    /// Traces that happened during it.
    #[serde(default, deserialize_with = "ids")]
    pub trace_ids: Vec<String>,
    /// `session` or `buffer`.
    #[serde(default, deserialize_with = "field")]
    pub replay_type: Option<String>,
    /// How many errors.
    #[serde(default, deserialize_with = "field")]
    pub count_errors: Option<u64>,
    /// How many warnings.
    #[serde(default, deserialize_with = "field")]
    pub count_warnings: Option<u64>,
    /// How many notes of other levels.
    #[serde(default, deserialize_with = "field")]
    pub count_infos: Option<u64>,
    /// How many clicks that did nothing.
    #[serde(default, deserialize_with = "field")]
    pub count_dead_clicks: Option<u64>,
    /// How many clicks in anger.
    #[serde(default, deserialize_with = "field")]
    pub count_rage_clicks: Option<u64>,
    /// How many parts its recording has.
    #[serde(default, deserialize_with = "field")]
    pub count_segments: Option<u64>,
    /// Whether its recording is gone.
    #[serde(default, deserialize_with = "field")]
    pub is_archived: Option<bool>,
    /// Whether the caller has watched it.
    #[serde(default, deserialize_with = "field")]
    pub has_viewed: Option<bool>,
    /// Values by tag.
    #[serde(default, deserialize_with = "field")]
    pub tags: Map<String, Value>,
}

#[derive(Debug, Deserialize)]
struct Data<T> {
    data: T,
}

/// Replays in their envelope; what is none is left out.
#[derive(Debug, Deserialize)]
struct Found {
    #[serde(default, deserialize_with = "list")]
    data: Vec<Replay>,
}

/// Which replays.
#[derive(Debug, Clone, Copy)]
pub struct ReplayList<'a> {
    /// Sentry's query language.
    pub query: &'a str,
    /// As in `-started_at`.
    pub sort: Option<&'a str>,
    /// The project's numeric id.
    pub project: Option<&'a str>,
    /// Environments to look at.
    pub environments: &'a [String],
    /// Columns to read; all when empty.
    pub fields: &'a [String],
    /// The time they are from.
    pub time: &'a TimeRange,
    /// At most this many.
    pub per_page: u32,
}

impl Client {
    /// Lists replays.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn search_replays(
        &self,
        organization: &str,
        list: &ReplayList<'_>,
    ) -> Result<Page<Replay>, Error> {
        let call = self
            .get("/api/0/organizations/{organization}/replays/")
            .path("organization", organization)
            .query("query", list.query)
            .query("per_page", list.per_page)
            .query("project", list.project)
            .query("sort", list.sort)
            .query("environment", list.environments)
            .query("field", list.fields);
        let (found, next_cursor) = list.time.apply(call).entity_of_list::<Found>().await?;
        Ok(Page { items: found.data, next_cursor })
    }

    /// Returns one replay.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn replay(&self, organization: &str, replay: &str) -> Result<Replay, Error> {
        let found: Data<Replay> = self
            .get("/api/0/organizations/{organization}/replays/{replay}/")
            .path("organization", organization)
            .path("replay", replay)
            .entity()
            .await?;
        Ok(found.data)
    }

    /// Downloads the first parts of a recording: lists of events as the SDK wrote them.
    ///
    /// # Errors
    /// A refusal, or no usable answer; also a recording beyond the transport's limit.
    pub async fn replay_segments(
        &self,
        organization: &str,
        project: &str,
        replay: &str,
    ) -> Result<Page<Vec<Value>>, Error> {
        self.get("/api/0/projects/{organization}/{project}/replays/{replay}/recording-segments/")
            .path("organization", organization)
            .path("project", project)
            .path("replay", replay)
            .query("download", true)
            .page()
            .await
    }

    /// Returns the ids of replays by what was searched for, as in `issue.id:[7]`.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn replay_ids(
        &self,
        organization: &str,
        query: &str,
        data_source: &str,
    ) -> Result<BTreeMap<String, Vec<String>>, Error> {
        self.get("/api/0/organizations/{organization}/replay-count/")
            .path("organization", organization)
            .query("returnIds", true)
            .query("query", query)
            .query("data_source", data_source)
            .query("statsPeriod", "90d")
            .query("project", -1)
            .entity()
            .await
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Server, json, page};
    use super::*;

    #[tokio::test]
    async fn replays_are_listed_without_what_is_none() {
        let body = r#"{"data":[{"id":"7e07"},{"id":null},7]}"#;
        let server = Server::start(vec![page(body, Some("0:10:0"))]).await;
        let time = TimeRange::Last("24h".to_owned());
        let environments = ["production".to_owned(), "staging".to_owned()];
        let list = ReplayList {
            query: "count_errors:>0",
            sort: Some("-started_at"),
            project: Some("7"),
            environments: &environments,
            fields: &[],
            time: &time,
            per_page: 10,
        };
        let found = server.client().search_replays("acme", &list).await.unwrap();
        assert_eq!((found.items.len(), found.next_cursor.as_deref()), (1, Some("0:10:0")));
        assert_eq!(
            server.lines(),
            ["GET /api/0/organizations/acme/replays/?query=count_errors%3A%3E0&per_page=10\
              &project=7&sort=-started_at&environment=production&environment=staging\
              &statsPeriod=24h"]
        );
    }

    #[tokio::test]
    async fn a_replay_is_read_out_of_its_envelope() {
        let body = r#"{"data":{"id":"7e07","project_id":7,"duration":"long","user":{"id":"1"},
            "urls":["/a",null],"error_ids":["e1"],"count_errors":2,"browser":null}}"#;
        let server = Server::start(vec![
            json(200, body),
            page(r#"[[{"type":5}],[]]"#, None),
            json(200, r#"{"7":["a","b"]}"#),
        ])
        .await;
        let client = server.client();
        let replay = client.replay("acme", "7e07").await.unwrap();
        assert_eq!((replay.project_id.as_deref(), replay.duration), (Some("7"), None));
        assert_eq!((replay.urls.len(), replay.count_errors), (1, Some(2)));
        assert_eq!(client.replay_segments("acme", "7", "7e07").await.unwrap().items.len(), 2);
        let ids = client.replay_ids("acme", "issue.id:[7]", "discover").await.unwrap();
        assert_eq!(ids["7"], ["a", "b"]);
        assert_eq!(
            server.lines(),
            [
                "GET /api/0/organizations/acme/replays/7e07/",
                "GET /api/0/projects/acme/7/replays/7e07/recording-segments/?download=true",
                "GET /api/0/organizations/acme/replay-count/?returnIds=true\
                 &query=issue.id%3A%5B7%5D&data_source=discover&statsPeriod=90d&project=-1",
            ]
        );
    }
}
