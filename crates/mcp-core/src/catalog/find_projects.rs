//! `find_projects`: the projects of an organization.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    error::ToolError,
    params::{OrganizationSlug, RegionUrl},
    skill::Skill,
    tool::{Call, CuratedTool, Hidden, Spec, Structured},
};

const LIMIT: usize = 25;

#[derive(Debug)]
pub(super) struct FindProjects;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    organization_slug: OrganizationSlug,
    region_url: Option<RegionUrl>,
    /// words in the name or slug
    query: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Answer {
    projects: Vec<Project>,
    has_more: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Project {
    slug: String,
}

impl CuratedTool for FindProjects {
    const SPEC: Spec = Spec {
        name: "find_projects",
        title: "Find projects",
        description: "List the projects of a Sentry organization, with the `slug` other tools ask for. A user who writes `name/other` usually means organization and project.",
        skills: Skill::ALL,
        scopes: &["project:read"],
        formerly: &["list_projects"],
        hidden: Hidden::InProject,
        ..Spec::READ
    };
    type Params = Params;
    type Output = Structured<Answer>;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Self::Output, ToolError> {
        let sentry = cx.sentry_in(params.region_url.as_deref())?;
        let query = params.query.as_deref();
        let found =
            sentry.list_projects(&params.organization_slug, query, (LIMIT + 1) as u32).await?;
        let has_more = found.items.len() > LIMIT;
        let projects = found.items.into_iter().take(LIMIT);
        let projects = projects.map(|it| Project { slug: it.slug }).collect();
        Ok(Structured(Answer { projects, has_more }))
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::json;

    use crate::test_support::{Sentry, fault, rows};

    const ROUTE: &str = "/api/0/organizations/{o}/projects/";

    #[tokio::test]
    async fn projects_come_with_their_slugs() {
        let arguments = json!({"organizationSlug": "harbor-lantern"});
        assert_snapshot!(Sentry::new().call("find_projects", arguments).await);
    }

    #[tokio::test]
    async fn nothing_found_is_an_empty_list() {
        let arguments = json!({"organizationSlug": "harbor-lantern", "query": "zzz"});
        assert_snapshot!(Sentry::new().call("find_projects", arguments).await);
    }

    #[tokio::test]
    async fn an_unknown_organization_is_named_with_the_tool_that_lists_them() {
        let arguments = json!({"organizationSlug": "nope"});
        assert_snapshot!(Sentry::new().call("find_projects", arguments).await);
    }

    #[tokio::test]
    async fn the_organization_is_needed() {
        assert_snapshot!(Sentry::new().call("find_projects", json!({})).await);
    }

    #[tokio::test]
    async fn one_more_than_is_shown_means_that_there_are_more() {
        let many = rows(26, |n| json!({"id": n, "slug": format!("project-{n}")}));
        let sentry = Sentry::with_fault(fault("GET", ROUTE, 200, &many));
        let answer =
            sentry.call_structured("find_projects", json!({"organizationSlug": "a"})).await;
        assert_eq!(answer["projects"].as_array().unwrap().len(), 25);
        assert_eq!(answer["hasMore"], json!(true));
    }

    #[tokio::test]
    async fn a_pinned_organization_is_not_asked_for_and_wins_over_what_is_sent() {
        let sentry = Sentry::new().pinned("harbor-lantern", None);
        sentry.call_structured("find_projects", json!({"organizationSlug": "other"})).await;
        assert_eq!(
            sentry.requests(),
            ["GET /api/0/organizations/harbor-lantern/projects/?per_page=26"]
        );
    }
}
