//! `find_dashboards`: dashboards of an organization, by title.

use api_client::sentry::dashboards::{DashboardList, DashboardSummary};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    error::ToolError,
    params::{Limit, OrganizationSlug, RegionUrl},
    render::segment,
    skill::Skill,
    tool::{Call, CuratedTool, Spec, Structured},
};

#[derive(Debug)]
pub(super) struct FindDashboards;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    organization_slug: OrganizationSlug,
    region_url: Option<RegionUrl>,
    /// words in the title
    title_query: Option<String>,
    #[serde(default)]
    sort: Sort,
    /// `nextCursor` of the last answer
    cursor: Option<String>,
    #[serde(default)]
    limit: Limit<10, 100>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
enum Sort {
    #[default]
    #[serde(rename = "title")]
    Title,
    #[serde(rename = "-title")]
    TitleReversed,
    #[serde(rename = "dateCreated")]
    Oldest,
    #[serde(rename = "-dateCreated")]
    Newest,
}

impl Sort {
    fn as_str(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::TitleReversed => "-title",
            Self::Oldest => "dateCreated",
            Self::Newest => "-dateCreated",
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Answer {
    dashboards: Vec<Dashboard>,
    /// Where the list goes on, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Dashboard {
    id: String,
    title: String,
    widget_count: usize,
    widget_types: Vec<String>,
    /// Numeric ids; none means every project.
    projects: Vec<String>,
    environments: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    date_created: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_visited: Option<String>,
    is_favorited: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    prebuilt_id: Option<String>,
    url: String,
}

impl CuratedTool for FindDashboards {
    const SPEC: Spec = Spec {
        name: "find_dashboards",
        title: "Find dashboards",
        description: "List the dashboards of an organization, with id, projects and kinds of widgets. What a dashboard asks for is in `get_dashboard_details`; numbers are in neither.",
        skills: &[Skill::Inspect],
        scopes: &["org:read"],
        ..Spec::READ
    };
    type Params = Params;
    type Output = Structured<Answer>;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Self::Output, ToolError> {
        let sentry = cx.sentry_in(params.region_url.as_deref())?;
        let organization = &params.organization_slug;
        let project = match cx.constraints.project.as_deref() {
            Some(slug) => Some(sentry.project(organization, slug).await?.id),
            None => None,
        };
        let list = DashboardList {
            query: params.title_query.as_deref(),
            sort: params.sort.as_str(),
            cursor: params.cursor.as_deref(),
            limit: params.limit.get() as u32,
        };
        let found = sentry.list_dashboards(organization, project.as_deref(), &list).await?;
        let dashboards = found.items.into_iter().map(|it| shown(cx, organization, it)).collect();
        Ok(Structured(Answer { dashboards, next_cursor: found.next_cursor }))
    }
}

fn shown(cx: &Call<'_>, organization: &str, dashboard: DashboardSummary) -> Dashboard {
    let mut widget_types = dashboard.widget_display.clone();
    widget_types.sort();
    widget_types.dedup();
    Dashboard {
        url: cx.web_url(organization, &format!("/dashboard/{}/", segment(&dashboard.id))),
        widget_count: dashboard.widget_display.len(),
        widget_types,
        created_by: dashboard.created_by.and_then(|it| it.label()),
        id: dashboard.id,
        title: dashboard.title,
        projects: dashboard.projects,
        environments: dashboard.environment,
        date_created: dashboard.date_created,
        last_visited: dashboard.last_visited,
        is_favorited: dashboard.is_favorited,
        prebuilt_id: dashboard.prebuilt_id,
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::json;

    use crate::test_support::Sentry;

    #[tokio::test]
    async fn dashboards_come_with_what_they_are_made_of() {
        let arguments = json!({"organizationSlug": "harbor-lantern", "titleQuery": "checkout"});
        assert_snapshot!(Sentry::new().call("find_dashboards", arguments).await);
    }

    #[tokio::test]
    async fn nothing_found_is_an_empty_list() {
        let arguments = json!({"organizationSlug": "harbor-lantern", "titleQuery": "zzz"});
        assert_snapshot!(Sentry::new().call("find_dashboards", arguments).await);
    }

    #[tokio::test]
    async fn a_list_beyond_the_limit_goes_on_at_the_cursor() {
        let sentry = Sentry::new();
        let mut arguments =
            json!({"organizationSlug": "harbor-lantern", "limit": 2, "sort": "-title"});
        let first = sentry.call_structured("find_dashboards", arguments.clone()).await;
        assert_eq!(first["dashboards"][0]["title"], "Ops wallboard");
        arguments["cursor"] = first["nextCursor"].clone();
        let second = sentry.call_structured("find_dashboards", arguments).await;
        assert_eq!(second["dashboards"][0]["title"], "Checkout health");
        assert_eq!(second.get("nextCursor"), None);
    }

    #[tokio::test]
    async fn a_pinned_project_sees_its_own_dashboards_alone() {
        let sentry = Sentry::new().pinned("harbor-lantern", Some("tide-worker"));
        let answer = sentry.call_structured("find_dashboards", json!({"limit": 1})).await;
        assert_eq!(answer["dashboards"][0]["title"], "Ops wallboard");
        assert_eq!(answer.get("nextCursor"), None);
    }

    #[tokio::test]
    async fn a_cursor_of_somewhere_else_is_refused() {
        for (sentry, cursor) in [
            (Sentry::new(), "soon"),
            (Sentry::new().pinned("harbor-lantern", Some("quay-web")), "1.x.y"),
        ] {
            let arguments = json!({"organizationSlug": "harbor-lantern", "cursor": cursor});
            let text = sentry.call_failing("find_dashboards", arguments).await;
            assert!(text.contains("cursor"), "{text}");
        }
    }

    #[tokio::test]
    async fn an_unknown_organization_is_the_callers_to_fix() {
        let arguments = json!({"organizationSlug": "nobody"});
        assert_snapshot!(Sentry::new().call("find_dashboards", arguments).await);
    }

    #[tokio::test]
    async fn a_limit_out_of_bounds_is_refused() {
        let arguments = json!({"organizationSlug": "harbor-lantern", "limit": 101});
        assert_snapshot!(Sentry::new().call("find_dashboards", arguments).await);
    }
}
