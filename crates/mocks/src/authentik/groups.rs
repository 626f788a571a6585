//! `/core/groups/`: groups; their members are a column of the users.

use serde_json::{Value, json};

use super::list::{Filter, List};
use super::{State, found, users};
use crate::fields::{Field, Form, Mode, key};
use crate::http::{Answer, Call, Reply};
use crate::route::{Route, delete, get, patch, post, put};
use crate::table::{Columns as _, Row, row};

const MODEL: &str = "Group";

pub(super) fn routes() -> Vec<Route<State>> {
    vec![
        get("/core/groups/", list),
        post("/core/groups/", create),
        get("/core/groups/{group_uuid}/", retrieve),
        put("/core/groups/{group_uuid}/", save),
        patch("/core/groups/{group_uuid}/", save),
        delete("/core/groups/{group_uuid}/", destroy),
        post("/core/groups/{group_uuid}/add_user/", add_user),
        post("/core/groups/{group_uuid}/remove_user/", remove_user),
    ]
}

fn fields() -> Vec<Field> {
    vec![
        Field::text("name").required(),
        Field::flag("is_superuser").or(false),
        Field::keys("parents", Field::uuid("")),
        Field::keys("users", Field::integer("")),
        Field::object("attributes"),
        Field::keys("roles", Field::uuid("")),
    ]
}

pub(super) fn seed(state: &mut State) {
    let names = [
        "administrators",
        "contractors",
        "engineering",
        "finance",
        "on-call",
        "partners",
        "support",
    ];
    for name in names {
        let columns = json!({
            "name": name,
            "is_superuser": name == "administrators",
            "parents": [],
            "attributes": {},
            "roles": [],
        });
        insert(state, row(columns));
    }
}

const LIST: List = List {
    ordering: "name",
    search: &["name", "is_superuser"],
    filters: &[Filter::Text("name"), Filter::Flag("is_superuser")],
};

fn list(state: &State, call: &Call<'_>) -> Answer {
    let by_pk = call.queries("members_by_pk");
    let by_name = call.queries("members_by_username");
    let groups = state.groups.rows().filter(|group| {
        let has = |column: &str, wanted: &[String]| {
            let named =
                |user: &Row| key(&user.value(column)).is_some_and(|key| wanted.contains(&key));
            wanted.is_empty() || members(state, group).any(named)
        };
        has("pk", &by_pk) && has("username", &by_name)
    });
    LIST.answer(call, groups, |group| view(state, group, call))
}

fn retrieve(state: &State, call: &Call<'_>) -> Answer {
    Ok(Reply::json(200, &view(state, found(&state.groups, call.value(0), MODEL)?, call)))
}

fn create(state: &mut State, call: &Call<'_>) -> Answer {
    let mut form = Form::read(&fields(), &call.body()?, Mode::Whole);
    check(state, &mut form, "");
    let mut columns = form.finish()?;
    let users = columns.remove("users");
    let group = insert(state, columns);
    set_members(state, group.text("pk"), users.as_ref());
    Ok(Reply::json(201, &view(state, &group, call)))
}

/// PUT and PATCH.
fn save(state: &mut State, call: &Call<'_>) -> Answer {
    let mut group = found(&state.groups, call.value(0), MODEL)?.clone();
    let pk = group.text("pk").to_owned();
    let members: Vec<Value> = members(state, &group).map(|user| user.value("pk")).collect();
    let mut stored = group.clone();
    stored.set("users", members);
    let mut form = Form::read(&fields(), &call.body()?, Mode::of(call, &stored));
    check(state, &mut form, &pk);
    let mut columns = form.finish()?;
    let users = columns.remove("users");
    group.extend(columns);
    state.groups.insert(&pk, group.clone());
    set_members(state, &pk, users.as_ref());
    Ok(Reply::json(200, &view(state, &group, call)))
}

fn destroy(state: &mut State, call: &Call<'_>) -> Answer {
    let pk = found(&state.groups, call.value(0), MODEL)?.text("pk").to_owned();
    set_members(state, &pk, None);
    state.groups.remove(&pk);
    Ok(Reply::empty(204))
}

fn add_user(state: &mut State, call: &Call<'_>) -> Answer {
    set_member(state, call, true)
}

fn remove_user(state: &mut State, call: &Call<'_>) -> Answer {
    set_member(state, call, false)
}

fn set_member(state: &mut State, call: &Call<'_>, member: bool) -> Answer {
    let group = found(&state.groups, call.value(0), MODEL)?.value("pk");
    let form = Form::read(&[Field::integer("pk").required()], &call.body()?, Mode::Whole);
    let user = form.finish()?.value("pk").to_string();
    let Some(user) = state.users.get_mut(&user) else {
        return Err(Reply::detail(404, "No User matches the given query."));
    };
    join(user, &group, member);
    Ok(Reply::empty(204))
}

fn set_members(state: &mut State, group: &str, users: Option<&Value>) {
    let wanted = users.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for user in state.users.rows_mut() {
        let member = user.get("pk").is_some_and(|pk| wanted.contains(pk));
        join(user, &group.into(), member);
    }
}

fn join(user: &mut Row, group: &Value, member: bool) {
    let mut groups = user.list("groups").to_vec();
    if groups.contains(group) == member {
        return;
    }
    groups.retain(|other| other != group);
    if member {
        groups.push(group.clone());
    }
    user.set("groups", groups);
}

fn check(state: &State, form: &mut Form, own: &str) {
    let name = form.row.text("name").to_owned();
    let taken = |group: &Row| group.text("name") == name && group.text("pk") != own;
    if !name.is_empty() && state.groups.rows().any(taken) {
        form.reject("name", "This field must be unique.");
    }
    form.check_keys("users", |key| state.users.get(key).is_some());
    form.check_keys("parents", |key| key != own && state.groups.get(key).is_some());
    // The mock has no roles to give.
    form.check_keys("roles", |_| false);
}

fn insert(state: &mut State, columns: Row) -> Row {
    let pk = state.ids.uuid("group");
    let number = state.ids.number("group", 20_000);
    let mut group = row(json!({ "pk": pk, "num_pk": number }));
    group.extend(columns);
    state.groups.insert(&pk, group.clone());
    group
}

fn members<'s>(state: &'s State, group: &Row) -> impl Iterator<Item = &'s Row> {
    let pk = group.value("pk");
    state.users.rows().filter(move |user| user.list("groups").contains(&pk))
}

/// What a user shows of a group.
pub(super) fn partial(group: &Row) -> Row {
    group.only(&["pk", "num_pk", "name", "is_superuser", "attributes"])
}

fn view(state: &State, group: &Row, call: &Call<'_>) -> Value {
    let related = |group: &Row| {
        let mut view = group.only(&["pk", "name", "is_superuser", "attributes"]);
        view.set("group_uuid", group.value("pk"));
        view
    };
    let pk = group.value("pk");
    let children: Vec<&Row> =
        state.groups.rows().filter(|other| other.list("parents").contains(&pk)).collect();
    let parents: Vec<&Row> = group
        .list("parents")
        .iter()
        .filter_map(|parent| state.groups.get(parent.as_str()?))
        .collect();
    let show = |flag: &str, default: bool, rows: Vec<Row>| {
        if call.flag(flag).unwrap_or(default) { json!(rows) } else { Value::Null }
    };
    let users: Vec<Value> = members(state, group).map(|user| user.value("pk")).collect();
    let mut view = group.clone();
    view.set("users", users);
    let members = members(state, group).map(users::partial).collect();
    view.set("users_obj", show("include_users", true, members));
    let parents = parents.into_iter().map(related).collect();
    view.set("parents_obj", show("include_parents", false, parents));
    view.set("roles_obj", json!([]));
    view.set("inherited_roles_obj", Value::Null);
    view.set("children", children.iter().map(|child| child.value("pk")).collect::<Vec<_>>());
    let children = children.into_iter().map(related).collect();
    view.set("children_obj", show("include_children", false, children));
    Value::Object(view)
}
