//! What happened to an issue, comments among it, and what users reported.

use serde_json::{Value, json};

use super::{State, issues, members, page};
use crate::fields::{Field, Form, Mode};
use crate::http::{Answer, Call, Reply};
use crate::route::{Route, get, post};
use crate::table::{Columns as _, Row, row};
use crate::time::Timestamp;

const NOTES: &str = "/organizations/{organization_id_or_slug}/issues/{issue_id}/notes/";

pub(super) fn routes() -> Vec<Route<State>> {
    vec![
        get("/organizations/{organization_id_or_slug}/issues/{issue_id}/activities/", list),
        get(NOTES, list_notes),
        post(NOTES, create_note),
        get("/organizations/{organization_id_or_slug}/issues/{issue_id}/user-reports/", reports),
    ]
}

/// Stores that something happened; nobody did what Sentry does by itself.
pub(super) fn add(
    state: &mut State,
    issue: &str,
    kind: &str,
    data: Value,
    user: Option<&str>,
    at: Timestamp,
) -> Row {
    let id = state.ids.number("activity", 5_510).to_string();
    let activity = row(json!({
        "id": id,
        "issue_id": issue,
        "type": kind,
        "data": data,
        "user_id": user,
        "date_created": at.to_string(),
    }));
    state.activities.insert(&id, activity.clone());
    activity
}

/// Newest first.
fn rows<'s>(state: &'s State, issue: &str) -> Vec<&'s Row> {
    let mut rows: Vec<&Row> =
        state.activities.rows().filter(|it| it.text("issue_id") == issue).collect();
    rows.sort_by_key(|it| {
        std::cmp::Reverse((it.text("date_created"), it.text("id").len(), it.text("id")))
    });
    rows
}

pub(super) fn notes<'s>(state: &'s State, issue: &str) -> Vec<&'s Row> {
    let mut rows = rows(state, issue);
    rows.retain(|it| it.text("type") == "note");
    rows
}

/// Everything that happened to an issue, as it is shown.
pub(super) fn of(state: &State, issue: &str) -> Vec<Value> {
    rows(state, issue).into_iter().map(view).collect()
}

fn list(state: &State, call: &Call<'_>) -> Answer {
    let issue = issues::find(state, call)?;
    Ok(Reply::json(200, &json!({ "activity": of(state, issue.text("id")) })))
}

fn list_notes(state: &State, call: &Call<'_>) -> Answer {
    let notes = notes(state, issues::find(state, call)?.text("id"));
    page::answer(call, &notes, view)
}

/// The same text twice in a row is refused.
fn create_note(state: &mut State, call: &Call<'_>) -> Answer {
    let issue = issues::find(state, call)?.text("id").to_owned();
    let fields = [Field::text("text").required()];
    let sent = Form::read(&fields, &call.body()?, Mode::Whole).finish()?;
    let text = sent.value("text");
    let same = notes(state, &issue).first().is_some_and(|it| it.value("data")["text"] == text);
    if same {
        return Err(Reply::detail(400, "You have already posted that comment."));
    }
    let note = add(state, &issue, "note", json!({ "text": text }), Some("7001"), call.now);
    Ok(Reply::json(201, &view(&note)))
}

/// The feedback issue and the first error have one report each.
fn reports(state: &State, call: &Call<'_>) -> Answer {
    let issue = issues::find(state, call)?;
    let text = match issue.text("short_id") {
        "QUAY-WEB-1" => "The basket went white when I pressed pay.",
        "QUAY-WEB-2" => "Could the lamp be a little brighter?",
        _ => "",
    };
    let report = row(json!({
        "id": format!("9{}", issue.text("id")),
        "eventID": state.events.find("issue_id", issue.text("id")).map(|it| it.value("id")),
        "name": "Ida Lind",
        "email": "ida.lind@customer.test",
        "comments": text,
        "dateCreated": issue.text("last_seen"),
    }));
    let reports = if text.is_empty() { Vec::new() } else { vec![&report] };
    page::answer(call, &reports, |it| Value::Object(it.clone()))
}

fn view(activity: &Row) -> Value {
    let user = activity.text("user_id");
    json!({
        "id": activity.text("id"),
        "user": (!user.is_empty()).then(|| members::user(user, "Eval Runner", "eval")),
        "sentry_app": null,
        "type": activity.text("type"),
        "data": activity.value("data"),
        "dateCreated": activity.text("date_created"),
    })
}
