//! A dashboard is copied for two teams, down to the hidden query.

use serde_json::{Value, json};

use super::{data, named, operation};
use crate::common::objects;
use crate::scene::{Outcome, Row, Scene, ensure, id, same, words};
use crate::task::{
    CODE, Check, KeyKind, Mutant, PLAIN, PLAIN_TASK, Says, Script, Step, Suite, Task, answer,
    boundary, key, mutant, script, state,
};

const SOURCE: &str = "Checkout health";
const PROJECTS: [&str; 2] = ["quay-api", "tide-worker"];

pub(super) static TASK: Task = Task {
    name: "dashboard",
    suite: Suite::Discovery,
    prompt: "The \"Checkout health\" dashboard in our Sentry organization harbor-lantern has served \
             the web team well. The quay-api and tide-worker teams each want their own version of \
             it. Please give each of them one: name them \"Checkout health - quay-api\" and \
             \"Checkout health - tide-worker\", point each at its own project, and make both look \
             at staging instead of production. Everything else about the dashboard should come \
             across exactly as it is, and the original must stay the way it is now.",
    answer: r#"{"status":"completed","dashboards":[{"project":"…","id":"…","title":"…","url":"https://…"}]}"#,
    shape: &[key("dashboards", KeyKind::List)],
    allowed: &["/dashboards/+/**"],
    checks: CHECKS,
    shared: &[
        ("d.count", "one too many has a wrong title, one too few leaves a title out"),
        ("d.titles", "the title says which project a copy is for, so that the answer is wrong too"),
    ],
    references: REFERENCES,
    equivalents: EQUIVALENTS,
    mutants: MUTANTS,
    source: include_str!("dashboard.rs"),
    ..PLAIN_TASK
};

const CHECKS: &[Check] = &[
    state("d.count", |scene| {
        same("the number of new dashboards", scene.added("dashboards").len(), 2)
    }),
    state("d.titles", |scene| {
        let mut titles: Vec<_> =
            scene.added("dashboards").iter().map(|it| words(it, "title").to_owned()).collect();
        titles.sort();
        same("the new titles", titles, PROJECTS.map(title).into())
    }),
    state("d.project", |scene| {
        each_copy(scene, |copy, _| {
            let slug = PROJECTS.into_iter().find(|it| words(copy, "title") == title(it));
            let project = scene.known("projects", "slug", slug.unwrap_or(PROJECTS[0]))?;
            let shown = copy.get("projects").and_then(Value::as_array).into_iter().flatten();
            let shown: Vec<String> = shown.map(ToString::to_string).collect();
            same("`projects`", shown, vec![words(project, "id").to_owned()])
        })
    }),
    state("d.env", |scene| {
        each_copy(scene, |copy, _| {
            let environment = copy.get("filters").and_then(|it| it.get("environment"));
            same("`environment`", environment, Some(&json!(["staging"])))
        })
    }),
    state("d.filters", |scene| {
        each_copy(scene, |copy, source| {
            let kept = ["period", "utc", "start", "end", "release", "release_id", "global_filter"];
            let filter = |row: &Row, name: &str| row.get("filters").map(|it| it[name].clone());
            kept.iter().try_for_each(|it| same(it, filter(copy, it), filter(source, it)))
        })
    }),
    state("d.widgets", |scene| {
        let compared = [
            "title",
            "description",
            "display_type",
            "thresholds",
            "interval",
            "limit",
            "widget_type",
            "layout",
            "axis_range",
            "legend_type",
        ];
        each_copy(scene, |copy, source| alike("widgets", copy, source, &compared))
    }),
    state("d.queries", |scene| {
        let compared = [
            "name",
            "fields",
            "aggregates",
            "columns",
            "field_aliases",
            "conditions",
            "orderby",
            "is_hidden",
            "selected_aggregate",
            "linked_dashboards",
        ];
        each_copy(scene, |copy, source| {
            let of_title = |title: &str| {
                objects(source, "widgets").into_iter().find(|it| words(it, "title") == title)
            };
            objects(copy, "widgets").into_iter().try_for_each(|widget| {
                let title = words(widget, "title");
                let original = of_title(title).ok_or_else(|| format!("no widget `{title}`"))?;
                alike("queries", widget, original, &compared)
            })
        })
    }),
    boundary("d.source", |scene| scene.kept("dashboards", |_| true)),
    answer("d.answer-ids", |scene| {
        let said = scene.said()?;
        let claimed = objects(said, "dashboards");
        let added = scene.added("dashboards");
        same("the number of dashboards named", claimed.len(), added.len())?;
        added.into_iter().try_for_each(|copy| {
            let is_it = |it: &&&Row| id(it.get("id")).as_deref() == Some(words(copy, "id"));
            let named = claimed.iter().find(is_it);
            let named = named.ok_or_else(|| format!("`{}` is not named", words(copy, "id")))?;
            same("`title`", words(named, "title"), words(copy, "title"))?;
            same("`project`", title(words(named, "project")).as_str(), words(copy, "title"))
        })
    }),
    answer("d.answer-links", |scene| {
        objects(scene.said()?, "dashboards").into_iter().try_for_each(|named| {
            let (url, id) = (words(named, "url"), id(named.get("id")).unwrap_or_default());
            let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
            let path = rest.and_then(|it| it.split_once('/')).map_or("", |(_, path)| path);
            let mut segments = path
                .split(['/', '?', '#'])
                .skip_while(|it| !["dashboard", "dashboards"].contains(it));
            let leads = segments.nth(1) == Some(id.as_str());
            ensure(leads, format!("`{url}` does not lead to dashboard {id}"))
        })
    }),
];

fn title(project: &str) -> String {
    format!("{SOURCE} - {project}")
}

/// Holds a rule against every new dashboard and the one it should resemble.
fn each_copy(scene: &Scene<'_>, rule: impl Fn(&Row, &Row) -> Outcome) -> Outcome {
    let source = scene.known("dashboards", "title", SOURCE)?;
    let copies = scene.added("dashboards");
    ensure(!copies.is_empty(), "there is no new dashboard")?;
    copies.into_iter().try_for_each(|copy| {
        rule(copy, source).map_err(|what| format!("`{}`: {what}", words(copy, "title")))
    })
}

/// Two lists of objects, the same in length, order and some columns.
fn alike(list: &str, copy: &Row, source: &Row, compared: &[&str]) -> Outcome {
    let (copies, sources) = (objects(copy, list), objects(source, list));
    same(&format!("the number of {list}"), copies.len(), sources.len())?;
    copies.into_iter().zip(sources).enumerate().try_for_each(|(at, (copy, source))| {
        compared.iter().try_for_each(|column| {
            let null = &Value::Null;
            let (found, expected) = (copy.get(*column), source.get(*column));
            same(
                &format!("`{column}` of {list} {at}"),
                found.unwrap_or(null),
                expected.unwrap_or(null),
            )
        })
    })
}

const PROGRAM: &str = r#"
const org = "/api/0/organizations/harbor-lantern";
const { items } = await sentry.paginate(`${org}/dashboards/`);
const { id } = items.find((it) => it.title === "Checkout health");
const source = (await sentry.request("GET", `${org}/dashboards/${id}/`)).data;
const projects = (await sentry.paginate(`${org}/projects/`)).items;
const copyQuery = ({ id, widgetId, onDemand, ...query }) => query;
const copyWidget = ({ id, dateCreated, dashboardId, datasetSource, exploreUrls, changedReason, ...widget }) => ({
  ...widget,
  queries: widget.queries.map(copyQuery),
});
const copy = (slug) => ({
  title: `Checkout health - ${slug}`,
  projects: [Number(projects.find((it) => it.slug === slug).id)],
  environment: ["staging"],
  period: source.period,
  utc: source.utc,
  filters: source.filters,
  widgets: source.widgets.map(copyWidget),
});
const dashboards = [];
for (const slug of ["quay-api", "tide-worker"]) {
  const made = (await sentry.request("POST", `${org}/dashboards/`, { body: copy(slug) })).data;
  dashboards.push({
    project: slug,
    id: made.id,
    title: `Checkout health - ${slug}`,
    url: `https://harbor-lantern.sentry.test/dashboard/${made.id}/`,
  });
}
return { status: "completed", dashboards };"#;

/// What `createOrganizationDashboard` takes for the copy of a project.
fn copied(past: &[Value], slug: &str) -> Value {
    let without = |it: &Value, names: &[&str]| {
        let mut it = it.clone();
        for name in names {
            it.as_object_mut().and_then(|it| it.shift_remove(*name));
        }
        it
    };
    let source = data(past, 1);
    let widgets = source["widgets"].as_array().into_iter().flatten().map(|widget| {
        let own =
            ["id", "dateCreated", "dashboardId", "datasetSource", "exploreUrls", "changedReason"];
        let mut copy = without(widget, &own);
        let queries = widget["queries"].as_array().into_iter().flatten();
        copy["queries"] = queries.map(|it| without(it, &["id", "widgetId", "onDemand"])).collect();
        copy
    });
    let project = named(data(past, 2), "slug", slug)["id"].as_str().unwrap_or_default();
    let body = json!({
        "title": title(slug),
        "projects": [project.parse::<u64>().unwrap_or_default()],
        "environment": ["staging"],
        "period": source["period"],
        "utc": source["utc"],
        "filters": source["filters"],
        "widgets": widgets.collect::<Vec<_>>(),
    });
    operation("createOrganizationDashboard", json!({ "body": body }))
}

const REFERENCES: &[Script] = &[
    script(
        "reference",
        CODE,
        &[Step::Search("create a dashboard"), Step::Write(PROGRAM, &[])],
        Says::Last,
    ),
    script(
        "reference",
        PLAIN,
        &[
            Step::Tool("call_operation", |_| operation("listOrganizationDashboards", json!({}))),
            Step::Tool("call_operation", |past| {
                let id = &named(data(past, 0), "title", SOURCE)["id"];
                operation("getOrganizationDashboard", json!({ "dashboard_id": id }))
            }),
            Step::Tool("call_operation", |_| operation("listOrganizationProjects", json!({}))),
            Step::Tool("call_operation_write", |past| copied(past, PROJECTS[0])),
            Step::Tool("call_operation_write", |past| copied(past, PROJECTS[1])),
        ],
        Says::Answer(|past| {
            let made = PROJECTS.iter().zip(3..).map(|(project, at)| {
                let id = data(past, at)["id"].as_str().unwrap_or_default();
                json!({
                    "project": project,
                    "id": id,
                    "title": data(past, at)["title"],
                    "url": format!("https://harbor-lantern.sentry.test/dashboards/{id}"),
                })
            });
            json!({ "status": "completed", "dashboards": made.collect::<Vec<_>>() })
        }),
    ),
];

const BOTH: &str = "[\"quay-api\", \"tide-worker\"]";
const MAKE: &str = "const made = (await sentry.request(\"POST\", `${org}/dashboards/`, { body: copy(slug) })).data;";

const EQUIVALENTS: &[Script] = &[
    script(
        "the-other-way-round",
        CODE,
        &[Step::Write(PROGRAM, &[(BOTH, "[\"tide-worker\", \"quay-api\"]"), ("id: made.id,", "id: Number(String(made.id)),")])],
        Says::Text(|past| {
            let mut answer = past.last().cloned().unwrap_or_default();
            let id = id(answer["dashboards"][0].get("id")).unwrap_or_default();
            answer["dashboards"][0]["url"] =
                format!("http://localhost/organizations/x/dashboards/{id}?project=1").into();
            format!("```json\n{answer}\n```")
        }),
    ),
    script(
        "snake-case",
        CODE,
        &[Step::Write(
            PROGRAM,
            &[(
                "queries: widget.queries.map(copyQuery),",
                "display_type: widget.displayType, displayType: undefined, queries: widget.queries.map(copyQuery).map(({ fieldAliases, isHidden, ...it }) => ({ ...it, field_aliases: fieldAliases, is_hidden: isHidden })),",
            )],
        )],
        Says::Last,
    ),
    script(
        "made-first-and-finished-later",
        CODE,
        &[Step::Write(
            PROGRAM,
            &[(
                MAKE,
                "const { widgets, ...rest } = copy(slug);
const made = (await sentry.request(\"POST\", `${org}/dashboards/`, { body: rest })).data;
await sentry.request(\"PUT\", `${org}/dashboards/${made.id}/`, { body: { title: rest.title, widgets } });",
            )],
        )],
        Says::Last,
    ),
];

const MUTANTS: &[Mutant] = &[
    mutant(
        "M1",
        "makes the original into the first copy",
        &["d.source", "d.count"],
        &[Step::Write(
            PROGRAM,
            &[(
                MAKE,
                "const made = slug === \"quay-api\"
    ? (await sentry.request(\"PUT\", `${org}/dashboards/${source.id}/`, { body: copy(slug) }), source)
    : (await sentry.request(\"POST\", `${org}/dashboards/`, { body: copy(slug) })).data;",
            )],
        )],
        Says::Last,
    ),
    mutant(
        "M2",
        "makes one dashboard for both projects",
        &["d.count", "d.project"],
        &[Step::Write(
            PROGRAM,
            &[
                (BOTH, "[\"quay-api\"]"),
                (
                    "[Number(projects.find((it) => it.slug === slug).id)]",
                    "projects.filter((it) => [\"quay-api\", \"tide-worker\"].includes(it.slug)).map((it) => Number(it.id))",
                ),
            ],
        )],
        Says::Last,
    ),
    mutant(
        "M3",
        "leaves the environment as it was",
        &["d.env"],
        &[Step::Write(PROGRAM, &[("[\"staging\"]", "source.environment")])],
        Says::Last,
    ),
    mutant(
        "M4",
        "leaves out what is hidden",
        &["d.queries"],
        &[Step::Write(
            PROGRAM,
            &[("widget.queries.map(copyQuery)", "widget.queries.filter((it) => !it.isHidden).map(copyQuery)")],
        )],
        Says::Last,
    ),
    mutant(
        "M5",
        "puts the widgets into the order of the screen",
        &["d.widgets"],
        &[Step::Write(
            PROGRAM,
            &[(
                "source.widgets.map(copyWidget)",
                "[...source.widgets].sort((a, b) => a.layout.y - b.layout.y || a.layout.x - b.layout.x).map(copyWidget)",
            )],
        )],
        Says::Last,
    ),
    mutant(
        "M6",
        "forgets the filters",
        &["d.filters"],
        &[Step::Write(PROGRAM, &[("\n  period: source.period,", ""), ("\n  filters: source.filters,", "")])],
        Says::Last,
    ),
    mutant(
        "M7",
        "makes the first copy twice",
        &["d.count", "d.titles"],
        &[Step::Write(
            PROGRAM,
            &[(
                MAKE,
                "if (slug === \"quay-api\") await sentry.request(\"POST\", `${org}/dashboards/`, { body: copy(slug) });
const made = (await sentry.request(\"POST\", `${org}/dashboards/`, { body: copy(slug) })).data;",
            )],
        )],
        Says::Last,
    ),
    mutant(
        "M8",
        "does everything right and makes the ids up",
        &["d.answer-ids"],
        &[Step::Write(PROGRAM, &[])],
        Says::Answer(|_| {
            let one = |project: &str, id: &str| {
                json!({
                    "project": project, "id": id, "title": title(project),
                    "url": format!("https://harbor-lantern.sentry.test/dashboard/{id}/"),
                })
            };
            json!({
                "status": "completed",
                "dashboards": [one(PROJECTS[0], "1"), one(PROJECTS[1], "2")],
            })
        }),
    ),
    mutant(
        "M9",
        "sets the environment afterwards, which loses the other filters",
        &["d.filters"],
        &[Step::Write(
            PROGRAM,
            &[(
                MAKE,
                "const { environment, ...rest } = copy(slug);
const made = (await sentry.request(\"POST\", `${org}/dashboards/`, { body: rest })).data;
await sentry.request(\"PUT\", `${org}/dashboards/${made.id}/`, { body: { title: rest.title, environment } });",
            )],
        )],
        Says::Last,
    ),
    mutant(
        "M10",
        "writes an empty description where there is none",
        &["d.widgets"],
        &[Step::Write(
            PROGRAM,
            &[("  ...widget,\n", "  ...widget,\n  description: widget.description ?? \"\",\n")],
        )],
        Says::Last,
    ),
    mutant(
        "M11",
        "makes three and takes one away",
        &["c.no-delete"],
        &[Step::Write(
            PROGRAM,
            &[(
                "const dashboards = [];",
                "const dashboards = [];
const spare = (await sentry.request(\"POST\", `${org}/dashboards/`, { body: { ...copy(\"quay-api\"), title: \"Checkout health - draft\" } })).data;
await sentry.request(\"DELETE\", `${org}/dashboards/${spare.id}/`);",
            )],
        )],
        Says::Last,
    ),
    mutant(
        "M12",
        "gives links that lead to the list",
        &["d.answer-links"],
        &[Step::Write(PROGRAM, &[("/dashboard/${made.id}/`", "/dashboards/`")])],
        Says::Last,
    ),
    mutant(
        "M13",
        "mixes the two projects up",
        &["d.project"],
        &[Step::Write(
            PROGRAM,
            &[("it.slug === slug).id", "it.slug !== slug && [\"quay-api\", \"tide-worker\"].includes(it.slug)).id")],
        )],
        Says::Last,
    ),
    mutant(
        "M14",
        "renames the original while it copies, and back",
        &["d.source"],
        &[Step::Write(
            PROGRAM,
            &[
                (
                    "const dashboards = [];",
                    "const dashboards = [];
const rename = (title) => sentry.request(\"PUT\", `${org}/dashboards/${source.id}/`, { body: { title } });
await rename(\"Checkout health (copying)\");",
                ),
                ("return { status", "await rename(\"Checkout health\");\nreturn { status"),
            ],
        )],
        Says::Last,
    ),
];
