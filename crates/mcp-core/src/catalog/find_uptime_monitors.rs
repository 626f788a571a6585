//! `find_uptime_monitors`: URLs that Sentry probes.

use api_client::sentry::uptime::UptimeFilter;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    error::ToolError,
    params::{Limit, OrganizationSlug, ProjectOrAll, RegionUrl},
    render::uptime::UptimeView,
    skill::Skill,
    tool::{Call, CuratedTool, Spec, Structured},
};

#[derive(Debug)]
pub(super) struct FindUptimeMonitors;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    organization_slug: OrganizationSlug,
    region_url: Option<RegionUrl>,
    project_slug: Option<ProjectOrAll>,
    /// the environment its issues are filed under
    environment: Option<String>,
    /// `user:ID` or `team:ID`
    owner: Option<String>,
    /// words in the name or URL
    query: Option<String>,
    #[serde(default)]
    limit: Limit<10, 99>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Answer {
    monitors: Vec<UptimeView>,
    has_more: bool,
}

impl CuratedTool for FindUptimeMonitors {
    const SPEC: Spec = Spec {
        name: "find_uptime_monitors",
        title: "Find uptime monitors",
        description: "List uptime monitors: URLs that Sentry probes, and whether they answer. For scheduled jobs see `find_monitors`.",
        skills: &[Skill::Inspect],
        scopes: &["org:read", "project:read"],
        ..Spec::READ
    };
    type Params = Params;
    type Output = Structured<Answer>;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Self::Output, ToolError> {
        let sentry = cx.sentry_in(params.region_url.as_deref())?;
        let organization = &params.organization_slug;
        let project = match params.project_slug.as_ref().and_then(ProjectOrAll::project) {
            Some(slug) => Some(sentry.project(organization, slug).await?.id),
            None => None,
        };
        let filter = UptimeFilter {
            project: project.as_deref(),
            environment: params.environment.as_deref(),
            owner: params.owner.as_deref(),
            query: params.query.as_deref(),
        };
        let limit = params.limit.get();
        let found =
            sentry.list_uptime_monitors(organization, &filter, limit as u32 + 1).await?.items;
        let has_more = found.len() > limit;
        let shown = found.into_iter().take(limit);
        let monitors = shown.map(|it| UptimeView::row(cx, organization, it)).collect();
        Ok(Structured(Answer { monitors, has_more }))
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::json;

    use crate::test_support::Sentry;

    #[tokio::test]
    async fn monitors_of_a_project_are_asked_for_by_its_number() {
        let arguments = json!({"organizationSlug": "harbor-lantern", "projectSlug": "quay-api"});
        assert_snapshot!(Sentry::new().call("find_uptime_monitors", arguments).await);
    }

    #[tokio::test]
    async fn nothing_found_is_an_empty_list() {
        let arguments =
            json!({"organizationSlug": "harbor-lantern", "projectSlug": "all", "query": "zzz"});
        assert_snapshot!(Sentry::new().call("find_uptime_monitors", arguments).await);
    }

    #[tokio::test]
    async fn one_more_than_is_shown_means_that_there_are_more() {
        let arguments = json!({"organizationSlug": "harbor-lantern", "limit": 1});
        let answer = Sentry::new().call_structured("find_uptime_monitors", arguments).await;
        assert_eq!(answer["monitors"].as_array().unwrap().len(), 1);
        assert_eq!(answer["hasMore"], json!(true));
    }

    #[tokio::test]
    async fn an_unknown_project_is_the_callers_to_fix() {
        let arguments = json!({"organizationSlug": "harbor-lantern", "projectSlug": "nothing"});
        assert_snapshot!(Sentry::new().call("find_uptime_monitors", arguments).await);
    }

    #[tokio::test]
    async fn a_slug_that_is_none_is_refused() {
        let arguments = json!({"organizationSlug": "harbor-lantern", "projectSlug": "../x"});
        let text = Sentry::new().call_failing("find_uptime_monitors", arguments).await;
        assert!(text.contains("`projectSlug`"), "{text}");
    }
}
