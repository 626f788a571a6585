//! Somebody who is told of every tool call of a caller: for logs and figures, never for arguments.

use std::{fmt, time::Duration};

/// Is told of every tool call when it is over, and of what is confirmed in one.
pub trait Observer: Send + Sync + fmt::Debug {
    /// One call is over.
    fn called(&self, call: &Called<'_>);

    /// What a person has confirmed is about to be sent: `plan` tells it apart from every other.
    fn confirmed(&self, _plan: &str) {}
}

/// A tool call that is over.
#[derive(Debug, Clone, Copy)]
pub struct Called<'a> {
    /// The tool's name; a client's own text where there is no such tool.
    pub tool: &'a str,
    /// How it ended.
    pub outcome: Outcome,
    /// How long it took.
    pub took: Duration,
}

/// How a tool call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// With a result.
    Done,
    /// With an error that the model was shown.
    Failed,
    /// There is no such tool.
    Unknown,
    /// The client withdrew it or went away.
    Cancelled,
}

impl Outcome {
    /// The word logs and figures have for it.
    pub fn id(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Unknown => "unknown_tool",
            Self::Cancelled => "cancelled",
        }
    }
}
