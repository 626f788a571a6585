//! Exported states of a world: hashes, changes between them, and patterns over their paths.

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

/// JSON with sorted keys and no whitespace: equal values, equal text.
pub fn canonical(value: &Value) -> String {
    sorted(value).to_string()
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut pairs: Vec<_> = fields.iter().collect();
            pairs.sort_by_key(|(key, _)| key.as_str());
            pairs.into_iter().map(|(key, value)| (key.clone(), sorted(value))).collect()
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// SHA-256 of the canonical text.
pub fn hash(value: &Value) -> String {
    hex(canonical(value).as_bytes())
}

/// SHA-256 of some bytes, in hex.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").ok();
        text
    })
}

/// Carries a change out; one that does not fit is left out, which a comparison of hashes shows.
pub fn apply(state: &mut Value, change: &Change) {
    let Some((parent, key)) = change.path().rsplit_once('/') else { return };
    let key = unescape(key);
    match (state.pointer_mut(parent), change) {
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

/// Columns that move by themselves: they say nothing of what an agent did.
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

/// A state without the columns that move by themselves.
#[must_use]
pub fn settled(mut state: Value) -> Value {
    let Some(tables) = state.as_object_mut() else { return state };
    for (name, table) in tables {
        for row in table.as_object_mut().into_iter().flat_map(Map::values_mut) {
            settle(name, row);
            for environment in row["environments"].as_array_mut().into_iter().flatten() {
                settle("environments", environment);
            }
        }
    }
    state
}

fn settle(table: &str, row: &mut Value) {
    let Some(row) = row.as_object_mut() else { return };
    for (_, column) in VOLATILE.iter().filter(|(name, _)| *name == table) {
        row.shift_remove(*column);
    }
}

/// Whether a pattern covers the path of a change.
///
/// Segments: `*` any one, `**` any rest, `+` a row that the baseline does not have,
/// `[column=text]` the row of the baseline whose column holds that text.
pub fn covers(pattern: &str, path: &str, baseline: &Value) -> bool {
    let wanted: Vec<&str> = split(pattern);
    let found: Vec<String> = path.split('/').skip(1).map(unescape).collect();
    let mut table = baseline;
    for (at, segment) in wanted.iter().enumerate() {
        if *segment == "**" {
            return true;
        }
        let Some(key) = found.get(at) else { return false };
        let row = table.get(key);
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
        assert_eq!(canonical(&right), r#"{"a":{"x":1,"y":[1,{"a":1,"b":2}]},"b":null}"#);
    }

    #[test]
    fn a_state_and_its_changes_give_the_next_state() {
        let from = json!({ "t": { "1": { "a": [1, 2], "b/c": 1, "gone": 0 }, "2": {} } });
        let to = json!({ "t": { "1": { "a": [1, 3], "b/c": 2, "new": {} }, "3": { "x": 1 } } });
        let mut state = from.clone();
        for change in diff(&from, &to) {
            apply(&mut state, &change);
        }
        assert_eq!(canonical(&state), canonical(&to));
        assert!(diff(&to, &to).is_empty());
    }

    #[test]
    fn patterns_name_rows_by_what_they_hold_or_as_new() {
        let baseline = json!({ "workflows": { "7": { "name": "A/B", "config": { "n": 1 } } } });
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
        let state = json!({
            "releases": { "1": { "version": "a", "total_deploys": 2 } },
            "monitors": { "2": { "environments": [{ "name": "p", "next_checkin": "…" }] } },
        });
        let expected = json!({
            "releases": { "1": { "version": "a" } },
            "monitors": { "2": { "environments": [{ "name": "p" }] } },
        });
        assert_eq!(settled(state), expected);
    }
}
