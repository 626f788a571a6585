//! `/schema/`: the mock's own OpenAPI document, for holders of the token only.

use std::sync::LazyLock;

use super::State;
use crate::http::{Answer, Call, Reply};
use crate::route::{Route, get};

const YAML: &str = include_str!("../../fixtures/authentik.yaml");

/// The same document as JSON; none if the fixture were no YAML, which a test rules out.
static JSON: LazyLock<Option<Vec<u8>>> = LazyLock::new(|| {
    let document: serde_json::Value = yaml_serde::from_str(YAML).ok()?;
    serde_json::to_vec(&document).ok()
});

pub(super) fn routes() -> Vec<Route<State>> {
    vec![get("/schema/", document)]
}

/// `format` decides before `Accept` does; without either it is YAML.
fn document(_: &State, call: &Call<'_>) -> Answer {
    let accept = call.request.header("accept").unwrap_or_default().to_ascii_lowercase();
    let wants_json = match call.query("format").as_deref() {
        Some("json") => true,
        Some("yaml") => false,
        Some(_) => return Err(Reply::detail(404, "Not found.")),
        None => accept
            .find("json")
            .is_some_and(|json| accept.find("yaml").is_none_or(|yaml| json < yaml)),
    };
    let (content_type, body) = if wants_json {
        let Some(json) = JSON.as_ref() else {
            return Err(Reply::detail(500, "the fixture document is no YAML"));
        };
        ("application/vnd.oai.openapi+json", json.clone())
    } else {
        ("application/vnd.oai.openapi", YAML.as_bytes().to_vec())
    };
    let reply = Reply { status: 200, body, ..Reply::default() };
    Ok(reply.header("content-type", content_type))
}
