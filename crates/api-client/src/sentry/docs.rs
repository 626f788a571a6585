//! Sentry's documentation: full-text search, and single pages as markdown.

use std::time::Instant;

use http::Method;
use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};
use url::Url;

use super::Client;
use super::call::Call;
use super::error::Error;
use super::lenient::{field, list};
use crate::transport::{Effect, Transport};

/// The hosts whose pages are handed out.
const HOSTS: &[&str] = &["docs.sentry.io", "develop.sentry.io"];

/// Reads documentation with a transport that has no credential.
#[derive(Debug, Clone)]
pub struct Docs {
    transport: Transport,
}

/// What is looked for.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DocsQuery<'a> {
    /// The words.
    pub query: &'a str,
    /// At most this many results.
    pub max_results: u32,
    /// The platform or framework, as in `python/django`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guide: Option<&'a str>,
}

/// A page that was found.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct DocsHit {
    /// The path below `docs.sentry.io`, with `.md`.
    #[serde(deserialize_with = "field")]
    pub id: String,
    /// The address for people.
    #[serde(deserialize_with = "field")]
    pub url: String,
    /// The part that matched.
    #[serde(deserialize_with = "field")]
    pub snippet: String,
    /// How well it matched, from 0 to 1.
    #[serde(deserialize_with = "field")]
    pub relevance: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct Hits {
    #[serde(default, deserialize_with = "list")]
    results: Vec<DocsHit>,
}

/// A page as it was fetched.
#[derive(Debug, Clone)]
pub struct DocsPage {
    /// Where it is.
    pub url: Url,
    /// Its text.
    pub text: String,
    /// Whether it is a web page rather than markdown.
    pub is_html: bool,
}

/// Why an address is no page of the documentation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocsPathError {
    /// Only markdown is handed out.
    #[error("`path` must end with `.md`, as in `/platforms/python.md`")]
    NoMarkdown,
    /// It leads to another site.
    #[error("`path` must lead to docs.sentry.io or develop.sentry.io")]
    Foreign,
}

impl Docs {
    /// Searches at the transport's base; pages come from Sentry's documentation sites.
    #[must_use]
    pub fn new(transport: Transport) -> Self {
        Self { transport }
    }

    /// Finds pages.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn search(
        &self,
        query: &DocsQuery<'_>,
        deadline: Instant,
    ) -> Result<Vec<DocsHit>, Error> {
        let client = Client::new(self.transport.clone(), deadline);
        // A search changes nothing, whatever its method.
        let call = Call::new(&client, Method::POST, "/api/search", Effect::Read);
        let hits: Hits = call.json(query).entity().await?;
        Ok(hits.results)
    }

    /// Fetches a page.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn page(&self, url: &Url, deadline: Instant) -> Result<DocsPage, Error> {
        let client = Client::new(self.transport.clone(), deadline).at(&origin(url))?;
        let path = percent_decode_str(url.path()).decode_utf8_lossy();
        let path = path.trim_start_matches('/');
        let call = Call::new(&client, Method::GET, "/{path}", Effect::Read).segments("path", path);
        let response = call.send().await?;
        let text = String::from_utf8_lossy(&response.body).into_owned();
        let declared = response.header("content-type").unwrap_or_default();
        let is_html = declared.starts_with("text/html") || text.trim_start().starts_with("<!");
        Ok(DocsPage { url: url.clone(), text, is_html })
    }
}

/// Makes an address of what a caller calls a page: a path, with or without a leading `/`, or a URL.
///
/// # Errors
/// No markdown, or a page of another site.
pub fn page_url(path: &str) -> Result<Url, DocsPathError> {
    let path = path.trim();
    let base = Url::parse("https://docs.sentry.io/").map_err(|_| DocsPathError::Foreign)?;
    let url = match Url::parse(path) {
        Ok(url) => url,
        // Two slashes would name a host.
        Err(_) => base
            .join(&format!("/{}", path.trim_start_matches('/')))
            .map_err(|_| DocsPathError::Foreign)?,
    };
    let known = url.host_str().is_some_and(|host| HOSTS.contains(&host));
    let plain = url.scheme() == "https" && url.port().is_none() && url.username().is_empty();
    if !known || !plain {
        return Err(DocsPathError::Foreign);
    }
    if url.path().ends_with(".md") { Ok(url) } else { Err(DocsPathError::NoMarkdown) }
}

fn origin(url: &Url) -> Url {
    let mut origin = url.clone();
    origin.set_path("");
    origin.set_query(None);
    origin.set_fragment(None);
    origin
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::testing::{Server, json, with_headers};
    use super::*;

    #[test]
    fn only_markdown_of_sentrys_own_sites_is_a_page() {
        for (path, expected) in [
            ("platforms/python.md", "https://docs.sentry.io/platforms/python.md"),
            ("/platforms/python.md", "https://docs.sentry.io/platforms/python.md"),
            ("https://develop.sentry.io/a.md", "https://develop.sentry.io/a.md"),
            ("//evil.test/a.md", "https://docs.sentry.io/evil.test/a.md"),
            ("/../../a.md", "https://docs.sentry.io/a.md"),
        ] {
            assert_eq!(page_url(path).map(String::from), Ok(expected.to_owned()), "{path}");
        }
        for path in ["/platforms/python/", "", "https://docs.sentry.io/a.md?x=.md#.html"] {
            let outcome = page_url(path);
            assert!(outcome.is_ok() == path.contains("a.md"), "{path}");
        }
        for path in [
            "https://evil.test/a.md",
            "http://docs.sentry.io/a.md",
            "https://docs.sentry.io.evil.test/a.md",
            "https://docs.sentry.io:444/a.md",
            "https://docs.sentry.io@evil.test/a.md",
            "file:///a.md",
        ] {
            assert_eq!(page_url(path), Err(DocsPathError::Foreign), "{path}");
        }
    }

    #[tokio::test]
    async fn a_search_and_a_page_are_read() {
        let hits = r#"{"results":[{"id":"a.md","url":"https://docs.sentry.io/a","snippet":"x","relevance":0.5},7]}"#;
        let server = Server::start(vec![
            json(200, hits),
            with_headers(200, "content-type: text/markdown\r\n", b"# A"),
        ])
        .await;
        let docs = Docs::new(server.transport());
        let deadline = Instant::now() + Duration::from_secs(10);
        let query = DocsQuery { query: "rate limits", max_results: 3, guide: None };
        let found = docs.search(&query, deadline).await.unwrap();
        assert_eq!((found.len(), found[0].relevance), (1, Some(0.5)));
        let url = server.transport().base_url().join("/a/b c.md").unwrap();
        let page = docs.page(&url, deadline).await.unwrap();
        assert_eq!((page.text.as_str(), page.is_html), ("# A", false));
        assert_eq!(
            server.lines(),
            [r#"POST /api/search {"query":"rate limits","maxResults":3}"#, "GET /a/b%20c.md"]
        );
    }
}
