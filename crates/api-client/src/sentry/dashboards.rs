//! Dashboards: their list, and one with its widgets.

use serde::Deserialize;
use serde_json::Value;

use super::call::Call;
use super::error::Error;
use super::filtered::filtered;
use super::lenient::{field, id, ids, list, optional_id};
use super::users::Actor;
use super::{Client, Page};

/// A dashboard as the list shows it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DashboardSummary {
    /// The numeric id, as text.
    #[serde(deserialize_with = "id")]
    pub id: String,
    /// The title.
    #[serde(default, deserialize_with = "field")]
    pub title: String,
    /// The kind of each of its widgets.
    #[serde(default, deserialize_with = "list")]
    pub widget_display: Vec<String>,
    /// The ids of its projects; none and `-1` stand for all.
    #[serde(default, deserialize_with = "ids")]
    pub projects: Vec<String>,
    /// The environments it is limited to.
    #[serde(default, deserialize_with = "list")]
    pub environment: Vec<String>,
    /// Who made it.
    #[serde(default, deserialize_with = "field")]
    pub created_by: Option<Actor>,
    /// When it was made.
    #[serde(default, deserialize_with = "field")]
    pub date_created: Option<String>,
    /// When it was last looked at.
    #[serde(default, deserialize_with = "field")]
    pub last_visited: Option<String>,
    /// Whether the caller has starred it.
    #[serde(default, deserialize_with = "field")]
    pub is_favorited: bool,
    /// Which of Sentry's own dashboards it is.
    #[serde(default, deserialize_with = "optional_id")]
    pub prebuilt_id: Option<String>,
}

impl DashboardSummary {
    /// Whether it shows this project, by id, among others or because it shows all.
    #[must_use]
    pub fn shows(&self, project: &str) -> bool {
        self.projects.is_empty() || self.projects.iter().any(|it| it == project || it == "-1")
    }
}

/// A dashboard with its widgets.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Dashboard {
    /// What the list shows of it, but for the kinds of its widgets.
    #[serde(flatten)]
    pub summary: DashboardSummary,
    /// The relative time it covers, as in `14d`.
    #[serde(default, deserialize_with = "field")]
    pub period: Option<String>,
    /// The first moment it covers.
    #[serde(default, deserialize_with = "field")]
    pub start: Option<String>,
    /// The last moment it covers.
    #[serde(default, deserialize_with = "field")]
    pub end: Option<String>,
    /// Whether times are shown in UTC.
    #[serde(default, deserialize_with = "field")]
    pub utc: Option<bool>,
    /// Whether the time it covers is older than the data that is kept.
    #[serde(default, deserialize_with = "field")]
    pub expired: Option<bool>,
    /// What it is filtered by, such as releases.
    #[serde(default, deserialize_with = "field")]
    pub filters: serde_json::Map<String, Value>,
    /// The widgets, in the order of the list, which is not that of the screen.
    #[serde(default, deserialize_with = "list")]
    pub widgets: Vec<Widget>,
}

/// A widget.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Widget {
    /// The numeric id, as text.
    #[serde(deserialize_with = "optional_id")]
    pub id: Option<String>,
    /// The title.
    #[serde(deserialize_with = "field")]
    pub title: String,
    /// The words below the title.
    #[serde(deserialize_with = "field")]
    pub description: Option<String>,
    /// The kind, as in `line` or `table`.
    #[serde(deserialize_with = "field")]
    pub display_type: Option<String>,
    /// The data set it shows, as in `error-events`.
    #[serde(deserialize_with = "field")]
    pub widget_type: Option<String>,
    /// Who chose the data set.
    #[serde(deserialize_with = "field")]
    pub dataset_source: Option<String>,
    /// The width of its steps, as in `5m`.
    #[serde(deserialize_with = "field")]
    pub interval: Option<String>,
    /// The most rows or series it shows.
    #[serde(deserialize_with = "field")]
    pub limit: Option<i64>,
    /// Where it is on the grid.
    #[serde(deserialize_with = "field")]
    pub layout: Option<Layout>,
    /// What it asks for.
    #[serde(deserialize_with = "list")]
    pub queries: Vec<WidgetQuery>,
}

/// A place on a grid of six columns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub struct Layout {
    /// Columns from the left.
    pub x: i64,
    /// Rows from the top.
    pub y: i64,
    /// Columns wide.
    pub w: i64,
    /// Rows high.
    pub h: i64,
}

/// One query of a widget.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WidgetQuery {
    /// The legend.
    #[serde(deserialize_with = "field")]
    pub name: Option<String>,
    /// The filter, in Sentry's query language.
    #[serde(deserialize_with = "field")]
    pub conditions: Option<String>,
    /// Everything that is selected.
    #[serde(deserialize_with = "list")]
    pub fields: Vec<String>,
    /// The functions among it.
    #[serde(deserialize_with = "list")]
    pub aggregates: Vec<String>,
    /// The columns among it.
    #[serde(deserialize_with = "list")]
    pub columns: Vec<String>,
    /// What the rows are sorted by; `-` reverses.
    #[serde(deserialize_with = "field")]
    pub orderby: Option<String>,
    /// Whether the series is switched off.
    #[serde(deserialize_with = "field")]
    pub is_hidden: bool,
}

/// Which dashboards, and how many.
#[derive(Debug, Clone, Copy)]
pub struct DashboardList<'a> {
    /// Text that the title holds.
    pub query: Option<&'a str>,
    /// `title`, `dateCreated`, or one of them with `-` before it.
    pub sort: &'a str,
    /// Where the last answer ended.
    pub cursor: Option<&'a str>,
    /// At most this many.
    pub limit: u32,
}

impl Client {
    /// Lists dashboards; of one project, by id, if it is given.
    ///
    /// # Errors
    /// A refusal, no usable answer, or a cursor that this list did not give out.
    pub async fn list_dashboards(
        &self,
        organization: &str,
        project: Option<&str>,
        list: &DashboardList<'_>,
    ) -> Result<Page<DashboardSummary>, Error> {
        let call = || {
            self.get("/api/0/organizations/{organization}/dashboards/")
                .path("organization", organization)
                .query("query", list.query)
                .query("sort", list.sort)
        };
        match project {
            Some(project) => {
                let shows = |it: &DashboardSummary| it.shows(project);
                filtered(list.limit, list.cursor, shows, call).await
            }
            None => whole(call(), list).page().await,
        }
    }

    /// Returns one dashboard.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn dashboard(&self, organization: &str, id: &str) -> Result<Dashboard, Error> {
        self.get("/api/0/organizations/{organization}/dashboards/{dashboard}/")
            .path("organization", organization)
            .path("dashboard", id)
            .entity()
            .await
    }
}

fn whole<'c>(call: Call<'c>, list: &DashboardList<'_>) -> Call<'c> {
    call.query("per_page", list.limit).query("cursor", list.cursor)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Server, json, page};
    use super::*;

    #[tokio::test]
    async fn a_dashboard_keeps_its_good_widgets_when_parts_are_odd() {
        let body = r#"{"id":"1","title":"Ops","createdBy":{"name":"Ada","experiments":{}},"projects":[-1],
            "environment":["production"],"period":"14d","utc":true,"filters":{"release":["a@1"]},
            "widgets":[{"id":"9","title":"Errors","displayType":"line","limit":null,"layout":{"x":0,"y":"top"},
                "queries":[{"name":"","conditions":"level:error","fields":["count()"],"aggregates":null}]},
                "no widget"]}"#;
        let server = Server::start(vec![json(200, body)]).await;
        let dashboard = server.client().dashboard("acme", "1").await.unwrap();
        assert!(dashboard.summary.shows("77"));
        assert_eq!(dashboard.summary.created_by.unwrap().label().as_deref(), Some("Ada"));
        assert_eq!((dashboard.period.as_deref(), dashboard.utc), (Some("14d"), Some(true)));
        assert_eq!(dashboard.widgets.len(), 1);
        let widget = &dashboard.widgets[0];
        assert_eq!((widget.title.as_str(), widget.layout), ("Errors", None));
        assert_eq!(widget.queries[0].conditions.as_deref(), Some("level:error"));
        assert_eq!(
            (&*widget.queries[0].fields, widget.queries[0].aggregates.len()),
            (&["count()".to_owned()][..], 0)
        );
    }

    #[tokio::test]
    async fn a_project_sees_its_own_dashboards_and_those_of_all() {
        let body = r#"[{"id":"1","title":"a","projects":[7]},{"id":"2","title":"b","projects":[8]},
                       {"id":"3","title":"c","projects":[]}]"#;
        let server = Server::start(vec![page(body, None)]).await;
        let list = DashboardList { query: None, sort: "title", cursor: None, limit: 3 };
        let client = server.client();
        let found = client.list_dashboards("acme", Some("7"), &list).await.unwrap();
        let ids: Vec<_> = found.items.iter().map(|it| it.id.as_str()).collect();
        assert_eq!(ids, ["1", "3"]);
        assert_eq!(client.list_dashboards("acme", None, &list).await.unwrap().items.len(), 3);
        let line = "GET /api/0/organizations/acme/dashboards/?sort=title&per_page=3";
        assert_eq!(server.lines(), [line, line]);
    }
}
