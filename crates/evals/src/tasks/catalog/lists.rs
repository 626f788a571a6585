//! Topics that list: organizations, projects, teams, keys, releases, dashboards, monitors, tags.

use serde_json::{Value, json};

use super::{
    LOOK, NO_WRITER, ON, READONLY, TOOL, TOOL_SHARED, TOPIC, all, behind, column, here, issue,
    last, lists,
};
use crate::common::objects;
use crate::scene::{id, same, words};
use crate::task::{KeyKind, Says, Step, Task, answer, key, mutant, script};

pub(in crate::tasks) const ALL: &[&Task] =
    &[&ORGANIZATIONS, &PROJECTS, &TEAMS, &DSNS, &RELEASES, &TAGS, &WHO, &DASHBOARDS, &MONITORS];

static ORGANIZATIONS: Task = Task {
    name: "list-organizations",
    prompt: "Which Sentry organizations can I see? Their slugs are enough.",
    answer: r#"{"status":"completed","organizations":["<slug>"]}"#,
    shape: &[key("organizations", KeyKind::List)],
    tools: &["find_organizations"],
    checks: &[
        TOOL,
        READONLY,
        answer("q.facts", |scene| {
            lists(scene, "organizations", all(scene, "organizations", "slug"))
        }),
    ],
    shared: &[NO_WRITER],
    references: &[script(
        "reference",
        ON,
        &[Step::Tool("find_organizations", |_| json!({}))],
        Says::Answer(
            |past| json!({ "status": "completed", "organizations": column(past, "organizations", "slug") }),
        ),
    )],
    mutants: &[
        mutant(
            "M1",
            "knows it from the prompt before",
            &["q.tool"],
            LOOK,
            Says::Answer(|_| json!({ "status": "completed", "organizations": ["harbor-lantern"] })),
        )
        .on(ON),
        mutant(
            "M2",
            "gives names for slugs",
            &["q.facts"],
            &[Step::Tool("find_organizations", |_| json!({}))],
            Says::Answer(|_| json!({ "status": "completed", "organizations": ["Harbor Lantern"] })),
        )
        .on(ON),
    ],
    source: include_str!("lists.rs"),
    ..TOPIC
};

static PROJECTS: Task = Task {
    name: "list-projects",
    prompt: "List the slugs of all projects in our Sentry organization harbor-lantern.",
    answer: r#"{"status":"completed","projects":["<slug>"]}"#,
    shape: &[key("projects", KeyKind::List)],
    tools: &["find_projects"],
    checks: &[
        TOOL,
        READONLY,
        answer("q.facts", |scene| lists(scene, "projects", all(scene, "projects", "slug"))),
    ],
    shared: &[NO_WRITER],
    references: &[script(
        "reference",
        ON,
        &[Step::Tool("find_projects", |_| here(json!({})))],
        Says::Answer(|past| {
            json!({ "status": "completed", "projects": column(past, "projects", "slug") })
        }),
    )],
    mutants: &[
        mutant("M1", "knows them from elsewhere", &["q.tool"], LOOK, Says::Answer(|_| {
            let slugs = ["quay-web", "quay-api", "tide-worker", "lamp-mobile"];
            json!({ "status": "completed", "projects": slugs })
        }))
        .on(ON),
        mutant(
            "M2",
            "lists what has a word in its name",
            &["q.facts"],
            &[Step::Tool("find_projects", |_| here(json!({ "query": "quay" })))],
            Says::Answer(|past| {
                json!({ "status": "completed", "projects": column(past, "projects", "slug") })
            }),
        )
        .on(ON),
    ],
    source: include_str!("lists.rs"),
    ..TOPIC
};

static TEAMS: Task = Task {
    name: "list-teams",
    prompt: "Which teams are there in our Sentry organization harbor-lantern? Give slug and id of each.",
    answer: r#"{"status":"completed","teams":[{"slug":"…","id":"…"}]}"#,
    shape: &[key("teams", KeyKind::List)],
    tools: &["find_teams"],
    checks: &[
        TOOL,
        READONLY,
        answer("q.facts", |scene| {
            let said = objects(scene.said()?, "teams");
            same("the number of teams", said.len(), scene.before("teams").count())?;
            said.into_iter().try_for_each(|it| {
                let team = scene.known("teams", "slug", words(it, "slug"))?;
                same("the team's id", id(it.get("id")), id(team.get("id")))
            })
        }),
    ],
    shared: &[NO_WRITER, TOOL_SHARED],
    references: &[script(
        "reference",
        ON,
        &[Step::Tool("execute_sentry_tool", |_| behind("find_teams", json!({})))],
        Says::Answer(|past| json!({ "status": "completed", "teams": last(past)["teams"] })),
    )],
    mutants: &[
        mutant(
            "M1",
            "makes the ids up",
            &["q.tool", "q.facts"],
            LOOK,
            Says::Answer(
                |_| json!({ "status": "completed", "teams": [{ "slug": "web-crew", "id": "1" }] }),
            ),
        )
        .on(ON),
        mutant(
            "M2",
            "leaves one out",
            &["q.facts"],
            &[Step::Tool("execute_sentry_tool", |_| behind("find_teams", json!({})))],
            Says::Answer(|past| {
                let teams = last(past)["teams"].as_array().into_iter().flatten().skip(1);
                json!({ "status": "completed", "teams": teams.collect::<Vec<_>>() })
            }),
        )
        .on(ON),
    ],
    source: include_str!("lists.rs"),
    ..TOPIC
};

const FIND_DSNS: &[Step] = &[Step::Tool("execute_sentry_tool", |_| {
    behind("find_dsns", json!({ "projectSlug": "quay-web" }))
})];

static DSNS: Task = Task {
    name: "list-dsns",
    prompt: "Which DSNs does the project quay-web of our Sentry organization harbor-lantern have? Name \
             each key and give its public DSN.",
    answer: r#"{"status":"completed","dsns":[{"name":"…","dsn":"…"}]}"#,
    shape: &[key("dsns", KeyKind::List)],
    tools: &["find_dsns"],
    checks: &[
        TOOL,
        READONLY,
        answer("q.facts", |scene| {
            let project = words(scene.known("projects", "slug", "quay-web")?, "id");
            let keys: Vec<_> =
                scene.before("keys").filter(|it| words(it, "project_id") == project).collect();
            let said = objects(scene.said()?, "dsns");
            same("the number of keys", said.len(), keys.len())?;
            keys.iter().try_for_each(|key| {
                let named = said.iter().find(|it| words(it, "name") == words(key, "name"));
                let dsn = named.map(|it| words(it, "dsn")).unwrap_or_default();
                let (public, secret) = (words(key, "id"), words(key, "secret"));
                let right = dsn.starts_with(&format!("https://{public}@")) && !dsn.contains(secret);
                crate::scene::ensure(right, format!("the key `{}` has `{dsn}`", words(key, "name")))
            })
        }),
    ],
    shared: &[NO_WRITER, TOOL_SHARED],
    references: &[script(
        "reference",
        ON,
        FIND_DSNS,
        Says::Answer(|past| json!({ "status": "completed", "dsns": last(past)["dsns"] })),
    )],
    mutants: &[
        mutant(
            "M1",
            "makes one up",
            &["q.tool", "q.facts"],
            LOOK,
            Says::Answer(|_| {
                let dsn = "https://0123456789abcdef@o1.ingest.sentry.test/2";
                json!({ "status": "completed", "dsns": [{ "name": "Default", "dsn": dsn }] })
            }),
        )
        .on(ON),
        mutant(
            "M2",
            "gives ids for DSNs",
            &["q.facts"],
            FIND_DSNS,
            Says::Answer(|past| {
                let keys = last(past)["dsns"].as_array().into_iter().flatten();
                let dsns: Vec<Value> =
                    keys.map(|it| json!({ "name": it["name"], "dsn": it["id"] })).collect();
                json!({ "status": "completed", "dsns": dsns })
            }),
        )
        .on(ON),
    ],
    source: include_str!("lists.rs"),
    ..TOPIC
};

const FIND_RELEASES: &[Step] = &[Step::Tool("execute_sentry_tool", |_| {
    behind("find_releases", json!({ "projectSlug": "quay-api" }))
})];

static RELEASES: Task = Task {
    name: "list-releases",
    prompt: "When was each release of quay-api in our Sentry organization harbor-lantern created? Give \
             the creation times, newest first, and say how many there are.",
    answer: r#"{"status":"completed","count":…,"created":["<ISO 8601>"]}"#,
    shape: &[key("count", KeyKind::Integer), key("created", KeyKind::List)],
    tools: &["find_releases", "get_release_details"],
    checks: &[
        TOOL,
        READONLY,
        answer("q.facts", |scene| {
            let project = words(scene.known("projects", "slug", "quay-api")?, "id");
            let joined =
                scene.before("release_projects").filter(|it| words(it, "project_id") == project);
            let releases = joined.map(|it| scene.known("releases", "id", words(it, "release_id")));
            let created: Result<Vec<&str>, String> =
                releases.map(|it| Ok(words(it?, "date_created"))).collect();
            let created = created?;
            let count = scene.said()?.get("count").and_then(Value::as_u64);
            same("`count`", count, Some(created.len() as u64))?;
            lists(scene, "created", created.into_iter())
        }),
    ],
    shared: &[NO_WRITER],
    references: &[script(
        "reference",
        ON,
        FIND_RELEASES,
        Says::Answer(|past| {
            let created = column(past, "releases", "dateCreated");
            json!({ "status": "completed", "count": created.len(), "created": created })
        }),
    )],
    mutants: &[
        mutant(
            "M1",
            "knows them from elsewhere",
            &["q.tool"],
            LOOK,
            Says::Answer(|_| {
                let created = ["2026-05-01T10:00:00Z", "2026-04-20T10:00:00Z"];
                json!({ "status": "completed", "count": 2, "created": created })
            }),
        )
        .on(ON),
        mutant(
            "M2",
            "counts one too many",
            &["q.facts"],
            FIND_RELEASES,
            Says::Answer(|past| {
                let created = column(past, "releases", "dateCreated");
                json!({ "status": "completed", "count": created.len() + 1, "created": created })
            }),
        )
        .on(ON),
    ],
    source: include_str!("lists.rs"),
    ..TOPIC
};

const TAG_VALUES: &[Step] = &[Step::Tool("execute_sentry_tool", |_| {
    behind("get_issue_tag_values", json!({ "issueId": "QUAY-API-2", "tagKey": "environment" }))
})];

static TAGS: Task = Task {
    name: "list-tag-values",
    prompt: "In which environments did the issue QUAY-API-2 of our Sentry organization harbor-lantern \
             happen?",
    answer: r#"{"status":"completed","environments":["…"]}"#,
    shape: &[key("environments", KeyKind::List)],
    tools: &["get_issue_tag_values", "search_issue_events"],
    checks: &[
        TOOL,
        READONLY,
        answer("q.facts", |scene| {
            let issue = words(issue(scene, "QUAY-API-2")?, "id");
            let events = scene.before("events").filter(|it| words(it, "issue_id") == issue);
            let mut environments: Vec<&str> = events.map(|it| words(it, "environment")).collect();
            environments.sort_unstable();
            environments.dedup();
            lists(scene, "environments", environments.into_iter())
        }),
    ],
    shared: &[NO_WRITER, TOOL_SHARED],
    references: &[script(
        "reference",
        ON,
        TAG_VALUES,
        Says::Answer(|past| {
            let values = last(past)["tag"]["topValues"].as_array().into_iter().flatten();
            let values: Vec<&Value> = values.map(|it| &it["value"]).collect();
            json!({ "status": "completed", "environments": values })
        }),
    )],
    mutants: &[
        mutant(
            "M1",
            "guesses",
            &["q.tool", "q.facts"],
            LOOK,
            Says::Answer(|_| json!({ "status": "completed", "environments": ["development"] })),
        )
        .on(ON),
        mutant(
            "M2",
            "names the first",
            &["q.facts"],
            TAG_VALUES,
            Says::Answer(
                |_| json!({ "status": "completed", "environments": ["production", "qa"] }),
            ),
        )
        .on(ON),
    ],
    source: include_str!("lists.rs"),
    ..TOPIC
};

const WHOAMI: &[Step] =
    &[Step::Tool("execute_sentry_tool", |_| json!({ "name": "whoami", "arguments": {} }))];

static WHO: Task = Task {
    name: "who-am-i",
    prompt: "Under which Sentry account are you working for me? Give the id and the email address.",
    answer: r#"{"status":"completed","id":"…","email":"…"}"#,
    shape: &[key("id", KeyKind::Id), key("email", KeyKind::Text)],
    tools: &["whoami"],
    checks: &[
        TOOL,
        READONLY,
        answer("q.facts", |scene| {
            let said = scene.said()?;
            let member = scene.known("members", "email", words(said, "email"))?;
            same("the role", words(member, "role"), "owner")?;
            same("`id`", id(said.get("id")), id(member.get("user_id")))
        }),
    ],
    shared: &[NO_WRITER],
    references: &[script("reference", ON, WHOAMI, Says::Answer(|past| {
        let user = &last(past)["user"];
        json!({ "status": "completed", "id": user["id"], "email": user["email"] })
    }))],
    mutants: &[
        mutant("M1", "knows it from elsewhere", &["q.tool"], LOOK, Says::Answer(|_| {
            json!({ "status": "completed", "id": 7001, "email": "eval@harbor-lantern.test" })
        }))
        .on(ON),
        mutant("M2", "names somebody else", &["q.facts"], WHOAMI, Says::Answer(|_| {
            json!({ "status": "completed", "id": "7001", "email": "ada.wren@harbor-lantern.test" })
        }))
        .on(ON),
    ],
    source: include_str!("lists.rs"),
    ..TOPIC
};

const FIND_DASHBOARDS: &[Step] =
    &[Step::Tool("execute_sentry_tool", |_| behind("find_dashboards", json!({})))];

static DASHBOARDS: Task = Task {
    name: "list-dashboards",
    prompt: "What are the titles of the dashboards in our Sentry organization harbor-lantern?",
    answer: r#"{"status":"completed","titles":["…"]}"#,
    shape: &[key("titles", KeyKind::List)],
    tools: &["find_dashboards"],
    checks: &[
        TOOL,
        READONLY,
        answer("q.facts", |scene| lists(scene, "titles", all(scene, "dashboards", "title"))),
    ],
    shared: &[NO_WRITER],
    references: &[script("reference", ON, FIND_DASHBOARDS, Says::Answer(|past| {
        json!({ "status": "completed", "titles": column(past, "dashboards", "title") })
    }))],
    mutants: &[
        mutant("M1", "knows them from elsewhere", &["q.tool"], LOOK, Says::Answer(|_| {
            let titles = ["Checkout health", "Checkout health (2024)", "Ops wallboard"];
            json!({ "status": "completed", "titles": titles })
        }))
        .on(ON),
        mutant("M2", "takes the two for one", &["q.facts"], FIND_DASHBOARDS, Says::Answer(|_| {
            json!({ "status": "completed", "titles": ["Checkout health", "Ops wallboard"] })
        }))
        .on(ON),
    ],
    source: include_str!("lists.rs"),
    ..TOPIC
};

const FIND_MONITORS: &[Step] = &[Step::Tool("execute_sentry_tool", |_| {
    behind("find_monitors", json!({ "projectSlug": "tide-worker" }))
})];

static MONITORS: Task = Task {
    name: "list-monitors",
    prompt: "Which cron monitors does the project tide-worker of our Sentry organization \
             harbor-lantern have? Their slugs are enough.",
    answer: r#"{"status":"completed","monitors":["<slug>"]}"#,
    shape: &[key("monitors", KeyKind::List)],
    tools: &["find_monitors"],
    checks: &[
        TOOL,
        READONLY,
        answer("q.facts", |scene| {
            let project = words(scene.known("projects", "slug", "tide-worker")?, "id");
            let own = scene.before("monitors").filter(|it| words(it, "project_id") == project);
            lists(scene, "monitors", own.map(|it| words(it, "slug")))
        }),
    ],
    shared: &[NO_WRITER],
    references: &[script("reference", ON, FIND_MONITORS, Says::Answer(|past| {
        json!({ "status": "completed", "monitors": column(past, "monitors", "slug") })
    }))],
    mutants: &[
        mutant("M1", "knows them from elsewhere", &["q.tool"], LOOK, Says::Answer(|_| {
            let slugs = ["nightly-ledger-close", "nightly-ledger-close-eu"];
            json!({ "status": "completed", "monitors": slugs })
        }))
        .on(ON),
        mutant(
            "M2",
            "lists those of all projects",
            &["q.facts"],
            &[Step::Tool("execute_sentry_tool", |_| behind("find_monitors", json!({})))],
            Says::Answer(|past| {
                json!({ "status": "completed", "monitors": column(past, "monitors", "slug") })
            }),
        )
        .on(ON),
    ],
    source: include_str!("lists.rs"),
    ..TOPIC
};
