//! Progress of a guided setup, as an agent reports it. Not in the published document.

use serde_json::json;

use super::{State, organization};
use crate::fields::{Field, Form, Mode};
use crate::http::{Answer, Call, Reply};
use crate::route::{Route, post};
use crate::table::Columns as _;

pub(super) fn routes() -> Vec<Route<State>> {
    vec![post("/organizations/{organization_id_or_slug}/onboarding/agent/status/", report)]
}

const STAGES: &[&str] = &[
    "connect_mcp",
    "analyze_project",
    "create_project",
    "instrument_app",
    "plan_test_error",
    "send_verification_error",
    "receive_verification_error",
    "prepare_production",
    "check_stack_trace_quality",
];
const STATUSES: &[&str] = &["active", "waiting", "completed", "skipped", "failed"];

/// Reports are wanted until the whole has ended.
fn report(state: &mut State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let fields = [
        Field::between("schemaVersion", 1, 1).required(),
        Field::short_text("runToken", 10).required(),
        Field::choice("stage", STAGES).required(),
        Field::choice("status", STATUSES).required(),
        Field::choice("runStatus", &["completed", "failed"]),
        Field::short_text("eventNote", 256),
        Field::list("projectSlugs", Field::text("")),
        Field::list("issueIds", Field::text("")),
    ];
    let sent = Form::read(&fields, &call.body()?, Mode::Whole).finish()?;
    let ended = !sent.text("runStatus").is_empty();
    let id = state.ids.number("onboarding", 0);
    state.onboarding.insert(id, sent);
    Ok(Reply::json(200, &json!({ "continueUpdates": !ended })))
}
