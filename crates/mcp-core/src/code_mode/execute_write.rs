//! The `execute_write` tool: rehearses a script, shows its exact writes, asks for a confirmation, and
//! applies them once with that.

use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::{
    caller::Caller,
    context::Context,
    error::ToolError,
    output::Content,
    tool::{Definition, Tool},
};

use super::{
    definitions,
    run::{self, Task},
    writing::Writing,
};

pub(super) struct ExecuteWrite;

#[async_trait]
impl Tool for ExecuteWrite {
    fn definition(&self, cx: &Context) -> Definition {
        definitions::execute_write(cx)
    }

    async fn call(
        &self,
        cx: &Context,
        caller: &dyn Caller,
        arguments: &Map<String, Value>,
    ) -> Result<Content, ToolError> {
        let code = arguments.get("code").and_then(Value::as_str).unwrap_or_default();
        // A script that cannot be read is not worth a confirmation.
        let prepared = match run::prepare(cx, code) {
            Ok(prepared) => prepared,
            Err(answer) => return Ok(answer),
        };
        let confirm = arguments.get("confirm").and_then(Value::as_str);
        Writing { cx, caller, task: Task::Script(prepared), shown: code }.run(confirm).await
    }
}
