//! What is searched for, how it is checked, and how the answer reads.

use api_client::sentry::time::TimeRange;
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::{
    agents::{AgentFailure, Translated},
    event_search::Dataset,
    test_support::{Sentry, fault, rows},
};

const EVENTS: &str = "/api/0/organizations/{o}/events/";
const VALIDATE: &str = "/api/0/organizations/{o}/events/validate/";

fn with(more: Value) -> Value {
    let mut arguments = json!({"organizationSlug": "harbor-lantern"});
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    arguments
}

async fn answer(more: Value) -> String {
    Sentry::new().call("search_events", with(more)).await
}

#[tokio::test]
async fn errors_are_what_is_searched_by_default() {
    assert_snapshot!(
        answer(json!({"query": "error.type:TimeoutError", "projectSlug": "quay-api", "limit": 2}))
            .await
    );
}

#[tokio::test]
async fn logs_read_as_on_a_console() {
    assert_snapshot!(
        answer(json!({"dataset": "logs", "query": "severity:[warn,error]", "limit": 3})).await
    );
}

#[tokio::test]
async fn spans_have_their_duration_and_a_link_to_their_trace() {
    assert_snapshot!(
        answer(json!({"dataset": "spans", "query": "span.op:db", "sort": "span.duration desc", "limit": 2})).await
    );
}

#[tokio::test]
async fn samples_say_which_metric_they_are_of() {
    assert_snapshot!(
        answer(json!({"dataset": "metrics", "query": "metric.name:charge.duration", "fields": ["value", "timestamp"], "limit": 2})).await
    );
}

#[tokio::test]
async fn profiles_are_linked() {
    assert_snapshot!(answer(json!({"dataset": "profiles", "limit": 2, "sort": "timestamp"})).await);
}

#[tokio::test]
async fn replays_are_told_in_a_few_lines() {
    assert_snapshot!(
        answer(json!({"dataset": "replays", "environment": ["production", "staging"]})).await
    );
}

#[tokio::test]
async fn groups_are_numbers_largest_first() {
    assert_snapshot!(
        answer(json!({"dataset": "spans", "fields": ["span.op", "count()", "p95(span.duration)"], "period": "24h"})).await
    );
}

#[tokio::test]
async fn nothing_found_says_what_was_searched() {
    assert_snapshot!(answer(json!({"query": "berth on fire"})).await);
    let text = answer(json!({"dataset": "logs", "query": "severity:fatal"})).await;
    assert!(text.contains("No log line matches. Widen the time, or drop a filter."), "{text}");
}

#[tokio::test]
async fn a_search_that_sentry_cannot_run_is_not_run() {
    let sentry = Sentry::new();
    let arguments = with(
        json!({"dataset": "logs", "fields": ["colour", "message"], "query": "message:\"half"}),
    );
    assert_snapshot!(sentry.call("search_events", arguments).await);
}

#[tokio::test]
async fn an_installation_that_does_not_judge_searches_runs_them() {
    for (status, body) in [(404, r#"{"detail":"no"}"#), (400, "")] {
        let sentry = Sentry::with_fault(fault("GET", VALIDATE, status, body));
        let text = sentry.call("search_events", with(json!({"limit": 1}))).await;
        assert!(text.contains("Found: 1 errors"), "{status}: {text}");
    }
}

#[tokio::test]
async fn a_sort_that_replays_do_not_have_is_refused() {
    let text = Sentry::new()
        .call_failing("search_events", with(json!({"dataset": "replays", "sort": "-timestamp"})))
        .await;
    assert!(
        text.contains("cannot be sorted by `-timestamp`") && text.contains("count_rage_clicks"),
        "{text}"
    );
}

#[tokio::test]
async fn an_environment_is_a_filter_of_the_query() {
    let text =
        answer(json!({"dataset": "errors", "query": "level:error", "environment": "staging"}))
            .await;
    assert!(text.contains("**Query**: `level:error environment:staging`"), "{text}");
}

/// P30.
#[tokio::test]
async fn never_more_than_asked_for_whatever_comes_back() {
    let many = rows(100, |n| json!({"title": format!("Error {n}")}));
    let sentry = Sentry::with_fault(fault("GET", EVENTS, 200, &format!(r#"{{"data":{many}}}"#)));
    let text = sentry.call("search_events", with(json!({"limit": 3}))).await;
    assert_eq!(text.matches(". Error ").count(), 3, "{text}");
    assert!(text.contains("per_page=3") && text.contains("there are more"), "{text}");
}

/// P31.
#[tokio::test]
async fn the_defaults_in_force_are_told() {
    let text = answer(json!({})).await;
    for words in
        ["**Data set**: errors", "**Period**: 14d", "**Sort**: `-timestamp`", "statsPeriod=14d"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
    let text = answer(json!({"period": "7d"})).await;
    assert!(text.contains("**Period**: 7d") && text.contains("statsPeriod=7d"), "{text}");
}

/// P32 and P33.
#[tokio::test]
async fn a_query_and_an_absolute_time_are_sent_as_they_are() {
    let sentry = Sentry::new();
    let arguments = with(json!({
        "query": "level:fatal lastSeen:-3d",
        "start": "2026-07-01T10:00:00Z",
        "end": "2026-07-01T11:00:00Z",
    }));
    sentry.call("search_events", arguments).await;
    let requests = sentry.requests();
    let run = requests.last().unwrap().replace('+', "%20");
    for sent in [
        "query=level%3Afatal%20lastSeen%3A-3d",
        "start=2026-07-01T10%3A00%3A00Z",
        "end=2026-07-01T11%3A00%3A00Z",
    ] {
        assert!(run.contains(sent), "{requests:?}");
    }
    assert!(!run.contains("statsPeriod"), "{requests:?}");
}

#[tokio::test]
async fn a_wrong_time_is_refused_before_anything_is_sent() {
    for time in [
        json!({"start": "2026-07-01T10:00:00Z"}),
        json!({"period": "7d", "start": "2026-07-01T10:00:00Z", "end": "2026-07-01T11:00:00Z"}),
        json!({"start": "2026-07-02T10:00:00Z", "end": "2026-07-01T11:00:00Z"}),
    ] {
        let sentry = Sentry::new();
        sentry.call_failing("search_events", with(time)).await;
        assert_eq!(sentry.requests(), Vec::<String>::new());
    }
}

#[tokio::test]
async fn an_unknown_project_is_named_with_the_tool_that_lists_them() {
    let text =
        Sentry::new().call_failing("search_events", with(json!({"projectSlug": "nope"}))).await;
    assert!(text.contains("`nope`") && text.contains("find_projects"), "{text}");
}

#[tokio::test]
async fn a_pinned_session_searches_its_project() {
    let sentry = Sentry::new().pinned("harbor-lantern", Some("quay-web"));
    let text = sentry.call("search_events", json!({"limit": 100})).await;
    assert!(text.contains("project: quay-web") && !text.contains("project: quay-api"), "{text}");
}

#[tokio::test]
async fn a_query_about_one_conversation_links_to_it() {
    let text = answer(json!({"dataset": "spans", "query": "gen_ai.conversation.id:c-7"})).await;
    assert!(text.contains("/explore/conversations/c-7/"), "{text}");
}

#[tokio::test]
async fn a_name_in_backticks_does_not_leave_its_place() {
    let text = answer(json!({"query": "message:`x`"})).await;
    assert!(text.contains("**Query**: `` message:`x` ``"), "{text}");
}

/// P39.
#[tokio::test]
async fn odd_answers_are_read_as_far_as_they_go() {
    for body in [r#"{"data":[{"title":7,"user":[]},null,"x"],"meta":7}"#, r#"{"data":[{}]}"#] {
        let sentry = Sentry::with_fault(fault("GET", EVENTS, 200, body));
        let text = sentry.call("search_events", with(json!({}))).await;
        assert!(text.contains("Found: 1 errors"), "{text}");
    }
    let sentry = Sentry::with_fault(fault("GET", EVENTS, 200, "{}"));
    let text = sentry.call("search_events", with(json!({}))).await;
    assert!(text.contains("No error matches"), "{text}");
}

#[tokio::test]
async fn words_are_an_agents_to_put_into_a_search() {
    let agent = Translated {
        dataset: Some(Dataset::Spans),
        query: "span.op:db".to_owned(),
        fields: vec!["transaction".to_owned(), "p75(span.duration)".to_owned()],
        sort: Some("-p75(span.duration)".to_owned()),
        time: Some(TimeRange::Last("24h".to_owned())),
        explanation: Some("slow means a high 75th percentile".to_owned()),
        ..Translated::default()
    };
    let sentry = Sentry::new().agent(Ok(agent));
    let arguments =
        with(json!({"query": "slow database calls of the last day", "includeExplanation": true}));
    assert_snapshot!(sentry.call("search_events", arguments).await);
}

#[tokio::test]
async fn an_agent_cannot_weaken_a_filter() {
    let agent = Translated {
        dataset: Some(Dataset::Errors),
        query: "message:error".to_owned(),
        sort: Some("-timestamp".to_owned()),
        ..Translated::default()
    };
    let sentry = Sentry::new().agent(Ok(agent));
    let arguments = with(json!({"dataset": "logs", "query": "severity:error"}));
    let text = sentry.call("search_events", arguments).await;
    assert!(text.contains("**Data set**: logs") && text.contains("`severity:error`"), "{text}");
}

#[tokio::test]
async fn a_whole_search_asks_no_agent() {
    let sentry = Sentry::new().agent(Err(AgentFailure::Request("asked anyway".to_owned())));
    let arguments = with(
        json!({"dataset": "logs", "query": "severity:error", "fields": ["message"], "sort": "message"}),
    );
    let text = sentry.call("search_events", arguments).await;
    assert!(text.contains("Found: "), "{text}");
}

/// P33.
#[tokio::test]
async fn an_agent_that_cannot_be_had_is_told_and_does_without() {
    let sentry = Sentry::new().agent(Err(AgentFailure::Provider("out of quota".to_owned())));
    let text =
        sentry.call("search_events", with(json!({"query": "timeout", "period": "7d"}))).await;
    assert!(text.contains("could not be reached") && text.contains("query=timeout"), "{text}");
    assert!(text.contains("statsPeriod=7d") && !text.contains("quota"), "{text}");
}

#[tokio::test]
async fn what_an_agent_cannot_make_a_search_of_is_told_in_its_words() {
    let sentry = Sentry::new().agent(Err(AgentFailure::Request("say which project".to_owned())));
    let text = sentry.call_failing("search_events", with(json!({"query": "stuff"}))).await;
    assert!(text.contains("Say which project") && text.contains("in other words"), "{text}");
}
