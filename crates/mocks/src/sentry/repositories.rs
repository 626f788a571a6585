//! `/repos/`: 107 connected repositories and nine that are not, and which code is whose.

use serde_json::{Value, json};

use super::{State, by_id_or_slug, matches_query, organization, page};
use crate::fields::{Field, Form, Mode};
use crate::http::{Answer, Call, Reply};
use crate::route::{Route, get, post};
use crate::seed::Random;
use crate::table::{Columns as _, Row, row};

struct Provider {
    id: &'static str,
    name: &'static str,
    /// Where its repositories are on the web; nowhere when empty.
    host: &'static str,
    integration: Option<&'static str>,
}

const GITHUB: &Provider = &Provider {
    id: "integrations:github",
    name: "GitHub",
    host: "https://github.com",
    integration: Some("512"),
};
const ENTERPRISE: &Provider = &Provider {
    id: "integrations:github_enterprise",
    name: "GitHub Enterprise",
    host: "https://github.harbor-lantern.test",
    integration: Some("513"),
};
const GITLAB: &Provider = &Provider {
    id: "integrations:gitlab",
    name: "GitLab",
    host: "https://gitlab.com",
    integration: Some("514"),
};
const BITBUCKET: &Provider = &Provider {
    id: "integrations:bitbucket",
    name: "Bitbucket",
    host: "https://bitbucket.org",
    integration: Some("515"),
};
const AZURE: &Provider = &Provider {
    id: "integrations:vsts",
    name: "Azure DevOps",
    host: "https://dev.azure.com",
    integration: Some("516"),
};
const UNKNOWN: &Provider =
    &Provider { id: "unknown", name: "Unknown Provider", host: "", integration: None };

pub(super) fn routes() -> Vec<Route<State>> {
    vec![
        get("/organizations/{organization_id_or_slug}/repos/", list),
        post("/organizations/{organization_id_or_slug}/code-mappings/bulk/", map_code),
    ]
}

/// By name the last seven are on the second page of a hundred.
pub(super) fn seed(state: &mut State, mut random: Random) {
    let notable = [
        ("harbor-lantern/tide-tables", GITHUB, "active"),
        ("zephyr-freight/tide-almanac", GITHUB, "active"),
        ("zephyr-freight/tide-gate", GITHUB, "active"),
        ("zephyr-freight/tide-mill", GITHUB, "active"),
        ("zephyr-freight/tide-legacy", GITLAB, "active"),
        ("zephyr-freight/tide-internal", ENTERPRISE, "active"),
        ("zephyr-freight/Tide-notes", BITBUCKET, "active"),
        ("harbor-lantern/riptide-ui", GITHUB, "active"),
        ("zephyr-freight/wharf-ledger", GITHUB, "active"),
        ("zephyr-freight/winch-firmware", UNKNOWN, "active"),
        ("harbor-lantern/tide-archive", GITHUB, "disabled"),
    ];
    for (name, provider, status) in notable {
        add(state, &mut random, name, provider, status);
    }
    let places = [
        "anchor", "beacon", "berth", "buoy", "canal", "dock", "ferry", "harbor", "jetty", "keel",
        "mast", "pier", "quay", "reef",
    ];
    let things = ["api", "batch", "cli", "docs", "jobs", "sdk", "ui", "web"];
    let names = things.iter().flat_map(|thing| {
        places.iter().map(move |place| format!("harbor-lantern/{place}-{thing}"))
    });
    let providers = [GITHUB, GITHUB, GITHUB, GITLAB, GITHUB, AZURE, GITHUB, BITBUCKET];
    let inactive = ["disabled", "pending_deletion", "hidden"];
    for (number, name) in names.enumerate().take(97 + 8) {
        let provider = providers.get(number % providers.len()).copied().unwrap_or(UNKNOWN);
        let status = match number.checked_sub(97) {
            Some(past) => inactive.get(past % inactive.len()).copied().unwrap_or_default(),
            None => "active",
        };
        add(state, &mut random, &name, provider, status);
    }
}

fn add(state: &mut State, random: &mut Random, name: &str, provider: &Provider, status: &str) {
    let id = state.ids.number("repository", 3_000);
    let url = (!provider.host.is_empty()).then(|| format!("{}/{name}", provider.host));
    let columns = json!({
        "id": id.to_string(),
        "name": name,
        "provider": provider.id,
        "url": url,
        "status": status,
        "date_created": "2025-03-01T08:00:00Z",
        "integration_id": provider.integration,
        "external_id": (70_000_000 + random.below(9_999_999)).to_string(),
    });
    state.repositories.insert(id, row(columns));
}

/// `status` is `active` or, for everything else, `deleted`; other words find nothing.
fn list(state: &State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let query = call.query("query").unwrap_or_default();
    let status = call.query("status").unwrap_or_else(|| "active".to_owned());
    let integration = call.query("integration_id").filter(|id| !id.is_empty());
    let mut rows: Vec<&Row> = state
        .repositories
        .rows()
        .filter(|repository| {
            let active = repository.text("status") == "active";
            let status = match status.as_str() {
                "active" | "" => active,
                "deleted" => !active,
                _ => false,
            };
            status
                && matches_query(repository, &query)
                && integration.as_ref().is_none_or(|id| repository.text("integration_id") == id)
        })
        .collect();
    rows.sort_by_key(|repository| repository.text("name"));
    let settings = call.queries("expand").iter().any(|expand| expand == "settings");
    page::answer(call, &rows, |repository| view(repository, settings))
}

/// Maps parts of a repository to a project. Not in the published document.
fn map_code(state: &mut State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let fields = [
        Field::text("project").required(),
        Field::text("repository").required(),
        Field::text("provider"),
    ];
    let body = call.body()?;
    let mut form = Form::read(&fields, &body, Mode::Whole);
    let mappings = body.get("mappings").and_then(Value::as_array).filter(|it| !it.is_empty());
    if mappings.is_none() {
        form.reject("mappings", "This field is required.");
    }
    let sent = form.finish()?;
    let project = by_id_or_slug(&state.projects, sent.text("project"))?.text("id").to_owned();
    let provider = format!("integrations:{}", sent.text("provider"));
    let repository = state
        .repositories
        .rows()
        .find(|it| it.text("name") == sent.text("repository") && it.text("provider") == provider);
    let Some(repository) = repository.map(|it| it.text("id").to_owned()) else {
        return Err(Reply::detail(404, "Repository not found."));
    };
    let count = mappings.map_or(0, Vec::len);
    for mapping in mappings.into_iter().flatten() {
        let id = state.ids.number("code mapping", 4_100);
        let columns = json!({
            "id": id.to_string(),
            "project_id": project,
            "repository_id": repository,
            "stack_root": mapping["stackRoot"],
            "source_root": mapping["sourceRoot"],
        });
        state.code_mappings.insert(id, row(columns));
    }
    Ok(Reply::json(200, &json!({ "created": count, "updated": 0, "errors": 0 })))
}

fn view(repository: &Row, settings: bool) -> Value {
    let all = [GITHUB, ENTERPRISE, GITLAB, BITBUCKET, AZURE, UNKNOWN];
    let id = repository.text("provider");
    let name = all.iter().find(|provider| provider.id == id).map(|provider| provider.name);
    let mut view = json!({
        "id": repository.text("id"),
        "name": repository.text("name"),
        "url": repository.value("url"),
        "provider": { "id": id, "name": name },
        "status": repository.text("status"),
        "dateCreated": repository.text("date_created"),
        "integrationId": repository.value("integration_id"),
        "externalSlug": repository.text("name"),
        "externalId": repository.text("external_id"),
    });
    if settings {
        view["settings"] = Value::Null;
    }
    view
}
