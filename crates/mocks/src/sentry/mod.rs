//! Sentry with the one organization `harbor-lantern`.

mod activities;
mod ai_conversations;
mod alert_rules;
mod attachments;
mod autofix;
mod check_ins;
mod dashboards;
mod deploys;
mod detectors;
mod docs;
mod event_search;
mod extra;
mod issue_events;
mod issue_fixtures;
mod issue_query;
mod issues;
mod keys;
mod members;
mod monitors;
mod onboarding;
mod organizations;
mod owner;
mod page;
mod profiles;
mod project_writes;
mod projects;
mod releases;
mod replays;
mod repositories;
mod samples;
mod schedule;
mod slug;
mod snapshots;
mod spelling;
mod teams;
mod traces;
mod uptime;
mod widgets;
mod workflow_parts;
mod workflows;

use crate::Extra;
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
    activities: Table,
    alert_rules: Table,
    attachments: Table,
    autofix_runs: Table,
    check_ins: Table,
    code_mappings: Table,
    dashboards: Table,
    deploys: Table,
    detector_workflows: Table,
    detectors: Table,
    docs: Table,
    environments: Table,
    events: Table,
    issues: Table,
    keys: Table,
    last_deploys: Table,
    logs: Table,
    members: Table,
    monitors: Table,
    onboarding: Table,
    organizations: Table,
    projects: Table,
    release_projects: Table,
    releases: Table,
    replays: Table,
    repositories: Table,
    snapshots: Table,
    spans: Table,
    teams: Table,
    uptime_checks: Table,
    uptime_monitors: Table,
    workflows: Table,
}

impl engine::State for State {
    fn tables(&self) -> Tables<'_> {
        vec![
            ("activities", &self.activities),
            ("alert_rules", &self.alert_rules),
            ("attachments", &self.attachments),
            ("autofix_runs", &self.autofix_runs),
            ("check_ins", &self.check_ins),
            ("code_mappings", &self.code_mappings),
            ("dashboards", &self.dashboards),
            ("deploys", &self.deploys),
            ("detector_workflows", &self.detector_workflows),
            ("detectors", &self.detectors),
            ("docs", &self.docs),
            ("environments", &self.environments),
            ("events", &self.events),
            ("issues", &self.issues),
            ("keys", &self.keys),
            ("last_deploys", &self.last_deploys),
            ("logs", &self.logs),
            ("members", &self.members),
            ("monitors", &self.monitors),
            ("onboarding", &self.onboarding),
            ("organizations", &self.organizations),
            ("projects", &self.projects),
            ("release_projects", &self.release_projects),
            ("releases", &self.releases),
            ("replays", &self.replays),
            ("repositories", &self.repositories),
            ("snapshots", &self.snapshots),
            ("spans", &self.spans),
            ("teams", &self.teams),
            ("uptime_checks", &self.uptime_checks),
            ("uptime_monitors", &self.uptime_monitors),
            ("workflows", &self.workflows),
        ]
    }

    fn table(&mut self, name: &str) -> Option<&mut Table> {
        Some(match name {
            "activities" => &mut self.activities,
            "alert_rules" => &mut self.alert_rules,
            "attachments" => &mut self.attachments,
            "autofix_runs" => &mut self.autofix_runs,
            "check_ins" => &mut self.check_ins,
            "code_mappings" => &mut self.code_mappings,
            "dashboards" => &mut self.dashboards,
            "deploys" => &mut self.deploys,
            "detector_workflows" => &mut self.detector_workflows,
            "detectors" => &mut self.detectors,
            "docs" => &mut self.docs,
            "environments" => &mut self.environments,
            "events" => &mut self.events,
            "issues" => &mut self.issues,
            "keys" => &mut self.keys,
            "last_deploys" => &mut self.last_deploys,
            "logs" => &mut self.logs,
            "members" => &mut self.members,
            "monitors" => &mut self.monitors,
            "onboarding" => &mut self.onboarding,
            "organizations" => &mut self.organizations,
            "projects" => &mut self.projects,
            "release_projects" => &mut self.release_projects,
            "releases" => &mut self.releases,
            "replays" => &mut self.replays,
            "repositories" => &mut self.repositories,
            "snapshots" => &mut self.snapshots,
            "spans" => &mut self.spans,
            "teams" => &mut self.teams,
            "uptime_checks" => &mut self.uptime_checks,
            "uptime_monitors" => &mut self.uptime_monitors,
            "workflows" => &mut self.workflows,
            _ => return None,
        })
    }
}

impl Fixture for Sentry {
    type State = State;

    const BASE: &'static str = "/api/0";
    const NOT_FOUND: &'static str = NOT_FOUND;

    fn default_token(seed: u64) -> String {
        format!("sntry-mock-{}", Random::new(seed, "sentry token").hex(24))
    }

    fn state(seed: u64, extra: Extra) -> State {
        let mut state = State {
            ids: Ids::new(seed),
            activities: Table::default(),
            alert_rules: Table::default(),
            attachments: Table::default(),
            autofix_runs: Table::default(),
            check_ins: Table::default(),
            code_mappings: Table::default(),
            dashboards: Table::default(),
            deploys: Table::default(),
            detector_workflows: Table::default(),
            detectors: Table::default(),
            docs: Table::default(),
            environments: Table::default(),
            events: Table::default(),
            issues: Table::default(),
            keys: Table::default(),
            last_deploys: Table::default(),
            logs: Table::default(),
            members: Table::default(),
            monitors: Table::default(),
            onboarding: Table::default(),
            organizations: Table::default(),
            projects: Table::default(),
            release_projects: Table::default(),
            releases: Table::default(),
            replays: Table::default(),
            repositories: Table::default(),
            snapshots: Table::default(),
            spans: Table::default(),
            teams: Table::default(),
            uptime_checks: Table::default(),
            uptime_monitors: Table::default(),
            workflows: Table::default(),
        };
        organizations::seed(&mut state);
        teams::seed(&mut state);
        projects::seed(&mut state);
        members::seed(&mut state);
        detectors::seed(&mut state);
        repositories::seed(&mut state, Random::new(seed, "repositories"));
        dashboards::seed(&mut state);
        keys::seed(&mut state);
        workflows::seed(&mut state);
        alert_rules::seed(&mut state);
        monitors::seed(&mut state);
        check_ins::seed(&mut state);
        uptime::seed(&mut state);
        releases::seed(&mut state);
        attachments::seed(&mut state, Random::new(seed, "attachments"));
        snapshots::seed(&mut state);
        issues::seed(&mut state);
        traces::seed(&mut state);
        replays::seed(&mut state);
        issue_fixtures::seed(&mut state, Random::new(seed, "issues"));
        docs::seed(&mut state, Random::new(seed, "docs"));
        extra::seed(&mut state, seed, extra);
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
            project_writes::routes(),
            keys::routes(),
            workflows::routes(),
            alert_rules::routes(),
            monitors::routes(),
            check_ins::routes(),
            uptime::routes(),
            releases::routes(),
            deploys::routes(),
            onboarding::routes(),
            attachments::routes(),
            snapshots::routes(),
            issues::routes(),
            activities::routes(),
            issue_events::routes(),
            traces::routes(),
            event_search::routes(),
            ai_conversations::routes(),
            replays::routes(),
            profiles::routes(),
            issue_fixtures::routes(),
            autofix::routes(),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn beside(state: &State, request: &Request) -> Option<Reply> {
        docs::answer(state, request)
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
