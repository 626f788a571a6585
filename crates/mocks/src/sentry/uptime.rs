//! Uptime monitors and their checks. Not in the published document.

use serde_json::{Map, Value, json};

use super::check_ins::window;
use super::spelling::{camel_errors, snake};
use super::{State, not_found, organization, owner, page, project};
use crate::fields::{Field, Form, Mode};
use crate::http::{Answer, Call, Reply};
use crate::route::{Route, delete, get, post, put};
use crate::table::{Columns as _, Row, row};
use crate::time::Timestamp;

const ONE: &str = "/projects/{organization_id_or_slug}/{project_id_or_slug}/uptime/{uptime_id}/";
const METHODS: &[&str] = &["GET", "POST", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"];
const INTERVALS: [i64; 6] = [60, 300, 600, 1_200, 1_800, 3_600];

pub(super) fn routes() -> Vec<Route<State>> {
    vec![
        get("/organizations/{organization_id_or_slug}/uptime/", list),
        post("/projects/{organization_id_or_slug}/{project_id_or_slug}/uptime/", create),
        get(ONE, retrieve),
        put(ONE, update),
        delete(ONE, destroy),
        get(
            "/projects/{organization_id_or_slug}/{project_id_or_slug}/uptime/{uptime_id}/checks/",
            checks,
        ),
    ]
}

/// One that answers and sends a secret header, and one that does not answer.
pub(super) fn seed(state: &mut State) {
    let health = json!([["Authorization", "Bearer pier-7-lamp"], ["Accept", "application/json"]]);
    for (name, slug, url, status, headers) in [
        ("Checkout health", "quay-web", "https://checkout.harbor-lantern.test/health", 1, health),
        ("Orders API", "quay-api", "https://orders.harbor-lantern.test/ping", 2, json!([])),
    ] {
        let id = state.ids.number("uptime monitor", 9_300).to_string();
        let project = state.projects.find("slug", slug).map(|it| it.value("id"));
        let columns = json!({
            "id": id,
            "project_id": project,
            "name": name,
            "url": url,
            "method": "GET",
            "headers": headers,
            "body": null,
            "interval_seconds": 60,
            "timeout_ms": 5_000,
            "status": "active",
            "uptime_status": status,
            "owner": owner::team(state, "dock-oncall"),
            "environment": "production",
            "trace_sampling": false,
            "response_capture_enabled": true,
            "recovery_threshold": 1,
            "downtime_threshold": 3,
            "assertion": null,
        });
        state.uptime_monitors.insert(&id, row(columns));
        for number in 0..5 {
            let failed = status == 2 && number < 3;
            let check = state.ids.uuid("uptime check");
            let at = Timestamp::START.plus_seconds(-60 * (number + 1));
            let columns = json!({
                "id": check,
                "monitor_id": id,
                "timestamp": at.to_string(),
                "status": if failed { "failure" } else { "success" },
                "reason": if failed { json!("timeout") } else { Value::Null },
                "http_status": if failed { Value::Null } else { json!(200) },
                "duration_ms": if failed { 5_000 } else { 118 + 7 * number },
            });
            state.uptime_checks.insert(&check, row(columns));
        }
    }
}

fn list(state: &State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let query = call.query("query").unwrap_or_default().to_lowercase();
    let (owners, projects) = (call.queries("owner"), call.queries("project"));
    let environments = call.queries("environment");
    let holds = |wanted: &[String], value: &str| {
        wanted.is_empty() || wanted.iter().any(|it| it == value || it == "-1")
    };
    let mut rows: Vec<&Row> = state
        .uptime_monitors
        .rows()
        .filter(|it| {
            holds(&projects, it.text("project_id"))
                && holds(&owners, it.text("owner"))
                && holds(&environments, it.text("environment"))
                && ["name", "url"]
                    .iter()
                    .any(|column| it.text(column).to_lowercase().contains(&query))
        })
        .collect();
    rows.sort_by_key(|it| it.text("name"));
    page::answer(call, &rows, |it| view(state, it))
}

fn retrieve(state: &State, call: &Call<'_>) -> Answer {
    Ok(Reply::json(200, &view(state, &find(state, call)?)))
}

/// Newest first.
fn checks(state: &State, call: &Call<'_>) -> Answer {
    let monitor = find(state, call)?;
    let (since, until) = window(call)?;
    let mut rows: Vec<&Row> = state
        .uptime_checks
        .rows()
        .filter(|it| it.text("monitor_id") == monitor.text("id"))
        .filter(|it| {
            Timestamp::parse(it.text("timestamp")).is_some_and(|at| since <= at && at <= until)
        })
        .collect();
    rows.sort_by_key(|it| std::cmp::Reverse(it.text("timestamp")));
    page::answer(call, &rows, |check| {
        json!({
            "uptimeCheckId": check.text("id"),
            "timestamp": check.text("timestamp"),
            "scheduledCheckTime": check.text("timestamp"),
            "checkStatus": check.text("status"),
            "checkStatusReason": check.value("reason"),
            "httpStatusCode": check.value("http_status"),
            "durationMs": check.value("duration_ms"),
            "traceId": check.text("id").replace('-', ""),
            "environment": monitor.value("environment"),
            "region": "us-east",
            "regionName": "US East",
        })
    })
}

fn create(state: &mut State, call: &Call<'_>) -> Answer {
    let project = project(state, call)?.value("id");
    let body = snake(&call.body()?)?;
    let sent = read(state, &body, true)?;
    let id = state.ids.number("uptime monitor", 9_300).to_string();
    let mut monitor = row(json!({
        "id": id,
        "project_id": project,
        "method": "GET",
        "headers": [],
        "body": null,
        "status": "active",
        "uptime_status": 1,
        "owner": null,
        "environment": null,
        "trace_sampling": false,
        "response_capture_enabled": true,
        "recovery_threshold": 1,
        "downtime_threshold": 3,
        "assertion": null,
    }));
    monitor.extend(sent);
    state.uptime_monitors.insert(&id, monitor.clone());
    Ok(Reply::json(201, &view(state, &monitor)))
}

fn update(state: &mut State, call: &Call<'_>) -> Answer {
    let mut monitor = find(state, call)?;
    let body = snake(&call.body()?)?;
    monitor.extend(read(state, &body, false)?);
    state.uptime_monitors.insert(monitor.text("id"), monitor.clone());
    Ok(Reply::json(200, &view(state, &monitor)))
}

fn destroy(state: &mut State, call: &Call<'_>) -> Answer {
    let monitor = find(state, call)?;
    state.uptime_monitors.remove(monitor.text("id"));
    state.uptime_checks.retain(|it| it.text("monitor_id") != monitor.text("id"));
    Ok(Reply::empty(204))
}

fn find(state: &State, call: &Call<'_>) -> Result<Row, Reply> {
    let project = project(state, call)?.text("id");
    let found = state.uptime_monitors.get(call.value(2));
    found.filter(|it| it.text("project_id") == project).cloned().ok_or_else(not_found)
}

fn read(state: &State, body: &Map<String, Value>, new: bool) -> Result<Row, Reply> {
    let fields = [
        Field::short_text("name", 128),
        Field::short_text("url", 255),
        Field::integer("interval_seconds"),
        Field::between("timeout_ms", 1_000, 60_000),
        Field::choice("method", METHODS),
        Field::blank_text("body").nullable(),
        Field::choice("status", &["active", "disabled"]),
        Field::text("owner").nullable(),
        Field::short_text("environment", 64).nullable(),
        Field::flag("trace_sampling"),
        Field::flag("response_capture_enabled"),
        Field::natural("recovery_threshold"),
        Field::natural("downtime_threshold"),
    ];
    let mut form = Form::read(&fields, body, Mode::Sent);
    for field in ["name", "url", "interval_seconds", "timeout_ms"] {
        if new && !body.contains_key(field) {
            form.reject(field, "This field is required.");
        }
    }
    let url = form.row.text("url").to_owned();
    let is_web = url::Url::parse(&url).is_ok_and(|it| matches!(it.scheme(), "http" | "https"));
    if !url.is_empty() && !is_web {
        form.reject("url", "Enter a valid URL.");
    }
    let interval = form.row.get("interval_seconds").and_then(Value::as_i64);
    if interval.is_some_and(|seconds| !INTERVALS.contains(&seconds)) {
        form.reject("interval_seconds", "Invalid interval");
    }
    let owner = form.row.text("owner").to_owned();
    if !owner.is_empty() && !owner::exists(state, &owner) {
        form.reject("owner", "Unknown actor input");
    }
    let headers = body.get("headers").map(headers);
    if headers == Some(None) {
        form.reject("headers", "Expected array of header pairs.");
    }
    let mut sent = form.take().map_err(|errors| Reply::json(400, &camel_errors(errors)))?;
    if let Some(Some(headers)) = headers {
        sent.set("headers", headers);
    }
    Ok(sent)
}

/// Pairs of texts.
fn headers(sent: &Value) -> Option<Value> {
    let pairs = sent.as_array()?;
    let is_pair = |pair: &Value| {
        let pair = pair.as_array();
        pair.is_some_and(|pair| pair.len() == 2 && pair.iter().all(Value::is_string))
    };
    pairs.iter().all(is_pair).then(|| sent.clone())
}

fn view(state: &State, monitor: &Row) -> Value {
    let project = state.projects.get(monitor.text("project_id"));
    json!({
        "id": monitor.text("id"),
        "projectSlug": project.map(|it| it.text("slug")),
        "name": monitor.text("name"),
        "url": monitor.text("url"),
        "method": monitor.text("method"),
        "headers": monitor.value("headers"),
        "body": monitor.value("body"),
        "intervalSeconds": monitor.integer("interval_seconds"),
        "timeoutMs": monitor.integer("timeout_ms"),
        "status": monitor.text("status"),
        "uptimeStatus": monitor.integer("uptime_status"),
        "mode": 1,
        "owner": owner::view(state, monitor.text("owner")),
        "environment": monitor.value("environment"),
        "traceSampling": monitor.truth("trace_sampling"),
        "responseCaptureEnabled": monitor.truth("response_capture_enabled"),
        "recoveryThreshold": monitor.integer("recovery_threshold"),
        "downtimeThreshold": monitor.integer("downtime_threshold"),
        "assertion": monitor.value("assertion"),
    })
}
