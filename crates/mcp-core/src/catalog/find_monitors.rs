//! `find_monitors`: cron monitors of an organization.

use api_client::sentry::monitors::MonitorFilter;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    error::ToolError,
    params::{Limit, OrganizationSlug, ProjectOrAll, RegionUrl},
    render::monitor::MonitorView,
    skill::Skill,
    tool::{Call, CuratedTool, Spec, Structured},
};

#[derive(Debug)]
pub(super) struct FindMonitors;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    organization_slug: OrganizationSlug,
    region_url: Option<RegionUrl>,
    project_slug: Option<ProjectOrAll>,
    /// an environment it runs in
    environment: Option<String>,
    /// `user:ID`, `team:ID`, or myteams
    owner: Option<String>,
    /// words in the name or slug
    query: Option<String>,
    #[serde(default)]
    limit: Limit<10, 99>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Answer {
    monitors: Vec<MonitorView>,
    has_more: bool,
}

impl CuratedTool for FindMonitors {
    const SPEC: Spec = Spec {
        name: "find_monitors",
        title: "Find cron monitors",
        description: "List cron monitors: scheduled jobs that check in, with schedule, state and last check-in by environment. For URLs that are probed see `find_uptime_monitors`.",
        skills: &[Skill::Inspect],
        scopes: &["org:read"],
        ..Spec::READ
    };
    type Params = Params;
    type Output = Structured<Answer>;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Self::Output, ToolError> {
        let sentry = cx.sentry_in(params.region_url.as_deref())?;
        let organization = &params.organization_slug;
        let filter = MonitorFilter {
            project: params.project_slug.as_ref().and_then(ProjectOrAll::project),
            environment: params.environment.as_deref(),
            owner: params.owner.as_deref(),
            query: params.query.as_deref(),
        };
        let limit = params.limit.get();
        let found = sentry.list_monitors(organization, &filter, limit as u32 + 1).await?.items;
        let has_more = found.len() > limit;
        let shown = found.into_iter().take(limit);
        let monitors = shown.map(|it| MonitorView::new(cx, organization, it)).collect();
        Ok(Structured(Answer { monitors, has_more }))
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::json;

    use crate::test_support::{Sentry, fault};

    #[tokio::test]
    async fn monitors_come_with_schedule_and_state() {
        let arguments = json!({"organizationSlug": "harbor-lantern", "projectSlug": "tide-worker"});
        assert_snapshot!(Sentry::new().call("find_monitors", arguments).await);
    }

    #[tokio::test]
    async fn nothing_found_is_an_empty_list() {
        let arguments = json!({
            "organizationSlug": "harbor-lantern", "projectSlug": "all", "environment": "canary",
            "owner": "team:1", "query": "zzz",
        });
        assert_snapshot!(Sentry::new().call("find_monitors", arguments).await);
    }

    #[tokio::test]
    async fn one_more_than_is_shown_means_that_there_are_more() {
        let arguments = json!({"organizationSlug": "harbor-lantern", "limit": 2});
        let answer = Sentry::new().call_structured("find_monitors", arguments).await;
        assert_eq!(answer["monitors"].as_array().unwrap().len(), 2);
        assert_eq!(answer["hasMore"], json!(true));
    }

    #[tokio::test]
    async fn a_pinned_project_cannot_be_left() {
        let sentry = Sentry::new().pinned("harbor-lantern", Some("quay-api"));
        let answer = sentry.call_structured("find_monitors", json!({"projectSlug": "all"})).await;
        assert_eq!(answer["monitors"][0]["slug"], "index-rebuild");
        assert_eq!(answer["monitors"].as_array().unwrap().len(), 1);
    }

    #[tokio::test]
    async fn a_monitor_that_says_little_is_listed_all_the_same() {
        let route = "/api/0/organizations/{o}/monitors/";
        let sentry = Sentry::with_fault(fault("GET", route, 200, r#"[{"slug":"a","config":7}]"#));
        let answer =
            sentry.call_structured("find_monitors", json!({"organizationSlug": "acme"})).await;
        assert_eq!(answer["monitors"][0]["slug"], "a");
        assert_eq!(answer["monitors"][0].get("schedule"), None);
    }

    #[tokio::test]
    async fn an_unknown_organization_is_the_callers_to_fix() {
        assert_snapshot!(
            Sentry::new().call("find_monitors", json!({"organizationSlug": "nobody"})).await
        );
    }

    #[tokio::test]
    async fn a_limit_out_of_bounds_is_refused() {
        let arguments = json!({"organizationSlug": "harbor-lantern", "limit": 100});
        let text = Sentry::new().call_failing("find_monitors", arguments).await;
        assert!(text.contains("1 to 99"), "{text}");
    }
}
