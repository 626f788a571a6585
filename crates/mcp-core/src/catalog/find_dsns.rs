//! `find_dsns`: the client keys of a project.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    error::ToolError,
    params::{OrganizationSlug, ProjectSlug, RegionUrl},
    skill::Skill,
    tool::{Call, CuratedTool, Spec, Structured},
};

#[derive(Debug)]
pub(super) struct FindDsns;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    organization_slug: OrganizationSlug,
    region_url: Option<RegionUrl>,
    project_slug: ProjectSlug,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answer {
    dsns: Vec<Dsn>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Dsn {
    id: String,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    dsn: Option<String>,
}

impl CuratedTool for FindDsns {
    const SPEC: Spec = Spec {
        name: "find_dsns",
        title: "Find DSNs",
        description: "List the client keys (DSNs) of a Sentry project: what an SDK is configured with. Look here before a key is made or changed.",
        skills: &[Skill::ProjectManagement],
        scopes: &["project:read"],
        formerly: &["list_dsns"],
        ..Spec::READ
    };
    type Params = Params;
    type Output = Structured<Answer>;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Self::Output, ToolError> {
        let sentry = cx.sentry_in(params.region_url.as_deref())?;
        let keys = sentry.list_keys(&params.organization_slug, &params.project_slug).await?;
        let dsns = keys.items.into_iter().map(|it| Dsn {
            name: it.name.unwrap_or_else(|| it.id.clone()),
            id: it.id,
            dsn: it.dsn.public,
        });
        Ok(Structured(Answer { dsns: dsns.collect() }))
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::json;

    use crate::test_support::{Sentry, fault};

    const ROUTE: &str = "/api/0/projects/{o}/{p}/keys/";

    fn arguments() -> serde_json::Value {
        json!({"organizationSlug": "harbor-lantern", "projectSlug": "quay-web"})
    }

    #[tokio::test]
    async fn keys_come_with_the_public_dsn_and_without_the_secret_one() {
        let body = r#"[{"id": "a1", "name": "Default", "dsn": {"public": "https://a1@o1.ingest.sentry.io/2", "secret": "https://a1:SECRET@o1.ingest.sentry.io/2"}}, {"id": "b2"}]"#;
        let sentry = Sentry::with_fault(fault("GET", ROUTE, 200, body));
        let answer = sentry.call("find_dsns", arguments()).await;
        assert!(!answer.contains("SECRET"), "{answer}");
        assert_snapshot!(answer);
    }

    #[tokio::test]
    async fn a_project_without_keys_has_an_empty_list() {
        let sentry = Sentry::with_fault(fault("GET", ROUTE, 200, "[]"));
        assert_eq!(sentry.call_structured("find_dsns", arguments()).await, json!({"dsns": []}));
    }

    #[tokio::test]
    async fn an_unknown_project_is_named_with_the_tool_that_lists_them() {
        let body = r#"{"detail": "The requested resource does not exist"}"#;
        let sentry = Sentry::with_fault(fault("GET", ROUTE, 404, body));
        assert_snapshot!(sentry.call("find_dsns", arguments()).await);
    }

    #[tokio::test]
    async fn it_belongs_to_project_management_alone() {
        let text = Sentry::new().skills("inspect").call_failing("find_dsns", arguments()).await;
        assert!(text.contains("`find_dsns` is not a tool of this session"), "{text}");
    }
}
