//! Tools about tools: the two gateways to the part of the catalog that is not shown.

use serde_json::{Map, Value};

use crate::tool::Definition;

mod execute_sentry_tool;
mod search_sentry_tools;

pub(crate) use execute_sentry_tool::ExecuteSentryTool;
pub(crate) use search_sentry_tools::SearchSentryTools;

/// The gateway that finds tools.
pub(crate) const SEARCH: &str = "search_sentry_tools";
/// The gateway that runs them.
pub(crate) const EXECUTE: &str = "execute_sentry_tool";

/// What a client is told of the gateways, with the shapes they promise.
pub(crate) fn definitions() -> [(Definition, Option<Map<String, Value>>); 2] {
    [
        (search_sentry_tools::definition(), search_sentry_tools::output_schema()),
        (execute_sentry_tool::definition(false), None),
    ]
}
