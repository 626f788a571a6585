//! Releases, their deploys and commits.

use serde::Deserialize;
use serde_json::Value;

use super::call::Call;
use super::error::Error;
use super::lenient::{field, id, list, optional_id};
use super::{Client, Page};

/// A release.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Release {
    /// The numeric id, as text.
    #[serde(default, deserialize_with = "optional_id")]
    pub id: Option<String>,
    /// The whole version, as in `shop@1.2.0+build.7`.
    #[serde(deserialize_with = "id")]
    pub version: String,
    /// The version for people.
    #[serde(default, deserialize_with = "field")]
    pub short_version: Option<String>,
    /// `open` or `archived`.
    #[serde(default, deserialize_with = "field")]
    pub status: Option<String>,
    /// The commit it was built from.
    #[serde(default, rename = "ref", deserialize_with = "field")]
    pub git_ref: Option<String>,
    /// Its notes.
    #[serde(default, deserialize_with = "field")]
    pub url: Option<String>,
    /// When Sentry got to know it.
    #[serde(default, deserialize_with = "field")]
    pub date_created: Option<String>,
    /// When it was released.
    #[serde(default, deserialize_with = "field")]
    pub date_released: Option<String>,
    /// When its first event came.
    #[serde(default, deserialize_with = "field")]
    pub first_event: Option<String>,
    /// When its last event came.
    #[serde(default, deserialize_with = "field")]
    pub last_event: Option<String>,
    /// How many issues were first seen in it.
    #[serde(default, deserialize_with = "field")]
    pub new_groups: Option<u64>,
    /// How many commits it has.
    #[serde(default, deserialize_with = "field")]
    pub commit_count: Option<u64>,
    /// How many deploys it has.
    #[serde(default, deserialize_with = "field")]
    pub deploy_count: Option<u64>,
    /// The newest commit.
    #[serde(default, deserialize_with = "field")]
    pub last_commit: Option<Commit>,
    /// The newest deploy.
    #[serde(default, deserialize_with = "field")]
    pub last_deploy: Option<Deploy>,
    /// The projects it belongs to.
    #[serde(default, deserialize_with = "list")]
    pub projects: Vec<ReleaseProject>,
    /// Adoption stages and the like of the project that was asked about.
    #[serde(default, deserialize_with = "field")]
    pub current_project_meta: Option<Value>,
    /// Adoption by environment of the project that was asked about.
    #[serde(default, deserialize_with = "field")]
    pub adoption_stages: Option<Value>,
}

/// A project of a release.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseProject {
    /// The numeric id, as text.
    #[serde(default, deserialize_with = "optional_id")]
    pub id: Option<String>,
    /// The name in paths.
    pub slug: String,
    /// The name for people.
    #[serde(default, deserialize_with = "field")]
    pub name: Option<String>,
    /// Sessions and users, when health was asked for.
    #[serde(default, deserialize_with = "field")]
    pub health_data: Option<Value>,
}

/// A deploy of a release to an environment.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Deploy {
    /// The numeric id, as text.
    #[serde(deserialize_with = "id")]
    pub id: String,
    /// Where it went.
    #[serde(default, deserialize_with = "field")]
    pub environment: Option<String>,
    /// The name for people.
    #[serde(default, deserialize_with = "field")]
    pub name: Option<String>,
    /// Its log.
    #[serde(default, deserialize_with = "field")]
    pub url: Option<String>,
    /// When it began.
    #[serde(default, deserialize_with = "field")]
    pub date_started: Option<String>,
    /// When it was done.
    #[serde(default, deserialize_with = "field")]
    pub date_finished: Option<String>,
}

/// A commit of a release.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Commit {
    /// The hash.
    #[serde(deserialize_with = "id")]
    pub id: String,
    /// The whole message.
    #[serde(default, deserialize_with = "field")]
    pub message: Option<String>,
    /// Who wrote it.
    #[serde(default, deserialize_with = "field")]
    pub author: Option<Author>,
    /// When it was written.
    #[serde(default, deserialize_with = "field")]
    pub date_created: Option<String>,
}

/// Who wrote a commit.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Author {
    /// The full name.
    #[serde(default, deserialize_with = "field")]
    pub name: Option<String>,
    /// The address.
    #[serde(default, deserialize_with = "field")]
    pub email: Option<String>,
}

impl Author {
    /// The name or, failing that, the address.
    #[must_use]
    pub fn label(&self) -> Option<&str> {
        self.name.as_deref().filter(|it| !it.is_empty()).or(self.email.as_deref())
    }
}

impl Client {
    /// Lists the newest releases of an organization or of one project whose version holds `query`.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn list_releases(
        &self,
        organization: &str,
        project: Option<&str>,
        query: Option<&str>,
        per_page: u32,
    ) -> Result<Page<Release>, Error> {
        let call = match project {
            Some(project) => self
                .get("/api/0/projects/{organization}/{project}/releases/")
                .path("project", project),
            None => self.get("/api/0/organizations/{organization}/releases/"),
        };
        call.path("organization", organization)
            .query("per_page", per_page)
            .query("query", query)
            .page()
            .await
    }

    /// Returns one release, of an organization or as one project sees it.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn release(
        &self,
        organization: &str,
        project: Option<&str>,
        version: &str,
        health: bool,
    ) -> Result<Release, Error> {
        let call = match project {
            Some(project) => self
                .get("/api/0/projects/{organization}/{project}/releases/{version}/")
                .path("project", project),
            None => self.get("/api/0/organizations/{organization}/releases/{version}/"),
        };
        let call = call.path("organization", organization).path("version", version);
        call.query("health", health.then_some(1)).entity().await
    }

    /// Lists the last deploys of a release, of one project only if one is named.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn release_deploys(
        &self,
        organization: &str,
        project: Option<&str>,
        version: &str,
        per_page: u32,
    ) -> Result<Page<Deploy>, Error> {
        let template = "/api/0/organizations/{organization}/releases/{version}/deploys/";
        let call = self.get(template).path("organization", organization).path("version", version);
        of_project(call, project).query("per_page", per_page).page().await
    }

    /// Lists the commits of a release, newest first.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn release_commits(
        &self,
        organization: &str,
        project: Option<&str>,
        version: &str,
        per_page: u32,
    ) -> Result<Page<Commit>, Error> {
        let call = match project {
            Some(project) => self
                .get("/api/0/projects/{organization}/{project}/releases/{version}/commits/")
                .path("project", project),
            None => self.get("/api/0/organizations/{organization}/releases/{version}/commits/"),
        };
        let call = call.path("organization", organization).path("version", version);
        call.query("per_page", per_page).page().await
    }
}

/// Ids and slugs have parameters of their own.
fn of_project<'c>(call: Call<'c>, project: Option<&str>) -> Call<'c> {
    let is_id = project.is_some_and(|it| it.bytes().all(|byte| byte.is_ascii_digit()));
    call.query(if is_id { "project" } else { "projectSlug" }, project)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Server, json, page};

    #[tokio::test]
    async fn a_version_stays_one_segment() {
        let body = r#"{"id":7,"version":"shop@1.2.0+build.7","projects":[{"id":1,"slug":"web"},null],
            "newGroups":"many","lastDeploy":{"id":5,"environment":"staging"},"lastCommit":{}}"#;
        let server = Server::start(vec![json(200, body)]).await;
        let client = server.client();
        let release = client.release("acme", None, "shop@1.2.0+build.7", false).await.unwrap();
        assert_eq!((release.id.as_deref(), release.new_groups), (Some("7"), None));
        assert_eq!(release.projects.len(), 1);
        assert_eq!(release.last_deploy.unwrap().environment.as_deref(), Some("staging"));
        assert!(release.last_commit.is_none());
        client.release("acme", Some("web"), "a/b", true).await.unwrap();
        assert_eq!(
            server.lines(),
            [
                "GET /api/0/organizations/acme/releases/shop%401.2.0%2Bbuild.7/",
                "GET /api/0/projects/acme/web/releases/a%2Fb/?health=1",
            ]
        );
    }

    #[tokio::test]
    async fn deploys_are_filtered_by_id_or_slug() {
        let server = Server::start(vec![page(r#"[{"id":"5"}]"#, None)]).await;
        let client = server.client();
        for project in [None, Some("77"), Some("web-7")] {
            client.release_deploys("acme", project, "1.0", 10).await.unwrap();
        }
        client.release_commits("acme", Some("web"), "1.0", 10).await.unwrap();
        client.list_releases("acme", Some("web"), Some("1."), 26).await.unwrap_err();
        let deploys = "GET /api/0/organizations/acme/releases/1.0/deploys/";
        assert_eq!(
            server.lines(),
            [
                format!("{deploys}?per_page=10"),
                format!("{deploys}?project=77&per_page=10"),
                format!("{deploys}?projectSlug=web-7&per_page=10"),
                "GET /api/0/projects/acme/web/releases/1.0/commits/?per_page=10".to_owned(),
                "GET /api/0/projects/acme/web/releases/?per_page=26&query=1.".to_owned(),
            ]
        );
    }
}
