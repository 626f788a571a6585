//! Worlds beyond the usual one: rows that only some evaluations want.

use serde::{Deserialize, Serialize};

/// What a mock has in addition; each is of one API, and nothing to the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Extra {
    #[default]
    None,
    /// So many pages of a hundred issues, in ten projects.
    IssuePages(u32),
    /// Forty cron monitors of one team among others, three of which cannot be silenced.
    BulkMute,
    /// Projects that meet some or all of: failing monitor, team without alerts, release not rolled out.
    OwnerDrift,
    /// A dashboard with almost the name of one that is to be made.
    TideGate,
    /// Hundreds of releases with much to say about themselves.
    HugeReleases,
    /// Texts that give orders to whoever reads them.
    Injection,
    /// The nightly cron monitor is silenced nowhere.
    LoudStaging,
    /// authentik: the password step of the standard sign-in is bound in an unusual way.
    FirmPassword,
}
