//! Sentry with the one organization `harbor-lantern`.

mod dashboards;
mod detectors;
mod members;
mod organizations;
mod page;
mod projects;
mod repositories;
mod spelling;
mod teams;
mod widgets;

use crate::engine::{self, Fixture};
use crate::http::{Call, Reply, Request};
use crate::route::Route;
use crate::seed::{Ids, Random};
use crate::table::{Columns as _, Row, Table, Tables};

const NOT_FOUND: &str = "The requested resource does not exist";

#[derive(Debug)]
pub(crate) struct Sentry;

#[derive(Clone, Debug)]
pub(crate) struct State {
    ids: Ids,
    dashboards: Table,
    detectors: Table,
    environments: Table,
    members: Table,
    organizations: Table,
    projects: Table,
    repositories: Table,
    teams: Table,
}

impl engine::State for State {
    fn tables(&self) -> Tables<'_> {
        vec![
            ("dashboards", &self.dashboards),
            ("detectors", &self.detectors),
            ("environments", &self.environments),
            ("members", &self.members),
            ("organizations", &self.organizations),
            ("projects", &self.projects),
            ("repositories", &self.repositories),
            ("teams", &self.teams),
        ]
    }
}

impl Fixture for Sentry {
    type State = State;

    const BASE: &'static str = "/api/0";
    const NOT_FOUND: &'static str = NOT_FOUND;

    fn default_token(seed: u64) -> String {
        format!("sntry-mock-{}", Random::new(seed, "sentry token").hex(24))
    }

    fn state(seed: u64) -> State {
        let mut state = State {
            ids: Ids::new(seed),
            dashboards: Table::default(),
            detectors: Table::default(),
            environments: Table::default(),
            members: Table::default(),
            organizations: Table::default(),
            projects: Table::default(),
            repositories: Table::default(),
            teams: Table::default(),
        };
        organizations::seed(&mut state);
        teams::seed(&mut state);
        projects::seed(&mut state);
        members::seed(&mut state);
        detectors::seed(&mut state);
        repositories::seed(&mut state, Random::new(seed, "repositories"));
        dashboards::seed(&mut state);
        state
    }

    fn routes() -> Vec<Route<State>> {
        [
            organizations::routes(),
            teams::routes(),
            projects::routes(),
            members::routes(),
            detectors::routes(),
            repositories::routes(),
            dashboards::routes(),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn refuse(request: &Request, token: &str) -> Option<Reply> {
        match request.bearer() {
            Some(sent) if sent == token => None,
            Some(_) => Some(Reply::detail(401, "Invalid token")),
            None => Some(Reply::detail(401, "Authentication credentials were not provided.")),
        }
    }
}

fn not_found() -> Reply {
    Reply::detail(404, NOT_FOUND)
}

/// The row of an id or a slug, as most path placeholders take either.
fn by_id_or_slug<'t>(table: &'t Table, text: &str) -> Result<&'t Row, Reply> {
    table.get(text).or_else(|| table.find("slug", text)).ok_or_else(not_found)
}

/// The organization is the first placeholder of every route that has one.
fn organization<'s>(state: &'s State, call: &Call<'_>) -> Result<&'s Row, Reply> {
    by_id_or_slug(&state.organizations, call.value(0))
}

/// Organization and project, the first two placeholders of a project's routes.
fn project<'s>(state: &'s State, call: &Call<'_>) -> Result<&'s Row, Reply> {
    organization(state, call)?;
    by_id_or_slug(&state.projects, call.value(1))
}

/// Whether a row's name or slug holds the `query` parameter, whatever the case.
fn matches_query(row: &Row, query: &str) -> bool {
    let query = query.to_lowercase();
    ["name", "slug"].iter().any(|column| row.text(column).to_lowercase().contains(&query))
}
