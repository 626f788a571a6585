//! Deploys of a release: every POST adds one, and the list hides all but the last of an environment.

use serde_json::{Value, json};

use super::{State, by_id_or_slug, organization, page, releases};
use crate::fields::{Field, Form, Mode, key};
use crate::http::{Answer, Call, Reply};
use crate::route::{Route, get, post};
use crate::table::{Columns as _, Row, row};

const LIST: &str = "/organizations/{organization_id_or_slug}/releases/{version}/deploys/";

pub(super) fn routes() -> Vec<Route<State>> {
    vec![get(LIST, list), post(LIST, create)]
}

/// Only deploys that are the last of some project and environment, newest first.
fn list(state: &State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let release = releases::find(state, call.value(1))?.text("id");
    let slugs = call.queries("projectSlug");
    let by_slug = slugs.iter().filter_map(|slug| state.projects.find("slug", slug));
    let by_slug = by_slug.map(|it| it.text("id").to_owned());
    let wanted: Vec<String> = call.queries("project").into_iter().chain(by_slug).collect();
    let filtered = !slugs.is_empty() || !wanted.is_empty();
    let last: Vec<&str> = state
        .last_deploys
        .rows()
        .filter(|it| it.text("release_id") == release)
        .filter(|it| !filtered || wanted.iter().any(|id| id == it.text("project_id")))
        .map(|it| it.text("deploy_id"))
        .collect();
    let mut rows: Vec<&Row> =
        state.deploys.rows().filter(|it| last.contains(&it.text("id"))).collect();
    rows.sort_by_key(|it| std::cmp::Reverse(it.text("date_finished")));
    page::answer(call, &rows, view)
}

fn create(state: &mut State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let release = releases::find(state, call.value(1))?;
    let (id, version) = (release.text("id").to_owned(), release.text("version").to_owned());
    let body = call.body()?;
    let fields = [
        Field::short_text("environment", 64).required(),
        Field::short_text("name", 64).nullable(),
        Field::blank_text("url").nullable(),
        Field::time("dateStarted").nullable(),
        // The real server fails on an explicit null.
        Field::time("dateFinished").or(call.now.to_string()),
    ];
    let mut form = Form::read(&fields, &body, Mode::Whole);
    let sent_projects = body.get("projects").filter(|it| !it.is_null());
    if sent_projects.is_some_and(|it| it.as_array().is_none_or(Vec::is_empty)) {
        form.reject("projects", "This list may not be empty.");
    }
    let sent = form.finish()?;
    let own = releases::projects_of(state, &id);
    let projects = match sent_projects.and_then(Value::as_array) {
        Some(sent) => covered(state, sent, &own, &version)?,
        None => own,
    };
    let columns = row(json!({
        "environment": sent.text("environment"),
        "name": sent.value("name"),
        "url": sent.value("url"),
        "date_started": sent.value("dateStarted"),
        "date_finished": sent.text("dateFinished"),
    }));
    Ok(Reply::json(201, &view(&add(state, &id, &columns, &projects))))
}

/// The ids of the projects a deploy names, which must be the release's own.
fn covered(
    state: &State,
    sent: &[Value],
    own: &[String],
    version: &str,
) -> Result<Vec<String>, Reply> {
    let names: Vec<String> = sent.iter().filter_map(key).collect();
    let id = |name: &String| {
        let project = by_id_or_slug(&state.projects, name).ok()?;
        own.iter().find(|id| *id == project.text("id")).cloned()
    };
    let wrong: Vec<&str> =
        names.iter().filter(|name| id(name).is_none()).map(String::as_str).collect();
    if !wrong.is_empty() {
        let text = format!("Invalid projects ({}) for release {version}", wrong.join(", "));
        return Err(Reply::detail(400, &text));
    }
    Ok(names.iter().filter_map(id).collect())
}

/// Stores a deploy and makes it the last one of its projects and environment.
pub(super) fn add(state: &mut State, release: &str, columns: &Row, projects: &[String]) -> Row {
    let id = state.ids.number("deploy", 66_000).to_string();
    let mut deploy = row(json!({ "id": id, "release_id": release }));
    deploy.extend(columns.clone());
    state.deploys.insert(&id, deploy.clone());
    let environment = deploy.text("environment");
    if state.environments.find("name", environment).is_none() {
        let number = state.ids.number("environment", 300);
        let columns = json!({ "id": number.to_string(), "name": environment });
        state.environments.insert(number, row(columns));
    }
    for project in projects {
        let columns = json!({
            "release_id": release,
            "project_id": project,
            "environment": environment,
            "deploy_id": id,
        });
        state.last_deploys.insert(format!("{release}:{project}:{environment}"), row(columns));
    }
    if let Some(release) = state.releases.get_mut(release) {
        release.set("total_deploys", release.integer("total_deploys") + 1);
        release.set("last_deploy", id);
    }
    deploy
}

/// Whether a release was deployed to an environment.
pub(super) fn went_to(state: &State, release: &str, environment: &str) -> bool {
    let mut last = state.last_deploys.rows();
    last.any(|it| it.text("release_id") == release && it.text("environment") == environment)
}

pub(super) fn view(deploy: &Row) -> Value {
    json!({
        "id": deploy.text("id"),
        "environment": deploy.text("environment"),
        "name": deploy.value("name"),
        "url": deploy.value("url"),
        "dateStarted": deploy.value("date_started"),
        "dateFinished": deploy.text("date_finished"),
    })
}
