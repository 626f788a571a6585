//! Runs of Seer on an issue; a run that is started here is done at once.

use serde_json::{Value, json};

use super::{State, issues};
use crate::http::{Answer, Call, Reply};
use crate::route::{Route, get, post};
use crate::table::{Columns as _, row};

const AUTOFIX: &str = "/organizations/{organization_id_or_slug}/issues/{issue_id}/autofix/";

pub(super) fn routes() -> Vec<Route<State>> {
    vec![get(AUTOFIX, retrieve), post(AUTOFIX, start)]
}

fn retrieve(state: &State, call: &Call<'_>) -> Answer {
    let issue = issues::find(state, call)?;
    let run = state.autofix_runs.get(issue.text("id"));
    Ok(Reply::json(200, &json!({ "autofix": run })))
}

fn start(state: &mut State, call: &Call<'_>) -> Answer {
    let issue = issues::find(state, call)?.clone();
    let body = call.body()?;
    let run = state.ids.number("autofix", 88_000);
    let cause = format!("{} leaves a case out.", issue.text("culprit"));
    let columns = json!({
        "run_id": run,
        "status": "completed",
        "instruction": body.get("instruction").unwrap_or(&Value::Null),
        "blocks": [{
            "todos": [],
            "artifacts": [
                { "key": "root_cause", "data": { "one_line_description": cause, "five_whys": [], "reproduction_steps": [] } },
                { "key": "solution", "data": { "one_line_summary": "Handle the case.", "steps": [] } },
            ],
        }],
        "repo_pr_states": {},
    });
    state.autofix_runs.insert(issue.text("id"), row(columns));
    Ok(Reply::json(202, &json!({ "run_id": run, "sentry_run_id": null })))
}
