//! Code repositories, and which of them belongs to a project.

use serde::Deserialize;
use serde_json::json;

use super::call::all_pages;
use super::error::Error;
use super::lenient::{field, id, optional_id};
use super::{Client, Completeness};

/// The most repositories that are looked through: 100 a page.
const MAX_PAGES: usize = 50;

/// A connected repository.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Repository {
    /// The numeric id, as text.
    #[serde(deserialize_with = "id")]
    pub id: String,
    /// As in `owner/name`.
    pub name: String,
    /// Who hosts it.
    #[serde(default, deserialize_with = "field")]
    pub provider: Provider,
    /// The integration it came through.
    #[serde(default, deserialize_with = "optional_id")]
    pub integration_id: Option<String>,
}

/// Who hosts a repository.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Provider {
    /// As in `integrations:github`.
    #[serde(default, deserialize_with = "optional_id")]
    pub id: Option<String>,
}

impl Client {
    /// Returns the connected repositories whose name holds `query`.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn repositories(
        &self,
        organization: &str,
        query: &str,
    ) -> Result<(Vec<Repository>, Completeness), Error> {
        all_pages(MAX_PAGES, || {
            self.get("/api/0/organizations/{organization}/repos/")
                .path("organization", organization)
                .query("query", query)
        })
        .await
    }

    /// Maps the whole of a repository to a project, so that stack traces lead to its code.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn link_repository(
        &self,
        organization: &str,
        project: &str,
        repository: &Repository,
    ) -> Result<(), Error> {
        let provider = repository.provider.id.as_deref().unwrap_or_default();
        let body = json!({
            "project": project,
            "repository": repository.name,
            "provider": provider.strip_prefix("integrations:").unwrap_or(provider),
            "mappings": [{ "stackRoot": "", "sourceRoot": "" }],
        });
        self.post("/api/0/organizations/{organization}/code-mappings/bulk/")
            .path("organization", organization)
            .json(&body)
            .send()
            .await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Server, json, page};

    #[tokio::test]
    async fn a_repository_is_found_and_linked_by_the_bare_name_of_its_host() {
        let body = r#"[{"id":"3","name":"acme/web","provider":{"id":"integrations:github"}},
                       {"id":"4","name":"acme/old","provider":null}]"#;
        let server = Server::start(vec![page(body, None), json(200, "{}")]).await;
        let (found, _) = server.client().repositories("acme", "web").await.unwrap();
        server.client().link_repository("acme", "shop", &found[0]).await.unwrap();
        assert_eq!(found[1].provider.id, None);
        let sent = r#"{"project":"shop","repository":"acme/web","provider":"github","mappings":[{"stackRoot":"","sourceRoot":""}]}"#;
        assert_eq!(
            server.lines(),
            [
                "GET /api/0/organizations/acme/repos/?query=web&per_page=100".to_owned(),
                format!("POST /api/0/organizations/acme/code-mappings/bulk/ {sent}"),
            ]
        );
    }
}
