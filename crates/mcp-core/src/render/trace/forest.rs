//! The spans of a trace: flat, in reading order, with what decides which of them are shown.

use std::{
    cmp::{Ordering, Reverse},
    collections::BinaryHeap,
    mem,
};

use api_client::sentry::traces::TraceNode;
use serde_json::{Map, Value};

use crate::render::event::moment_of;

/// A span, and where it stands.
#[derive(Debug)]
pub(crate) struct Node {
    /// What Sentry says of it, without what is below.
    pub(crate) span: TraceNode,
    /// The span above it.
    pub(crate) above: Option<usize>,
    /// The spans below it, by when they began.
    pub(crate) below: Vec<usize>,
    /// How many spans are anywhere below it.
    pub(crate) descendants: usize,
    /// When it began, in milliseconds since 1970.
    pub(crate) start: Option<f64>,
    /// Milliseconds.
    pub(crate) duration: Option<f64>,
    score: f64,
}

/// Something that went wrong during a trace.
#[derive(Debug)]
pub(crate) struct Failure {
    /// What Sentry says of it.
    pub(crate) fields: Map<String, Value>,
    /// The span it happened in.
    pub(crate) span: Option<usize>,
}

/// How much of a trace is shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) roots: usize,
    pub(crate) spans: usize,
    pub(crate) depth: usize,
    /// Spans below one that are considered.
    pub(crate) below: usize,
}

/// All spans of a trace.
#[derive(Debug, Default)]
pub(crate) struct Forest {
    pub(crate) nodes: Vec<Node>,
    pub(crate) roots: Vec<usize>,
    pub(crate) failures: Vec<Failure>,
}

impl Forest {
    /// Lays a trace out. Nothing here is recursive: a trace is as deep as whoever sent it likes.
    pub(crate) fn of(trace: Vec<TraceNode>) -> Self {
        let mut forest = Self::default();
        let mut waiting: Vec<(TraceNode, Option<usize>)> =
            trace.into_iter().rev().map(|it| (it, None)).collect();
        while let Some((mut span, above)) = waiting.pop() {
            let children = mem::take(&mut span.children);
            let place = if is_failure(&span) {
                forest.failures.push(Failure { fields: fields_of(&span), span: above });
                above
            } else {
                Some(forest.add(span, above))
            };
            waiting.extend(children.into_iter().rev().map(|it| (it, place)));
        }
        forest.weigh();
        forest
    }

    fn add(&mut self, mut span: TraceNode, above: Option<usize>) -> usize {
        let place = self.nodes.len();
        let failures = [mem::take(&mut span.errors), mem::take(&mut span.occurrences)];
        let before = self.failures.len();
        let failures = failures.into_iter().flatten();
        self.failures.extend(failures.map(|fields| Failure { fields, span: Some(place) }));
        let start = moment_of(&span.start_timestamp);
        let end = moment_of(&span.end_timestamp);
        let measured = start.zip(end).map(|(start, end)| end - start);
        let usable = |it: &f64| it.is_finite() && *it >= 0.0;
        let duration = span.duration.filter(usable).or(measured.filter(usable));
        let failed = if self.failures.len() > before { 1_000.0 } else { 0.0 };
        self.nodes.push(Node {
            span,
            above,
            below: Vec::new(),
            descendants: 0,
            start,
            duration,
            score: failed,
        });
        match above.and_then(|it| self.nodes.get_mut(it)) {
            Some(node) => node.below.push(place),
            None => self.roots.push(place),
        }
        place
    }

    /// Counts and weighs from the leaves up: what is below a span always stands after it.
    fn weigh(&mut self) {
        for place in (0..self.nodes.len()).rev() {
            let (mut descendants, mut longest, mut best) = (0, 0.0_f64, 0.0_f64);
            for below in self.node(place).map(|it| it.below.as_slice()).unwrap_or_default() {
                let Some(below) = self.node(*below) else { continue };
                descendants += below.descendants + 1;
                longest = longest.max(below.duration.unwrap_or(0.0));
                best = best.max(below.score);
            }
            let mut order = match self.nodes.get_mut(place) {
                Some(node) => mem::take(&mut node.below),
                None => Vec::new(),
            };
            self.by_time(&mut order);
            let Some(node) = self.nodes.get_mut(place) else { continue };
            node.below = order;
            node.descendants = descendants;
            node.score += node.duration.unwrap_or(0.0)
                + 0.75 * longest
                + 4.0 * descendants as f64
                + if node.span.is_transaction { 250.0 } else { 0.0 }
                + 0.25 * best;
        }
        let mut roots = mem::take(&mut self.roots);
        self.by_time(&mut roots);
        self.roots = roots;
    }

    fn by_time(&self, places: &mut [usize]) {
        let start = |it: &usize| self.node(*it).and_then(|node| node.start).unwrap_or(0.0);
        places.sort_by(|a, b| start(a).total_cmp(&start(b)));
    }

    /// The span of that place.
    pub(crate) fn node(&self, place: usize) -> Option<&Node> {
        self.nodes.get(place)
    }

    /// The place of a span, by its id.
    pub(crate) fn find(&self, id: &str) -> Option<usize> {
        let is_it = |node: &Node| node.span.any_id().is_some_and(|it| it.eq_ignore_ascii_case(id));
        self.nodes.iter().position(is_it)
    }

    /// When the first span began.
    pub(crate) fn begin(&self) -> Option<f64> {
        self.nodes.iter().filter_map(|it| it.start).min_by(f64::total_cmp)
    }

    /// Milliseconds from the first beginning to the last end.
    pub(crate) fn duration(&self) -> Option<f64> {
        let end = |it: &Node| Some(it.start? + it.duration?);
        let end = self.nodes.iter().filter_map(end).max_by(f64::total_cmp)?;
        Some(end - self.begin()?)
    }

    /// Which spans are shown, below these: the most telling first, as far as the bounds reach.
    pub(crate) fn chosen(&self, roots: &[usize], bounds: Bounds) -> Vec<bool> {
        let ranked = |place: usize, depth: usize| {
            let score = self.node(place).map_or(0.0, |it| it.score);
            Ranked { score, place: Reverse(place), depth }
        };
        let mut shown = vec![false; self.nodes.len()];
        let mut waiting: BinaryHeap<Ranked> =
            best(roots.iter().map(|it| ranked(*it, 0)), bounds.roots);
        let mut room = bounds.spans;
        while room > 0
            && let Some(next) = waiting.pop()
        {
            if let Some(it) = shown.get_mut(next.place.0) {
                *it = true;
            }
            room -= 1;
            let Some(node) = self.node(next.place.0).filter(|_| next.depth < bounds.depth) else {
                continue;
            };
            let below = node.below.iter().map(|it| ranked(*it, next.depth + 1));
            waiting.extend(best(below, bounds.below));
        }
        shown
    }
}

fn best(ranked: impl Iterator<Item = Ranked>, most: usize) -> BinaryHeap<Ranked> {
    let mut ranked: Vec<Ranked> = ranked.collect();
    ranked.sort_by(|a, b| b.cmp(a));
    ranked.truncate(most);
    ranked.into()
}

/// A span in the queue; the earlier one first where two weigh the same.
#[derive(Debug, Clone, Copy)]
struct Ranked {
    score: f64,
    place: Reverse<usize>,
    depth: usize,
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then(self.place.cmp(&other.place))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ranked {}

/// Errors and performance issues stand among the spans.
fn is_failure(span: &TraceNode) -> bool {
    match span.event_type.as_deref() {
        Some("error" | "occurrence") => true,
        Some(_) => false,
        None => span.issue_id.is_some() && span.op.is_none(),
    }
}

fn fields_of(span: &TraceNode) -> Map<String, Value> {
    let texts = [
        ("event_id", span.any_id()),
        ("level", span.level.as_deref()),
        ("issue_id", span.issue_id.as_deref()),
        ("title", span.title.as_deref()),
        ("description", span.description.as_deref()),
        ("project_slug", span.project_slug.as_deref()),
    ];
    let known = texts.into_iter().filter_map(|(name, text)| Some((name, text?)));
    known.map(|(name, text)| (name.to_owned(), Value::from(text))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const BOUNDS: Bounds = Bounds { roots: 2, spans: 5, depth: 2, below: 3 };

    fn forest(trace: Value) -> Forest {
        Forest::of(serde_json::from_value(trace).unwrap())
    }

    fn shown(forest: &Forest, bounds: Bounds) -> Vec<&str> {
        let chosen = forest.chosen(&forest.roots, bounds);
        let nodes = forest.nodes.iter().zip(chosen).filter(|(_, chosen)| *chosen);
        nodes.map(|(node, _)| node.span.any_id().unwrap_or_default()).collect()
    }

    #[test]
    fn failures_are_told_apart_from_spans() {
        let forest = forest(json!([
            {"event_id": "a", "errors": [{"issue_id": 7}], "children": [
                {"event_id": "e", "event_type": "error", "title": "lost", "children": [{"event_id": "b"}]}]},
            {"id": "x", "issue_id": 9},
        ]));
        assert_eq!(forest.nodes.len(), 2);
        assert_eq!(forest.nodes[1].above, Some(0));
        let spans: Vec<_> = forest.failures.iter().map(|it| it.span).collect();
        assert_eq!(spans, [Some(0), Some(0), None]);
    }

    #[test]
    fn the_telling_spans_come_first_and_the_bounds_hold() {
        let children: Vec<Value> =
            (0..40).map(|n| json!({"event_id": format!("c{n}"), "duration": n})).collect();
        let deep = json!({"event_id": "d0", "duration": 1, "children": [{"event_id": "d1", "children":
            [{"event_id": "d2", "children": [{"event_id": "d3", "duration": 9_000}]}]}]});
        let forest = forest(json!([
            {"event_id": "short", "duration": 1},
            {"event_id": "wide", "duration": 50, "children": children},
            {"event_id": "failed", "errors": [{}]},
            deep,
        ]));
        assert_eq!(shown(&forest, BOUNDS), ["failed", "d0", "d1", "d2"]);
        let wider = Bounds { roots: 12, spans: 7, ..BOUNDS };
        assert_eq!(shown(&forest, wider), ["wide", "c38", "c39", "failed", "d0", "d1", "d2"]);
    }

    #[test]
    fn what_is_below_a_span_is_ordered_by_time_and_counted() {
        let forest = forest(
            json!([{"event_id": "r", "start_timestamp": 10.0, "end_timestamp": 12.5, "children": [
            {"event_id": "late", "start_timestamp": 12.0, "duration": 900},
            {"event_id": "early", "start_timestamp": "1970-01-01T00:00:10.250Z"}]}]),
        );
        let below: Vec<_> =
            forest.nodes[0].below.iter().map(|it| forest.nodes[*it].span.any_id()).collect();
        assert_eq!(below, [Some("early"), Some("late")]);
        assert_eq!((forest.nodes[0].descendants, forest.nodes[0].duration), (2, Some(2_500.0)));
        assert_eq!(forest.find("EARLY"), Some(2));
        assert_eq!((forest.begin(), forest.duration()), (Some(10_000.0), Some(2_900.0)));
        assert_eq!(forest.nodes[2].start, Some(10_250.0));
    }
}
