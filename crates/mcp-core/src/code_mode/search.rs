//! The `search` tool: which operations there are, and how to call them.

use std::time::Instant;

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use crate::{
    caller::Caller,
    context::{Api, Context},
    error::ToolError,
    output::Content,
    tool::{Definition, Tool},
};

use super::{
    answer::{self, Detail},
    definitions,
};

/// Rows of an answer when the caller names no limit.
const DEFAULT_LIMIT: usize = 20;

pub(crate) struct Search;

#[async_trait]
impl Tool for Search {
    fn definition(&self, cx: &Context) -> Definition {
        definitions::search(cx)
    }

    async fn call(
        &self,
        cx: &Context,
        _caller: &dyn Caller,
        arguments: &Map<String, Value>,
    ) -> Result<Content, ToolError> {
        let text = |name| arguments.get(name).and_then(Value::as_str);
        let query = text("query").unwrap_or_default();
        let limit = arguments
            .get("limit")
            .and_then(Value::as_u64)
            .and_then(|it| usize::try_from(it).ok())
            .unwrap_or(DEFAULT_LIMIT);
        let detail = text("detail").and_then(Detail::from_name).unwrap_or(Detail::Signature);
        let chosen: Vec<_> = match text("api") {
            None => cx.apis.iter().collect(),
            Some(name) => vec![find(cx, name)?],
        };
        if let [api] = chosen[..] {
            return Ok(Content::text(one(cx, api, query, limit, detail).await?.to_string()));
        }
        let mut answers = Map::new();
        for api in chosen {
            let answer = match one(cx, api, query, limit / 2 + 1, detail).await {
                Ok(answer) => answer,
                // One API that cannot be read does not hide the others.
                Err(ToolError::UserInput(error)) => json!({ "error": error.to_string() }),
                Err(error) => return Err(error),
            };
            answers.insert(api.profile.binding.clone(), answer);
        }
        Ok(Content::text(Value::Object(answers).to_string()))
    }
}

async fn one(
    cx: &Context,
    api: &Api,
    query: &str,
    limit: usize,
    detail: Detail,
) -> Result<Value, ToolError> {
    let loaded = api
        .document
        .get(Instant::now() + cx.limits.wall)
        .await
        .map_err(|failure| ToolError::user(failure.to_string()))?;
    Ok(answer::answer(api, &loaded, &cx.access, query, limit, detail))
}

pub(crate) fn find<'a>(cx: &'a Context, name: &str) -> Result<&'a std::sync::Arc<Api>, ToolError> {
    cx.apis.iter().find(|api| api.profile.binding == name).ok_or_else(|| {
        let known: Vec<_> = cx.apis.iter().map(|it| format!("`{}`", it.profile.binding)).collect();
        ToolError::user(format!("there is no API `{name}` here"))
            .hint(format!("the APIs are {}", known.join(", ")))
    })
}
