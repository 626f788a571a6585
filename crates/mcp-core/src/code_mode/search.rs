//! The `search` tool: which operations there are, and how to call them.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures::future::join_all;
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
/// How long a search over several APIs waits for a document that is still loading.
const PATIENCE: Duration = Duration::from_secs(10);

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
            let deadline = Instant::now() + cx.limits.wall;
            let answer = one(cx, api, query, limit, detail, deadline).await?;
            return Ok(Content::text(answer.to_string()));
        }
        // Each gets its share, and one that cannot be read neither hides nor delays the others.
        let share = limit.div_ceil(chosen.len());
        let deadline = Instant::now() + PATIENCE.min(cx.limits.wall);
        let asked = chosen.iter().map(|api| one(cx, api, query, share, detail, deadline));
        let mut answers = Map::new();
        for (api, answer) in chosen.iter().zip(join_all(asked).await) {
            let answer = match answer {
                Ok(answer) => answer,
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
    deadline: Instant,
) -> Result<Value, ToolError> {
    let loaded =
        api.document.get(deadline).await.map_err(|failure| ToolError::user(failure.to_string()))?;
    Ok(answer::answer(api, &loaded, &cx.access, query, limit, detail))
}

pub(crate) fn find<'a>(cx: &'a Context, name: &str) -> Result<&'a std::sync::Arc<Api>, ToolError> {
    cx.apis.iter().find(|api| api.profile.binding == name).ok_or_else(|| {
        let known: Vec<_> = cx.apis.iter().map(|it| format!("`{}`", it.profile.binding)).collect();
        ToolError::user(format!("there is no API `{name}` here"))
            .hint(format!("the APIs are {}", known.join(", ")))
    })
}
