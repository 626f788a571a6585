//! The catalog: every curated tool, one a file, in the order they are shown.
//!
//! A new tool is its file and two lines here. What it needs is in [`crate::tool`] (the recipe),
//! [`crate::params`] (shared parameters) and [`crate::render`] (markdown).

mod find_dsns;
mod find_organizations;
mod find_projects;
mod find_releases;
mod find_teams;
mod get_doc;
mod get_event_attachment;
mod get_latest_base_snapshot;
mod get_release_details;
mod get_snapshot;
mod get_snapshot_image;
#[cfg(test)]
mod laws;
mod search_docs;
mod whoami;

use crate::tool::Registered;

/// Every tool, by family.
pub(crate) const ALL: &[&dyn Registered] = &[
    // Identity and lists.
    &whoami::Whoami,
    &find_organizations::FindOrganizations,
    &find_teams::FindTeams,
    &find_projects::FindProjects,
    &find_releases::FindReleases,
    &get_release_details::GetReleaseDetails,
    &find_dsns::FindDsns,
    // Attachments, documentation, snapshots.
    &get_event_attachment::GetEventAttachment,
    &search_docs::SearchDocs,
    &get_doc::GetDoc,
    &get_snapshot::GetSnapshot,
    &get_snapshot_image::GetSnapshotImage,
    &get_latest_base_snapshot::GetLatestBaseSnapshot,
];
