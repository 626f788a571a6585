//! Owners: bodies name them as `team:7` or `user:7`, answers show who that is.

use serde_json::{Value, json};

use super::State;
use crate::table::Columns as _;

/// Whether `text` names a team or member of the organization.
pub(super) fn exists(state: &State, text: &str) -> bool {
    !view(state, text).is_null()
}

/// The owner as an object; null when there is none.
pub(super) fn view(state: &State, owner: &str) -> Value {
    match owner.split_once(':') {
        Some(("team", id)) => state.teams.get(id).map_or(
            Value::Null,
            |team| json!({ "type": "team", "id": id, "name": team.text("slug") }),
        ),
        Some(("user", id)) => state.members.find("user_id", id).map_or(Value::Null, |member| {
            json!({
                "type": "user",
                "id": id,
                "name": member.text("name"),
                "email": member.text("email"),
            })
        }),
        Some(_) | None => Value::Null,
    }
}

/// The stored form of a team's owner.
pub(super) fn team(state: &State, slug: &str) -> Value {
    let team = state.teams.find("slug", slug);
    team.map_or(Value::Null, |team| format!("team:{}", team.text("id")).into())
}
