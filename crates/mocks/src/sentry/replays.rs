//! Session replays of quay-web; read only.

use serde_json::{Value, json};

use super::{State, not_found, organization, page, project};
use crate::http::{Answer, Call, Reply};
use crate::route::{Route, get};
use crate::table::{Columns as _, Row, row};

pub(super) fn routes() -> Vec<Route<State>> {
    vec![
        get("/organizations/{organization_id_or_slug}/replays/", list),
        get("/organizations/{organization_id_or_slug}/replays/{replay_id}/", retrieve),
        get("/organizations/{organization_id_or_slug}/replay-count/", count),
        get(
            "/projects/{organization_id_or_slug}/{project_id_or_slug}/replays/{replay_id}/recording-segments/",
            segments,
        ),
    ]
}

/// One with the first error of quay-web, and one whose recording is gone.
pub(super) fn seed(state: &mut State) {
    let project = state.projects.find("slug", "quay-web").map(|it| it.value("id"));
    let issue = state.issues.find("short_id", "QUAY-WEB-1").map(|it| it.text("id").to_owned());
    let event = state.events.find("issue_id", issue.as_deref().unwrap_or_default()).cloned();
    for (archived, started) in [(false, "2026-05-04T08:40:00Z"), (true, "2026-04-11T17:05:00Z")] {
        let id = state.ids.uuid("replay").replace('-', "");
        let event = event.as_ref().filter(|_| !archived);
        let columns = json!({
            "id": id,
            "project_id": project,
            "issue_id": if archived { Value::Null } else { json!(issue) },
            "error_id": event.map(|it| it.value("id")),
            "trace_id": event.map(|it| it.value("trace_id")),
            "is_archived": archived,
            "started_at": started,
            "duration": 74,
        });
        state.replays.insert(&id, row(columns));
    }
}

fn list(state: &State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let projects = call.queries("project");
    let mut rows: Vec<&Row> = state
        .replays
        .rows()
        .filter(|it| {
            projects.is_empty()
                || projects.iter().any(|id| id == "-1" || id == it.text("project_id"))
        })
        .collect();
    rows.sort_by_key(|it| it.text("started_at"));
    if call.query("sort").is_none_or(|it| it.starts_with('-')) {
        rows.reverse();
    }
    let query = call.query("query").unwrap_or_default();
    rows.retain(|it| matches(it, &query));
    let limit: usize = call.query("per_page").and_then(|it| it.parse().ok()).unwrap_or(10);
    let links = page::first_page_links(call, limit, rows.len() > limit);
    let data: Vec<Value> = rows.into_iter().take(limit).map(view).collect();
    Ok(Reply::json(200, &json!({ "data": data })).header("link", &links))
}

/// `count_errors:>0`, `is_archived:true`; other tokens match every replay.
fn matches(replay: &Row, query: &str) -> bool {
    query.split_whitespace().all(|token| match token {
        "count_errors:>0" => replay.get("error_id").is_some_and(|it| !it.is_null()),
        "is_archived:true" => replay.truth("is_archived"),
        "is_archived:false" => !replay.truth("is_archived"),
        _ => true,
    })
}

fn retrieve(state: &State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let name = call.value(1).replace('-', "");
    let replay = state.replays.get(&name).ok_or_else(not_found)?;
    Ok(Reply::json(200, &json!({ "data": view(replay) })))
}

/// For `issue.id:[1,2]`, how many replays each issue has, or which.
fn count(state: &State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let query = call.query("query").unwrap_or_default();
    let Some(ids) = query.strip_prefix("issue.id:[").and_then(|it| it.strip_suffix(']')) else {
        return Err(Reply::detail(400, "Invalid query"));
    };
    let with_ids = call.query("returnIds").is_some_and(|it| it == "true" || it == "1");
    let mut answer = Row::new();
    for issue in ids.split(',').map(str::trim) {
        let found: Vec<Value> = state
            .replays
            .rows()
            .filter(|it| it.text("issue_id") == issue)
            .map(|it| it.value("id"))
            .collect();
        if !found.is_empty() {
            answer.set(issue, if with_ids { Value::from(found) } else { found.len().into() });
        }
    }
    Ok(Reply::json(200, &answer))
}

/// Two parts: a page view with a click, and what went wrong after it.
fn segments(state: &State, call: &Call<'_>) -> Answer {
    let project = project(state, call)?.text("id");
    let replay = state.replays.get(&call.value(2).replace('-', ""));
    let replay = replay.filter(|it| it.text("project_id") == project && !it.truth("is_archived"));
    replay.ok_or_else(not_found)?;
    let custom = |second: i64, tag: &str, payload: Value| {
        json!({
            "type": 5,
            "timestamp": 1_777_884_000_000_i64 + second * 1_000,
            "data": { "tag": tag, "payload": payload },
        })
    };
    let parts = json!([
        [
            custom(
                0,
                "performanceSpan",
                json!({ "op": "navigation.navigate", "description": "https://checkout.harbor-lantern.test/basket" })
            ),
            custom(9, "breadcrumb", json!({ "category": "ui.click", "message": "button#pay" })),
        ],
        [
            custom(
                11,
                "performanceSpan",
                json!({
                    "op": "resource.fetch",
                    "description": "https://api.harbor-lantern.test/api/pay",
                    "data": { "method": "POST", "statusCode": 500 },
                })
            ),
            custom(
                12,
                "breadcrumb",
                json!({ "category": "console", "level": "error", "message": "charge failed" })
            ),
            custom(
                19,
                "breadcrumb",
                json!({ "category": "ui.slowClickDetected", "message": "button#pay" })
            ),
            custom(
                40,
                "performanceSpan",
                json!({ "op": "resource.img", "description": "https://checkout.harbor-lantern.test/boat.png" })
            ),
            custom(
                71,
                "performanceSpan",
                json!({ "op": "navigation.push", "description": "https://checkout.harbor-lantern.test/help" })
            ),
        ],
    ]);
    Ok(Reply::json(200, &parts))
}

fn view(replay: &Row) -> Value {
    let id = replay.text("id");
    let some = |column: &str| {
        replay.get(column).filter(|it| !it.is_null()).into_iter().collect::<Vec<_>>()
    };
    json!({
        "id": id,
        "project_id": replay.text("project_id"),
        "trace_ids": some("trace_id"),
        "error_ids": some("error_id"),
        "environment": "production",
        "started_at": replay.text("started_at"),
        "finished_at": "2026-05-04T08:41:14Z",
        "duration": replay.integer("duration"),
        "user": { "id": "4400", "username": null, "email": "guest0@customer.test", "ip": null },
        "browser": { "name": "Chrome", "version": "137" },
        "os": { "name": "Windows", "version": "11" },
        "device": { "name": null, "brand": null, "model": null, "family": null },
        "urls": ["https://checkout.harbor-lantern.test/basket", "https://checkout.harbor-lantern.test/checkout"],
        "releases": ["quay@5.1.9"],
        "replay_type": "session",
        "count_errors": some("error_id").len(),
        "count_warnings": 0,
        "count_infos": 2,
        "count_dead_clicks": 1,
        "count_rage_clicks": 0,
        "count_segments": if replay.truth("is_archived") { 0 } else { 2 },
        "is_archived": replay.truth("is_archived"),
        "has_viewed": false,
        "tags": {},
    })
}
