//! Topics about issues: found, shown by id, by event and by address.

use serde_json::{Value, json};

use super::{
    LOOK, NO_WRITER, ON, READONLY, TOOL, TOOL_SHARED, TOPIC, behind, here, issue, labelled, last,
};
use crate::scene::{Row, Scene, same, words};
use crate::task::{Key, KeyKind, Says, Step, Task, answer, key, mutant, script};

pub(in crate::tasks) const ALL: &[&Task] = &[&SEARCH, &DETAILS, &EVENT, &RESOURCE];

const SEARCH_ISSUES: &[Step] = &[Step::Tool("search_issues", |_| {
    here(json!({ "query": "is:unresolved", "projectSlugOrId": "quay-api", "sort": "freq" }))
})];

static SEARCH: Task = Task {
    name: "search-issues",
    prompt: "Which unresolved issue of the project quay-api in our Sentry organization harbor-lantern \
             happens most often? Give its short id.",
    answer: r#"{"status":"completed","issue":"<short id>"}"#,
    shape: &[key("issue", KeyKind::Text)],
    tools: &["search_issues"],
    checks: &[
        TOOL,
        READONLY,
        answer("q.facts", |scene| {
            let project = words(scene.known("projects", "slug", "quay-api")?, "id");
            let own = scene.before("issues").filter(|it| {
                words(it, "project_id") == project && words(it, "status") == "unresolved"
            });
            let most = own.max_by_key(|it| it.get("count").and_then(Value::as_u64));
            same(
                "`issue`",
                words(scene.said()?, "issue"),
                most.map_or("", |it| words(it, "short_id")),
            )
        }),
    ],
    shared: &[NO_WRITER, TOOL_SHARED],
    references: &[script(
        "reference",
        ON,
        SEARCH_ISSUES,
        Says::Answer(|past| {
            let text = last(past).as_str().unwrap_or_default();
            let first = text.lines().find_map(|it| it.strip_prefix("1. ")).unwrap_or_default();
            json!({ "status": "completed", "issue": first.split(':').next() })
        }),
    )],
    mutants: &[
        mutant(
            "M1",
            "guesses",
            &["q.tool", "q.facts"],
            LOOK,
            Says::Answer(|_| json!({ "status": "completed", "issue": "QUAY-API-99" })),
        )
        .on(ON),
        mutant(
            "M2",
            "takes the one that was seen last",
            &["q.facts"],
            &[Step::Tool("search_issues", |_| {
                here(json!({ "query": "is:unresolved", "projectSlugOrId": "quay-api" }))
            })],
            Says::Answer(|past| {
                let text = last(past).as_str().unwrap_or_default();
                let first = text.lines().find_map(|it| it.strip_prefix("1. ")).unwrap_or_default();
                json!({ "status": "completed", "issue": first.split(':').next() })
            }),
        )
        .on(ON),
    ],
    source: include_str!("issues.rs"),
    ..TOPIC
};

const ISSUE_SHAPE: &[Key] =
    &[key("level", KeyKind::Text), key("events", KeyKind::Integer), key("users", KeyKind::Integer)];

fn issue_facts(scene: &Scene<'_>) -> Result<(), String> {
    let (said, issue) = (scene.said()?, issue(scene, "QUAY-API-2")?);
    same("`level`", words(said, "level"), words(issue, "level"))?;
    same("`events`", said.get("events"), issue.get("count"))?;
    same("`users`", said.get("users"), issue.get("user_count"))
}

pub(super) fn number(text: &str) -> Value {
    text.parse::<u64>().map_or(Value::Null, Value::from)
}

fn issue_answer(past: &[Value]) -> Value {
    json!({
        "status": "completed",
        "level": labelled(past, "Level"),
        "events": number(labelled(past, "Events")),
        "users": number(labelled(past, "Users")),
    })
}

pub(super) const DETAILS_STEPS: &[Step] = &[Step::Tool("execute_sentry_tool", |_| {
    behind("get_issue_details", json!({ "issueId": "QUAY-API-2" }))
})];

static DETAILS: Task = Task {
    name: "get-issue",
    prompt: "Tell me about the issue QUAY-API-2 of our Sentry organization harbor-lantern: its level, \
             and how many events and users it has.",
    answer: r#"{"status":"completed","level":"…","events":…,"users":…}"#,
    shape: ISSUE_SHAPE,
    tools: &["get_issue_details", "get_sentry_resource"],
    checks: &[TOOL, READONLY, answer("q.facts", issue_facts)],
    shared: &[NO_WRITER],
    references: &[script("reference", ON, DETAILS_STEPS, Says::Answer(issue_answer))],
    mutants: &[
        mutant("M1", "knows it from elsewhere", &["q.tool"], LOOK, Says::Answer(|_| {
            json!({ "status": "completed", "level": "error", "events": 41, "users": 7 })
        }))
        .on(ON),
        mutant("M2", "mixes the two numbers up", &["q.facts"], DETAILS_STEPS, Says::Answer(|past| {
            let said = issue_answer(past);
            json!({ "status": "completed", "level": said["level"], "events": said["users"], "users": said["events"] })
        }))
        .on(ON),
    ],
    source: include_str!("issues.rs"),
    ..TOPIC
};

const RESOURCE_STEPS: &[Step] = &[Step::Tool("get_sentry_resource", |_| {
    here(json!({ "resourceType": "issue", "resourceId": "QUAY-API-2" }))
})];

static RESOURCE: Task = Task {
    name: "get-resource-issue",
    prompt: "Look at the Sentry resource of type issue with the id QUAY-API-2 (organization \
             harbor-lantern): what is its level, and how many events and users does it have?",
    answer: r#"{"status":"completed","level":"…","events":…,"users":…}"#,
    shape: ISSUE_SHAPE,
    tools: &["get_sentry_resource", "get_issue_details"],
    checks: &[TOOL, READONLY, answer("q.facts", issue_facts)],
    shared: &[NO_WRITER],
    references: &[script("reference", ON, RESOURCE_STEPS, Says::Answer(issue_answer))],
    mutants: &[
        mutant(
            "M1",
            "knows it from elsewhere",
            &["q.tool"],
            LOOK,
            Says::Answer(
                |_| json!({ "status": "completed", "level": "error", "events": 41, "users": 7 }),
            ),
        )
        .on(ON),
        mutant(
            "M2",
            "rounds",
            &["q.facts"],
            RESOURCE_STEPS,
            Says::Answer(
                |_| json!({ "status": "completed", "level": "error", "events": 40, "users": 7 }),
            ),
        )
        .on(ON),
    ],
    source: include_str!("issues.rs"),
    ..TOPIC
};

/// The newest event of an issue.
pub(super) fn newest<'s>(scene: &'s Scene<'_>, short_id: &str) -> Result<&'s Row, String> {
    let issue = words(issue(scene, short_id)?, "id");
    let events = scene.before("events").filter(|it| words(it, "issue_id") == issue);
    events.max_by_key(|it| words(it, "timestamp")).ok_or_else(|| "it has no events".to_owned())
}

/// The word after a text that begins a line.
pub(super) fn word_after<'v>(past: &'v [Value], start: &str) -> &'v str {
    let text = last(past).as_str().unwrap_or_default();
    let line = text.lines().find_map(|it| it.trim().strip_prefix(start)).unwrap_or_default();
    line.split_whitespace().next().unwrap_or_default()
}

static EVENT: Task = Task {
    name: "get-issue-by-event",
    prompt: "What is the id of the newest event of QUAY-API-2 in our Sentry organization \
             harbor-lantern?",
    answer: r#"{"status":"completed","event":"<32 hexadecimal digits>"}"#,
    shape: &[key("event", KeyKind::Text)],
    tools: &[
        "get_issue_details",
        "search_issue_events",
        "get_sentry_resource",
        "get_issue_breadcrumbs",
    ],
    checks: &[
        TOOL,
        READONLY,
        answer("q.facts", |scene| {
            let newest = newest(scene, "QUAY-API-2")?;
            same("`event`", words(scene.said()?, "event"), words(newest, "id"))
        }),
    ],
    shared: &[NO_WRITER, TOOL_SHARED],
    references: &[script(
        "reference",
        ON,
        &[
            Step::Tool("execute_sentry_tool", |_| {
                behind("get_issue_details", json!({ "issueId": "QUAY-API-2" }))
            }),
            Step::Tool("execute_sentry_tool", |past| {
                let event = word_after(past, "## Event ");
                behind("get_issue_details", json!({ "issueId": "QUAY-API-2", "eventId": event }))
            }),
        ],
        Says::Answer(
            |past| json!({ "status": "completed", "event": word_after(past, "## Event ") }),
        ),
    )],
    mutants: &[
        mutant(
            "M1",
            "makes one up",
            &["q.tool", "q.facts"],
            LOOK,
            Says::Answer(
                |_| json!({ "status": "completed", "event": "0123456789abcdef0123456789abcdef" }),
            ),
        )
        .on(ON),
        mutant(
            "M2",
            "gives the issue's number",
            &["q.facts"],
            DETAILS_STEPS,
            Says::Answer(|past| {
                let link = labelled(past, "Link").trim_end_matches('/').rsplit('/').next();
                json!({ "status": "completed", "event": link.unwrap_or_default() })
            }),
        )
        .on(ON),
    ],
    source: include_str!("issues.rs"),
    ..TOPIC
};
