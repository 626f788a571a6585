//! Members of the organization; read only.

use serde_json::{Value, json};

use super::organizations::avatar;
use super::{State, organization, page};
use crate::http::{Answer, Call};
use crate::route::{Route, get};
use crate::table::{Columns as _, Row, row};

pub(super) fn routes() -> Vec<Route<State>> {
    vec![get("/organizations/{organization_id_or_slug}/members/", list)]
}

/// The last one was invited and has not come yet.
pub(super) fn seed(state: &mut State) {
    let members = [
        ("Eval Runner", "eval", "owner", "web-crew"),
        ("Ada Wren", "ada.wren", "manager", "web-crew"),
        ("Bela Okafor", "bela.okafor", "member", "api-crew"),
        ("Kofi Brandt", "kofi.brandt", "member", "dock-oncall"),
        ("Hana Duarte", "hana.duarte", "member", "dock-oncall"),
        ("Tove Jansen", "tove.jansen", "member", "lamp-keepers"),
        ("Nils Aker", "nils.aker", "member", "lamp-keepers"),
    ];
    for (name, username, role, team) in members {
        let id = state.ids.number("member", 57_000);
        let team = state.teams.find("slug", team).map(|team| team.value("id"));
        let user = match username {
            "nils.aker" => Value::Null,
            "eval" => "7001".into(),
            _ => state.ids.number("user", 7_100).to_string().into(),
        };
        let columns = json!({
            "id": id.to_string(),
            "user_id": user,
            "name": name,
            "username": username,
            "email": format!("{username}@harbor-lantern.test"),
            "role": role,
            "teams": team.into_iter().collect::<Vec<_>>(),
            "date_created": "2025-01-09T10:20:00Z",
        });
        state.members.insert(id, row(columns));
    }
}

fn list(state: &State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let mut members: Vec<&Row> = state.members.rows().collect();
    members.sort_by_key(|member| member.text("email"));
    page::answer(call, &members, view)
}

/// The user the token belongs to.
pub(super) fn runner() -> Value {
    json!({ "id": "7001", "name": "Eval Runner", "email": "eval@harbor-lantern.test" })
}

/// A user as other objects embed their author.
pub(super) fn user(id: &str, name: &str, username: &str) -> Value {
    json!({
        "id": id,
        "name": name,
        "username": username,
        "email": format!("{username}@harbor-lantern.test"),
        "avatarUrl": "",
        "isActive": true,
        "isSuspended": false,
        "hasPasswordAuth": false,
        "isManaged": false,
        "dateJoined": "2025-01-09T10:00:00Z",
        "lastLogin": null,
        "has2fa": true,
        "lastActive": null,
        "isSuperuser": false,
        "isStaff": false,
        "experiments": {},
        "emails": [],
    })
}

fn view(member: &Row) -> Value {
    let pending = member.value("user_id").is_null();
    let account = (!pending).then(|| {
        let mut account =
            user(member.text("user_id"), member.text("name"), member.text("username"));
        account["avatar"] = avatar();
        account
    });
    json!({
        "id": member.text("id"),
        "email": member.text("email"),
        "name": member.text("name"),
        "user": account,
        "orgRole": member.text("role"),
        "pending": pending,
        "expired": false,
        "flags": {
            "idp:provisioned": false,
            "idp:role-restricted": false,
            "sso:linked": false,
            "sso:invalid": false,
            "member-limit:restricted": false,
            "partnership:restricted": false,
        },
        "dateCreated": member.text("date_created"),
        "inviteStatus": "approved",
        "inviterName": null,
    })
}
