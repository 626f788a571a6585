//! `/stages/captcha/`: the stage that asks for a proof of being human.

use serde_json::Value;

use super::list::{Filter, List};
use super::{State, stages};
use crate::fields::{Field, Form, Mode};
use crate::http::{Answer, Call, Reply};
use crate::route::{Route, delete, get, patch, post, put};
use crate::table::{Columns as _, Row};

pub(super) const JS_URL: &str = "https://www.recaptcha.net/recaptcha/api.js";
pub(super) const API_URL: &str = "https://www.recaptcha.net/recaptcha/api/siteverify";
const CONTENT_TYPES: &[&str] = &["application/x-www-form-urlencoded", "application/json"];

const TYPE: &str = "captcha";
const MODEL: &str = "CaptchaStage";

pub(super) fn routes() -> Vec<Route<State>> {
    vec![
        get("/stages/captcha/", list),
        post("/stages/captcha/", create),
        get("/stages/captcha/{stage_uuid}/", retrieve),
        put("/stages/captcha/{stage_uuid}/", save),
        patch("/stages/captcha/{stage_uuid}/", save),
        delete("/stages/captcha/{stage_uuid}/", destroy),
    ]
}

fn fields() -> Vec<Field> {
    vec![
        Field::text("name").required(),
        Field::text("public_key").required(),
        Field::text("private_key").required(),
        Field::text("js_url").or(JS_URL),
        Field::text("api_url").or(API_URL),
        Field::choice("request_content_type", CONTENT_TYPES)
            .or("application/x-www-form-urlencoded"),
        Field::flag("interactive").or(false),
        Field::number("score_min_threshold").or(0.5),
        Field::number("score_max_threshold").or(1.0),
        Field::flag("error_on_invalid_score").or(true),
    ]
}

const LIST: List = List {
    ordering: "name",
    search: &["name"],
    filters: &[Filter::Text("name"), Filter::Text("public_key")],
};

fn list(state: &State, call: &Call<'_>) -> Answer {
    let captchas = state.stages.rows().filter(|stage| stage.text("type") == TYPE);
    LIST.answer(call, captchas, |stage| Value::Object(view(state, stage)))
}

fn retrieve(state: &State, call: &Call<'_>) -> Answer {
    let stage = stages::of_type(state, TYPE, call.value(0), MODEL)?;
    Ok(Reply::json(200, &view(state, stage)))
}

fn create(state: &mut State, call: &Call<'_>) -> Answer {
    let mut form = Form::read(&fields(), &call.body()?, Mode::Whole);
    stages::check_name(state, &mut form, "");
    let stage = stages::insert(state, TYPE, form.finish()?);
    Ok(Reply::json(201, &view(state, &stage)))
}

/// PUT and PATCH.
fn save(state: &mut State, call: &Call<'_>) -> Answer {
    let mut stage = stages::of_type(state, TYPE, call.value(0), MODEL)?.clone();
    let mut form = Form::read(&fields(), &call.body()?, Mode::of(call, &stage));
    stages::check_name(state, &mut form, stage.text("pk"));
    stage.extend(form.finish()?);
    state.stages.insert(stage.text("pk"), stage.clone());
    Ok(Reply::json(200, &view(state, &stage)))
}

/// Takes the stage's bindings along and lets go of it where it was embedded.
fn destroy(state: &mut State, call: &Call<'_>) -> Answer {
    let pk = stages::of_type(state, TYPE, call.value(0), MODEL)?.text("pk").to_owned();
    state.stages.remove(&pk);
    state.flow_stage_bindings.retain(|binding| binding.text("stage") != pk);
    for stage in state.stages.rows_mut().filter(|stage| stage.text("captcha_stage") == pk) {
        stage.set("captcha_stage", Value::Null);
    }
    Ok(Reply::empty(204))
}

fn view(state: &State, stage: &Row) -> Row {
    let mut view = stages::view(state, stage);
    view.extend(stage.only(&[
        "public_key",
        "js_url",
        "api_url",
        "request_content_type",
        "interactive",
        "score_min_threshold",
        "score_max_threshold",
        "error_on_invalid_score",
    ]));
    view
}
