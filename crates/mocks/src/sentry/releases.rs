//! Releases: created once, gaining projects, changed by what is truthy.

use serde_json::{Map, Value, json};

use super::deploys;
use super::{State, not_found, organization, page, project};
use crate::fields::{Field, Form, Mode, key};
use crate::http::{Answer, Call, Reply};
use crate::route::{Route, delete, get, post, put};
use crate::table::{Columns as _, Row, row};

const LIST: &str = "/organizations/{organization_id_or_slug}/releases/";
const ONE: &str = "/organizations/{organization_id_or_slug}/releases/{version}/";
const OF_PROJECT: &str = "/projects/{organization_id_or_slug}/{project_id_or_slug}/releases/";
const ONE_OF_PROJECT: &str =
    "/projects/{organization_id_or_slug}/{project_id_or_slug}/releases/{version}/";

pub(super) fn routes() -> Vec<Route<State>> {
    vec![
        get(LIST, list),
        post(LIST, create),
        get(ONE, retrieve),
        put(ONE, update),
        delete(ONE, destroy),
        get(OF_PROJECT, list_of_project),
        get(ONE_OF_PROJECT, retrieve_of_project),
        get("/organizations/{organization_id_or_slug}/releases/{version}/commits/", commits),
        get(
            "/projects/{organization_id_or_slug}/{project_id_or_slug}/releases/{version}/commits/",
            commits_of_project,
        ),
    ]
}

/// A release that went out, one that did not, and one whose version is almost that of the next.
pub(super) fn seed(state: &mut State) {
    let commits = json!([
        { "id": "4f1c2a9be07d5b13c6e8f0a1d2b3c4e5f6a7b8c9", "message": "Keep the basket over a reload\n\nIt was lost.", "author": "Ada Wren" },
        { "id": "0d9e8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d1e", "message": "Round prices once", "author": "Bela Okafor" },
    ]);
    for (version, projects, created, commits) in [
        ("quay@5.1.8", &["quay-web"][..], "2026-04-02T10:00:00Z", json!([])),
        ("quay@5.1.9", &["quay-web", "quay-api"], "2026-04-20T10:00:00Z", commits),
        ("quay@5.2.0", &["quay-api"], "2026-05-01T10:00:00Z", json!([])),
    ] {
        let released = version == "quay@5.1.9";
        let ids: Vec<String> = projects
            .iter()
            .filter_map(|slug| Some(state.projects.find("slug", slug)?.text("id").to_owned()))
            .collect();
        let columns = json!({
            "date_released": if released { json!("2026-04-20T11:00:00Z") } else { Value::Null },
            "commits": commits,
            "new_groups": 4,
        });
        let id = add(state, version, &ids, created, &columns);
        if released {
            for (environment, finished) in
                [("staging", "2026-04-20T10:30:00Z"), ("production", "2026-04-20T11:05:00Z")]
            {
                let deploy = json!({
                    "environment": environment,
                    "name": format!("5.1.9 to {environment}"),
                    "url": "https://ci.harbor-lantern.test/runs/8702",
                    "date_started": "2026-04-20T10:20:00Z",
                    "date_finished": finished,
                });
                deploys::add(state, &id, &row(deploy), &ids);
            }
        }
    }
}

/// A release with these columns in place of the usual ones; gives its id.
pub(super) fn add(
    state: &mut State,
    version: &str,
    projects: &[String],
    created: &str,
    columns: &Value,
) -> String {
    let id = state.ids.number("release", 1_122_000).to_string();
    let mut release = row(json!({
        "id": id,
        "version": version,
        "status": "open",
        "ref": null,
        "url": null,
        "date_created": created,
        "date_released": null,
        "owner": null,
        "commits": [],
        "new_groups": 0,
        "total_deploys": 0,
        "last_deploy": null,
    }));
    release.extend(row(columns.clone()));
    state.releases.insert(&id, release);
    join(state, &id, projects);
    id
}

/// Adds projects to a release; says whether one was new to it.
fn join(state: &mut State, release: &str, projects: &[String]) -> bool {
    let mut gained = false;
    for project in projects {
        let key = format!("{release}:{project}");
        if state.release_projects.get(&key).is_none() {
            gained = true;
            let columns = json!({ "release_id": release, "project_id": project });
            state.release_projects.insert(key, row(columns));
        }
    }
    gained
}

/// The ids of a release's projects.
pub(super) fn projects_of(state: &State, release: &str) -> Vec<String> {
    let joined = state.release_projects.rows().filter(|it| it.text("release_id") == release);
    joined.map(|it| it.text("project_id").to_owned()).collect()
}

fn list(state: &State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    answer(state, call, &call.queries("project"))
}

fn list_of_project(state: &State, call: &Call<'_>) -> Answer {
    let project = project(state, call)?.text("id").to_owned();
    answer(state, call, &[project])
}

/// Newest first.
fn answer(state: &State, call: &Call<'_>, projects: &[String]) -> Answer {
    let query = call.query("query").unwrap_or_default().to_lowercase();
    let status =
        call.query("status").filter(|it| !it.is_empty()).unwrap_or_else(|| "open".to_owned());
    let environments = call.queries("environment");
    let everywhere = projects.is_empty() || projects.iter().any(|it| it == "-1");
    let mut rows: Vec<&Row> = state
        .releases
        .rows()
        .filter(|release| {
            let own = projects_of(state, release.text("id"));
            let deployed = |name: &String| deploys::went_to(state, release.text("id"), name);
            release.text("version").to_lowercase().contains(&query)
                && release.text("status") == status
                && (everywhere || own.iter().any(|it| projects.contains(it)))
                && (environments.is_empty() || environments.iter().any(deployed))
        })
        .collect();
    rows.sort_by_key(|it| std::cmp::Reverse(it.text("date_created")));
    page::answer(call, &rows, |release| view(state, release))
}

fn retrieve(state: &State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let release = find(state, call.value(1))?;
    Ok(Reply::json(200, &detail(state, call, release)))
}

fn retrieve_of_project(state: &State, call: &Call<'_>) -> Answer {
    Ok(Reply::json(200, &detail(state, call, in_project(state, call)?)))
}

/// 201 for a new release and for one that gained a project, 208 for one that was all there.
fn create(state: &mut State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let mut fields = changes();
    fields.push(Field::short_text("version", 250).required());
    let body = call.body()?;
    let mut form = Form::read(&fields, &body, Mode::Whole);
    let version = form.row.text("version").to_owned();
    let odd = version.contains(['/', '\\', '\n', '\t', '\u{c}', '\r']);
    if odd || [".", "..", "latest"].contains(&version.as_str()) {
        form.reject("version", &format!("Release with name {version} is not allowed"));
    }
    match body.get("projects").and_then(Value::as_array) {
        Some(sent) if !sent.is_empty() => {}
        Some(_) => form.reject("projects", "This list may not be empty."),
        None => form.reject("projects", "This field is required."),
    }
    let sent = form.finish()?;
    let projects = known_projects(state, &body)?;
    if let Some(release) = state.releases.find("version", &version) {
        let id = release.text("id").to_owned();
        let status = if join(state, &id, &projects) { 201 } else { 208 };
        return Ok(Reply::json(status, &view(state, find(state, &version)?)));
    }
    let columns = json!({
        "ref": sent.value("ref"),
        "url": sent.value("url"),
        "date_released": sent.value("dateReleased"),
        "commits": sent_commits(&body).unwrap_or_else(|| json!([])),
    });
    add(state, &version, &projects, &call.now.to_string(), &columns);
    Ok(Reply::json(201, &view(state, find(state, &version)?)))
}

/// What is null or empty changes nothing, but an empty list of refs takes the commits away.
fn update(state: &mut State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let mut release = find(state, call.value(1))?.clone();
    let body = call.body()?;
    let sent = Form::read(&changes(), &body, Mode::Sent).finish()?;
    for (field, column) in [("ref", "ref"), ("url", "url"), ("dateReleased", "date_released")] {
        let value = sent.value(field);
        if value.as_str().is_some_and(|it| !it.is_empty()) {
            release.set(column, value);
        }
    }
    if let Some(commits) = sent_commits(&body) {
        release.set("commits", commits);
    }
    state.releases.insert(release.text("id"), release.clone());
    Ok(Reply::json(200, &view(state, &release)))
}

fn destroy(state: &mut State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let release = find(state, call.value(1))?.text("id").to_owned();
    state.releases.remove(&release);
    state.release_projects.retain(|it| it.text("release_id") != release);
    state.deploys.retain(|it| it.text("release_id") != release);
    state.last_deploys.retain(|it| it.text("release_id") != release);
    Ok(Reply::empty(204))
}

fn commits(state: &State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    commits_page(call, find(state, call.value(1))?)
}

fn commits_of_project(state: &State, call: &Call<'_>) -> Answer {
    commits_page(call, in_project(state, call)?)
}

fn commits_page(call: &Call<'_>, release: &Row) -> Answer {
    let commits: Vec<&Row> = release.list("commits").iter().filter_map(Value::as_object).collect();
    page::answer(call, &commits, |commit| commit_view(release, commit))
}

fn commit_view(release: &Row, commit: &Row) -> Value {
    let author = Some(commit.text("author")).filter(|it| !it.is_empty());
    json!({
        "id": commit.text("id"),
        "message": commit.value("message"),
        "dateCreated": release.text("date_created"),
        "pullRequest": null,
        "suspectCommitType": "",
        "author": author.map(|name| json!({
            "name": name,
            "email": format!("{}@harbor-lantern.test", name.to_lowercase().replace(' ', ".")),
        })),
    })
}

/// These names only: `date_released` is a field nobody knows.
fn changes() -> Vec<Field> {
    vec![
        Field::short_text("ref", 250).nullable(),
        Field::blank_text("url").nullable(),
        Field::time("dateReleased").nullable(),
    ]
}

/// The commits a body leaves behind, if it says anything about them.
fn sent_commits(body: &Map<String, Value>) -> Option<Value> {
    if let Some(commits) = body.get("commits").and_then(Value::as_array) {
        let kept = commits.iter().map(|it| {
            json!({
                "id": it["id"],
                "message": it["message"],
                "author": it["author_name"].as_str().or(it["author"].as_str()),
            })
        });
        return Some(kept.collect());
    }
    let refs = body.get("refs").and_then(Value::as_array)?;
    let kept = refs.iter().map(|it| json!({ "id": it["commit"], "message": null, "author": null }));
    Some(kept.collect())
}

fn known_projects(state: &State, body: &Map<String, Value>) -> Result<Vec<String>, Reply> {
    let sent = body.get("projects").and_then(Value::as_array).into_iter().flatten();
    let found = sent.map(|it| {
        let name = key(it)?;
        let project = super::by_id_or_slug(&state.projects, &name).ok()?;
        Some(project.text("id").to_owned())
    });
    let wrong = || Reply::json(400, &json!({ "projects": ["Invalid project ids or slugs"] }));
    found.collect::<Option<Vec<String>>>().ok_or_else(wrong)
}

pub(super) fn find<'s>(state: &'s State, version: &str) -> Result<&'s Row, Reply> {
    state.releases.find("version", version).ok_or_else(not_found)
}

fn in_project<'s>(state: &'s State, call: &Call<'_>) -> Result<&'s Row, Reply> {
    let project = project(state, call)?.text("id");
    let release = find(state, call.value(2))?;
    let own = projects_of(state, release.text("id"));
    if own.iter().any(|it| it == project) { Ok(release) } else { Err(not_found()) }
}

/// A release with the health of its projects, when that is asked for.
fn detail(state: &State, call: &Call<'_>, release: &Row) -> Value {
    let mut view = view(state, release);
    if call.flag("health") == Some(true) {
        for project in view["projects"].as_array_mut().into_iter().flatten() {
            project["hasHealthData"] = true.into();
            project["healthData"] = json!({
                "adoption": 62.5,
                "crashFreeSessions": 99.2,
                "crashFreeUsers": 98.7,
                "totalSessions24h": 1_840,
                "totalUsers24h": 912,
                "hasHealthData": true,
            });
        }
        view["adoptionStages"] =
            json!({ "quay-web": { "stage": "adopted", "adopted": release.text("date_created") } });
    }
    view
}

/// Most have nothing to say.
fn data(release: &Row) -> Value {
    match usize::try_from(release.integer("notes_bytes")) {
        Ok(0) | Err(_) => json!({}),
        Ok(bytes) => {
            let line = format!("{}: \"counted {{0}}, kept {{1}}\" ", release.text("version"));
            let mut notes = line.repeat(bytes / line.len() + 1);
            notes.truncate(bytes);
            json!({ "releaseNotes": notes })
        }
    }
}

fn view(state: &State, release: &Row) -> Value {
    let version = release.text("version");
    let (package, raw) = version.split_once('@').unwrap_or(("", version));
    let short = raw.split_once('+').map_or(raw, |(number, _)| number);
    let projects: Vec<Value> = projects_of(state, release.text("id"))
        .iter()
        .filter_map(|id| state.projects.get(id))
        .map(|it| {
            json!({
                "id": it.text("id").parse::<i64>().ok(),
                "slug": it.text("slug"),
                "name": it.text("name"),
                "newGroups": release.integer("new_groups"),
                "platform": it.value("platform"),
                "platforms": [it.value("platform")],
                "hasHealthData": false,
            })
        })
        .collect();
    let commits = release.list("commits");
    let last = commits.first().and_then(Value::as_object);
    let deploy = state.deploys.get(release.text("last_deploy"));
    json!({
        "id": release.text("id").parse::<i64>().ok(),
        "version": version,
        "shortVersion": short,
        "status": release.text("status"),
        "versionInfo": {
            "package": package,
            "version": { "raw": raw },
            "description": short,
            "buildHash": null,
        },
        "ref": release.value("ref"),
        "url": release.value("url"),
        "dateReleased": release.value("date_released"),
        "dateCreated": release.text("date_created"),
        "data": data(release),
        "newGroups": release.integer("new_groups"),
        "owner": release.value("owner"),
        "commitCount": release.get("commit_count").cloned().unwrap_or_else(|| commits.len().into()),
        "lastCommit": last.map(|it| commit_view(release, it)),
        "deployCount": release.integer("total_deploys"),
        "lastDeploy": deploy.map(deploys::view),
        "authors": [],
        "projects": projects,
        "firstEvent": release.text("date_created"),
        "lastEvent": null,
        "currentProjectMeta": {},
        "userAgent": "",
    })
}
