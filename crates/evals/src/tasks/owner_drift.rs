//! A question that is answered by five lists together, and by none alone.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::limits::{nothing_written, result_bytes, value};
use crate::scene::{Row, Scene, ensure, same, words};
use crate::task::{
    CODE, Check, KeyKind, Mutant, PLAIN_TASK, Says, Script, Step, Suite, Task, answer, key, mutant,
    script, traffic,
};

const ORGANIZATION: &str = "/api/0/organizations/{organization_id_or_slug}/";
const SOURCES: [&str; 3] = ["monitors/", "workflows/", "releases/"];
const MOST_CALLS: usize = 60;
const MOST_BYTES: usize = 64 * 1024;

pub(super) static TASK: Task = Task {
    name: "owner-drift",
    suite: Suite::Extra,
    surfaces: CODE,
    prompt: "Which projects in our Sentry organization harbor-lantern have a production cron monitor \
             that is currently failing, belong to a team without a single enabled alert, and have \
             never had their newest release rolled out to production? Just report; don't change \
             anything.",
    answer: r#"{"status":"completed","projects":["<slug>"]} with the projects in alphabetical order."#,
    shape: &[key("projects", KeyKind::List)],
    extra: || json!("owner-drift"),
    checks: CHECKS,
    references: REFERENCES,
    equivalents: EQUIVALENTS,
    mutants: MUTANTS,
    source: include_str!("owner_drift.rs"),
    ..PLAIN_TASK
};

const CHECKS: &[Check] = &[
    answer("o.set", |scene| {
        let said =
            scene.said()?.get("projects").and_then(Value::as_array).ok_or("no `projects`")?;
        let said: BTreeSet<&str> = said.iter().filter_map(Value::as_str).collect();
        let wanted = scene.before("projects").filter(|it| drifts(scene, it));
        same("the projects", said, wanted.map(|it| words(it, "slug")).collect())
    }),
    answer("o.sorted", |scene| {
        let said =
            scene.said()?.get("projects").and_then(Value::as_array).ok_or("no `projects`")?;
        let said: Vec<&str> = said.iter().filter_map(Value::as_str).collect();
        ensure(said.is_sorted(), format!("the projects are listed as {said:?}"))
    }),
    traffic("o.sources", |scene| {
        SOURCES.iter().try_for_each(|list| {
            let route = format!("{ORGANIZATION}{list}");
            let read = scene.asked("GET", &route).any(|it| it.succeeded());
            let of_project = list == &"releases/"
                && scene.evidence.requests.iter().any(|it| it.path.contains("/releases/"));
            ensure(read || of_project, format!("`{list}` was never read"))
        })
    }),
    traffic("o.bounded", |scene| {
        let calls = scene.evidence.requests.len();
        ensure(calls <= MOST_CALLS, format!("{calls} requests were sent"))
    }),
    traffic("o.bytes", |scene| {
        let bytes: usize = result_bytes(scene).sum();
        ensure(bytes <= MOST_BYTES, format!("the results together have {bytes} bytes"))
    }),
    traffic("o.readonly", nothing_written),
];

fn drifts(scene: &Scene<'_>, project: &Row) -> bool {
    let id = words(project, "id");
    fails_in_production(scene, id) && !has_alert(scene, project) && !went_out(scene, id)
}

fn fails_in_production(scene: &Scene<'_>, project: &str) -> bool {
    let fails = |it: &Value| it["name"] == "production" && it["status"] == "error";
    let mut own = scene.before("monitors").filter(|it| words(it, "project_id") == project);
    own.any(|it| value(it, "environments").as_array().is_some_and(|all| all.iter().any(fails)))
}

fn has_alert(scene: &Scene<'_>, project: &Row) -> bool {
    let teams: Vec<String> = value(project, "teams")
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|id| Some(format!("team:{}", id.as_str()?)))
        .collect();
    let mut enabled = scene.before("workflows").filter(|it| *value(it, "enabled") == true);
    enabled.any(|it| teams.iter().any(|team| team == words(it, "owner")))
}

/// Whether the newest release is in production, or there is none.
fn went_out(scene: &Scene<'_>, project: &str) -> bool {
    let own: BTreeSet<&str> = scene
        .before("release_projects")
        .filter(|it| words(it, "project_id") == project)
        .map(|it| words(it, "release_id"))
        .collect();
    let releases = scene.before("releases").filter(|it| own.contains(words(it, "id")));
    let Some(newest) = releases.max_by_key(|it| words(it, "date_created")) else { return true };
    let mut deploys = scene.before("deploys");
    deploys.any(|it| {
        words(it, "release_id") == words(newest, "id") && words(it, "environment") == "production"
    })
}

const PROGRAM: &str = r#"
const base = "/api/0/organizations/harbor-lantern/";
const all = async (path, query = {}) => (await sentry.paginate(`${base}${path}`, { query })).items;
const failing = new Set();
for (const monitor of await all("monitors/")) {
  const fails = monitor.environments.some((it) => it.name === "production" && it.status === "error");
  if (fails) failing.add(monitor.project.id);
}
const alerted = new Set();
for (const alert of await all("workflows/")) {
  if (alert.enabled && alert.owner) alerted.add(alert.owner);
}
const projects = [];
for (const project of await all("projects/")) {
  if (!failing.has(project.id)) continue;
  if (project.teams.some((it) => alerted.has(`team:${it.id}`))) continue;
  const releases = (await sentry.request("GET", `${base}releases/`, { query: { project: project.id, per_page: 1 } })).data;
  if (releases.length === 0) continue;
  const deploys = await all(`releases/${encodeURIComponent(releases[0].version)}/deploys/`);
  if (deploys.some((it) => it.environment === "production")) continue;
  projects.push(project.slug);
}
projects.sort();
return { status: "completed", projects };"#;

const REFERENCES: &[Script] = &[script(
    "reference",
    CODE,
    &[Step::Search("list monitors, alerts and deploys"), Step::Read(PROGRAM, &[])],
    Says::Last,
)];

const EQUIVALENTS: &[Script] = &[script(
    "releases-of-the-organization",
    CODE,
    &[Step::Read(
        PROGRAM,
        &[
            (
                "const projects = [];",
                "const everything = await all(\"releases/\");\nconst projects = [];",
            ),
            (
                "(await sentry.request(\"GET\", `${base}releases/`, { query: { project: project.id, per_page: 1 } })).data",
                "everything.filter((it) => it.projects.some((own) => own.slug === project.slug))",
            ),
        ],
    )],
    Says::Last,
)];

/// An answer without looking.
fn remembered(_: &[Value]) -> Value {
    json!({ "status": "completed", "projects": ["anchor-ledger", "kelp-router", "sonar-feed"] })
}

const MUTANTS: &[Mutant] = &[
    mutant(
        "M1",
        "does not care in which environment a monitor fails",
        &["o.set"],
        &[Step::Read(PROGRAM, &[("it.name === \"production\" && it.status", "it.status")])],
        Says::Last,
    ),
    mutant(
        "M2",
        "does not look at the alerts of the team",
        &["o.set"],
        &[Step::Read(PROGRAM, &[("alerted.add(alert.owner)", "alerted.size")])],
        Says::Last,
    ),
    mutant(
        "M3",
        "counts alerts that are off",
        &["o.set"],
        &[Step::Read(PROGRAM, &[("alert.enabled && alert.owner", "alert.owner")])],
        Says::Last,
    ),
    mutant(
        "M4",
        "takes the last rollout for all of them",
        &["o.set"],
        &[Step::Read(
            PROGRAM,
            &[(
                "deploys.some((it) => it.environment === \"production\")",
                "releases[0].lastDeploy?.environment === \"production\"",
            )],
        )],
        Says::Last,
    ),
    mutant(
        "M5",
        "wants no release at all to have reached production",
        &["o.set"],
        &[Step::Read(
            PROGRAM,
            &[
                ("project.id, per_page: 1 }", "project.id }"),
                (
                    "const deploys = await all(`releases/${encodeURIComponent(releases[0].version)}/deploys/`);",
                    "const deploys = [];
  for (const it of releases) deploys.push(...(await all(`releases/${encodeURIComponent(it.version)}/deploys/`)));",
                ),
            ],
        )],
        Says::Last,
    ),
    mutant(
        "M6",
        "knows the answer from elsewhere",
        &["o.sources"],
        &[Step::Search("projects")],
        Says::Answer(remembered),
    ),
    mutant(
        "M7",
        "asks for every thing by itself",
        &["o.bounded"],
        &[Step::Read(
            PROGRAM,
            &[(
                "const alerted = new Set();",
                "for (const monitor of await all(\"monitors/\")) {
  for (let n = 0; n < 4; n++) await sentry.request(\"GET\", `${base}monitors/${monitor.slug}/`);
}
const alerted = new Set();",
            )],
        )],
        Says::Last,
    ),
    mutant(
        "M8",
        "hands the lists on as they are",
        &["o.bytes"],
        &[
            Step::Read(
                "const base = \"/api/0/organizations/harbor-lantern/\";
const lists = [];
for (const it of [\"projects/\", \"workflows/\", \"monitors/\", \"releases/\"]) lists.push((await sentry.request(\"GET\", `${base}${it}`)).data);
return lists;",
                &[],
            ),
            Step::Read(PROGRAM, &[]),
        ],
        Says::Last,
    ),
    mutant(
        "M9",
        "lists them from the end",
        &["o.sorted"],
        &[Step::Read(PROGRAM, &[("projects.sort();", "projects.sort().reverse();")])],
        Says::Last,
    ),
    mutant(
        "M10",
        "switches an alert on where one is missing",
        &["o.readonly"],
        &[
            Step::Read(PROGRAM, &[]),
            Step::Once("execute_write", |_| {
                json!({ "code": "return (await sentry.request(\"PUT\", \"/api/0/organizations/harbor-lantern/workflows/\", { query: { query: \"skua-squad\" }, body: { enabled: true } })).status;" })
            }),
        ],
        Says::Answer(remembered),
    ),
];
