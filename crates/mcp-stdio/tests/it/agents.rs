//! The embedded agent, end to end: plain words through the real binary, a model on loopback, a mock
//! Sentry.

use mocks::{Mock, ModelAnswer, ModelServer, Running, World};
use serde_json::json;

use crate::support::{self, PATIENCE};

const KEY: &str = "sk-agent-0123456789";

/// What `search_events` answers, and whether that is an error.
async fn search(mock: &Running, flags: &[&str], query: &str) -> (bool, String) {
    let mut command = support::binary();
    command
        .env("SENTRY_URL", &mock.base_url)
        .env("SENTRY_ACCESS_TOKEN", &mock.token)
        .env("OPENAI_API_KEY", KEY)
        .env("ANTHROPIC_API_KEY", KEY)
        .args(flags);
    let mut session = support::connect(command).await;
    let arguments = json!({ "organizationSlug": "harbor-lantern", "query": query });
    let message = session.call("search_events", arguments, PATIENCE).await.unwrap();
    let result = &message["result"];
    let text = result["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(!text.contains(KEY), "{text}");
    (result["isError"] == json!(true), text)
}

fn answer() -> String {
    let answer = json!({
        "dataset": "errors",
        "query": "level:error",
        "fields": ["title", "count()"],
        "sort": "-count()",
        "timeRange": { "statsPeriod": "24h" },
        "explanation": "Counts errors by title.",
    });
    format!("Here it is:\n```json\n{answer}\n```")
}

/// The queries that reached Sentry's event search.
fn queries(mock: &Running) -> Vec<String> {
    let is_search = |path: &str| path.ends_with("/organizations/harbor-lantern/events/");
    mock.log().into_iter().filter(|it| is_search(&it.path)).map(|it| it.query).collect()
}

#[tokio::test]
async fn plain_words_become_a_search_by_either_provider() {
    for provider in ["openai", "anthropic"] {
        let mock = Mock::start(World::sentry()).unwrap();
        let server = ModelServer::script([
            ModelAnswer::calls([
                ("datasetAttributes".to_owned(), json!({ "dataset": "errors" })),
                ("whoami".to_owned(), json!({})),
            ]),
            ModelAnswer::say(answer()),
        ])
        .unwrap();
        let openai = format!("{}/v1", server.base_url);
        let flags = [
            "--agent-provider",
            provider,
            "--openai-base-url",
            &openai,
            "--anthropic-base-url",
            &server.base_url,
        ];
        let (is_error, page) = search(&mock, &flags, "which errors happen most today?").await;
        assert!(!is_error, "{page}");
        assert!(page.contains("level:error") && page.contains("-count()"), "{page}");
        let requests = server.requests();
        assert_eq!(requests.len(), 2, "{provider}");
        assert!(requests[1].results()[0].contains("error.type"), "{:?}", requests[1].results());
        assert!(requests[1].results()[1].contains("email"), "{:?}", requests[1].results());
        let queries = queries(&mock);
        assert!(queries[0].contains("query=level%3Aerror"), "{queries:?}");
        assert!(queries[0].contains("statsPeriod=24h"), "{queries:?}");
    }
}

#[tokio::test]
async fn a_provider_that_fails_leaves_the_callers_own_query_and_the_page_says_so() {
    let mock = Mock::start(World::sentry()).unwrap();
    let server = ModelServer::start(|_| ModelAnswer::status(500, "secret words")).unwrap();
    let flags = ["--agent-provider", "anthropic", "--anthropic-base-url", &server.base_url];
    let (is_error, page) = search(&mock, &flags, "level:fatal checkout").await;
    assert!(!is_error, "{page}");
    assert!(page.contains("The search agent could not be reached"), "{page}");
    assert!(page.contains("level:fatal checkout") && !page.contains("secret words"), "{page}");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn what_the_agent_cannot_do_is_the_callers_to_act_on() {
    let mock = Mock::start(World::sentry()).unwrap();
    let refusal = r#"{"error":"There is no course over time: ask for a total"}"#;
    let server = ModelServer::script([ModelAnswer::say(refusal)]).unwrap();
    let flags = ["--agent-provider", "anthropic", "--anthropic-base-url", &server.base_url];
    let (is_error, text) = search(&mock, &flags, "errors for each hour of today").await;
    assert!(is_error, "{text}");
    assert!(text.contains("There is no course over time: ask for a total"), "{text}");
}

#[tokio::test]
async fn keys_alone_ask_no_model() {
    let mock = Mock::start(World::sentry()).unwrap();
    let server = ModelServer::script([]).unwrap();
    let flags = ["--anthropic-base-url", &server.base_url];
    let (is_error, page) = search(&mock, &flags, "level:error").await;
    assert!(!is_error, "{page}");
    assert!(server.requests().is_empty());
}
