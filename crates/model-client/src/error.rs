//! Why there is no answer from a model.

use std::fmt;
use std::time::Duration;

/// A request without an answer. `Display` names the provider's host and never holds its words.
#[derive(Debug)]
pub struct Error {
    pub(crate) kind: ErrorKind,
    pub(crate) place: String,
    pub(crate) detail: Option<String>,
}

/// What went wrong.
#[derive(Debug)]
pub enum ErrorKind {
    /// No usable response.
    Transport(api_client::error::Error),
    /// A status that is no success.
    Status {
        /// The status code.
        status: u16,
        /// How long the provider wants to be left alone.
        retry_after: Option<Duration>,
    },
    /// The answer has not the form it should have; what is wrong with it.
    Answer(String),
    /// The provider broke off an answer it had begun.
    BrokenOff,
}

impl Error {
    /// What went wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// The provider's own words, cut and without the key.
    pub fn detail(&self) -> Option<&str> {
        self.detail.as_deref()
    }

    /// Whether the same request may do better a little later.
    pub(crate) fn is_passing(&self) -> bool {
        match &self.kind {
            ErrorKind::Status { status, .. } => matches!(status, 408 | 409 | 429 | 500..=599),
            ErrorKind::Transport(error) => {
                use api_client::error::ErrorKind as Kind;
                matches!(
                    error.kind(),
                    Kind::Refused
                        | Kind::Unreachable
                        | Kind::ConnectTimeout
                        | Kind::Incomplete
                        | Kind::Dns
                )
            }
            ErrorKind::BrokenOff => true,
            ErrorKind::Answer(_) => false,
        }
    }

    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self.kind {
            ErrorKind::Status { retry_after, .. } => retry_after,
            ErrorKind::Transport(_) | ErrorKind::Answer(_) | ErrorKind::BrokenOff => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = &self.place;
        match &self.kind {
            ErrorKind::Transport(error) => write!(f, "the model's provider: {error}"),
            ErrorKind::Status { status: status @ (401 | 403), .. } => {
                write!(f, "`{place}` refuses the key ({status}); check the key and what it may use")
            }
            ErrorKind::Status { status: 404, .. } => {
                write!(f, "`{place}` knows no such model or address (404); check both names")
            }
            ErrorKind::Status { status: 429, retry_after } => {
                write!(f, "`{place}` limits the rate or the quota is used up (429)")?;
                match retry_after {
                    Some(wait) => write!(f, "; try again in {} s", wait.as_secs().max(1)),
                    None => f.write_str("; try again later"),
                }
            }
            ErrorKind::Status { status: status @ 500.., .. } => {
                write!(f, "`{place}` has a fault of its own ({status}); try again later")
            }
            ErrorKind::Status { status, .. } => {
                write!(f, "`{place}` refuses the request ({status})")
            }
            ErrorKind::Answer(why) => write!(f, "the answer of `{place}` cannot be read: {why}"),
            ErrorKind::BrokenOff => write!(f, "`{place}` broke off its answer; try again later"),
        }
    }
}

impl std::error::Error for Error {}
