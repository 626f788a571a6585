//! Organizations, of all regions together.

use futures::future::try_join_all;
use serde::Deserialize;

use super::error::Error;
use super::lenient::{field, list};
use super::{Client, region};

/// An organization, as far as a caller has to know it.
#[derive(Debug, Clone, Deserialize)]
pub struct Organization {
    /// The name in paths.
    pub slug: String,
    /// Where it is.
    #[serde(default, deserialize_with = "field")]
    pub links: Links,
}

/// Where an organization is.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Links {
    /// Its page for people.
    #[serde(deserialize_with = "field")]
    pub organization_url: Option<String>,
    /// The host that has its data.
    #[serde(deserialize_with = "field")]
    pub region_url: Option<String>,
}

impl Organization {
    /// The host that has its data, if it is a particular one.
    #[must_use]
    pub fn region_url(&self) -> Option<&str> {
        self.links.region_url.as_deref().filter(|url| !url.is_empty())
    }
}

#[derive(Debug, Deserialize)]
struct Regions {
    #[serde(default, deserialize_with = "list")]
    regions: Vec<Region>,
}

#[derive(Debug, Deserialize)]
struct Region {
    url: String,
}

impl Client {
    /// Lists at most `limit` organizations whose name or slug holds `query`.
    ///
    /// The hosted service keeps them by region, and every region is asked.
    ///
    /// # Errors
    /// A refusal, no usable answer, or a region of someone else.
    pub async fn list_organizations(
        &self,
        query: Option<&str>,
        limit: u32,
    ) -> Result<Vec<Organization>, Error> {
        let hosts =
            if region::is_hosted(self.base_url()) { self.regions().await? } else { Vec::new() };
        if hosts.is_empty() {
            return self.organizations_here(query, limit).await;
        }
        let lists = hosts.iter().map(|host| host.organizations_here(query, limit));
        let mut all: Vec<Organization> = try_join_all(lists).await?.into_iter().flatten().collect();
        all.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(all)
    }

    /// Returns one organization.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn organization(&self, organization: &str) -> Result<Organization, Error> {
        self.get("/api/0/organizations/{organization}/")
            .path("organization", organization)
            .entity()
            .await
    }

    async fn organizations_here(
        &self,
        query: Option<&str>,
        limit: u32,
    ) -> Result<Vec<Organization>, Error> {
        let call = self.get("/api/0/organizations/").query("per_page", limit).query("query", query);
        Ok(call.page().await?.items)
    }

    /// One client a region; none where Sentry has no regions.
    async fn regions(&self) -> Result<Vec<Self>, Error> {
        let control = region::control(self.base_url()).and_then(|host| self.at(&host).ok());
        let call = control.as_ref().unwrap_or(self).get("/api/0/users/me/regions/");
        let found: Regions = match call.entity().await {
            Err(error) if error.is_not_found() => return Ok(Vec::new()),
            other => other?,
        };
        let mut hosts = Vec::new();
        for region in found.regions {
            let host = region::answered(self.base_url(), &region.url)?;
            // A checked origin is a usable base.
            hosts.extend(self.at(&host));
        }
        Ok(hosts)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Server, json};

    #[tokio::test]
    async fn organizations_without_links_are_still_listed() {
        let body = r#"[{"slug":"a","links":{"organizationUrl":"https://a.sentry.test","regionUrl":7}},
                       {"slug":"b","links":null},{"slug":"c"}]"#;
        let server = Server::start(vec![json(200, body)]).await;
        let found = server.client().list_organizations(Some("x y"), 26).await.unwrap();
        let slugs: Vec<&str> = found.iter().map(|it| it.slug.as_str()).collect();
        assert_eq!(slugs, ["a", "b", "c"]);
        assert_eq!(found[0].links.organization_url.as_deref(), Some("https://a.sentry.test"));
        assert_eq!(found[0].region_url(), None);
        assert_eq!(server.lines(), ["GET /api/0/organizations/?per_page=26&query=x%20y"]);
    }

    #[tokio::test]
    async fn a_refusal_names_the_template_and_sentrys_reason() {
        let server =
            Server::start(vec![json(404, r#"{"detail":"The requested resource does not exist"}"#)])
                .await;
        let error = server.client().organization("secret-name").await.unwrap_err();
        assert!(error.is_not_found());
        assert_eq!(
            error.to_string(),
            "`GET /api/0/organizations/{organization}/` was answered with 404: \
             The requested resource does not exist"
        );
    }

    #[tokio::test]
    async fn a_web_page_in_place_of_json_is_called_one() {
        let server = Server::start(vec![json(200, "\n<!doctype html><html></html>")]).await;
        let error = server.client().organization("a").await.unwrap_err();
        assert!(error.to_string().contains("it is a web page"), "{error}");
    }

    #[tokio::test]
    async fn a_slug_that_names_another_path_is_not_sent() {
        let server = Server::start(vec![json(200, "{}")]).await;
        for slug in ["..", ".", "../admin", "a/../../b", ""] {
            assert!(server.client().organization(slug).await.is_err(), "{slug}");
        }
        assert_eq!(server.lines(), Vec::<String>::new());
    }
}
