//! Topics of triage: what becomes of an issue, and what Seer makes of one.

use serde_json::{Value, json};

use super::{LOOK, ON, TOOL, TOOL_SHARED, TOPIC, here, issue, labelled};
use crate::scene::{Row, Scene, columns, ensure, id, same, words};
use crate::task::{KeyKind, Says, Step, Task, answer, key, mutant, script, state};

pub(in crate::tasks) const ALL: &[&Task] = &[&RESOLVE, &ASSIGN, &IGNORE, &FOREVER, &COUNT, &SEER];

/// What `update_issue` may move of the issue these topics are about.
const ISSUE_PATHS: &[&str] = &[
    "/issues/[short_id=QUAY-API-2]/status",
    "/issues/[short_id=QUAY-API-2]/substatus",
    "/issues/[short_id=QUAY-API-2]/status_details",
    "/issues/[short_id=QUAY-API-2]/status_details/**",
    "/issues/[short_id=QUAY-API-2]/assigned_to",
    "/activities/+/**",
];

/// The issue as it is at the end.
fn now<'s>(scene: &'s Scene<'_>) -> Result<&'s Row, String> {
    let id = words(issue(scene, "QUAY-API-2")?, "id").to_owned();
    scene.end()["issues"][id.as_str()].as_object().ok_or_else(|| "it is gone".to_owned())
}

fn update(mut arguments: Value) -> Value {
    arguments["issueId"] = "QUAY-API-2".into();
    here(arguments)
}

fn told(past: &[Value]) -> Value {
    json!({ "status": "completed", "issue": "QUAY-API-2", "state": labelled(past, "Status") })
}

fn claimed(_: &[Value]) -> Value {
    json!({ "status": "completed", "issue": "QUAY-API-2", "state": "done" })
}

const ISSUE: Task = Task {
    answer: r#"{"status":"completed","issue":"<short id>","state":"<what it is now>"}"#,
    shape: &[key("issue", KeyKind::Text), key("state", KeyKind::Text)],
    tools: &["update_issue"],
    allowed: ISSUE_PATHS,
    shared: &[TOOL_SHARED],
    source: include_str!("triage.rs"),
    ..TOPIC
};

static RESOLVE: Task = Task {
    name: "resolve-issue",
    prompt: "Resolve the issue QUAY-API-2 in our Sentry organization harbor-lantern.",
    checks: &[
        TOOL,
        state("q.state", |scene| {
            let before = issue(scene, "QUAY-API-2")?;
            same("the owner", now(scene)?.get("assigned_to"), before.get("assigned_to"))?;
            columns(now(scene)?, &json!({ "status": "resolved", "status_details": {} }))
        }),
    ],
    references: &[script(
        "reference",
        ON,
        &[Step::Tool("update_issue", |_| update(json!({ "status": "resolved" })))],
        Says::Answer(told),
    )],
    mutants: &[
        mutant("M1", "says it has", &["q.tool", "q.state"], LOOK, Says::Answer(claimed)).on(ON),
        mutant(
            "M2",
            "resolves it in the next release",
            &["q.state"],
            &[Step::Tool("update_issue", |_| update(json!({ "status": "resolvedInNextRelease" })))],
            Says::Answer(told),
        )
        .on(ON),
    ],
    ..ISSUE
};

static ASSIGN: Task = Task {
    name: "assign-issue",
    prompt: "Assign the issue QUAY-API-2 in our Sentry organization harbor-lantern to me.",
    checks: &[
        TOOL,
        state("q.state", |scene| {
            let before = issue(scene, "QUAY-API-2")?;
            same("the status", now(scene)?.get("status"), before.get("status"))?;
            let me = scene.known("members", "email", "eval@harbor-lantern.test")?;
            let me = id(me.get("user_id")).unwrap_or_default();
            same("the owner", words(now(scene)?, "assigned_to"), format!("user:{me}").as_str())
        }),
    ],
    references: &[script(
        "reference",
        ON,
        &[Step::Tool("update_issue", |_| update(json!({ "assignedTo": "me" })))],
        Says::Answer(told),
    )],
    mutants: &[
        mutant("M1", "says it has", &["q.tool", "q.state"], LOOK, Says::Answer(claimed)).on(ON),
        mutant(
            "M2",
            "resolves it along",
            &["q.state"],
            &[Step::Tool("update_issue", |_| {
                update(json!({ "assignedTo": "me", "status": "resolved" }))
            })],
            Says::Answer(told),
        )
        .on(ON),
    ],
    ..ISSUE
};

static IGNORE: Task = Task {
    name: "ignore-issue",
    prompt: "Archive the issue QUAY-API-2 in our Sentry organization harbor-lantern until it escalates.",
    checks: &[
        TOOL,
        state("q.state", |scene| {
            let expected = json!({ "status": "ignored", "substatus": "archived_until_escalating" });
            columns(now(scene)?, &expected)
        }),
    ],
    references: &[script(
        "reference",
        ON,
        &[Step::Tool("update_issue", |_| update(json!({ "status": "ignored" })))],
        Says::Answer(told),
    )],
    mutants: &[
        mutant("M1", "says it has", &["q.tool", "q.state"], LOOK, Says::Answer(claimed)).on(ON),
        mutant(
            "M2",
            "archives it for ever",
            &["q.state"],
            &[Step::Tool("update_issue", |_| {
                update(json!({ "status": "ignored", "ignoreMode": "forever" }))
            })],
            Says::Answer(told),
        )
        .on(ON),
    ],
    ..ISSUE
};

static FOREVER: Task = Task {
    name: "ignore-issue-forever",
    prompt: "Archive the issue QUAY-API-2 in our Sentry organization harbor-lantern for good: it must \
             never come back by itself.",
    checks: &[
        TOOL,
        state("q.state", |scene| {
            let expected = json!({ "status": "ignored", "substatus": "archived_forever" });
            columns(now(scene)?, &expected)
        }),
    ],
    references: &[script(
        "reference",
        ON,
        &[Step::Tool("update_issue", |_| {
            update(json!({ "status": "ignored", "ignoreMode": "forever" }))
        })],
        Says::Answer(told),
    )],
    mutants: &[
        mutant("M1", "says it has", &["q.tool", "q.state"], LOOK, Says::Answer(claimed)).on(ON),
        mutant(
            "M2",
            "archives it until it escalates",
            &["q.state"],
            &[Step::Tool("update_issue", |_| update(json!({ "status": "ignored" })))],
            Says::Answer(told),
        )
        .on(ON),
    ],
    ..ISSUE
};

const HUNDRED: fn(&[Value]) -> Value = |_| {
    update(json!({
        "status": "ignored", "ignoreMode": "untilOccurrenceCount", "ignoreCount": 100,
    }))
};

static COUNT: Task = Task {
    name: "ignore-issue-until-count",
    prompt: "Archive the issue QUAY-API-2 in our Sentry organization harbor-lantern until it has \
             happened another 100 times.",
    checks: &[
        TOOL,
        state("q.state", |scene| {
            let now = now(scene)?;
            columns(
                now,
                &json!({ "status": "ignored", "substatus": "archived_until_condition_met" }),
            )?;
            let count = now.get("status_details").and_then(|it| it["ignoreCount"].as_u64());
            same("the count", count, Some(100))
        }),
    ],
    references: &[script(
        "reference",
        ON,
        &[Step::Tool("update_issue", HUNDRED)],
        Says::Answer(told),
    )],
    mutants: &[
        mutant("M1", "says it has", &["q.tool", "q.state"], LOOK, Says::Answer(claimed)).on(ON),
        mutant(
            "M2",
            "counts users instead",
            &["q.state"],
            &[Step::Tool("update_issue", |_| {
                update(json!({
                    "status": "ignored", "ignoreMode": "untilUserCount", "ignoreUserCount": 100,
                }))
            })],
            Says::Answer(told),
        )
        .on(ON),
    ],
    ..ISSUE
};

const SEER_STEPS: &[Step] =
    &[Step::Tool("analyze_issue_with_seer", |_| here(json!({ "issueId": "QUAY-WEB-1" })))];

static SEER: Task = Task {
    name: "analyze-issue",
    prompt: "Have Seer find the root cause of QUAY-WEB-1 in our Sentry organization harbor-lantern, and \
             give me the number of its run.",
    answer: r#"{"status":"completed","run":…}"#,
    shape: &[key("run", KeyKind::Id)],
    tools: &["analyze_issue_with_seer"],
    allowed: &["/autofix_runs/+/**"],
    checks: &[
        TOOL,
        state("q.run", |scene| {
            let issue = words(issue(scene, "QUAY-WEB-1")?, "id");
            ensure(!scene.end()["autofix_runs"][issue].is_null(), "Seer was not started")
        }),
        answer("q.facts", |scene| {
            let issue = words(issue(scene, "QUAY-WEB-1")?, "id");
            let run = scene.end()["autofix_runs"][issue].get("run_id");
            same("`run`", id(scene.said()?.get("run")), id(run))
        }),
    ],
    shared: &[
        TOOL_SHARED,
        ("q.run", "a run that was not started has no number, which `q.facts` sees"),
    ],
    references: &[script(
        "reference",
        ON,
        SEER_STEPS,
        Says::Answer(|past| json!({ "status": "completed", "run": labelled(past, "Run") })),
    )],
    mutants: &[
        mutant(
            "M1",
            "says it has",
            &["q.tool", "q.run"],
            LOOK,
            Says::Answer(|_| json!({ "status": "completed", "run": 88_001 })),
        )
        .on(ON),
        mutant(
            "M2",
            "makes the number up",
            &["q.facts"],
            SEER_STEPS,
            Says::Answer(|_| json!({ "status": "completed", "run": 1 })),
        )
        .on(ON),
    ],
    source: include_str!("triage.rs"),
    ..TOPIC
};
