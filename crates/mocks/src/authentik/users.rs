//! `/core/users/`: accounts. Membership in groups is stored here.

use serde_json::{Value, json};

use super::list::{Filter, List, holds_any};
use super::{State, found, groups};
use crate::fields::{Field, Form, Mode, key};
use crate::http::{Answer, Call, Reply};
use crate::route::{Route, delete, get, patch, post, put};
use crate::seed::Random;
use crate::table::{Columns as _, Row, row};
use crate::time::Timestamp;

const MODEL: &str = "User";
const TYPES: &[&str] = &["internal", "external", "service_account", "internal_service_account"];
const DAY: i64 = 86_400;

pub(super) fn routes() -> Vec<Route<State>> {
    vec![
        get("/core/users/me/", me),
        get("/core/users/", list),
        post("/core/users/", create),
        get("/core/users/{id}/", retrieve),
        put("/core/users/{id}/", save),
        patch("/core/users/{id}/", save),
        delete("/core/users/{id}/", destroy),
    ]
}

fn fields() -> Vec<Field> {
    vec![
        Field::short_text("username", 150).required(),
        Field::blank_text("name").required(),
        Field::flag("is_active").or(true),
        Field::time("last_login").nullable(),
        Field::keys("groups", Field::uuid("")),
        Field::keys("roles", Field::uuid("")),
        Field::email("email").or(""),
        Field::object("attributes"),
        Field::text("path").or("users"),
        Field::choice("type", TYPES).or("internal"),
    ]
}

const PEOPLE: [(&str, &str, &[&str]); 28] = [
    ("Ada Wren", "engineering", &[]),
    ("Bela Okafor", "engineering", &["administrators"]),
    ("Caio Lindqvist", "engineering", &[]),
    ("Dilnoza Hart", "engineering", &["on-call"]),
    ("Emeka Sato", "engineering", &["on-call"]),
    ("Freya Mbeki", "engineering", &[]),
    ("Goran Pell", "engineering", &[]),
    ("Hana Duarte", "engineering", &["on-call"]),
    ("Imre Castell", "support", &[]),
    ("Jonna Achterberg", "support", &[]),
    ("Kofi Brandt", "support", &["on-call"]),
    ("Leila Novak", "support", &[]),
    ("Mateus Ferro", "support", &[]),
    ("Nadia Quist", "support", &[]),
    ("Oren Tabor", "finance", &[]),
    ("Pilar Engström", "finance", &[]),
    ("Qadir Noor", "finance", &[]),
    ("Rosa Valk", "finance", &["administrators"]),
    ("Sami Ortega", "partners", &[]),
    ("Tove Jansen", "partners", &[]),
    ("Ulla Brandt", "partners", &[]),
    ("Viktor Hale", "partners", &[]),
    ("Wanda Soto", "contractors", &[]),
    ("Xavi Moreau", "contractors", &[]),
    ("Yara Lund", "contractors", &[]),
    ("Zeno Pryce", "contractors", &[]),
    ("Ada Wrenfield", "contractors", &[]),
    ("Bo Teller", "contractors", &[]),
];

pub(super) fn seed(state: &mut State, mut random: Random) {
    add(state, &mut random, "akadmin", "authentik Default Admin", &["administrators"]);
    for (name, team, others) in PEOPLE {
        let username = name.to_lowercase().replace(' ', ".").replace('ö', "o");
        let mut names = vec![team];
        names.extend(others);
        let pk = add(state, &mut random, &username, name, &names);
        let Some(user) = state.users.get_mut(&pk) else { continue };
        if team == "partners" {
            user.set("type", "external");
            user.set("path", "users/partners");
        }
        // Closed accounts that still are in their groups.
        if matches!(name, "Zeno Pryce" | "Ada Wrenfield" | "Bo Teller" | "Leila Novak") {
            user.set("is_active", false);
        }
        if name == "Viktor Hale" {
            user.set("last_login", Value::Null);
        }
    }
    let outpost = add(state, &mut random, "ak-outpost-ldap", "Outpost ldap service account", &[]);
    if let Some(user) = state.users.get_mut(&outpost) {
        user.set("email", "");
        user.set("type", "internal_service_account");
        user.set("path", "goauthentik.io/outposts");
    }
}

fn add(
    state: &mut State,
    random: &mut Random,
    username: &str,
    name: &str,
    groups: &[&str],
) -> String {
    let days = |random: &mut Random, limit: u64| -i64::try_from(random.below(limit)).unwrap_or(0);
    let joined = Timestamp::START.plus_seconds((days(random, 700) - 120) * DAY);
    let login = Timestamp::START.plus_seconds(days(random, 110) * DAY - 3_671);
    let keys: Vec<Value> = groups
        .iter()
        .filter_map(|name| state.groups.find("name", name))
        .map(|group| group.value("pk"))
        .collect();
    let columns = json!({
        "username": username,
        "name": name,
        "is_active": true,
        "last_login": login.to_string(),
        "groups": keys,
        "roles": [],
        "email": format!("{username}@harbor-lantern.test"),
        "attributes": {},
        "path": "users",
        "type": "internal",
    });
    insert(state, row(columns), joined).value("pk").to_string()
}

const LIST: List = List {
    ordering: "username",
    search: &["username", "name", "email", "uuid"],
    filters: &[
        Filter::Text("username"),
        Filter::Text("name"),
        Filter::Text("email"),
        Filter::Text("path"),
        Filter::Flag("is_active"),
        Filter::Uuid("uuid"),
        Filter::Range("date_joined"),
        Filter::Range("last_login"),
        Filter::Null("last_login"),
        Filter::Range("last_updated"),
    ],
};

fn list(state: &State, call: &Call<'_>) -> Answer {
    let superuser = call.flag("is_superuser");
    let types = call.queries("type");
    let start = call.query("path_startswith").unwrap_or_default();
    let mut wanted = call.queries("groups_by_pk");
    let names = call.queries("groups_by_name");
    let named = names.iter().filter_map(|name| state.groups.find("name", name));
    wanted.extend(named.map(|group| group.text("pk").to_owned()));
    if wanted.is_empty() {
        // A name that no group bears keeps nobody, which is not the same as no filter.
        wanted.extend(names);
    }
    let users = state.users.rows().filter(|user| {
        superuser.is_none_or(|wanted| is_superuser(state, user) == wanted)
            && (types.is_empty() || types.iter().any(|wanted| user.text("type") == wanted))
            && user.text("path").starts_with(&start)
            && holds_any(user, "groups", &wanted)
    });
    let with_groups = call.flag("include_groups").unwrap_or(true);
    LIST.answer(call, users, |user| view(state, user, with_groups))
}

fn retrieve(state: &State, call: &Call<'_>) -> Answer {
    Ok(Reply::json(200, &view(state, found(&state.users, call.value(0), MODEL)?, true)))
}

/// The token belongs to the built-in administrator.
fn me(state: &State, _: &Call<'_>) -> Answer {
    let Some(user) = state.users.find("username", "akadmin") else {
        return Err(Reply::detail(404, "No User matches the given query."));
    };
    let groups: Vec<Row> =
        groups_of(state, user).map(|group| group.only(&["name", "pk"])).collect();
    let mut own = user.only(&["pk", "username", "name", "is_active"]);
    own.set("is_superuser", is_superuser(state, user));
    own.set("is_current", true);
    own.set("groups", json!(groups));
    own.set("roles", json!([]));
    own.extend(user.only(&["email", "avatar", "uid"]));
    own.set("settings", json!({}));
    own.extend(user.only(&["type"]));
    own.set("system_permissions", json!([]));
    Ok(Reply::json(200, &json!({ "user": own, "users": [own] })))
}

fn create(state: &mut State, call: &Call<'_>) -> Answer {
    let mut form = Form::read(&fields(), &call.body()?, Mode::Whole);
    check(state, &mut form, None);
    let user = insert(state, form.finish()?, call.now);
    Ok(Reply::json(201, &view(state, &user, true)))
}

/// PUT and PATCH.
fn save(state: &mut State, call: &Call<'_>) -> Answer {
    let mut user = found(&state.users, call.value(0), MODEL)?.clone();
    let mut form = Form::read(&fields(), &call.body()?, Mode::of(call, &user));
    check(state, &mut form, user.get("pk"));
    user.extend(form.finish()?);
    user.set("last_updated", call.now.to_string());
    state.users.insert(user.value("pk"), user.clone());
    Ok(Reply::json(200, &view(state, &user, true)))
}

fn destroy(state: &mut State, call: &Call<'_>) -> Answer {
    found(&state.users, call.value(0), MODEL)?;
    state.users.remove(call.value(0));
    Ok(Reply::empty(204))
}

fn check(state: &State, form: &mut Form, own: Option<&Value>) {
    let username = form.row.text("username").to_owned();
    let taken = |user: &Row| user.text("username") == username && user.get("pk") != own;
    if !username.is_empty() && state.users.rows().any(taken) {
        form.reject("username", "This field must be unique.");
    }
    form.check_keys("groups", |key| state.groups.get(key).is_some());
    // The mock has no roles to give.
    form.check_keys("roles", |_| false);
}

fn insert(state: &mut State, columns: Row, joined: Timestamp) -> Row {
    let pk = state.ids.number("user", 0);
    let uuid = state.ids.uuid("user");
    let mut user = row(json!({ "pk": pk, "uuid": uuid }));
    user.extend(columns);
    user.set("uid", Random::new(pk, &uuid).hex(64));
    user.set("avatar", "/static/dist/assets/images/user_default.png");
    user.set("date_joined", joined.to_string());
    user.set("password_change_date", joined.to_string());
    user.set("last_updated", joined.to_string());
    state.users.insert(pk, user.clone());
    user
}

fn groups_of<'s>(state: &'s State, user: &'s Row) -> impl Iterator<Item = &'s Row> {
    user.list("groups").iter().filter_map(|group| state.groups.get(&key(group)?))
}

fn is_superuser(state: &State, user: &Row) -> bool {
    groups_of(state, user).any(|group| group.truth("is_superuser"))
}

/// What a group shows of a member.
pub(super) fn partial(user: &Row) -> Row {
    user.only(&["pk", "username", "name", "is_active", "last_login", "email", "attributes", "uid"])
}

fn view(state: &State, user: &Row, with_groups: bool) -> Value {
    let groups: Vec<Row> = groups_of(state, user).map(groups::partial).collect();
    let mut view = user.clone();
    view.set("is_superuser", is_superuser(state, user));
    view.set("groups_obj", if with_groups { json!(groups) } else { Value::Null });
    view.set("roles_obj", json!([]));
    Value::Object(view)
}
