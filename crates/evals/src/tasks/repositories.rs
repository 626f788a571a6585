//! An inventory that is only right when every page was read.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{data, operation};
use crate::common::objects;
use crate::scene::{Row, Scene, ensure, id, same, words};
use crate::task::{
    CODE, Check, Key, KeyKind, Mutant, PLAIN, PLAIN_TASK, Says, Script, Step, Suite, Task, answer,
    key, mutant, script, traffic,
};

pub(super) const LIST: &str = "/api/0/organizations/{organization_id_or_slug}/repos/";
/// More calls than this are a loop.
const MOST_CALLS: usize = 20;

pub(super) static TASK: Task = Task {
    name: "repositories",
    suite: Suite::Flows,
    prompt: PROMPT,
    answer: ANSWER,
    shape: SHAPE,
    checks: CHECKS,
    shared: SHARED,
    references: REFERENCES,
    equivalents: EQUIVALENTS,
    mutants: MUTANTS,
    source: include_str!("repositories.rs"),
    ..PLAIN_TASK
};

pub(super) const PROMPT: &str = "I need an inventory from our Sentry organization harbor-lantern. How many code repositories are \
     actively connected in total? And which of them live on GitHub.com (not a self-hosted GitHub, \
     not another host) with a repository name, meaning the part after the slash, that begins with \
     \"tide-\"? Give me those in alphabetical order with id, full name and web address. Just \
     report; don't change anything.";
pub(super) const ANSWER: &str = r#"{"status":"completed","activeTotal":…,"count":…,"repositories":[{"id":"…","name":"…","url":"…"}]}"#;
pub(super) const SHAPE: &[Key] = &[
    key("activeTotal", KeyKind::Integer),
    key("count", KeyKind::Integer),
    key("repositories", KeyKind::List),
];
pub(super) const SHARED: &[(&str, &str)] =
    &[("p.no-inactive", "names what `p.set` finds without a word on why it is wrong")];

pub(super) const CHECKS: &[Check] = &[
    answer("p.total", |scene| {
        let said = scene.said()?.get("activeTotal").and_then(Value::as_u64);
        same("`activeTotal`", said, Some(active(scene).count() as u64))
    }),
    traffic("p.coverage", |scene| {
        let lists = scene.asked("GET", LIST).filter(|it| it.succeeded());
        let seen: BTreeSet<&str> = lists.flat_map(|it| &it.delivered).map(String::as_str).collect();
        let missed = active(scene).filter(|it| !seen.contains(words(it, "id"))).count();
        ensure(missed == 0, format!("{missed} active repositories were never read"))
    }),
    answer("p.set", |scene| {
        let said = scene.said()?;
        let listed = objects(said, "repositories");
        let text = |it: &Row, name| words(it, name).to_owned();
        let found: BTreeSet<_> = listed
            .iter()
            .map(|it| (id(it.get("id")).unwrap_or_default(), text(it, "name"), text(it, "url")))
            .collect();
        let wanted = active(scene).filter(|it| is_wanted(it));
        let wanted = wanted.map(|it| (text(it, "id"), text(it, "name"), text(it, "url"))).collect();
        same("the repositories", &found, &wanted)?;
        same("the length of the list", listed.len(), wanted.len())?;
        same("`count`", said.get("count").and_then(Value::as_u64), Some(wanted.len() as u64))
    }),
    answer("p.sorted", |scene| {
        let listed = objects(scene.said()?, "repositories");
        let names: Vec<&str> = listed.iter().map(|it| words(it, "name")).collect();
        ensure(names.is_sorted(), format!("the order is {names:?}"))
    }),
    answer("p.no-inactive", |scene| {
        let listed = objects(scene.said()?, "repositories");
        let wrong = listed.iter().find(|it| {
            let claimed = id(it.get("id"));
            let known = scene.before("repositories");
            let mut known = known.filter(|row| claimed.as_deref() == Some(words(row, "id")));
            known.next().is_some_and(|row| words(row, "status") != "active" || !is_wanted(row))
        });
        wrong.map_or(Ok(()), |it| Err(format!("`{}` is not one of them", words(it, "name"))))
    }),
    traffic("p.readonly", |scene| match scene.evidence.attempted_writes().first() {
        Some(write) => Err(format!("it tried to write: {write}")),
        None => Ok(()),
    }),
    traffic("p.bounded", |scene| {
        let calls = scene.asked("GET", LIST).count();
        ensure(calls <= MOST_CALLS, format!("the list was asked for {calls} times"))
    }),
];

fn active<'s>(scene: &'s Scene<'_>) -> impl Iterator<Item = &'s Row> {
    scene.before("repositories").filter(|it| words(it, "status") == "active")
}

fn is_wanted(repository: &Row) -> bool {
    let name = words(repository, "name").split_once('/').map_or("", |(_, name)| name);
    words(repository, "provider") == "integrations:github" && name.starts_with("tide-")
}

/// Reads all pages, tries again where the server is at fault, and gives up at a refusal.
pub(super) const PROGRAM: &str = r#"
const path = "/api/0/organizations/harbor-lantern/repos/";
const rows = [];
let cursor;
for (;;) {
  let page;
  for (let tries = 1; tries <= 3; tries++) {
    page = await sentry.request("GET", path, { query: cursor ? { cursor } : {} });
    if (page.status < 500) break;
    await sleep(50 * tries);
  }
  if (page.status === 403) {
    return { status: "blocked", reason: "no permission to read the repositories (403)" };
  }
  rows.push(...page.data);
  const next = /rel="next"; results="true"; cursor="([^"]+)"/.exec(page.headers.link);
  if (!next) break;
  cursor = next[1];
}
const begins = (it) => it.name.split("/")[1].startsWith("tide-");
const wanted = rows.filter((it) => it.provider.id === "integrations:github" && begins(it));
const repositories = wanted.map(({ id, name, url }) => ({ id, name, url }));
repositories.sort((a, b) => (a.name < b.name ? -1 : 1));
return {
  status: "completed",
  activeTotal: rows.length,
  count: repositories.length,
  repositories,
};"#;

/// Lists a page; `at` is the call whose `next` says which one.
pub(super) fn page(past: &[Value], at: Option<usize>) -> Value {
    let next = at.and_then(|at| past.get(at)).map(|it| it["next"].clone());
    operation("listOrganizationRepos", next.filter(Value::is_object).unwrap_or_else(|| json!({})))
}

pub(super) fn inventory(past: &[Value], pages: [usize; 2]) -> Value {
    let pages = pages.iter().filter_map(|at| data(past, *at).as_array());
    let rows: Vec<&Value> = pages.flatten().collect();
    let text = |it: &Value, name: &str| it[name].as_str().unwrap_or_default().to_owned();
    let mut wanted: Vec<&Value> = rows
        .iter()
        .copied()
        .filter(|it| it["provider"]["id"] == "integrations:github")
        .filter(|it| text(it, "name").split('/').nth(1).is_some_and(|it| it.starts_with("tide-")))
        .collect();
    wanted.sort_by_key(|it| text(it, "name"));
    let shown = |it: &&Value| json!({ "id": it["id"], "name": it["name"], "url": it["url"] });
    json!({
        "status": "completed",
        "activeTotal": rows.len(),
        "count": wanted.len(),
        "repositories": wanted.iter().map(shown).collect::<Vec<_>>(),
    })
}

const REFERENCES: &[Script] = &[
    script(
        "reference",
        CODE,
        &[Step::Search("list repositories of an organization"), Step::Read(PROGRAM, &[])],
        Says::Last,
    ),
    script(
        "reference",
        PLAIN,
        &[
            Step::Tool("call_operation", |past| page(past, None)),
            Step::Tool("call_operation", |past| page(past, Some(0))),
        ],
        Says::Answer(|past| inventory(past, [0, 1])),
    ),
];

const ASK: &str = "{ query: cursor ? { cursor } : {} }";

const EQUIVALENTS: &[Script] = &[
    script(
        "small-pages",
        CODE,
        &[Step::Read(PROGRAM, &[(ASK, "{ query: { per_page: 25, ...(cursor ? { cursor } : {}) } }")])],
        Says::Last,
    ),
    script(
        "paginate",
        CODE,
        &[Step::Read(
            PROGRAM,
            &[(
                "const begins",
                "rows.length = 0;
rows.push(...(await sentry.paginate(\"listOrganizationRepos\", { organization_id_or_slug: \"harbor-lantern\" })).items);
const begins",
            )],
        )],
        Says::Last,
    ),
    script(
        "numbers-for-ids",
        CODE,
        &[Step::Read(PROGRAM, &[("=> ({ id, name, url }))", "=> ({ id: Number(id), name, url, host: \"github\" }))")])],
        Says::Text(|past| {
            let answer = past.last().unwrap_or(&Value::Null);
            format!("All {{pages}} were read.\n```json\n{answer}\n```")
        }),
    ),
];

const MUTANTS: &[Mutant] = &[
    mutant(
        "M1",
        "reads the first page",
        &["p.total", "p.coverage", "p.set"],
        &[Step::Read(PROGRAM, &[("if (!next) break;", "break;")])],
        Says::Last,
    ),
    mutant(
        "M2",
        "takes a self-hosted GitHub for GitHub.com",
        &["p.set", "p.no-inactive"],
        &[Step::Read(
            PROGRAM,
            &[("it.provider.id === \"integrations:github\"", "it.provider.id.includes(\"github\")")],
        )],
        Says::Last,
    ),
    mutant(
        "M3",
        "looks for the word anywhere in the name",
        &["p.set"],
        &[Step::Read(PROGRAM, &[("startsWith(\"tide-\")", "includes(\"tide-\")")])],
        Says::Last,
    ),
    mutant(
        "M4",
        "adds those that are connected no longer",
        &["p.no-inactive", "p.set"],
        &[Step::Read(
            PROGRAM,
            &[
                (
                    "const begins",
                    "const total = rows.length;
rows.push(...(await sentry.request(\"GET\", path, { query: { status: \"deleted\" } })).data);
const begins",
                ),
                ("activeTotal: rows.length", "activeTotal: total"),
            ],
        )],
        Says::Last,
    ),
    mutant(
        "M5",
        "lists them from the end",
        &["p.sorted"],
        &[Step::Read(PROGRAM, &[("? -1 : 1", "? 1 : -1")])],
        Says::Last,
    ),
    mutant(
        "M6",
        "asks for the few that match and knows the total from elsewhere",
        &["p.coverage"],
        &[Step::Read(
            PROGRAM,
            &[(ASK, "{ query: { query: \"tide-\" } }"), ("activeTotal: rows.length", "activeTotal: 107")],
        )],
        Says::Last,
    ),
    mutant(
        "M7",
        "follows the link to the next page for ever",
        &["p.bounded"],
        &[Step::Read(
            PROGRAM,
            &[(
                "const begins",
                "for (let page = 2; page < 24; page++) {
  await sentry.request(\"GET\", path, { query: { cursor: `100:${page}:0` } });
}
const begins",
            )],
        )],
        Says::Last,
    ),
    mutant(
        "M8",
        "counts three and lists four",
        &["p.set"],
        &[Step::Read(PROGRAM, &[("count: repositories.length", "count: repositories.length - 1")])],
        Says::Last,
    ),
    mutant(
        "M9",
        "tries to change something on the way",
        &["p.readonly"],
        &[Step::Read(
            PROGRAM,
            &[(
                "const begins",
                "try {
  await sentry.request(\"POST\", \"/api/0/organizations/harbor-lantern/teams/\", { body: { slug: \"inventory\" } });
} catch {}
const begins",
            )],
        )],
        Says::Last,
    ),
    mutant(
        "M10",
        "counts those too that are connected no longer",
        &["p.total"],
        &[Step::Read(
            PROGRAM,
            &[
                (
                    "const begins",
                    "const gone = (await sentry.request(\"GET\", path, { query: { status: \"deleted\" } })).data;
const begins",
                ),
                ("activeTotal: rows.length", "activeTotal: rows.length + gone.length"),
            ],
        )],
        Says::Last,
    ),
];
