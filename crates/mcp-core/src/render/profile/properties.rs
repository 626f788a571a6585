//! Whatever shape a profile has: never a panic, never nothing, never too much.

use api_client::sentry::profiles::{Flamegraph, Profile};
use proptest::{
    prelude::{ProptestConfig, any, proptest},
    sample::Index,
};
use serde_json::{Value, json};

use crate::render::arbitrary::{any_json, any_object, assert_sound, replace, size};

use super::{ROOM, View, analysis, example, is_empty, one};

const NAMES: &[&str] = &[
    "platform",
    "transactionName",
    "profiles",
    "shared",
    "frames",
    "frame_infos",
    "samples",
    "weights",
    "sample_durations_ns",
    "sample_counts",
    "threadID",
    "unit",
    "name",
    "function",
    "file",
    "filename",
    "line",
    "lineno",
    "is_application",
    "in_app",
    "fingerprint",
    "count",
    "sumDuration",
    "sumSelfTime",
    "p75Duration",
    "p99Duration",
    "profile",
    "stacks",
    "stack_id",
    "thread_id",
    "elapsed_since_start_ns",
    "timestamp",
    "thread_metadata",
    "transaction",
    "trace_id",
    "release",
    "version",
    "duration_ns",
    "profile_id",
];

fn check(value: &Value) {
    for own_code in [true, false] {
        let graph: Flamegraph = serde_json::from_value(value.clone()).unwrap_or_default();
        let view = View { own_code, paths: 20 };
        assert_sound(&analysis(&graph, Some(&graph), view), ROOM + 100);
        assert!(example(&graph).is_none_or(|it| it.len() <= 64));
        is_empty(&graph);
        let profile: Profile = serde_json::from_value(value.clone()).unwrap_or_default();
        assert_sound(&one(&profile, own_code), ROOM + 100);
    }
}

fn real() -> Value {
    json!({
        "platform": "python", "transactionName": "/pay", "release": {"version": "1"}, "durationNS": 5,
        "profiles": [{"name": "main", "threadID": 1, "unit": "nanoseconds", "samples": [[0, 1], [0]], "weights": [5, 7],
            "sample_durations_ns": [5, 7], "sample_counts": [1, 2]}],
        "shared": {"frames": [{"name": "a", "file": "a.py", "line": 1, "is_application": true, "fingerprint": 4}, {"name": "b"}],
            "frame_infos": [{"count": 9, "sumDuration": 12, "sumSelfTime": 7, "p75Duration": 1, "p95Duration": 2, "p99Duration": 8}],
            "profiles": [{"profile_id": "ab"}]},
        "transaction": {"id": 1, "name": "/pay", "trace_id": "c", "active_thread_id": 1},
        "profile": {"frames": [{"function": "f", "in_app": true}, {}], "stacks": [[0, 1], [1]],
            "samples": [{"stack_id": 0, "thread_id": 1, "elapsed_since_start_ns": "10"}, {"stack_id": 1, "timestamp": 2.5}],
            "thread_metadata": {"1": {"name": "main"}}},
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_profile_of_any_shape_is_told_within_bounds(value in any_object(NAMES, any_json(NAMES), 0..16)) {
        check(&value);
    }

    #[test]
    fn a_real_profile_with_one_wrong_part_is_told_within_bounds(
        place in any::<Index>(), with in any_json(NAMES), is_sent in any::<bool>(),
    ) {
        let mut value = real();
        if !is_sent {
            value["profile"] = json!(null);
        }
        let nodes = size(&value);
        replace(&mut value, place.index(nodes), with);
        check(&value);
    }
}
