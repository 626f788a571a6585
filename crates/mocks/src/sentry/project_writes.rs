//! Making and changing projects and teams, and which team has which project.

use serde_json::{Value, json};

use super::{State, by_id_or_slug, keys, organization, project, projects, slug, teams};
use crate::fields::{Field, Form, Mode};
use crate::http::{Answer, Call, Reply};
use crate::route::{Route, delete, post, put};
use crate::table::{Columns as _, Row, row};

pub(super) fn routes() -> Vec<Route<State>> {
    vec![
        post("/organizations/{organization_id_or_slug}/teams/", create_team),
        post("/teams/{organization_id_or_slug}/{team_id_or_slug}/projects/", create),
        put("/projects/{organization_id_or_slug}/{project_id_or_slug}/", update),
        post(PROJECT_TEAM, add_team),
        delete(PROJECT_TEAM, remove_team),
    ]
}

const PROJECT_TEAM: &str =
    "/projects/{organization_id_or_slug}/{project_id_or_slug}/teams/{team_id_or_slug}/";

fn create_team(state: &mut State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let fields = [Field::short_text("name", 64).nullable(), Field::short_text("slug", slug::MAX)];
    let mut form = Form::read(&fields, &call.body()?, Mode::Sent);
    slug::check(&mut form);
    if form.is_valid() && form.row.text("name").is_empty() && form.row.text("slug").is_empty() {
        form.reject("__all__", "Name or slug is required");
    }
    let sent = form.finish()?;
    let slug = match sent.text("slug") {
        "" => slug::of(sent.text("name")),
        slug => slug.to_owned(),
    };
    if state.teams.find("slug", &slug).is_some() {
        let text = "A team with this slug already exists.";
        return Err(Reply::json(409, &json!({ "non_field_errors": [text], "detail": text })));
    }
    let id = state.ids.number("team", 4_509_872_200_000_000);
    let name = if sent.text("name").is_empty() { &slug } else { sent.text("name") };
    let columns = json!({
        "id": id.to_string(),
        "slug": slug,
        "name": name,
        "date_created": call.now.to_string(),
    });
    state.teams.insert(id, row(columns.clone()));
    Ok(Reply::json(201, &teams::view(state, &row(columns))))
}

fn create(state: &mut State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let team = by_id_or_slug(&state.teams, call.value(1))?.value("id");
    let fields = [
        Field::short_text("name", 50).required(),
        Field::short_text("slug", 100).nullable(),
        Field::blank_text("platform").nullable(),
    ];
    let mut form = Form::read(&fields, &call.body()?, Mode::Whole);
    slug::check(&mut form);
    let sent = form.finish()?;
    let slug = match sent.text("slug") {
        "" => slug::free(&state.projects, &slug::of(sent.text("name"))),
        slug if state.projects.find("slug", slug).is_some() => {
            return Err(Reply::detail(409, "A project with this slug already exists."));
        }
        slug => slug.to_owned(),
    };
    let id = state.ids.number("project", 4_509_871_100_000_000).to_string();
    let columns = json!({
        "id": id,
        "slug": slug,
        "name": sent.text("name"),
        "platform": sent.value("platform"),
        "date_created": call.now.to_string(),
        "teams": [team],
        "environments": [],
        "latest_release": null,
    });
    state.projects.insert(&id, row(columns.clone()));
    keys::add(state, &id, "Default", call.now);
    Ok(Reply::json(201, &projects::view(state, &row(columns))))
}

fn update(state: &mut State, call: &Call<'_>) -> Answer {
    let mut project = project(state, call)?.clone();
    let fields = [
        Field::short_text("name", 200),
        Field::short_text("slug", 100),
        Field::blank_text("platform").nullable(),
    ];
    let mut form = Form::read(&fields, &call.body()?, Mode::Sent);
    slug::check(&mut form);
    let slug = form.row.text("slug").to_owned();
    let other = state.projects.find("slug", &slug);
    if other.is_some_and(|other| other.get("id") != project.get("id")) {
        let text = format!("Another project ({slug}) is already using that slug");
        form.reject("slug", &text);
    }
    project.extend(form.finish()?);
    state.projects.insert(project.text("id"), project.clone());
    Ok(Reply::json(200, &projects::view(state, &project)))
}

fn add_team(state: &mut State, call: &Call<'_>) -> Answer {
    let (mut project, team) = both(state, call)?;
    if !project.list("teams").contains(&team) {
        let teams = [project.list("teams"), &[team]].concat();
        project.set("teams", teams);
        state.projects.insert(project.text("id"), project.clone());
    }
    Ok(Reply::json(201, &projects::view(state, &project)))
}

fn remove_team(state: &mut State, call: &Call<'_>) -> Answer {
    let (mut project, team) = both(state, call)?;
    let teams: Vec<Value> =
        project.list("teams").iter().filter(|it| **it != team).cloned().collect();
    project.set("teams", teams);
    state.projects.insert(project.text("id"), project.clone());
    Ok(Reply::json(200, &projects::view(state, &project)))
}

/// The project, and the id of the team.
fn both(state: &State, call: &Call<'_>) -> Result<(Row, Value), Reply> {
    let project = project(state, call)?.clone();
    let team = by_id_or_slug(&state.teams, call.value(2))
        .map_err(|_| Reply::detail(404, "Team does not exist."))?;
    Ok((project, team.value("id")))
}
