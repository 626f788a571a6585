//! The answers in `docs/examples` are what the tools say today of what the mock has.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};

use crate::test_support::{Leap, Sentry};

/// What an example is of.
#[derive(Debug, Clone, Copy)]
enum Of {
    /// An issue by its short id, with its newest event.
    Issue(&'static str),
    /// The trace of an issue's newest event.
    Trace(&'static str),
    /// One of its spans: the first that did this.
    Span(&'static str, &'static str),
    /// The replay of an issue's newest event.
    Replay(&'static str),
    /// The profiles of a transaction.
    Profiles(&'static str),
    /// One of them, by its id.
    Profile(&'static str),
}

const EXAMPLES: &[(&str, Of)] = &[
    ("python", Of::Issue("QUAY-API-2")),
    ("javascript", Of::Issue("QUAY-WEB-3")),
    ("java", Of::Issue("LAMP-MOBILE-1")),
    ("go", Of::Issue("TIDE-WORKER-2")),
    ("rust", Of::Issue("TIDE-WORKER-3")),
    ("php", Of::Issue("QUAY-API-3")),
    ("csharp", Of::Issue("QUAY-API-4")),
    ("n-plus-one", Of::Issue("QUAY-API-6")),
    ("trace", Of::Trace("QUAY-WEB-1")),
    ("span", Of::Span("QUAY-WEB-1", "http.client POST https")),
    ("replay", Of::Replay("QUAY-WEB-1")),
    ("profiles", Of::Profiles("/api/pay")),
    ("profile", Of::Profile("7f3b9c2ad1e84056b1c29e7d0a4f5c86")),
];
const COMMAND: &str = "cargo test -p mcp-core --lib -- --ignored examples::write";

impl Of {
    /// What it is of, in words; the tool, and what it is asked.
    async fn asked(self) -> (String, &'static str, Value) {
        match self {
            Self::Issue(issue) => {
                (issue.to_owned(), "get_issue_details", json!({ "issueId": issue }))
            }
            Self::Trace(issue) => {
                let trace = trace_of(issue).await;
                (format!("trace of {issue}"), "get_trace_details", json!({ "traceId": trace }))
            }
            Self::Span(issue, words) => {
                let trace = trace_of(issue).await;
                let arguments = json!({ "traceId": trace });
                let tree = answer("get_trace_details", arguments).await;
                let line = tree.lines().find(|it| it.contains(words)).unwrap();
                let span = line.rsplit(" · ").next().unwrap();
                let arguments = json!({ "traceId": trace, "spanId": span });
                (format!("span `{words}`"), "get_span_details", arguments)
            }
            Self::Replay(issue) => {
                let page = answer("get_issue_details", json!({ "issueId": issue })).await;
                let link = page.lines().find(|it| it.contains("/explore/replays/")).unwrap();
                let id = link.trim_end_matches('/').rsplit('/').next().unwrap();
                (format!("replay of {issue}"), "get_replay_details", json!({ "replayId": id }))
            }
            Self::Profiles(transaction) => {
                let arguments = json!({
                    "projectSlugOrId": "quay-api", "transactionName": transaction, "compareAgainstPeriod": "30d",
                });
                (format!("transaction {transaction}"), "get_profile", arguments)
            }
            Self::Profile(id) => {
                let arguments = json!({ "projectSlugOrId": "quay-api", "profileId": id });
                (format!("profile {id}"), "get_profile_details", arguments)
            }
        }
    }
}

fn path(name: &str) -> PathBuf {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples");
    PathBuf::from(folder).join(name).with_extension("md")
}

async fn answer(tool: &str, mut arguments: Value) -> String {
    arguments["organizationSlug"] = json!("harbor-lantern");
    let sentry = Sentry::new().with(|cx| cx.clock = Leap::new());
    let shown = sentry.call(tool, arguments).await;
    shown.split_once("--- text\n").unwrap().1.to_owned()
}

async fn trace_of(issue: &str) -> String {
    let page = answer("get_issue_details", json!({ "issueId": issue })).await;
    let line = page.lines().find_map(|it| it.trim().strip_prefix("trace_id: ")).unwrap();
    line.to_owned()
}

async fn example(of: Of) -> String {
    let (what, tool, arguments) = of.asked().await;
    let answer = answer(tool, arguments).await;
    format!("<!-- What `{tool}` says of the mock's {what}. Written by `{COMMAND}`. -->\n\n{answer}")
}

#[tokio::test]
async fn examples_are_current() {
    for (name, of) in EXAMPLES {
        let written = fs::read_to_string(path(name)).unwrap_or_default();
        assert!(
            written == example(*of).await,
            "docs/examples/{name}.md is not current: run `{COMMAND}`"
        );
    }
}

#[tokio::test]
#[ignore = "writes the files"]
async fn write() {
    fs::create_dir_all(path("x").parent().unwrap()).unwrap();
    for (name, of) in EXAMPLES {
        fs::write(path(name), example(*of).await).unwrap();
    }
}
