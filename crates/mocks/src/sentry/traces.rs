//! Traces: their spans as a tree, what happened in them, and the log lines beside them.

use serde_json::{Value, json};

use super::{State, not_found, organization};
use crate::http::{Answer, Call, Reply};
use crate::route::{Route, get};
use crate::table::{Columns as _, Row, row};
use crate::time::Timestamp;

pub(super) fn routes() -> Vec<Route<State>> {
    vec![
        get("/organizations/{organization_id_or_slug}/trace-meta/{trace_id}/", meta),
        get("/organizations/{organization_id_or_slug}/trace/{trace_id}/", tree),
    ]
}

/// Parent (by place in its list), operation, description, project, begin and length in ms.
type Span = (Option<usize>, &'static str, &'static str, &'static str, i64, i64);

const SPANS: [Span; 6] = [
    (None, "pageload", "/checkout", "quay-web", 0, 2_400),
    (Some(0), "http.client", "POST /api/pay", "quay-web", 180, 1_950),
    (Some(1), "http.server", "POST /api/pay", "quay-api", 210, 1_880),
    (Some(2), "db", "SELECT * FROM basket WHERE id = %s", "quay-api", 230, 14),
    (Some(2), "http.client", "POST https://gateway.test/charge", "quay-api", 260, 1_790),
    (Some(0), "ui.render", "<Receipt>", "quay-web", 2_200, 160),
];

/// Every trace of an error has the same spans; each line of its log is one of these.
pub(super) fn seed(state: &mut State) {
    let logs =
        [("info", "charging basket"), ("warn", "gateway is slow"), ("error", "charge failed")];
    let events: Vec<(String, Timestamp)> = state
        .events
        .rows()
        .filter_map(|it| {
            Some((it.text("trace_id").to_owned(), Timestamp::parse(it.text("timestamp"))?))
        })
        .collect();
    for (trace, at) in events {
        let ids: Vec<String> = SPANS
            .iter()
            .map(|_| state.ids.uuid("span").replace('-', "").chars().take(16).collect())
            .collect();
        for (id, (parent, op, description, project, begin, length)) in ids.iter().zip(SPANS) {
            let parent = parent.and_then(|parent| ids.get(parent));
            let columns = json!({
                "id": id,
                "trace": trace,
                "parent": parent,
                "span.op": op,
                "span.description": description,
                "span.duration": length,
                "span.status": "ok",
                "project": project,
                "transaction": "/checkout",
                "is_transaction": matches!(op, "pageload" | "http.server"),
                "timestamp": at.plus_micros(begin * 1_000).to_string(),
                "end": at.plus_micros((begin + length) * 1_000).to_string(),
            });
            state.spans.insert(id, row(columns));
        }
        for (number, (severity, message)) in (0..).zip(logs) {
            let id = state.ids.uuid("log").replace('-', "");
            let columns = json!({
                "id": id,
                "trace": trace,
                "severity": severity,
                "message": message,
                "project": "quay-api",
                "timestamp": at.plus_seconds(number).to_string(),
            });
            state.logs.insert(&id, row(columns));
        }
    }
}

fn spans<'s>(state: &'s State, call: &Call<'_>) -> Result<Vec<&'s Row>, Reply> {
    organization(state, call)?;
    let mut rows: Vec<&Row> =
        state.spans.rows().filter(|it| it.text("trace") == call.value(1)).collect();
    rows.sort_by_key(|it| (it.text("timestamp"), it.text("id")));
    if rows.is_empty() { Err(not_found()) } else { Ok(rows) }
}

/// Counts, in snake case as newer servers write them.
fn meta(state: &State, call: &Call<'_>) -> Answer {
    let spans = spans(state, call)?;
    let of_trace = |table: &crate::table::Table, column: &str| {
        table.rows().filter(|it| it.text(column) == call.value(1)).count()
    };
    let mut by_op = Row::new();
    for span in &spans {
        let op = span.text("span.op");
        by_op.set(op, by_op.integer(op) + 1);
    }
    let answer = json!({
        "errors": of_trace(&state.events, "trace_id"),
        "performance_issues": 0,
        "span_count": spans.len(),
        "logs": of_trace(&state.logs, "trace"),
        "span_count_map": by_op,
        "transaction_child_count_map": [],
    });
    Ok(Reply::json(200, &answer))
}

/// The first `limit` spans, those without a parent among them at the top.
fn tree(state: &State, call: &Call<'_>) -> Answer {
    let mut spans = spans(state, call)?;
    let limit = call.query("limit").and_then(|it| it.parse().ok()).unwrap_or(10_000);
    spans.truncate(limit);
    let known = |id: &str| spans.iter().any(|it| it.text("id") == id);
    let roots = spans.iter().filter(|it| !known(it.text("parent")));
    let roots: Vec<Value> = roots.map(|it| node(state, &spans, it)).collect();
    Ok(Reply::json(200, &roots))
}

fn node(state: &State, spans: &[&Row], span: &Row) -> Value {
    let id = span.text("id");
    let children: Vec<Value> = spans
        .iter()
        .filter(|it| it.text("parent") == id)
        .map(|it| node(state, spans, it))
        .collect();
    let project = state.projects.find("slug", span.text("project"));
    let event = state.events.rows().find(|it| it.text("trace_id") == span.text("trace"));
    let failed = span.text("span.op") == "pageload";
    let errors = event.filter(|_| failed).map(|it| {
        json!({
            "event_id": it.text("id"),
            "event_type": "error",
            "issue_id": it.text("issue_id"),
            "level": "error",
            "description": "charge failed",
        })
    });
    json!({
        "event_id": id,
        "event_type": "span",
        "op": span.text("span.op"),
        "description": span.text("span.description"),
        "name": span.text("span.description"),
        "transaction": span.text("transaction"),
        "transaction_id": id,
        "is_transaction": span.truth("is_transaction"),
        "parent_span_id": span.value("parent"),
        "project_slug": span.text("project"),
        "project_id": project.map(|it| it.value("id")),
        "start_timestamp": span.text("timestamp"),
        "end_timestamp": span.text("end"),
        "duration": span.integer("span.duration"),
        "errors": errors.into_iter().collect::<Vec<_>>(),
        "occurrences": [],
        "measurements": {},
        "sdk_name": "sentry.javascript.react",
        "additional_attributes": attributes(span),
        "children": children,
    })
}

/// What SDKs add by convention.
fn attributes(span: &Row) -> Value {
    let status = span.text("span.status");
    let description = span.text("span.description");
    match (span.text("span.op"), description.split_once(' ')) {
        ("http.client" | "http.server", Some((method, target))) => json!({
            "span.status": status,
            "http.request.method": method,
            "url.full": target,
            "http.response.status_code": if target.starts_with('/') { 500 } else { 504 },
        }),
        ("db", _) => json!({
            "span.status": status,
            "db.system.name": "postgresql",
            "db.query.text": description,
            "server.address": "db-1.harbor-lantern.test",
        }),
        _ => json!({ "span.status": status }),
    }
}
