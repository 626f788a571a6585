//! `search_sentry_tools`: which curated tools there are for a task, with all that a call needs.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use crate::{
    caller::Caller,
    context::Context,
    error::ToolError,
    output::Content,
    search::{Entry, Index},
    session::Offers,
    tool::{Argument, ArgumentType, Definition, Effect, Schema, Tool, World},
};

const DEFAULT_LIMIT: usize = 8;
const MOST: i64 = 20;

pub(crate) struct SearchSentryTools {
    offers: Arc<Offers>,
    /// Built when somebody searches.
    index: OnceLock<Index>,
}

impl SearchSentryTools {
    pub(crate) fn new(offers: Arc<Offers>) -> Self {
        Self { offers, index: OnceLock::new() }
    }

    fn index(&self, cx: &Context) -> &Index {
        self.index.get_or_init(|| {
            let words: Vec<_> = self.offers.all().iter().map(|offer| offer.words(cx)).collect();
            Index::build(words.iter().map(|words| Entry {
                id: words.name,
                method: words.method,
                path: "",
                summary: words.title,
                description: &words.description,
                tags: &words.skills,
                parameters: &words.parameters,
                body: &[],
                answer: &[],
                deprecated: false,
            }))
        })
    }

    /// Positions of the tools that answer a question, best first.
    fn ranked(&self, cx: &Context, query: &str) -> Vec<usize> {
        let hits = self.index(cx).search(query);
        let mut ranked: Vec<_> =
            hits.hits.into_iter().take(hits.matched).map(|hit| hit.entry).collect();
        // A tool's name, spelt anyhow, is no question.
        let name = query.trim().to_ascii_lowercase().replace([' ', '-'], "_");
        if let Some(exact) = self.offers.position(&name) {
            ranked.retain(|&it| it != exact);
            ranked.insert(0, exact);
        }
        ranked
    }
}

/// What a client is told of it.
pub(super) fn definition() -> Definition {
    Definition {
        name: super::SEARCH,
        title: "Search Sentry tools",
        description: format!(
            "Find Sentry tools that are not listed here: teams, releases, dashboards, monitors, alert rules, attachments, documentation, project settings and more. Each result has the `name`, what it does and its `inputSchema`; run it with `{}`.",
            super::EXECUTE
        ),
        input_schema: Schema(vec![
            Argument {
                name: "query".into(),
                kind: ArgumentType::Line { least: 1, most: usize::MAX },
                required: true,
                description: "the task in plain words, or a tool's name".to_owned(),
            },
            Argument {
                name: "limit".into(),
                kind: ArgumentType::Integer { min: 1, max: MOST },
                required: false,
                description: format!("default {DEFAULT_LIMIT}"),
            },
        ]),
        effect: Effect::Read,
        world: World::Closed,
    }
}

/// The shape of its answers.
pub(super) fn output_schema() -> Option<Map<String, Value>> {
    let text = json!({ "type": "string" });
    let object = json!({ "type": "object" });
    let result = json!({
        "type": "object",
        "properties": {
            "name": text, "description": text, "inputSchema": object, "annotations": object,
        },
        "required": ["name", "description", "inputSchema", "annotations"],
    });
    let schema = json!({
        "type": "object",
        "properties": { "query": text, "results": { "type": "array", "items": result } },
        "required": ["query", "results"],
    });
    schema.as_object().cloned()
}

#[async_trait]
impl Tool for SearchSentryTools {
    fn definition(&self, _cx: &Context) -> Definition {
        definition()
    }

    fn output_schema(&self) -> Option<Map<String, Value>> {
        output_schema()
    }

    async fn call(
        &self,
        cx: &Context,
        _caller: &dyn Caller,
        arguments: &Map<String, Value>,
    ) -> Result<Content, ToolError> {
        let query = arguments.get("query").and_then(Value::as_str).unwrap_or_default();
        let limit = arguments
            .get("limit")
            .and_then(Value::as_u64)
            .and_then(|it| usize::try_from(it).ok())
            .unwrap_or(DEFAULT_LIMIT);
        let all = self.offers.all();
        let results: Vec<_> = self
            .ranked(cx, query)
            .into_iter()
            .filter_map(|position| all.get(position))
            .take(limit)
            .map(|offer| offer.describe(cx))
            .collect();
        Ok(Content::structured_compact(json!({ "query": query, "results": results })))
    }
}
