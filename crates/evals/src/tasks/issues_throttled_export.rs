//! Thousands of issues behind a rate limit: the numbers are right when every page was read.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::limits::{nothing_written, result_bytes};
use crate::common::objects;
use crate::scene::{Row, Scene, ensure, same, words};
use crate::task::{
    CODE, Check, Firings, KeyKind, Mutant, PLAIN_TASK, Says, Script, Step, Suite, Task, answer,
    key, mutant, script, traffic,
};

const LIST: &str = "/api/0/organizations/{organization_id_or_slug}/issues/";
const FAULT: &str = "too-many-requests";
const BEFORE: &str = "2026-02-01";
/// After a refusal the header asks to wait this long, to within [`TOLERANCE_MS`].
const RETRY_AFTER_MS: u64 = 1_000;
const TOLERANCE_MS: u64 = 50;
const MOST_BYTES: usize = 64 * 1024;
/// A look at the first page beforehand is fine; starting over is not.
const MOST_REPEATS: usize = 3;

pub(super) static TASK: Task = EXPORT;

const EXPORT: Task = Task {
    name: "issues-throttled-export",
    suite: Suite::Extra,
    surfaces: CODE,
    prompt: "How many unresolved issues in our Sentry organization harbor-lantern were first seen \
             before 1 February 2026 (UTC), and which five projects have the most of them, with \
             counts? The numbers must be exact.",
    answer: r#"{"status":"completed","total":…,"top":[{"project":"<slug>","count":…}]}"#,
    shape: &[key("total", KeyKind::Integer), key("top", KeyKind::List)],
    faults: || limit(10),
    extra: || json!({ "issue-pages": 30 }),
    expects: &[(FAULT, Firings::AtLeast(1))],
    checks: CHECKS,
    shared: SHARED,
    references: REFERENCES,
    equivalents: EQUIVALENTS,
    mutants: MUTANTS,
    source: include_str!("issues_throttled_export.rs"),
    ..PLAIN_TASK
};

/// All fifty thousand, at the pace of the real API.
pub(super) static WHOLE: Task = Task {
    name: "issues-throttled-export-whole",
    suite: Suite::Nightly,
    faults: || limit(40),
    extra: || json!({ "issue-pages": 500 }),
    references: &[script("reference", CODE, IN_EIGHT_RUNS, Says::Last)],
    equivalents: &[],
    mutants: &[],
    ..EXPORT
};

/// So many requests are let in, then none for a while.
fn limit(requests: u64) -> Value {
    json!([{
        "id": FAULT,
        "method": "GET",
        "route": LIST,
        "phase": "before",
        "action": {
            "type": "rate_limit",
            "limit": requests,
            "window_ms": RETRY_AFTER_MS - 100,
            "retry_after": RETRY_AFTER_MS / 1_000,
            "by_count": true,
        },
    }])
}

const SHARED: &[(&str, &str)] = &[
    ("e.refused", "whoever is turned away often has not waited, which `e.patience` sees"),
    ("e.coverage", "names why the numbers are wrong; a right guess would pass without it"),
    ("e.readonly", "no script of this task has a reason to write; `repositories` has the mutant"),
];

const CHECKS: &[Check] = &[
    answer("e.total", |scene| {
        let said = scene.said()?.get("total").and_then(Value::as_u64);
        same("`total`", said, Some(wanted(scene).count() as u64))
    }),
    answer("e.top", |scene| {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for issue in wanted(scene) {
            *counts.entry(words(issue, "project_id")).or_default() += 1;
        }
        let listed = objects(scene.said()?, "top");
        same("the number of projects", listed.len(), 5)?;
        let mut named = BTreeSet::new();
        for item in &listed {
            let slug = words(item, "project");
            let project = words(scene.known("projects", "slug", slug)?, "id").to_owned();
            let count = counts.get(project.as_str()).copied();
            same(
                &format!("the count of `{slug}`"),
                item.get("count").and_then(Value::as_u64),
                count,
            )?;
            ensure(named.insert(project), format!("`{slug}` is there twice"))?;
        }
        let least = listed.iter().filter_map(|it| it.get("count")?.as_u64()).min();
        let others = counts.iter().filter(|(id, _)| !named.contains(**id)).map(|(_, it)| *it);
        ensure(others.max() <= least, "a project with more is left out")
    }),
    traffic("e.coverage", |scene| {
        let lists = scene.asked("GET", LIST).filter(|it| it.succeeded());
        let seen: BTreeSet<&str> = lists.flat_map(|it| &it.delivered).map(String::as_str).collect();
        let missed = wanted(scene).filter(|it| !seen.contains(words(it, "id"))).count();
        ensure(missed == 0, format!("{missed} of the issues were never read"))
    }),
    traffic("e.patience", |scene| {
        let mut refused_at = None;
        for request in scene.asked("GET", LIST) {
            if let Some(at) = refused_at {
                let waited = request.at_ms.saturating_sub(at);
                let enough = waited + TOLERANCE_MS >= RETRY_AFTER_MS;
                ensure(enough, format!("it asked again {waited} ms after it was told to wait"))?;
            }
            refused_at = (request.status == 429).then_some(request.at_ms);
        }
        Ok(())
    }),
    traffic("e.refused", |scene| {
        let (all, refused) = (scene.asked("GET", LIST).count(), scene.struck(FAULT));
        ensure(refused * 8 <= all, format!("{refused} of {all} requests were turned away"))
    }),
    traffic("e.once", |scene| {
        let mut pages = BTreeSet::new();
        let lists = scene.asked("GET", LIST).filter(|it| it.succeeded());
        let repeats = lists.filter(|it| !pages.insert(it.query.as_str())).count();
        ensure(repeats <= MOST_REPEATS, format!("{repeats} pages were read again"))
    }),
    traffic("e.bytes", |scene| {
        let bytes: usize = result_bytes(scene).sum();
        ensure(bytes <= MOST_BYTES, format!("the results together have {bytes} bytes"))
    }),
    traffic("e.readonly", nothing_written),
];

fn wanted<'s>(scene: &'s Scene<'_>) -> impl Iterator<Item = &'s Row> {
    let issues = scene.before("issues").filter(|it| words(it, "status") == "unresolved");
    issues.filter(|it| words(it, "first_seen") < BEFORE)
}

/// Reads on from where the last run stopped, and stops before a run gets too long.
const PROGRAM: &str = r#"
const path = "/api/0/organizations/harbor-lantern/issues/";
const before = typeof last === "object" && last !== null ? last : {};
const counts = before.counts ?? {};
let cursor = before.cursor;
let pages = 0;
for (;;) {
  const query = { query: "is:unresolved", limit: 100, ...(cursor ? { cursor } : {}) };
  const page = await sentry.request("GET", path, { query });
  if (page.status === 429) {
    await sleep(1000 * Number(page.headers["retry-after"] ?? 1) + 20);
    continue;
  }
  for (const issue of page.data) {
    if (issue.firstSeen < "2026-02-01" && issue.status === "unresolved") {
      counts[issue.project.slug] = (counts[issue.project.slug] ?? 0) + 1;
    }
  }
  pages += 1;
  const next = /rel="next"; results="true"; cursor="([^"]+)"/.exec(page.headers.link);
  cursor = next?.[1];
  if (!cursor || pages === 60) break;
}
const top = Object.entries(counts)
  .map(([project, count]) => ({ project, count }))
  .sort((a, b) => b.count - a.count)
  .slice(0, 5);
const total = Object.values(counts).reduce((sum, it) => sum + it, 0);
return cursor ? { counts, cursor } : { status: "completed", total, top };"#;

const FIRST: (&str, &str) = ("typeof last === \"object\" && last !== null ? last", "false ? null");

const REFERENCES: &[Script] =
    &[script("reference", CODE, &[Step::Read(PROGRAM, &[FIRST])], Says::Last)];

/// So few that a slow machine reads them within the limits of a run.
const FORTY: (&str, &str) = ("pages === 60", "pages === 40");
const ON: Step = Step::Read(PROGRAM, &[FORTY]);
const IN_EIGHT_RUNS: &[Step] = &[Step::Read(PROGRAM, &[FIRST, FORTY]), ON, ON, ON, ON, ON, ON, ON];

const EQUIVALENTS: &[Script] = &[
    script(
        "the-server-filters",
        CODE,
        &[Step::Read(
            PROGRAM,
            &[
                FIRST,
                ("query: \"is:unresolved\"", "query: \"is:unresolved firstSeen:<2026-02-01\""),
                // So many pages that the limit is met.
                ("limit: 100", "limit: 50"),
            ],
        )],
        Says::Last,
    ),
    script(
        "everything-is-read",
        CODE,
        &[Step::Read(PROGRAM, &[FIRST, ("query: \"is:unresolved\"", "query: \"\"")])],
        Says::Last,
    ),
    script(
        "two-runs",
        CODE,
        &[Step::Read(PROGRAM, &[FIRST, ("pages === 60", "pages === 9")]), Step::Read(PROGRAM, &[])],
        Says::Last,
    ),
];

const WAITS: &str =
    "await sleep(1000 * Number(page.headers[\"retry-after\"] ?? 1) + 20);\n    continue;";

const MUTANTS: &[Mutant] = &[
    mutant(
        "M1",
        "takes a refusal for the end",
        &["e.total", "e.coverage"],
        &[Step::Read(PROGRAM, &[FIRST, (WAITS, "cursor = undefined;\n    break;")])],
        Says::Last,
    ),
    mutant(
        "M2",
        "hammers until it is let in",
        &["e.patience", "e.refused"],
        &[Step::Read(PROGRAM, &[FIRST, (WAITS, "await sleep(20);\n    continue;")])],
        Says::Last,
    ),
    mutant(
        "M3",
        "asks for nothing in particular, which leaves out what has low priority",
        &["e.total"],
        &[Step::Read(PROGRAM, &[FIRST, ("query: \"is:unresolved\", ", "")])],
        Says::Last,
    ),
    mutant(
        "M4",
        "loses what it has read and starts over",
        &["e.once"],
        &[
            Step::Read(
                PROGRAM,
                &[FIRST, ("pages === 60) break;", "pages === 60) break;\n  if (pages === 9) throw new Error(\"too long\");")],
            ),
            Step::Read(PROGRAM, &[FIRST]),
        ],
        Says::Last,
    ),
    mutant(
        "M5",
        "counts the first hundred, and never meets the limit",
        &["e.total", "e.coverage"],
        &[
            Step::Read(PROGRAM, &[FIRST, ("if (!cursor || pages === 60) break;", "cursor = undefined;\n  break;")]),
            // The limit is met afterwards, so that the trial counts.
            Step::Read(
                "for (let n = 0; n < 11; n++) {
  const page = await sentry.request(\"GET\", \"/api/0/organizations/harbor-lantern/issues/\", { query: { limit: 1, cursor: `1:${n}:0` } });
  if (page.status === 429) break;
}
return last;",
                &[],
            ),
        ],
        Says::Last,
    ),
    mutant(
        "M6",
        "waits less than it is told to",
        &["e.patience"],
        &[Step::Read(PROGRAM, &[FIRST, ("await sleep(1000 *", "await sleep(800 *")])],
        Says::Last,
    ),
    mutant(
        "M7",
        "hands whole pages on",
        &["e.bytes"],
        &[
            Step::Read(
                "return (await sentry.request(\"GET\", \"/api/0/organizations/harbor-lantern/issues/\", { query: { limit: 100, query: \"\" } })).data;",
                &[],
            ),
            Step::Read(PROGRAM, &[FIRST]),
        ],
        Says::Last,
    ),
    mutant(
        "M8",
        "names the five projects in the order of the alphabet",
        &["e.top"],
        &[Step::Read(
            PROGRAM,
            &[FIRST, ("b.count - a.count", "a.project < b.project ? -1 : 1")],
        )],
        Says::Last,
    ),
    mutant(
        "M9",
        "counts one that is not there",
        &["e.total"],
        &[Step::Read(PROGRAM, &[FIRST, ("status: \"completed\", total,", "status: \"completed\", total: total + 1,")])],
        Says::Last,
    ),
];
