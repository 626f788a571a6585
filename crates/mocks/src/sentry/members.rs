//! Members of the organization, their roles, and invitations.

use std::ops::Range;

use serde_json::{Value, json};

use super::organizations::avatar;
use super::{State, not_found, organization, page};
use crate::fields::{Field, Form, Mode};
use crate::http::{Answer, Call, Reply};
use crate::route::{Route, delete, get, post, put};
use crate::seed::Random;
use crate::table::{Columns as _, Row, row};

const LIST: &str = "/organizations/{organization_id_or_slug}/members/";
const ONE: &str = "/organizations/{organization_id_or_slug}/members/{member_id}/";
/// The user the token belongs to.
const RUNNER: &str = "7001";
const MAX_EMAIL: usize = 75;
const ROLES: &[&str] = &["billing", "member", "admin", "manager", "owner"];
/// Members may still have it; nobody gets it.
const RETIRED: &str = "admin";
/// From what everybody may do to what owners alone may: a role has a stretch of it.
const SCOPES: &[&str] = &[
    "event:read",
    "event:write",
    "org:read",
    "project:read",
    "project:releases",
    "team:read",
    "member:read",
    "alerts:read",
    "alerts:write",
    "event:admin",
    "team:write",
    "team:admin",
    "project:write",
    "project:admin",
    "org:integrations",
    "org:write",
    "member:write",
    "member:admin",
    "org:admin",
    "org:billing",
];

pub(super) fn routes() -> Vec<Route<State>> {
    vec![
        get(LIST, list),
        post(LIST, create),
        get(ONE, retrieve),
        put(ONE, update),
        delete(ONE, destroy),
    ]
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
            "eval" => RUNNER.into(),
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
    page::answer(call, &members, |member| view(state, member))
}

fn retrieve(state: &State, call: &Call<'_>) -> Answer {
    Ok(Reply::json(200, &detailed(state, &find(state, call)?)))
}

/// An invitation, which nobody gets by mail here. It has teams, but no roles in them yet.
fn create(state: &mut State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let (mut form, teams) = read(state, &call.body()?, Mode::Whole);
    for field in ["orgRole", "role"] {
        if form.row.text(field) == RETIRED {
            form.reject(field, &retired());
        }
    }
    let sent = form.finish()?;
    let role = assigned(&sent).unwrap_or("member");
    if role == "billing" && !teams.is_empty() {
        return Err(Reply::json(400, &json!({ "email": teamless(role) })));
    }
    let id = state.ids.number("member", 57_000);
    let member = row(json!({
        "id": id.to_string(),
        "user_id": null,
        "name": sent.text("email"),
        "username": null,
        "email": sent.text("email"),
        "role": role,
        "teams": teams.keys().collect::<Vec<_>>(),
        "date_created": call.now.to_string(),
        "inviter_id": RUNNER,
    }));
    state.members.insert(id, member.clone());
    Ok(Reply::json(201, &view(state, &member)))
}

/// A body without `teamRoles` takes a member out of all teams, in the real one too.
fn update(state: &mut State, call: &Call<'_>) -> Answer {
    let mut member = find(state, call)?;
    let (form, teams) = read(state, &call.body()?, Mode::Sent);
    let sent = form.finish()?;
    if sent.truth("reinvite") {
        if sent.len() > 1 {
            let text = "You cannot modify member details when resending an invitation. Separate \
                        requests are required.";
            return Err(Reply::detail(403, text));
        }
        if !is_pending(&member) {
            let text = "You cannot send an invitation to a user who is already a full member.";
            return Err(Reply::detail(400, text));
        }
        return Ok(Reply::json(200, &detailed(state, &member)));
    }
    let role = assigned(&sent).unwrap_or_else(|| member.text("role")).to_owned();
    let had_some = !sent.contains_key("teamRoles") && !member.list("teams").is_empty();
    if role == "billing" && (had_some || !teams.is_empty()) {
        return Err(Reply::detail(400, &teamless(&role)));
    }
    if role != member.text("role") {
        if member.text("user_id") == RUNNER {
            return Err(Reply::detail(400, "You cannot make changes to your own role."));
        }
        if role == RETIRED {
            return Err(Reply::detail(400, &retired()));
        }
    }
    member.set("role", role);
    member.set("teams", teams.keys().cloned().collect::<Vec<_>>());
    member.set("team_roles", teams);
    state.members.insert(member.text("id"), member.clone());
    Ok(Reply::json(200, &detailed(state, &member)))
}

/// Invitations that were not accepted go with the member who sent them.
fn destroy(state: &mut State, call: &Call<'_>) -> Answer {
    let member = find(state, call)?;
    if is_only_owner(state, &member) {
        let text = "You cannot remove the only remaining owner of the organization.";
        return Err(Reply::detail(403, text));
    }
    state.members.remove(member.text("id"));
    if !is_pending(&member) {
        let user = member.value("user_id");
        state.members.retain(|it| !is_pending(it) || it.get("inviter_id") != Some(&user));
    }
    Ok(Reply::empty(204))
}

fn find(state: &State, call: &Call<'_>) -> Result<Row, Reply> {
    organization(state, call)?;
    let found = match call.value(1) {
        "me" => state.members.find("user_id", RUNNER),
        id => state.members.get(id),
    };
    found.cloned().ok_or_else(not_found)
}

/// What a body says, and the teams it names by id, each with the role in it or null.
fn read(state: &State, body: &Row, mode: Mode<'_>) -> (Form, Row) {
    let fields = [
        Field::email("email").required(),
        Field::choice("orgRole", ROLES),
        Field::choice("role", ROLES),
        Field::list("teamRoles", Field::object("")).nullable(),
        Field::flag("sendInvite"),
        Field::flag("reinvite"),
    ];
    let mut form = Form::read(&fields, body, mode);
    if form.row.contains_key("email") {
        check_email(state, &mut form);
    }
    let named = form.row.list("teamRoles").to_vec();
    let teams: Row = named
        .iter()
        .filter_map(|it| {
            let team = state.teams.find("slug", it["teamSlug"].as_str()?)?;
            Some((team.text("id").to_owned(), it["role"].clone()))
        })
        .collect();
    let is_role = |it: &Value| {
        it["role"].is_null() || matches!(it["role"].as_str(), Some("contributor" | "admin"))
    };
    if !named.iter().all(is_role) {
        form.reject("teamRoles", "Invalid team-role");
    } else if teams.len() != named.len() {
        form.reject("teamRoles", "Invalid teams");
    }
    (form, teams)
}

fn check_email(state: &State, form: &mut Form) {
    let email = form.row.text("email").to_owned();
    let known = state.members.rows().find(|it| it.text("email").eq_ignore_ascii_case(&email));
    let refusal = match known {
        _ if email.is_empty() => "This field may not be blank.".to_owned(),
        _ if email.chars().count() > MAX_EMAIL => {
            format!("Ensure this field has no more than {MAX_EMAIL} characters.")
        }
        Some(member) if is_pending(member) => format!("The user {email} has already been invited"),
        Some(_) => format!("The user {email} is already a member"),
        None => return,
    };
    form.reject("email", &refusal);
}

/// The role in the organization that a body asks for; `role` is the older name.
fn assigned(sent: &Row) -> Option<&str> {
    ["orgRole", "role"].into_iter().map(|field| sent.text(field)).find(|role| !role.is_empty())
}

fn retired() -> String {
    format!("The role '{RETIRED}' is deprecated and may no longer be assigned.")
}

fn teamless(role: &str) -> String {
    format!("The user with a '{role}' role cannot have team-level permissions.")
}

fn is_pending(member: &Row) -> bool {
    member.get("user_id").is_none_or(Value::is_null)
}

/// Who was invited as an owner is none yet.
fn is_only_owner(state: &State, member: &Row) -> bool {
    let owners = state.members.rows().filter(|it| it.text("role") == "owner" && !is_pending(it));
    let others = owners.filter(|it| it.get("id") != member.get("id")).count();
    member.text("role") == "owner" && others == 0
}

/// The user the token belongs to.
pub(super) fn runner() -> Value {
    json!({ "id": RUNNER, "name": "Eval Runner", "email": "eval@harbor-lantern.test" })
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

fn view(state: &State, member: &Row) -> Value {
    let pending = is_pending(member);
    let inviter = member.get("inviter_id").and_then(Value::as_str);
    let inviter = inviter.and_then(|id| state.members.find("user_id", id));
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
        "inviterName": inviter.map(|it| it.text("name")),
    })
}

/// With the teams, and all roles there are.
fn detailed(state: &State, member: &Row) -> Value {
    let mut view = view(state, member);
    let roles = member.value("team_roles");
    let teams = member.list("teams").iter().filter_map(|id| state.teams.get(id.as_str()?));
    let (slugs, team_roles): (Vec<Value>, Vec<Value>) = teams
        .map(|team| {
            let slug = team.value("slug");
            let role = json!({ "teamSlug": slug, "role": roles[team.text("id")] });
            (slug, role)
        })
        .unzip();
    let all = org_roles();
    let own = all.iter().find(|it| it["id"] == member.text("role"));
    view["role"] = member.value("role");
    view["roleName"] = own.map_or(Value::Null, |it| it["name"].clone());
    view["teams"] = slugs.into();
    view["teamRoles"] = team_roles.into();
    view["invite_link"] = invite_link(member);
    view["isOnlyOwner"] = is_only_owner(state, member).into();
    view["orgRoleList"] = all.into();
    view["teamRoleList"] = json!(team_role_list());
    view
}

/// Null once the invitation was accepted.
fn invite_link(member: &Row) -> Value {
    if !is_pending(member) {
        return Value::Null;
    }
    let id = member.text("id");
    let token = Random::new(0, id).hex(64);
    format!("https://harbor-lantern.sentry.test/accept/{id}/{token}/").into()
}

/// The roles in the organization; an owner may give them all.
fn org_roles() -> Vec<Value> {
    let roles: [(&str, &str, Range<usize>, &str); 5] = [
        ("billing", "Billing", 19..20, "Can manage subscription and billing details."),
        (
            "member",
            "Member",
            0..10,
            "Members can view and act on events, as well as view most other data within the \
             organization.",
        ),
        (
            "admin",
            "Admin",
            0..15,
            "Admin privileges on any teams of which they're a member. They cannot invite members \
             to the organization.",
        ),
        (
            "manager",
            "Manager",
            0..18,
            "Gains admin access on all teams as well as the ability to add and remove members.",
        ),
        (
            "owner",
            "Owner",
            0..20,
            "Unrestricted access to the organization, its data, and its settings.",
        ),
    ];
    let views = roles.into_iter().map(|(id, name, scopes, description)| {
        let global = matches!(id, "manager" | "owner");
        let least = if matches!(id, "billing" | "member") { "contributor" } else { "admin" };
        json!({
            "id": id,
            "name": name,
            "desc": description,
            "scopes": SCOPES.get(scopes),
            "allowed": true,
            "isAllowed": true,
            "isRetired": id == RETIRED,
            "isTeamRolesAllowed": id != "billing",
            "is_global": global,
            "isGlobal": global,
            "minimumTeamRole": least,
        })
    });
    views.collect()
}

/// The roles in a team; the real server compares them with those of the organization, so that none
/// of them is ever allowed.
fn team_role_list() -> [Value; 2] {
    let roles: [(&str, &str, Range<usize>, &str); 2] = [
        (
            "contributor",
            "Contributor",
            0..8,
            "Contributors can view and act on events, as well as view most other data within the \
             team's projects.",
        ),
        (
            "admin",
            "Team Admin",
            0..15,
            "Admin privileges on the team. They can create and remove projects, and can manage the \
             team's memberships.",
        ),
    ];
    roles.map(|(id, name, scopes, description)| {
        json!({
            "id": id,
            "name": name,
            "desc": description,
            "scopes": SCOPES.get(scopes),
            "allowed": false,
            "isAllowed": false,
            "isRetired": false,
            "isTeamRolesAllowed": true,
            "isMinimumRoleFor": (id == "admin").then_some(id),
        })
    })
}
