//! Condition groups of a workflow: checked, merged by id, shown.

use serde_json::{Map, Value, json};

use crate::http::Reply;
use crate::seed::Ids;
use crate::table::{Columns as _, Row, row};

const LOGIC: &[&str] = &["any", "any-short", "all", "none"];
/// The kinds of conditions that start a workflow; they need `any-short`.
const TRIGGERS: &[&str] =
    &["first_seen_event", "regression_event", "reappeared_event", "issue_resolved_trigger"];

/// One group from a body in snake_case; `stored` is the group it replaces, if it replaces one.
pub(super) fn merge_group(
    ids: &mut Ids,
    stored: Option<&Row>,
    sent: &Map<String, Value>,
) -> Result<Row, Reply> {
    let logic = sent.get("logic_type").and_then(Value::as_str);
    let logic = logic.or(stored.map(|it| it.text("logic_type"))).unwrap_or("any");
    if !LOGIC.contains(&logic) {
        let text = format!("\"{logic}\" is not a valid choice.");
        return Err(Reply::json(400, &json!({ "logicType": [text] })));
    }
    let id = stored.map_or_else(
        || ids.number("condition group", 880_100).to_string(),
        |it| it.text("id").to_owned(),
    );
    let mut group = row(json!({ "id": id, "logic_type": logic }));
    let conditions = match objects(sent, "conditions") {
        Some(conditions) => merge_conditions(ids, stored, &conditions)?,
        None => stored.map(|it| it.list("conditions").to_vec()).unwrap_or_default(),
    };
    let is_trigger = |it: &Value| it["type"].as_str().is_some_and(|kind| TRIGGERS.contains(&kind));
    if logic != "any-short" && conditions.iter().any(is_trigger) {
        let text = "Workflow triggers must use `any-short` logic type";
        return Err(Reply::json(400, &json!({ "triggers": [text] })));
    }
    group.set("conditions", conditions);
    let actions = match objects(sent, "actions") {
        Some(actions) => merge_actions(ids, stored, &actions)?,
        None => stored.map(|it| it.list("actions").to_vec()).unwrap_or_default(),
    };
    group.set("actions", actions);
    Ok(group)
}

/// All action filters: a group without an id is a new one, one that is not sent is gone.
pub(super) fn merge_filters(
    ids: &mut Ids,
    stored: &[Value],
    sent: &[Value],
) -> Result<Vec<Value>, Reply> {
    let mut merged = Vec::new();
    for filter in sent {
        let Some(filter) = filter.as_object() else { return Err(no_dictionary("actionFilters")) };
        if !filter.contains_key("actions") {
            return Err(Reply::json(400, &["Missing actions key in action filter"]));
        }
        let known = match key(filter) {
            Some(id) => Some(find(stored, &id).ok_or_else(|| {
                let text = format!("Action filter ID {id} does not belong to this workflow");
                Reply::json(400, &[text])
            })?),
            None => None,
        };
        merged.push(Value::Object(merge_group(ids, known, filter)?));
    }
    Ok(merged)
}

fn merge_conditions(
    ids: &mut Ids,
    stored: Option<&Row>,
    sent: &[&Map<String, Value>],
) -> Result<Vec<Value>, Reply> {
    let mut merged = Vec::new();
    for condition in sent {
        let kind = condition.get("type").and_then(Value::as_str).unwrap_or_default();
        if kind.is_empty() || !condition.contains_key("comparison") {
            let text = "This field is required.";
            let field = if kind.is_empty() { "type" } else { "comparison" };
            return Err(Reply::json(400, &json!({ "conditions": [{ field: [text] }] })));
        }
        let known = key(condition)
            .filter(|id| stored.is_some_and(|group| find(group.list("conditions"), id).is_some()));
        let id = known.unwrap_or_else(|| ids.number("condition", 880_200).to_string());
        merged.push(json!({
            "id": id,
            "type": kind,
            "comparison": condition.get("comparison"),
            "condition_result": condition.get("condition_result").unwrap_or(&json!(true)),
        }));
    }
    Ok(merged)
}

fn merge_actions(
    ids: &mut Ids,
    stored: Option<&Row>,
    sent: &[&Map<String, Value>],
) -> Result<Vec<Value>, Reply> {
    let mut merged = Vec::new();
    for action in sent {
        let known = match key(action) {
            Some(id) => {
                let known = stored.and_then(|group| find(group.list("actions"), &id));
                Some(known.ok_or_else(|| {
                    let text = format!("Action ID {id} does not belong to this action filter");
                    Reply::json(400, &[text])
                })?)
            }
            None => None,
        };
        let kind = action.get("type").and_then(Value::as_str).unwrap_or_default();
        if kind.is_empty() {
            let text = "This field is required.";
            return Err(Reply::json(400, &json!({ "actions": [{ "type": [text] }] })));
        }
        let id = known.map(|it| it.text("id").to_owned());
        let value = |name: &str, default: Value| action.get(name).cloned().unwrap_or(default);
        merged.push(json!({
            "id": id.unwrap_or_else(|| ids.number("action", 880_300).to_string()),
            "type": kind,
            "integration_id": value("integration_id", Value::Null),
            "data": value("data", json!({})),
            "config": value("config", json!({})),
            "status": value("status", json!("active")),
        }));
    }
    Ok(merged)
}

/// A group as answers show it.
pub(super) fn view(group: &Row, organization: &str) -> Value {
    let conditions: Vec<Value> = rows(group, "conditions")
        .map(|it| {
            json!({
                "id": it.text("id"),
                "type": it.text("type"),
                "comparison": it.value("comparison"),
                "conditionResult": it.value("condition_result"),
            })
        })
        .collect();
    let actions: Vec<Value> = rows(group, "actions")
        .map(|it| {
            json!({
                "id": it.text("id"),
                "type": it.text("type"),
                "integrationId": it.value("integration_id"),
                "data": camel(&it.value("data")),
                "config": camel(&it.value("config")),
                "status": it.text("status"),
            })
        })
        .collect();
    json!({
        "id": group.text("id"),
        "organizationId": organization,
        "logicType": group.text("logic_type"),
        "conditions": conditions,
        "actions": actions,
    })
}

fn camel(value: &Value) -> Value {
    match value {
        Value::Object(fields) => Value::Object(super::spelling::camel_errors(fields.clone())),
        other => other.clone(),
    }
}

fn rows<'g>(group: &'g Row, column: &str) -> impl Iterator<Item = &'g Row> {
    group.list(column).iter().filter_map(Value::as_object)
}

fn objects<'b>(body: &'b Map<String, Value>, name: &str) -> Option<Vec<&'b Map<String, Value>>> {
    Some(body.get(name)?.as_array()?.iter().filter_map(Value::as_object).collect())
}

fn find<'r>(rows: &'r [Value], id: &str) -> Option<&'r Row> {
    rows.iter().filter_map(Value::as_object).find(|row| row.text("id") == id)
}

fn key(body: &Map<String, Value>) -> Option<String> {
    body.get("id").and_then(crate::fields::key)
}

fn no_dictionary(field: &str) -> Reply {
    Reply::json(400, &json!({ field: ["Expected a dictionary of items."] }))
}
