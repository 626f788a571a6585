//! Client keys of a project, each with its DSN.

use serde_json::{Map, Value, json};

use super::{State, not_found, page, project};
use crate::fields::{Field, Form, Mode};
use crate::http::{Answer, Call, Reply};
use crate::route::{Route, delete, get, post, put};
use crate::table::{Columns as _, Row, row};
use crate::time::Timestamp;

const LIST: &str = "/projects/{organization_id_or_slug}/{project_id_or_slug}/keys/";
const ONE: &str = "/projects/{organization_id_or_slug}/{project_id_or_slug}/keys/{key_id}/";
const LOADER: [&str; 5] =
    ["hasReplay", "hasPerformance", "hasDebug", "hasFeedback", "hasLogsAndMetrics"];
const SDK_VERSIONS: &[&str] = &["latest", "10.x", "9.x", "8.x", "7.x"];

pub(super) fn routes() -> Vec<Route<State>> {
    vec![
        get(LIST, list),
        post(LIST, create),
        get(ONE, retrieve),
        put(ONE, update),
        delete(ONE, destroy),
    ]
}

/// One key for each project, and for one project another that is switched off.
pub(super) fn seed(state: &mut State) {
    let at = Timestamp::parse("2025-01-09T10:11:00Z").unwrap_or(Timestamp::START);
    let projects: Vec<Value> = state.projects.rows().map(|project| project.value("id")).collect();
    for project in &projects {
        add(state, project.as_str().unwrap_or_default(), "Default", at);
    }
    let web = state.projects.find("slug", "quay-web").map(|project| project.value("id"));
    if let Some(Value::String(web)) = web {
        let mut old = add(state, &web, "Kiosk terminals", at);
        old.set("is_active", false);
        old.set("rate_limit", json!({ "window": 60, "count": 100 }));
        state.keys.insert(old.text("id"), old.clone());
    }
}

/// Stores a new key and returns it.
pub(super) fn add(state: &mut State, project: &str, name: &str, at: Timestamp) -> Row {
    let id = state.ids.uuid("key").replace('-', "");
    let key = row(json!({
        "id": id,
        "secret": state.ids.uuid("key secret").replace('-', ""),
        "project_id": project,
        "name": name,
        "is_active": true,
        "rate_limit": null,
        "browser_sdk_version": "latest",
        "loader": { "hasReplay": true, "hasPerformance": true, "hasDebug": false },
        "date_created": at.to_string(),
        "sequence": state.ids.number("key sequence", 0),
    }));
    state.keys.insert(&id, key.clone());
    key
}

/// Newest first; `status` narrows to active or inactive ones.
fn list(state: &State, call: &Call<'_>) -> Answer {
    let project = project(state, call)?.text("id");
    let wanted = match call.query("status").as_deref() {
        Some("active") => Some(true),
        Some("inactive") => Some(false),
        Some(_) | None => None,
    };
    let mut rows: Vec<&Row> = state
        .keys
        .rows()
        .filter(|key| key.text("project_id") == project)
        .filter(|key| wanted.is_none_or(|active| key.truth("is_active") == active))
        .collect();
    rows.sort_by_key(|key| std::cmp::Reverse(key.integer("sequence")));
    page::answer(call, &rows, |key| view(state, key))
}

fn retrieve(state: &State, call: &Call<'_>) -> Answer {
    Ok(Reply::json(200, &view(state, &find(state, call)?)))
}

fn create(state: &mut State, call: &Call<'_>) -> Answer {
    let project = project(state, call)?.text("id").to_owned();
    let sent = read(&call.body()?)?;
    let name = match sent.text("name") {
        "" => "Unnamed key",
        name => name,
    };
    let mut key = add(state, &project, name, call.now);
    if let Some(limit) = sent.get("rateLimit") {
        key.set("rate_limit", effective(limit));
    }
    state.keys.insert(key.text("id"), key.clone());
    Ok(Reply::json(201, &view(state, &key)))
}

fn update(state: &mut State, call: &Call<'_>) -> Answer {
    let mut key = find(state, call)?;
    let sent = read(&call.body()?)?;
    for (field, column) in
        [("name", "name"), ("isActive", "is_active"), ("browserSdkVersion", "browser_sdk_version")]
    {
        if let Some(value) = sent.get(field).filter(|value| !value.is_null()) {
            key.set(column, value.clone());
        }
    }
    if let Some(limit) = sent.get("rateLimit") {
        key.set("rate_limit", effective(limit));
    }
    if let Some(Value::Object(options)) = sent.get("dynamicSdkLoaderOptions") {
        let mut loader = row(key.value("loader"));
        let known = options.iter().filter(|(name, _)| LOADER.contains(&name.as_str()));
        loader.extend(known.map(|(name, value)| (name.clone(), value.clone())));
        key.set("loader", loader);
    }
    state.keys.insert(key.text("id"), key.clone());
    Ok(Reply::json(200, &view(state, &key)))
}

fn destroy(state: &mut State, call: &Call<'_>) -> Answer {
    let key = find(state, call)?;
    state.keys.remove(key.text("id"));
    Ok(Reply::empty(204))
}

fn find(state: &State, call: &Call<'_>) -> Result<Row, Reply> {
    let project = project(state, call)?.text("id");
    let key = state.keys.get(call.value(2)).filter(|key| key.text("project_id") == project);
    key.cloned().ok_or_else(not_found)
}

fn read(body: &Map<String, Value>) -> Result<Row, Reply> {
    let fields = [
        Field::short_text("name", 64).nullable(),
        Field::flag("isActive"),
        Field::object("rateLimit").nullable(),
        Field::choice("browserSdkVersion", SDK_VERSIONS).nullable(),
        Field::object("dynamicSdkLoaderOptions").nullable(),
    ];
    let mut form = Form::read(&fields, body, Mode::Sent);
    if let Some(Value::Object(limit)) = form.row.get("rateLimit") {
        let fields = [
            Field::between("count", 0, i32::MAX.into()).nullable(),
            Field::between("window", 0, 86_400).nullable(),
        ];
        if let Err(errors) = Form::read(&fields, limit, Mode::Sent).take() {
            form.reject_parts("rateLimit", errors.into());
        }
    }
    form.finish()
}

/// A limit without a count or a window is none.
fn effective(limit: &Value) -> Value {
    let part = |name: &str| limit.get(name).and_then(Value::as_i64).filter(|number| *number > 0);
    match (part("count"), part("window")) {
        (Some(count), Some(window)) => json!({ "window": window, "count": count }),
        _ => Value::Null,
    }
}

fn view(state: &State, key: &Row) -> Value {
    let organization = state.organizations.rows().next().map_or("", |row| row.text("id"));
    let (public, secret) = (key.text("id"), key.text("secret"));
    let project = key.text("project_id");
    let host = format!("o{organization}.ingest.sentry.test");
    json!({
        "id": public,
        "name": key.text("name"),
        "label": key.text("name"),
        "public": public,
        "secret": secret,
        "projectId": project.parse::<i64>().ok(),
        "isActive": key.truth("is_active"),
        "rateLimit": key.value("rate_limit"),
        "dsn": {
            "secret": format!("https://{public}:{secret}@{host}/{project}"),
            "public": format!("https://{public}@{host}/{project}"),
            "csp": format!("https://{host}/api/{project}/csp-report/?sentry_key={public}"),
            "cdn": format!("https://js.sentry-cdn.test/{public}.min.js"),
        },
        "browserSdkVersion": key.text("browser_sdk_version"),
        "browserSdk": { "choices": SDK_VERSIONS.iter().map(|it| [it, it]).collect::<Vec<_>>() },
        "dateCreated": key.text("date_created"),
        "dynamicSdkLoaderOptions": key.value("loader"),
    })
}
