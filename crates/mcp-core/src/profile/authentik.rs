//! authentik: every instance describes itself, so the document comes from the instance.

use super::{Example, Kind, Profile, Trust};
use crate::openapi::source::DocumentLocation;

/// Failed logins by anybody end up in events, and events in notifications.
const OUTSIDERS: &[&str] = &["/events/events/", "/events/notifications/"];

/// Reads of things that are called like actions: proxy providers, deny stages, the install id.
const READS: &[&str] = &[
    "GET /enterprise/license/install_id/",
    "GET /outposts/proxy/",
    "GET /providers/proxy/",
    "GET /providers/proxy/{id}/",
    "GET /stages/deny/",
    "GET /stages/deny/{stage_uuid}/",
];

impl Profile {
    /// Returns the profile of an authentik instance.
    pub fn authentik() -> Self {
        Self {
            kind: Kind::Authentik,
            title: "authentik".to_owned(),
            server_name: "authentik-code-mode".to_owned(),
            binding: "ak".to_owned(),
            default_base: None,
            base_path: Some("/api/v3"),
            pasted_paths: &["/api/v3", "/api"],
            document: DocumentLocation::Instance { path: "/schema/" },
            credential_setting: None,
            server_variables: &[],
            reads: READS.iter().map(|&mark| mark.to_owned()).collect(),
            trust: Trust::Outsiders(OUTSIDERS),
            untrusted: Vec::new(),
            either_spelling: false,
            public_hosts: &[],
            regions: None,
            example: Example {
                code: "const { items } = await ak.paginate(\"/core/brands/\", { query: { ordering: \"domain\" } });\n\
                       return items.map((brand) => brand.domain);"
                    .to_owned(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_marked_and_their_configuration_is_not() {
        let authentik = Profile::authentik();
        for path in ["/events/events/", "/events/events/{event_uuid}/", "/events/notifications/"] {
            assert!(authentik.outsiders_write(path), "{path}");
        }
        for path in ["/core/users/", "/events/rules/", "/policies/event_matcher/"] {
            assert!(!authentik.outsiders_write(path), "{path}");
        }
    }
}
