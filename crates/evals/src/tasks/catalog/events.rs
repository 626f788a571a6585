//! Topics about the events of an issue: their trail, tags, stack, and which there are.

use serde_json::{Value, json};

use super::issues::{DETAILS_STEPS, newest, number};
use super::{
    LOOK, NO_WRITER, ON, READONLY, TOOL, TOOL_SHARED, TOPIC, behind, issue, labelled, last, lists,
};
use crate::scene::{same, words};
use crate::task::{KeyKind, Says, Step, Task, answer, key, mutant, script};

pub(in crate::tasks) const ALL: &[&Task] = &[&TAGS, &BREADCRUMBS, &EVENTS, &STACKTRACE];

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
    source: include_str!("events.rs"),
    ..TOPIC
};

const BREADCRUMB_STEPS: &[Step] = &[Step::Tool("execute_sentry_tool", |_| {
    behind("get_issue_breadcrumbs", json!({ "issueId": "QUAY-API-2" }))
})];

static BREADCRUMBS: Task = Task {
    name: "get-breadcrumbs",
    prompt: "How many breadcrumbs lead up to the newest event of QUAY-API-2 in our Sentry organization \
             harbor-lantern?",
    answer: r#"{"status":"completed","breadcrumbs":…}"#,
    shape: &[key("breadcrumbs", KeyKind::Integer)],
    tools: &["get_issue_breadcrumbs", "get_issue_details"],
    checks: &[
        TOOL,
        READONLY,
        answer("q.facts", |scene| {
            let event = newest(scene, "QUAY-API-2")?;
            let entries = event.get("full").and_then(|it| it["entries"].as_array());
            let mut trails = entries.into_iter().flatten().filter(|it| it["type"] == "breadcrumbs");
            let count =
                trails.next().and_then(|it| it["data"]["values"].as_array()).map_or(0, Vec::len);
            let said = scene.said()?.get("breadcrumbs").and_then(Value::as_u64);
            same("`breadcrumbs`", said, Some(count as u64))
        }),
    ],
    shared: &[NO_WRITER],
    references: &[script(
        "reference",
        ON,
        BREADCRUMB_STEPS,
        Says::Answer(
            |past| json!({ "status": "completed", "breadcrumbs": number(labelled(past, "Breadcrumbs")) }),
        ),
    )],
    mutants: &[
        mutant(
            "M1",
            "knows it from elsewhere",
            &["q.tool"],
            LOOK,
            Says::Answer(|_| json!({ "status": "completed", "breadcrumbs": 4 })),
        )
        .on(ON),
        mutant(
            "M2",
            "counts the lines",
            &["q.facts"],
            BREADCRUMB_STEPS,
            Says::Answer(|past| {
                let lines = last(past).as_str().unwrap_or_default().lines().count();
                json!({ "status": "completed", "breadcrumbs": lines })
            }),
        )
        .on(ON),
    ],
    source: include_str!("events.rs"),
    ..TOPIC
};

const EVENT_STEPS: &[Step] = &[Step::Tool("execute_sentry_tool", |_| {
    let arguments = json!({ "issueId": "QUAY-API-2", "query": "environment:production" });
    behind("search_issue_events", arguments)
})];

fn event_ids(past: &[Value]) -> Vec<&str> {
    let text = last(past).as_str().unwrap_or_default();
    text.lines().filter_map(|it| it.strip_prefix("   eventID: ")).map(str::trim).collect()
}

static EVENTS: Task = Task {
    name: "search-issue-events",
    prompt: "Which events of QUAY-API-2 in our Sentry organization harbor-lantern happened in the \
             environment production? Give their ids.",
    answer: r#"{"status":"completed","events":["<32 hexadecimal digits>"]}"#,
    shape: &[key("events", KeyKind::List)],
    tools: &["search_issue_events"],
    checks: &[
        TOOL,
        READONLY,
        answer("q.facts", |scene| {
            let issue = words(issue(scene, "QUAY-API-2")?, "id");
            let events = scene.before("events").filter(|it| {
                words(it, "issue_id") == issue && words(it, "environment") == "production"
            });
            lists(scene, "events", events.map(|it| words(it, "id")))
        }),
    ],
    shared: &[NO_WRITER, TOOL_SHARED],
    references: &[script("reference", ON, EVENT_STEPS, Says::Answer(|past| {
        json!({ "status": "completed", "events": event_ids(past) })
    }))],
    mutants: &[
        mutant("M1", "makes one up", &["q.tool", "q.facts"], LOOK, Says::Answer(|_| {
            json!({ "status": "completed", "events": ["0123456789abcdef0123456789abcdef"] })
        }))
        .on(ON),
        mutant(
            "M2",
            "does not look at the environment",
            &["q.facts"],
            &[Step::Tool("execute_sentry_tool", |_| {
                behind("search_issue_events", json!({ "issueId": "QUAY-API-2" }))
            })],
            Says::Answer(|past| json!({ "status": "completed", "events": event_ids(past) })),
        )
        .on(ON),
    ],
    source: include_str!("events.rs"),
    ..TOPIC
};

const STACK_STEPS: &[Step] = &[Step::Tool("execute_sentry_tool", |_| {
    behind("get_event_stacktrace", json!({ "issueId": "QUAY-API-2" }))
})];

static STACKTRACE: Task = Task {
    name: "get-stacktrace",
    prompt: "Does the stack trace of QUAY-API-2 in our Sentry organization harbor-lantern go through \
             quay/berths/pricing.py and the function price_of?",
    answer: r#"{"status":"completed","through":true|false}"#,
    shape: &[key("through", KeyKind::Flag)],
    tools: &["get_event_stacktrace", "get_issue_details", "get_sentry_resource"],
    checks: &[
        TOOL,
        READONLY,
        answer("q.facts", |scene| {
            let event = newest(scene, "QUAY-API-2")?.get("full").map(Value::to_string);
            let event = event.unwrap_or_default();
            let through = event.contains("quay/berths/pricing.py") && event.contains("price_of");
            let said = scene.said()?.get("through").and_then(Value::as_bool);
            same("`through`", said, Some(through))
        }),
    ],
    shared: &[NO_WRITER],
    references: &[script(
        "reference",
        ON,
        DETAILS_STEPS,
        Says::Answer(|past| {
            let text = last(past).as_str().unwrap_or_default();
            let through = text.contains("pricing.py") && text.contains("price_of");
            json!({ "status": "completed", "through": through })
        }),
    )],
    mutants: &[
        mutant(
            "M1",
            "takes it for granted",
            &["q.tool"],
            LOOK,
            Says::Answer(|_| json!({ "status": "completed", "through": true })),
        )
        .on(ON),
        mutant(
            "M2",
            "overlooks it",
            &["q.facts"],
            STACK_STEPS,
            Says::Answer(|_| json!({ "status": "completed", "through": false })),
        )
        .on(ON),
    ],
    source: include_str!("events.rs"),
    ..TOPIC
};
