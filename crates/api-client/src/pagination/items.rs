//! Where a page keeps its items, and how many there are in all.

use serde_json::{Map, Value};

/// The items of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Items<'a> {
    /// The keys that lead to them; empty if the body itself is the array.
    pub path: Vec<&'a str>,
    /// The items.
    pub items: &'a [Value],
}

/// Finds the items of a page: the body itself, an array under a customary name, or the only array
/// of the body (or of the object under `data`, `result` or `_embedded`).
#[must_use]
pub fn items_of(body: &Value) -> Option<Items<'_>> {
    match body {
        Value::Array(items) => Some(Items { path: Vec::new(), items }),
        Value::Object(fields) => inside(fields).or_else(|| {
            WRAPPERS.iter().find_map(|wrapper| {
                let (key, value) = fields.get_key_value(*wrapper)?;
                let mut items = inside(value.as_object()?)?;
                items.path.insert(0, key);
                Some(items)
            })
        }),
        _ => None,
    }
}

const NAMES: &[&str] = &[
    "results", "items", "data", "values", "entries", "value", "records", "elements", "rows",
    "result",
];

const WRAPPERS: &[&str] = &["data", "result", "_embedded", "response"];

fn inside(fields: &Map<String, Value>) -> Option<Items<'_>> {
    let arrays: Vec<Items<'_>> = fields
        .iter()
        .filter_map(|(key, value)| {
            let Value::Array(items) = value else { return None };
            Some(Items { path: vec![key.as_str()], items })
        })
        .collect();
    let named = NAMES.iter().find_map(|name| arrays.iter().find(|it| it.path == [*name]));
    let of_objects = || arrays.iter().filter(|it| it.items.iter().any(Value::is_object));
    named.or_else(|| only(arrays.iter())).or_else(|| only(of_objects())).cloned()
}

fn only<T>(mut candidates: impl Iterator<Item = T>) -> Option<T> {
    let first = candidates.next()?;
    candidates.next().is_none().then_some(first)
}

/// Finds the number of items on all pages together.
#[must_use]
pub fn total_of(headers: &[(String, String)], body: &Value) -> Option<u64> {
    certain_total(headers, body).or_else(|| {
        // `count` is the total beside `next`, elsewhere it may be the length of the page.
        body.get("next")?;
        number(body.get("count")?)
    })
}

/// A total that cannot be mistaken for the length of a page.
pub(super) fn certain_total(headers: &[(String, String)], body: &Value) -> Option<u64> {
    let header = headers
        .iter()
        .find(|(name, _)| matches!(name.as_str(), "x-total-count" | "x-total" | "x-hits"))
        .and_then(|(_, value)| value.trim().parse().ok());
    header.or_else(|| TOTALS.iter().find_map(|pointer| number(body.pointer(pointer)?)))
}

const TOTALS: &[&str] = &[
    "/pagination/count",
    "/pagination/total",
    "/pagination/total_count",
    "/meta/pagination/total",
    "/meta/total",
    "/meta/total_count",
    "/total_count",
    "/totalCount",
    "/total",
    "/total/value",
    "/total_results",
    "/totalResults",
    "/totalItems",
    "/totalElements",
    "/page/totalElements",
    "/result_info/total_count",
    "/@odata.count",
];

fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}
