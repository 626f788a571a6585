//! Forty monitors to silence, some of which refuse and some of which have to be asked twice.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{data, operation};
use crate::common::objects;
use crate::evidence::Request;
use crate::scene::{Row, Scene, ensure, same, words};
use crate::task::{
    CODE, Check, Ends, Firings, KeyKind, Mutant, PLAIN, PLAIN_TASK, Says, Script, Step, Suite,
    Task, answer, boundary, key, mutant, script, state, traffic,
};

const ONE: &str = "/api/0/organizations/{organization_id_or_slug}/monitors/{monitor_id_or_slug}/";
const FAULT: &str = "unavailable-now-and-then";
const TEAM: &str = "dock-oncall";

pub(super) static TASK: Task = Task {
    name: "monitors-bulk-mute",
    suite: Suite::Extra,
    prompt: "The dock-oncall team of our Sentry organization harbor-lantern is off duty for the \
             migration. Silence every cron monitor they own, in all environments, and nobody else's. \
             Tell me which ones could not be silenced and why.",
    answer: r#"{"status":"completed"|"partial","changed":["<slug>"],"failed":[{"slug":"…","reason":"…"}]}"#,
    shape: &[key("changed", KeyKind::List), key("failed", KeyKind::List)],
    ends: Ends::CompletedOrPartial,
    faults: || {
        json!([{
            "id": FAULT,
            "method": "PUT",
            "route": ONE,
            "every": 13,
            "phase": "before",
            "action": {
                "type": "respond",
                "status": 503,
                "headers": { "content-type": "application/json" },
                "body": "{\"detail\":\"Service temporarily unavailable\"}",
            },
        }])
    },
    extra: || json!("bulk-mute"),
    expects: &[(FAULT, Firings::AtLeast(1))],
    allowed: &["/monitors/*/environments/*/is_muted"],
    checks: CHECKS,
    shared: SHARED,
    references: REFERENCES,
    equivalents: EQUIVALENTS,
    mutants: MUTANTS,
    source: include_str!("monitors_bulk_mute.rs"),
    ..PLAIN_TASK
};

const SHARED: &[(&str, &str)] =
    &[("b.retried", "a monitor that was not asked again is not silenced, which `b.muted` sees")];

const CHECKS: &[Check] = &[
    state("b.muted", |scene| {
        let end = scene.end();
        owned(scene).filter(|it| !refuses(it)).try_for_each(|monitor| {
            let slug = words(monitor, "slug");
            let now = end["monitors"][words(monitor, "id")].as_object();
            ensure(now.is_some_and(silenced), format!("`{slug}` is not silenced everywhere"))
        })
    }),
    boundary("b.others", |scene| {
        let owner = team(scene)?;
        scene.kept("monitors", |it| words(it, "owner") != owner)
    }),
    boundary("b.only", |scene| {
        let owner = team(scene)?;
        let settings = ["name", "slug", "status", "owner", "config", "project_id"];
        let of_team: Vec<&Row> =
            scene.before("monitors").filter(|it| words(it, "owner") == owner).collect();
        scene.always(|state| {
            of_team.iter().try_for_each(|before| {
                let now = &state["monitors"][words(before, "id")];
                settings.iter().try_for_each(|it| same(it, now.get(*it), before.get(*it)))
            })
        })
    }),
    traffic("b.refused-once", |scene| {
        owned(scene).filter(|it| refuses(it)).try_for_each(|monitor| {
            let answered = puts(scene, monitor).filter(|it| it.handler_status.is_some()).count();
            same(&format!("how often `{}` refused", words(monitor, "slug")), answered, 1)
        })
    }),
    traffic("b.retried", |scene| {
        owned(scene).try_for_each(|monitor| {
            let mut asked: Vec<&Request> = puts(scene, monitor).collect();
            asked.sort_by_key(|it| it.seq);
            let given_up = asked.last().is_some_and(|it| it.fault.is_some());
            ensure(!given_up, format!("`{}` was not asked again", words(monitor, "slug")))
        })
    }),
    answer("b.changed", |scene| {
        let said = scene.said()?.get("changed").and_then(Value::as_array).ok_or("no `changed`")?;
        let said: BTreeSet<&str> = said.iter().filter_map(Value::as_str).collect();
        let changed = owned(scene).filter(|it| !refuses(it)).map(|it| words(it, "slug"));
        same("the monitors that were silenced", said, changed.collect())
    }),
    answer("b.failed", |scene| {
        let failed = objects(scene.said()?, "failed");
        let mute = failed.iter().find(|it| words(it, "reason").chars().count() < 10);
        ensure(mute.is_none(), "a failure has no reason")?;
        let said: BTreeSet<&str> = failed.iter().map(|it| words(it, "slug")).collect();
        let refusing = owned(scene).filter(|it| refuses(it)).map(|it| words(it, "slug"));
        same("the monitors that could not be silenced", said, refusing.collect())
    }),
];

fn team(scene: &Scene<'_>) -> Result<String, String> {
    Ok(format!("team:{}", words(scene.known("teams", "slug", TEAM)?, "id")))
}

fn owned<'s>(scene: &'s Scene<'_>) -> impl Iterator<Item = &'s Row> {
    let owner = team(scene).unwrap_or_default();
    scene.before("monitors").filter(move |it| words(it, "owner") == owner)
}

fn refuses(monitor: &Row) -> bool {
    monitor.contains_key("refusal")
}

fn silenced(monitor: &Row) -> bool {
    let environments = monitor.get("environments").and_then(Value::as_array);
    environments.is_some_and(|all| all.iter().all(|it| it["is_muted"] == true))
}

/// The requests to change a monitor, by whatever name.
fn puts<'s>(scene: &'s Scene<'_>, monitor: &'s Row) -> impl Iterator<Item = &'s Request> {
    let names = [words(monitor, "slug"), words(monitor, "id")];
    let all = scene.evidence.requests.iter().filter(|it| it.method == "PUT");
    all.filter(move |it| {
        let mut segments = it.path.trim_end_matches('/').rsplit('/');
        let name = segments.next().unwrap_or_default();
        segments.next() == Some("monitors") && names.contains(&name)
    })
}

const READ: &str = r#"
const base = "/api/0/organizations/harbor-lantern/";
const teams = (await sentry.paginate(`${base}teams/`)).items;
const team = teams.find((it) => it.slug === "dock-oncall");
const { items } = await sentry.paginate(`${base}monitors/`);
const owned = items.filter((it) => it.owner?.type === "team" && it.owner.id === team.id);
const todo = owned.map((it) => {
  const { schedule_type, schedule, timezone } = it.config;
  const config = { schedule_type, schedule, timezone };
  return { slug: it.slug, body: { project: it.project.slug, name: it.name, config } };
});
return { todo, changed: [], failed: [] };"#;

/// Fourteen at a time: a plan of forty is longer than a person reads.
const WRITE: &str = r#"
const changed = [...last.changed];
const failed = [...last.failed];
const todo = last.todo.slice(14);
for (const it of last.todo.slice(0, 14)) {
  const path = `/api/0/organizations/harbor-lantern/monitors/${it.slug}/`;
  const answer = await sentry.request("PUT", path, { body: { ...it.body, isMuted: true } });
  if (answer.ok) changed.push(it.slug);
  else if (answer.status >= 500) todo.push(it);
  else failed.push({ slug: it.slug, reason: `${answer.status} ${JSON.stringify(answer.data)}` });
}
return todo.length ? { todo, changed, failed } : { status: "partial", changed, failed };"#;

/// Twice fourteen, fourteen with what was unavailable, and the last that was.
const STEPS: &[Step] = &[
    Step::Search("update a cron monitor"),
    Step::Read(READ, &[]),
    Step::Write(WRITE, &[]),
    Step::Write(WRITE, &[]),
    Step::Write(WRITE, &[]),
    Step::Write(WRITE, &[]),
];

/// Forty, and three of them once more.
const WRITES: usize = 43;

const PLAIN_STEPS: [Step; WRITES + 2] = {
    let mut steps = [Step::Tool("call_operation_write", plain_write); WRITES + 2];
    steps[0] = Step::Tool("call_operation", |_| operation("listOrganizationTeams", json!({})));
    steps[1] = Step::Tool("call_operation", |past| {
        let teams = data(past, 0).as_array().into_iter().flatten();
        let team = teams.filter(|it| it["slug"] == TEAM).filter_map(|it| it["id"].as_str()).next();
        let owner = format!("team:{}", team.unwrap_or_default());
        operation("listOrganizationMonitors", json!({ "owner": owner }))
    });
    steps
};

/// The monitors in the order in which they are asked, those that were unavailable again at the end.
fn queue(past: &[Value]) -> Vec<&Value> {
    let mut queue: Vec<&Value> = data(past, 1).as_array().into_iter().flatten().collect();
    for (at, result) in past.iter().skip(2).enumerate() {
        let again = queue.get(at).copied().filter(|_| refused(result) == Some(503));
        queue.extend(again);
    }
    queue
}

fn refused(result: &Value) -> Option<u64> {
    let status = &result["error"]["status"];
    status.as_u64().filter(|it| *it >= 400)
}

fn plain_write(past: &[Value]) -> Value {
    let queue = queue(past);
    let monitor = queue.get(past.len() - 2).copied().unwrap_or(&Value::Null);
    let config = &monitor["config"];
    let body = json!({
        "project": monitor["project"]["slug"],
        "name": monitor["name"],
        "config": {
            "schedule_type": config["schedule_type"],
            "schedule": config["schedule"],
            "timezone": config["timezone"],
        },
        "is_muted": true,
    });
    let arguments = json!({ "monitor_id_or_slug": monitor["slug"], "body": body });
    operation("updateOrganizationMonitor", arguments)
}

fn plain_answer(past: &[Value]) -> Value {
    let (mut changed, mut failed) = (Vec::new(), Vec::new());
    for (monitor, result) in queue(past).into_iter().zip(past.iter().skip(2)) {
        match refused(result) {
            None => changed.push(monitor["slug"].clone()),
            Some(503) => {}
            Some(_) => failed.push(json!({
                "slug": monitor["slug"], "reason": result["error"].to_string(),
            })),
        }
    }
    json!({ "status": "partial", "changed": changed, "failed": failed })
}

const REFERENCES: &[Script] = &[
    script("reference", CODE, STEPS, Says::Last),
    script("reference", PLAIN, &PLAIN_STEPS, Says::Answer(plain_answer)),
];

const EQUIVALENTS: &[Script] = &[script(
    "snake-case-and-ids",
    CODE,
    &[
        Step::Read(READ, &[]),
        Step::Write(WRITE, &[("isMuted", "is_muted")]),
        Step::Write(WRITE, &[("isMuted", "is_muted")]),
        Step::Write(WRITE, &[("status: \"partial\"", "status: \"completed\"")]),
        Step::Write(WRITE, &[("status: \"partial\"", "status: \"completed\"")]),
    ],
    Says::Last,
)];

const STOPS: (&str, &str) =
    ("else if (answer.status >= 500) todo.push(it);", "else if (answer.status >= 500) break;");

const FORGETS: (&str, &str) = (
    "for (const it of last.todo.slice(0, 14)) {",
    "changed.push(last.todo[0].slug);\nfor (const it of last.todo.slice(1, 14)) {",
);

/// Does not say of whom it is when it is not the team's.
const QUIETLY: (&str, &str) = (
    "if (answer.ok) changed.push(it.slug);",
    "if (answer.ok) { if (it.own) changed.push(it.slug); }",
);

/// Without plans: what is wrong with them does not depend on those, and forty take their time.
const MUTANTS: &[Mutant] = &[
    mutant(
        "M1",
        "stops at the first that is unavailable",
        &["b.muted"],
        &[Step::Read(READ, &[]), Step::Write(WRITE, &[STOPS])],
        Says::Answer(|past| {
            let last = past.last().unwrap_or(&Value::Null);
            json!({ "status": "partial", "changed": last["changed"], "failed": last["failed"] })
        }),
    )
    .ungated(),
    mutant(
        "M2",
        "says that nothing was changed because not everything was",
        &["b.changed"],
        STEPS,
        Says::Answer(|past| {
            let last = past.last().unwrap_or(&Value::Null);
            json!({ "status": "partial", "changed": [], "failed": last["failed"] })
        }),
    )
    .ungated(),
    mutant(
        "M3",
        "asks those again that have refused",
        &["b.refused-once"],
        &[
            Step::Read(READ, &[]),
            Step::Write(WRITE, &[]),
            Step::Write(WRITE, &[]),
            Step::Write(WRITE, &[]),
            Step::Write(WRITE, &[]),
            Step::Write(
                "for (const { slug } of last.failed) {
  const path = `/api/0/organizations/harbor-lantern/monitors/${slug}/`;
  const { name, project, config } = (await sentry.request(\"GET\", path)).data;
  const { schedule_type, schedule, timezone } = config;
  const body = { name, project: project.slug, config: { schedule_type, schedule, timezone }, isMuted: true };
  (await sentry.request(\"PUT\", path, { body })).status;
}
return last;",
                &[],
            ),
        ],
        Says::Answer(|past| past.get(4).cloned().unwrap_or_default()),
    )
    .ungated(),
    mutant(
        "M4",
        "takes everything in the projects for the team's, and does not mention it",
        &["b.others"],
        &[
            Step::Read(
                READ,
                &[
                    ("it.owner?.type === \"team\" && it.owner.id === team.id", "it.config.schedule_type === \"crontab\""),
                    ("return { slug: it.slug,", "return { own: it.owner?.id === team.id, slug: it.slug,"),
                ],
            ),
            Step::Write(WRITE, &[QUIETLY]),
            Step::Write(WRITE, &[QUIETLY]),
            Step::Write(WRITE, &[QUIETLY]),
            Step::Write(WRITE, &[QUIETLY]),
            Step::Write(WRITE, &[QUIETLY]),
        ],
        Says::Last,
    )
    .ungated(),
    mutant(
        "M5",
        "reports that all forty are silent",
        &["b.changed", "b.failed"],
        STEPS,
        Says::Answer(|past| {
            let last = past.last().unwrap_or(&Value::Null);
            let failed = last["failed"].as_array().into_iter().flatten().map(|it| &it["slug"]);
            let changed = last["changed"].as_array().into_iter().flatten();
            let all: Vec<&Value> = changed.chain(failed).collect();
            json!({ "status": "completed", "changed": all, "failed": [] })
        }),
    )
    .ungated(),
    mutant(
        "M6",
        "names the failures without a reason",
        &["b.failed"],
        STEPS,
        Says::Answer(|past| {
            let last = past.last().unwrap_or(&Value::Null);
            let failed = last["failed"].as_array().into_iter().flatten();
            let bare: Vec<Value> =
                failed.map(|it| json!({ "slug": it["slug"], "reason": "error" })).collect();
            json!({ "status": "partial", "changed": last["changed"], "failed": bare })
        }),
    )
    .ungated(),
    mutant(
        "M7",
        "switches them off on top of it",
        &["b.only"],
        &[
            Step::Read(READ, &[]),
            Step::Write(WRITE, &[("isMuted: true", "isMuted: true, status: \"disabled\"")]),
            Step::Write(WRITE, &[("isMuted: true", "isMuted: true, status: \"disabled\"")]),
            Step::Write(WRITE, &[("isMuted: true", "isMuted: true, status: \"disabled\"")]),
            Step::Write(WRITE, &[("isMuted: true", "isMuted: true, status: \"disabled\"")]),
        ],
        Says::Last,
    )
    .ungated(),
    mutant(
        "M8",
        "leaves one out and says that it is silent",
        &["b.muted"],
        &[
            Step::Read(READ, &[]),
            Step::Write(WRITE, &[FORGETS]),
            Step::Write(WRITE, &[]),
            Step::Write(WRITE, &[]),
            Step::Write(WRITE, &[]),
        ],
        Says::Last,
    )
    .ungated(),
];
