//! `get_doc`: one page of Sentry's documentation.

use std::time::{Duration, Instant};

use api_client::sentry::docs;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    error::ToolError,
    render::Page,
    skill::Skill,
    tool::{Call, CuratedTool, Markdown, Spec},
};

/// How long a page may take.
const PATIENCE: Duration = Duration::from_secs(15);

#[derive(Debug)]
pub(super) struct GetDoc;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Params {
    /// as `search_docs` names it, ending in `.md`; or a whole address on docs.sentry.io
    #[schemars(length(min = 4, max = 500))]
    path: String,
}

impl CuratedTool for GetDoc {
    const SPEC: Spec = Spec {
        name: "get_doc",
        title: "Get a page of the documentation",
        description: "Read one page of Sentry's documentation as markdown. Find its `path` with `search_docs`.",
        skills: &[Skill::Inspect, Skill::Docs],
        ..Spec::READ
    };
    type Params = Params;
    type Output = Markdown;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Markdown, ToolError> {
        let url = docs::page_url(&params.path).map_err(|error| {
            ToolError::user(error.to_string())
                .hint("take `path` from a result as it is")
                .hint_tool("search_docs", "find the page")
        })?;
        let source = cx.docs()?;
        let deadline = cx.deadline().min(Instant::now() + PATIENCE);
        let mut page = Page::new(&url);
        match source.docs().page(&source.place_of(&url), deadline).await {
            Ok(found) if found.is_html => {
                page.paragraph("This address leads to a web page, not to the raw text of one.");
                page.next_steps([cx.hint("search_docs", "find the page's path")]);
                Ok(page.finish())
            }
            Ok(found) => Ok(Markdown(format!("{}\n{}", page.into_text(), found.text))),
            Err(error) if error.is_not_found() => {
                page.paragraph(
                    "There is no such page. It may have moved, or the path is misspelt.",
                );
                page.next_steps([cx.hint("search_docs", "find the page's path")]);
                Ok(page.finish())
            }
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::json;

    use crate::test_support::{Pages, Sentry};

    #[tokio::test]
    async fn a_page_comes_under_its_address() {
        let pages = Pages::serve(200, "text/markdown", "# Sampling\n\nSet a rate.\n").await;
        let sentry = Sentry::new().docs(&pages);
        let text = sentry.call("get_doc", json!({"path": "/platforms/python/sampling.md"})).await;
        assert_snapshot!(text);
        assert!(pages.requests()[0].starts_with("GET /platforms/python/sampling.md "));
    }

    #[tokio::test]
    async fn a_page_that_is_not_there_is_no_error() {
        let pages = Pages::serve(404, "text/plain", "no").await;
        let sentry = Sentry::new().docs(&pages);
        assert_snapshot!(sentry.call("get_doc", json!({"path": "nowhere.md"})).await);
    }

    #[tokio::test]
    async fn a_web_page_is_said_to_be_one() {
        let pages = Pages::serve(200, "text/html", "<!doctype html><p>hello").await;
        let text = Sentry::new().docs(&pages).call("get_doc", json!({"path": "a.md"})).await;
        assert!(text.contains("leads to a web page") && !text.contains("doctype"), "{text}");
    }

    #[tokio::test]
    async fn only_markdown_of_sentrys_own_sites_is_read() {
        let pages = Pages::serve(200, "text/markdown", "x").await;
        let sentry = Sentry::new().docs(&pages);
        for path in [
            "https://evil.example.com/a.md",
            "//evil.example.com/a.md/b.md?x=https://docs.sentry.io@evil",
            "http://docs.sentry.io/a.md",
            "https://docs.sentry.io:8443/a.md",
            "platforms/python",
        ] {
            let content = sentry.content("get_doc", json!({"path": path})).await;
            let sent = pages.requests();
            assert!(
                content.is_error || sent.iter().all(|it| it.starts_with("GET /evil")),
                "{path}: {sent:?}"
            );
        }
    }
}
