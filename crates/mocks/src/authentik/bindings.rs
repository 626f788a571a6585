//! `/flows/bindings/`: which stage runs in which flow, and when.

use serde_json::{Value, json};

use super::list::{Filter, List, check_choice};
use super::{State, found, stages};
use crate::fields::{Field, Form, Mode};
use crate::http::{Answer, Call, Reply};
use crate::route::{Route, delete, get, patch, post, put};
use crate::table::{Columns as _, Row, Table, row};

const MODEL: &str = "FlowStageBinding";
const ENGINE_MODES: &[&str] = &["all", "any"];
const INVALID_RESPONSE: &[&str] = &["retry", "restart", "restart_with_context"];

pub(super) fn routes() -> Vec<Route<State>> {
    vec![
        get("/flows/bindings/", list),
        post("/flows/bindings/", create),
        get("/flows/bindings/{fsb_uuid}/", retrieve),
        put("/flows/bindings/{fsb_uuid}/", save),
        patch("/flows/bindings/{fsb_uuid}/", save),
        delete("/flows/bindings/{fsb_uuid}/", destroy),
    ]
}

fn fields() -> Vec<Field> {
    vec![
        Field::uuid("target").required(),
        Field::uuid("stage").required(),
        Field::flag("evaluate_on_plan").or(false),
        Field::flag("re_evaluate_policies").or(true),
        Field::integer("order").required(),
        Field::choice("policy_engine_mode", ENGINE_MODES).or("any"),
        Field::choice("invalid_response_action", INVALID_RESPONSE).or("retry"),
    ]
}

/// The partner flow has its own identification and shares the other stages.
pub(super) fn seed(state: &mut State) {
    let bound = [
        ("default-authentication-flow", 10, "default-authentication-identification"),
        ("default-authentication-flow", 20, "default-authentication-password"),
        ("default-authentication-flow", 30, "default-authentication-mfa-validation"),
        ("default-authentication-flow", 100, "default-authentication-login"),
        ("partner-authentication-flow", 10, "partner-authentication-identification"),
        ("partner-authentication-flow", 20, "default-authentication-password"),
        ("partner-authentication-flow", 30, "default-authentication-mfa-validation"),
        ("partner-authentication-flow", 100, "default-authentication-login"),
        ("default-enrollment-flow", 10, "signup-captcha"),
        ("default-enrollment-flow", 20, "default-enrollment-user-write"),
        ("default-enrollment-flow", 100, "default-enrollment-login"),
        ("default-invalidation-flow", 0, "default-invalidation-logout"),
    ];
    for (flow, order, stage) in bound {
        let pk = |table: &Table, column: &str, text: &str| {
            table.find(column, text).map(|row| row.value("pk")).unwrap_or_default()
        };
        let columns = json!({
            "target": pk(&state.flows, "slug", flow),
            "stage": pk(&state.stages, "name", stage),
            "evaluate_on_plan": false,
            "re_evaluate_policies": true,
            "order": order,
            "policy_engine_mode": "any",
            "invalid_response_action": "retry",
        });
        insert(state, row(columns));
    }
}

/// The standard password step, planned ahead and strict about wrong answers.
pub(super) fn firm(state: &mut State) {
    let flow = state.flows.find("slug", "default-authentication-flow").map(|it| it.value("pk"));
    for binding in state.flow_stage_bindings.rows_mut() {
        if binding.get("target") == flow.as_ref() && binding.integer("order") == 20 {
            binding.set("evaluate_on_plan", true);
            binding.set("invalid_response_action", "restart");
        }
    }
}

const LIST: List = List {
    ordering: "target,order",
    search: &[],
    filters: &[
        Filter::Uuid("target"),
        Filter::Uuid("stage"),
        Filter::Integer("order"),
        Filter::Flag("evaluate_on_plan"),
        Filter::Flag("re_evaluate_policies"),
        Filter::Choice("policy_engine_mode", ENGINE_MODES),
        Filter::Choice("invalid_response_action", INVALID_RESPONSE),
    ],
};

/// Filtering by a flow or stage that does not exist is an error, not an empty list.
fn list(state: &State, call: &Call<'_>) -> Answer {
    for (name, table) in [("target", &state.flows), ("stage", &state.stages)] {
        if let Some(key) = call.query(name).filter(|key| !key.is_empty()) {
            let key = key.to_ascii_lowercase();
            check_choice(name, &key, table.get(&key).map(|_| key.as_str()).as_slice())?;
        }
    }
    LIST.answer(call, state.flow_stage_bindings.rows(), |binding| view(state, binding))
}

fn retrieve(state: &State, call: &Call<'_>) -> Answer {
    let binding = found(&state.flow_stage_bindings, call.value(0), MODEL)?;
    Ok(Reply::json(200, &view(state, binding)))
}

fn create(state: &mut State, call: &Call<'_>) -> Answer {
    let mut form = Form::read(&fields(), &call.body()?, Mode::Whole);
    check(state, &mut form, "");
    let columns = form.finish()?;
    let binding = insert(state, columns);
    Ok(Reply::json(201, &view(state, &binding)))
}

/// PUT and PATCH.
fn save(state: &mut State, call: &Call<'_>) -> Answer {
    let mut binding = found(&state.flow_stage_bindings, call.value(0), MODEL)?.clone();
    let mut form = Form::read(&fields(), &call.body()?, Mode::of(call, &binding));
    check(state, &mut form, binding.text("pk"));
    binding.extend(form.finish()?);
    state.flow_stage_bindings.insert(binding.text("pk"), binding.clone());
    Ok(Reply::json(200, &view(state, &binding)))
}

fn destroy(state: &mut State, call: &Call<'_>) -> Answer {
    let binding = found(&state.flow_stage_bindings, call.value(0), MODEL)?.clone();
    state.flow_stage_bindings.remove(binding.text("pk"));
    let model = binding.text("policybindingmodel_ptr_id");
    state.policy_bindings.retain(|policy| policy.text("target") != model);
    Ok(Reply::empty(204))
}

/// The bindings of a flow in the order its stages run.
pub(super) fn of_flow<'s>(state: &'s State, flow: &str) -> Vec<&'s Row> {
    let mut bindings: Vec<&Row> =
        state.flow_stage_bindings.rows().filter(|binding| binding.text("target") == flow).collect();
    bindings.sort_by_key(|binding| binding.integer("order"));
    bindings
}

fn insert(state: &mut State, columns: Row) -> Row {
    let pk = state.ids.uuid("flow stage binding");
    let model = state.ids.uuid("policy binding model");
    let mut binding = row(json!({ "pk": pk, "policybindingmodel_ptr_id": model }));
    binding.extend(columns);
    state.flow_stage_bindings.insert(&pk, binding.clone());
    binding
}

fn check(state: &State, form: &mut Form, own: &str) {
    form.check_keys("target", |key| state.flows.get(key).is_some());
    form.check_keys("stage", |key| state.stages.get(key).is_some());
    let same = |binding: &Row| {
        binding.text("pk") != own
            && ["target", "stage", "order"].iter().all(|column| {
                form.row.contains_key(*column) && binding.get(*column) == form.row.get(*column)
            })
    };
    if state.flow_stage_bindings.rows().any(same) {
        let text = "The fields target, stage, order must make a unique set.";
        form.reject("non_field_errors", text);
    }
}

fn view(state: &State, binding: &Row) -> Value {
    let mut view = binding.clone();
    let stage = state.stages.get(binding.text("stage"));
    view.set("stage_obj", stage.map(|stage| stages::view(state, stage)));
    Value::Object(view)
}
