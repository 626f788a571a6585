//! Sentry: the hosted service by default, or a self-hosted installation.

use super::{Example, Kind, Profile, Regions, Trust};
use crate::openapi::source::DocumentLocation;

/// The published document of a known revision, in place of whatever is newest.
const DOCUMENT: &str = "https://raw.githubusercontent.com/getsentry/sentry-api-schema/a589a26c3b29bfc342a47baa963b7970961f958e/openapi-derefed.json";
/// SHA-256 of the document's bytes.
const DOCUMENT_SHA256: &str = "b71216654e44cc18f5e262fbb5075df67f1504a123d4bcb51cc8e8cc74ebd435";

/// Whoever can send an event (a DSN is public) chooses what these return: messages, tags, user
/// names, spans, recorded pages, profiles and comments.
const OUTSIDERS: &[&str] = &[
    "/environments/",
    "/eventids/",
    "/events-timeseries/",
    "/events/",
    "/issues/",
    "/profiling/",
    "/replay-selectors/",
    "/replays/",
    "/shortids/",
    "/tags/",
    "/trace-items/",
    "/trace-meta/",
    "/trace/",
    "/user-feedback/",
    "/users/",
];

/// Deletion jobs are looked at, not done, under this path.
const READS: &[&str] = &[
    "GET /api/0/projects/{organization_id_or_slug}/{project_id_or_slug}/replays/jobs/delete/",
    "GET /api/0/projects/{organization_id_or_slug}/{project_id_or_slug}/replays/jobs/delete/{job_id}/",
];

/// sentry.io keeps an organization's data in the United States or in Germany.
const REGIONS: Regions = Regions {
    parameters: &["organization_id_or_slug", "organization_slug", "organization_id"],
    lookup: "/api/0/organizations/{organization_id_or_slug}/",
    pointer: "/links/regionUrl",
};

impl Profile {
    /// Returns the profile of Sentry.
    pub fn sentry() -> Self {
        Self {
            kind: Kind::Sentry,
            title: "Sentry".to_owned(),
            server_name: "sentry-mcp".to_owned(),
            binding: "sentry".to_owned(),
            default_base: Some("https://sentry.io"),
            base_path: Some(""),
            pasted_paths: &["/api/0", "/api"],
            document: DocumentLocation::pinned(DOCUMENT, DOCUMENT_SHA256),
            credential_setting: None,
            server_variables: &[("region", "us")],
            reads: READS.iter().map(|&mark| mark.to_owned()).collect(),
            trust: Trust::Outsiders(OUTSIDERS),
            untrusted: Vec::new(),
            either_spelling: true,
            public_hosts: &["sentry.io", "us.sentry.io", "de.sentry.io"],
            regions: Some(REGIONS),
            example: Example {
                code: "const { items } = await sentry.paginate(\"/api/0/organizations/acme/teams/\");\n\
                       return items.map((team) => team.slug);"
                    .to_owned(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_anybody_with_a_dsn_can_write_is_marked() {
        let sentry = Profile::sentry();
        for path in [
            "/api/0/organizations/{organization_id_or_slug}/issues/",
            "/api/0/organizations/{organization_id_or_slug}/issues/{issue_id}/events/{event_id}/",
            "/api/0/organizations/{organization_id_or_slug}/events/",
            "/api/0/organizations/{organization_id_or_slug}/replays/{replay_id}/",
            "/api/0/organizations/{organization_id_or_slug}/tags/",
            "/api/0/projects/{organization_id_or_slug}/{project_id_or_slug}/tags/{key}/values/",
            "/api/0/projects/{organization_id_or_slug}/{project_id_or_slug}/user-feedback/",
            "/api/0/projects/{organization_id_or_slug}/{project_id_or_slug}/users/",
        ] {
            assert!(sentry.outsiders_write(path), "{path}");
        }
        for path in [
            "/api/0/organizations/",
            "/api/0/organizations/{organization_id_or_slug}/dashboards/",
            "/api/0/organizations/{organization_id_or_slug}/external-users/",
            "/api/0/organizations/{organization_id_or_slug}/user-teams/",
        ] {
            assert!(!sentry.outsiders_write(path), "{path}");
        }
    }

    #[test]
    #[expect(clippy::print_stderr, reason = "a skipped test says so")]
    fn every_run_of_segments_occurs_in_the_published_document() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/specs/sentry.json");
        let Ok(bytes) = std::fs::read(path) else {
            eprintln!("skipped: the shared documents are not here");
            return;
        };
        let document: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        let paths = document["paths"].as_object().unwrap();
        for run in OUTSIDERS {
            assert!(paths.keys().any(|path| format!("{path}/").contains(run)), "{run}");
        }
        assert!(paths.contains_key("/api/0/organizations/{organization_id_or_slug}/teams/"));
        assert_eq!(crate::openapi::cache::sha256(&bytes), DOCUMENT_SHA256);
    }
}
