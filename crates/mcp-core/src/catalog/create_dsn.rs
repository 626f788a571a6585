//! `create_dsn`: makes another client key of a project.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    error::ToolError,
    params::{OrganizationSlug, ProjectSlug, RegionUrl},
    skill::Skill,
    tool::{Call, CuratedTool, Effect, Spec, Structured},
};

#[derive(Debug)]
pub(super) struct CreateDsn;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    organization_slug: OrganizationSlug,
    region_url: Option<RegionUrl>,
    project_slug: ProjectSlug,
    /// the name for people, such as Production
    #[schemars(length(min = 1, max = 64))]
    name: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answer {
    dsn: Dsn,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Dsn {
    id: String,
    name: String,
    /// What goes into an SDK's configuration.
    dsn: String,
}

impl CuratedTool for CreateDsn {
    const SPEC: Spec = Spec {
        name: "create_dsn",
        title: "Create DSN",
        description: "Make another client key (DSN) of a project. A project is made with one; `find_dsns` lists them.",
        effect: Effect::Create,
        skills: &[Skill::ProjectManagement],
        scopes: &["project:write"],
        ..Spec::READ
    };
    type Params = Params;
    type Output = Structured<Answer>;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Self::Output, ToolError> {
        let sentry = cx.sentry_in(params.region_url.as_deref())?;
        let (organization, project) = (&params.organization_slug, &params.project_slug);
        let key = sentry.create_key(organization, project, &params.name).await?;
        let name = key.name.unwrap_or(params.name);
        let dsn = key.dsn.public.unwrap_or_default();
        Ok(Structured(Answer { dsn: Dsn { id: key.id, name, dsn } }))
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::json;

    use crate::test_support::Sentry;

    #[tokio::test]
    async fn a_key_is_made_and_its_public_dsn_told() {
        let arguments = json!({
            "organizationSlug": "harbor-lantern", "projectSlug": "quay-web", "name": "Kiosk",
        });
        assert_snapshot!(Sentry::new().call("create_dsn", arguments).await);
    }

    #[tokio::test]
    async fn an_unknown_project_is_the_callers_to_fix() {
        let arguments = json!({
            "organizationSlug": "harbor-lantern", "projectSlug": "nothing", "name": "x",
        });
        let text = Sentry::new().call_failing("create_dsn", arguments).await;
        assert!(text.contains("`projectSlug` `nothing`"), "{text}");
    }

    #[tokio::test]
    async fn a_name_too_long_is_refused_before_anything_is_sent() {
        let sentry = Sentry::new();
        let arguments = json!({
            "organizationSlug": "harbor-lantern", "projectSlug": "quay-web", "name": "x".repeat(65),
        });
        let text = sentry.call_failing("create_dsn", arguments).await;
        assert!(text.contains("`name`"), "{text}");
        assert_eq!(sentry.requests(), Vec::<String>::new());
    }
}
