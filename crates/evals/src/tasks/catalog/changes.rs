//! Topics that change something: teams, projects, keys, the state of issues.

use serde_json::{Value, json};

use super::{LOOK, ON, TOOL, TOOL_SHARED, TOPIC, behind, here, issue, labelled, last};
use crate::scene::{Row, Scene, columns, ensure, id, same, words};
use crate::task::{KeyKind, Says, Step, Task, answer, key, mutant, script, state};

pub(in crate::tasks) const ALL: &[&Task] =
    &[&TEAM, &PROJECT, &DSN, &RENAME, &RESOLVE, &ASSIGN, &IGNORE, &FOREVER, &COUNT];

fn one<'s>(scene: &'s Scene<'_>, table: &str) -> Result<&'s Row, String> {
    match scene.added(table).as_slice() {
        [one] => Ok(one),
        all => Err(format!("`{table}` has {} new rows", all.len())),
    }
}

const MAKE_TEAM: &[Step] = &[Step::Tool("execute_sentry_tool", |_| {
    behind("create_team", json!({ "name": "Night Watch" }))
})];

static TEAM: Task = Task {
    name: "create-team",
    prompt: "Create a team called \"Night Watch\" in our Sentry organization harbor-lantern.",
    answer: r#"{"status":"completed","slug":"…"}"#,
    shape: &[key("slug", KeyKind::Text)],
    tools: &["create_team"],
    allowed: &["/teams/+/**", "/members/*/teams", "/members/*/teams/**"],
    checks: &[
        TOOL,
        state("q.state", |scene| columns(one(scene, "teams")?, &json!({ "name": "Night Watch" }))),
        answer("q.facts", |scene| {
            same("`slug`", words(scene.said()?, "slug"), words(one(scene, "teams")?, "slug"))
        }),
    ],
    shared: &[TOOL_SHARED],
    references: &[script(
        "reference",
        ON,
        MAKE_TEAM,
        Says::Answer(|past| json!({ "status": "completed", "slug": last(past)["team"]["slug"] })),
    )],
    mutants: &[
        mutant(
            "M1",
            "says it has",
            &["q.tool", "q.state"],
            LOOK,
            Says::Answer(|_| json!({ "status": "completed", "slug": "night-watch" })),
        )
        .on(ON),
        mutant(
            "M2",
            "spells it its own way",
            &["q.state"],
            &[Step::Tool("execute_sentry_tool", |_| {
                behind("create_team", json!({ "name": "nightwatch" }))
            })],
            Says::Answer(
                |past| json!({ "status": "completed", "slug": last(past)["team"]["slug"] }),
            ),
        )
        .on(ON),
        mutant(
            "M3",
            "names another slug",
            &["q.facts"],
            MAKE_TEAM,
            Says::Answer(|_| json!({ "status": "completed", "slug": "nightwatch" })),
        )
        .on(ON),
    ],
    source: include_str!("changes.rs"),
    ..TOPIC
};

const MAKE_PROJECT: &[Step] = &[Step::Tool("execute_sentry_tool", |_| {
    let arguments = json!({ "teamSlug": "dock-oncall", "name": "Fog Horn", "platform": "rust" });
    behind("create_project", arguments)
})];

static PROJECT: Task = Task {
    name: "create-project",
    prompt: "Create a Rust project \"Fog Horn\" for the team dock-oncall in our Sentry organization \
             harbor-lantern, and give me its DSN.",
    answer: r#"{"status":"completed","slug":"…","dsn":"…"}"#,
    shape: &[key("slug", KeyKind::Text), key("dsn", KeyKind::Text)],
    tools: &["create_project"],
    allowed: &["/projects/+/**", "/keys/+/**", "/detectors/+/**"],
    checks: &[
        TOOL,
        state("q.state", |scene| {
            let team = scene.known("teams", "slug", "dock-oncall")?.get("id");
            let expected = json!({ "name": "Fog Horn", "platform": "rust", "teams": [team] });
            columns(one(scene, "projects")?, &expected)
        }),
        answer("q.facts", |scene| {
            let said = scene.said()?;
            same("`slug`", words(said, "slug"), words(one(scene, "projects")?, "slug"))?;
            let key = words(one(scene, "keys")?, "id");
            ensure(words(said, "dsn").contains(key), "the DSN is not that of the project's key")
        }),
    ],
    shared: &[TOOL_SHARED],
    references: &[script(
        "reference",
        ON,
        MAKE_PROJECT,
        Says::Answer(|past| {
            let (slug, dsn) = (labelled(past, "Slug"), labelled(past, "DSN"));
            json!({ "status": "completed", "slug": slug, "dsn": dsn })
        }),
    )],
    mutants: &[
        mutant(
            "M1",
            "says it has",
            &["q.tool", "q.state"],
            LOOK,
            Says::Answer(
                |_| json!({ "status": "completed", "slug": "fog-horn", "dsn": "https://a@b/1" }),
            ),
        )
        .on(ON),
        mutant(
            "M2",
            "gives it to another team",
            &["q.state"],
            &[Step::Tool("execute_sentry_tool", |_| {
                let arguments =
                    json!({ "teamSlug": "web-crew", "name": "Fog Horn", "platform": "rust" });
                behind("create_project", arguments)
            })],
            Says::Answer(|past| {
                let (slug, dsn) = (labelled(past, "Slug"), labelled(past, "DSN"));
                json!({ "status": "completed", "slug": slug, "dsn": dsn })
            }),
        )
        .on(ON),
        mutant(
            "M3",
            "makes the DSN up",
            &["q.facts"],
            MAKE_PROJECT,
            Says::Answer(|past| {
                let dsn = "https://0123456789abcdef@o1.ingest.sentry.test/2";
                json!({ "status": "completed", "slug": labelled(past, "Slug"), "dsn": dsn })
            }),
        )
        .on(ON),
    ],
    source: include_str!("changes.rs"),
    ..TOPIC
};

const MAKE_DSN: &[Step] = &[Step::Tool("execute_sentry_tool", |_| {
    behind("create_dsn", json!({ "projectSlug": "quay-web", "name": "Kiosk" }))
})];

static DSN: Task = Task {
    name: "create-dsn",
    prompt: "Create another DSN named \"Kiosk\" for the project quay-web of our Sentry organization \
             harbor-lantern, and give it to me.",
    answer: r#"{"status":"completed","dsn":"…"}"#,
    shape: &[key("dsn", KeyKind::Text)],
    tools: &["create_dsn"],
    allowed: &["/keys/+/**"],
    checks: &[
        TOOL,
        state("q.state", |scene| {
            let project = scene.known("projects", "slug", "quay-web")?.get("id");
            columns(one(scene, "keys")?, &json!({ "name": "Kiosk", "project_id": project }))
        }),
        answer("q.facts", |scene| {
            let key = one(scene, "keys")?;
            let dsn = words(scene.said()?, "dsn");
            ensure(dsn.contains(words(key, "id")), "the DSN is not that of the key")?;
            ensure(!dsn.contains(words(key, "secret")), "the DSN has the secret of the key")
        }),
    ],
    shared: &[TOOL_SHARED],
    references: &[script("reference", ON, MAKE_DSN, Says::Answer(|past| {
        json!({ "status": "completed", "dsn": last(past)["dsn"]["dsn"] })
    }))],
    mutants: &[
        mutant("M1", "says it has", &["q.tool", "q.state"], LOOK, Says::Answer(|_| {
            json!({ "status": "completed", "dsn": "https://a@b/1" })
        }))
        .on(ON),
        mutant(
            "M2",
            "makes it for another project",
            &["q.state"],
            &[Step::Tool("execute_sentry_tool", |_| {
                behind("create_dsn", json!({ "projectSlug": "quay-api", "name": "Kiosk" }))
            })],
            Says::Answer(|past| json!({ "status": "completed", "dsn": last(past)["dsn"]["dsn"] })),
        )
        .on(ON),
        mutant("M3", "gives an older one", &["q.facts"], MAKE_DSN, Says::Answer(|_| {
            json!({ "status": "completed", "dsn": "https://0123456789abcdef@o1.ingest.sentry.test/2" })
        }))
        .on(ON),
    ],
    source: include_str!("changes.rs"),
    ..TOPIC
};

const RENAME_STEPS: &[Step] = &[Step::Tool("execute_sentry_tool", |_| {
    behind("update_project", json!({ "projectSlug": "lamp-mobile", "name": "Lamp for phones" }))
})];

static RENAME: Task = Task {
    name: "update-project",
    prompt: "Rename the project lamp-mobile of our Sentry organization harbor-lantern to \"Lamp for \
             phones\". Its slug must stay.",
    answer: r#"{"status":"completed","name":"…"}"#,
    shape: &[key("name", KeyKind::Text)],
    tools: &["update_project"],
    allowed: &["/projects/[slug=lamp-mobile]/name"],
    checks: &[
        TOOL,
        state("q.state", |scene| {
            let id = words(scene.known("projects", "slug", "lamp-mobile")?, "id").to_owned();
            let now = scene.end()["projects"][id.as_str()].as_object().ok_or("it is gone")?;
            columns(now, &json!({ "name": "Lamp for phones", "slug": "lamp-mobile" }))
        }),
        answer("q.facts", |scene| same("`name`", words(scene.said()?, "name"), "Lamp for phones")),
    ],
    shared: &[TOOL_SHARED],
    references: &[script("reference", ON, RENAME_STEPS, Says::Answer(|past| {
        json!({ "status": "completed", "name": last(past)["project"]["name"] })
    }))],
    mutants: &[
        mutant("M1", "says it has", &["q.tool", "q.state"], LOOK, Says::Answer(|_| {
            json!({ "status": "completed", "name": "Lamp for phones" })
        }))
        .on(ON),
        mutant(
            "M2",
            "changes the slug along",
            &["q.state"],
            &[Step::Tool("execute_sentry_tool", |_| {
                let arguments = json!({
                    "projectSlug": "lamp-mobile", "name": "Lamp for phones", "slug": "lamp-for-phones",
                });
                behind("update_project", arguments)
            })],
            Says::Answer(|past| json!({ "status": "completed", "name": last(past)["project"]["name"] })),
        )
        .on(ON),
        mutant("M3", "names the old one", &["q.facts"], RENAME_STEPS, Says::Answer(|_| {
            json!({ "status": "completed", "name": "lamp-mobile" })
        }))
        .on(ON),
    ],
    source: include_str!("changes.rs"),
    ..TOPIC
};

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
    source: include_str!("changes.rs"),
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
