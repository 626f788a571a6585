//! `/policies/bindings/`: what decides whether a stage is shown; read only.

use serde_json::{Value, json};

use super::list::{Filter, List};
use super::{State, found};
use crate::http::{Answer, Call, Reply};
use crate::route::{Route, get};
use crate::table::{Columns as _, Row, row};

pub(super) fn routes() -> Vec<Route<State>> {
    vec![
        get("/policies/bindings/", list),
        get("/policies/bindings/{policy_binding_uuid}/", retrieve),
    ]
}

/// One policy, bound to the password step of the standard sign-in.
pub(super) fn seed(state: &mut State) {
    let policy = state.ids.uuid("policy");
    let columns = json!({
        "pk": policy,
        "name": "default-authentication-flow-password-stage",
        "execution_logging": false,
    });
    state.policies.insert(&policy, row(columns));
    let flow = state.flows.find("slug", "default-authentication-flow").map(|flow| flow.value("pk"));
    let password = state
        .flow_stage_bindings
        .rows()
        .find(|binding| binding.get("target") == flow.as_ref() && binding.integer("order") == 20);
    let target = password.map(|binding| binding.value("policybindingmodel_ptr_id"));
    let pk = state.ids.uuid("policy binding");
    let binding = json!({
        "pk": pk,
        "policy": policy,
        "group": null,
        "user": null,
        "target": target,
        "negate": false,
        "enabled": true,
        "order": 10,
        "timeout": 30,
        "failure_result": false,
        "expires": null,
        "expiring": false,
    });
    state.policy_bindings.insert(&pk, row(binding));
}

const LIST: List = List {
    ordering: "target,order",
    search: &[],
    filters: &[
        Filter::Uuid("policy"),
        Filter::Uuid("target"),
        Filter::Flag("enabled"),
        Filter::Integer("order"),
    ],
};

fn list(state: &State, call: &Call<'_>) -> Answer {
    LIST.answer(call, state.policy_bindings.rows(), |binding| view(state, binding))
}

fn retrieve(state: &State, call: &Call<'_>) -> Answer {
    let binding = found(&state.policy_bindings, call.value(0), "PolicyBinding")?;
    Ok(Reply::json(200, &view(state, binding)))
}

fn view(state: &State, binding: &Row) -> Value {
    let policy = state.policies.get(binding.text("policy")).map(|policy| {
        let mut view = policy.only(&["pk", "name", "execution_logging"]);
        view.set("component", "ak-policy-expression-form");
        view.set("verbose_name", "Expression Policy");
        view.set("verbose_name_plural", "Expression Policies");
        view.set("meta_model_name", "authentik_policies_expression.expressionpolicy");
        view.set("bound_to", 1);
        view
    });
    let mut view = binding.clone();
    view.set("policy_obj", json!(policy));
    view.set("group_obj", Value::Null);
    view.set("user_obj", Value::Null);
    Value::Object(view)
}
