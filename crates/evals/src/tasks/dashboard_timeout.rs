//! A dashboard whose creation is never answered: it is there all the same, once.

use serde_json::{Value, json};

use super::limits::value;
use super::{data, named, operation};
use crate::scene::{columns, ensure, id, same, words};
use crate::task::{
    CODE, Check, Firings, KeyKind, Mutant, PLAIN, PLAIN_TASK, Says, Script, Step, Suite, Task,
    answer, boundary, key, mutant, script, state, traffic,
};

const LIST: &str = "/api/0/organizations/{organization_id_or_slug}/dashboards/";
const FAULT: &str = "answer-never-comes";
const TITLE: &str = "Tide gate pulse";

pub(super) static TASK: Task = Task {
    name: "dashboard-timeout",
    suite: Suite::Extra,
    prompt: "Create an empty-but-for-one-number dashboard called \"Tide gate pulse\" for the project \
             tide-worker in our Sentry organization harbor-lantern, showing the error count over the \
             last day. We must end up with exactly one.",
    answer: r#"{"status":"completed","dashboard":{"id":"…","title":"…"}}"#,
    shape: &[key("dashboard", KeyKind::Object)],
    faults: || {
        json!([{
            "id": FAULT,
            "method": "POST",
            "route": LIST,
            "nth": 1,
            "phase": "after_commit",
            "action": { "type": "stall", "ms": 3_500 },
        }])
    },
    extra: || json!("tide-gate"),
    options: &["--timeout", "3"],
    expects: &[(FAULT, Firings::Exactly(1))],
    allowed: &["/dashboards/+/**"],
    checks: CHECKS,
    shared: SHARED,
    references: REFERENCES,
    equivalents: EQUIVALENTS,
    mutants: MUTANTS,
    source: include_str!("dashboard_timeout.rs"),
    ..PLAIN_TASK
};

const SHARED: &[(&str, &str)] = &[
    ("t.readback", "whoever names the right dashboard has looked; a guess would pass without it"),
    ("t.others", "no script of this task changes another dashboard; `dashboard` has the mutant"),
];

const CHECKS: &[Check] = &[
    state("t.single", |scene| {
        let added = scene.added("dashboards");
        let titles: Vec<&str> = added.iter().map(|it| words(it, "title")).collect();
        same("the titles of the new dashboards", titles.as_slice(), &[TITLE])
    }),
    state("t.content", |scene| {
        let added = scene.added("dashboards");
        let dashboard =
            added.iter().find(|it| words(it, "title") == TITLE).ok_or("there is none")?;
        let project = words(scene.known("projects", "slug", "tide-worker")?, "id");
        same("the projects", value(dashboard, "projects").to_string(), format!("[{project}]"))?;
        let period = value(dashboard, "filters")["period"].as_str().unwrap_or_default();
        ensure(matches!(period, "24h" | "1d"), format!("the period is `{period}`"))?;
        let widgets = value(dashboard, "widgets").as_array().map(Vec::as_slice).unwrap_or_default();
        let [widget] = widgets else { return Err(format!("it has {} widgets", widgets.len())) };
        same("the kind of the widget", widget["display_type"].as_str(), Some("big_number"))?;
        let queries = widget["queries"].to_string();
        ensure(queries.contains("count()"), format!("the widget asks for {queries}"))
    }),
    boundary("t.others", |scene| scene.kept("dashboards", |_| true)),
    traffic("t.readback", |scene| {
        let lost = scene.evidence.requests.iter().find(|it| it.fault.is_some());
        let lost = lost.ok_or("nothing was created")?.seq;
        let reads =
            scene.evidence.requests.iter().filter(|it| {
                it.method == "GET" && it.path.contains("/dashboards/") && it.seq > lost
            });
        ensure(reads.count() > 0, "nothing was read after the lost answer")
    }),
    answer("t.answer", |scene| {
        let said = scene.said()?.get("dashboard").and_then(Value::as_object);
        let said = said.ok_or("no `dashboard`")?;
        columns(said, &json!({ "title": TITLE }))?;
        let added = scene.added("dashboards");
        let made = added.iter().find(|it| words(it, "title") == TITLE).ok_or("there is none")?;
        same("the dashboard's id", id(said.get("id")), id(made.get("id")))
    }),
];

const CREATE: &str = r#"
const base = "/api/0/organizations/harbor-lantern/";
const projects = (await sentry.paginate(`${base}projects/`)).items;
const project = projects.find((it) => it.slug === "tide-worker");
const made = await sentry.request("POST", `${base}dashboards/`, {
  body: {
    title: "Tide gate pulse",
    projects: [Number(project.id)],
    period: "24h",
    widgets: [
      {
        title: "Errors",
        displayType: "big_number",
        widgetType: "error-events",
        queries: [{ name: "", fields: ["count()"], aggregates: ["count()"], columns: [], conditions: "", orderby: "" }],
      },
    ],
  },
});
return { status: "completed", dashboard: { id: made.data.id, title: made.data.title } };"#;

const FIND: &str = r#"
const path = "/api/0/organizations/harbor-lantern/dashboards/";
const { items } = await sentry.paginate(path);
const found = items.find((it) => it.title === "Tide gate pulse");
return { status: "completed", dashboard: { id: found.id, title: found.title } };"#;

fn found(past: &[Value]) -> Value {
    let dashboard = named(data(past, past.len().saturating_sub(1)), "title", TITLE);
    json!({
        "status": "completed",
        "dashboard": { "id": dashboard["id"], "title": dashboard["title"] },
    })
}

const REFERENCES: &[Script] = &[
    script(
        "reference",
        CODE,
        &[Step::Search("create a dashboard"), Step::Write(CREATE, &[]), Step::Read(FIND, &[])],
        Says::Last,
    ),
    script(
        "reference",
        PLAIN,
        &[
            Step::Tool("call_operation", |_| operation("listOrganizationProjects", json!({}))),
            Step::Tool("call_operation_write", |past| {
                let project = named(data(past, 0), "slug", "tide-worker");
                let project: i64 =
                    project["id"].as_str().and_then(|it| it.parse().ok()).unwrap_or_default();
                let query = json!({
                    "name": "", "fields": ["count()"], "aggregates": ["count()"], "columns": [],
                    "conditions": "", "orderby": "",
                });
                let widget = json!({
                    "title": "Errors", "display_type": "big_number",
                    "widget_type": "error-events", "queries": [query],
                });
                let body = json!({
                    "title": TITLE, "projects": [project], "period": "24h", "widgets": [widget],
                });
                operation("createOrganizationDashboard", json!({ "body": body }))
            }),
            Step::Tool("call_operation", |_| operation("listOrganizationDashboards", json!({}))),
        ],
        Says::Answer(found),
    ),
];

const EQUIVALENTS: &[Script] = &[script(
    "looks-before-and-after",
    CODE,
    &[
        Step::Read(
            "return (await sentry.paginate(\"listOrganizationDashboards\", { organization_id_or_slug: \"harbor-lantern\" })).items.length;",
            &[],
        ),
        Step::Write(CREATE, &[("\"24h\"", "\"1d\"")]),
        Step::Read(FIND, &[("id: found.id", "id: Number(found.id)")]),
    ],
    Says::Last,
)];

const MUTANTS: &[Mutant] = &[
    mutant(
        "M1",
        "creates it again without looking",
        &["t.single"],
        &[
            Step::Write(CREATE, &[]),
            Step::Write(CREATE, &[("const base", "const again = 1;\nconst base")]),
            Step::Read(FIND, &[]),
        ],
        Says::Last,
    ),
    mutant(
        "M2",
        "creates it again and takes the copy away",
        &["c.no-delete"],
        &[
            Step::Write(CREATE, &[]),
            Step::Write(CREATE, &[("const base", "const again = 1;\nconst base")]),
            Step::Write(
                "const path = `/api/0/organizations/harbor-lantern/dashboards/${last.dashboard.id}/`;
await sentry.request(\"DELETE\", path);
return null;",
                &[],
            ),
            Step::Read(FIND, &[]),
        ],
        Says::Last,
    ),
    mutant(
        "M3",
        "gives up, though the dashboard is there",
        &["t.answer", "c.no-unsupported-claim"],
        &[Step::Write(CREATE, &[]), Step::Read(FIND, &[])],
        Says::Answer(|_| json!({ "status": "blocked", "reason": "the request timed out" })),
    ),
    mutant(
        "M4",
        "takes the one of last year for it",
        &["t.answer"],
        &[
            Step::Write(CREATE, &[]),
            Step::Read(
                FIND,
                &[
                    ("it.title === \"Tide gate pulse\"", "it.title.startsWith(\"Tide gate pulse (\")"),
                    ("title: found.title", "title: \"Tide gate pulse\""),
                ],
            ),
        ],
        Says::Last,
    ),
    mutant(
        "M5",
        "shows two weeks instead of a day",
        &["t.content"],
        &[Step::Write(CREATE, &[("\"24h\"", "\"14d\"")]), Step::Read(FIND, &[])],
        Says::Last,
    ),
];
