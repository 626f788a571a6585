//! The Sentry catalog, end to end: the real binary, the real protocol, a mock Sentry.

use std::process::Command;

use mocks::{Mock, Running, World};
use serde_json::{Value, json};
use test_client::raw;

use crate::support::{self, PATIENCE};

const ORGANIZATION: &str = "harbor-lantern";

/// A mock Sentry with a server connected to it.
struct Connected {
    mock: Running,
    session: raw::Session,
}

impl Connected {
    async fn with(flags: &[&str]) -> Self {
        let mock = Mock::start(World::sentry()).unwrap();
        let mut command = against(&mock);
        command.args(flags);
        let session = support::connect(command).await;
        Self { mock, session }
    }

    async fn list(&mut self) -> Vec<Value> {
        let id = self.session.request("tools/list", json!({})).await.unwrap();
        let list = self.session.response(id, PATIENCE).await.unwrap();
        list["result"]["tools"].as_array().unwrap().clone()
    }

    async fn names(&mut self) -> Vec<String> {
        let tools = self.list().await;
        tools.iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
    }

    /// The result of a call.
    async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let message = self.session.call(tool, arguments, PATIENCE).await.unwrap();
        message["result"].clone()
    }

    /// The result of a curated tool, called through the gateway.
    async fn execute(&mut self, tool: &str, arguments: Value) -> Value {
        self.call("execute_sentry_tool", json!({ "name": tool, "arguments": arguments })).await
    }

    async fn found(&mut self, query: &str) -> Vec<String> {
        let result = self.call("search_sentry_tools", json!({ "query": query, "limit": 20 })).await;
        let results = result["structuredContent"]["results"].as_array().unwrap().clone();
        results.iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
    }
}

fn against(mock: &Running) -> Command {
    let mut command = support::binary();
    command.env("SENTRY_URL", &mock.base_url).env("SENTRY_ACCESS_TOKEN", &mock.token);
    command
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

fn tokens(tools: &[Value]) -> usize {
    let tokenizer = tiktoken_rs::o200k_base().unwrap();
    tokenizer.encode_ordinary(&Value::from(tools).to_string()).len()
}

/// P16 and P17.
#[tokio::test]
async fn the_default_list_has_at_most_12_tools_and_3000_tokens() {
    let mut connected = Connected::with(&[]).await;
    let tools = connected.list().await;
    assert!(tools.len() <= 12, "{} tools", tools.len());
    assert!(tokens(&tools) <= 3_000, "{} tokens", tokens(&tools));
    for name in ["find_organizations", "search_sentry_tools", "execute_sentry_tool", "execute"] {
        assert!(tools.iter().any(|it| it["name"] == *name), "{name}");
    }
}

/// P12, P13 and P15.
#[tokio::test]
async fn every_listed_tool_has_all_hints_and_an_output_schema_only_of_an_object() {
    let mut connected = Connected::with(&[]).await;
    for tool in connected.list().await {
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(tool["annotations"][hint].is_boolean(), "{tool}");
        }
        assert_eq!(tool["inputSchema"]["type"], json!("object"));
        if let Some(schema) = tool.get("outputSchema") {
            assert_eq!(schema["type"], json!("object"), "{tool}");
        }
    }
}

#[tokio::test]
async fn a_structured_answer_is_the_same_as_its_text() {
    let mut connected = Connected::with(&[]).await;
    let result = connected.call("find_projects", json!({"organizationSlug": ORGANIZATION})).await;
    let text: Value = serde_json::from_str(text(&result)).unwrap();
    assert_eq!(text, result["structuredContent"]);
    assert_eq!(text["projects"][0]["slug"].as_str().map(str::is_empty), Some(false));
}

#[tokio::test]
async fn a_tool_that_is_not_listed_is_searched_then_run() {
    let mut connected = Connected::with(&[]).await;
    assert!(connected.found("teams of the organization").await.contains(&"find_teams".to_owned()));
    let result = connected.execute("find_teams", json!({"organizationSlug": ORGANIZATION})).await;
    assert_eq!(result["structuredContent"]["hasMore"], json!(false), "{result}");
    let result = connected.execute("whoami", json!(null)).await;
    assert!(result["structuredContent"]["user"]["id"].is_string(), "{result}");
}

/// One tool of every family: found by a question, then run.
#[tokio::test]
async fn every_family_is_found_and_answers() {
    let mut connected = Connected::with(&["--docs-url", "off"]).await;
    for (question, tool, more) in [
        ("which version was released", "find_releases", json!({})),
        ("saved dashboards", "find_dashboards", json!({})),
        ("cron monitors that missed a check-in", "find_monitors", json!({})),
        ("uptime monitors of a URL", "find_uptime_monitors", json!({})),
        ("alert rules of a project", "find_alert_rules", json!({"projectSlug": "quay-web"})),
        ("client keys of a project", "find_dsns", json!({"projectSlug": "quay-web"})),
    ] {
        let found = connected.found(question).await;
        assert!(found.contains(&tool.to_owned()), "{question}: {found:?}");
        let mut arguments = more;
        arguments["organizationSlug"] = json!(ORGANIZATION);
        let result = connected.execute(tool, arguments).await;
        assert_ne!(result["isError"], json!(true), "{tool}: {result}");
        assert!(result["structuredContent"].is_object(), "{tool}: {result}");
    }
    let made = json!({"organizationSlug": ORGANIZATION, "name": "Night Watch"});
    let result = connected.execute("create_team", made).await;
    assert_eq!(result["structuredContent"]["team"]["slug"], json!("night-watch"), "{result}");
    assert_eq!(connected.mock.writes().len(), 1);
    let result = connected.execute("search_docs", json!({"query": "sampling"})).await;
    assert!(text(&result).contains("no source for the documentation"), "{result}");
}

#[tokio::test]
async fn a_read_only_server_has_no_tool_that_writes() {
    let mut connected = Connected::with(&["--read-only"]).await;
    let tools = connected.list().await;
    assert!(tools.iter().all(|it| it["annotations"]["readOnlyHint"] == json!(true)), "{tools:?}");
    let made = json!({"organizationSlug": ORGANIZATION, "name": "Night Watch"});
    let result = connected.execute("create_team", made).await;
    assert_eq!(result["isError"], json!(true), "{result}");
    assert!(connected.mock.log().is_empty());
}

/// P43.
#[tokio::test]
async fn an_unknown_slug_is_named_with_the_tool_that_lists_them() {
    let mut connected = Connected::with(&[]).await;
    let result = connected.call("find_projects", json!({"organizationSlug": "nope"})).await;
    assert_eq!(result["isError"], json!(true));
    assert!(result.get("structuredContent").is_none(), "{result}");
    assert!(text(&result).contains("`nope`"), "{result}");
    assert!(text(&result).contains("`find_organizations`"), "{result}");
}

/// P44.
#[tokio::test]
async fn a_token_that_is_not_accepted_is_told_with_sentrys_own_words() {
    let mock = Mock::start(World::sentry()).unwrap();
    let mut command = against(&mock);
    command.env("SENTRY_ACCESS_TOKEN", "sntrys_wrong");
    let mut session = support::connect(command).await;
    let message = session.call("find_organizations", json!({}), PATIENCE).await.unwrap();
    let text = text(&message["result"]);
    assert!(text.contains("Invalid token") && text.contains("401"), "{text}");
    assert!(!text.contains("sntrys_wrong"), "{text}");
}

#[tokio::test]
async fn a_pinned_session_hides_and_fills_in() {
    let flags = ["--organization-slug", ORGANIZATION, "--project-slug", "quay-web"];
    let mut connected = Connected::with(&flags).await;
    let names = connected.names().await;
    let shown = [
        "get_sentry_resource",
        "search_issues",
        "search_events",
        "update_issue",
        "analyze_issue_with_seer",
        "search_sentry_tools",
        "execute_sentry_tool",
    ];
    assert_eq!(names, shown);
    let found = connected.found("find_dsns find_projects create_project").await;
    assert!(found.contains(&"find_dsns".to_owned()), "{found:?}");
    assert!(!found.contains(&"find_projects".to_owned()), "{found:?}");
    connected.execute("find_teams", json!({"organizationSlug": "other"})).await;
    let log = connected.mock.log();
    assert_eq!(log.last().unwrap().path, format!("/api/0/organizations/{ORGANIZATION}/teams/"));
}

#[tokio::test]
async fn a_skill_that_is_taken_away_hides_its_tools_everywhere() {
    let mut connected =
        Connected::with(&["--disable-skills", "project-management,api-write"]).await;
    let names = connected.names().await;
    assert!(!names.contains(&"execute_write".to_owned()), "{names:?}");
    assert!(!connected.found("find_dsns").await.contains(&"find_dsns".to_owned()));
    let arguments = json!({"organizationSlug": ORGANIZATION, "projectSlug": "quay-web"});
    let result = connected.execute("find_dsns", arguments).await;
    assert!(text(&result).contains("`find_dsns` is not a tool of this session"), "{result}");
    assert!(connected.mock.log().is_empty());
}

#[tokio::test]
async fn an_api_only_grant_keeps_the_lists_and_both_gateways() {
    let mut connected = Connected::with(&["--skills", "api-read"]).await;
    assert_eq!(
        connected.names().await,
        [
            "find_organizations",
            "find_projects",
            "search_sentry_tools",
            "execute_sentry_tool",
            "search",
            "execute"
        ]
    );
}

#[tokio::test]
async fn what_cannot_be_meant_ends_with_status_2_and_names_the_option() {
    for (flags, expected) in [
        (["--skills", "inspect,fly"], "`fly`"),
        (["--surface", "everything"], "`--surface`"),
        (["--project-slug", "../web"], "`--project-slug`"),
    ] {
        let mock = Mock::start(World::sentry()).unwrap();
        let output = against(&mock).args(flags).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{flags:?}: {said}");
        assert!(said.contains(expected), "{flags:?}: {said}");
    }
}

/// P42.
#[tokio::test]
async fn a_server_that_cannot_be_reached_is_named_and_the_session_goes_on() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut command = support::binary();
    command.env("SENTRY_URL", format!("http://{port}")).env("SENTRY_ACCESS_TOKEN", "sntrys_test");
    command.arg("--no-retries");
    let mut session = support::connect(command).await;
    for _ in 0..2 {
        let message = session.call("find_organizations", json!({}), PATIENCE).await.unwrap();
        let text = text(&message["result"]);
        assert!(text.contains("refused") && text.contains(&port.to_string()), "{text}");
    }
}

/// P36: what no curated tool does is still reachable.
#[tokio::test]
async fn what_the_catalog_lacks_is_found_among_the_operations() {
    let Some(document) = support::shared("specs/sentry.json") else { return };
    let mut connected = Connected::with(&["--openapi", document.to_str().unwrap()]).await;
    let result = connected.call("search", json!({"query": "user reports", "limit": 5})).await;
    assert!(text(&result).contains("/user-feedback/"), "{result}");
}
