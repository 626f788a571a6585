//! `create_team`: makes a team.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    error::ToolError,
    params::{OrganizationSlug, RegionUrl},
    render::team::TeamView,
    skill::Skill,
    tool::{Call, CuratedTool, Effect, Spec, Structured},
};

#[derive(Debug)]
pub(super) struct CreateTeam;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    organization_slug: OrganizationSlug,
    region_url: Option<RegionUrl>,
    /// the name for people; the slug is made of it
    #[schemars(length(min = 1, max = 64))]
    name: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answer {
    team: TeamView,
}

impl CuratedTool for CreateTeam {
    const SPEC: Spec = Spec {
        name: "create_team",
        title: "Create team",
        description: "Make a team in an organization. `find_teams` tells whether there is one already.",
        effect: Effect::Create,
        skills: &[Skill::ProjectManagement],
        scopes: &["team:write"],
        ..Spec::READ
    };
    type Params = Params;
    type Output = Structured<Answer>;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Self::Output, ToolError> {
        let sentry = cx.sentry_in(params.region_url.as_deref())?;
        let team = sentry.create_team(&params.organization_slug, &params.name).await?;
        Ok(Structured(Answer { team: team.into() }))
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::json;

    use crate::test_support::Sentry;

    #[tokio::test]
    async fn a_team_is_made_and_its_slug_told() {
        let arguments = json!({"organizationSlug": "harbor-lantern", "name": "Night Watch"});
        assert_snapshot!(Sentry::new().call("create_team", arguments).await);
    }

    #[tokio::test]
    async fn a_name_that_is_taken_is_told_in_sentrys_words() {
        let arguments = json!({"organizationSlug": "harbor-lantern", "name": "web-crew"});
        let text = Sentry::new().call_failing("create_team", arguments).await;
        assert!(text.contains("409") && text.contains("already exists"), "{text}");
    }

    #[tokio::test]
    async fn an_unknown_organization_is_the_callers_to_fix() {
        let arguments = json!({"organizationSlug": "nobody", "name": "x"});
        let text = Sentry::new().call_failing("create_team", arguments).await;
        assert!(text.contains("`organizationSlug` `nobody`"), "{text}");
    }

    #[tokio::test]
    async fn a_name_too_long_is_refused_before_anything_is_sent() {
        let sentry = Sentry::new();
        let arguments = json!({"organizationSlug": "harbor-lantern", "name": "x".repeat(65)});
        let text = sentry.call_failing("create_team", arguments).await;
        assert!(text.contains("`name`"), "{text}");
        assert_eq!(sentry.requests(), Vec::<String>::new());
    }
}
