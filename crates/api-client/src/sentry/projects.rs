//! Projects, and the teams they belong to.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::call::all_pages;
use super::error::Error;
use super::lenient::{field, id};
use super::teams::Team;
use super::{Client, Completeness, Page};

/// More teams than this on one project is not a case of life: 100 a page.
const MAX_TEAM_PAGES: usize = 20;

/// A project.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Project {
    /// The numeric id, as text.
    #[serde(deserialize_with = "id")]
    pub id: String,
    /// The name in paths.
    pub slug: String,
    /// The name for people.
    #[serde(default, deserialize_with = "field")]
    pub name: Option<String>,
    /// The SDK's platform, as in `python-django`.
    #[serde(default, deserialize_with = "field")]
    pub platform: Option<String>,
    /// Whether it has sent profiles.
    #[serde(default, deserialize_with = "field")]
    pub has_profiles: Option<bool>,
    /// Whether it has sent replays.
    #[serde(default, deserialize_with = "field")]
    pub has_replays: Option<bool>,
    /// Whether it has sent logs.
    #[serde(default, deserialize_with = "field")]
    pub has_logs: Option<bool>,
    /// Whether it has sent transactions.
    #[serde(default, deserialize_with = "field")]
    pub first_transaction_event: Option<bool>,
}

/// What a new project is made of.
#[derive(Debug, Clone, Serialize)]
pub struct NewProject<'a> {
    /// The name for people.
    pub name: &'a str,
    /// The name in paths; derived from the name where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slug: Option<&'a str>,
    /// The SDK's platform.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<&'a str>,
}

/// What changes of a project; what is absent stays.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ProjectChanges<'a> {
    /// The name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<&'a str>,
    /// The name in paths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slug: Option<&'a str>,
    /// The SDK's platform.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<&'a str>,
}

impl Client {
    /// Lists the first projects whose name or slug holds `query`.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn list_projects(
        &self,
        organization: &str,
        query: Option<&str>,
        per_page: u32,
    ) -> Result<Page<Project>, Error> {
        self.get("/api/0/organizations/{organization}/projects/")
            .path("organization", organization)
            .query("per_page", per_page)
            .query("query", query)
            .page()
            .await
    }

    /// Returns one project by slug or id.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn project(&self, organization: &str, project: &str) -> Result<Project, Error> {
        self.get("/api/0/projects/{organization}/{project}/")
            .path("organization", organization)
            .path("project", project)
            .entity()
            .await
    }

    /// Makes a project that belongs to a team.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn create_project(
        &self,
        organization: &str,
        team: &str,
        project: &NewProject<'_>,
    ) -> Result<Project, Error> {
        self.post("/api/0/teams/{organization}/{team}/projects/")
            .path("organization", organization)
            .path("team", team)
            .json(project)
            .entity()
            .await
    }

    /// Changes a project.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn update_project(
        &self,
        organization: &str,
        project: &str,
        changes: &ProjectChanges<'_>,
    ) -> Result<Project, Error> {
        self.put("/api/0/projects/{organization}/{project}/")
            .path("organization", organization)
            .path("project", project)
            .json(changes)
            .entity()
            .await
    }

    /// Returns all teams of a project.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn project_teams(
        &self,
        organization: &str,
        project: &str,
    ) -> Result<(Vec<Team>, Completeness), Error> {
        all_pages(MAX_TEAM_PAGES, || {
            self.get("/api/0/projects/{organization}/{project}/teams/")
                .path("organization", organization)
                .path("project", project)
        })
        .await
    }

    /// Gives a team a project; a team that has it keeps it.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn add_team_to_project(
        &self,
        organization: &str,
        project: &str,
        team: &str,
    ) -> Result<(), Error> {
        let call = self.post(PROJECT_TEAM).path("organization", organization);
        call.path("project", project).path("team", team).json(&json!({})).send().await?;
        Ok(())
    }

    /// Takes a project away from a team.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn remove_team_from_project(
        &self,
        organization: &str,
        project: &str,
        team: &str,
    ) -> Result<(), Error> {
        let call = self.delete(PROJECT_TEAM).path("organization", organization);
        call.path("project", project).path("team", team).send().await?;
        Ok(())
    }
}

const PROJECT_TEAM: &str = "/api/0/projects/{organization}/{project}/teams/{team}/";

#[cfg(test)]
mod tests {
    use super::super::testing::{Server, json, page, with_headers};
    use super::*;

    #[tokio::test]
    async fn all_teams_of_a_project_are_read_page_by_page() {
        let server = Server::start(vec![
            page(r#"[{"id":"1","slug":"a"}]"#, Some("100:1:0")),
            page(r#"[{"id":"2","slug":"b"}]"#, None),
        ])
        .await;
        let (teams, completeness) = server.client().project_teams("acme", "web").await.unwrap();
        let slugs: Vec<_> = teams.iter().map(|it| it.slug.as_str()).collect();
        assert_eq!((slugs, completeness), (vec!["a", "b"], Completeness::Whole));
        assert_eq!(
            server.lines(),
            [
                "GET /api/0/projects/acme/web/teams/?per_page=100",
                "GET /api/0/projects/acme/web/teams/?per_page=100&cursor=100%3A1%3A0",
            ]
        );
    }

    #[tokio::test]
    async fn a_list_that_goes_round_in_circles_ends() {
        let server = Server::start(vec![page(r#"[{"id":"1","slug":"a"}]"#, Some("100:1:0"))]).await;
        let (teams, _) = server.client().project_teams("acme", "web").await.unwrap();
        assert_eq!((teams.len(), server.lines().len()), (2, 2));
    }

    #[tokio::test]
    async fn only_what_changes_is_sent() {
        let server =
            Server::start(vec![json(200, r#"{"id":"7","slug":"web","platform":3}"#)]).await;
        let changes = ProjectChanges { name: Some("Web"), ..ProjectChanges::default() };
        let project = server.client().update_project("acme", "web", &changes).await.unwrap();
        assert_eq!((project.id.as_str(), project.platform), ("7", None));
        let new = NewProject { name: "Web", slug: None, platform: Some("go") };
        server.client().create_project("acme", "crew", &new).await.unwrap();
        assert_eq!(
            server.lines(),
            [
                r#"PUT /api/0/projects/acme/web/ {"name":"Web"}"#,
                r#"POST /api/0/teams/acme/crew/projects/ {"name":"Web","platform":"go"}"#,
            ]
        );
    }

    #[tokio::test]
    async fn teams_come_and_go_without_a_body_to_read() {
        let server = Server::start(vec![json(201, "{}"), with_headers(204, "", b"")]).await;
        server.client().add_team_to_project("acme", "web", "crew").await.unwrap();
        server.client().remove_team_from_project("acme", "web", "crew").await.unwrap();
        assert_eq!(
            server.lines(),
            [
                "POST /api/0/projects/acme/web/teams/crew/ {}",
                "DELETE /api/0/projects/acme/web/teams/crew/",
            ]
        );
    }
}
