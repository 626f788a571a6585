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
    /// The policy stopped it before the network.
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
    /// Whether it could change something.
    #[serde(skip)]
    pub(super) write: bool,
}

/// The calls of one run.
#[derive(Debug, Default)]
pub(super) struct Journal {
    calls: Mutex<Vec<CallRecord>>,
}

impl Journal {
    /// Notes a call that is about to be sent; until it is finished its outcome is unknown.
    pub(super) fn start(&self, call: CallRecord) -> usize {
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

    /// The calls so far.
    pub(super) fn calls(&self) -> Vec<CallRecord> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
