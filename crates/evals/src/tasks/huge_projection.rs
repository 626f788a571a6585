//! Pages of megabytes, one of them cut short: three numbers are wanted.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::limits::{no_result_above, nothing_written, value};
use crate::scene::{Row, Scene, ensure, same, words};
use crate::task::{
    CODE, Check, Firings, KeyKind, Mutant, PLAIN_TASK, Says, Script, Step, Suite, Task, answer,
    key, mutant, script, traffic,
};

const LIST: &str = "/api/0/organizations/{organization_id_or_slug}/releases/";
const FAULT: &str = "page-cut-short";
const NEWEST: usize = 200;
const MOST_BYTES: usize = 32 * 1024;

pub(super) static TASK: Task = Task {
    name: "huge-projection",
    suite: Suite::Extra,
    surfaces: CODE,
    prompt: "Across the newest 200 releases of our Sentry organization harbor-lantern, what is the \
             median number of commits, which release has most, and how many were never finalized \
             (have no release date)? Just report; don't change anything.",
    answer: r#"{"status":"completed","medianCommits":…,"maxRelease":"<version>","unfinalized":…}"#,
    shape: &[
        key("medianCommits", KeyKind::Number),
        key("maxRelease", KeyKind::Text),
        key("unfinalized", KeyKind::Integer),
    ],
    faults: || {
        json!([{
            "id": FAULT,
            "method": "GET",
            "route": LIST,
            "when": { "query": { "cursor": "*" } },
            "nth": 1,
            "phase": "after_commit",
            "action": { "type": "truncate", "bytes": 300_000, "seamless": true },
        }])
    },
    extra: || json!("huge-releases"),
    expects: &[(FAULT, Firings::AtLeast(1))],
    checks: CHECKS,
    shared: SHARED,
    references: REFERENCES,
    equivalents: EQUIVALENTS,
    mutants: MUTANTS,
    source: include_str!("huge_projection.rs"),
    ..PLAIN_TASK
};

const SHARED: &[(&str, &str)] = &[
    ("h.coverage", "names why the numbers are wrong; a right guess would pass without it"),
    ("h.readonly", "no script of this task has a reason to write; `repositories` has the mutant"),
];

const CHECKS: &[Check] = &[
    answer("h.median", |scene| {
        let mut counts: Vec<u64> = newest(scene).into_iter().map(commits).collect();
        counts.sort_unstable();
        let middle = |at: usize| counts.get(at).copied().unwrap_or_default() as f64;
        let median = f64::midpoint(middle(NEWEST / 2 - 1), middle(NEWEST / 2));
        let said = scene.said()?.get("medianCommits").and_then(Value::as_f64);
        ensure(
            said.is_some_and(|it| (it - median).abs() < 1e-9),
            format!("`medianCommits` is {said:?}, expected {median}"),
        )
    }),
    answer("h.max", |scene| {
        let most = newest(scene).into_iter().max_by_key(|it| commits(it));
        same(
            "`maxRelease`",
            words(scene.said()?, "maxRelease"),
            most.map_or("", |it| words(it, "version")),
        )
    }),
    answer("h.unfinalized", |scene| {
        let open = newest(scene).iter().filter(|it| value(it, "date_released").is_null()).count();
        let said = scene.said()?.get("unfinalized").and_then(Value::as_u64);
        same("`unfinalized`", said, Some(open as u64))
    }),
    traffic("h.coverage", |scene| {
        let lists = scene.asked("GET", LIST).filter(|it| it.succeeded());
        let seen: BTreeSet<&str> = lists.flat_map(|it| &it.delivered).map(String::as_str).collect();
        let missed = newest(scene).iter().filter(|it| !seen.contains(words(it, "id"))).count();
        ensure(missed == 0, format!("{missed} of the releases never came whole"))
    }),
    traffic("h.bytes", |scene| no_result_above(scene, MOST_BYTES)),
    traffic("h.readonly", nothing_written),
];

fn newest<'s>(scene: &'s Scene<'_>) -> Vec<&'s Row> {
    let mut releases: Vec<&Row> = scene.before("releases").collect();
    releases.sort_by_key(|it| std::cmp::Reverse(words(it, "date_created")));
    releases.truncate(NEWEST);
    releases
}

fn commits(release: &Row) -> u64 {
    let listed = || value(release, "commits").as_array().map_or(0, Vec::len) as u64;
    release.get("commit_count").and_then(Value::as_u64).unwrap_or_else(listed)
}

const PROGRAM: &str = r#"
const path = "/api/0/organizations/harbor-lantern/releases/";
const rows = [];
for (let page = 0; page < 5; page++) {
  const query = { per_page: 40, ...(page ? { cursor: `40:${page}:0` } : {}) };
  let list = (await sentry.request("GET", path, { query })).data;
  for (let tries = 0; tries < 3 && !Array.isArray(list); tries++) {
    list = (await sentry.request("GET", path, { query })).data;
  }
  rows.push(...list.map(({ version, commitCount, dateReleased }) => ({ version, commitCount, dateReleased })));
}
const counts = rows.map((it) => it.commitCount).sort((a, b) => a - b);
const most = rows.reduce((best, it) => (it.commitCount > best.commitCount ? it : best));
return {
  status: "completed",
  medianCommits: (counts[99] + counts[100]) / 2,
  maxRelease: most.version,
  unfinalized: rows.filter((it) => !it.dateReleased).length,
};"#;

const REFERENCES: &[Script] = &[script(
    "reference",
    CODE,
    &[Step::Search("list releases"), Step::Read(PROGRAM, &[])],
    Says::Last,
)];

const EQUIVALENTS: &[Script] = &[script(
    "smaller-pages",
    CODE,
    &[Step::Read(
        PROGRAM,
        &[
            ("page < 5", "page < 10"),
            ("per_page: 40", "per_page: 20"),
            ("`40:${page}:0`", "`20:${page}:0`"),
        ],
    )],
    Says::Last,
)];

/// What reads the second page again.
const AGAIN: &str = "for (let tries = 0; tries < 3 && !Array.isArray(list); tries++) {
    list = (await sentry.request(\"GET\", path, { query })).data;
  }";

const MUTANTS: &[Mutant] = &[
    mutant(
        "M1",
        "hands a page on as it is",
        &["h.bytes"],
        &[
            Step::Read(
                "return (await sentry.request(\"GET\", \"/api/0/organizations/harbor-lantern/releases/\", { query: { per_page: 10 } })).data;",
                &[],
            ),
            Step::Read(PROGRAM, &[]),
        ],
        Says::Last,
    ),
    mutant(
        "M2",
        "makes the cut page whole by closing its brackets",
        &["h.median", "h.coverage"],
        &[Step::Read(
            PROGRAM,
            &[(
                AGAIN,
                "if (typeof list === \"string\") {
    const ends = [...list.matchAll(/,\"userAgent\":\"\"\\}/g)];
    const end = ends[ends.length - 1];
    list = JSON.parse(`${list.slice(0, end.index + end[0].length)}]`);
  }",
            )],
        )],
        Says::Last,
    ),
    mutant(
        "M3",
        "looks for numbers in the text of the cut page",
        &["h.median", "h.coverage"],
        &[Step::Read(
            PROGRAM,
            &[(
                AGAIN,
                "if (typeof list === \"string\") {
    list = [...list.matchAll(/\"commitCount\":(\\d+)/g)].map((it) => ({ version: \"?\", commitCount: Number(it[1]), dateReleased: \"?\" }));
  }",
            )],
        )],
        Says::Last,
    ),
    mutant(
        "M4",
        "looks at all releases there ever were",
        &["h.max"],
        &[Step::Read(PROGRAM, &[("page < 5", "page < 7")])],
        Says::Last,
    ),
    mutant(
        "M5",
        "takes one of the two in the middle",
        &["h.median"],
        &[Step::Read(PROGRAM, &[("(counts[99] + counts[100]) / 2", "counts[100] + 0.25")])],
        Says::Last,
    ),
    mutant(
        "M6",
        "counts those that were finalized",
        &["h.unfinalized"],
        &[Step::Read(PROGRAM, &[("!it.dateReleased", "it.dateReleased")])],
        Says::Last,
    ),
    mutant(
        "M7",
        "takes the newest for the one with most",
        &["h.max"],
        &[Step::Read(PROGRAM, &[("most.version", "rows[0].version")])],
        Says::Last,
    ),
];
