//! Topics that change something: teams, projects, keys.

use serde_json::{Value, json};

use super::{LOOK, ON, TOOL, TOOL_SHARED, TOPIC, behind, column, labelled, last, lists};
use crate::scene::{Row, Scene, columns, ensure, same, words};
use crate::task::{KeyKind, Says, Step, Task, answer, key, mutant, script, state};

pub(in crate::tasks) const ALL: &[&Task] = &[&TEAM, &PROJECT, &DSN, &RENAME, &SHARE];

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

const ADD_TEAM: Step = Step::Tool("execute_sentry_tool", |_| {
    behind("add_team_to_project", json!({ "projectSlug": "quay-web", "teamSlug": "dock-oncall" }))
});

fn teams(past: &[Value]) -> Value {
    json!({ "status": "completed", "teams": column(past, "teams", "slug") })
}

static SHARE: Task = Task {
    name: "add-team-to-project",
    prompt: "Let the team dock-oncall work on the project quay-web of our Sentry organization \
             harbor-lantern, beside the team that does already. Which teams are on it then?",
    answer: r#"{"status":"completed","teams":["<slug>"]}"#,
    shape: &[key("teams", KeyKind::List)],
    tools: &["add_team_to_project"],
    allowed: &["/projects/[slug=quay-web]/teams", "/projects/[slug=quay-web]/teams/**"],
    checks: &[
        TOOL,
        state("q.state", |scene| same("the teams of quay-web", on_quay_web(scene)?, BOTH.to_vec())),
        answer("q.facts", |scene| lists(scene, "teams", BOTH.into_iter())),
    ],
    shared: &[TOOL_SHARED],
    references: &[script("reference", ON, &[ADD_TEAM], Says::Answer(teams))],
    mutants: &[
        mutant(
            "M1",
            "says it has",
            &["q.tool", "q.state"],
            LOOK,
            Says::Answer(|_| json!({ "status": "completed", "teams": BOTH })),
        )
        .on(ON),
        mutant(
            "M2",
            "takes the other team off",
            &["q.state"],
            &[
                ADD_TEAM,
                Step::Tool("execute_sentry_tool", |_| {
                    let arguments = json!({ "projectSlug": "quay-web", "teamSlug": "web-crew" });
                    behind("remove_team_from_project", arguments)
                }),
            ],
            Says::Answer(|_| json!({ "status": "completed", "teams": BOTH })),
        )
        .on(ON),
        mutant(
            "M3",
            "names the new one only",
            &["q.facts"],
            &[ADD_TEAM],
            Says::Answer(|_| json!({ "status": "completed", "teams": ["dock-oncall"] })),
        )
        .on(ON),
    ],
    source: include_str!("changes.rs"),
    ..TOPIC
};

const BOTH: [&str; 2] = ["dock-oncall", "web-crew"];

/// The teams of quay-web at the end, by slug, sorted.
fn on_quay_web<'s>(scene: &'s Scene<'_>) -> Result<Vec<&'s str>, String> {
    let id = words(scene.known("projects", "slug", "quay-web")?, "id");
    let teams = scene.end()["projects"][id]["teams"].as_array().ok_or("it is gone")?;
    let slugs = teams
        .iter()
        .map(|it| Ok(words(scene.known("teams", "id", it.as_str().unwrap_or_default())?, "slug")));
    let mut slugs = slugs.collect::<Result<Vec<_>, String>>()?;
    slugs.sort_unstable();
    Ok(slugs)
}
