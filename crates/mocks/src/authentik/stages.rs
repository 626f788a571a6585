//! Stages of every type: what they share, `/stages/all/`, and the seeded ones.

use serde_json::{Value, json};

use super::list::{Filter, List};
use super::{State, flows, found};
use crate::fields::Form;
use crate::http::{Answer, Call, Reply};
use crate::route::{Route, get};
use crate::table::{Columns as _, Row, row};

pub(super) fn routes() -> Vec<Route<State>> {
    vec![get("/stages/all/", list), get("/stages/all/{stage_uuid}/", retrieve)]
}

/// A stage type: the `type` column of a row and what the API derives from it.
#[derive(Debug)]
pub(super) struct Type {
    pub(super) id: &'static str,
    component: &'static str,
    verbose_name: &'static str,
    verbose_name_plural: &'static str,
    meta_model_name: &'static str,
}

const TYPES: [Type; 7] = [
    stage_type(
        "captcha",
        "ak-stage-captcha-form",
        ["Captcha Stage", "Captcha Stages"],
        "authentik_stages_captcha.captchastage",
    ),
    stage_type(
        "identification",
        "ak-stage-identification-form",
        ["Identification Stage", "Identification Stages"],
        "authentik_stages_identification.identificationstage",
    ),
    stage_type(
        "password",
        "ak-stage-password-form",
        ["Password Stage", "Password Stages"],
        "authentik_stages_password.passwordstage",
    ),
    stage_type(
        "authenticator_validate",
        "ak-stage-authenticator-validate-form",
        ["Authenticator Validation Stage", "Authenticator Validation Stages"],
        "authentik_stages_authenticator_validate.authenticatorvalidatestage",
    ),
    stage_type(
        "user_login",
        "ak-stage-user-login-form",
        ["User Login Stage", "User Login Stages"],
        "authentik_stages_user_login.userloginstage",
    ),
    stage_type(
        "user_logout",
        "ak-stage-user-logout-form",
        ["User Logout Stage", "User Logout Stages"],
        "authentik_stages_user_logout.userlogoutstage",
    ),
    stage_type(
        "user_write",
        "ak-stage-user-write-form",
        ["User Write Stage", "User Write Stages"],
        "authentik_stages_user_write.userwritestage",
    ),
];

const fn stage_type(
    id: &'static str,
    component: &'static str,
    [verbose_name, verbose_name_plural]: [&'static str; 2],
    meta_model_name: &'static str,
) -> Type {
    Type { id, component, verbose_name, verbose_name_plural, meta_model_name }
}

pub(super) fn seed(state: &mut State) {
    let captcha = json!({
        "public_key": "6Lq-pub-0101", "private_key": "6Lq-sec-0101",
        "js_url": super::captcha::JS_URL, "api_url": super::captcha::API_URL,
        "request_content_type": "application/x-www-form-urlencoded", "interactive": true,
        "score_min_threshold": 0.5, "score_max_threshold": 1.0, "error_on_invalid_score": true,
    });
    let identification = |user_fields: &[&str]| {
        json!({
            "user_fields": user_fields, "password_stage": null, "captcha_stage": null,
            "case_insensitive_matching": true, "show_matched_user": true, "enrollment_flow": null,
            "recovery_flow": null, "passwordless_flow": null, "sources": [],
            "show_source_labels": false, "pretend_user_exists": true, "enable_remember_me": false,
            "webauthn_stage": null,
        })
    };
    let both = ["email", "username"];
    let named = [
        ("identification", "default-authentication-identification", identification(&both)),
        ("password", "default-authentication-password", json!({})),
        ("authenticator_validate", "default-authentication-mfa-validation", json!({})),
        ("user_login", "default-authentication-login", json!({})),
        ("identification", "partner-authentication-identification", identification(&["email"])),
        ("captcha", "signup-captcha", captcha),
        ("user_write", "default-enrollment-user-write", json!({})),
        ("user_login", "default-enrollment-login", json!({})),
        ("user_logout", "default-invalidation-logout", json!({})),
    ];
    for (stage_type, name, columns) in named {
        let mut columns = row(columns);
        columns.set("name", name);
        insert(state, stage_type, columns);
    }
}

const LIST: List = List { ordering: "name", search: &["name"], filters: &[Filter::Text("name")] };

fn list(state: &State, call: &Call<'_>) -> Answer {
    LIST.answer(call, state.stages.rows(), |row| Value::Object(view(state, row)))
}

fn retrieve(state: &State, call: &Call<'_>) -> Answer {
    Ok(Reply::json(200, &view(state, found(&state.stages, call.value(0), "Stage")?)))
}

/// Stores a new stage and gives its row back.
pub(super) fn insert(state: &mut State, stage_type: &str, columns: Row) -> Row {
    let pk = state.ids.uuid("stage");
    let mut stage = row(json!({ "pk": pk, "type": stage_type }));
    stage.extend(columns);
    state.stages.insert(&pk, stage.clone());
    stage
}

/// A stage of one type by its key.
pub(super) fn of_type<'s>(
    state: &'s State,
    stage_type: &str,
    key: &str,
    model: &str,
) -> Result<&'s Row, Reply> {
    match found(&state.stages, key, model)? {
        stage if stage.text("type") == stage_type => Ok(stage),
        _ => Err(Reply::detail(404, &format!("No {model} matches the given query."))),
    }
}

pub(super) fn is_of_type(state: &State, stage_type: &str, key: &str) -> bool {
    state.stages.get(key).is_some_and(|stage| stage.text("type") == stage_type)
}

/// Names are unique across all types.
pub(super) fn check_name(state: &State, form: &mut Form, own: &str) {
    let name = form.row.text("name").to_owned();
    let taken = |stage: &Row| stage.text("name") == name && stage.text("pk") != own;
    if !name.is_empty() && state.stages.rows().any(taken) {
        form.reject("name", "This field must be unique.");
    }
}

/// What the API shows of any stage; a stage type adds its own columns.
pub(super) fn view(state: &State, stage: &Row) -> Row {
    let pk = stage.text("pk");
    let known = TYPES.iter().find(|known| known.id == stage.text("type"));
    let text = |part: fn(&Type) -> &'static str| known.map(part).unwrap_or_default();
    row(json!({
        "pk": pk,
        "name": stage.text("name"),
        "component": text(|known| known.component),
        "verbose_name": text(|known| known.verbose_name),
        "verbose_name_plural": text(|known| known.verbose_name_plural),
        "meta_model_name": text(|known| known.meta_model_name),
        "flow_set": flows::with_stage(state, pk),
    }))
}
