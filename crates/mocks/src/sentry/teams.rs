//! Teams of the organization and of a project, as they are read.

use serde_json::{Value, json};

use super::organizations::avatar;
use super::{State, by_id_or_slug, matches_query, organization, page, project, projects};
use crate::http::{Answer, Call, Reply};
use crate::route::{Route, get};
use crate::table::{Columns as _, Row, row};

pub(super) fn routes() -> Vec<Route<State>> {
    vec![
        get("/organizations/{organization_id_or_slug}/teams/", list),
        get("/teams/{organization_id_or_slug}/{team_id_or_slug}/", retrieve),
        get("/teams/{organization_id_or_slug}/{team_id_or_slug}/projects/", list_projects),
        get("/projects/{organization_id_or_slug}/{project_id_or_slug}/teams/", list_of_project),
    ]
}

pub(super) fn seed(state: &mut State) {
    for slug in ["web-crew", "api-crew", "dock-oncall", "lamp-keepers"] {
        add(state, slug);
    }
}

pub(super) fn add(state: &mut State, slug: &str) {
    let id = state.ids.number("team", 4_509_872_200_000_000);
    let columns = json!({
        "id": id.to_string(),
        "slug": slug,
        "name": slug,
        "date_created": "2025-01-09T10:05:00Z",
    });
    state.teams.insert(id, row(columns));
}

/// Teams carry their projects unless `detailed=0`.
fn list(state: &State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let query = call.query("query").unwrap_or_default();
    let mut teams: Vec<&Row> =
        state.teams.rows().filter(|team| matches_query(team, &query)).collect();
    teams.sort_by_key(|team| team.text("slug"));
    let detailed = call.query("detailed").as_deref() != Some("0");
    page::answer(call, &teams, |team| {
        let mut view = view(state, team);
        if detailed {
            let projects: Vec<Row> = of_team(state, team).map(projects::summary).collect();
            view.set("projects", json!(projects));
        }
        Value::Object(view)
    })
}

fn retrieve(state: &State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    Ok(Reply::json(200, &view(state, by_id_or_slug(&state.teams, call.value(1))?)))
}

fn list_projects(state: &State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let team = by_id_or_slug(&state.teams, call.value(1))?;
    let rows: Vec<&Row> = of_team(state, team).collect();
    page::answer(call, &rows, |project| projects::view(state, project))
}

fn list_of_project(state: &State, call: &Call<'_>) -> Answer {
    let teams: Vec<&Row> = of_project(state, project(state, call)?).collect();
    page::answer(call, &teams, |team| Value::Object(view(state, team)))
}

fn of_team<'s>(state: &'s State, team: &Row) -> impl Iterator<Item = &'s Row> {
    let id = team.value("id");
    state.projects.rows().filter(move |project| project.list("teams").contains(&id))
}

pub(super) fn of_project<'s>(state: &'s State, project: &'s Row) -> impl Iterator<Item = &'s Row> {
    project.list("teams").iter().filter_map(|id| state.teams.get(id.as_str()?))
}

pub(super) fn view(state: &State, team: &Row) -> Row {
    let mut view = team.only(&["id", "slug", "name"]);
    let id = team.value("id");
    let members = state.members.rows().filter(|member| member.list("teams").contains(&id));
    view.set("dateCreated", team.text("date_created"));
    view.set("isMember", true);
    view.set("teamRole", Value::Null);
    view.set("flags", json!({ "idp:provisioned": false }));
    view.set("access", json!(["event:read", "org:read", "project:read", "team:read"]));
    view.set("hasAccess", true);
    view.set("isPending", false);
    view.set("memberCount", members.count());
    view.set("avatar", avatar());
    view
}
