//! Whatever shape rows have: never a panic, never nothing, never too much.

use api_client::sentry::{events::EventRows, replays::Replay};
use proptest::{
    collection::vec,
    prelude::{Just, ProptestConfig, Strategy, any, prop_oneof, proptest},
    sample::select,
};
use serde_json::{Map, Value, json};

use super::{ROOM, Sheet, grouped, issue_event, replays, table};
use crate::event_search::Dataset;

/// What is said beyond the budget: that something was left out.
const SLACK: usize = 200;

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        select(vec!["\u{202e}```", "\n\n# heading\n", "", " ", "..", "a/b?c#d", "1e999"])
            .prop_map(Value::from),
        (1_usize..60_000).prop_map(|length| Value::from("é`\n".repeat(length))),
    ]
}

fn any_json() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(6, 48, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..30).prop_map(Value::from),
            vec((name(), inner), 0..8)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Columns that are looked at, those of every data set, and any other.
fn name() -> impl Strategy<Value = String> {
    let known: Vec<String> = Dataset::ALL
        .iter()
        .flat_map(|it| it.default_fields())
        .copied()
        .chain([
            "user",
            "geo",
            "key",
            "value",
            "tags",
            "eventID",
            "dateCreated",
            "email",
            "city",
            "started_at",
            "duration",
            "browser",
            "urls",
            "releases",
            "trace_ids",
            "count_errors",
            "is_archived",
            "name",
            "version",
        ])
        .map(str::to_owned)
        .collect();
    prop_oneof![8 => select(known), 1 => any::<String>()]
}

fn any_rows() -> impl Strategy<Value = Vec<Map<String, Value>>> {
    let row = vec((name(), any_json()), 0..14).prop_map(|it| it.into_iter().collect());
    vec(row, 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_rows_are_text(rows in any_rows(), data in any_json(), columns in vec(name(), 0..6)) {
        let link = |path: &str| format!("https://acme.sentry.io{path}");
        for dataset in Dataset::ALL {
            let text = table(dataset, &columns, &rows, &link);
            assert!(!text.trim().is_empty() && text.len() <= ROOM + SLACK, "{dataset:?}");
        }
        let (text, left_out) = grouped(&rows);
        assert!(text.len() <= ROOM + SLACK);
        assert_eq!(serde_json::from_str::<Vec<Value>>(&text).unwrap().len() + left_out, rows.len());
        let mut sheet = Sheet::new(ROOM);
        for (number, row) in (1..).zip(&rows) {
            issue_event(&mut sheet, number, row);
        }
        let text = sheet.finish();
        assert!(!text.trim().is_empty() && text.len() <= ROOM + SLACK);
        let of_replays: Vec<Replay> = rows
            .into_iter()
            .filter_map(|mut row| {
                row.insert("id".to_owned(), json!("7e07"));
                serde_json::from_value(Value::Object(row)).ok()
            })
            .collect();
        let text = replays(&of_replays, &link);
        assert!(!text.trim().is_empty() && text.len() <= ROOM + SLACK);
        let answer = json!({ "data": data, "meta": data });
        serde_json::from_value::<EventRows>(answer).unwrap();
    }
}

#[test]
fn a_hundred_rows_of_megabytes_stay_within_the_room() {
    let wide = json!({ "title": "x".repeat(1_000_000), "message": "é".repeat(1_000_000), "tags": vec![json!({"key": "k", "value": "v".repeat(10_000)}); 100] });
    let rows = vec![wide.as_object().unwrap().clone(); 100];
    let text = table(Dataset::Errors, &[], &rows, &|path| path.to_owned());
    assert!(text.len() <= ROOM + SLACK, "{}", text.len());
    let many: Map<String, Value> = (0..5_000).map(|it| (format!("c{it}"), it.into())).collect();
    let text = table(Dataset::Spans, &[], &[many], &|path| path.to_owned());
    assert!(text.contains("more columns"), "{text}");
}
