//! Changes of state by other hands than a request's: worlds made to measure, rows that move.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::engine::State;
use crate::table::{Row, Table};

/// One change of stored rows. A table that does not exist is an error, no rows that match are not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub enum Edit {
    Insert {
        table: String,
        key: String,
        row: Map<String, Value>,
    },
    Update {
        table: String,
        /// Columns and what they hold; nothing meets every row.
        #[serde(default, rename = "where")]
        which: Map<String, Value>,
        set: Map<String, Value>,
    },
    Remove {
        table: String,
        #[serde(default, rename = "where")]
        which: Map<String, Value>,
    },
}

impl Edit {
    fn table(&self) -> &str {
        match self {
            Self::Insert { table, .. }
            | Self::Update { table, .. }
            | Self::Remove { table, .. } => table,
        }
    }
}

/// Applies all of them, or none when one names an unknown table.
pub(crate) fn apply<S: State>(state: &mut S, edits: &[Edit]) -> Result<(), String> {
    let mut next = state.clone();
    for edit in edits {
        let name = edit.table();
        let Some(table) = next.table(name) else { return Err(format!("no table `{name}`")) };
        edit_table(table, edit);
    }
    *state = next;
    Ok(())
}

fn edit_table(table: &mut Table, edit: &Edit) {
    match edit {
        Edit::Insert { key, row, .. } => table.insert(key, row.clone()),
        Edit::Update { which, set, .. } => {
            for row in table.rows_mut().filter(|row| meets(row, which)) {
                row.extend(set.clone());
            }
        }
        Edit::Remove { which, .. } => table.retain(|row| !meets(row, which)),
    }
}

fn meets(row: &Row, which: &Map<String, Value>) -> bool {
    which.iter().all(|(column, value)| row.get(column) == Some(value))
}
