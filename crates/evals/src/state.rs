//! Exported states of a world: hashes, changes between them, and patterns over their paths.

use std::collections::BTreeMap;
use std::ops::Index;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

/// One difference between two states; `path` is a JSON pointer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
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

/// Writes JSON with sorted keys and no whitespace: equal values, equal bytes.
fn canonical(value: &Value, sink: &mut dyn FnMut(&[u8])) {
    match value {
        Value::Object(fields) => {
            let mut pairs: Vec<_> = fields.iter().collect();
            pairs.sort_unstable_by_key(|(key, _)| key.as_str());
            for (at, (key, value)) in pairs.into_iter().enumerate() {
                sink(if at == 0 { b"{" } else { b"," });
                sink(Value::from(key.as_str()).to_string().as_bytes());
                sink(b":");
                canonical(value, sink);
            }
            sink(if fields.is_empty() { b"{}" } else { b"}" });
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                sink(if at == 0 { b"[" } else { b"," });
                canonical(item, sink);
            }
            sink(if items.is_empty() { b"[]" } else { b"]" });
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            sink(value.to_string().as_bytes());
        }
    }
}

/// SHA-256 of the canonical JSON.
pub fn hash(value: &Value) -> String {
    let mut digest = Sha256::new();
    canonical(value, &mut |bytes| digest.update(bytes));
    in_hex(&digest.finalize())
}

/// SHA-256 of some bytes, in hex.
pub fn hex(bytes: &[u8]) -> String {
    in_hex(&Sha256::digest(bytes))
}

fn in_hex(digest: &[u8]) -> String {
    use std::fmt::Write as _;
    digest.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").ok();
        text
    })
}

/// Carries a change out; one that does not fit is left out, which a comparison of hashes shows.
pub fn apply(state: &mut Value, change: &Change) {
    change_at(state, change.path(), change);
}

fn change_at(root: &mut Value, path: &str, change: &Change) {
    let Some((parent, key)) = path.rsplit_once('/') else { return };
    let key = unescape(key);
    match (root.pointer_mut(parent), change) {
        (Some(Value::Object(fields)), Change::Add { to, .. } | Change::Replace { to, .. }) => {
            fields.insert(key, to.clone());
        }
        (Some(Value::Object(fields)), Change::Remove { .. }) => {
            fields.shift_remove(&key);
        }
        (Some(Value::Array(items)), Change::Replace { to, .. }) => {
            let item = key.parse().ok().and_then(|at: usize| items.get_mut(at));
            if let Some(item) = item {
                *item = to.clone();
            }
        }
        _ => {}
    }
}

/// The tables of a world, without the columns that move by themselves: those say nothing of what an
/// agent did. Copies share what does not change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State(BTreeMap<String, Arc<Value>>);

impl State {
    /// Reads an exported state.
    pub fn new(export: &Value) -> Self {
        let tables = export.as_object().into_iter().flatten();
        let settled = tables.map(|(name, table)| {
            let mut table = table.clone();
            for row in table.as_object_mut().into_iter().flat_map(Map::values_mut) {
                settle(name, row);
            }
            (name.clone(), Arc::new(table))
        });
        Self(settled.collect())
    }

    pub fn apply(&mut self, change: &Change) {
        let mut segments = change.path().splitn(3, '/').skip(1);
        let (Some(name), Some(rest)) = (segments.next(), segments.next()) else { return };
        let Some(table) = self.0.get_mut(name) else { return };
        let table = Arc::make_mut(table);
        change_at(table, &format!("/{rest}"), change);
        let key = unescape(rest.split('/').next().unwrap_or_default());
        if let Some(row) = table.get_mut(key) {
            settle(name, row);
        }
    }

    /// The tables by name.
    pub fn tables(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, table)| (name.as_str(), &**table))
    }
}

impl Index<&str> for State {
    type Output = Value;

    /// A table; null when there is none of that name.
    fn index(&self, name: &str) -> &Value {
        self.0.get(name).map_or(&Value::Null, Arc::as_ref)
    }
}

/// What is different between two states.
pub fn changes(from: &State, to: &State) -> Vec<Change> {
    let mut changes = Vec::new();
    for (name, old) in &from.0 {
        match to.0.get(name) {
            Some(new) if Arc::ptr_eq(old, new) => {}
            new => {
                let new = new.map_or(&Value::Null, Arc::as_ref);
                compare(&format!("/{name}"), old, new, &mut changes);
            }
        }
    }
    changes
}

/// What is different, as paths; lists of equal length item by item.
pub fn diff(from: &Value, to: &Value) -> Vec<Change> {
    let mut changes = Vec::new();
    compare("", from, to, &mut changes);
    changes
}

fn compare(path: &str, from: &Value, to: &Value, changes: &mut Vec<Change>) {
    match (from, to) {
        _ if from == to => {}
        (Value::Object(old), Value::Object(new)) => {
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
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            for (at, (from, to)) in old.iter().zip(new).enumerate() {
                compare(&format!("{path}/{at}"), from, to, changes);
            }
        }
        _ => changes.push(Change::Replace {
            path: path.to_owned(),
            from: from.clone(),
            to: to.clone(),
        }),
    }
}

fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn unescape(segment: &str) -> String {
    segment.replace("~1", "/").replace("~0", "~")
}

/// Columns that move by themselves.
const VOLATILE: [(&str, &str); 9] = [
    ("dashboards", "last_visited"),
    ("dashboards", "visits"),
    ("releases", "last_deploy"),
    ("releases", "total_deploys"),
    ("workflows", "date_updated"),
    ("detectors", "date_updated"),
    ("environments", "last_checkin"),
    ("environments", "next_checkin"),
    ("environments", "next_checkin_latest"),
];

fn settle(table: &str, row: &mut Value) {
    let Some(row) = row.as_object_mut() else { return };
    for (_, column) in VOLATILE.iter().filter(|(name, _)| *name == table) {
        row.shift_remove(*column);
    }
    if table == "monitors" {
        let environments = row.get_mut("environments").and_then(Value::as_array_mut);
        environments.into_iter().flatten().for_each(|it| settle("environments", it));
    }
}

/// Whether a pattern covers the path of a change.
///
/// Segments: `*` any one, `**` any rest, `+` a row that the baseline does not have,
/// `[column=text]` the row of the baseline whose column holds that text.
pub fn covers(pattern: &str, path: &str, baseline: &State) -> bool {
    let wanted: Vec<&str> = split(pattern);
    let found: Vec<String> = path.split('/').skip(1).map(unescape).collect();
    let mut table = &Value::Null;
    for (at, segment) in wanted.iter().enumerate() {
        if *segment == "**" {
            return true;
        }
        let Some(key) = found.get(at) else { return false };
        let row = if at == 0 { Some(&baseline[key.as_str()]) } else { table.get(key) };
        let fits = match segment.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
            Some(selector) => selector.split_once('=').is_some_and(|(column, text)| {
                row.and_then(|row| row.get(column)).is_some_and(|it| it.as_str() == Some(text))
            }),
            None => match *segment {
                "*" => true,
                "+" => row.is_none(),
                plain => plain == key,
            },
        };
        if !fits {
            return false;
        }
        table = row.unwrap_or(&Value::Null);
    }
    wanted.len() == found.len()
}

/// The segments of a pattern; a slash inside brackets does not count.
fn split(pattern: &str) -> Vec<&str> {
    let mut inside = false;
    let parts = pattern.split(move |it: char| {
        inside = match it {
            '[' => true,
            ']' => false,
            _ => inside,
        };
        it == '/' && !inside
    });
    parts.skip(1).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_order_of_keys_does_not_change_a_hash() {
        let left = json!({ "a": { "x": 1, "y": [1, { "b": 2, "a": 1 }] }, "b": null });
        let right = json!({ "b": null, "a": { "y": [1, { "a": 1, "b": 2 }], "x": 1 } });
        assert_eq!(hash(&left), hash(&right));
        assert_ne!(hash(&left), hash(&json!({ "a": {}, "b": null })));
        let text = r#"{"a":{"x":1,"y":[1,{"a":1,"b":2}]},"b":null}"#;
        assert_eq!(hash(&right), hex(text.as_bytes()));
    }

    #[test]
    fn a_state_and_its_changes_give_the_next_state() {
        let from = json!({ "t": { "1": { "a": [1, 2], "b/c": 1, "gone": 0 }, "2": {} } });
        let to = json!({ "t": { "1": { "a": [1, 3], "b/c": 2, "new": {} }, "3": { "x": 1 } } });
        let mut state = from.clone();
        for change in diff(&from, &to) {
            apply(&mut state, &change);
        }
        assert_eq!(hash(&state), hash(&to));
        assert!(diff(&to, &to).is_empty());
        let mut tables = State::new(&from);
        for change in diff(&from, &to) {
            tables.apply(&change);
        }
        assert_eq!(changes(&tables, &State::new(&to)), []);
        assert_eq!(changes(&State::new(&from), &tables).len(), diff(&from, &to).len());
    }

    #[test]
    fn patterns_name_rows_by_what_they_hold_or_as_new() {
        let baseline = json!({ "workflows": { "7": { "name": "A/B", "config": { "n": 1 } } } });
        let baseline = State::new(&baseline);
        for (pattern, path, covered) in [
            ("/workflows/[name=A/B]/config/n", "/workflows/7/config/n", true),
            ("/workflows/[name=A/B]/config/n", "/workflows/7/name", false),
            ("/workflows/[name=C]/**", "/workflows/7/name", false),
            ("/workflows/+/**", "/workflows/8", true),
            ("/workflows/+/**", "/workflows/8/name", true),
            ("/workflows/+/**", "/workflows/7/name", false),
            ("/workflows/*/name", "/workflows/7/name", true),
            ("/workflows/*", "/workflows/7/name", false),
            ("/workflows/7/name", "/workflows/7", false),
        ] {
            assert_eq!(covers(pattern, path, &baseline), covered, "{pattern} {path}");
        }
    }

    #[test]
    fn what_moves_by_itself_is_left_out() {
        let state = State::new(&json!({
            "releases": { "1": { "version": "a", "total_deploys": 2 } },
            "monitors": { "2": { "environments": [{ "name": "p", "next_checkin": "…" }] } },
        }));
        assert_eq!(state["releases"], json!({ "1": { "version": "a" } }));
        assert_eq!(state["monitors"], json!({ "2": { "environments": [{ "name": "p" }] } }));
        assert_eq!(state["teams"], Value::Null);
        let path = "/releases/1/total_deploys".to_owned();
        let mut next = state.clone();
        next.apply(&Change::Add { path, to: json!(3) });
        assert_eq!(changes(&state, &next), []);
    }
}
