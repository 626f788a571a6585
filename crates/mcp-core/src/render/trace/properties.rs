//! Whatever shape a trace has: never a panic, never nothing, never too much.

use api_client::sentry::traces::TraceNode;
use proptest::{
    collection::vec,
    prelude::{ProptestConfig, Strategy, any, proptest},
};
use serde_json::{Value, json};

use crate::render::arbitrary::{any_json, any_object, assert_sound, replace, size};

use super::forest::Forest;
use super::{ROOM, attributes, conversations, focus, overview, projects};

const NAMES: &[&str] = &[
    "event_id",
    "id",
    "event_type",
    "op",
    "description",
    "name",
    "transaction",
    "is_transaction",
    "parent_span_id",
    "project_slug",
    "start_timestamp",
    "end_timestamp",
    "duration",
    "errors",
    "occurrences",
    "additional_attributes",
    "data",
    "tags",
    "children",
    "issue_id",
    "level",
    "title",
    "key",
    "value",
    "http.method",
    "http.route",
    "db.system",
    "db.statement",
    "gen_ai.conversation.id",
];

/// Shows a trace in every way there is.
fn check(trace: &Value) {
    let items = trace.as_array().cloned().unwrap_or_default();
    let nodes: Vec<TraceNode> =
        items.into_iter().filter_map(|it| serde_json::from_value(it).ok()).collect();
    let forest = Forest::of(nodes);
    assert_sound(&overview(&forest), ROOM + 100);
    assert!(projects(&forest, 3).len() <= 3 && conversations(&forest, 3).len() <= 3);
    for place in 0..forest.nodes.len().min(40) {
        assert_sound(&focus(&forest, place), 13_000);
        if let Some(text) = attributes(&forest, place) {
            assert_sound(&text, 100_000);
        }
    }
}

fn any_trace() -> impl Strategy<Value = Value> {
    vec(any_object(NAMES, any_json(NAMES), 0..14), 0..6).prop_map(Value::from)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_trace_of_any_shape_is_told_within_bounds(trace in any_trace()) {
        check(&trace);
    }

    #[test]
    fn a_real_trace_with_one_wrong_part_is_told_within_bounds(
        place in any::<proptest::sample::Index>(), with in any_json(NAMES),
    ) {
        let mut trace = json!([{
            "event_id": "a", "event_type": "span", "op": "http.server", "is_transaction": true, "duration": 90.5,
            "project_slug": "web", "start_timestamp": 1.5, "end_timestamp": "2026-05-04T09:00:00.5Z",
            "errors": [{"event_id": "e", "issue_id": 7, "level": "error", "title": "lost"}],
            "children": [
                {"event_id": "b", "op": "db", "description": "SELECT 1", "duration": 12, "tags": [{"key": "a", "value": "b"}],
                 "additional_attributes": {"db.system": "mysql", "db.statement": "SELECT 'x'"}},
                {"event_id": "f", "event_type": "error", "title": "boom", "children": [{"event_id": "g"}]},
            ],
        }]);
        let nodes = size(&trace);
        replace(&mut trace, place.index(nodes), with);
        check(&trace);
    }
}

#[test]
fn a_trace_as_deep_as_json_is_read_and_one_as_wide_as_you_like_are_no_danger() {
    let mut deep = json!({"event_id": "leaf", "duration": 1});
    for depth in 0..60 {
        deep = json!({"event_id": format!("s{depth}"), "op": "x", "children": [deep]});
    }
    check(&json!([deep]));
    let wide: Vec<Value> = (0..20_000)
        .map(|n| json!({"event_id": format!("{n}"), "op": format!("op{n}"), "duration": n}))
        .collect();
    check(&json!(wide));
}

#[test]
fn a_trace_of_nothing_says_so() {
    assert_eq!(overview(&Forest::default()), "The trace has nothing that could be shown.\n");
}
