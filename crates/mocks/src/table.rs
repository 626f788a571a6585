//! Rows of state: JSON objects by key, shared between versions until one of them changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

/// One stored row: raw columns, not an API view.
pub(crate) type Row = Map<String, Value>;

/// The named tables of a state, in a fixed order.
pub(crate) type Tables<'s> = Vec<(&'static str, &'s Table)>;

/// Rows by key; a copy costs nothing until it is changed, so every write can work on one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table(Arc<BTreeMap<String, Arc<Row>>>);

impl Table {
    pub(crate) fn insert(&mut self, key: impl ToString, row: Row) {
        self.own().insert(key.to_string(), Arc::new(row));
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Row> {
        self.0.get(key).map(Arc::as_ref)
    }

    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Row> {
        if self.0.contains_key(key) { self.own().get_mut(key).map(Arc::make_mut) } else { None }
    }

    /// Does nothing when there is no such row.
    pub(crate) fn remove(&mut self, key: &str) {
        self.own().remove(key);
    }

    pub(crate) fn retain(&mut self, keep: impl Fn(&Row) -> bool) {
        self.own().retain(|_, row| keep(row));
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = &Row> {
        self.0.values().map(Arc::as_ref)
    }

    pub(crate) fn rows_mut(&mut self) -> impl Iterator<Item = &mut Row> {
        self.own().values_mut().map(Arc::make_mut)
    }

    fn own(&mut self) -> &mut BTreeMap<String, Arc<Row>> {
        Arc::make_mut(&mut self.0)
    }

    /// Whether both are the same version, so that nothing in them can differ.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The stored versions by key: the same pointer means the same row.
    pub(crate) fn versions(&self) -> &BTreeMap<String, Arc<Row>> {
        &self.0
    }

    pub(crate) fn export(&self) -> Value {
        let rows = self.0.iter();
        rows.map(|(key, row)| (key.clone(), Value::Object(Row::clone(row)))).collect()
    }

    /// The row whose column holds exactly this text.
    pub(crate) fn find(&self, column: &str, text: &str) -> Option<&Row> {
        self.rows().find(|row| row.text(column) == text)
    }
}

/// Reading a column; a column that is absent or of another type reads as empty.
pub(crate) trait Columns {
    fn text(&self, column: &str) -> &str;
    fn integer(&self, column: &str) -> i64;
    fn truth(&self, column: &str) -> bool;
    fn list(&self, column: &str) -> &[Value];
    fn value(&self, column: &str) -> Value;
    /// Puts a column; reads better than an insert whose old value is dropped.
    fn set(&mut self, column: &str, value: impl Into<Value>);
    /// The named columns, in that order.
    fn only(&self, columns: &[&str]) -> Row;
}

impl Columns for Row {
    fn text(&self, column: &str) -> &str {
        self.get(column).and_then(Value::as_str).unwrap_or_default()
    }

    fn integer(&self, column: &str) -> i64 {
        self.get(column).and_then(Value::as_i64).unwrap_or_default()
    }

    fn truth(&self, column: &str) -> bool {
        self.get(column).and_then(Value::as_bool).unwrap_or_default()
    }

    fn list(&self, column: &str) -> &[Value] {
        self.get(column).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    fn value(&self, column: &str) -> Value {
        self.get(column).cloned().unwrap_or_default()
    }

    fn set(&mut self, column: &str, value: impl Into<Value>) {
        self.insert(column.to_owned(), value.into());
    }

    fn only(&self, columns: &[&str]) -> Row {
        columns.iter().map(|column| ((*column).to_owned(), self.value(column))).collect()
    }
}

/// A JSON literal that is an object, as a row.
pub(crate) fn row(value: Value) -> Row {
    match value {
        Value::Object(row) => row,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Row::new()
        }
    }
}
