//! `/admin/version/`: what is running.

use serde_json::json;

use super::State;
use crate::http::{Answer, Call, Reply};
use crate::route::{Route, get};

pub(super) fn routes() -> Vec<Route<State>> {
    vec![get("/admin/version/", version)]
}

fn version(_: &State, _: &Call<'_>) -> Answer {
    Ok(Reply::json(
        200,
        &json!({
            "version_current": "2026.8.3",
            "version_latest": "2026.8.3",
            "version_latest_valid": true,
            "build_hash": "",
            "outdated": false,
            "outpost_outdated": false,
        }),
    ))
}
