//! Somebody who is told of every request: for logs, figures and the record of writes.

use http::Method;
use url::Url;

use super::{Effect, Response};
use crate::error::{Error, Progress};

/// A request before it is sent.
#[derive(Debug, Clone, Copy)]
pub struct Outgoing<'a> {
    /// Whether it changes something.
    pub effect: Effect,
    /// Its method.
    pub method: &'a Method,
    /// The path template it was made from.
    pub template: &'a str,
    /// Its address, without the credential. The query may hold what nobody should write down.
    pub url: &'a Url,
}

/// Is told of every request, once however often it is repeated.
pub trait Witness: Send + Sync {
    /// Called before a request is sent.
    ///
    /// # Errors
    /// Why it must not be sent; completes "the request cannot be sent: …".
    fn about_to_send(&self, outgoing: &Outgoing<'_>) -> Result<(), String>;

    /// Called with the status of the answer, or with none when there is none: then `sent` tells
    /// whether the request may have had its effect all the same.
    fn answered(&self, outgoing: &Outgoing<'_>, status: Option<u16>, sent: bool);
}

/// Makes sure that every request that was announced is reported.
pub(super) struct Told<'a> {
    witness: &'a dyn Witness,
    outgoing: Outgoing<'a>,
    is_done: bool,
}

impl<'a> Told<'a> {
    pub(super) fn new(witness: &'a dyn Witness, outgoing: Outgoing<'a>) -> Self {
        Self { witness, outgoing, is_done: false }
    }

    pub(super) fn answered(&mut self, outcome: &Result<Response, Error>) {
        self.is_done = true;
        let (status, sent) = match outcome {
            Ok(response) => (Some(response.status), true),
            Err(error) => match error.progress() {
                Progress::NotSent => (None, false),
                Progress::Sent => (None, true),
                Progress::Answered(status) => (Some(status), true),
            },
        };
        self.witness.answered(&self.outgoing, status, sent);
    }
}

impl Drop for Told<'_> {
    fn drop(&mut self) {
        if !self.is_done {
            self.witness.answered(&self.outgoing, None, true);
        }
    }
}
