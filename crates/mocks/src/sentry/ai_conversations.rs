//! AI conversations: two that users had with the harbour's assistant; read only.

use serde_json::{Value, json};

use super::{State, organization, page};
use crate::http::{Answer, Call};
use crate::route::{Route, get};
use crate::table::{Columns as _, Row, row};

pub(super) fn routes() -> Vec<Route<State>> {
    vec![
        get("/organizations/{organization_id_or_slug}/ai-conversations/", list),
        get("/organizations/{organization_id_or_slug}/ai-conversations/{conversation_id}/", spans),
    ]
}

const BERTH: &str = "conv-berth-17";
const REFUND: &str = "conv-refund-4";
const BERTH_TRACE: &str = "b0a7b0a7b0a7b0a7b0a7b0a7b0a70017";
const REFUND_TRACE: &str = "c0a7c0a7c0a7c0a7c0a7c0a7c0a70004";
/// Seconds since 1970 at which the first one began.
const BEGIN: f64 = 1_777_881_600.0;

fn list(state: &State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let project = state.projects.find("slug", "quay-api").map(|it| it.text("id"));
    let projects = call.queries("project");
    let in_project =
        projects.is_empty() || projects.iter().any(|it| it == "-1" || Some(it.as_str()) == project);
    let query = call.query("query").unwrap_or_default().to_lowercase();
    let mut rows = vec![berth(), refund()];
    rows.retain(|it| {
        let text = Value::Object(it.clone()).to_string().to_lowercase();
        in_project && query.split_whitespace().all(|word| text.contains(word))
    });
    let shown: Vec<&Row> = rows.iter().collect();
    page::answer(call, &shown, |it| Value::Object(it.clone()))
}

fn berth() -> Row {
    row(json!({
        "conversationId": BERTH,
        "flow": ["Harbour assistant"],
        "errors": 1,
        "llmCalls": 2,
        "toolCalls": 1,
        "toolErrors": 1,
        "totalTokens": 1_460,
        "totalCost": 0.0042,
        "startTimestamp": BEGIN * 1_000.0,
        "endTimestamp": (BEGIN + 9.0) * 1_000.0,
        "traceCount": 1,
        "traceIds": [BERTH_TRACE],
        "firstInput": "Is berth 17 free on Saturday?",
        "lastOutput": "I could not reach the berth plan. Please call the harbour office.",
        "user": { "id": "4400", "email": "skipper@boats.test", "username": null, "ip_address": null },
        "toolNames": ["find_berth"],
    }))
}

fn refund() -> Row {
    row(json!({
        "conversationId": REFUND,
        "flow": [],
        "errors": 0,
        "llmCalls": 1,
        "toolCalls": 0,
        "toolErrors": 0,
        "totalTokens": 210,
        "totalCost": 0.0003,
        "startTimestamp": (BEGIN - 86_400.0) * 1_000.0,
        "endTimestamp": (BEGIN - 86_397.0) * 1_000.0,
        "traceCount": 1,
        "traceIds": [REFUND_TRACE],
        "firstInput": "I want my deposit back",
        "lastOutput": "Your deposit is on its way.",
        "user": null,
        "toolNames": [],
    }))
}

/// Spans in the order they began; an unknown conversation has none.
fn spans(state: &State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let rows: Vec<Row> = match call.value(1) {
        BERTH => berth_spans(state),
        REFUND => vec![span(
            state,
            REFUND_TRACE,
            "c400000000000001",
            -86_400.0,
            3.0,
            json!({
                "span.op": "gen_ai.chat",
                "span.name": "chat gpt-5",
                "gen_ai.operation.type": "ai_client",
                "gen_ai.request.messages": r#"[{"role":"user","content":"I want my deposit back"}]"#,
                "gen_ai.response.text": "Your deposit is on its way.",
                "gen_ai.usage.total_tokens": 210,
            }),
        )],
        _ => Vec::new(),
    };
    let shown: Vec<&Row> = rows.iter().collect();
    page::answer_sized(call, &shown, Some(1_000), |it| Value::Object(it.clone()))
}

/// An agent that asks a model, calls a tool that fails, and asks again.
fn berth_spans(state: &State) -> Vec<Row> {
    let chat = |messages: Value, output: Value, tokens: u32| {
        json!({
            "span.op": "gen_ai.chat",
            "span.name": "chat gpt-5",
            "parent_span": "b000000000000001",
            "gen_ai.operation.type": "ai_client",
            "gen_ai.agent.name": "Harbour assistant",
            "gen_ai.request.model": "gpt-5",
            "gen_ai.response.model": "gpt-5-2025",
            "gen_ai.system_instructions": "You help guests of the harbour.",
            "gen_ai.input.messages": messages.to_string(),
            "gen_ai.output.messages": output.to_string(),
            "gen_ai.usage.total_tokens": tokens,
            "gen_ai.cost.total_tokens": 0.0021,
        })
    };
    let asked = json!({ "role": "user", "parts": [{ "type": "text", "content": "Is berth 17 free on Saturday?" }] });
    let looks = json!([{ "role": "assistant", "parts": [{ "type": "text", "content": "Let me look." }, { "type": "tool_call", "name": "find_berth" }] }]);
    let sorry = json!([{ "role": "assistant", "content": "I could not reach the berth plan. Please call the harbour office." }]);
    vec![
        span(
            state,
            BERTH_TRACE,
            "b000000000000001",
            0.0,
            9.0,
            json!({
                "span.op": "gen_ai.invoke_agent",
                "span.name": "invoke_agent Harbour assistant",
                "gen_ai.operation.type": "agent",
                "gen_ai.agent.name": "Harbour assistant",
                "gen_ai.usage.total_tokens": 1_460,
            }),
        ),
        span(state, BERTH_TRACE, "b000000000000002", 0.1, 2.0, chat(json!([asked]), looks, 620)),
        span(
            state,
            BERTH_TRACE,
            "b000000000000003",
            2.2,
            4.5,
            json!({
                "span.op": "gen_ai.execute_tool",
                "span.name": "execute_tool find_berth",
                "span.status": "internal_error",
                "parent_span": "b000000000000001",
                "gen_ai.operation.type": "tool",
                "gen_ai.tool.name": "find_berth",
                "gen_ai.tool.call.arguments": r#"{"berth":17,"day":"saturday"}"#,
            }),
        ),
        span(state, BERTH_TRACE, "b000000000000004", 6.8, 2.1, chat(json!([asked]), sorry, 840)),
    ]
}

fn span(state: &State, trace: &str, id: &str, at: f64, seconds: f64, more: Value) -> Row {
    let project = state.projects.find("slug", "quay-api").map(|it| it.value("id"));
    let mut span = row(json!({
        "span_id": id,
        "trace": trace,
        "parent_span": null,
        "precise.start_ts": BEGIN + at,
        "precise.finish_ts": BEGIN + at + seconds,
        "project": "quay-api",
        "project.id": project,
        "span.status": "ok",
        "span.description": "",
        "span.duration": seconds * 1_000.0,
        "transaction": "/assistant",
        "is_transaction": false,
        "user.email": "skipper@boats.test",
    }));
    span.extend(row(more));
    span
}
