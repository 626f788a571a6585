//! Detectors, one for the errors of each project.

use serde_json::{Value, json};

use super::spelling::{camel_errors, snake};
use super::{State, matches_query, not_found, organization, page, workflows};
use crate::fields::{Field, Form, Mode, key};
use crate::http::{Answer, Call, Reply};
use crate::route::{Route, delete, get, put};
use crate::table::{Columns as _, Row, row};

const ONE: &str = "/organizations/{organization_id_or_slug}/detectors/{detector_id}/";

pub(super) fn routes() -> Vec<Route<State>> {
    vec![
        get("/organizations/{organization_id_or_slug}/detectors/", list),
        get(ONE, retrieve),
        put(ONE, update),
        delete(ONE, destroy),
    ]
}

pub(super) fn seed(state: &mut State) {
    let projects: Vec<Value> = state.projects.rows().map(|project| project.value("id")).collect();
    for project in projects {
        let id = state.ids.number("detector", 61_000);
        let columns = json!({
            "id": id.to_string(),
            "project_id": project,
            "name": "Error Monitor",
            "type": "error",
            "date_created": "2025-01-10T08:00:00Z",
            "date_updated": "2025-01-10T08:00:00Z",
            "enabled": true,
        });
        state.detectors.insert(id, row(columns));
    }
}

fn list(state: &State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let ids = call.queries("id");
    let projects = call.queries("project");
    let query = call.query("query").unwrap_or_default();
    let holds = |wanted: &[String], value: &str| {
        wanted.is_empty() || wanted.iter().any(|wanted| wanted == value || wanted == "-1")
    };
    let rows: Vec<&Row> = state
        .detectors
        .rows()
        .filter(|detector| {
            holds(&ids, detector.text("id"))
                && holds(&projects, detector.text("project_id"))
                && matches_query(detector, &query)
        })
        .collect();
    page::answer(call, &rows, |detector| view(state, detector))
}

fn retrieve(state: &State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let detector = state.detectors.get(call.value(1)).ok_or_else(not_found)?;
    Ok(Reply::json(200, &view(state, detector)))
}

/// Its workflows are the other side of the workflows' detectors.
fn update(state: &mut State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let mut detector = state.detectors.get(call.value(1)).cloned().ok_or_else(not_found)?;
    let body = snake(&call.body()?)?;
    let fields = [Field::short_text("name", 200), Field::flag("enabled")];
    let sent = Form::read(&fields, &body, Mode::Sent);
    let sent = sent.take().map_err(|errors| Reply::json(400, &camel_errors(errors)))?;
    if let Some(ids) = body.get("workflow_ids").and_then(Value::as_array) {
        let ids: Vec<String> = ids.iter().filter_map(key).collect();
        if let Some(unknown) = ids.iter().find(|id| state.workflows.get(id).is_none()) {
            let text = format!("Some workflows do not exist: {{{unknown}}}");
            return Err(Reply::json(400, &json!({ "workflowIds": [text] })));
        }
        workflows::connect_detector(state, detector.text("id"), &ids);
    }
    detector.extend(sent);
    detector.set("date_updated", call.now.to_string());
    state.detectors.insert(detector.text("id"), detector.clone());
    Ok(Reply::json(200, &view(state, &detector)))
}

fn destroy(state: &mut State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let id = state.detectors.get(call.value(1)).ok_or_else(not_found)?.text("id").to_owned();
    state.detectors.remove(&id);
    workflows::connect_detector(state, &id, &[]);
    Ok(Reply::empty(204))
}

fn view(state: &State, detector: &Row) -> Value {
    json!({
        "id": detector.text("id"),
        "projectId": detector.text("project_id"),
        "name": detector.text("name"),
        "type": detector.text("type"),
        "workflowIds": workflows::joined(state, "detector_id", detector.text("id"), "workflow_id"),
        "owner": null,
        "createdBy": null,
        "description": null,
        "dateCreated": detector.text("date_created"),
        "dateUpdated": detector.text("date_updated"),
        "dataSources": null,
        "conditionGroup": null,
        "config": {},
        "enabled": detector.truth("enabled"),
        "latestGroup": null,
    })
}
