//! The client behind a call, free of any SDK: progress, cancellation, questions to the person.

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

/// What a tool may do with the client that called it.
#[async_trait]
pub trait Caller: Send + Sync {
    /// Cancelled when the client withdrew the call or went away.
    fn cancelled(&self) -> &CancellationToken;

    /// Whether the client asked to be told of progress.
    fn wants_progress(&self) -> bool;

    /// Tells the client that the call is still going on. `step` must grow from call to call.
    async fn progress(&self, step: f64, message: &str);

    /// Puts a yes-or-no question to the person behind the client, where the client can.
    async fn ask(&self, question: &str) -> Answer;
}

/// What came of a question to the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The person agreed.
    Accepted,
    /// The person refused.
    Declined,
    /// The client cannot ask, or the question was dismissed.
    Unavailable,
}
