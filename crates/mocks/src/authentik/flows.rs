//! `/flows/instances/`: flows, which are found by slug here and by key in bindings.

use serde_json::{Value, json};

use super::list::{Filter, List};
use super::{State, bindings};
use crate::http::{Answer, Call, Reply};
use crate::route::{Route, get};
use crate::table::{Columns as _, Row, row};

const DESIGNATIONS: &[&str] = &[
    "authentication",
    "authorization",
    "invalidation",
    "enrollment",
    "unenrollment",
    "recovery",
    "stage_configuration",
];
const DENIED_ACTIONS: &[&str] = &["message_continue", "message", "continue"];

pub(super) fn routes() -> Vec<Route<State>> {
    vec![get("/flows/instances/", list), get("/flows/instances/{slug}/", retrieve)]
}

pub(super) fn seed(state: &mut State) {
    let flows = [
        ("default-authentication-flow", "Welcome to Harbor Lantern!", "authentication"),
        ("partner-authentication-flow", "Partner sign-in", "authentication"),
        ("default-enrollment-flow", "Join Harbor Lantern", "enrollment"),
        ("default-invalidation-flow", "Signed out", "invalidation"),
    ];
    for (slug, title, designation) in flows {
        let pk = state.ids.uuid("flow");
        let model = state.ids.uuid("policy binding model");
        let flow = json!({
            "pk": pk,
            "policybindingmodel_ptr_id": model,
            "name": title,
            "slug": slug,
            "title": title,
            "designation": designation,
            "background": "",
            "policy_engine_mode": "any",
            "compatibility_mode": false,
            "layout": "stacked",
            "denied_action": "message_continue",
            "authentication": "none",
        });
        state.flows.insert(&pk, row(flow));
    }
}

const LIST: List = List {
    ordering: "slug",
    search: &["name", "slug", "designation", "title"],
    filters: &[
        Filter::Text("slug"),
        Filter::Text("name"),
        Filter::Choice("designation", DESIGNATIONS),
        Filter::Choice("denied_action", DENIED_ACTIONS),
    ],
};

fn list(state: &State, call: &Call<'_>) -> Answer {
    LIST.answer(call, state.flows.rows(), |flow| view(state, flow))
}

fn retrieve(state: &State, call: &Call<'_>) -> Answer {
    match state.flows.find("slug", call.value(0)) {
        Some(flow) => Ok(Reply::json(200, &view(state, flow))),
        None => Err(Reply::detail(404, "No Flow matches the given query.")),
    }
}

/// The flows a stage is bound to, in short.
pub(super) fn with_stage(state: &State, stage: &str) -> Vec<Row> {
    let bound = |flow: &&Row| {
        let flow = flow.text("pk");
        bindings::of_flow(state, flow).iter().any(|binding| binding.text("stage") == stage)
    };
    state.flows.rows().filter(bound).map(summary).collect()
}

fn summary(flow: &Row) -> Row {
    let slug = flow.text("slug");
    let mut view = flow.only(&[
        "pk",
        "policybindingmodel_ptr_id",
        "name",
        "slug",
        "title",
        "designation",
        "policy_engine_mode",
        "compatibility_mode",
        "layout",
        "denied_action",
    ]);
    view.set("background_url", "/static/dist/assets/images/flow_background.jpg");
    view.set("export_url", format!("/api/v3/flows/instances/{slug}/export/"));
    view
}

fn view(state: &State, flow: &Row) -> Value {
    let stages: Vec<&str> = bindings::of_flow(state, flow.text("pk"))
        .into_iter()
        .map(|binding| binding.text("stage"))
        .collect();
    let mut view = summary(flow);
    view.extend(flow.only(&["background", "authentication"]));
    view.set("background_themed_urls", Value::Null);
    view.set("stages", stages);
    view.set("policies", json!([]));
    view.set("cache_count", 0);
    Value::Object(view)
}
