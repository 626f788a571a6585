//! `execute_sentry_tool`: runs a curated tool that is not shown, as if it were.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::{
    caller::Caller,
    context::Context,
    error::ToolError,
    output::Content,
    session::Offers,
    tool::{Argument, ArgumentType, Definition, Effect, Schema, Tool, World},
};

pub(crate) struct ExecuteSentryTool {
    offers: Arc<Offers>,
}

impl ExecuteSentryTool {
    pub(crate) fn new(offers: Arc<Offers>) -> Self {
        Self { offers }
    }
}

/// What a client is told of it. Where nothing that writes is behind it, it cannot write.
pub(super) fn definition(reads_only: bool) -> Definition {
    Definition {
        name: super::EXECUTE,
        title: "Run a Sentry tool",
        description: format!(
            "Run a Sentry tool that is not listed here. Look it up with `{}` first and follow its `inputSchema`.",
            super::SEARCH
        ),
        input_schema: Schema(vec![
            Argument {
                name: "name".into(),
                kind: ArgumentType::Line { least: 1, most: usize::MAX },
                required: true,
                description: "the tool's name".to_owned(),
            },
            Argument {
                name: "arguments".into(),
                kind: ArgumentType::Object,
                required: false,
                description: "the tool's own arguments".to_owned(),
            },
        ]),
        effect: if reads_only { Effect::Read } else { Effect::Destroy },
        world: World::Open,
    }
}

#[async_trait]
impl Tool for ExecuteSentryTool {
    fn definition(&self, _cx: &Context) -> Definition {
        definition(self.offers.all().iter().all(|offer| offer.effect().is_read_only()))
    }

    async fn call(
        &self,
        cx: &Context,
        caller: &dyn Caller,
        arguments: &Map<String, Value>,
    ) -> Result<Content, ToolError> {
        let name = arguments.get("name").and_then(Value::as_str).unwrap_or_default();
        let own = arguments.get("arguments").and_then(Value::as_object).cloned();
        let Some(offer) = self.offers.find(name) else {
            return Err(self.unavailable(name));
        };
        offer.call(cx, caller, own.unwrap_or_default()).await
    }
}

impl ExecuteSentryTool {
    /// Unknown and withheld tools read alike.
    fn unavailable(&self, name: &str) -> ToolError {
        let shown: String = name.chars().take(64).collect();
        let error = ToolError::user(format!("`{shown}` is not a tool of this session"));
        let error = match self.offers.nearest(name) {
            Some(nearest) => error.hint(format!("did you mean `{nearest}`?")),
            None => error,
        };
        error.hint_tool(super::SEARCH, "find the tools there are")
    }
}
