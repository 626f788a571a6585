//! `/organizations/` and who is asking: `/auth/`, `/users/me/regions/`.

use serde_json::{Value, json};

use super::{State, matches_query, members, organization, page};
use crate::http::{Answer, Call, Reply};
use crate::route::{Route, get};
use crate::table::{Columns as _, Row, row};

pub(super) fn routes() -> Vec<Route<State>> {
    vec![
        get("/auth/", auth),
        get("/users/me/regions/", regions),
        get("/organizations/", list),
        get("/organizations/{organization_id_or_slug}/", retrieve),
        get("/organizations/{organization_id_or_slug}/environments/", environments),
    ]
}

pub(super) fn seed(state: &mut State) {
    let id = state.ids.number("organization", 4_509_870_000_000_000);
    let columns = json!({
        "id": id.to_string(),
        "slug": "harbor-lantern",
        "name": "Harbor Lantern",
        "date_created": "2025-01-09T10:00:00Z",
    });
    state.organizations.insert(id, row(columns));
    for name in ["production", "staging", "canary"] {
        let id = state.ids.number("environment", 300);
        state.environments.insert(id, row(json!({ "id": id.to_string(), "name": name })));
    }
}

fn list(state: &State, call: &Call<'_>) -> Answer {
    let query = call.query("query").unwrap_or_default();
    let rows: Vec<&Row> =
        state.organizations.rows().filter(|row| matches_query(row, &query)).collect();
    page::answer(call, &rows, |organization| view(organization, call))
}

fn retrieve(state: &State, call: &Call<'_>) -> Answer {
    Ok(Reply::json(200, &view(organization(state, call)?, call)))
}

/// Not paginated, like the real one.
fn environments(state: &State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let mut rows: Vec<&Row> = state.environments.rows().collect();
    rows.sort_by_key(|environment| environment.text("name"));
    Ok(Reply::json(200, &rows))
}

fn auth(_: &State, _: &Call<'_>) -> Answer {
    Ok(Reply::json(200, &members::runner()))
}

/// There is one region, and it is this mock.
fn regions(_: &State, call: &Call<'_>) -> Answer {
    Ok(Reply::json(200, &json!({ "regions": [{ "name": "us", "url": call.origin }] })))
}

pub(super) fn view(organization: &Row, call: &Call<'_>) -> Value {
    let slug = organization.text("slug");
    json!({
        "id": organization.text("id"),
        "slug": slug,
        "name": organization.text("name"),
        "status": { "id": "active", "name": "active" },
        "dateCreated": organization.text("date_created"),
        "isEarlyAdopter": false,
        "require2FA": false,
        "avatar": avatar(),
        "links": {
            "organizationUrl": format!("https://{slug}.sentry.test"),
            "regionUrl": call.origin,
        },
        "hasAuthProvider": false,
        "allowMemberInvite": true,
        "allowMemberProjectCreation": true,
        "allowSuperuserAccess": false,
    })
}

pub(super) fn avatar() -> Value {
    json!({ "avatarType": "letter_avatar", "avatarUuid": null, "avatarUrl": null })
}
