//! The evidence of performance issues: repeated queries, slow spans, and whatever else was found.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use super::sheet::{Sheet, items, short, shorten, text};
use super::span::{Span, tree};

/// Types of occurrences, by Sentry's numbers.
const N_PLUS_ONE: [u64; 2] = [1_006, 1_906];
const SLOW_DATABASE: u64 = 1_001;
/// The most spans of the tree, and the most different queries.
const MOST_SPANS: usize = 10;
const MOST_QUERIES: usize = 8;

/// The evidence, with the spans it is about.
pub(super) fn evidence(sheet: &mut Sheet, occurrence: &Value, spans: &[Span]) {
    let Some(data) = occurrence.get("evidenceData").filter(|it| it.is_object()) else {
        return display(sheet, occurrence);
    };
    let kind = occurrence.get("type").and_then(Value::as_u64);
    let offenders = ids(data, "offenderSpanIds");
    if kind.is_some_and(|it| N_PLUS_ONE.contains(&it)) {
        sheet.section("N+1 queries");
        sheet.fact("Transaction", text(data, "transactionName"));
        sheet.fact("Parent", text(data, "parentSpan").or_else(|| text(data, "parent_span")));
        repeated(sheet, data, &offenders, spans);
    } else if kind == Some(SLOW_DATABASE) {
        sheet.section("Slow query");
        sheet.fact("Transaction", text(data, "transactionName"));
        for span in spans.iter().filter(|it| offenders.contains(it.id.as_str())).take(MOST_QUERIES)
        {
            sheet.line(span.label());
        }
    }
    display(sheet, occurrence);
    let wanted: HashSet<&str> = ["parentSpanIds", "causeSpanIds", "offenderSpanIds"]
        .into_iter()
        .flat_map(|key| ids(data, key))
        .collect();
    sheet.section("Spans");
    if spans.iter().any(|it| wanted.contains(it.id.as_str())) {
        tree(sheet, spans, &wanted, MOST_SPANS);
    }
}

fn ids<'e>(data: &'e Value, key: &str) -> HashSet<&'e str> {
    items(data, key).iter().filter_map(Value::as_str).collect()
}

/// The queries that were repeated, each with how often: counted, or as the detector says.
fn repeated(sheet: &mut Sheet, data: &Value, offenders: &HashSet<&str>, spans: &[Span]) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for span in spans.iter().filter(|it| offenders.contains(it.id.as_str())) {
        *counts.entry(span.description.as_deref().unwrap_or("no description")).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    sheet.line("Repeated:");
    if counts.is_empty() {
        let count = data.get("numRepeatingSpans").map(|it| short(it, 20));
        let count = count.unwrap_or_else(|| offenders.len().to_string());
        let compact = items(data, "repeatingSpansCompact");
        let queries = if compact.is_empty() { items(data, "repeatingSpans") } else { compact };
        match (queries, text(data, "repeatingSpans")) {
            ([], Some(query)) => sheet.line(format!("  {count} × {}", shorten(query, 300))),
            ([], None) => sheet.line(format!("  {count} × a query that is not known")),
            (queries, _) => {
                for query in queries.iter().take(MOST_QUERIES) {
                    sheet.line(format!("  {count} × {}", short(query, 300)));
                }
            }
        }
        return;
    }
    for (query, count) in counts.iter().take(MOST_QUERIES) {
        sheet.line(format!("  {count} × {}", shorten(query, 300)));
    }
    if counts.len() > MOST_QUERIES {
        sheet.line(format!("  … {} more queries", counts.len() - MOST_QUERIES));
    }
}

/// What the detector itself puts on its page; the important first.
fn display(sheet: &mut Sheet, occurrence: &Value) {
    sheet.section("Evidence");
    let shown = items(occurrence, "evidenceDisplay");
    let is_important = |it: &&Value| it.get("important").and_then(Value::as_bool).unwrap_or(false);
    let important = shown.iter().filter(is_important);
    let rest = shown.iter().filter(|it| !is_important(it));
    for evidence in important.chain(rest).take(12) {
        let name = text(evidence, "name").unwrap_or("Evidence");
        let value = evidence.get("value").filter(|it| !it.is_null()).map(|it| short(it, 380));
        sheet.fact(&shorten(name, 60), value);
    }
}
