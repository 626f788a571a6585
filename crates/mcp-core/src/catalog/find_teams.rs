//! `find_teams`: the teams of an organization.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    error::ToolError,
    params::{OrganizationSlug, RegionUrl},
    skill::Skill,
    tool::{Call, CuratedTool, Spec, Structured},
};

const LIMIT: usize = 25;

#[derive(Debug)]
pub(super) struct FindTeams;

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
    teams: Vec<Team>,
    has_more: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Team {
    slug: String,
    id: String,
}

impl CuratedTool for FindTeams {
    const SPEC: Spec = Spec {
        name: "find_teams",
        title: "Find teams",
        description: "List the teams of a Sentry organization, with the `slug` that projects are created under and the `id` that owners are named by.",
        skills: &[Skill::Inspect, Skill::Triage, Skill::ProjectManagement],
        scopes: &["team:read"],
        formerly: &["list_teams"],
        ..Spec::READ
    };
    type Params = Params;
    type Output = Structured<Answer>;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Self::Output, ToolError> {
        let sentry = cx.sentry_in(params.region_url.as_deref())?;
        let query = params.query.as_deref();
        let found = sentry.list_teams(&params.organization_slug, query, (LIMIT + 1) as u32).await?;
        let has_more = found.items.len() > LIMIT;
        let teams = found.items.into_iter().take(LIMIT);
        let teams = teams.map(|it| Team { slug: it.slug, id: it.id }).collect();
        Ok(Structured(Answer { teams, has_more }))
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::json;

    use crate::test_support::{Sentry, fault, rows};

    const ROUTE: &str = "/api/0/organizations/{o}/teams/";

    #[tokio::test]
    async fn teams_come_with_slug_and_id() {
        let arguments = json!({"organizationSlug": "harbor-lantern"});
        assert_snapshot!(Sentry::new().call("find_teams", arguments).await);
    }

    #[tokio::test]
    async fn nothing_found_is_an_empty_list() {
        let arguments = json!({"organizationSlug": "harbor-lantern", "query": "zzz"});
        assert_snapshot!(Sentry::new().call("find_teams", arguments).await);
    }

    /// P43.
    #[tokio::test]
    async fn an_unknown_organization_is_named_with_the_tool_that_lists_them() {
        let arguments = json!({"organizationSlug": "nope"});
        assert_snapshot!(Sentry::new().call("find_teams", arguments).await);
    }

    #[tokio::test]
    async fn a_slug_that_would_leave_its_place_is_not_sent() {
        let sentry = Sentry::new();
        let text = sentry.call_failing("find_teams", json!({"organizationSlug": "../auth"})).await;
        assert!(text.contains("`organizationSlug` of `find_teams` must be a slug"), "{text}");
        assert!(sentry.requests().is_empty());
    }

    #[tokio::test]
    async fn one_more_than_is_shown_means_that_there_are_more() {
        let many = rows(26, |n| json!({"id": n, "slug": format!("team-{n}")}));
        let sentry = Sentry::with_fault(fault("GET", ROUTE, 200, &many));
        let answer = sentry.call_structured("find_teams", json!({"organizationSlug": "a"})).await;
        assert_eq!(answer["teams"].as_array().unwrap().len(), 25);
        assert_eq!(answer["teams"][0]["id"], json!("0"));
        assert_eq!(answer["hasMore"], json!(true));
    }

    #[tokio::test]
    async fn a_region_of_someone_else_gets_no_request() {
        let sentry = Sentry::new();
        let arguments =
            json!({"organizationSlug": "harbor-lantern", "regionUrl": "https://evil.example.com"});
        let text = sentry.call_failing("find_teams", arguments).await;
        assert!(text.contains("does not belong to"), "{text}");
        assert!(sentry.requests().is_empty());
    }
}
