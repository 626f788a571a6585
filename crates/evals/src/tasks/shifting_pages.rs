//! The same inventory while it changes: what counts is what is there at the end.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::limits::nothing_written;
use super::repositories::{ANSWER, LIST, PROMPT, SHAPE, inventory, page};
use crate::common::objects;
use crate::scene::{Row, Scene, ensure, id, rows, same, words};
use crate::state::State;
use crate::task::{
    CODE, Check, Firings, Mutant, PLAIN, PLAIN_TASK, Says, Script, Step, Suite, Task, answer,
    mutant, script, traffic,
};

const FAULT: &str = "the-list-shifts";
const MOST_CALLS: usize = 30;

pub(super) static TASK: Task = Task {
    name: "shifting-pages",
    suite: Suite::Extra,
    prompt: PROMPT,
    answer: ANSWER,
    shape: SHAPE,
    faults: || {
        json!([{
            "id": FAULT,
            "method": "GET",
            "route": LIST,
            "when": { "query": { "cursor": "*" } },
            "nth": 1,
            "phase": "before",
            "action": { "type": "mutate", "edits": edits() },
        }])
    },
    expects: &[(FAULT, Firings::Exactly(1))],
    checks: CHECKS,
    shared: SHARED,
    references: REFERENCES,
    equivalents: EQUIVALENTS,
    mutants: MUTANTS,
    source: concat!(include_str!("shifting_pages.rs"), include_str!("repositories.rs")),
    ..PLAIN_TASK
};

/// Two repositories come and one goes, all of them on the first page.
fn edits() -> Value {
    let new = |key: &str, name: &str| {
        json!({
            "op": "insert",
            "table": "repositories",
            "key": key,
            "row": {
                "id": key,
                "name": name,
                "provider": "integrations:github",
                "url": format!("https://github.com/{name}"),
                "status": "active",
                "date_created": "2026-05-04T08:59:00Z",
                "integration_id": "512",
                "external_id": "70000001",
            },
        })
    };
    json!([
        new("4990", "harbor-lantern/tide-beacon"),
        new("4991", "harbor-lantern/arrivals-board"),
        {
            "op": "update",
            "table": "repositories",
            "where": { "name": "harbor-lantern/tide-tables" },
            "set": { "status": "disabled" },
        },
    ])
}

const SHARED: &[(&str, &str)] = &[
    ("s.readonly", "no script of this task has a reason to write; `repositories` has the mutant"),
    ("s.total", "whoever has the wrong set has missed the change, and most often the total too"),
];

const CHECKS: &[Check] = &[
    answer("s.total", |scene| {
        let said = scene.said()?.get("activeTotal").and_then(Value::as_u64);
        let end = end(scene);
        same(
            "`activeTotal`",
            said,
            Some(rows(&end, "repositories").filter(|it| active(it)).count() as u64),
        )
    }),
    answer("s.set", |scene| {
        let said = scene.said()?;
        let end = end(scene);
        let listed = objects(said, "repositories");
        let found: BTreeSet<String> = listed.iter().filter_map(|it| id(it.get("id"))).collect();
        let wanted = rows(&end, "repositories").filter(|it| active(it) && is_tide(it));
        let wanted: BTreeSet<String> = wanted.map(|it| words(it, "id").to_owned()).collect();
        same("the repositories", &found, &wanted)?;
        same("the length of the list", listed.len(), wanted.len())?;
        same("`count`", said.get("count").and_then(Value::as_u64), Some(wanted.len() as u64))
    }),
    traffic("s.bounded", |scene| {
        let calls = scene.asked("GET", LIST).count();
        ensure(calls <= MOST_CALLS, format!("the list was asked for {calls} times"))
    }),
    traffic("s.readonly", nothing_written),
];

/// The state at the end, with what the world did by itself.
fn end(scene: &Scene<'_>) -> State {
    let mut state = scene.baseline.clone();
    for request in &scene.evidence.requests {
        let changes = request.mutated.iter().chain(&request.diff);
        changes.for_each(|change| state.apply(change));
    }
    state
}

fn active(repository: &Row) -> bool {
    words(repository, "status") == "active"
}

fn is_tide(repository: &Row) -> bool {
    let name = words(repository, "name").split_once('/').map_or("", |(_, name)| name);
    words(repository, "provider") == "integrations:github" && name.starts_with("tide-")
}

/// Reads the whole list until it has seen the same one twice in a row.
const PROGRAM: &str = r#"
const path = "/api/0/organizations/harbor-lantern/repos/";
const whole = async () => {
  const rows = [];
  let cursor;
  for (;;) {
    const page = await sentry.request("GET", path, { query: cursor ? { cursor } : {} });
    rows.push(...page.data);
    const next = /rel="next"; results="true"; cursor="([^"]+)"/.exec(page.headers.link);
    if (!next) return rows;
    cursor = next[1];
  }
};
const ids = (list) => list.map((it) => it.id).join();
let rows = await whole();
for (let tries = 0; tries < 5; tries++) {
  const again = await whole();
  const settled = ids(again) === ids(rows);
  rows = again;
  if (settled) break;
}
const wanted = rows.filter((it) => it.provider.id === "integrations:github" && it.name.split("/")[1].startsWith("tide-"));
const repositories = wanted.map(({ id, name, url }) => ({ id, name, url }));
repositories.sort((a, b) => (a.name < b.name ? -1 : 1));
return { status: "completed", activeTotal: rows.length, count: repositories.length, repositories };"#;

const REFERENCES: &[Script] = &[
    script("reference", CODE, &[Step::Read(PROGRAM, &[])], Says::Last),
    script(
        "reference",
        PLAIN,
        &[
            Step::Tool("call_operation", |past| page(past, None)),
            Step::Tool("call_operation", |past| page(past, Some(0))),
            Step::Tool("call_operation", |past| page(past, None)),
            Step::Tool("call_operation", |past| page(past, Some(2))),
        ],
        Says::Answer(|past| inventory(past, [2, 3])),
    ),
];

const EQUIVALENTS: &[Script] = &[script(
    "small-pages",
    CODE,
    &[Step::Read(
        PROGRAM,
        &[("cursor ? { cursor } : {}", "{ per_page: 50, ...(cursor ? { cursor } : {}) }")],
    )],
    Says::Last,
)];

const ONCE: (&str, &str) = ("tries < 5", "tries < 0");

const MUTANTS: &[Mutant] = &[
    mutant(
        "M1",
        "reads once and does not notice",
        &["s.set"],
        &[Step::Read(PROGRAM, &[ONCE])],
        Says::Last,
    ),
    mutant(
        "M2",
        "counts what it has seen twice as two",
        &["s.total", "s.set"],
        &[Step::Read(PROGRAM, &[("rows = again;", "rows = [...rows, ...again];")])],
        Says::Last,
    ),
    mutant(
        "M3",
        "keeps what it has seen, although it is gone",
        &["s.total", "s.set"],
        &[Step::Read(
            PROGRAM,
            &[
                (
                    "const wanted",
                    "const seen = new Map();
for (const it of [...(typeof first === \"undefined\" ? [] : first), ...rows]) seen.set(it.id, it);
rows = [...seen.values()];
const wanted",
                ),
                ("let rows = await whole();", "let rows = await whole();\nconst first = rows;"),
            ],
        )],
        Says::Last,
    ),
    mutant(
        "M4",
        "reads it over and over",
        &["s.bounded"],
        &[Step::Read(
            PROGRAM,
            &[(
                "if (settled) break;",
                "if (tries === 4 && settled) for (let n = 0; n < 10; n++) await whole();",
            )],
        )],
        Says::Last,
    ),
];
