//! The answer of `search`: the best operations as signatures, more as lines, in a byte budget.

use serde_json::{Map, Value, json};

use crate::{
    context::Api,
    openapi::{self, Depth, Summary, source::Loaded},
};

use super::policy::{Access, effect_of};

/// How much an answer shows of each operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// One line each.
    Brief,
    /// The five best as signatures, the rest as lines.
    Signature,
    /// Every one in full, as far as the budget goes.
    Full,
}

impl Detail {
    /// The words of the `detail` argument.
    pub const NAMES: &'static [&'static str] = &["brief", "signature", "full"];

    /// Reads the `detail` argument.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "brief" => Some(Self::Brief),
            "signature" => Some(Self::Signature),
            "full" => Some(Self::Full),
            _ => None,
        }
    }
}

/// How many operations are shown as signatures by default.
const SIGNATURES: usize = 5;
/// Bytes for all signatures of a default answer; the rest of the answer is lines.
const SIGNATURE_BUDGET: usize = 5_000;
/// Bytes no signature is cut below, so that even the fifth says something.
const SIGNATURE_FLOOR: usize = 600;
/// Bytes of an answer in full detail.
const FULL_BUDGET: usize = 24_000;
/// Rows of one step of `api.operations`.
const OPERATIONS_STEP: usize = 500;

/// The operations a caller may know of, best match first, by number in the document, and how many
/// matched in all.
fn granted(api: &Api, loaded: &Loaded, access: &Access, query: &str) -> (Vec<usize>, usize) {
    let results = loaded.index.search(query);
    let found = results.hits.len();
    let summaries = loaded.document.summaries();
    let hits: Vec<usize> = results
        .hits
        .into_iter()
        .map(|hit| hit.entry)
        .filter(|&index| summaries.get(index).is_some_and(|it| is_granted(api, access, it)))
        .collect();
    // What is not granted does not count; beyond the hits that came back nobody has looked.
    let refused = found - hits.len();
    let matched = results.matched.saturating_sub(refused).max(usize::from(!hits.is_empty()));
    (hits, matched)
}

fn is_granted(api: &Api, access: &Access, summary: &Summary) -> bool {
    api.refuses(access, summary, effect_of(summary, &api.profile)).is_none()
}

/// Answers a query of the `search` tool.
pub fn answer(
    api: &Api,
    loaded: &Loaded,
    access: &Access,
    query: &str,
    limit: usize,
    detail: Detail,
) -> Value {
    let query = query.trim();
    if query.is_empty() {
        return overview(api, loaded, access);
    }
    if let Some(text) = exact(api, loaded, access, query) {
        return json!({ "exact": text });
    }
    let (hits, matched) = granted(api, loaded, access, query);
    if hits.is_empty() {
        return nothing_found(loaded, query);
    }
    let document = &loaded.document;
    let shown = &hits[..hits.len().min(limit)];
    let mut signatures = Vec::new();
    let (count, budget) = match detail {
        Detail::Brief => (0, 0),
        Detail::Signature => (SIGNATURES, SIGNATURE_BUDGET),
        Detail::Full => (shown.len(), FULL_BUDGET),
    };
    let mut left = budget;
    for &index in shown.iter().take(count) {
        if left == 0 && detail == Detail::Full {
            break;
        }
        // The first may take half of what is left, and so on: the budget is spent by rank.
        let allowance = (left / 2).max(SIGNATURE_FLOOR);
        let text = match detail {
            Detail::Full => openapi::full(document, index),
            Detail::Brief | Detail::Signature => {
                openapi::signature(document, index, Depth { bytes: allowance, ..Depth::default() })
            }
        };
        left = left.saturating_sub(text.len());
        signatures.push(text);
    }
    let lines: Vec<String> = shown
        .iter()
        .skip(signatures.len())
        .filter_map(|&index| document.summaries().get(index))
        .map(openapi::line)
        .collect();
    let mut answer = Map::new();
    answer.insert("matched".to_owned(), json!(matched));
    if !signatures.is_empty() {
        answer.insert("operations".to_owned(), json!(signatures));
    }
    if !lines.is_empty() {
        answer.insert("more".to_owned(), json!(lines));
    }
    Value::Object(answer)
}

/// The full signature of an exact operationId, `METHOD /path` or `schema:Name`.
pub(super) fn exact(api: &Api, loaded: &Loaded, access: &Access, query: &str) -> Option<String> {
    let document = &loaded.document;
    if let Some(name) = query.strip_prefix("schema:") {
        return openapi::schema(document, name.trim(), 4);
    }
    let index = document.find_id(query).or_else(|| {
        let (method, path) = query.split_once(char::is_whitespace)?;
        document.route(method, path.trim()).ok().map(|it| it.operation)
    })?;
    is_granted(api, access, document.summaries().get(index)?)
        .then(|| openapi::full(document, index))
}

/// What an empty query is answered with: what this API is, by its tags.
fn overview(api: &Api, loaded: &Loaded, access: &Access) -> Value {
    let document = &loaded.document;
    let mut tags: indexmap::IndexMap<&str, usize> = indexmap::IndexMap::new();
    let mut operations = 0;
    for summary in document.summaries().iter().filter(|it| is_granted(api, access, it)) {
        operations += 1;
        for tag in &summary.tags {
            *tags.entry(tag).or_default() += 1;
        }
    }
    tags.sort_by(|_, a, _, b| b.cmp(a));
    let mut overview = json!({
        "api": api.profile.title,
        "document": format!("{} {}", document.title(), document.version()),
        "base": api.transport.base_url().as_str(),
        "operations": operations,
        "tags": tags,
    });
    let skipped = document.skipped();
    if !skipped.is_empty() {
        let named: Vec<_> =
            skipped.iter().take(5).map(|it| format!("{}: {}", it.place, it.reason)).collect();
        overview["skipped"] = json!({ "count": skipped.len(), "first": named });
    }
    overview
}

fn nothing_found(loaded: &Loaded, query: &str) -> Value {
    let words = loaded.index.nearest_words(query, 8);
    json!({
        "matched": 0,
        "hint": "no operation matches: try other words, or look through a tag",
        "nearest": words,
        "tags": loaded.document.tags().iter().take(20).map(|(tag, _)| tag).collect::<Vec<_>>(),
    })
}

/// What `api.search` answers inside a script.
pub(super) fn rows(
    api: &Api,
    loaded: &Loaded,
    access: &Access,
    query: &str,
    limit: usize,
) -> Vec<Value> {
    let document = &loaded.document;
    let (hits, _) = granted(api, loaded, access, query);
    hits.into_iter()
        .take(limit)
        .filter_map(|index| {
            let summary = document.summaries().get(index)?;
            Some(json!({
                "id": summary.id,
                "method": summary.method.as_str(),
                "path": summary.path,
                "summary": summary.summary,
                "signature": openapi::signature(document, index, Depth::default()),
            }))
        })
        .collect()
}

/// One step of `api.operations`: rows of id, method, path, summary, tags.
pub(super) fn operations(api: &Api, loaded: &Loaded, access: &Access, offset: usize) -> Value {
    let summaries = loaded.document.summaries();
    let end = offset.saturating_add(OPERATIONS_STEP).min(summaries.len());
    let rows: Vec<_> = summaries
        .get(offset..end)
        .unwrap_or_default()
        .iter()
        .filter(|it| is_granted(api, access, it))
        .map(|it| json!([it.id, it.method.as_str(), it.path, it.summary, it.tags]))
        .collect();
    json!({ "rows": rows, "next": (end < summaries.len()).then_some(end) })
}
