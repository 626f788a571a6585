//! One span of a trace: what it is, where it stands, what is below it, and all its attributes.

use serde_json::{Map, Value};

use crate::{
    output,
    render::event::{Sheet, milliseconds, shorten},
};

use super::{Bounds, Forest, failures, is_said, label::label, tree};

const ROOM: usize = 12_000;
/// What is shown below the span.
const BELOW: Bounds = Bounds { roots: 1, spans: 40, depth: 8, below: 24 };
/// Spans above it that are named.
const MOST_ABOVE: usize = 12;
/// The most characters of a text among the attributes, and bytes of them all.
const LONGEST_TEXT: usize = 2_048;
const ATTRIBUTES_ROOM: usize = 24_000;
/// Attributes of one kind that are shown.
const MOST_ATTRIBUTES: usize = 100;

/// The span, and what stands around it.
pub(crate) fn focus(forest: &Forest, place: usize) -> String {
    let mut sheet = Sheet::new(ROOM);
    let Some(node) = forest.node(place) else { return sheet.finish() };
    sheet.line(label(&node.span));
    sheet.fact("Transaction", node.span.transaction.as_deref().map(|it| shorten(it, 300)));
    sheet.fact("Project", node.span.project_slug.as_deref());
    sheet.fact("Duration", node.duration.map(milliseconds));
    let begin = node.start.zip(forest.begin()).map(|(start, begin)| start - begin);
    sheet.fact("Began", begin.map(|it| format!("{} after the trace", milliseconds(it.max(0.0)))));
    let own: f64 = node.below.iter().filter_map(|it| forest.node(*it)?.duration).sum();
    let own = node.duration.filter(|_| !node.below.is_empty()).map(|it| (it - own).max(0.0));
    sheet.fact("Not within spans below", own.map(milliseconds));
    above(&mut sheet, forest, node.above);
    tree::spans(&mut sheet, forest, &[place], BELOW);
    failures(&mut sheet, forest, |it| it.span == Some(place));
    sheet.finish()
}

/// The way down to the span, the outermost first.
fn above(sheet: &mut Sheet, forest: &Forest, mut place: Option<usize>) {
    let mut labels = Vec::new();
    while let Some(node) = place.and_then(|it| forest.node(it)) {
        labels.push(label(&node.span));
        place = node.above;
        if labels.len() > MOST_ABOVE {
            break;
        }
    }
    sheet.section("Within");
    if labels.len() > MOST_ABOVE {
        labels.truncate(MOST_ABOVE);
        sheet.line("…");
    }
    for label in labels.iter().rev() {
        sheet.line(label);
    }
}

/// The attributes as JSON, sorted by name.
pub(crate) fn attributes(forest: &Forest, place: usize) -> Option<String> {
    let span = &forest.node(place)?.span;
    let tags = match &span.tags {
        Value::Object(tags) => tags.clone(),
        Value::Array(tags) => tags.iter().filter_map(pair).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Map::new(),
    };
    let mut sections = Map::new();
    for (name, fields) in
        [("attributes", &span.additional_attributes), ("data", &span.data), ("tags", &tags)]
    {
        let fields = tidy_fields(fields);
        if !fields.is_empty() {
            sections.insert(name.to_owned(), Value::Object(fields));
        }
    }
    if sections.is_empty() {
        return None;
    }
    let whole = Value::Object(sections);
    let compact = whole.to_string();
    let kept = output::cut(&compact, ATTRIBUTES_ROOM);
    let kept = kept.and_then(|it| serde_json::from_str(&it).ok()).unwrap_or(whole);
    serde_json::to_string_pretty(&kept).ok()
}

fn pair(tag: &Value) -> Option<(String, Value)> {
    Some((tag.get("key")?.as_str()?.to_owned(), tag.get("value")?.clone()))
}

/// Fields that say something, by name, without what could lead a reader astray.
fn tidy_fields(fields: &Map<String, Value>) -> Map<String, Value> {
    let said = fields.iter().filter(|(_, value)| is_said(value));
    let mut tidied: Vec<(String, Value)> =
        said.map(|(name, value)| (shorten(name, 200), tidy(value))).collect();
    tidied.sort_by(|a, b| a.0.cmp(&b.0));
    let rest = tidied.len().saturating_sub(MOST_ATTRIBUTES);
    tidied.truncate(MOST_ATTRIBUTES);
    if rest > 0 {
        tidied.push(("…".to_owned(), Value::String(format!("{rest} more"))));
    }
    tidied.into_iter().collect()
}

fn tidy(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(shorten(text, LONGEST_TEXT)),
        Value::Array(items) => items.iter().map(tidy).collect(),
        Value::Object(fields) => Value::Object(tidy_fields(fields)),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn forest(trace: Value) -> Forest {
        Forest::of(serde_json::from_value(trace).unwrap())
    }

    #[test]
    fn attributes_are_sorted_and_bounded() {
        let forest = forest(json!([{
            "additional_attributes": {"b": "x".repeat(3_000), "a": 1, "empty": "", "none": null},
            "tags": [{"key": "t", "value": "v\u{202e}"}, 7],
        }]));
        let text = attributes(&forest, 0).unwrap();
        let read: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read["attributes"]["b"].as_str().unwrap().chars().count(), 2_049);
        assert_eq!(read["tags"], json!({"t": "v\u{fffd}"}));
        assert!(text.find("\"a\"").unwrap() < text.find("\"b\"").unwrap(), "{text}");
        assert!(!text.contains("empty") && !text.contains("none"), "{text}");
    }

    #[test]
    fn a_thousand_attributes_are_cut_and_say_so() {
        let many: Map<String, Value> =
            (0..1_000).map(|n| (format!("k{n}"), Value::from("y".repeat(200)))).collect();
        let text = attributes(&forest(json!([{ "data": many }])), 0).unwrap();
        assert!(text.len() < ATTRIBUTES_ROOM + 4_000, "{}", text.len());
        assert!(text.contains("\"k0\": \"yyyyyyy") && text.contains("\"900 more\""), "{text}");
        assert_eq!(attributes(&forest(json!([{"op": "db"}])), 0), None);
    }

    #[test]
    fn a_span_is_shown_with_what_is_above_and_below() {
        let forest = forest(
            json!([{"op": "http.server", "event_id": "r", "duration": 100, "children": [
            {"op": "task", "event_id": "t", "duration": 80, "project_slug": "web", "errors": [{"title": "lost", "issue_id": 7}],
             "children": [{"op": "db", "event_id": "d", "duration": 30}]}]}]),
        );
        assert_eq!(
            focus(&forest, 1),
            "task\nProject: web\nDuration: 80 ms\nNot within spans below: 50 ms\n\nWithin\nhttp.server\n\n\
             Spans (2)\ntask · 80 ms · web · t · 1 failure\n  db · 30 ms · d\n\n\
             Errors and performance issues (1)\nlost · issue 7 · in span t\n"
        );
    }
}
