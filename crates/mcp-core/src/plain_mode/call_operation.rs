//! The `call_operation` tool: calls one operation that only reads.

use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::{
    caller::Caller,
    code_mode::{policy::Mode, run},
    context::Context,
    error::ToolError,
    output::Content,
    tool::{Definition, Tool},
};

use super::{definitions, task};

pub(super) struct CallOperation;

#[async_trait]
impl Tool for CallOperation {
    fn definition(&self, cx: &Context) -> Definition {
        definitions::call_operation(cx)
    }

    async fn call(
        &self,
        cx: &Context,
        caller: &dyn Caller,
        arguments: &Map<String, Value>,
    ) -> Result<Content, ToolError> {
        run::run(cx, caller, task(cx, arguments)?, Mode::Read).await
    }
}
