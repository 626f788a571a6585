//! Questions that one call of a curated tool answers: whoever writes a program for them does too much.

use serde_json::{Value, json};

use super::{NO_WRITER, READONLY, TOOL, behind, column, here, issue, labelled, last, lists};
use crate::scene::{Scene, ensure, same, words};
use crate::task::{
    Check, KeyKind, PLAIN_TASK, Says, Step, Suite, Surface, Task, answer, key, mutant, script,
    traffic,
};

pub(in crate::tasks) const ALL: &[&Task] = &[&TEAM_COUNT, &LATEST, &STATUS];

const ON: &[Surface] = &[Surface::CatalogAndCode, Surface::Catalog];
/// For mutants, which are alike on both.
const ONE: &[Surface] = &[Surface::Catalog];
/// The call, and a look for the tool and its arguments before it.
const MOST_CALLS: usize = 3;
const MOST_BYTES: usize = 6 * 1024;

const ONE_CALL: Task = Task {
    suite: Suite::Extra,
    surfaces: ON,
    shared: &[NO_WRITER],
    source: include_str!("one_call.rs"),
    ..PLAIN_TASK
};

const CALLS: Check = traffic("w.calls", |scene| {
    let calls = scene.evidence.tools.len();
    ensure((1..=MOST_CALLS).contains(&calls), format!("it took {calls} calls of tools"))
});

const BYTES: Check = traffic("w.bytes", |scene| {
    let bytes: usize = scene.evidence.tools.iter().map(|it| it.result.len()).sum();
    ensure(bytes <= MOST_BYTES, format!("the results together have {bytes} bytes"))
});

/// Asks four times for what it knows after the first.
const OVER_AND_OVER: Step = Step::Tool("find_projects", |_| here(json!({})));
/// Looks at everything there is on the way.
const EVERYTHING: [Step; 2] = [
    Step::Tool("execute_sentry_tool", |_| {
        behind("get_issue_details", json!({ "issueId": "QUAY-API-2" }))
    }),
    Step::Tool("execute_sentry_tool", |_| {
        behind("get_dashboard_details", json!({ "dashboardIdOrTitle": "Checkout health" }))
    }),
];

const TEAMS: Step = Step::Tool("execute_sentry_tool", |_| behind("find_teams", json!({})));

fn slugs(past: &[Value]) -> Value {
    json!({ "status": "completed", "teams": column(past, "teams", "slug") })
}

static TEAM_COUNT: Task = Task {
    name: "one-call-teams",
    prompt: "Which teams are there in our Sentry organization harbor-lantern? Their slugs are enough.",
    answer: r#"{"status":"completed","teams":["<slug>"]}"#,
    shape: &[key("teams", KeyKind::List)],
    tools: &["find_teams", "execute", "search"],
    checks: &[
        TOOL,
        READONLY,
        CALLS,
        answer("q.facts", |scene| lists(scene, "teams", super::all(scene, "teams", "slug"))),
    ],
    references: &[script("reference", ON, &[TEAMS], Says::Answer(slugs))],
    mutants: &[
        mutant(
            "M1",
            "asks over and over",
            &["w.calls"],
            &[OVER_AND_OVER, OVER_AND_OVER, OVER_AND_OVER, TEAMS],
            Says::Answer(slugs),
        )
        .on(ONE),
        mutant(
            "M2",
            "takes the projects for the teams",
            &["q.facts"],
            &[OVER_AND_OVER, TEAMS],
            Says::Answer(|past| {
                let projects = past.first().map(|it| it["projects"].clone()).unwrap_or_default();
                let slugs: Vec<&Value> =
                    projects.as_array().into_iter().flatten().map(|it| &it["slug"]).collect();
                json!({ "status": "completed", "teams": slugs })
            }),
        )
        .on(ONE),
        mutant(
            "M3",
            "knows them from elsewhere",
            &["q.tool"],
            &[OVER_AND_OVER],
            Says::Answer(|_| {
                let slugs = ["web-crew", "api-crew", "dock-oncall", "lamp-keepers"];
                json!({ "status": "completed", "teams": slugs })
            }),
        )
        .on(ONE),
    ],
    ..ONE_CALL
};

const RELEASE: Step = Step::Tool("execute_sentry_tool", |_| {
    behind("get_release_details", json!({ "releaseVersion": "quay@5.1.9" }))
});

fn deployed(scene: &Scene<'_>) -> Result<(), String> {
    let release = words(scene.known("releases", "version", "quay@5.1.9")?, "id");
    let deploys = scene.before("deploys").filter(|it| words(it, "release_id") == release);
    lists(scene, "environments", deploys.map(|it| words(it, "environment")))
}

fn environments(past: &[Value]) -> Value {
    let text = last(past).as_str().unwrap_or_default();
    let known = ["production", "staging", "canary"];
    let named: Vec<&str> = known.into_iter().filter(|it| text.contains(it)).collect();
    json!({ "status": "completed", "environments": named })
}

static LATEST: Task = Task {
    name: "one-call-release",
    prompt: "To which environments was the release quay@5.1.9 of our Sentry organization harbor-lantern \
             rolled out?",
    answer: r#"{"status":"completed","environments":["…"]}"#,
    shape: &[key("environments", KeyKind::List)],
    tools: &["get_release_details", "find_releases", "execute", "search"],
    checks: &[TOOL, READONLY, CALLS, answer("q.facts", deployed)],
    references: &[script("reference", ON, &[RELEASE], Says::Answer(environments))],
    mutants: &[
        mutant(
            "M1",
            "asks over and over",
            &["w.calls"],
            &[OVER_AND_OVER, OVER_AND_OVER, OVER_AND_OVER, RELEASE],
            Says::Answer(environments),
        )
        .on(ONE),
        mutant(
            "M2",
            "names the last one alone",
            &["q.facts"],
            &[RELEASE],
            Says::Answer(|_| json!({ "status": "completed", "environments": ["production"] })),
        )
        .on(ONE),
        mutant(
            "M3",
            "knows them from elsewhere",
            &["q.tool"],
            &[OVER_AND_OVER],
            Says::Answer(
                |_| json!({ "status": "completed", "environments": ["staging", "production"] }),
            ),
        )
        .on(ONE),
    ],
    ..ONE_CALL
};

const ISSUE: Step = Step::Tool("execute_sentry_tool", |_| {
    behind("get_issue_details", json!({ "issueId": "QUAY-API-2" }))
});

fn owner(past: &[Value]) -> Value {
    let (status, owner) = (labelled(past, "Status"), labelled(past, "Assigned to"));
    json!({ "status": "completed", "issueStatus": status, "assignedTo": owner })
}

static STATUS: Task = Task {
    name: "one-call-issue",
    prompt: "What is the status of QUAY-API-2 in our Sentry organization harbor-lantern, and which team \
             is it assigned to?",
    answer: r#"{"status":"completed","issueStatus":"…","assignedTo":"<team slug>"}"#,
    shape: &[key("issueStatus", KeyKind::Text), key("assignedTo", KeyKind::Text)],
    tools: &["get_issue_details", "search_issues", "get_sentry_resource", "execute", "search"],
    checks: &[
        TOOL,
        READONLY,
        CALLS,
        BYTES,
        answer("q.facts", |scene| {
            let (said, issue) = (scene.said()?, issue(scene, "QUAY-API-2")?);
            same("`issueStatus`", words(said, "issueStatus"), words(issue, "status"))?;
            let team = words(scene.known("teams", "slug", words(said, "assignedTo"))?, "id");
            same("the team", format!("team:{team}").as_str(), words(issue, "assigned_to"))
        }),
    ],
    references: &[script("reference", ON, &[ISSUE], Says::Answer(owner))],
    mutants: &[
        mutant(
            "M1",
            "asks over and over",
            &["w.calls"],
            &[OVER_AND_OVER, OVER_AND_OVER, OVER_AND_OVER, ISSUE],
            Says::Answer(owner),
        )
        .on(ONE),
        mutant("M2", "names the team of the project beside", &["q.facts"], &[ISSUE], Says::Answer(|_| {
            json!({ "status": "completed", "issueStatus": "unresolved", "assignedTo": "web-crew" })
        }))
        .on(ONE),
        mutant("M3", "knows it from elsewhere", &["q.tool"], &[OVER_AND_OVER], Says::Answer(|_| {
            json!({ "status": "completed", "issueStatus": "unresolved", "assignedTo": "api-crew" })
        }))
        .on(ONE),
        mutant(
            "M4",
            "looks at everything on the way",
            &["w.bytes"],
            &[EVERYTHING[0], EVERYTHING[1], ISSUE],
            Says::Answer(owner),
        )
        .on(ONE),
    ],
    ..ONE_CALL
};
