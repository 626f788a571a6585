//! `whoami`: who the token belongs to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    error::ToolError,
    skill::Skill,
    tool::{Call, CuratedTool, Spec, Structured},
};

#[derive(Debug)]
pub(super) struct Whoami;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Params {}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Answer {
    user: User,
    /// What this session is limited to.
    #[serde(skip_serializing_if = "Option::is_none")]
    session_constraints: Option<SessionConstraints>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct User {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SessionConstraints {
    #[serde(skip_serializing_if = "Option::is_none")]
    organization_slug: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project_slug: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    region_url: Option<String>,
}

impl CuratedTool for Whoami {
    const SPEC: Spec = Spec {
        name: "whoami",
        title: "Who am I",
        description: "Tells which Sentry user the token belongs to: numeric id, name, email. Needed where something is to be assigned to the user who asks.",
        skills: Skill::ALL,
        ..Spec::READ
    };
    type Params = Params;
    type Output = Structured<Answer>;

    async fn call(&self, cx: &Call<'_>, _params: Params) -> Result<Self::Output, ToolError> {
        let user = cx.sentry()?.authenticated_user().await?;
        let pinned = &cx.constraints;
        let session_constraints = pinned.is_pinned().then(|| SessionConstraints {
            organization_slug: pinned.organization.clone(),
            project_slug: pinned.project.clone(),
            region_url: pinned.region.clone(),
        });
        let user = User { id: user.id, name: user.name, email: user.email };
        Ok(Structured(Answer { user, session_constraints }))
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::json;

    use crate::test_support::{Sentry, fault};

    #[tokio::test]
    async fn the_user_of_the_token_is_named() {
        assert_snapshot!(Sentry::new().call("whoami", json!({})).await);
    }

    #[tokio::test]
    async fn the_limits_of_a_pinned_session_are_told() {
        let sentry = Sentry::new().pinned("harbor-lantern", Some("quay-web"));
        assert_snapshot!(sentry.call("whoami", json!({})).await);
    }

    #[tokio::test]
    async fn a_token_that_is_not_accepted_is_the_operators_to_change() {
        let sentry =
            Sentry::with_fault(fault("GET", "/api/0/auth/", 401, r#"{"detail":"Invalid token"}"#));
        assert_snapshot!(sentry.call("whoami", json!({})).await);
    }

    #[tokio::test]
    async fn an_argument_it_does_not_have_is_named() {
        assert_snapshot!(Sentry::new().call("whoami", json!({"verbose": true})).await);
    }
}
