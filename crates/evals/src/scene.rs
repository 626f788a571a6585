//! What a check can ask: the states after every write, the requests, the answer.

use serde_json::{Map, Value};

use crate::answer::Rejection;
use crate::evidence::{Evidence, Request};
use crate::state::{self, State};
use crate::task::Task;

pub type Row = Map<String, Value>;
/// A check's outcome; the error says what was found.
pub type Outcome = Result<(), String>;

/// A trial, laid out for its checks.
#[derive(Debug)]
pub struct Scene<'a> {
    pub task: &'a Task,
    pub evidence: &'a Evidence,
    pub baseline: &'a State,
    /// The state after every write, the last one also that of the end.
    pub boundaries: Vec<State>,
    pub answer: Result<Row, Rejection>,
}

impl<'a> Scene<'a> {
    pub fn new(
        task: &'a Task,
        evidence: &'a Evidence,
        baseline: &'a State,
        answer: Result<Row, Rejection>,
    ) -> Self {
        let mut state = baseline.clone();
        let mut boundaries = Vec::new();
        for request in &evidence.requests {
            let changes = request.mutated.iter().chain(&request.diff);
            changes.for_each(|change| state.apply(change));
            if !request.diff.is_empty() {
                boundaries.push(state.clone());
            }
        }
        Self { task, evidence, baseline, boundaries, answer }
    }

    /// The state at the end.
    pub fn end(&self) -> &State {
        self.boundaries.last().unwrap_or(self.baseline)
    }

    /// The rows of a table at the start.
    pub fn before(&self, table: &str) -> impl Iterator<Item = &Row> {
        rows(self.baseline, table)
    }

    /// The rows of a table at the end.
    pub fn after(&self, table: &str) -> impl Iterator<Item = &Row> {
        rows(self.end(), table)
    }

    /// The row of the start whose column holds this text.
    ///
    /// # Errors
    /// There is none: the world is not the one the task was written for.
    pub fn known(&self, table: &str, column: &str, text: &str) -> Result<&Row, String> {
        let mut found = self.before(table).filter(|row| words(row, column) == text);
        found.next().ok_or_else(|| format!("the world has no `{text}` in `{table}`"))
    }

    /// The rows that are there at the end and were not at the start.
    pub fn added(&self, table: &str) -> Vec<&Row> {
        let old = self.baseline[table].as_object();
        let new = self.end()[table].as_object();
        let is_new = |key: &String| old.is_none_or(|old| !old.contains_key(key));
        let new = new.into_iter().flatten().filter(|(key, _)| is_new(key));
        new.filter_map(|(_, row)| row.as_object()).collect()
    }

    /// Holds a rule against the state after every write.
    pub fn always(&self, rule: impl Fn(&State) -> Outcome) -> Outcome {
        self.boundaries.iter().enumerate().try_for_each(|(at, state)| {
            rule(state).map_err(|what| format!("after write {}: {what}", at + 1))
        })
    }

    /// Rows of the start that must be as they were after every write.
    pub fn kept(&self, table: &str, which: impl Fn(&Row) -> bool) -> Outcome {
        let old = self.baseline[table].as_object();
        let watched: Vec<_> = old
            .into_iter()
            .flatten()
            .filter(|(_, row)| row.as_object().is_some_and(&which))
            .collect();
        self.always(|state| {
            watched.iter().try_for_each(|(key, row)| {
                let now = &state[table][key.as_str()];
                match state::diff(row, now).first() {
                    None => Ok(()),
                    Some(change) => Err(format!("`{table}` {key}: {}", shown(change))),
                }
            })
        })
    }

    /// A table that must have the rows it had, and no others, after every write.
    pub fn untouched(&self, table: &str) -> Outcome {
        self.always(|state| match state::diff(&self.baseline[table], &state[table]).first() {
            None => Ok(()),
            Some(change) => Err(format!("`{table}`: {}", shown(change))),
        })
    }

    /// The requests of a method to a template.
    pub fn asked(&self, method: &str, route: &str) -> impl Iterator<Item = &Request> {
        self.evidence.requests.iter().filter(move |it| it.is(method, route))
    }

    /// How often a fault struck.
    pub fn struck(&self, fault: &str) -> usize {
        let struck = self.evidence.requests.iter();
        struck.filter(|it| it.fault.as_deref() == Some(fault)).count()
    }

    /// The answer.
    ///
    /// # Errors
    /// There is none.
    pub fn said(&self) -> Result<&Row, String> {
        self.answer.as_ref().map_err(|reason| format!("no answer: {reason}"))
    }

    /// Whether the answer has this status.
    pub fn claims(&self, status: &str) -> bool {
        self.answer.as_ref().is_ok_and(|answer| words(answer, "status") == status)
    }
}

/// A change in a line, its values cut.
pub fn shown(change: &state::Change) -> String {
    let short = |value: &Value| {
        let text = value.to_string();
        match text.char_indices().nth(120) {
            Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
            None => text,
        }
    };
    match change {
        state::Change::Add { path, to } => format!("`{path}` is new: {}", short(to)),
        state::Change::Remove { path, .. } => format!("`{path}` is gone"),
        state::Change::Replace { path, from, to } => {
            format!("`{path}` was {} and is {}", short(from), short(to))
        }
    }
}

/// The rows of a table.
pub fn rows<'s>(state: &'s State, table: &str) -> impl Iterator<Item = &'s Row> {
    let table = state[table].as_object();
    table.into_iter().flat_map(Map::values).filter_map(Value::as_object)
}

/// A column's text; empty when it holds none.
pub fn words<'r>(row: &'r Row, column: &str) -> &'r str {
    row.get(column).and_then(Value::as_str).unwrap_or_default()
}

/// An id as decimal text, whether it came as text or as a number.
pub fn id(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Fails with both values when they differ.
pub fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Outcome {
    if found == expected {
        Ok(())
    } else {
        Err(format!("{what} is {found:?}, expected {expected:?}"))
    }
}

/// Compares named columns of a row.
pub fn columns(row: &Row, expected: &Value) -> Outcome {
    let expected = expected.as_object();
    expected.into_iter().flatten().try_for_each(|(column, expected)| {
        let found = row.get(column).unwrap_or(&Value::Null);
        if found == expected {
            Ok(())
        } else {
            Err(format!("`{column}` is {found}, expected {expected}"))
        }
    })
}

/// Fails unless a thing holds.
pub fn ensure(holds: bool, otherwise: impl Into<String>) -> Outcome {
    if holds { Ok(()) } else { Err(otherwise.into()) }
}
