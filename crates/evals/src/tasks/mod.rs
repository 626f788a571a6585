//! The tasks, one file each.

mod alert;
mod dashboard;
mod monitor;
mod release;
mod release_recovery;
mod repositories;
mod repositories_denied;
mod repositories_retry;

use serde_json::{Value, json};

use crate::task::Task;

/// All tasks, in the order of reports.
pub static ALL: &[&Task] = &[
    &dashboard::TASK,
    &release::TASK,
    &repositories::TASK,
    &alert::TASK,
    &monitor::TASK,
    &release_recovery::TASK,
    &repositories_retry::TASK,
    &repositories_denied::TASK,
];

/// The task of this name.
pub fn find(name: &str) -> Option<&'static Task> {
    ALL.iter().copied().find(|task| task.name == name)
}

/// Arguments of `call_operation`, in the organization all tasks are about.
fn operation(id: &str, mut arguments: Value) -> Value {
    arguments["organization_id_or_slug"] = "harbor-lantern".into();
    json!({ "operationId": id, "arguments": arguments })
}

/// What the call number `at` answered.
fn data(past: &[Value], at: usize) -> &Value {
    past.get(at).map_or(&Value::Null, |it| &it["data"])
}

/// The item of a list whose field holds this text.
fn named<'v>(list: &'v Value, field: &str, text: &str) -> &'v Value {
    let mut items = list.as_array().into_iter().flatten();
    items.find(|it| it[field] == text).unwrap_or(&Value::Null)
}
