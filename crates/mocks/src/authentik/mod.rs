//! authentik 2026.8 as far as users, groups, sign-in flows and the event log go.

mod bindings;
mod brands;
mod captcha;
mod document;
mod events;
mod flows;
mod groups;
mod identification;
mod list;
mod policies;
mod stages;
mod system;
mod users;

use crate::Extra;
use crate::engine::{self, Fixture};
use crate::http::{Reply, Request};
use crate::route::Route;
use crate::seed::{Ids, Random};
use crate::table::{Row, Table, Tables};

#[derive(Debug)]
pub(crate) struct Authentik;

#[derive(Clone, Debug)]
pub(crate) struct State {
    ids: Ids,
    brands: Table,
    events: Table,
    flow_stage_bindings: Table,
    flows: Table,
    groups: Table,
    policies: Table,
    policy_bindings: Table,
    /// All types in one table: their names are unique together.
    stages: Table,
    users: Table,
}

impl engine::State for State {
    fn tables(&self) -> Tables<'_> {
        vec![
            ("brands", &self.brands),
            ("events", &self.events),
            ("flow_stage_bindings", &self.flow_stage_bindings),
            ("flows", &self.flows),
            ("groups", &self.groups),
            ("policies", &self.policies),
            ("policy_bindings", &self.policy_bindings),
            ("stages", &self.stages),
            ("users", &self.users),
        ]
    }

    fn table(&mut self, name: &str) -> Option<&mut Table> {
        Some(match name {
            "brands" => &mut self.brands,
            "events" => &mut self.events,
            "flow_stage_bindings" => &mut self.flow_stage_bindings,
            "flows" => &mut self.flows,
            "groups" => &mut self.groups,
            "policies" => &mut self.policies,
            "policy_bindings" => &mut self.policy_bindings,
            "stages" => &mut self.stages,
            "users" => &mut self.users,
            _ => return None,
        })
    }
}

impl Fixture for Authentik {
    type State = State;

    const BASE: &'static str = "/api/v3";
    const NOT_FOUND: &'static str = "Not found.";

    fn default_token(seed: u64) -> String {
        format!("ak-mock-{}", Random::new(seed, "authentik token").hex(24))
    }

    fn state(seed: u64, extra: Extra) -> State {
        let mut state = State {
            ids: Ids::new(seed),
            brands: Table::default(),
            events: Table::default(),
            flow_stage_bindings: Table::default(),
            flows: Table::default(),
            groups: Table::default(),
            policies: Table::default(),
            policy_bindings: Table::default(),
            stages: Table::default(),
            users: Table::default(),
        };
        groups::seed(&mut state);
        users::seed(&mut state, Random::new(seed, "users"));
        stages::seed(&mut state);
        flows::seed(&mut state);
        bindings::seed(&mut state);
        if extra == Extra::FirmPassword {
            bindings::firm(&mut state);
        }
        policies::seed(&mut state);
        brands::seed(&mut state);
        events::seed(&mut state, Random::new(seed, "events"));
        state
    }

    fn routes() -> Vec<Route<State>> {
        [
            system::routes(),
            document::routes(),
            brands::routes(),
            users::routes(),
            groups::routes(),
            events::routes(),
            flows::routes(),
            bindings::routes(),
            policies::routes(),
            stages::routes(),
            captcha::routes(),
            identification::routes(),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// authentik answers 403 where others answer 401.
    fn refuse(request: &Request, token: &str) -> Option<Reply> {
        match request.bearer() {
            Some(sent) if sent == token => None,
            Some(_) => Some(Reply::detail(403, "Token invalid/expired")),
            None => Some(Reply::detail(403, "Authentication credentials were not provided.")),
        }
    }
}

/// The row of a key in a path, or the 404 that names the model.
fn found<'t>(table: &'t Table, key: &str, model: &str) -> Result<&'t Row, Reply> {
    table
        .get(&key.to_ascii_lowercase())
        .ok_or_else(|| Reply::detail(404, &format!("No {model} matches the given query.")))
}
