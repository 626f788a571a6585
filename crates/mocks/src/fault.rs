//! Faults as data: which request goes wrong, when, and how.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One thing that goes wrong.
///
/// Requests without the token, to no route or (after commit) refused by the handler do not count
/// and are left alone: a typing error must not use up the lost response.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Fault {
    /// Names the fault in the log.
    pub id: String,
    pub method: String,
    /// The whole path with placeholders of any name: `/api/0/organizations/{org}/repos/`.
    pub route: String,
    /// Counted from 1; without it every matching request goes wrong.
    #[serde(default)]
    pub nth: Option<u32>,
    pub phase: Phase,
    pub action: Action,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The handler does not run (after a delay it does).
    Before,
    /// The handler ran and its changes stay; only the answer is lost or late.
    AfterCommit,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Action {
    Respond {
        status: u16,
        #[serde(default)]
        headers: BTreeMap<String, String>,
        #[serde(default)]
        body: String,
    },
    /// Waits, then goes on as if nothing were wrong.
    Delay { ms: u64 },
    /// Resets the connection without an answer.
    Reset,
}
