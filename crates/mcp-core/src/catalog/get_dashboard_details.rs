//! `get_dashboard_details`: one dashboard with its widgets and what they ask for.

use api_client::sentry::{
    Client, MAX_PER_PAGE,
    dashboards::{DashboardList, DashboardSummary},
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    error::ToolError,
    params::{OrganizationSlug, RegionUrl},
    render::{dashboard, segment},
    skill::Skill,
    tool::{Call, CuratedTool, Markdown, Spec},
};

/// The most pages of the list that are looked through for a title.
const MAX_PAGES: usize = 10;
/// The most candidates that are named.
const CANDIDATES: usize = 5;

#[derive(Debug)]
pub(super) struct GetDashboardDetails;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    organization_slug: OrganizationSlug,
    region_url: Option<RegionUrl>,
    /// the numeric id, or the whole title in any case
    #[schemars(length(min = 1))]
    dashboard_id_or_title: String,
}

impl CuratedTool for GetDashboardDetails {
    const SPEC: Spec = Spec {
        name: "get_dashboard_details",
        title: "Get dashboard details",
        description: "Show one dashboard: its filters, and each widget with the queries it asks. Definitions only, no live numbers.",
        skills: &[Skill::Inspect],
        scopes: &["org:read"],
        ..Spec::READ
    };
    type Params = Params;
    type Output = Markdown;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Markdown, ToolError> {
        let sentry = cx.sentry_in(params.region_url.as_deref())?;
        let organization = &params.organization_slug;
        let wanted = params.dashboard_id_or_title.trim();
        let project = match cx.constraints.project.as_deref() {
            Some(slug) => Some(sentry.project(organization, slug).await?.id),
            None => None,
        };
        let id = if wanted.bytes().all(|byte| byte.is_ascii_digit()) {
            wanted.to_owned()
        } else {
            by_title(&sentry, organization, project.as_deref(), wanted).await?
        };
        let found = sentry.dashboard(organization, &id).await?;
        if project.is_some_and(|id| !found.summary.shows(&id)) {
            cx.constraints.check_project(&format!("the dashboard `{id}`"), None)?;
        }
        let url = cx.web_url(organization, &format!("/dashboard/{}/", segment(&id)));
        let mut page = dashboard::page(&found, &url);
        page.next_steps([cx.hint("search_events", "get the numbers behind a widget's query")]);
        Ok(page.finish())
    }
}

/// The id of the only dashboard with this title.
async fn by_title(
    sentry: &Client,
    organization: &str,
    project: Option<&str>,
    title: &str,
) -> Result<String, ToolError> {
    let mut similar = Vec::new();
    let mut cursor: Option<String> = None;
    for _ in 0..MAX_PAGES {
        let list = DashboardList {
            query: Some(title),
            sort: "title",
            cursor: cursor.as_deref(),
            limit: MAX_PER_PAGE,
        };
        let page = sentry.list_dashboards(organization, project, &list).await?;
        similar.extend(page.items);
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    let wanted = title.to_lowercase();
    let exact: Vec<&DashboardSummary> =
        similar.iter().filter(|it| it.title.trim().to_lowercase() == wanted).collect();
    match exact.as_slice() {
        [one] => Ok(one.id.clone()),
        [] if similar.is_empty() => {
            let message = format!("no dashboard has `{title}` in its title");
            Err(ToolError::user(message).hint_tool("find_dashboards", "list the dashboards"))
        }
        [] => {
            let message = format!("no dashboard is called `{title}`");
            let titles = named(&similar.iter().collect::<Vec<_>>());
            Err(ToolError::user(message).hint(format!("similar titles: {titles}")))
        }
        several => {
            let message = format!("{} dashboards are called `{title}`", several.len());
            Err(ToolError::user(message).hint(format!("give one of their ids: {}", named(several))))
        }
    }
}

fn named(dashboards: &[&DashboardSummary]) -> String {
    let shown = dashboards.iter().take(CANDIDATES);
    let mut names: Vec<String> = shown.map(|it| format!("`{}` (id {})", it.title, it.id)).collect();
    if dashboards.len() > CANDIDATES {
        names.push(format!("and {} more", dashboards.len() - CANDIDATES));
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::{Value, json};

    use crate::test_support::{Sentry, fault};

    fn asked(name: &str) -> Value {
        json!({"organizationSlug": "harbor-lantern", "dashboardIdOrTitle": name})
    }

    #[tokio::test]
    async fn a_dashboard_is_shown_by_its_title_in_any_case() {
        assert_snapshot!(
            Sentry::new().call("get_dashboard_details", asked("checkout HEALTH")).await
        );
    }

    #[tokio::test]
    async fn a_number_is_an_id() {
        assert_snapshot!(Sentry::new().call("get_dashboard_details", asked("1")).await);
    }

    #[tokio::test]
    async fn part_of_a_title_is_answered_with_the_whole_ones() {
        assert_snapshot!(Sentry::new().call("get_dashboard_details", asked("checkout")).await);
    }

    #[tokio::test]
    async fn a_title_that_nothing_resembles_is_not_found() {
        assert_snapshot!(Sentry::new().call("get_dashboard_details", asked("zzz")).await);
    }

    #[tokio::test]
    async fn a_title_that_several_have_is_answered_with_their_ids() {
        let rows = r#"[{"id":"1","title":"Ops"},{"id":"2","title":"OPS"}]"#;
        let route = "/api/0/organizations/{o}/dashboards/";
        let sentry = Sentry::with_fault(fault("GET", route, 200, rows));
        assert_snapshot!(sentry.call("get_dashboard_details", asked("ops")).await);
    }

    #[tokio::test]
    async fn a_dashboard_of_another_project_is_none_for_a_pinned_one() {
        let sentry = Sentry::new().pinned("harbor-lantern", Some("tide-worker"));
        let text = sentry.call_failing("get_dashboard_details", asked("Checkout health")).await;
        assert!(text.contains("No dashboard has"), "{text}");
        let id = Sentry::new()
            .call_structured("find_dashboards", json!({"organizationSlug": "harbor-lantern"}))
            .await;
        let id = id["dashboards"][0]["id"].as_str().unwrap();
        let text = sentry.call_failing("get_dashboard_details", asked(id)).await;
        assert!(text.contains("`tide-worker`"), "{text}");
    }
}
