//! Teams of an organization.

use serde::Deserialize;
use serde_json::json;

use super::error::Error;
use super::lenient::{field, id};
use super::{Client, Page};

/// A team.
#[derive(Debug, Clone, Deserialize)]
pub struct Team {
    /// The numeric id, as text.
    #[serde(deserialize_with = "id")]
    pub id: String,
    /// The name in paths.
    pub slug: String,
    /// The name for people.
    #[serde(default, deserialize_with = "field")]
    pub name: Option<String>,
}

impl Client {
    /// Lists the first teams whose name or slug holds `query`.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn list_teams(
        &self,
        organization: &str,
        query: Option<&str>,
        per_page: u32,
    ) -> Result<Page<Team>, Error> {
        self.get("/api/0/organizations/{organization}/teams/")
            .path("organization", organization)
            .query("per_page", per_page)
            .query("query", query)
            .page()
            .await
    }

    /// Makes a team; Sentry derives its slug from the name.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn create_team(&self, organization: &str, name: &str) -> Result<Team, Error> {
        self.post("/api/0/organizations/{organization}/teams/")
            .path("organization", organization)
            .json(&json!({ "name": name }))
            .entity()
            .await
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Server, json, page};

    #[tokio::test]
    async fn teams_are_listed_with_what_follows() {
        let body = r#"[{"id":"1","slug":"web-crew","name":"Web"},{"id":2,"slug":"B.c","name":[]}]"#;
        let server = Server::start(vec![page(body, Some("2:1:0"))]).await;
        let teams = server.client().list_teams("Acme", None, 2).await.unwrap();
        let names: Vec<_> =
            teams.items.iter().map(|it| (&*it.id, &*it.slug, it.name.as_deref())).collect();
        assert_eq!(names, [("1", "web-crew", Some("Web")), ("2", "B.c", None)]);
        assert_eq!(teams.next_cursor.as_deref(), Some("2:1:0"));
        assert_eq!(server.lines(), ["GET /api/0/organizations/Acme/teams/?per_page=2"]);
    }

    #[tokio::test]
    async fn a_refused_team_says_which_field_is_wrong() {
        let server =
            Server::start(vec![json(400, r#"{"name":["This field may not be blank."]}"#)]).await;
        let error = server.client().create_team("acme", "").await.unwrap_err();
        assert_eq!(error.status(), Some(400));
        assert!(error.to_string().ends_with("`name`: This field may not be blank."), "{error}");
        assert_eq!(server.lines(), [r#"POST /api/0/organizations/acme/teams/ {"name":""}"#]);
    }
}
