//! `find_releases`: the newest releases of an organization or project.

use api_client::sentry::releases;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    error::ToolError,
    params::{OrganizationSlug, ProjectSlug, RegionUrl},
    skill::Skill,
    tool::{Call, CuratedTool, Spec, Structured},
};

const LIMIT: usize = 25;

#[derive(Debug)]
pub(super) struct FindReleases;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    organization_slug: OrganizationSlug,
    region_url: Option<RegionUrl>,
    project_slug: Option<ProjectSlug>,
    /// part of the version
    query: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Answer {
    releases: Vec<Release>,
    has_more: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Release {
    version: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    date_created: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    date_released: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_event: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_event: Option<String>,
    new_issues: u64,
    projects: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_commit: Option<Commit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_deploy: Option<Deploy>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Commit {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    date_created: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Deploy {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    environment: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    date_started: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    date_finished: Option<String>,
}

impl CuratedTool for FindReleases {
    const SPEC: Spec = Spec {
        name: "find_releases",
        title: "Find releases",
        description: "List the newest releases of a Sentry organization or project: versions, dates, new issues, last commit and deploy. Answers which version is out and when it was.",
        skills: &[Skill::Inspect],
        scopes: &["project:read"],
        formerly: &["list_releases"],
        ..Spec::READ
    };
    type Params = Params;
    type Output = Structured<Answer>;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Self::Output, ToolError> {
        let sentry = cx.sentry_in(params.region_url.as_deref())?;
        let project = params.project_slug.as_deref();
        let query = params.query.as_deref();
        let found = sentry
            .list_releases(&params.organization_slug, project, query, (LIMIT + 1) as u32)
            .await?;
        let has_more = found.items.len() > LIMIT;
        let releases = found.items.into_iter().take(LIMIT).map(Release::from).collect();
        Ok(Structured(Answer { releases, has_more }))
    }
}

impl From<releases::Release> for Release {
    fn from(it: releases::Release) -> Self {
        Self {
            version: it.short_version.unwrap_or(it.version),
            date_created: it.date_created,
            date_released: it.date_released,
            first_event: it.first_event,
            last_event: it.last_event,
            new_issues: it.new_groups.unwrap_or(0),
            projects: it.projects.into_iter().map(|project| project.slug).collect(),
            last_commit: it.last_commit.map(Commit::from),
            last_deploy: it.last_deploy.map(Deploy::from),
        }
    }
}

impl From<releases::Commit> for Commit {
    fn from(it: releases::Commit) -> Self {
        let author = it.author.as_ref().and_then(releases::Author::label).map(str::to_owned);
        Self { id: it.id, message: it.message, author, date_created: it.date_created }
    }
}

impl From<releases::Deploy> for Deploy {
    fn from(it: releases::Deploy) -> Self {
        Self {
            id: it.id,
            environment: it.environment,
            date_started: it.date_started,
            date_finished: it.date_finished,
        }
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::json;

    use crate::test_support::{Sentry, fault, rows};

    const ROUTE: &str = "/api/0/organizations/{o}/releases/";

    #[tokio::test]
    async fn releases_come_with_their_last_commit_and_deploy() {
        let arguments = json!({"organizationSlug": "harbor-lantern"});
        assert_snapshot!(Sentry::new().call("find_releases", arguments).await);
    }

    #[tokio::test]
    async fn a_project_and_part_of_the_version_narrow_the_list() {
        let arguments = json!({
            "organizationSlug": "harbor-lantern", "projectSlug": "quay-web", "query": "zzz"
        });
        assert_snapshot!(Sentry::new().call("find_releases", arguments).await);
    }

    #[tokio::test]
    async fn an_unknown_project_is_named_with_the_tool_that_lists_them() {
        let arguments = json!({"organizationSlug": "harbor-lantern", "projectSlug": "nope"});
        assert_snapshot!(Sentry::new().call("find_releases", arguments).await);
    }

    #[tokio::test]
    async fn a_release_that_lacks_almost_everything_is_listed_too() {
        let sentry = Sentry::with_fault(fault(
            "GET",
            ROUTE,
            200,
            r#"[{"version": "1.0", "lastCommit": null}]"#,
        ));
        let answer =
            sentry.call_structured("find_releases", json!({"organizationSlug": "a"})).await;
        assert_eq!(
            answer,
            json!({"releases": [{"version": "1.0", "newIssues": 0, "projects": []}], "hasMore": false})
        );
    }

    #[tokio::test]
    async fn one_more_than_is_shown_means_that_there_are_more() {
        let many = rows(26, |n| json!({"version": format!("1.{n}")}));
        let sentry = Sentry::with_fault(fault("GET", ROUTE, 200, &many));
        let answer =
            sentry.call_structured("find_releases", json!({"organizationSlug": "a"})).await;
        assert_eq!(answer["releases"].as_array().unwrap().len(), 25);
        assert_eq!(answer["hasMore"], json!(true));
    }
}
