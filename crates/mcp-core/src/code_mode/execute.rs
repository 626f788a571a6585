//! The `execute` tool: runs a script that can only read.

use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::{
    caller::Caller,
    context::Context,
    error::ToolError,
    output::Content,
    tool::{Definition, Tool},
};

use super::{definitions, policy::Mode, run};

pub(super) struct Execute;

#[async_trait]
impl Tool for Execute {
    fn definition(&self, cx: &Context) -> Definition {
        definitions::execute(cx)
    }

    async fn call(
        &self,
        cx: &Context,
        caller: &dyn Caller,
        arguments: &Map<String, Value>,
    ) -> Result<Content, ToolError> {
        let code = arguments.get("code").and_then(Value::as_str).unwrap_or_default();
        match run::prepare(cx, code) {
            Ok(prepared) => run::run(cx, caller, run::Task::Script(prepared), Mode::Read).await,
            Err(answer) => Ok(answer),
        }
    }
}
