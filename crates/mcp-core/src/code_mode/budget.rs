//! What is left of the API's rate limits, as a script sees it.

use api_client::transport::{Budget, Transport};
use serde_json::{Map, Value, json};

/// One object for each budget that the API keeps: `{ origin, resource?, limit?, remaining?, reset? }`
/// with `reset` in seconds from now. Empty until the API has told.
pub(super) fn of(transport: &Transport) -> Value {
    transport.budget().iter().map(shown).collect()
}

fn shown(budget: &Budget) -> Value {
    let Budget { origin, resource, limit, remaining, reset } = budget;
    let fields = [
        ("origin", Some(json!(origin))),
        ("resource", resource.as_ref().map(|it| json!(it))),
        ("limit", limit.map(Value::from)),
        ("remaining", remaining.map(Value::from)),
        ("reset", reset.map(|it| json!(it.as_secs() + u64::from(it.subsec_nanos() > 0)))),
    ];
    let told = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(Map::from_iter(told))
}
