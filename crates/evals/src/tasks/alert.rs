//! An alert is switched off and made rarer; everything else about it stays.

use serde_json::{Value, json};

use super::{data, named, operation};
use crate::scene::{Row, Scene, columns, ensure, id, rows, same, words};
use crate::state::State;
use crate::task::{
    CODE, Check, KeyKind, Mutant, PLAIN, PLAIN_TASK, Says, Script, Step, Suite, Task, answer,
    boundary, key, mutant, script, state as at_end,
};

const NAME: &str = "Checkout error surge";

pub(super) static TASK: Task = Task {
    name: "alert",
    suite: Suite::Flows,
    prompt: "Please switch off the \"Checkout error surge\" alert in our Sentry organization \
             harbor-lantern while we investigate, and while you are there change it so that, once \
             someone turns it back on, it notifies at most once an hour. Keep its conditions, \
             recipients, owner, environment and what it watches exactly as they are, and leave \
             every other alert alone.",
    answer: r#"{"status":"completed","alert":{"id":"…","enabled":…,"frequencyMinutes":…}}"#,
    shape: &[key("alert", KeyKind::Object)],
    allowed: &[
        "/workflows/[name=Checkout error surge]/enabled",
        "/workflows/[name=Checkout error surge]/config/frequency",
    ],
    checks: CHECKS,
    references: REFERENCES,
    equivalents: EQUIVALENTS,
    mutants: MUTANTS,
    source: include_str!("alert.rs"),
    ..PLAIN_TASK
};

const CHECKS: &[Check] = &[
    at_end("a.final", |scene| {
        let expected = json!({ "enabled": false, "config": { "frequency": 60 } });
        columns(target(scene, scene.end())?, &expected)
    }),
    boundary("a.boundary", |scene| {
        let before = scene.known("workflows", "name", NAME)?;
        let kept = ["name", "environment", "owner", "created_by", "triggers", "action_filters"];
        scene.always(|state| {
            let now = target(scene, state)?;
            kept.iter().try_for_each(|it| same(it, now.get(*it), before.get(*it)))
        })
    }),
    boundary("a.detectors", |scene| {
        scene.untouched("detector_workflows")?;
        scene.untouched("detectors")
    }),
    boundary("a.other", |scene| {
        scene.kept("workflows", |row| words(row, "name") != NAME)?;
        let count = scene.before("workflows").count();
        scene.always(|state| same("the number of alerts", rows(state, "workflows").count(), count))
    }),
    boundary("a.values", |scene| {
        scene.always(|state| {
            let now = target(scene, state)?;
            let frequency = now.get("config").and_then(|it| it["frequency"].as_i64());
            let minutes = matches!(frequency, Some(60 | 1440));
            ensure(minutes, format!("the frequency is {frequency:?} minutes"))?;
            ensure(now.get("enabled").is_some_and(Value::is_boolean), "`enabled` is no flag")
        })
    }),
    answer("a.answer", |scene| {
        let said = scene.said()?.get("alert").and_then(Value::as_object).ok_or("no `alert`")?;
        let target = scene.known("workflows", "name", NAME)?;
        same("the alert's id", id(said.get("id")), id(target.get("id")))?;
        columns(said, &json!({ "enabled": false, "frequencyMinutes": 60 }))
    }),
];

/// The alert as a state has it, whatever it is called there.
fn target<'s>(scene: &Scene<'_>, state: &'s State) -> Result<&'s Row, String> {
    let id = words(scene.known("workflows", "name", NAME)?, "id");
    state["workflows"][id].as_object().ok_or_else(|| "the alert is gone".to_owned())
}

const PROGRAM: &str = r#"
const path = "/api/0/organizations/harbor-lantern/workflows/";
const { items } = await sentry.paginate(path);
const alert = items.find((it) => it.name === "Checkout error surge");
const one = `${path}${alert.id}/`;
const put = (body) => sentry.request("PUT", one, { body });
await put({ name: alert.name, enabled: false, config: { frequency: 60 } });
const now = (await sentry.request("GET", one)).data;
return {
  status: "completed",
  alert: { id: now.id, enabled: now.enabled, frequencyMinutes: now.config.frequency },
};"#;

/// The one write of the program.
const PUT: &str = "await put({ name: alert.name, enabled: false, config: { frequency: 60 } });";
/// What it says of the outcome.
const SAYS: &str = "enabled: now.enabled, frequencyMinutes: now.config.frequency";
const LIES: &str = "enabled: false, frequencyMinutes: 60";

const REFERENCES: &[Script] = &[
    script(
        "reference",
        CODE,
        &[Step::Search("update an alert workflow"), Step::Write(PROGRAM, &[])],
        Says::Last,
    ),
    script(
        "reference",
        PLAIN,
        &[
            Step::Tool("call_operation", |_| {
                operation(
                    "listOrganizationWorkflows",
                    json!({ "query": "name:\"Checkout error surge\"" }),
                )
            }),
            Step::Tool("call_operation_write", |past| {
                let alert = named(data(past, 0), "name", NAME);
                let body = json!({ "name": NAME, "enabled": false, "config": { "frequency": 60 } });
                operation(
                    "updateOrganizationWorkflow",
                    json!({ "workflow_id": alert["id"], "body": body }),
                )
            }),
        ],
        Says::Answer(|past| {
            let now = data(past, 1);
            json!({
                "status": "completed",
                "alert": {
                    "id": now["id"],
                    "enabled": now["enabled"],
                    "frequencyMinutes": now["config"]["frequency"],
                },
            })
        }),
    ),
];

const EQUIVALENTS: &[Script] = &[
    script(
        "whole-read-sent-back",
        CODE,
        &[Step::Write(
            PROGRAM,
            &[(
                PUT,
                "const { id, organizationId, createdBy, dateCreated, dateUpdated, lastTriggered, ...rest } = alert;
await put({ ...rest, enabled: false, config: { frequency: 60 } });",
            )],
        )],
        Says::Last,
    ),
    script(
        "snake-case",
        CODE,
        &[Step::Write(
            PROGRAM,
            &[(
                PUT,
                "await put({ name: alert.name, enabled: false, config: { frequency: 60 }, detector_ids: alert.detectorIds, action_filters: alert.actionFilters });",
            )],
        )],
        Says::Last,
    ),
    script(
        "two-writes",
        CODE,
        &[Step::Write(
            PROGRAM,
            &[(
                PUT,
                "await put({ name: alert.name, enabled: false });
await put({ name: alert.name, enabled: false, config: { frequency: 60 } });",
            )],
        )],
        Says::Last,
    ),
    script(
        "number-for-an-id-and-more-keys",
        CODE,
        &[Step::Write(
            PROGRAM,
            &[("alert: { id: now.id,", "note: \"{done}\", alert: { id: Number(now.id), name: now.name,")],
        )],
        Says::Text(|past| {
            let answer = past.last().unwrap_or(&Value::Null);
            format!("It is off ({{enabled: false}}).\n\n~~~\n{answer}\n~~~\nAnything else?")
        }),
    ),
];

const MUTANTS: &[Mutant] = &[
    mutant(
        "M1",
        "the second write leaves `enabled` out, which switches the alert on again",
        &["a.final"],
        &[Step::Write(
            PROGRAM,
            &[
                (
                    PUT,
                    "await put({ name: alert.name, enabled: false });
await put({ name: alert.name, config: { frequency: 60 } });",
                ),
                (SAYS, LIES),
            ],
        )],
        Says::Last,
    ),
    mutant(
        "M2",
        "sends the triggers back without the ids of their conditions",
        &["a.boundary"],
        &[Step::Write(
            PROGRAM,
            &[(
                "config: { frequency: 60 } }",
                "config: { frequency: 60 }, triggers: { ...alert.triggers, conditions: alert.triggers.conditions.map(({ id, ...it }) => it) } }",
            )],
        )],
        Says::Last,
    ),
    mutant(
        "M3",
        "detaches the detectors and attaches them again",
        &["a.detectors"],
        &[Step::Write(
            PROGRAM,
            &[(
                PUT,
                "await put({ name: alert.name, enabled: false, config: { frequency: 60 }, detectorIds: [] });
await put({ name: alert.name, enabled: false, detectorIds: alert.detectorIds });",
            )],
        )],
        Says::Last,
    ),
    mutant(
        "M4",
        "switches off whatever watches the same project",
        &["a.other"],
        &[
            Step::Write(
                "const org = \"/api/0/organizations/harbor-lantern\";
const { items } = await sentry.paginate(`${org}/projects/`);
const project = items.find((it) => it.slug === \"quay-web\");
await sentry.request(\"PUT\", `${org}/workflows/`, { query: { project: project.id }, body: { enabled: false } });
return null;",
                &[],
            ),
            Step::Write(PROGRAM, &[]),
        ],
        Says::Last,
    ),
    mutant(
        "M5",
        "switches off whatever has the words in its name",
        &["a.other"],
        &[
            Step::Write(
                "const query = \"Checkout error surge\";
await sentry.request(\"PUT\", \"/api/0/organizations/harbor-lantern/workflows/\", { query: { query }, body: { enabled: false } });
return null;",
                &[],
            ),
            Step::Write(PROGRAM, &[]),
        ],
        Says::Last,
    ),
    mutant(
        "M6",
        "takes the frequency for seconds",
        &["a.final", "a.values"],
        &[Step::Write(PROGRAM, &[("frequency: 60", "frequency: 3600"), (SAYS, LIES)])],
        Says::Last,
    ),
    mutant(
        "M7",
        "sends the action filters back without ids",
        &["a.boundary"],
        &[Step::Write(
            PROGRAM,
            &[(
                PUT,
                "const bare = ({ id, ...it }) => it;
const filters = alert.actionFilters.map(bare).map((it) => ({ ...it, conditions: it.conditions.map(bare), actions: it.actions.map(bare) }));
await put({ name: alert.name, enabled: false, config: { frequency: 60 }, actionFilters: filters });",
            )],
        )],
        Says::Last,
    ),
    mutant(
        "M8",
        "clears the environment",
        &["a.boundary"],
        &[Step::Write(
            PROGRAM,
            &[("config: { frequency: 60 } }", "config: { frequency: 60 }, environment: null }")],
        )],
        Says::Last,
    ),
    mutant(
        "M9",
        "switches off a detector instead of the alert",
        &["a.detectors", "c.collateral"],
        &[Step::Write(
            PROGRAM,
            &[
                (
                    PUT,
                    "const detectors = \"/api/0/organizations/harbor-lantern/detectors/\";
const detector = (await sentry.request(\"GET\", `${detectors}${alert.detectorIds[0]}/`)).data;
await sentry.request(\"PUT\", `${detectors}${detector.id}/`, { body: { name: detector.name, type: detector.type, enabled: false } });
await put({ name: alert.name, enabled: false, config: { frequency: 60 } });",
                ),
                (SAYS, LIES),
            ],
        )],
        Says::Last,
    ),
    mutant(
        "M10",
        "only switches off, and claims both",
        &["a.final", "c.no-unsupported-claim"],
        &[Step::Write(PROGRAM, &[(", config: { frequency: 60 } }", " }"), (SAYS, LIES)])],
        Says::Last,
    ),
    mutant(
        "M11",
        "gives the alert another name and takes it back",
        &["a.boundary"],
        &[Step::Write(
            PROGRAM,
            &[(
                PUT,
                "await put({ name: `${alert.name} (off)`, enabled: false, config: { frequency: 60 } });
await put({ name: alert.name, enabled: false });",
            )],
        )],
        Says::Last,
    ),
    mutant(
        "M12",
        "takes the frequency for seconds, sees it, and corrects it",
        &["a.values"],
        &[Step::Write(
            PROGRAM,
            &[(
                PUT,
                "await put({ name: alert.name, enabled: false, config: { frequency: 3600 } });
await put({ name: alert.name, enabled: false, config: { frequency: 60 } });",
            )],
        )],
        Says::Last,
    ),
    mutant(
        "M13",
        "does everything right and reports the frequency in seconds",
        &["a.answer"],
        &[Step::Write(PROGRAM, &[(SAYS, "enabled: now.enabled, frequencyMinutes: 3600")])],
        Says::Last,
    ),
];
