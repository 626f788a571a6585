//! Whatever shape a replay and its recording have: never a panic, never nothing, never too much.

use api_client::sentry::replays::Replay;
use proptest::{
    collection::vec,
    prelude::{ProptestConfig, Strategy, proptest},
};
use serde_json::{Value, json};

use crate::render::{
    Page,
    arbitrary::{any_json, any_object, assert_sound},
};

use super::{ROOM, facts, words};

const NAMES: &[&str] = &[
    "project_id",
    "started_at",
    "finished_at",
    "duration",
    "environment",
    "user",
    "browser",
    "os",
    "device",
    "urls",
    "releases",
    "error_ids",
    "trace_ids",
    "replay_type",
    "count_errors",
    "count_segments",
    "is_archived",
    "has_viewed",
    "email",
    "username",
    "name",
    "version",
    "brand",
];
const EVENT_NAMES: &[&str] = &[
    "type",
    "timestamp",
    "data",
    "tag",
    "payload",
    "category",
    "level",
    "message",
    "op",
    "description",
    "href",
    "statusCode",
    "method",
    "to",
];

fn any_recording() -> impl Strategy<Value = Vec<Vec<Value>>> {
    let event = any_object(EVENT_NAMES, any_json(EVENT_NAMES), 0..8);
    let told = (any_object(EVENT_NAMES, any_json(EVENT_NAMES), 0..8), proptest::bool::ANY).prop_map(
        |(payload, is_span)| {
            let tag = if is_span { "performanceSpan" } else { "breadcrumb" };
            json!({"type": 5, "timestamp": 1_777_883_460_000_u64, "data": {"tag": tag, "payload": payload}})
        },
    );
    vec(vec(proptest::prop_oneof![event, told], 0..8), 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_replay_of_any_shape_is_told_within_bounds(
        mut replay in any_object(NAMES, any_json(NAMES), 0..16), recording in any_recording(),
    ) {
        replay["id"] = json!("7e07");
        let replay: Replay = serde_json::from_value(replay).unwrap();
        assert_sound(&words(&replay, &recording), ROOM + 100);
        let mut page = Page::new("Replay");
        facts(&mut page, &replay, "https://sentry.test/replays/7e07/");
        assert_sound(&page.into_text(), 8_000);
    }
}

#[test]
fn a_replay_of_nothing_says_so() {
    let replay: Replay = serde_json::from_value(json!({"id": 1})).unwrap();
    assert_eq!(words(&replay, &[]), "The replay says nothing of its user, pages or actions.\n");
}
