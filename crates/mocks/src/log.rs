//! The log: every request as it was received, answered and committed.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::http::Request;
use crate::table::{Row, Table, Tables};

/// One request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Counted from 1, in the order of commit.
    pub seq: u64,
    pub method: String,
    /// As received: still percent-encoded.
    pub path: String,
    /// As received, without the question mark.
    pub query: String,
    /// Lower-case names; the credential is masked.
    pub headers: Vec<(String, String)>,
    /// Parsed JSON, or the text; none when the body was empty.
    pub body: Option<Value>,
    /// The template that matched, with the API's base.
    pub route: Option<String>,
    /// What the handler decided; none when no handler ran.
    pub handler_status: Option<u16>,
    /// What was sent; 0 when the connection was reset.
    pub status: u16,
    /// The mock has no such route: the miss is the fixture's.
    pub unimplemented: bool,
    /// State changed.
    pub wrote: bool,
    pub diff: Vec<Change>,
    /// What the mock changed by itself meanwhile: a fault's doing, not the caller's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mutated: Vec<Change>,
    /// The fault that fired.
    pub fault: Option<String>,
    /// Milliseconds since the mock started.
    pub at_ms: u64,
    pub bytes_in: u64,
    /// Of the body that was sent.
    pub bytes: u64,
    /// The ids in a good answer that was sent whole: its own, or those of its rows.
    pub delivered: Vec<String>,
}

/// A change of state that was committed, whatever the caller was told about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Boundary {
    /// Counted from 1.
    pub seq: u64,
    /// The request that made the change, or that set off the fault that did.
    pub request_seq: u64,
    pub method: String,
    pub path: String,
    pub body: Option<Value>,
    pub handler_status: Option<u16>,
    pub sent_status: u16,
    /// Of the state after the change.
    pub state_hash: String,
    pub diff: Vec<Change>,
    pub fault: Option<String>,
    /// The mock changed its world by itself: the caller asked for nothing.
    pub by_fixture: bool,
}

/// A fault that struck.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Firing {
    pub fault: String,
    pub request_seq: u64,
    pub handler_status: Option<u16>,
    pub sent_status: u16,
    /// The request changed state although its answer went wrong.
    pub committed: bool,
}

impl Entry {
    pub(crate) fn of(request: &Request) -> Self {
        let headers = request.headers.iter().map(|(name, value)| {
            let value = String::from_utf8_lossy(value.as_bytes());
            let value = if name == "authorization" { mask(&value) } else { value.into_owned() };
            (name.as_str().to_owned(), value)
        });
        let body = (!request.body.is_empty()).then(|| {
            serde_json::from_slice(&request.body)
                .unwrap_or_else(|_| String::from_utf8_lossy(&request.body).into_owned().into())
        });
        Self {
            seq: 0,
            method: request.method.as_str().to_owned(),
            path: request.path.clone(),
            query: request.query.clone(),
            headers: headers.collect(),
            body,
            route: None,
            handler_status: None,
            status: 0,
            unimplemented: false,
            wrote: false,
            diff: Vec::new(),
            mutated: Vec::new(),
            fault: None,
            at_ms: 0,
            bytes_in: request.body.len() as u64,
            bytes: 0,
            delivered: Vec::new(),
        }
    }

    /// What a fault did to this request, if one struck.
    pub(crate) fn firing(&self) -> Option<Firing> {
        Some(Firing {
            fault: self.fault.clone()?,
            request_seq: self.seq,
            handler_status: self.handler_status,
            sent_status: self.status,
            committed: self.wrote,
        })
    }

    /// The first value of a query parameter, decoded.
    pub fn parameter(&self, name: &str) -> Option<String> {
        url::form_urlencoded::parse(self.query.as_bytes())
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.into_owned())
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Whether the method asks for a change, whatever came of it.
    pub fn asks_to_write(&self) -> bool {
        !matches!(self.method.as_str(), "GET" | "HEAD" | "OPTIONS")
    }
}

/// The ids in a JSON answer: its own, or those of its rows, in a list or in an envelope.
pub(crate) fn ids(body: &[u8]) -> Vec<String> {
    let Ok(answer) = serde_json::from_slice::<Value>(body) else { return Vec::new() };
    let id = |row: &Value| match row.get("id").or_else(|| row.get("pk")) {
        Some(Value::String(id)) => Some(id.clone()),
        Some(Value::Number(id)) => Some(id.to_string()),
        Some(_) | None => None,
    };
    let rows = answer.as_array().or_else(|| answer.get("results")?.as_array());
    match rows {
        Some(rows) => rows.iter().filter_map(id).collect(),
        None => id(&answer).into_iter().collect(),
    }
}

fn mask(authorization: &str) -> String {
    match authorization.split_once(' ') {
        Some((scheme, _)) => format!("{scheme} ***"),
        None => "***".to_owned(),
    }
}

/// One difference between two states; `path` is a JSON pointer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum Change {
    Add { path: String, to: Value },
    Remove { path: String, from: Value },
    Replace { path: String, from: Value, to: Value },
}

impl Change {
    pub fn path(&self) -> &str {
        match self {
            Self::Add { path, .. } | Self::Remove { path, .. } | Self::Replace { path, .. } => path,
        }
    }
}

/// The changes between two versions of the same tables, as paths into the exported state.
pub(crate) fn diff(from: &Tables<'_>, to: &Tables<'_>) -> Vec<Change> {
    let mut changes = Vec::new();
    for ((name, old), (_, new)) in from.iter().zip(to) {
        if !old.is_same(new) {
            compare_tables(name, old, new, &mut changes);
        }
    }
    changes
}

fn compare_tables(name: &str, old: &Table, new: &Table, changes: &mut Vec<Change>) {
    let (old, new) = (old.versions(), new.versions());
    let path = |key: &str| format!("/{name}/{}", escape(key));
    for (key, from) in old {
        match new.get(key) {
            Some(to) if Arc::ptr_eq(from, to) => {}
            Some(to) => compare_objects(&path(key), from, to, changes),
            None => {
                let from = Value::Object(Row::clone(from));
                changes.push(Change::Remove { path: path(key), from });
            }
        }
    }
    for (key, to) in new.iter().filter(|(key, _)| !old.contains_key(*key)) {
        let to = Value::Object(Row::clone(to));
        changes.push(Change::Add { path: path(key), to });
    }
}

fn compare(path: &str, from: &Value, to: &Value, changes: &mut Vec<Change>) {
    match (from, to) {
        _ if from == to => {}
        (Value::Object(old), Value::Object(new)) => compare_objects(path, old, new, changes),
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            for (index, (old, new)) in old.iter().zip(new).enumerate() {
                compare(&format!("{path}/{index}"), old, new, changes);
            }
        }
        _ => changes.push(Change::Replace {
            path: path.to_owned(),
            from: from.clone(),
            to: to.clone(),
        }),
    }
}

fn compare_objects(path: &str, old: &Row, new: &Row, changes: &mut Vec<Change>) {
    let below = |key: &str| format!("{path}/{}", escape(key));
    for (key, from) in old {
        match new.get(key) {
            Some(to) => compare(&below(key), from, to, changes),
            None => changes.push(Change::Remove { path: below(key), from: from.clone() }),
        }
    }
    for (key, to) in new.iter().filter(|(key, _)| !old.contains_key(*key)) {
        changes.push(Change::Add { path: below(key), to: to.clone() });
    }
}

/// A key as a segment of a JSON pointer.
fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::table::row;

    fn diff(from: &Value, to: &Value) -> Vec<Change> {
        let mut changes = Vec::new();
        compare("", from, to, &mut changes);
        changes
    }

    #[test]
    fn tables_are_compared_row_by_row() {
        let mut old = Table::default();
        for key in ["1", "2", "3"] {
            old.insert(key, row(json!({ "name": key })));
        }
        let mut new = old.clone();
        new.remove("1");
        new.insert("2", row(json!({ "name": "two" })));
        new.insert("4", row(json!({})));
        let changes = super::diff(&vec![("users", &old)], &vec![("users", &new)]);
        let expected = json!([
            { "op": "remove", "path": "/users/1", "from": { "name": "1" } },
            { "op": "replace", "path": "/users/2/name", "from": "2", "to": "two" },
            { "op": "add", "path": "/users/4", "to": {} },
        ]);
        assert_eq!(serde_json::to_value(changes).unwrap(), expected);
    }

    #[test]
    fn a_diff_names_each_changed_place_once() {
        let from = json!({ "users": { "7": { "active": true, "groups": ["a", "b"] }, "8": {} } });
        let to = json!({ "users": { "7": { "active": false, "groups": ["a", "c"] }, "x/y": {} } });
        let paths: Vec<String> =
            diff(&from, &to).iter().map(|change| change.path().to_owned()).collect();
        assert_eq!(paths, ["/users/7/active", "/users/7/groups/1", "/users/8", "/users/x~1y"]);
        assert_eq!(diff(&from, &from), []);
    }

    #[test]
    fn a_change_of_length_replaces_the_whole_list() {
        let change = diff(&json!([1, 2]), &json!([1]));
        let whole = Change::Replace { path: String::new(), from: json!([1, 2]), to: json!([1]) };
        assert_eq!(change, [whole]);
    }

    #[test]
    fn a_credential_is_masked_but_seen_to_be_there() {
        assert_eq!(mask("Bearer abc"), "Bearer ***");
        assert_eq!(mask("abc"), "***");
    }
}
