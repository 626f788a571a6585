//! Issues: searched, shown, resolved, ignored and assigned.

use serde_json::{Value, json};

use super::issue_query::Query;
use super::{State, activities, issue_events, not_found, organization, owner, page};
use crate::fields::{Field, Form, Mode};
use crate::http::{Answer, Call, Reply};
use crate::route::{Route, get, put};
use crate::table::{Columns as _, Row, row};

const LIST: &str = "/organizations/{organization_id_or_slug}/issues/";
const ONE: &str = "/organizations/{organization_id_or_slug}/issues/{issue_id}/";
const SORTS: [&str; 5] = ["date", "new", "freq", "user", "recommended"];
const STATUSES: &[&str] = &["resolved", "resolvedInNextRelease", "unresolved", "ignored"];
/// What is searched for when nothing is.
const UNASKED: &str = "is:unresolved issue.priority:[high,medium]";
/// More are not counted.
const MAX_HITS: usize = 1_000;
const ARCHIVED: &[&str] =
    &["archived_until_escalating", "archived_forever", "archived_until_condition_met"];

pub(super) fn routes() -> Vec<Route<State>> {
    vec![
        get(LIST, list),
        get(ONE, retrieve),
        put(ONE, update),
        get(
            "/organizations/{organization_id_or_slug}/issues/{issue_id}/external-issues/",
            external,
        ),
    ]
}

struct Seed {
    project: &'static str,
    title: &'static str,
    culprit: &'static str,
    kind: (&'static str, &'static str),
    level: &'static str,
    counts: (u64, u64),
    days: (i64, i64),
}

/// An error in two projects, a slow query, and a note of a user.
const ISSUES: [Seed; 4] = [
    Seed {
        project: "quay-web",
        title: "TypeError: Cannot read properties of undefined (reading 'total')",
        culprit: "src/checkout/basket.ts in renderTotal",
        kind: ("error", "error"),
        level: "error",
        counts: (412, 97),
        days: (21, 0),
    },
    Seed {
        project: "quay-api",
        title: "TimeoutError: payment gateway did not answer within 8 s",
        culprit: "orders.payment.charge",
        kind: ("error", "error"),
        level: "error",
        counts: (38, 31),
        days: (3, 0),
    },
    Seed {
        project: "tide-worker",
        title: "N+1 Query",
        culprit: "ledger.close",
        kind: ("performance_n_plus_one_db_queries", "db_query"),
        level: "info",
        counts: (1_204, 0),
        days: (60, 1),
    },
    Seed {
        project: "quay-web",
        title: "User Feedback",
        culprit: "",
        kind: ("feedback", "feedback"),
        level: "info",
        counts: (1, 1),
        days: (1, 1),
    },
];

pub(super) fn seed(state: &mut State) {
    for seed in &ISSUES {
        let id = state.ids.number("issue", 6_507_000_000).to_string();
        let project = state.projects.find("slug", seed.project);
        let project = project.map(|it| it.value("id")).unwrap_or_default();
        let number =
            state.issues.rows().filter(|it| it.get("project_id") == Some(&project)).count();
        let ago = |days: i64| crate::time::Timestamp::START.plus_seconds(-86_400 * days - 540);
        let columns = json!({
            "id": id,
            "short_id": format!("{}-{}", seed.project.to_uppercase(), number + 1),
            "project_id": project,
            "title": seed.title,
            "culprit": seed.culprit,
            "type": seed.kind.0,
            "category": seed.kind.1,
            "level": seed.level,
            "count": seed.counts.0,
            "user_count": seed.counts.1,
            "first_seen": ago(seed.days.0).to_string(),
            "last_seen": ago(seed.days.1).to_string(),
            "status": "unresolved",
            "substatus": "ongoing",
            "status_details": {},
            "assigned_to": null,
            "fixability": if seed.level == "error" { json!(0.71) } else { Value::Null },
        });
        state.issues.insert(&id, row(columns));
        issue_events::add(state, &id);
        activities::add(state, &id, "first_seen", json!({}), None, ago(seed.days.0));
    }
}

/// `limit` is the page size here. Sorted from the last seen unless something else is asked for.
fn list(state: &State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let sort = call.query("sort").unwrap_or_else(|| "date".to_owned());
    if !SORTS.contains(&sort.as_str()) {
        return Err(Reply::detail(400, &format!("Invalid sort: '{sort}'")));
    }
    let query = Query::parse(&call.query("query").unwrap_or_else(|| UNASKED.to_owned()))?;
    let projects = call.queries("project");
    let mut rows = Vec::new();
    for issue in state.issues.rows() {
        let own = issue.text("project_id");
        let in_project = projects.is_empty() || projects.iter().any(|it| it == own || it == "-1");
        if in_project && query.matches(state, issue)? {
            rows.push(issue);
        }
    }
    rows.sort_by_cached_key(|it| match sort.as_str() {
        "new" => it.text("first_seen").to_owned(),
        "freq" => format!("{:012}", it.integer("count")),
        "user" => format!("{:012}", it.integer("user_count")),
        _ => it.text("last_seen").to_owned(),
    });
    rows.reverse();
    let hits = rows.len().min(MAX_HITS).to_string();
    let limit = call.query("limit").and_then(|it| it.parse().ok());
    let reply = page::answer_sized(call, &rows, limit, |it| view(state, it))?;
    Ok(reply.header("x-hits", &hits).header("x-max-hits", &MAX_HITS.to_string()))
}

fn retrieve(state: &State, call: &Call<'_>) -> Answer {
    let issue = find(state, call)?;
    let mut view = view(state, issue);
    view["activity"] = activities::of(state, issue.text("id")).into();
    Ok(Reply::json(200, &view))
}

fn update(state: &mut State, call: &Call<'_>) -> Answer {
    let mut issue = find(state, call)?.clone();
    let mut fields = conditions();
    fields.extend([
        Field::choice("status", STATUSES),
        Field::choice(
            "substatus",
            &[
                "archived_until_escalating",
                "archived_forever",
                "archived_until_condition_met",
                "ongoing",
            ],
        ),
        Field::blank_text("assignedTo").nullable(),
        Field::object("statusDetails"),
    ]);
    let mut form = Form::read(&fields, &call.body()?, Mode::Sent);
    let assignee = form.row.text("assignedTo").to_owned();
    if !assignee.is_empty() && !owner::exists(state, &assignee) {
        form.reject("assignedTo", "Unknown actor input");
    }
    let mut sent = form.finish()?;
    // Conditions stand beside the status, or in its details.
    if let Some(Value::Object(details)) = sent.remove("statusDetails") {
        sent.extend(Form::read(&conditions(), &details, Mode::Sent).finish()?);
    }
    if let Some(status) = sent.get("status").and_then(Value::as_str) {
        let (status, substatus, details) = settled(call, &sent, status);
        issue.set("status", status);
        issue.set("substatus", substatus);
        issue.set("status_details", details.clone());
        activities::add(
            state,
            issue.text("id"),
            &format!("set_{status}"),
            details,
            Some("7001"),
            call.now,
        );
    }
    if let Some(assignee) = sent.get("assignedTo") {
        let nobody = assignee.as_str().is_none_or(str::is_empty);
        issue.set("assigned_to", if nobody { Value::Null } else { assignee.clone() });
        let kind = if nobody { "unassigned" } else { "assigned" };
        activities::add(state, issue.text("id"), kind, json!({}), Some("7001"), call.now);
    }
    state.issues.insert(issue.text("id"), issue.clone());
    Ok(Reply::json(200, &view(state, &issue)))
}

/// What ignoring can depend on; a window is at most a week.
fn conditions() -> Vec<Field> {
    vec![
        Field::natural("ignoreDuration"),
        Field::natural("ignoreCount"),
        Field::between("ignoreWindow", 1, 10_080),
        Field::natural("ignoreUserCount"),
        Field::between("ignoreUserWindow", 1, 10_080),
    ]
}

/// What a status becomes: the stored one, its part, and what it depends on.
fn settled(call: &Call<'_>, sent: &Row, status: &str) -> (&'static str, Value, Value) {
    match status {
        "resolved" => ("resolved", Value::Null, json!({})),
        "resolvedInNextRelease" => ("resolved", Value::Null, json!({ "inNextRelease": true })),
        "ignored" => {
            let mut details = sent.clone();
            details.retain(|name, _| name.starts_with("ignore") && name != "ignoreDuration");
            if let Some(minutes) = sent.get("ignoreDuration").and_then(Value::as_i64) {
                details.set("ignoreUntil", call.now.plus_seconds(60 * minutes).to_string());
            }
            let substatus = match sent.text("substatus") {
                given if ARCHIVED.contains(&given) => given.to_owned(),
                _ if details.is_empty() => "archived_forever".to_owned(),
                _ => "archived_until_condition_met".to_owned(),
            };
            ("ignored", substatus.into(), Value::Object(details))
        }
        _ => ("unresolved", "ongoing".into(), json!({})),
    }
}

/// The first error is known to another tracker.
fn external(state: &State, call: &Call<'_>) -> Answer {
    let issue = find(state, call)?;
    let first = issue.text("short_id") == "QUAY-WEB-1";
    let link = json!({
        "id": "812",
        "issueId": issue.text("id"),
        "serviceType": "jira",
        "displayName": "QUAY-204",
        "webUrl": "https://tracker.harbor-lantern.test/browse/QUAY-204",
    });
    let links = if first { vec![link] } else { issue.list("external").to_vec() };
    Ok(Reply::json(200, &links))
}

/// By number or short id, whatever the case of the latter.
pub(super) fn find<'s>(state: &'s State, call: &Call<'_>) -> Result<&'s Row, Reply> {
    organization(state, call)?;
    let name = call.value(1);
    let by_short_id = || state.issues.find("short_id", &name.to_uppercase());
    state.issues.get(name).or_else(by_short_id).ok_or_else(not_found)
}

/// `medium` unless the row says otherwise.
pub(super) fn priority(issue: &Row) -> &str {
    match issue.text("priority") {
        "" => "medium",
        other => other,
    }
}

pub(super) fn view(state: &State, issue: &Row) -> Value {
    let project = state.projects.get(issue.text("project_id"));
    let slug = project.map_or("", |it| it.text("slug"));
    let titled = || json!({ "title": issue.text("title"), "value": issue.text("culprit") });
    let metadata = issue.get("metadata").cloned().unwrap_or_else(titled);
    json!({
        "id": issue.text("id"),
        "shortId": issue.text("short_id"),
        "shareId": null,
        "title": issue.text("title"),
        "culprit": issue.text("culprit"),
        "permalink": format!("https://harbor-lantern.sentry.test/issues/{}/", issue.text("id")),
        "logger": null,
        "level": issue.text("level"),
        "status": issue.text("status"),
        "statusDetails": issue.value("status_details"),
        "substatus": issue.value("substatus"),
        "isPublic": false,
        "platform": issue.get("platform").cloned().or(project.map(|it| it.value("platform"))),
        "project": {
            "id": issue.text("project_id"),
            "name": slug,
            "slug": slug,
            "platform": project.map(|it| it.value("platform")),
        },
        "type": issue.text("type"),
        "issueType": issue.text("type"),
        "issueCategory": issue.text("category"),
        "metadata": metadata,
        "numComments": activities::notes(state, issue.text("id")).len(),
        "assignedTo": owner::view(state, issue.text("assigned_to")),
        "isBookmarked": false,
        "isSubscribed": true,
        "hasSeen": true,
        "annotations": [],
        "count": issue.integer("count").to_string(),
        "userCount": issue.integer("user_count"),
        "firstSeen": issue.text("first_seen"),
        "lastSeen": issue.text("last_seen"),
        "priority": priority(issue),
        "seerFixabilityScore": issue.value("fixability"),
    })
}
