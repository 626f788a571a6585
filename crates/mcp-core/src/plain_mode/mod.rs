//! Plain mode: the same reach for clients that cannot write code. One call is one operation, under
//! the policy, the plan and the limits of code mode.

mod call_operation;
mod call_operation_write;
mod definitions;

use serde_json::{Map, Value};

use crate::{
    code_mode::{
        run::Task,
        search::{Search, find},
    },
    context::Context,
    error::ToolError,
    tool::Tool,
};

pub(crate) use definitions::instructions;

/// The tools of plain mode that this context shows, in the order of `tools/list`.
pub(crate) fn tools(cx: &Context) -> Vec<Box<dyn Tool>> {
    let mut tools: Vec<Box<dyn Tool>> =
        vec![Box::new(Search), Box::new(call_operation::CallOperation)];
    if !cx.is_read_only() {
        tools.push(Box::new(call_operation_write::CallOperationWrite));
    }
    tools
}

/// The call that was asked for.
///
/// # Errors
/// Names an API that does not exist, and asks for one where there are several.
fn task(cx: &Context, arguments: &Map<String, Value>) -> Result<Task, ToolError> {
    let text = |name| arguments.get(name).and_then(Value::as_str);
    let api = match (text("api"), cx.apis.as_slice()) {
        (Some(name), _) => find(cx, name)?,
        (None, [only]) => only,
        (None, several) => {
            let names: Vec<_> =
                several.iter().map(|it| format!("`{}`", it.profile.binding)).collect();
            return Err(ToolError::user("`api` is missing: this server has several APIs")
                .hint(format!("the APIs are {}", names.join(", "))));
        }
    };
    let binding = cx.apis.iter().position(|it| std::sync::Arc::ptr_eq(it, api)).unwrap_or_default();
    let id = Value::from(text("operationId").unwrap_or_default());
    let given = arguments.get("arguments").cloned().unwrap_or_else(|| Value::Object(Map::new()));
    Ok(Task::Call { binding, arguments: Value::Array(vec![id, given]).to_string() })
}
