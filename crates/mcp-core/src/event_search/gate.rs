//! What Sentry says of a search before it is run.

use api_client::sentry::{
    Client,
    error::Error,
    events::{EventSearch, Validation},
};
use serde_json::Value;

use crate::{error::ToolError, render::inline};

/// The parts of a search, as Sentry's answer and the caller name them.
const PARTS: [(&str, &str); 6] = [
    ("projects", "project"),
    ("dataset", "data set"),
    ("environment", "environment"),
    ("field", "field"),
    ("query", "query"),
    ("orderby", "sort"),
];
/// How many objections are listed, and bytes of all of them.
const MOST_OBJECTIONS: usize = 10;
const LONGEST: usize = 1_024;

/// Lets a search pass that Sentry can run. An installation that does not judge searches lets
/// everything pass.
pub(crate) async fn check(
    sentry: &Client,
    organization: &str,
    search: &EventSearch<'_>,
) -> Result<(), ToolError> {
    let validation = match sentry.validate_events(organization, search).await {
        Ok(validation) => validation,
        // Older installations do not have it, or refuse it without a word.
        Err(error) if error.is_not_found() || is_unreadable(&error) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    match objections(&validation) {
        Some(objections) => Err(ToolError::user(format!("Sentry cannot run this search: {objections}"))
            .hint("correct what it names; each data set has fields of its own, and a `sort` must be one of `fields`")),
        None => Ok(()),
    }
}

fn is_unreadable(error: &Error) -> bool {
    matches!(error, Error::Transport(error) if matches!(error.kind(), api_client::error::ErrorKind::Decode { .. }))
}

/// Every part that is not valid, with Sentry's reason.
fn objections(validation: &Validation) -> Option<String> {
    if validation.valid != Some(false) {
        return None;
    }
    let mut found = Vec::new();
    for (part, name) in PARTS {
        let judged = match validation.parts.get(part) {
            Some(Value::Array(items)) => items.as_slice(),
            Some(item @ Value::Object(_)) => std::slice::from_ref(item),
            _ => &[],
        };
        for item in judged.iter().filter(|it| it.get("valid") != Some(&Value::Bool(true))) {
            let text = |key: &str| {
                let text = item.get(key).and_then(Value::as_str).map(inline);
                text.filter(|it| !it.is_empty())
            };
            let what = text("name").map_or_else(|| name.to_owned(), |it| format!("{name} `{it}`"));
            found.push(match text("error") {
                Some(why) => format!("{what}: {why}"),
                None => format!("{what} is not valid"),
            });
        }
    }
    if found.is_empty() {
        return Some("it gives no reason".to_owned());
    }
    let rest = found.len().saturating_sub(MOST_OBJECTIONS);
    found.truncate(MOST_OBJECTIONS);
    if rest > 0 {
        found.push(format!("{rest} more"));
    }
    Some(crate::render::event::shorten(&found.join("; "), LONGEST))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(value: Value) -> Option<String> {
        objections(&serde_json::from_value(value).unwrap())
    }

    #[test]
    fn every_part_that_is_wrong_is_named() {
        let answer = json!({
            "valid": false,
            "projects": [],
            "dataset": [{"valid": true, "error": "fine"}],
            "environment": [{"valid": false, "error": "no environment `x`"}],
            "field": [
                {"valid": true, "error": null, "name": "id", "attrType": "string"},
                {"valid": false, "error": "Unknown attribute", "name": "colour", "attrType": null},
            ],
            "query": {"valid": false},
            "orderby": [{"valid": false, "error": "must be selected", "name": "-x"}, "odd"],
        });
        assert_eq!(
            of(answer).unwrap(),
            "environment: no environment `x`; field `colour`: Unknown attribute; query is not valid; \
             sort `-x`: must be selected; sort is not valid"
        );
    }

    #[test]
    fn what_is_valid_or_unknown_passes() {
        for answer in [json!({"valid": true}), json!({}), json!({"valid": null, "query": 7})] {
            assert_eq!(of(answer), None);
        }
        assert_eq!(of(json!({"valid": false})).unwrap(), "it gives no reason");
    }
}
