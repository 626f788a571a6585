//! What holds for any state and any change.

use evals::evidence::{Evidence, Request};
use evals::grade::grade;
use evals::run;
use evals::schema;
use evals::state::{Change, State, covers, hash};
use evals::task::{Api, Ends, Task};
use evals::tasks;
use evals::trial::{self, expected_hash};
use evals::world::World;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn evidence(task: &Task, world: &World, final_text: String) -> Evidence {
    Evidence {
        task: task.name.to_owned(),
        baseline_hash: world.baseline_hash.clone(),
        expected_hash: world.baseline_hash.clone(),
        final_hash: world.baseline_hash.clone(),
        final_text,
        ..Evidence::default()
    }
}

#[test]
fn who_does_nothing_and_claims_everything_fails_each_task() {
    for task in tasks::ALL {
        let world = World::start(task, 1).unwrap();
        let claim = json!({ "status": "completed" });
        let evidence = evidence(task, &world, format!("```json\n{claim}\n```"));
        let verdict = grade(task, &evidence, &world.baseline);
        assert!(!verdict.pass, "{}", task.name);
        let unmoved = verdict.checks.iter().find(|it| it.id == "c.collateral").unwrap();
        assert!(unmoved.ok, "{}", task.name);
    }
}

#[test]
fn worlds_start_as_they_are_pinned() {
    assert_eq!(
        trial::baselines().unwrap(),
        serde_json::from_str::<Value>(include_str!("../../baselines.json")).unwrap(),
        "where the fixtures were changed on purpose: `cargo xtask eval baselines`"
    );
    assert_eq!(expected_hash(tasks::ALL[0], 99), None);
}

#[test]
fn the_same_world_is_the_same_for_each_task_of_a_seed() {
    let hashes: Vec<String> = tasks::ALL
        .iter()
        .filter(|it| it.api == Api::Sentry && it.ends != Ends::CompletedOrPartial)
        .take(3)
        .map(|it| World::start(it, 2).unwrap().baseline_hash)
        .collect();
    assert!(hashes.windows(2).all(|it| it[0] == it[1]), "{hashes:?}");
}

#[test]
fn moments_are_written_as_rfc_3339() {
    let now = run::now();
    assert_eq!((now.len(), now.get(4..5), now.get(19..)), (20, Some("-"), Some("Z")), "{now}");
    assert!(now.as_str() > "2026-01-01");
}

#[test]
fn the_schema_of_reports_is_understood_whole() {
    let flaw = schema::check(&schema::schema(), &json!({})).unwrap_err();
    assert!(flaw.contains("is missing"), "{flaw}");
}

/// The path of a column of some row: by the numbers that proptest draws.
fn column(state: &Value, draw: [usize; 3]) -> Option<(String, Value)> {
    let nth = |value: &Value, number: usize| -> Option<(String, Value)> {
        let fields = value.as_object()?;
        let (key, value) = fields.iter().nth(number % fields.len().max(1))?;
        Some((key.replace('~', "~0").replace('/', "~1"), value.clone()))
    };
    let (table, rows) = nth(state, draw[0])?;
    let (row, columns) = nth(&rows, draw[1])?;
    let (column, value) = nth(&columns, draw[2])?;
    Some((format!("/{table}/{row}/{column}"), value))
}

fn arbitrary_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-zé\"]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::vec(("[a-z]{1,4}", inner), 0..5)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

fn reversed(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let pairs = fields.iter().rev().map(|(key, value)| (key.clone(), reversed(value)));
            Value::Object(pairs.collect::<Map<_, _>>())
        }
        Value::Array(items) => items.iter().map(reversed).collect(),
        other => other.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_order_in_which_keys_came_changes_no_hash(value in arbitrary_json()) {
        prop_assert_eq!(hash(&value), hash(&reversed(&value)));
    }

    #[test]
    fn one_change_beyond_what_is_allowed_is_noticed(draw in any::<[usize; 3]>(), which in any::<usize>()) {
        thread_local! {
            static WORLD: World = World::start(tasks::ALL[0], 1).unwrap();
        }
        let world = WORLD.with(Clone::clone);
        let sentry: Vec<_> = tasks::ALL.iter().filter(|it| it.api == Api::Sentry).collect();
        let task = sentry[which % sentry.len()];
        let baseline = State::new(&world.baseline);
        let tables = baseline.tables().map(|(name, table)| (name.to_owned(), table.clone()));
        let Some((path, from)) = column(&tables.collect(), draw) else { return Ok(()) };
        let change = Change::Replace { path: path.clone(), from, to: json!("changed") };
        let write = Request { wrote: true, diff: vec![change], ..Request::default() };
        let evidence = Evidence { requests: vec![write], ..evidence(task, &world, String::new()) };
        let verdict = grade(task, &evidence, &world.baseline);
        let noticed = verdict.failed().contains(&"c.collateral");
        let allowed = task.allowed.iter().any(|it| covers(it, &path, &baseline));
        prop_assert_eq!(noticed, !allowed, "{} {}", task.name, path);
    }
}
