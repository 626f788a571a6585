//! The fixtures that are data alone.

use std::sync::OnceLock;

use rmcp::model::Tool;
use serde_json::{Map, Value, json};

fn all() -> &'static Value {
    static ALL: OnceLock<Value> = OnceLock::new();
    // A broken file fails every scenario, which says enough.
    ALL.get_or_init(|| serde_json::from_str(include_str!("fixtures.json")).unwrap_or_default())
}

/// One member of the file.
pub(crate) fn whole(name: &str) -> Value {
    all()[name].clone()
}

/// One member of a member, with the picture and the sound in their places.
pub(crate) fn part(group: &str, name: &str) -> Option<Value> {
    let mut value = all()[group].get(name)?.clone();
    fill(&mut value);
    Some(value)
}

fn fill(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Some(name) = text.strip_prefix('@') {
                *value = whole(name);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(fill),
        Value::Object(members) => members.values_mut().for_each(fill),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The tools of the suite.
pub(crate) fn tools() -> Vec<Tool> {
    let tools = all()["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    tools.iter().filter_map(tool).collect()
}

fn tool(value: &Value) -> Option<Tool> {
    let arguments = value["arguments"].as_object().cloned().unwrap_or_default();
    let properties: Map<_, _> =
        arguments.iter().map(|(name, kind)| (name.clone(), json!({ "type": kind }))).collect();
    let required: Vec<_> = arguments.keys().collect();
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    let definition = json!({
        "name": value["name"], "description": "For the conformance suite.", "inputSchema": schema,
    });
    serde_json::from_value(definition).ok()
}
