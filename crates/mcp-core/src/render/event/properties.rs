//! Whatever shape an event has: never a panic, never nothing, never too much.

use std::{fs, time::UNIX_EPOCH};

use api_client::sentry::{autofix::Autofix, events::Event, issues::Issue};
use proptest::{
    collection::vec,
    prelude::{ProptestConfig, Strategy, any, proptest},
    sample::{Index, select},
};
use serde_json::{Map, Value, json};

use crate::render::{
    Page,
    arbitrary::{any_json, replace, size},
    issue_facts, issue_row, issue_words, seer_findings,
};

use super::{ROOM, Sheet, Span, body, breadcrumb, breadcrumbs, exception_stacks, table, threads};

/// Names of fields that are looked at, so that arbitrary objects are looked into.
const NAMES: &[&str] = &[
    "values",
    "type",
    "value",
    "module",
    "mechanism",
    "handled",
    "stacktrace",
    "rawStacktrace",
    "frames",
    "framesOmitted",
    "filename",
    "absPath",
    "function",
    "lineNo",
    "colNo",
    "inApp",
    "context",
    "vars",
    "id",
    "name",
    "crashed",
    "current",
    "state",
    "method",
    "url",
    "query",
    "data",
    "evidenceData",
    "evidenceDisplay",
    "offenderSpanIds",
    "parentSpanIds",
    "repeatingSpansCompact",
    "span_id",
    "parent_span_id",
    "start_timestamp",
    "timestamp",
    "level",
    "category",
    "message",
    "formatted",
    "dataSources",
    "queryObj",
    "snubaQuery",
    "timeWindow",
    "conditions",
    "comparison",
    "breakpoint",
    "aggregateRange1",
    "trendPercentage",
    "geo",
    "blocked_uri",
    "document-uri",
];
const KINDS: &[&str] =
    &["exception", "threads", "request", "csp", "message", "breadcrumbs", "spans", "hpkp", "?"];

fn any_event() -> impl Strategy<Value = Value> {
    let entries = vec((select(KINDS), any_json(NAMES)), 0..5);
    (
        entries,
        any_json(NAMES),
        any_json(NAMES),
        any_json(NAMES),
        select(vec!["python", "java", "go", "native", "?"]),
    )
        .prop_map(|(entries, occurrence, user, tags, platform)| {
            let entries: Vec<Value> = entries
                .into_iter()
                .map(|(kind, data)| json!({"type": kind, "data": data}))
                .collect();
            json!({
                "id": "e", "type": "error", "platform": platform, "entries": entries,
                "occurrence": occurrence, "user": user, "tags": tags, "contexts": user,
                "context": occurrence,
            })
        })
}

/// Reads and writes an event in every way there is.
fn check(event: Value) {
    let event: Event = serde_json::from_value(event).unwrap();
    let text = body(&event, &[]);
    assert!(!text.trim().is_empty());
    assert!(text.len() <= ROOM + 100, "{} bytes", text.len());
    let harmless = |it: char| it == '\n' || it == '\t' || !it.is_control();
    assert!(text.chars().all(harmless), "{text:?}");
    let mut sheet = Sheet::new(10_000);
    exception_stacks(&mut sheet, &event);
    table(&mut sheet, &threads(&event));
    for crumb in breadcrumbs(&event) {
        let line = breadcrumb(crumb);
        assert!(!line.contains('\n') && line.chars().count() < 500, "{line:?}");
        sheet.line(line);
    }
    assert!(sheet.finish().len() <= 10_100);
}

/// Events as the mock has them.
fn fixtures() -> Vec<Value> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../mocks/fixtures/sentry");
    let files = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    let texts = files.map(|it| fs::read_to_string(it).unwrap());
    texts
        .map(|text| {
            let mut fixture: Value = serde_json::from_str(&text).unwrap();
            let mut event = fixture["event"].take();
            event["id"] = json!("e");
            event
        })
        .collect()
}

/// The names that issues and runs of Seer are read by.
const ISSUE_NAMES: &[&str] = &[
    "shortId",
    "title",
    "culprit",
    "status",
    "substatus",
    "statusDetails",
    "ignoreCount",
    "ignoreUntil",
    "issueCategory",
    "issueType",
    "firstSeen",
    "lastSeen",
    "count",
    "userCount",
    "assignedTo",
    "metadata",
    "seerFixabilityScore",
    "blocks",
    "steps",
    "artifacts",
    "key",
    "data",
    "todos",
    "content",
    "repo_pr_states",
    "pr_url",
    "causes",
    "solution",
];

fn any_fields() -> impl Strategy<Value = Value> {
    vec((select(ISSUE_NAMES), any_json(NAMES)), 0..12).prop_map(|fields| {
        let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value));
        Value::Object(fields.collect::<Map<_, _>>())
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_event_of_any_shape_is_told_within_bounds(event in any_event()) {
        check(event);
    }

    #[test]
    fn a_real_event_with_one_wrong_part_is_told_within_bounds(
        which in any::<Index>(), place in any::<Index>(), with in any_json(NAMES),
    ) {
        let mut events = fixtures();
        let event = which.get(&events).clone();
        events.clear();
        let mut event = event;
        // What is on top, the first node, stays: an event is an object with an id.
        let nodes = size(&event) - 1;
        replace(&mut event, 1 + place.index(nodes), with);
        event["id"] = json!("e");
        check(event);
    }

    #[test]
    fn an_issue_and_a_run_of_any_shape_are_told_within_bounds(mut fields in any_fields()) {
        let run: Autofix = serde_json::from_value(fields.clone()).unwrap();
        let mut page = Page::new("Seer");
        seer_findings(&mut page, &run);
        fields["id"] = json!(7);
        let issue: Issue = serde_json::from_value(fields).unwrap();
        issue_facts(&mut page, &issue, "https://sentry.test/issues/7");
        assert!(page.into_text().len() < 40_000);
        let mut sheet = Sheet::new(10_000);
        issue_words(&mut sheet, &issue);
        issue_row(&mut sheet, 1, &issue, "https://sentry.test/issues/7", UNIX_EPOCH);
        let text = sheet.finish();
        assert!(text.contains("https://sentry.test/issues/7") && text.len() <= 10_100, "{text}");
    }
}

#[test]
fn nesting_as_deep_as_json_is_read_is_no_danger() {
    let deep = format!("{}1{}", "[".repeat(120), "]".repeat(120));
    let deep: Value = serde_json::from_str(&deep).unwrap();
    check(json!({"id": "e", "context": {"deep": deep}, "user": {"id": deep}, "occurrence": deep}));
}

#[test]
fn five_megabytes_and_ten_thousand_frames_are_cut_early() {
    let frame =
        json!({"function": "f", "filename": "a.py", "inApp": true, "vars": {"x": "v".repeat(400)}});
    let frames = vec![frame; 10_000];
    let values =
        vec![json!({"type": "E", "value": "x".repeat(100_000), "stacktrace": {"frames": frames}})];
    let event = json!({
        "id": "e", "platform": "python",
        "entries": [{"type": "exception", "data": {"values": values}}],
        "context": {"huge": vec!["y".repeat(1_000); 1_000]},
    });
    check(event);
}

#[test]
fn a_trace_of_any_depth_is_read_without_recursion() {
    let mut node = json!({"event_id": "leaf"});
    for depth in 0..50 {
        node = json!({"event_id": format!("s{depth}"), "children": [node]});
    }
    let nodes = vec![serde_json::from_value(node).unwrap()];
    assert_eq!(Span::of_trace(&nodes).len(), 51);
}
