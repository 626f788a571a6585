//! Alerts as workflows, joined to detectors, with the traps of changing them.

use serde_json::{Map, Value, json};

use super::spelling::{camel_errors, snake};
use super::workflow_parts::{self as parts, merge_filters, merge_group};
use super::{State, not_found, organization, owner, page};
use crate::fields::{Field, Form, Mode, key};
use crate::http::{Answer, Call, Reply};
use crate::route::{Route, delete, get, post, put};
use crate::table::{Columns as _, Row, row};

const LIST: &str = "/organizations/{organization_id_or_slug}/workflows/";
const ONE: &str = "/organizations/{organization_id_or_slug}/workflows/{workflow_id}/";

pub(super) fn routes() -> Vec<Route<State>> {
    vec![
        get(LIST, list),
        post(LIST, create),
        put(LIST, update_many),
        get(ONE, retrieve),
        put(ONE, update),
        delete(ONE, destroy),
    ]
}

/// The alert to change, one that resembles it and shares a detector, and one that watches nothing.
pub(super) fn seed(state: &mut State) {
    let detector = |state: &State, slug: &str| {
        let project = state.projects.find("slug", slug).map(|it| it.value("id"))?;
        let found = state.detectors.rows().find(|it| it.get("project_id") == Some(&project));
        found.map(|it| it.text("id").to_owned())
    };
    let web = detector(state, "quay-web");
    let api = detector(state, "quay-api");
    let both: Vec<String> = [&web, &api].into_iter().flatten().cloned().collect();
    let production = json!("production");
    add(state, "Checkout error surge", "dock-oncall", &production, 1440, &both);
    let canary: Vec<String> = web.into_iter().collect();
    add(state, "Checkout error surge (canary)", "web-crew", &json!("canary"), 60, &canary);
    add(state, "Retired pager", "api-crew", &Value::Null, 30, &[]);
}

fn add(
    state: &mut State,
    name: &str,
    team: &str,
    environment: &Value,
    frequency: i64,
    detectors: &[String],
) {
    let id = state.ids.number("workflow", 7_204_000).to_string();
    let triggers = json!({
        "logic_type": "any-short",
        "conditions": [
            { "type": "first_seen_event", "comparison": true },
            { "type": "regression_event", "comparison": true },
            { "type": "reappeared_event", "comparison": true },
        ],
    });
    let filters = json!([
        {
            "logic_type": "all",
            "conditions": [
                { "type": "level", "comparison": { "level": 40, "match": "gte" } },
                {
                    "type": "tagged_event",
                    "comparison": { "key": "region", "match": "eq", "value": "eu" },
                },
            ],
            "actions": [
                {
                    "type": "slack",
                    "integration_id": "512",
                    "data": { "tags": "region,release" },
                    "config": {
                        "target_type": "specific",
                        "target_display": "#checkout-oncall",
                        "target_identifier": "C0420",
                    },
                },
                {
                    "type": "email",
                    "data": { "fallthrough_type": "ActiveMembers" },
                    "config": {
                        "target_type": "issue_owners",
                        "target_display": null,
                        "target_identifier": "",
                    },
                },
            ],
        },
        {
            "logic_type": "any",
            "conditions": [{ "type": "issue_occurrences", "comparison": { "value": 100 } }],
            "actions": [{ "type": "pagerduty", "integration_id": "517" }],
        },
    ]);
    let filters = filters.as_array().cloned().unwrap_or_default();
    // What is written here is valid.
    let triggers = merge_group(&mut state.ids, None, &row(triggers)).unwrap_or_default();
    let filters = merge_filters(&mut state.ids, &[], &filters).unwrap_or_default();
    let columns = json!({
        "id": id,
        "name": name,
        "enabled": true,
        "environment": environment,
        "config": { "frequency": frequency },
        "owner": owner::team(state, team),
        "created_by": "7001",
        "date_created": "2026-01-14T20:08:32.273220Z",
        "date_updated": "2026-03-02T07:00:00Z",
        "last_triggered": null,
        "triggers": triggers,
        "action_filters": filters,
    });
    state.workflows.insert(&id, row(columns));
    connect(state, &id, detectors);
}

/// An alert that watches nothing, on or off.
pub(super) fn add_plain(state: &mut State, name: &str, team: &str, enabled: bool) {
    add(state, name, team, &Value::Null, 30, &[]);
    for workflow in state.workflows.rows_mut().filter(|it| it.text("name") == name) {
        workflow.set("enabled", enabled);
    }
}

/// Replaces the detectors of a workflow.
fn connect(state: &mut State, workflow: &str, detectors: &[String]) {
    state.detector_workflows.retain(|it| it.text("workflow_id") != workflow);
    for detector in detectors {
        let columns = json!({ "detector_id": detector, "workflow_id": workflow });
        state.detector_workflows.insert(format!("{detector}:{workflow}"), row(columns));
    }
}

/// Replaces the workflows of a detector.
pub(super) fn connect_detector(state: &mut State, detector: &str, workflows: &[String]) {
    state.detector_workflows.retain(|it| it.text("detector_id") != detector);
    for workflow in workflows {
        let columns = json!({ "detector_id": detector, "workflow_id": workflow });
        state.detector_workflows.insert(format!("{detector}:{workflow}"), row(columns));
    }
}

/// The ids on the other side of the join, in order.
pub(super) fn joined(state: &State, column: &str, id: &str, other: &str) -> Vec<String> {
    let rows = state.detector_workflows.rows().filter(|it| it.text(column) == id);
    rows.map(|it| it.text(other).to_owned()).collect()
}

fn list(state: &State, call: &Call<'_>) -> Answer {
    let organization = organization(state, call)?.text("id");
    let mut rows = matching(state, call);
    let sort = call.query("sortBy").unwrap_or_default();
    match sort.trim_start_matches('-') {
        "name" => rows.sort_by_key(|it| it.text("name")),
        "dateCreated" => rows.sort_by_key(|it| it.text("date_created")),
        "dateUpdated" => rows.sort_by_key(|it| it.text("date_updated")),
        "connectedDetectors" => {
            rows.sort_by_key(|it| joined(state, "workflow_id", it.text("id"), "detector_id").len());
        }
        "" | "id" => rows.sort_by_key(|it| it.text("id").parse::<u64>().unwrap_or_default()),
        _ => return Err(Reply::json(400, &json!({ "sortBy": ["Invalid sort field"] }))),
    }
    if sort.starts_with('-') {
        rows.reverse();
    }
    let hits = rows.len().to_string();
    let reply = page::answer(call, &rows, |it| view(state, it, organization))?;
    Ok(reply.header("x-hits", &hits).header("x-max-hits", "1000"))
}

fn retrieve(state: &State, call: &Call<'_>) -> Answer {
    let organization = organization(state, call)?.text("id");
    let workflow = state.workflows.get(call.value(1)).ok_or_else(not_found)?;
    Ok(Reply::json(200, &view(state, workflow, organization)))
}

fn create(state: &mut State, call: &Call<'_>) -> Answer {
    let organization = organization(state, call)?.text("id").to_owned();
    let body = snake(&call.body()?)?;
    let sent = read(state, &body)?;
    let id = state.ids.number("workflow", 7_204_000).to_string();
    let triggers = body.get("triggers").and_then(Value::as_object).cloned().unwrap_or_default();
    let filters = body.get("action_filters").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut workflow = row(json!({
        "id": id,
        "enabled": true,
        "environment": null,
        "config": {},
        "owner": null,
        "created_by": "7001",
        "date_created": call.now.to_string(),
        "date_updated": call.now.to_string(),
        "last_triggered": null,
        "triggers": merge_group(&mut state.ids, None, &triggers)?,
        "action_filters": merge_filters(&mut state.ids, &[], &filters)?,
    }));
    workflow.extend(sent);
    let detectors = match body.get("detector_ids") {
        Some(ids) if !ids.is_null() => known_detectors(state, ids)?,
        Some(_) | None => Vec::new(),
    };
    state.workflows.insert(&id, workflow.clone());
    connect(state, &id, &detectors);
    Ok(Reply::json(201, &view(state, &workflow, &organization)))
}

fn destroy(state: &mut State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let id = state.workflows.get(call.value(1)).ok_or_else(not_found)?.text("id").to_owned();
    state.workflows.remove(&id);
    connect(state, &id, &[]);
    Ok(Reply::empty(204))
}

/// Not partial: `enabled` falls back to true, and the lists are matched by id.
fn update(state: &mut State, call: &Call<'_>) -> Answer {
    let organization = organization(state, call)?.text("id").to_owned();
    let mut workflow = state.workflows.get(call.value(1)).cloned().ok_or_else(not_found)?;
    let body = snake(&call.body()?)?;
    let sent = read(state, &body)?;
    let id = workflow.text("id").to_owned();
    for (column, value) in sent {
        workflow.insert(column, value);
    }
    if !body.contains_key("enabled") {
        workflow.set("enabled", true);
    }
    if let Some(Value::Object(triggers)) = body.get("triggers") {
        let stored = row(workflow.value("triggers"));
        let own = triggers.get("id").and_then(key).is_none_or(|id| id == stored.text("id"));
        if !own {
            let text = format!("Invalid Condition Group ID {}", triggers["id"]);
            return Err(Reply::json(400, &[text]));
        }
        workflow.set("triggers", merge_group(&mut state.ids, Some(&stored), triggers)?);
    }
    if let Some(Value::Array(filters)) = body.get("action_filters") {
        let stored = workflow.list("action_filters").to_vec();
        workflow.set("action_filters", merge_filters(&mut state.ids, &stored, filters)?);
    }
    if let Some(detectors) = body.get("detector_ids").filter(|it| !it.is_null()) {
        connect(state, &id, &known_detectors(state, detectors)?);
    }
    workflow.set("date_updated", call.now.to_string());
    state.workflows.insert(&id, workflow.clone());
    Ok(Reply::json(200, &view(state, &workflow, &organization)))
}

/// Switches every workflow that a filter meets on or off.
fn update_many(state: &mut State, call: &Call<'_>) -> Answer {
    let organization = organization(state, call)?.text("id").to_owned();
    let filters = ["id", "query", "project", "projectSlug"];
    if !filters.iter().any(|name| call.query(name).is_some()) {
        let text = "At least one of 'id', 'query', 'project', or 'projectSlug' must be provided.";
        return Err(Reply::detail(400, text));
    }
    let body = snake(&call.body()?)?;
    let sent = Form::read(&[Field::flag("enabled").required()], &body, Mode::Whole).finish()?;
    let ids: Vec<String> =
        matching(state, call).iter().map(|it| it.text("id").to_owned()).collect();
    if ids.is_empty() {
        return Ok(Reply::detail(200, "No workflows found."));
    }
    let mut views = Vec::new();
    for id in ids {
        if let Some(workflow) = state.workflows.get_mut(&id) {
            workflow.set("enabled", sent.value("enabled"));
            workflow.set("date_updated", call.now.to_string());
        }
        views.extend(state.workflows.get(&id).map(|it| view(state, it, &organization)));
    }
    Ok(Reply::json(200, &views))
}

fn read(state: &State, body: &Map<String, Value>) -> Result<Row, Reply> {
    let fields = [
        Field::short_text("name", 256).required(),
        Field::flag("enabled").or(true),
        Field::object("config"),
        Field::text("environment").nullable(),
        Field::text("owner").nullable(),
    ];
    let mut form = Form::read(&fields, body, Mode::Sent);
    if !body.contains_key("name") {
        form.reject("name", "This field is required.");
    }
    let frequency = form.row.get("config").and_then(Value::as_object);
    let odd = frequency.is_some_and(|config| {
        config.iter().any(|(name, value)| name != "frequency" || !value.is_i64())
    });
    if odd {
        form.reject("config", "Invalid config: only an integer `frequency` is allowed");
    }
    let environment = form.row.text("environment");
    if !environment.is_empty() && state.environments.find("name", environment).is_none() {
        form.reject("environment", "Environment does not exist");
    }
    let sent = form.row.text("owner").to_owned();
    if !sent.is_empty() && !owner::exists(state, &sent) {
        form.reject("owner", "Unknown actor input");
    }
    form.take().map_err(|errors| Reply::json(400, &camel_errors(errors)))
}

fn known_detectors(state: &State, sent: &Value) -> Result<Vec<String>, Reply> {
    let sent: Vec<String> = sent.as_array().into_iter().flatten().filter_map(key).collect();
    let unknown: Vec<&str> =
        sent.iter().filter(|id| state.detectors.get(id).is_none()).map(String::as_str).collect();
    if unknown.is_empty() {
        return Ok(sent);
    }
    let text = format!("Some detectors do not exist: {{{}}}", unknown.join(", "));
    Err(Reply::json(400, &json!({ "detectorIds": [text] })))
}

/// The rows that pass `id`, `query`, `project`, `projectSlug` and `detector`.
fn matching<'s>(state: &'s State, call: &Call<'_>) -> Vec<&'s Row> {
    let ids = call.queries("id");
    let query = call.query("query").unwrap_or_default();
    let detectors = call.queries("detector");
    let slugs = call.queries("projectSlug");
    let by_slug = slugs.iter().map(|slug| {
        state
            .projects
            .find("slug", slug)
            .map_or_else(|| slug.clone(), |it| it.text("id").to_owned())
    });
    let projects: Vec<String> = call.queries("project").into_iter().chain(by_slug).collect();
    let everywhere = projects.is_empty() || projects.iter().any(|it| it == "-1");
    let holds = |workflow: &&Row| {
        let own = joined(state, "workflow_id", workflow.text("id"), "detector_id");
        let in_project = |id: &String| {
            let detector = state.detectors.get(id);
            detector
                .is_some_and(|it| projects.iter().any(|project| project == it.text("project_id")))
        };
        (ids.is_empty() || ids.iter().any(|id| id == workflow.text("id")))
            && (detectors.is_empty() || own.iter().any(|id| detectors.contains(id)))
            && (everywhere || own.iter().any(in_project))
            && passes(workflow, &query)
    };
    state.workflows.rows().filter(holds).collect()
}

/// `name:"…"` with `*` at either end, or free text in the name or in the kind of an action.
fn passes(workflow: &Row, query: &str) -> bool {
    let name = workflow.text("name").to_lowercase();
    let query = query.trim().to_lowercase();
    let Some(pattern) = query.strip_prefix("name:") else {
        let words = query.trim_matches('"');
        let acts = |filter: &Value| {
            let actions = filter["actions"].as_array();
            actions.is_some_and(|it| it.iter().any(|action| action["type"].as_str() == Some(words)))
        };
        return name.contains(words) || workflow.list("action_filters").iter().any(acts);
    };
    let pattern = pattern.trim_matches('"');
    let (start, end) = (pattern.strip_prefix('*'), pattern.ends_with('*'));
    let text = start.unwrap_or(pattern);
    let text = if end { text.strip_suffix('*').unwrap_or(text) } else { text };
    let text = text.replace('\\', "");
    match (start.is_some(), end) {
        (true, true) => name.contains(&text),
        (true, false) => name.ends_with(&text),
        (false, true) => name.starts_with(&text),
        (false, false) => name == text,
    }
}

fn view(state: &State, workflow: &Row, organization: &str) -> Value {
    let filters = workflow.list("action_filters").iter().filter_map(Value::as_object);
    let filters: Vec<Value> = filters.map(|it| parts::view(it, organization)).collect();
    let triggers = workflow.get("triggers").and_then(Value::as_object);
    json!({
        "id": workflow.text("id"),
        "name": workflow.text("name"),
        "organizationId": organization,
        "createdBy": workflow.text("created_by"),
        "dateCreated": workflow.text("date_created"),
        "dateUpdated": workflow.text("date_updated"),
        "triggers": triggers.map(|it| parts::view(it, organization)),
        "actionFilters": filters,
        "environment": workflow.value("environment"),
        "config": workflow.value("config"),
        "detectorIds": joined(state, "workflow_id", workflow.text("id"), "detector_id"),
        "enabled": workflow.truth("enabled"),
        "lastTriggered": workflow.value("last_triggered"),
        "owner": workflow.value("owner"),
    })
}
