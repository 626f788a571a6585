//! Detectors, one for the errors of each project; read only.

use serde_json::{Value, json};

use super::{State, matches_query, not_found, organization, page, workflows};
use crate::http::{Answer, Call, Reply};
use crate::route::{Route, get};
use crate::table::{Columns as _, Row, row};

pub(super) fn routes() -> Vec<Route<State>> {
    vec![
        get("/organizations/{organization_id_or_slug}/detectors/", list),
        get("/organizations/{organization_id_or_slug}/detectors/{detector_id}/", retrieve),
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
