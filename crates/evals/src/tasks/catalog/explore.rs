//! Topics that look beyond an issue: the event search, a trace and the link to it, the documentation.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::issues::{newest, number, word_after};
use super::{
    LOOK, NO_WRITER, ON, READONLY, TOOL, TOOL_SHARED, TOPIC, behind, here, labelled, last,
};
use crate::common::objects;
use crate::scene::{Outcome, Scene, same, words};
use crate::task::{Key, KeyKind, Mutant, Says, Step, Task, answer, key, mutant, script};

pub(in crate::tasks) const ALL: &[&Task] = &[&EVENTS, &TRACE, &TRACE_LINK, &DOCS];

const COUNT_ERRORS: Step = Step::Tool("search_events", |_| {
    here(json!({
        "dataset": "errors",
        "query": "project:quay-api",
        "fields": ["environment", "count()"],
    }))
});

/// The rows in the last result: a list of JSON between the marks of outsiders' text.
fn groups(past: &[Value]) -> Vec<Value> {
    let text = last(past).as_str().unwrap_or_default();
    let list = text.find("[\n").and_then(|from| text.get(from..=text.rfind("\n]")? + 1));
    let rows: Vec<Value> = list.and_then(|it| serde_json::from_str(it).ok()).unwrap_or_default();
    rows.iter()
        .map(|it| json!({ "environment": it["environment"], "count": it["count()"] }))
        .collect()
}

static EVENTS: Task = Task {
    name: "search-events",
    prompt: "How many error events did the project quay-api of our Sentry organization harbor-lantern \
             have in each environment? Events without an environment belong in the answer, too, with an \
             empty name.",
    answer: r#"{"status":"completed","counts":[{"environment":"…","count":…}]}"#,
    shape: &[key("counts", KeyKind::List)],
    tools: &["search_events"],
    checks: &[
        TOOL,
        READONLY,
        answer("q.facts", |scene| {
            let project = words(scene.known("projects", "slug", "quay-api")?, "id");
            let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
            for event in scene.before("events") {
                let issue = scene.known("issues", "id", words(event, "issue_id"))?;
                if words(issue, "project_id") == project {
                    *counts.entry(words(event, "environment")).or_default() += 1;
                }
            }
            let said = objects(scene.said()?, "counts");
            same("the number of environments", said.len(), counts.len())?;
            said.into_iter().try_for_each(|it| {
                let environment = words(it, "environment");
                let count = it.get("count").and_then(Value::as_u64);
                let expected = counts.get(environment).copied();
                same(&format!("the count of `{environment}`"), count, expected)
            })
        }),
    ],
    shared: &[NO_WRITER, TOOL_SHARED],
    references: &[script("reference", ON, &[COUNT_ERRORS], Says::Answer(|past| {
        json!({ "status": "completed", "counts": groups(past) })
    }))],
    mutants: &[
        mutant("M1", "guesses", &["q.tool", "q.facts"], LOOK, Says::Answer(|_| {
            json!({ "status": "completed", "counts": [{ "environment": "production", "count": 1 }] })
        }))
        .on(ON),
        mutant(
            "M2",
            "counts those of all projects",
            &["q.facts"],
            &[Step::Tool("search_events", |_| {
                here(json!({ "dataset": "errors", "query": "", "fields": ["environment", "count()"] }))
            })],
            Says::Answer(|past| json!({ "status": "completed", "counts": groups(past) })),
        )
        .on(ON),
        mutant("M3", "leaves out what has no environment", &["q.facts"], &[COUNT_ERRORS], Says::Answer(|past| {
            let named = groups(past).into_iter().filter(|it| it["environment"] != "");
            json!({ "status": "completed", "counts": named.collect::<Vec<_>>() })
        }))
        .on(ON),
    ],
    source: include_str!("explore.rs"),
    ..TOPIC
};

const ISSUE: Step = Step::Tool("execute_sentry_tool", |_| {
    behind("get_issue_details", json!({ "issueId": "QUAY-API-1" }))
});
const WHOLE_TRACE: Step = Step::Tool("execute_sentry_tool", |past| {
    behind("get_trace_details", json!({ "traceId": word_after(past, "trace_id: ") }))
});
/// By the address that the event search gives it.
const LINKED_TRACE: Step = Step::Tool("get_sentry_resource", |past| {
    let text = last(past).as_str().unwrap_or_default();
    let link = text.split_whitespace().find(|it| it.contains("/explore/traces/trace/"));
    json!({ "url": link })
});
const ERRORS_OF_ISSUE: Step = Step::Tool("search_events", |_| {
    here(json!({
        "dataset": "errors",
        "query": "issue:QUAY-API-1",
        "fields": ["trace", "timestamp"],
        "sort": "-timestamp",
        "limit": 1,
    }))
});

const TRACE_SHAPE: &[Key] = &[key("trace", KeyKind::Text), key("span", KeyKind::Text)];
const TRACE_ANSWER: &str =
    r#"{"status":"completed","trace":"<32 hexadecimal digits>","span":"<16 hexadecimal digits>"}"#;

/// The trace that the last result is about, and its span on the line with these words.
fn trace_answer(past: &[Value], span: &str) -> Value {
    let text = last(past).as_str().unwrap_or_default();
    let line = text.lines().find(|it| it.trim().starts_with(span)).unwrap_or_default();
    let is_id = |it: &&str| it.len() == 16 && it.bytes().all(|byte| byte.is_ascii_hexdigit());
    let id = line.split_whitespace().find(is_id);
    json!({ "status": "completed", "trace": word_after(past, "# Trace "), "span": id })
}

fn trace_facts(scene: &Scene<'_>) -> Outcome {
    let trace = words(newest(scene, "QUAY-API-1")?, "trace_id");
    let said = scene.said()?;
    same("`trace`", words(said, "trace"), trace)?;
    let mut spans = scene.before("spans").filter(|it| words(it, "trace") == trace);
    let query = spans.find(|it| words(it, "span.op") == "db").ok_or("no query in the trace")?;
    same("`span`", words(said, "span"), words(query, "id"))
}

/// What is the same whichever way the trace is found.
const OF_TRACE: Task = Task {
    answer: TRACE_ANSWER,
    shape: TRACE_SHAPE,
    checks: &[TOOL, READONLY, answer("q.facts", trace_facts)],
    shared: &[NO_WRITER, TOOL_SHARED],
    source: include_str!("explore.rs"),
    ..TOPIC
};

const MADE_UP: Mutant = mutant(
    "M1",
    "makes the ids up",
    &["q.tool", "q.facts"],
    LOOK,
    Says::Answer(|_| {
        let trace = "0123456789abcdef0123456789abcdef";
        json!({ "status": "completed", "trace": trace, "span": "0123456789abcdef" })
    }),
)
.on(ON);

static TRACE: Task = Task {
    name: "get-trace",
    prompt: "The newest event of QUAY-API-1 in our Sentry organization harbor-lantern belongs to a trace. \
             Which trace is it, and which of its spans is the database query?",
    tools: &["get_trace_details", "get_sentry_resource", "search_events"],
    references: &[script(
        "reference",
        ON,
        &[ISSUE, WHOLE_TRACE],
        Says::Answer(|past| trace_answer(past, "db ")),
    )],
    mutants: &[
        MADE_UP,
        mutant(
            "M2",
            "takes the call for the query",
            &["q.facts"],
            &[ISSUE, WHOLE_TRACE],
            Says::Answer(|past| trace_answer(past, "http.server ")),
        )
        .on(ON),
    ],
    ..OF_TRACE
};

static TRACE_LINK: Task = Task {
    name: "get-resource-trace",
    prompt: "Find the link to the trace of the newest error of QUAY-API-1 in our Sentry organization \
             harbor-lantern, and tell me what the link shows: which trace, and which span of it is the \
             database query?",
    tools: &["get_sentry_resource", "get_trace_details"],
    references: &[script(
        "reference",
        ON,
        &[ERRORS_OF_ISSUE, LINKED_TRACE],
        Says::Answer(|past| trace_answer(past, "db ")),
    )],
    mutants: &[
        MADE_UP,
        mutant(
            "M2",
            "names the span at the top",
            &["q.facts"],
            &[ERRORS_OF_ISSUE, LINKED_TRACE],
            Says::Answer(|past| trace_answer(past, "pageload ")),
        )
        .on(ON),
    ],
    ..OF_TRACE
};

const SEARCH_DOCS: Step = Step::Tool(
    "execute_sentry_tool",
    |_| json!({ "name": "search_docs", "arguments": { "query": "spike guard minutes" } }),
);
const READ_DOC: Step = Step::Tool(
    "execute_sentry_tool",
    |past| json!({ "name": "get_doc", "arguments": { "path": labelled(past, "Path") } }),
);

fn minutes(past: &[Value]) -> Value {
    let text = last(past).as_str().unwrap_or_default();
    let before = text.split(" minutes").next().unwrap_or_default();
    number(before.split_whitespace().next_back().unwrap_or_default())
}

static DOCS: Task = Task {
    name: "search-docs",
    prompt: "What does Sentry's documentation say: for how many minutes does spike guard hold events back \
             after a spike is over?",
    answer: r#"{"status":"completed","minutes":…}"#,
    shape: &[key("minutes", KeyKind::Integer)],
    tools: &["search_docs", "get_doc"],
    checks: &[
        TOOL,
        READONLY,
        answer("q.facts", |scene| {
            let page = scene.known("docs", "title", "Spike guard")?;
            same("`minutes`", scene.said()?.get("minutes"), page.get("number"))
        }),
    ],
    shared: &[NO_WRITER, TOOL_SHARED],
    references: &[script(
        "reference",
        ON,
        &[SEARCH_DOCS, READ_DOC],
        Says::Answer(|past| json!({ "status": "completed", "minutes": minutes(past) })),
    )],
    mutants: &[
        mutant("M1", "knows better", &["q.tool", "q.facts"], LOOK, Says::Answer(|_| {
            json!({ "status": "completed", "minutes": 5 })
        }))
        .on(ON),
        mutant(
            "M2",
            "reads about something else",
            &["q.facts"],
            &[Step::Tool("execute_sentry_tool", |_| {
                json!({ "name": "get_doc", "arguments": { "path": "product/crons/check-ins.md" } })
            })],
            Says::Answer(|past| json!({ "status": "completed", "minutes": minutes(past) })),
        )
        .on(ON),
    ],
    source: include_str!("explore.rs"),
    ..TOPIC
};
