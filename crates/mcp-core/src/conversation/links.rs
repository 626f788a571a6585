//! Conversations with a model that a trace belongs to.

use api_client::sentry::{Client, events::EventSearch, time::TimeRange};
use serde_json::Value;

use crate::{
    render::{Page, event::Sheet},
    tool::Call,
};

/// The tool that reads one.
pub(crate) const TOOL: &str = "get_ai_conversation_details";
/// Conversations that are named.
pub(crate) const MOST: usize = 3;

/// Ids of the conversations that spans of a trace belong to, the newest first. Nothing essential:
/// what cannot be had is none.
pub(crate) async fn of_trace(
    sentry: &Client,
    organization: &str,
    trace: &str,
    time: &TimeRange,
) -> Vec<String> {
    let fields = ["gen_ai.conversation.id", "span_id", "timestamp"].map(str::to_owned);
    let search = EventSearch {
        dataset: "spans",
        query: &format!("trace:{trace} has:gen_ai.conversation.id"),
        fields: &fields,
        sort: Some("-timestamp"),
        project: None,
        environments: &[],
        time,
        per_page: MOST as u32,
    };
    let Ok(rows) = sentry.search_events(organization, &search).await else { return Vec::new() };
    let mut ids: Vec<String> = Vec::new();
    for row in &rows.data {
        let id = row.get("gen_ai.conversation.id").and_then(Value::as_str).unwrap_or_default();
        let is_id = !id.trim().is_empty() && id.len() <= 200;
        if is_id && ids.len() < MOST && !ids.iter().any(|it| it == id) {
            ids.push(id.to_owned());
        }
    }
    ids
}

/// Names conversations on a page, and how to read one.
pub(crate) fn add(page: &mut Page, cx: &Call<'_>, ids: &[String]) {
    if ids.is_empty() {
        return;
    }
    let mut sheet = Sheet::new(1_000);
    for id in ids {
        sheet.line(id);
    }
    page.heading("AI conversations").untrusted(&sheet.finish());
    if let Some(hint) = cx.hint(TOOL, "read one of them, with its id as `conversationId`") {
        page.item(hint);
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use serde_json::json;

    use super::*;
    use crate::test_support::{Sentry, fault};

    const EVENTS: &str = "/api/0/organizations/{o}/events/";

    async fn found(status: u16, answer: Value) -> (Vec<String>, Vec<String>) {
        let mut transport = None;
        let sentry = Sentry::with_fault(fault("GET", EVENTS, status, &answer.to_string()))
            .with(|cx| transport = cx.sentry().map(|it| it.transport.as_ref().clone()));
        let client = Client::new(transport.unwrap(), Instant::now() + Duration::from_secs(10));
        let time = TimeRange::Last("14d".to_owned());
        (of_trace(&client, "harbor-lantern", "a4d1", &time).await, sentry.requests())
    }

    #[tokio::test]
    async fn each_conversation_is_named_once_and_three_at_most() {
        let rows =
            ["c1", "c1", " ", "c2", "c3", "c4"].map(|id| json!({"gen_ai.conversation.id": id}));
        let (ids, requests) = found(200, json!({ "data": rows })).await;
        assert_eq!(ids, ["c1", "c2", "c3"]);
        assert!(
            requests[0].contains("dataset=spans&query=trace%3Aa4d1%20has%3Agen_ai.conversation.id"),
            "{requests:?}"
        );
    }

    #[tokio::test]
    async fn what_cannot_be_searched_is_none() {
        assert_eq!(found(403, json!({"detail": "no"})).await.0, Vec::<String>::new());
        assert_eq!(found(200, json!({"data": 7})).await.0, Vec::<String>::new());
    }
}
