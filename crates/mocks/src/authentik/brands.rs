//! `/core/brands/`: which flows a domain uses; read only.

use serde_json::{Value, json};

use super::list::{Filter, List};
use super::{State, found};
use crate::http::{Answer, Call, Reply};
use crate::route::{Route, get};
use crate::table::{Columns as _, row};

pub(super) fn routes() -> Vec<Route<State>> {
    vec![get("/core/brands/", list), get("/core/brands/{brand_uuid}/", retrieve)]
}

pub(super) fn seed(state: &mut State) {
    let pk = state.ids.uuid("brand");
    let flow = |slug: &str| state.flows.find("slug", slug).map(|flow| flow.value("pk"));
    let brand = json!({
        "brand_uuid": pk,
        "domain": "authentik-default",
        "default": true,
        "branding_title": "Harbor Lantern",
        "branding_logo": "/static/dist/assets/icons/icon_left_brand.svg",
        "branding_favicon": "/static/dist/assets/icons/icon.png",
        "branding_custom_css": "",
        "branding_default_flow_background": "/static/dist/assets/images/flow_background.jpg",
        "branding_map_tiles": "",
        "flow_authentication": flow("default-authentication-flow"),
        "flow_user_switch": null,
        "flow_invalidation": flow("default-invalidation-flow"),
        "flow_recovery": null,
        "flow_unenrollment": null,
        "flow_user_settings": null,
        "flow_device_code": null,
        "flow_lockdown": null,
        "flow_request": null,
        "default_application": null,
        "web_certificate": null,
        "client_certificates": [],
        "attributes": {},
    });
    state.brands.insert(&pk, row(brand));
}

const LIST: List = List {
    ordering: "domain",
    search: &["domain", "branding_title"],
    filters: &[
        Filter::Text("domain"),
        Filter::Flag("default"),
        Filter::Uuid("brand_uuid"),
        Filter::Uuid("flow_authentication"),
    ],
};

fn list(state: &State, call: &Call<'_>) -> Answer {
    LIST.answer(call, state.brands.rows(), |brand| Value::Object(brand.clone()))
}

fn retrieve(state: &State, call: &Call<'_>) -> Answer {
    Ok(Reply::json(200, found(&state.brands, call.value(0), "Brand")?))
}
