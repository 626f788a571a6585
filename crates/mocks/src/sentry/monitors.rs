//! Cron monitors, of the organization and of a project, with the traps of changing them.

use serde_json::{Map, Value, json};

use super::spelling::{camel_errors, snake};
use super::{
    State, matches_query, not_found, organization, owner, page, project, projects, schedule, slug,
};
use crate::fields::{Field, Form, Mode};
use crate::http::{Answer, Call, Reply};
use crate::route::{Route, delete, get, post, put};
use crate::table::{Columns as _, Row, row};

const LIST: &str = "/organizations/{organization_id_or_slug}/monitors/";
const OF_ORGANIZATION: &str =
    "/organizations/{organization_id_or_slug}/monitors/{monitor_id_or_slug}/";
const OF_PROJECT: &str =
    "/projects/{organization_id_or_slug}/{project_id_or_slug}/monitors/{monitor_id_or_slug}/";
/// What a body can put into a monitor just as it is.
const COLUMNS: [&str; 5] = ["name", "slug", "status", "owner", "project_id"];

pub(super) fn routes() -> Vec<Route<State>> {
    vec![
        get(LIST, list),
        post(LIST, create),
        get(OF_ORGANIZATION, retrieve),
        put(OF_ORGANIZATION, update),
        delete(OF_ORGANIZATION, destroy),
        get(OF_PROJECT, retrieve),
        put(OF_PROJECT, update),
        delete(OF_PROJECT, destroy),
    ]
}

/// The monitor to change has one silenced environment; its neighbour has almost the same name.
pub(super) fn seed(state: &mut State) {
    let crontab = json!({
        "schedule_type": "crontab", "schedule": "15 2 * * *", "checkin_margin": 7,
        "max_runtime": 45, "timezone": "UTC", "failure_issue_threshold": 3, "recovery_threshold": 2,
        "alert_rule_id": 4417,
    });
    let interval = json!({
        "schedule_type": "interval", "schedule": [2, "hour"], "checkin_margin": 5,
        "max_runtime": 30, "timezone": null, "failure_issue_threshold": 1, "recovery_threshold": 1,
        "alert_rule_id": null,
    });
    let mut european = crontab.clone();
    european["alert_rule_id"] = json!(4418);
    add(state, "Nightly ledger close", "tide-worker", "dock-oncall", crontab, true);
    add(state, "Nightly ledger close - EU", "tide-worker", "dock-oncall", european, false);
    add(state, "Index rebuild", "quay-api", "api-crew", interval, false);
}

fn add(state: &mut State, name: &str, project: &str, team: &str, config: Value, staging: bool) {
    let id = state.ids.uuid("monitor");
    let project = state.projects.find("slug", project).map(|it| it.value("id"));
    let environment = |name: &str, status: &str, muted: bool| {
        json!({
            "name": name,
            "status": status,
            "is_muted": muted,
            "date_created": "2025-09-01T06:00:00Z",
            "last_checkin": "2026-05-04T02:15:03Z",
            "next_checkin": "2026-05-05T02:15:00Z",
            "next_checkin_latest": "2026-05-05T02:22:00Z",
        })
    };
    let mut environments = vec![environment("production", "ok", false)];
    if staging {
        environments.push(environment("staging", "error", true));
    }
    let columns = json!({
        "id": id,
        "name": name,
        "slug": slug::of(name),
        "project_id": project,
        "status": "active",
        "is_upserting": false,
        "owner": owner::team(state, team),
        "config": config,
        "environments": environments,
        "date_created": "2025-09-01T06:00:00Z",
    });
    state.monitors.insert(&id, row(columns));
}

fn list(state: &State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let query = call.query("query").unwrap_or_default();
    let owners = call.queries("owner");
    let environments = call.queries("environment");
    let slugs = call.queries("projectSlug");
    let projects = call.queries("project");
    let mut rows: Vec<&Row> = state
        .monitors
        .rows()
        .filter(|monitor| {
            let id = monitor.text("project_id");
            let slug = state.projects.get(id).map_or("", |it| it.text("slug"));
            let runs_in = |name: &String| {
                monitor.list("environments").iter().any(|it| it["name"].as_str() == Some(name))
            };
            (projects.is_empty() || projects.iter().any(|it| it == id || it == "-1"))
                && (slugs.is_empty() || slugs.iter().any(|it| it == slug))
                && (owners.is_empty() || owners.iter().any(|it| it == monitor.text("owner")))
                && (environments.is_empty() || environments.iter().any(runs_in))
                && matches_query(monitor, &query)
        })
        .collect();
    sort(call, &mut rows);
    page::answer(call, &rows, |monitor| expanded(state, call, monitor))
}

/// By name, upwards, unless `sort` and `asc` say otherwise.
fn sort(call: &Call<'_>, rows: &mut [&Row]) {
    rows.sort_by_key(|monitor| monitor.text("name"));
    match call.query("sort").as_deref() {
        Some("muted") => rows.sort_by_key(|monitor| is_muted(monitor)),
        Some("status") => rows.sort_by_key(|monitor| {
            let failing = |it: &Value| it["status"].as_str() == Some("error");
            !monitor.list("environments").iter().any(failing)
        }),
        Some(_) | None => {}
    }
    if call.flag("asc") == Some(false) {
        rows.reverse();
    }
}

/// Silenced as a whole: there is an environment, and every one is.
fn is_muted(monitor: &Row) -> bool {
    let environments = monitor.list("environments");
    !environments.is_empty() && environments.iter().all(|it| it["is_muted"] == true)
}

fn retrieve(state: &State, call: &Call<'_>) -> Answer {
    Ok(Reply::json(200, &expanded(state, call, &find(state, call)?)))
}

/// Without environments, which only check-ins make: so `isMuted` is read and silences nothing.
fn create(state: &mut State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let body = snake(&call.body()?)?;
    let mut monitor = row(json!({
        "is_upserting": false,
        "config": {
            "schedule_type": null, "schedule": null, "checkin_margin": null, "max_runtime": null,
            "timezone": null, "failure_issue_threshold": null, "recovery_threshold": null,
            "alert_rule_id": null,
        },
        "environments": [],
        "date_created": call.now.to_string(),
    }));
    let (mut sent, config) = read(state, &monitor, &body, Mode::Whole)?;
    if sent.text("slug").is_empty() {
        let slug = slug::free(&state.monitors, &slug::of(sent.text("name")));
        sent.set("slug", slug);
    }
    let id = state.ids.uuid("monitor");
    monitor.set("id", id.as_str());
    apply(&mut monitor, sent, config);
    state.monitors.insert(&id, monitor.clone());
    Ok(Reply::json(201, &view(state, &monitor)))
}

/// Partial, although the document says otherwise; `isMuted` silences or wakes every environment.
fn update(state: &mut State, call: &Call<'_>) -> Answer {
    let mut monitor = find(state, call)?;
    let body = snake(&call.body()?)?;
    if let Some(refusal) = monitor.get("refusal") {
        let status = refusal["status"].as_u64().and_then(|it| u16::try_from(it).ok());
        return Err(Reply::json(status.unwrap_or(400), &refusal["body"]));
    }
    let (sent, config) = read(state, &monitor, &body, Mode::Sent)?;
    let rescheduled = config != row(monitor.value("config"));
    let muted = sent.get("is_muted").and_then(Value::as_bool);
    let mut environments = monitor.list("environments").to_vec();
    for environment in &mut environments {
        if let Some(muted) = muted {
            environment["is_muted"] = muted.into();
        }
        if rescheduled {
            let next = call.now.plus_seconds(86_400);
            environment["next_checkin"] = next.to_string().into();
            environment["next_checkin_latest"] = next.plus_seconds(420).to_string().into();
        }
    }
    monitor.set("environments", environments);
    apply(&mut monitor, sent, config);
    state.monitors.insert(monitor.text("id"), monitor.clone());
    Ok(Reply::json(200, &view(state, &monitor)))
}

/// Answered before it is done, in the real one; or one environment only, where that is named.
fn destroy(state: &mut State, call: &Call<'_>) -> Answer {
    let mut monitor = find(state, call)?;
    let named = call.queries("environment");
    if named.is_empty() {
        state.monitors.remove(monitor.text("id"));
    } else {
        let mut environments = monitor.list("environments").to_vec();
        environments.retain(|it| !named.iter().any(|name| it["name"].as_str() == Some(name)));
        monitor.set("environments", environments);
        state.monitors.insert(monitor.text("id"), monitor.clone());
    }
    Ok(Reply::empty(202))
}

/// What a body says, and the settings that come of it; a new monitor has no project yet.
fn read(
    state: &State,
    monitor: &Row,
    body: &Map<String, Value>,
    mode: Mode<'_>,
) -> Result<(Row, Row), Reply> {
    let fields = [
        Field::short_text("name", 128).required(),
        Field::short_text("slug", slug::MAX),
        Field::choice("status", &["active", "disabled"]).or("active"),
        Field::flag("is_muted"),
        Field::text("owner").nullable(),
        Field::text("project").required(),
        Field::object("config").required(),
    ];
    let mut form = Form::read(&fields, body, mode);
    let slug = form.row.text("slug").to_owned();
    let other = state.monitors.find("slug", &slug);
    if slug::check(&mut form) && other.is_some_and(|it| it.get("id") != monitor.get("id")) {
        form.reject("slug", &format!("The slug \"{slug}\" is already in use."));
    }
    let owner = form.row.text("owner").to_owned();
    if !owner.is_empty() && !owner::exists(state, &owner) {
        form.reject("owner", "Unknown actor input");
    }
    let sent = form.row.text("project");
    if !sent.is_empty() {
        let own = monitor.get("project_id");
        match super::by_id_or_slug(&state.projects, sent) {
            Ok(project) if own.is_none_or(|own| *own == project.value("id")) => {
                form.row.set("project_id", project.value("id"));
            }
            Ok(_) => {
                let text = "existing monitors may not be moved between projects";
                return Err(Reply::json(400, &json!({ "detail": { "message": text } })));
            }
            Err(_) => form.reject("project", "Invalid project"),
        }
    }
    let stored = row(monitor.value("config"));
    let sent = body.get("config").and_then(Value::as_object);
    let merged = sent.map(|sent| schedule::merge(&stored, sent));
    let config = match merged {
        Some(Ok(config)) => config,
        Some(Err(errors)) => {
            form.reject_parts("config", camel_errors(errors).into());
            stored
        }
        None => stored,
    };
    let sent = form.take().map_err(|errors| Reply::json(400, &camel_errors(errors)))?;
    Ok((sent, config))
}

fn apply(monitor: &mut Row, sent: Row, config: Row) {
    monitor.extend(sent.into_iter().filter(|(name, _)| COLUMNS.contains(&name.as_str())));
    monitor.set("config", config);
}

/// The monitor is the last placeholder of both forms of its routes.
pub(super) fn find(state: &State, call: &Call<'_>) -> Result<Row, Reply> {
    let of_project = call.request.path.contains("/projects/");
    let (project, name) = match of_project {
        true => (Some(project(state, call)?.text("id")), call.value(2)),
        false => {
            organization(state, call)?;
            (None, call.value(1))
        }
    };
    let found = state.monitors.get(name).or_else(|| state.monitors.find("slug", name));
    let found = found.filter(|it| project.is_none_or(|id| id == it.text("project_id")));
    found.cloned().ok_or_else(not_found)
}

/// With the alert, where `expand` asks for it.
fn expanded(state: &State, call: &Call<'_>, monitor: &Row) -> Value {
    let mut view = view(state, monitor);
    if call.queries("expand").iter().any(|it| it == "alertRule") {
        view["alertRule"] = alert_rule(monitor);
    }
    view
}

/// The alert that was made along with the monitor and tells its owner; null when there is none.
fn alert_rule(monitor: &Row) -> Value {
    if monitor.value("config")["alert_rule_id"].is_null() {
        return Value::Null;
    }
    let target = monitor.text("owner").split_once(':').map(|(kind, id)| {
        json!({
            "targetIdentifier": id.parse::<u64>().ok(),
            "targetType": if kind == "team" { "Team" } else { "Member" },
        })
    });
    json!({ "targets": target.into_iter().collect::<Vec<_>>(), "environment": "production" })
}

fn view(state: &State, monitor: &Row) -> Value {
    let environments: Vec<&Row> =
        monitor.list("environments").iter().filter_map(Value::as_object).collect();
    let environments: Vec<Value> = environments
        .into_iter()
        .map(|it| {
            json!({
                "name": it.text("name"),
                "status": it.text("status"),
                "isMuted": it.truth("is_muted"),
                "dateCreated": it.text("date_created"),
                "lastCheckIn": it.value("last_checkin"),
                "nextCheckIn": it.value("next_checkin"),
                "nextCheckInLatest": it.value("next_checkin_latest"),
                "activeIncident": null,
            })
        })
        .collect();
    json!({
        "id": monitor.text("id"),
        "name": monitor.text("name"),
        "slug": monitor.text("slug"),
        "status": monitor.text("status"),
        "isMuted": is_muted(monitor),
        "isUpserting": monitor.truth("is_upserting"),
        "config": monitor.value("config"),
        "dateCreated": monitor.text("date_created"),
        "project": state.projects.get(monitor.text("project_id")).map(projects::summary),
        "owner": owner::view(state, monitor.text("owner")),
        "environments": environments,
    })
}
