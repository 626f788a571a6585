//! `update_project`: changes name, slug or platform of a project.

use api_client::sentry::projects::ProjectChanges;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    error::ToolError,
    params::{OrganizationSlug, Platform, ProjectSlug, RegionUrl, ResourceId},
    skill::Skill,
    tool::{Call, CuratedTool, Effect, Spec, Structured},
};

#[derive(Debug)]
pub(super) struct UpdateProject;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    organization_slug: OrganizationSlug,
    region_url: Option<RegionUrl>,
    project_slug: ProjectSlug,
    /// the new name for people
    name: Option<String>,
    /// the new slug; links with the old one break
    slug: Option<ResourceId>,
    platform: Option<Platform>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answer {
    project: Project,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Project {
    id: String,
    slug: String,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    platform: Option<String>,
}

impl CuratedTool for UpdateProject {
    const SPEC: Spec = Spec {
        name: "update_project",
        title: "Update project",
        description: "Change the name, slug or platform of a project. Ask before renaming: a new slug breaks links and configuration. For teams see `add_team_to_project`.",
        effect: Effect::Destroy,
        skills: &[Skill::ProjectManagement],
        scopes: &["project:write"],
        ..Spec::READ
    };
    type Params = Params;
    type Output = Structured<Answer>;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Self::Output, ToolError> {
        let changes = ProjectChanges {
            name: params.name.as_deref(),
            slug: params.slug.as_deref(),
            platform: params.platform.as_deref(),
        };
        if changes.name.is_none() && changes.slug.is_none() && changes.platform.is_none() {
            return Err(ToolError::user("nothing is to be changed")
                .hint("give at least one of `name`, `slug` and `platform`"));
        }
        if changes.slug.is_some() && cx.constraints.project.is_some() {
            return Err(ToolError::user("`slug` cannot be changed here")
                .hint("this session is limited to the project by its slug, which would be gone"));
        }
        let sentry = cx.sentry_in(params.region_url.as_deref())?;
        let (organization, project) = (&params.organization_slug, &params.project_slug);
        let changed = sentry.update_project(organization, project, &changes).await?;
        let name = changed.name.unwrap_or_else(|| changed.slug.clone());
        let platform = changed.platform;
        let project = Project { id: changed.id, slug: changed.slug, name, platform };
        Ok(Structured(Answer { project }))
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::{Value, json};

    use crate::test_support::Sentry;

    fn asked(more: Value) -> Value {
        let mut arguments =
            json!({"organizationSlug": "harbor-lantern", "projectSlug": "quay-web"});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    }

    #[tokio::test]
    async fn what_is_given_changes_and_the_rest_stays() {
        let arguments = asked(json!({"name": "Quay", "platform": "JavaScript"}));
        assert_snapshot!(Sentry::new().call("update_project", arguments).await);
    }

    #[tokio::test]
    async fn a_slug_that_is_taken_is_told_in_sentrys_words() {
        let text =
            Sentry::new().call_failing("update_project", asked(json!({"slug": "quay-api"}))).await;
        assert!(text.contains("already using that slug"), "{text}");
    }

    #[tokio::test]
    async fn nothing_to_change_and_a_pinned_slug_are_refused_before_anything_is_sent() {
        let pinned = Sentry::new().pinned("harbor-lantern", Some("quay-web"));
        for (sentry, arguments, words) in [
            (Sentry::new(), asked(json!({})), "Nothing is to be changed"),
            (Sentry::new(), asked(json!({"name": null})), "Nothing is to be changed"),
            (pinned, json!({"slug": "other"}), "`slug` cannot be changed here"),
        ] {
            let text = sentry.call_failing("update_project", arguments).await;
            assert!(text.contains(words), "{text}");
            assert_eq!(sentry.requests(), Vec::<String>::new());
        }
    }

    #[tokio::test]
    async fn an_unknown_project_is_the_callers_to_fix() {
        let arguments = asked(json!({"projectSlug": "nothing", "name": "x"}));
        let text = Sentry::new().call_failing("update_project", arguments).await;
        assert!(text.contains("`projectSlug` `nothing`"), "{text}");
    }
}
