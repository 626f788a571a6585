//! `find_organizations`: which organizations the token can see.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    error::ToolError,
    skill::Skill,
    tool::{Call, CuratedTool, Hidden, Spec, Structured},
};

const LIMIT: usize = 25;

#[derive(Debug)]
pub(super) struct FindOrganizations;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Params {
    /// words in the name or slug
    query: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Answer {
    organizations: Vec<Organization>,
    has_more: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Organization {
    slug: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    web_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    region_url: Option<String>,
}

impl CuratedTool for FindOrganizations {
    const SPEC: Spec = Spec {
        name: "find_organizations",
        title: "Find organizations",
        description: "List the Sentry organizations the token can see, with the `slug` other tools ask for. Not needed when the user named one.",
        skills: Skill::ALL,
        scopes: &["org:read"],
        formerly: &["list_organizations"],
        hidden: Hidden::InOrganization,
        ..Spec::READ
    };
    type Params = Params;
    type Output = Structured<Answer>;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Self::Output, ToolError> {
        let query = params.query.as_deref();
        let found = cx.sentry()?.list_organizations(query, (LIMIT + 1) as u32).await?;
        let has_more = found.len() > LIMIT;
        let organizations = found
            .into_iter()
            .take(LIMIT)
            .map(|it| Organization {
                region_url: it.region_url().map(str::to_owned),
                slug: it.slug,
                web_url: it.links.organization_url,
            })
            .collect();
        Ok(Structured(Answer { organizations, has_more }))
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::json;

    use crate::test_support::{Sentry, fault, rows};

    #[tokio::test]
    async fn organizations_come_with_slug_and_region() {
        assert_snapshot!(Sentry::new().call("find_organizations", json!({})).await);
    }

    #[tokio::test]
    async fn nothing_found_is_an_empty_list() {
        assert_snapshot!(Sentry::new().call("find_organizations", json!({"query": "zzz"})).await);
    }

    #[tokio::test]
    async fn one_more_than_is_shown_means_that_there_are_more() {
        let many = rows(26, |n| json!({"slug": format!("org-{n}")}));
        let sentry = Sentry::with_fault(fault("GET", "/api/0/organizations/", 200, &many));
        let answer = sentry.call_structured("find_organizations", json!({"query": "org"})).await;
        assert_eq!(answer["organizations"].as_array().unwrap().len(), 25);
        assert_eq!(answer["hasMore"], json!(true));
    }

    /// P39.
    #[tokio::test]
    async fn an_old_installation_that_lacks_fields_costs_nothing_else() {
        for body in [r#"[{"slug":"a"}]"#, r#"[{"slug":"a","links":null,"tags":[{"key":null}]}]"#] {
            let sentry = Sentry::with_fault(fault("GET", "/api/0/organizations/", 200, body));
            let answer = sentry.call_structured("find_organizations", json!({})).await;
            assert_eq!(answer, json!({"organizations": [{"slug": "a"}], "hasMore": false}));
        }
    }

    /// P6.
    #[tokio::test]
    async fn an_empty_query_is_not_sent() {
        for nothing in [json!(null), json!(""), json!("null")] {
            let sentry = Sentry::new();
            sentry.call("find_organizations", json!({"query": nothing})).await;
            assert_eq!(sentry.requests(), ["GET /api/0/organizations/?per_page=26"]);
        }
    }

    #[tokio::test]
    async fn sentry_out_of_order_is_told_with_an_event_id() {
        let sentry = Sentry::with_fault(fault("GET", "/api/0/organizations/", 500, "{}"));
        assert_snapshot!(sentry.call("find_organizations", json!({})).await);
    }
}
