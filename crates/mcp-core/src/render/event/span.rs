//! Spans, whether they came with an event or from its trace, and a small tree of them.

use std::collections::HashSet;

use api_client::sentry::traces::TraceNode;
use serde_json::Value;

use super::sheet::{Sheet, shorten, text};

/// The most characters of what a span did.
const LONGEST_DESCRIPTION: usize = 160;
/// No span is looked for deeper than this.
const DEEPEST: usize = 60;

/// A span.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Span {
    pub(crate) id: String,
    pub(crate) parent: Option<String>,
    pub(crate) operation: Option<String>,
    pub(crate) description: Option<String>,
    /// Milliseconds.
    pub(crate) duration: Option<f64>,
}

impl Span {
    /// Reads a span that came with an event.
    pub(crate) fn of_event(value: &Value) -> Option<Self> {
        let owned = |key: &str| text(value, key).map(str::to_owned);
        let moment = |key: &str| value.get(key).and_then(Value::as_f64);
        let duration = moment("start_timestamp").zip(moment("timestamp"));
        Some(Self {
            id: owned("span_id")?,
            parent: owned("parent_span_id"),
            operation: owned("op"),
            description: owned("description"),
            duration: duration.map(|(start, end)| (end - start) * 1_000.0),
        })
    }

    /// Reads the spans of a trace, parents before children.
    pub(crate) fn of_trace(nodes: &[TraceNode]) -> Vec<Self> {
        let mut spans = Vec::new();
        let mut waiting: Vec<(&TraceNode, Option<&str>, usize)> =
            nodes.iter().rev().map(|it| (it, None, 0)).collect();
        while let Some((node, above, depth)) = waiting.pop() {
            let id = node.any_id();
            if let Some(id) = id {
                let parent = node.parent_span_id.as_deref().or(above);
                spans.push(Self {
                    id: id.to_owned(),
                    parent: parent.map(str::to_owned),
                    operation: node.op.clone(),
                    description: node.description.clone().or_else(|| node.name.clone()),
                    duration: node.duration,
                });
            }
            if depth < DEEPEST {
                let below = node.children.iter().rev();
                waiting.extend(below.map(|it| (it, id.or(above), depth + 1)));
            }
        }
        spans
    }

    /// The operation, what it did, how long it took.
    pub(crate) fn label(&self) -> String {
        let operation = self.operation.as_deref().unwrap_or("span");
        let description = self.description.as_deref().unwrap_or_default();
        let duration = self.duration.filter(|it| it.is_finite() && *it >= 0.0);
        let duration = duration.map(|it| format!(" [{}]", milliseconds(it))).unwrap_or_default();
        let description = shorten(description, LONGEST_DESCRIPTION);
        format!("{} {description}{duration}", shorten(operation, 60))
    }
}

/// A duration for people.
pub(crate) fn milliseconds(duration: f64) -> String {
    if duration >= 1_000.0 {
        format!("{:.2} s", duration / 1_000.0)
    } else if duration >= 10.0 || duration == 0.0 {
        format!("{duration:.0} ms")
    } else {
        format!("{duration:.2} ms")
    }
}

/// The wanted spans as a tree, in the order given, at most so many.
pub(super) fn tree(sheet: &mut Sheet, spans: &[Span], wanted: &HashSet<&str>, most: usize) {
    let shown: Vec<&Span> = spans.iter().filter(|it| wanted.contains(it.id.as_str())).collect();
    let mut placed: HashSet<&str> = HashSet::new();
    let mut written = 0;
    let is_root = |it: &&&Span| it.parent.as_deref().is_none_or(|parent| !wanted.contains(parent));
    let mut waiting: Vec<(&Span, usize)> =
        shown.iter().filter(is_root).rev().map(|it| (*it, 0)).collect();
    while let Some((span, depth)) = waiting.pop() {
        if written == most || !placed.insert(&span.id) {
            continue;
        }
        sheet.line(format!("{}{}", "  ".repeat(depth.min(8)), span.label()));
        written += 1;
        let below = shown.iter().rev().filter(|it| it.parent.as_deref() == Some(span.id.as_str()));
        waiting.extend(below.map(|it| (*it, depth + 1)));
    }
    if shown.len() > written {
        sheet.line(format!("… {} more spans", shown.len() - written));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn span(id: &str, parent: Option<&str>) -> Span {
        let (id, parent) = (id.to_owned(), parent.map(str::to_owned));
        Span { description: Some(id.clone()), id, parent, operation: None, duration: Some(2.5) }
    }

    #[test]
    fn a_tree_is_indented_and_says_what_it_leaves_out() {
        let spans = [span("a", None), span("b", Some("a")), span("c", Some("a")), span("x", None)];
        let mut sheet = Sheet::new(1_000);
        tree(&mut sheet, &spans, &HashSet::from(["a", "b", "c"]), 2);
        assert_eq!(sheet.finish(), "span a [2.50 ms]\n  span b [2.50 ms]\n… 1 more spans\n");
    }

    #[test]
    fn spans_that_are_their_own_parents_end() {
        let spans = [span("a", Some("b")), span("b", Some("a"))];
        let mut sheet = Sheet::new(1_000);
        tree(&mut sheet, &spans, &HashSet::from(["a", "b"]), 10);
        assert_eq!(sheet.finish(), "… 2 more spans\n");
    }

    #[test]
    fn a_trace_is_read_with_parents_before_children() {
        let nodes = json!([{"event_id": "a", "op": "http", "duration": 12, "children": [
            {"event_id": "b", "description": "SELECT", "parent_span_id": "a"}, {"op": "lost", "children": [{"event_id": "c"}]}]}]);
        let nodes: Vec<TraceNode> = serde_json::from_value(nodes).unwrap();
        let spans = Span::of_trace(&nodes);
        let ids: Vec<_> = spans.iter().map(|it| (it.id.as_str(), it.parent.as_deref())).collect();
        assert_eq!(ids, [("a", None), ("b", Some("a")), ("c", Some("a"))]);
    }
}
