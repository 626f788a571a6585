//! `search_docs`: which pages of Sentry's documentation answer a question.

use std::{
    borrow::Cow,
    time::{Duration, Instant},
};

use api_client::sentry::docs::{DocsHit, DocsQuery};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de::Error as _};

use crate::{
    error::ToolError,
    params::Limit,
    render::{Page, inline},
    skill::Skill,
    tool::{Call, CuratedTool, Markdown, Spec},
};

/// How long the search service may take.
const PATIENCE: Duration = Duration::from_secs(15);
/// Results that are shown with the part that matched.
const WITH_SNIPPET: usize = 3;

#[derive(Debug)]
pub(super) struct SearchDocs;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    /// a few words of the matter
    #[schemars(length(min = 2, max = 200))]
    query: String,
    #[serde(default)]
    max_results: Limit<3, 10>,
    guide: Option<Guide>,
}

impl CuratedTool for SearchDocs {
    const SPEC: Spec = Spec {
        name: "search_docs",
        title: "Search the documentation",
        description: "Search Sentry's documentation: how to set up an SDK, configure a feature, read a concept. Answers addresses with the parts that match; read a whole page with `get_doc`. Name the platform or framework in `guide` where it is known.",
        skills: &[Skill::Inspect, Skill::Docs],
        ..Spec::READ
    };
    type Params = Params;
    type Output = Markdown;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Markdown, ToolError> {
        let source = cx.docs()?;
        let query = DocsQuery {
            query: &params.query,
            max_results: params.max_results.get() as u32,
            guide: params.guide.as_ref().map(|it| it.0),
        };
        let deadline = cx.deadline().min(Instant::now() + PATIENCE);
        let hits = source.docs().search(&query, deadline).await?;
        Ok(render(cx, &params, &hits))
    }
}

fn render(cx: &Call<'_>, params: &Params, hits: &[DocsHit]) -> Markdown {
    let mut page = Page::new(format!("Documentation on \"{}\"", inline(&params.query)));
    if hits.is_empty() {
        page.paragraph("Nothing was found. Try other or fewer words, or leave `guide` out.");
        return page.finish();
    }
    for (number, hit) in hits.iter().take(params.max_results.get()).enumerate() {
        page.heading(format!("{}. {}", number + 1, inline(&hit.url)))
            .fact("Path", &hit.id)
            .maybe("Relevance", hit.relevance.map(|share| format!("{:.0} %", share * 100.0)));
        if number < WITH_SNIPPET && !hit.snippet.trim().is_empty() {
            page.block("markdown", &hit.snippet);
        }
    }
    page.next_steps([cx.hint("get_doc", "read a page: its Path is `path`")]);
    page.finish()
}

/// A platform, or one of its frameworks.
#[derive(Debug)]
struct Guide(&'static str);

impl<'de> Deserialize<'de> for Guide {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let known = GUIDES.iter().find(|guide| **guide == text);
        known.map(|guide| Self(guide)).ok_or_else(|| D::Error::custom("`guide` is not known"))
    }
}

impl JsonSchema for Guide {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Guide".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": GUIDES })
    }
}

#[rustfmt::skip]
const GUIDES: &[&str] = &[
    "javascript", "python", "java", "dotnet", "go", "php", "ruby", "android", "apple", "unity", "unreal", "rust",
    "elixir", "kotlin", "native", "dart", "godot", "nintendo-switch", "playstation", "powershell", "react-native",
    "xbox",
    "javascript/nextjs", "javascript/react", "javascript/gatsby", "javascript/remix", "javascript/vue",
    "javascript/angular", "javascript/hono", "javascript/svelte", "javascript/express", "javascript/fastify",
    "javascript/astro", "javascript/bun", "javascript/capacitor", "javascript/cloudflare", "javascript/connect",
    "javascript/cordova", "javascript/deno", "javascript/electron", "javascript/ember", "javascript/nuxt",
    "javascript/solid", "javascript/solidstart", "javascript/sveltekit", "javascript/tanstack-react",
    "javascript/wasm", "javascript/node", "javascript/koa", "javascript/nestjs", "javascript/hapi",
    "python/django", "python/flask", "python/fastapi", "python/celery", "python/tornado", "python/pyramid",
    "python/aiohttp", "python/anthropic", "python/airflow", "python/aws-lambda", "python/boto3", "python/bottle",
    "python/chalice", "python/dramatiq", "python/falcon", "python/langchain", "python/litestar", "python/logging",
    "python/loguru", "python/openai", "python/quart", "python/ray", "python/redis", "python/rq", "python/sanic",
    "python/sqlalchemy", "python/starlette",
    "dart/flutter", "kotlin/multiplatform", "android/kotlin", "php/laravel", "php/symfony",
    "dotnet/aspnetcore", "dotnet/maui", "dotnet/wpf", "dotnet/winforms", "dotnet/aspnet", "dotnet/aws-lambda",
    "dotnet/azure-functions", "dotnet/blazor-webassembly", "dotnet/entityframework",
    "dotnet/google-cloud-functions", "dotnet/extensions-logging", "dotnet/log4net", "dotnet/nlog",
    "dotnet/serilog", "dotnet/uwp", "dotnet/xamarin",
    "java/spring", "java/spring-boot", "java/android", "java/jul", "java/log4j2", "java/logback", "java/servlet",
    "go/echo", "go/fasthttp", "go/fiber", "go/gin", "go/http", "go/iris", "go/logrus", "go/negroni", "go/slog",
    "go/zerolog",
    "ruby/delayed_job", "ruby/rack", "ruby/rails", "ruby/resque", "ruby/sidekiq",
    "apple/ios", "apple/macos", "apple/watchos", "apple/tvos", "apple/visionos",
];

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::json;

    use super::*;
    use crate::test_support::{Pages, Sentry};

    const HITS: &str = r#"{"query": "sampling", "results": [
        {"id": "platforms/python.md", "url": "https://docs.sentry.io/platforms/python", "snippet": "Set `traces_sample_rate`.", "relevance": 0.82},
        {"id": "platforms/go.md", "url": "https://docs.sentry.io/platforms/go", "snippet": "", "relevance": null}
    ]}"#;

    #[tokio::test]
    async fn pages_come_with_their_path_and_the_part_that_matches() {
        let pages = Pages::serve(200, "application/json", HITS).await;
        let sentry = Sentry::new().docs(&pages);
        let text = sentry
            .call("search_docs", json!({"query": "sampling", "guide": "python/django"}))
            .await;
        assert_snapshot!(text);
        let sent = pages.requests();
        assert!(sent[0].starts_with("POST /api/search"), "{sent:?}");
        assert!(
            sent[0].ends_with(r#"{"query":"sampling","maxResults":3,"guide":"python/django"}"#),
            "{sent:?}"
        );
        assert!(!sent[0].to_ascii_lowercase().contains("authorization"), "{sent:?}");
    }

    #[tokio::test]
    async fn nothing_found_says_what_to_try() {
        let pages = Pages::serve(200, "application/json", r#"{"results": []}"#).await;
        let sentry = Sentry::new().docs(&pages);
        assert_snapshot!(sentry.call("search_docs", json!({"query": "zzz"})).await);
    }

    #[tokio::test]
    async fn without_a_source_there_is_a_plain_message_and_no_made_up_result() {
        assert_snapshot!(Sentry::new().call("search_docs", json!({"query": "sampling"})).await);
    }

    #[tokio::test]
    async fn bad_arguments_are_named() {
        let sentry = Sentry::new();
        for (arguments, expected) in [
            (json!({"query": "a"}), "a text of 2 to 200 characters"),
            (json!({"query": "ab", "maxResults": 11}), "a whole number from 1 to 10"),
            (json!({"query": "ab", "guide": "cobol"}), "one of javascript, python"),
        ] {
            let text = sentry.call_failing("search_docs", arguments).await;
            assert!(text.contains(expected), "{text}");
        }
    }

    #[test]
    fn there_are_126_guides_and_each_framework_has_its_platform() {
        assert_eq!(GUIDES.len(), 126);
        for guide in GUIDES {
            if let Some((platform, _)) = guide.split_once('/') {
                assert!(GUIDES.contains(&platform), "{guide}");
            }
        }
    }
}
