//! What a run did: each call with its outcome, in the order of sending.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use serde::Serialize;

/// What is known of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) enum CallOutcome {
    /// It was answered.
    #[serde(rename = "sent")]
    Sent,
    /// A write that the upstream has accepted.
    #[serde(rename = "applied")]
    Applied,
    /// A write of a rehearsal: recorded, not sent.
    #[serde(rename = "planned")]
    Planned,
    /// A planned write that the run did not come to.
    #[serde(rename = "not reached")]
    NotReached,
    /// The policy or the plan stopped it before the network; with a status, the upstream refused it.
    #[serde(rename = "refused")]
    Refused,
    /// It never reached the upstream.
    #[serde(rename = "not sent")]
    NotSent,
    /// It was sent and no answer came: it may have happened.
    #[serde(rename = "outcome unknown")]
    Unknown,
}

/// One call of a script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct CallRecord {
    /// The API's name, where a server has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) api: Option<String>,
    pub(super) method: String,
    /// Percent-encoded, with its query.
    pub(super) path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ms: Option<u64>,
    pub(super) outcome: CallOutcome,
    /// A read of a rehearsal that ran after a recorded write, and could not see it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) stale: bool,
    /// How to find out what became of a write of unknown outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) check: Option<String>,
    /// Whether it could change something.
    #[serde(skip)]
    pub(super) write: bool,
}

impl CallRecord {
    /// A call of this outcome, everything else empty.
    pub(super) fn new(outcome: CallOutcome) -> Self {
        Self {
            api: None,
            method: String::new(),
            path: String::new(),
            status: None,
            ms: None,
            outcome,
            stale: false,
            check: None,
            write: false,
        }
    }
}

/// The calls of one run.
#[derive(Debug, Default)]
pub(super) struct Journal {
    calls: Mutex<Vec<CallRecord>>,
}

impl Journal {
    /// Notes a call; one that is about to be sent has an unknown outcome until it is finished.
    pub(super) fn add(&self, call: CallRecord) -> usize {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.push(call);
        calls.len() - 1
    }

    /// Notes how a started call ended.
    pub(super) fn finish(
        &self,
        at: usize,
        outcome: CallOutcome,
        status: Option<u16>,
        took: Duration,
    ) {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(call) = calls.get_mut(at) {
            call.outcome = outcome;
            call.status = status;
            call.ms = Some(u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
        }
    }

    /// Notes how to find out what became of a call.
    pub(super) fn check(&self, at: usize, how: String) {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(call) = calls.get_mut(at) {
            call.check = Some(how);
        }
    }

    /// The calls so far.
    pub(super) fn calls(&self) -> Vec<CallRecord> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
