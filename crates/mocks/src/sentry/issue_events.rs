//! Events of issues: one by id, the latest, lists, and the values of their tags.

use serde_json::{Value, json};

use super::{State, issues, not_found, page};
use crate::http::{Answer, Call, Reply};
use crate::route::{Route, get};
use crate::table::{Columns as _, Row, row};
use crate::time::Timestamp;

const EVENTS: i64 = 3;

pub(super) fn routes() -> Vec<Route<State>> {
    vec![
        get("/organizations/{organization_id_or_slug}/issues/{issue_id}/events/", list),
        get(
            "/organizations/{organization_id_or_slug}/issues/{issue_id}/events/{event_id}/",
            retrieve,
        ),
        get("/organizations/{organization_id_or_slug}/issues/{issue_id}/tags/{key}/", tag),
    ]
}

/// Stores three events of an issue, an hour apart.
pub(super) fn add(state: &mut State, issue: &str) {
    let Some(last) = state.issues.get(issue).map(|it| it.text("last_seen").to_owned()) else {
        return;
    };
    let last = Timestamp::parse(&last).unwrap_or(Timestamp::START);
    for number in 0..EVENTS {
        let id = state.ids.uuid("event").replace('-', "");
        let trace = state.ids.uuid("trace").replace('-', "");
        let browser = if number == 1 { "Firefox 139" } else { "Chrome 137" };
        let columns = json!({
            "id": id,
            "issue_id": issue,
            "trace_id": trace,
            "timestamp": last.plus_seconds(-3_600 * number).to_string(),
            "environment": if number == 2 { "staging" } else { "production" },
            "browser": browser,
            "user": { "id": (4_400 + number).to_string(), "email": format!("guest{number}@customer.test") },
        });
        state.events.insert(&id, row(columns));
    }
}

/// Whether an event belongs to an issue.
pub(super) fn belongs(state: &State, event: &str, issue: &str) -> bool {
    state.events.get(event).is_some_and(|it| it.text("issue_id") == issue)
}

/// Newest first.
fn of<'s>(state: &'s State, issue: &Row) -> Vec<&'s Row> {
    let mut rows: Vec<&Row> =
        state.events.rows().filter(|it| it.text("issue_id") == issue.text("id")).collect();
    rows.sort_by_key(|it| std::cmp::Reverse(it.text("timestamp")));
    rows
}

fn list(state: &State, call: &Call<'_>) -> Answer {
    let issue = issues::find(state, call)?;
    let query = call.query("query").unwrap_or_default();
    let mut rows = of(state, issue);
    rows.retain(|it| {
        query.split_whitespace().all(|token| match token.split_once(':') {
            Some(("environment", name)) => it.text("environment") == name,
            Some(("browser", name)) => it.text("browser").starts_with(name),
            Some(_) => true,
            None => issue.text("title").to_lowercase().contains(&token.to_lowercase()),
        })
    });
    if call.query("sort").as_deref() == Some("timestamp") {
        rows.reverse();
    }
    page::answer(call, &rows, |it| {
        json!({
            "id": it.text("id"),
            "event.type": issue.text("type"),
            "groupID": issue.text("id"),
            "eventID": it.text("id"),
            "projectID": issue.text("project_id"),
            "title": issue.text("title"),
            "message": issue.text("title"),
            "culprit": issue.text("culprit"),
            "dateCreated": it.text("timestamp"),
            "tags": tags(it),
            "user": it.value("user"),
        })
    })
}

fn retrieve(state: &State, call: &Call<'_>) -> Answer {
    let issue = issues::find(state, call)?;
    let rows = of(state, issue);
    let wanted = call.value(2);
    let at = match wanted {
        "latest" | "recommended" => Some(0),
        "oldest" => rows.len().checked_sub(1),
        id => rows.iter().position(|it| it.text("id") == id),
    };
    let event = at.and_then(|at| rows.get(at)).ok_or_else(not_found)?;
    let neighbour = |at: Option<usize>| at.and_then(|at| rows.get(at)).map(|it| it.value("id"));
    let mut view = view(issue, event);
    view["nextEventID"] = json!(neighbour(at.and_then(|at| at.checked_sub(1))));
    view["previousEventID"] = json!(neighbour(at.map(|at| at + 1)));
    Ok(Reply::json(200, &view))
}

/// The values of a tag, most frequent first.
fn tag(state: &State, call: &Call<'_>) -> Answer {
    let issue = issues::find(state, call)?;
    let key = call.value(2);
    let mut values: Vec<(String, u64, &str, &str)> = Vec::new();
    for event in of(state, issue) {
        let at = event.text("timestamp");
        let Some(value) = tags(event).into_iter().find(|it| it["key"] == key) else { continue };
        let value = value["value"].as_str().unwrap_or_default().to_owned();
        match values.iter_mut().find(|it| it.0 == value) {
            Some(known) => {
                known.1 += 1;
                known.2 = at;
            }
            None => values.push((value, 1, at, at)),
        }
    }
    if values.is_empty() {
        return Err(not_found());
    }
    values.sort_by_key(|it| std::cmp::Reverse(it.1));
    let total: u64 = values.iter().map(|it| it.1).sum();
    let top: Vec<Value> = values
        .iter()
        .map(|(value, count, first, last)| {
            json!({ "key": key, "name": value, "value": value, "count": count, "firstSeen": first, "lastSeen": last })
        })
        .collect();
    let answer = json!({
        "key": key,
        "name": key,
        "uniqueValues": values.len(),
        "totalValues": total,
        "topValues": top,
    });
    Ok(Reply::json(200, &answer))
}

fn tags(event: &Row) -> Vec<Value> {
    let tag = |key: &str, value: &str| json!({ "key": key, "value": value });
    vec![
        tag("browser", event.text("browser")),
        tag("environment", event.text("environment")),
        tag("level", "error"),
        tag("release", "quay@5.1.9"),
    ]
}

fn view(issue: &Row, event: &Row) -> Value {
    let performance = issue.text("category") == "db_query";
    let kind = if performance { "transaction" } else { "error" };
    json!({
        "id": event.text("id"),
        "eventID": event.text("id"),
        "groupID": issue.text("id"),
        "projectID": issue.text("project_id"),
        "type": kind,
        "title": issue.text("title"),
        "message": "",
        "culprit": issue.text("culprit"),
        "platform": "javascript",
        "dateCreated": event.text("timestamp"),
        "dateReceived": event.text("timestamp"),
        "entries": entries(issue, event, performance),
        "tags": tags(event),
        "user": event.value("user"),
        "contexts": {
            "browser": { "type": "browser", "name": event.text("browser") },
            "trace": { "type": "trace", "trace_id": event.text("trace_id"), "op": "pageload" },
        },
        "context": { "basket_size": 3 },
        "occurrence": performance.then(|| json!({
            "type": 1006,
            "issueTitle": issue.text("title"),
            "evidenceData": {
                "op": "db",
                "parentSpan": "ledger.close",
                "repeatingSpansCompact": ["SELECT * FROM entry WHERE ledger_id = %s"],
                "numberRepeatingSpans": "204",
            },
        })),
        "release": { "version": "quay@5.1.9" },
    })
}

fn entries(issue: &Row, event: &Row, performance: bool) -> Value {
    if performance {
        return json!([]);
    }
    let (kind, value) = issue.text("title").split_once(": ").unwrap_or((issue.text("title"), ""));
    json!([
        {
            "type": "exception",
            "data": {
                "values": [{
                    "type": kind,
                    "value": value,
                    "mechanism": { "type": "generic", "handled": false },
                    "stacktrace": {
                        "frames": [
                            {
                                "filename": "node_modules/react-dom/index.js", "absPath": null,
                                "function": "commitRoot", "lineNo": 2204, "colNo": 11,
                                "inApp": false, "context": [], "vars": null,
                            },
                            {
                                "filename": "src/checkout/basket.ts", "absPath": "/app/src/checkout/basket.ts",
                                "function": "renderTotal", "lineNo": 41, "colNo": 23, "inApp": true,
                                "context": [
                                    [40, "  const sum = basket.sum;"],
                                    [41, "  return format(sum.total);"],
                                    [42, "}"],
                                ],
                                "vars": { "basket": { "sum": null } },
                            },
                        ],
                    },
                }],
            },
        },
        {
            "type": "breadcrumbs",
            "data": {
                "values": [
                    {
                        "timestamp": event.text("timestamp"), "type": "navigation", "level": "info",
                        "category": "navigation", "message": null,
                        "data": { "from": "/basket", "to": "/checkout" },
                    },
                    {
                        "timestamp": event.text("timestamp"), "type": "http", "level": "error",
                        "category": "fetch", "message": "POST /api/pay",
                        "data": { "status_code": 502 },
                    },
                ],
            },
        },
        {
            "type": "request",
            "data": { "method": "GET", "url": "https://checkout.harbor-lantern.test/checkout" },
        },
    ])
}
