//! `remove_team_from_project`: takes a project away from a team.

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
pub(super) struct RemoveTeamFromProject;

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
    changed: bool,
    /// The teams that are left.
    teams: Vec<TeamView>,
}

impl CuratedTool for RemoveTeamFromProject {
    const SPEC: Spec = Spec {
        name: "remove_team_from_project",
        title: "Remove team from project",
        description: "Take a project away from a team. The last team cannot be taken away: add another one first with `add_team_to_project`.",
        effect: Effect::Destroy,
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
        if !teams.iter().any(|it| it.slug == team) {
            let names: Vec<_> = teams.iter().map(|it| format!("`{}`", it.slug)).collect();
            return Err(ToolError::user(format!(
                "the team `{team}` does not have the project `{project}`"
            ))
            .hint(format!("its teams are {}", names.join(", "))));
        }
        if teams.len() == 1 {
            return Err(ToolError::user(format!(
                "`{team}` is the only team of the project `{project}`"
            ))
            .hint_tool("add_team_to_project", "give the project to another team first"));
        }
        sentry.remove_team_from_project(organization, project, team).await?;
        teams.retain(|it| it.slug != team);
        let teams = teams.into_iter().map(TeamView::from).collect();
        Ok(Structured(Answer { changed: true, teams }))
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::{Value, json};

    use crate::test_support::Sentry;

    fn asked(team: &str) -> Value {
        json!({"organizationSlug": "harbor-lantern", "projectSlug": "quay-web", "teamSlug": team})
    }

    #[tokio::test]
    async fn a_team_is_removed_where_another_one_stays() {
        let sentry = Sentry::new();
        sentry.call_structured("add_team_to_project", asked("api-crew")).await;
        let answer = sentry.call_structured("remove_team_from_project", asked("web-crew")).await;
        assert_eq!(
            (&answer["changed"], &answer["teams"][0]["slug"]),
            (&json!(true), &json!("api-crew"))
        );
        let writes = sentry.mock.writes();
        assert_eq!(writes.last().unwrap().method, "DELETE");
    }

    #[tokio::test]
    async fn the_last_team_stays() {
        assert_snapshot!(Sentry::new().call("remove_team_from_project", asked("web-crew")).await);
    }

    #[tokio::test]
    async fn a_team_that_does_not_have_the_project_is_answered_with_those_that_do() {
        assert_snapshot!(Sentry::new().call("remove_team_from_project", asked("api-crew")).await);
    }

    #[tokio::test]
    async fn an_unknown_project_is_the_callers_to_fix() {
        let mut arguments = asked("web-crew");
        arguments["projectSlug"] = json!("nothing");
        let text = Sentry::new().call_failing("remove_team_from_project", arguments).await;
        assert!(text.contains("`projectSlug` `nothing`"), "{text}");
    }
}
