//! Plan, confirm, apply: a writing script is rehearsed, its exact writes are shown, and the
//! confirmed run may send those and nothing else.
//!
//! Reading order: `wish` (a request as the script asked for it), [`rehearsal`] (reads live, writes
//! recorded and answered by [`placeholder`]s whose values are [`symbol`]s), [`replay`] (the same
//! once more on made-up values, to find branches that depend on them), [`before`] (what the writes
//! would change), [`show`] (what a person reads), [`apply`] (each write checked before it is sent).

mod apply;
mod before;
mod placeholder;
mod rehearsal;
mod replay;
mod show;
mod symbol;
mod text;
mod wish;

pub(super) use apply::Apply;
pub(super) use rehearsal::{Rehearsal, Rehearsed};
pub(super) use replay::Replay;
pub(super) use show::visible;
pub(super) use symbol::clean;
pub(super) use text::listing;
use wish::Wish;

use std::{collections::BTreeSet, time::Instant};

use api_client::{request::Request, transport::Response};
use serde::{Deserialize, Serialize};

use crate::{
    context::{Api, Context},
    openapi::{Operation, source::Loaded},
    sandbox::HostError,
};

use super::policy::{CallArguments, Effect};

/// Writes one plan can hold: more than a person reads is no confirmation.
pub(super) const MAX_WRITES: usize = 50;
/// Bytes of a plan as it is shown.
pub(super) const MAX_SHOWN: usize = 32_000;

/// The writes a person is asked to confirm, and all it takes to make the same run again.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Plan {
    /// Marks the symbols in `writes` and `reads`.
    pub(super) nonce: String,
    pub(super) clock_ms: i64,
    pub(super) seed: u64,
    /// Whether the run will send exactly these writes, as far as the rehearsal can tell.
    pub(super) complete: bool,
    pub(super) writes: Vec<PlannedWrite>,
    /// Reads that were answered by a placeholder, for the symbols `r1.…` of their answers.
    pub(super) reads: Vec<Wish>,
    /// What an earlier, incomplete plan of the same script has already done.
    pub(super) done: Vec<Done>,
    /// Names of the files it saves.
    #[serde(default)]
    pub(super) saves: BTreeSet<String>,
}

/// One write of a plan.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct PlannedWrite {
    pub(super) wish: Wish,
    /// The present state of what it would change, as JSON; `null` is an item that is not there.
    pub(super) before: Option<String>,
}

/// A request that was answered in an earlier part of the run, and the answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Done {
    binding: usize,
    /// Digest of the request as it was sent.
    request: String,
    write: bool,
    status: u16,
    headers: Vec<(String, String)>,
    /// Base64.
    body: String,
}

/// A request of a script, checked and built, before anything is sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) cx: &'a Context,
    pub(super) api: &'a Api,
    /// The API's number.
    pub(super) binding: usize,
    pub(super) loaded: &'a Loaded,
    /// The operation's number.
    pub(super) index: usize,
    pub(super) operation: &'a Operation,
    pub(super) effect: Effect,
    pub(super) arguments: &'a CallArguments<'a>,
    pub(super) request: &'a Request,
}

/// What becomes of a request.
#[derive(Debug)]
pub(super) enum Decision {
    /// It is sent, and the answer noted under the ticket.
    Send(Ticket),
    /// It is answered without being sent.
    Answer(Made),
    /// Nothing more of this run is sent.
    Halt(HostError),
}

/// What becomes of a file that a script saves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Saving {
    /// It is saved.
    Now,
    /// It is noted for the plan.
    Planned,
}

/// What is to be done with the answer of a request that is sent.
#[derive(Debug, Default)]
pub(super) struct Ticket {
    /// The write's number in the plan.
    write: Option<usize>,
    /// The placeholder read it stands for.
    read: Option<usize>,
    /// What was written to the same item before, in a rehearsal.
    overlay: Option<String>,
    /// The answer does not know of the writes before it.
    pub(super) stale: bool,
    /// What must still be there: the state that was shown with the plan.
    pub(super) before: Option<String>,
}

/// An answer that the host made itself.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) response: Response,
    /// As the worker reads it: `{ tree, nonce }`.
    pub(super) placeholder: Option<String>,
    /// It was sent, and reported, in an earlier part of the run.
    pub(super) past: bool,
}

impl Made {
    fn new(status: u16, placeholder: Option<String>) -> Self {
        let response = Response { status, headers: Vec::new(), body: Vec::new().into() };
        Self { response, placeholder, past: false }
    }

    /// The answer that an earlier part of the run got.
    fn past(done: &Done) -> Self {
        Self { response: done.response(), placeholder: None, past: true }
    }
}

/// What stands between a script's requests and the network.
#[derive(Debug)]
pub(super) enum Gate {
    /// Everything the policy admits is sent.
    Open,
    Rehearsal(Rehearsal),
    Replay(Replay),
    Apply(Apply),
}

impl Gate {
    /// Decides what becomes of a request.
    pub(super) fn decide(&self, asked: &Asked<'_>) -> Decision {
        match self {
            Self::Open => Decision::Send(Ticket::default()),
            Self::Rehearsal(it) => it.decide(asked),
            Self::Replay(it) => it.decide(asked),
            Self::Apply(it) => it.decide(asked),
        }
    }

    /// Decides what becomes of a file to save.
    ///
    /// # Errors
    /// When the confirmed plan does not have it.
    pub(super) fn save(&self, name: &str) -> Result<Saving, HostError> {
        match self {
            Self::Open => Ok(Saving::Now),
            Self::Rehearsal(it) => {
                it.save(name);
                Ok(Saving::Planned)
            }
            Self::Replay(_) => Ok(Saving::Planned),
            Self::Apply(it) => it.save(name),
        }
    }

    /// Notes an answer, and says what the script gets in its place, if anything.
    pub(super) fn answered(
        &self,
        asked: &Asked<'_>,
        ticket: &Ticket,
        response: &Response,
    ) -> Option<String> {
        match self {
            Self::Open | Self::Replay(_) => None,
            Self::Rehearsal(it) => it.answered(asked, ticket, response),
            Self::Apply(it) => {
                it.answered(asked, ticket, response);
                None
            }
        }
    }

    /// The nonce of the symbols that the run's texts may hold.
    pub(super) fn nonce(&self) -> Option<&str> {
        match self {
            Self::Rehearsal(it) => Some(it.nonce()),
            Self::Open | Self::Replay(_) | Self::Apply(_) => None,
        }
    }
}

/// Looks up what the writes of a plan would change.
pub(super) async fn look_before(
    cx: &Context,
    rehearsed: &Rehearsed,
    writes: &mut [PlannedWrite],
    deadline: Instant,
) {
    before::fill(cx, rehearsed, writes, deadline).await;
}

/// Whether what was shown with the plan still holds.
pub(super) async fn still_holds(asked: &Asked<'_>, before: &str, deadline: Instant) -> bool {
    match before::read(asked.cx, asked.binding, &Wish::of(asked), deadline).await {
        Some(now) => before::same(before, &now),
        None => false,
    }
}
