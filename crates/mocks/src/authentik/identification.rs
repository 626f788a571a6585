//! `/stages/identification/`: the stage that asks who somebody is.

use serde_json::Value;

use super::list::{Filter, List};
use super::{State, stages};
use crate::fields::{Field, Form, Mode};
use crate::http::{Answer, Call, Reply};
use crate::route::{Route, get, patch};
use crate::table::{Columns as _, Row};

const TYPE: &str = "identification";
const MODEL: &str = "IdentificationStage";
const USER_FIELDS: &[&str] = &["email", "username", "upn"];
const FLOWS: [&str; 3] = ["enrollment_flow", "recovery_flow", "passwordless_flow"];

pub(super) fn routes() -> Vec<Route<State>> {
    vec![
        get("/stages/identification/", list),
        get("/stages/identification/{stage_uuid}/", retrieve),
        patch("/stages/identification/{stage_uuid}/", update),
    ]
}

fn fields() -> Vec<Field> {
    vec![
        Field::text("name").required(),
        Field::list("user_fields", Field::choice("", USER_FIELDS)),
        Field::uuid("password_stage").nullable(),
        Field::uuid("captcha_stage").nullable(),
        Field::flag("case_insensitive_matching").or(true),
        Field::flag("show_matched_user").or(true),
        Field::uuid("enrollment_flow").nullable(),
        Field::uuid("recovery_flow").nullable(),
        Field::uuid("passwordless_flow").nullable(),
        Field::keys("sources", Field::uuid("")),
        Field::flag("show_source_labels").or(false),
        Field::flag("pretend_user_exists").or(true),
        Field::flag("enable_remember_me").or(false),
        Field::uuid("webauthn_stage").nullable(),
    ]
}

const LIST: List = List {
    ordering: "name",
    search: &["name"],
    filters: &[
        Filter::Text("name"),
        Filter::Uuid("password_stage"),
        Filter::Uuid("captcha_stage"),
        Filter::Flag("case_insensitive_matching"),
        Filter::Flag("show_matched_user"),
    ],
};

fn list(state: &State, call: &Call<'_>) -> Answer {
    let stages = state.stages.rows().filter(|stage| stage.text("type") == TYPE);
    LIST.answer(call, stages, |stage| Value::Object(view(state, stage)))
}

fn retrieve(state: &State, call: &Call<'_>) -> Answer {
    let stage = stages::of_type(state, TYPE, call.value(0), MODEL)?;
    Ok(Reply::json(200, &view(state, stage)))
}

fn update(state: &mut State, call: &Call<'_>) -> Answer {
    let mut stage = stages::of_type(state, TYPE, call.value(0), MODEL)?.clone();
    let mut form = Form::read(&fields(), &call.body()?, Mode::Part(&stage));
    stages::check_name(state, &mut form, stage.text("pk"));
    form.check_keys("captcha_stage", |key| stages::is_of_type(state, "captcha", key));
    form.check_keys("password_stage", |key| stages::is_of_type(state, "password", key));
    form.check_keys("webauthn_stage", |key| {
        stages::is_of_type(state, "authenticator_validate", key)
    });
    for field in FLOWS {
        form.check_keys(field, |key| state.flows.get(key).is_some());
    }
    // The mock has no sources to show.
    form.check_keys("sources", |_| false);
    stage.extend(form.finish()?);
    state.stages.insert(stage.text("pk"), stage.clone());
    Ok(Reply::json(200, &view(state, &stage)))
}

fn view(state: &State, stage: &Row) -> Row {
    let mut view = stages::view(state, stage);
    view.extend(stage.only(&[
        "user_fields",
        "password_stage",
        "captcha_stage",
        "case_insensitive_matching",
        "show_matched_user",
        "enrollment_flow",
        "recovery_flow",
        "passwordless_flow",
        "sources",
        "show_source_labels",
        "pretend_user_exists",
        "enable_remember_me",
        "webauthn_stage",
    ]));
    view
}
