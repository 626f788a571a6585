//! The `call_operation_write` tool: shows the exact request one operation would send, and sends it
//! once confirmed.

use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::{
    caller::Caller,
    code_mode::writing::Writing,
    context::Context,
    error::ToolError,
    output::Content,
    tool::{Definition, Tool},
};

use super::{definitions, task};

pub(super) struct CallOperationWrite;

#[async_trait]
impl Tool for CallOperationWrite {
    fn definition(&self, cx: &Context) -> Definition {
        definitions::call_operation_write(cx)
    }

    async fn call(
        &self,
        cx: &Context,
        caller: &dyn Caller,
        arguments: &Map<String, Value>,
    ) -> Result<Content, ToolError> {
        let task = task(cx, arguments)?;
        let mut asked = arguments.clone();
        asked.shift_remove("confirm");
        let shown = Value::Object(asked).to_string();
        let confirm = arguments.get("confirm").and_then(Value::as_str);
        Writing { cx, caller, task, shown: &shown }.run(confirm).await
    }
}
