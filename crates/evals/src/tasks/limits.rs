//! Rules that several tasks share: how much was read, said and tried.

use serde_json::Value;

use crate::scene::{Outcome, Row, Scene, ensure};

/// The size of every result of a tool.
pub(super) fn result_bytes(scene: &Scene<'_>) -> impl Iterator<Item = usize> {
    scene.evidence.tools.iter().map(|it| it.result.len())
}

/// No result of a tool is larger.
pub(super) fn no_result_above(scene: &Scene<'_>, limit: usize) -> Outcome {
    let largest = result_bytes(scene).max().unwrap_or_default();
    ensure(largest <= limit, format!("a result has {largest} bytes"))
}

/// No write was sent, refused or planned.
pub(super) fn nothing_written(scene: &Scene<'_>) -> Outcome {
    match scene.evidence.attempted_writes().first() {
        Some(write) => Err(format!("it tried to write: {write}")),
        None => Ok(()),
    }
}

/// A column, null where there is none.
pub(super) fn value<'r>(row: &'r Row, column: &str) -> &'r Value {
    row.get(column).unwrap_or(&Value::Null)
}
