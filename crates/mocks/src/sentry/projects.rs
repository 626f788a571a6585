//! Projects and their environments, as they are read.

use serde_json::{Value, json};

use super::organizations::{self, avatar};
use super::{State, matches_query, organization, page, project, teams};
use crate::http::{Answer, Call, Reply};
use crate::route::{Route, get};
use crate::table::{Columns as _, Row, row};

pub(super) fn routes() -> Vec<Route<State>> {
    vec![
        get("/organizations/{organization_id_or_slug}/projects/", list),
        get("/projects/{organization_id_or_slug}/{project_id_or_slug}/", retrieve),
        get("/projects/{organization_id_or_slug}/{project_id_or_slug}/environments/", environments),
    ]
}

pub(super) fn seed(state: &mut State) {
    let projects = [
        ("quay-web", "javascript-react", "web-crew"),
        ("quay-api", "python-django", "api-crew"),
        ("tide-worker", "rust", "dock-oncall"),
        ("lamp-mobile", "react-native", "lamp-keepers"),
    ];
    for (slug, platform, team) in projects {
        add(state, slug, platform, team);
    }
}

/// Gives the new project's id.
pub(super) fn add(state: &mut State, slug: &str, platform: &str, team: &str) -> String {
    let id = state.ids.number("project", 4_509_871_100_000_000).to_string();
    let team = state.teams.find("slug", team).map(|team| team.value("id"));
    let columns = json!({
        "id": id,
        "slug": slug,
        "name": slug,
        "platform": platform,
        "date_created": "2025-01-09T10:10:00Z",
        "teams": team.into_iter().collect::<Vec<_>>(),
        "environments": ["production", "staging"],
        "latest_release": null,
    });
    state.projects.insert(&id, row(columns));
    id
}

fn list(state: &State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let query = call.query("query").unwrap_or_default();
    let mut projects: Vec<&Row> =
        state.projects.rows().filter(|project| matches_query(project, &query)).collect();
    projects.sort_by_key(|project| project.text("slug"));
    page::answer(call, &projects, |project| view(state, project))
}

fn retrieve(state: &State, call: &Call<'_>) -> Answer {
    let project = project(state, call)?;
    let mut view = summary(project);
    view.extend(relations(state, project));
    view.set("options", json!({}));
    view.set("subjectPrefix", "");
    view.set("allowedDomains", json!(["*"]));
    view.set("resolveAge", 0);
    view.set("dataScrubber", true);
    view.set("organization", organizations::view(organization(state, call)?, call));
    view.set("defaultEnvironment", "production");
    Ok(Reply::json(200, &view))
}

fn environments(state: &State, call: &Call<'_>) -> Answer {
    let project = project(state, call)?;
    let own = state
        .environments
        .rows()
        .filter(|environment| project.list("environments").contains(&environment.value("name")));
    let views = own.map(|environment| {
        let mut view = environment.clone();
        view.set("isHidden", false);
        view
    });
    Ok(Reply::json(200, &views.collect::<Vec<_>>()))
}

/// A project as a list shows it.
pub(super) fn view(state: &State, project: &Row) -> Value {
    let mut view = summary(project);
    view.extend(relations(state, project));
    view.set("environments", project.value("environments"));
    view.set("hasUserReports", false);
    Value::Object(view)
}

/// What every view of a project has.
pub(super) fn summary(project: &Row) -> Row {
    let mut view = project.only(&["id", "slug", "name", "platform"]);
    view.set("dateCreated", project.text("date_created"));
    view.set("isBookmarked", false);
    view.set("isMember", true);
    view.set("features", json!(["alert-filters", "releases"]));
    view.set("firstEvent", "2025-01-10T08:00:00Z");
    view.set("firstTransactionEvent", true);
    view.set("access", json!(["event:read", "org:read", "project:read", "team:read"]));
    view.set("hasAccess", true);
    for flag in HAS_NOT {
        view.set(flag, false);
    }
    for flag in ["hasMonitors", "hasReplays", "hasSessions", "hasLogs"] {
        view.set(flag, true);
    }
    view.set("isInternal", false);
    view.set("isPublic", false);
    view.set("avatar", avatar());
    view.set("color", "#3f70bf");
    view.set("status", "active");
    view
}

const HAS_NOT: [&str; 16] = [
    "hasFeedbacks",
    "hasFlags",
    "hasMinifiedStackTrace",
    "hasNewFeedbacks",
    "hasProfiles",
    "hasInsightsHttp",
    "hasInsightsDb",
    "hasInsightsAssets",
    "hasInsightsAppStart",
    "hasInsightsScreenLoad",
    "hasInsightsVitals",
    "hasInsightsCaches",
    "hasInsightsQueues",
    "hasInsightsAgentMonitoring",
    "hasInsightsMCP",
    "hasTraceMetrics",
];

fn relations(state: &State, project: &Row) -> Row {
    let teams: Vec<Row> =
        teams::of_project(state, project).map(|team| team.only(&["id", "slug", "name"])).collect();
    let release = project.get("latest_release").filter(|release| release.is_string());
    row(json!({
        "team": teams.first(),
        "teams": teams,
        "platforms": [project.text("platform")],
        "latestRelease": release.map(|version| json!({ "version": version })),
    }))
}
