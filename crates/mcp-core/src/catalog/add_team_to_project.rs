//! `add_team_to_project`: gives a team access to a project.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    error::ToolError,
    params::{OrganizationSlug, ProjectSlug, RegionUrl, TeamSlug},
    render::team::TeamView,
    skill::Skill,
    tool::{Call, CuratedTool, Effect, Spec, Structured},
};

#[derive(Debug)]
pub(super) struct AddTeamToProject;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    organization_slug: OrganizationSlug,
    region_url: Option<RegionUrl>,
    project_slug: ProjectSlug,
    team_slug: TeamSlug,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answer {
    /// False where the team had the project already.
    changed: bool,
    /// All teams of the project now.
    teams: Vec<TeamView>,
}

impl CuratedTool for AddTeamToProject {
    const SPEC: Spec = Spec {
        name: "add_team_to_project",
        title: "Add team to project",
        description: "Give a team access to a project, beside the teams that have it. Nothing happens where it has it already.",
        effect: Effect::Add,
        skills: &[Skill::ProjectManagement],
        scopes: &["project:write", "team:read", "org:read"],
        ..Spec::READ
    };
    type Params = Params;
    type Output = Structured<Answer>;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Self::Output, ToolError> {
        let sentry = cx.sentry_in(params.region_url.as_deref())?;
        let (organization, project) = (&*params.organization_slug, &*params.project_slug);
        let team = &*params.team_slug;
        let (mut teams, _) = sentry.project_teams(organization, project).await?;
        let changed = !teams.iter().any(|it| it.slug == team);
        if changed {
            sentry.add_team_to_project(organization, project, team).await?;
            (teams, _) = sentry.project_teams(organization, project).await?;
        }
        let teams = teams.into_iter().map(TeamView::from).collect();
        Ok(Structured(Answer { changed, teams }))
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::{Value, json};

    use crate::test_support::Sentry;

    fn asked(project: &str, team: &str) -> Value {
        json!({"organizationSlug": "harbor-lantern", "projectSlug": project, "teamSlug": team})
    }

    #[tokio::test]
    async fn a_team_is_added_beside_the_others() {
        let answer = Sentry::new().call("add_team_to_project", asked("quay-web", "api-crew")).await;
        assert_snapshot!(answer);
    }

    #[tokio::test]
    async fn a_team_that_has_the_project_is_not_added_again() {
        let sentry = Sentry::new();
        let answer =
            sentry.call_structured("add_team_to_project", asked("quay-web", "web-crew")).await;
        assert_eq!(answer["changed"], json!(false));
        assert_eq!(sentry.requests().len(), 1);
    }

    #[tokio::test]
    async fn an_unknown_team_is_the_callers_to_fix() {
        let text =
            Sentry::new().call_failing("add_team_to_project", asked("quay-web", "nobody")).await;
        assert!(
            text.contains("Team does not exist") && text.contains("`teamSlug` `nobody`"),
            "{text}"
        );
    }

    #[tokio::test]
    async fn a_slug_that_is_none_is_refused_before_anything_is_sent() {
        let sentry = Sentry::new();
        let text = sentry.call_failing("add_team_to_project", asked("quay-web", "..")).await;
        assert!(text.contains("`teamSlug`"), "{text}");
        assert_eq!(sentry.requests(), Vec::<String>::new());
    }
}
