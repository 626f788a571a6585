//! The boundary to an embedded agent: a model of the operator's choice that turns plain words into
//! Sentry's search syntax. Nothing needs one: without it the caller's own query is used.

#[cfg(feature = "agents")]
mod embedded;

use std::{fmt, time::Instant};

use api_client::sentry::{Client, time::TimeRange};
use async_trait::async_trait;

use crate::event_search::Dataset;

#[cfg(feature = "agents")]
pub use embedded::Embedded;

/// Writes searches for the tools `search_events`, `search_issues` and `search_issue_events`.
///
/// The tools decide what of the answer they take: filters that the caller wrote are never weakened.
#[async_trait]
pub trait QueryAgent: Send + Sync + fmt::Debug {
    /// Turns what the caller asked for into a search. One attempt: the tool does not ask again.
    ///
    /// # Errors
    /// What was asked for cannot be searched for, or the model was of no use.
    async fn translate(&self, question: &Question<'_>) -> Result<Translated, AgentFailure>;
}

/// Which tool asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Search {
    /// `search_events`: any data set.
    Events,
    /// `search_issues`.
    Issues,
    /// `search_issue_events`: events of one issue.
    IssueEvents,
}

/// What a caller asked a search tool for, and where the agent may look things up.
#[derive(Debug, Clone)]
pub struct Question<'a> {
    /// Which tool asks.
    pub search: Search,
    /// Plain words, search syntax, or both; may be empty.
    pub query: &'a str,
    /// The data set the caller named.
    pub dataset: Option<Dataset>,
    /// The columns the caller named.
    pub fields: &'a [String],
    /// The order the caller named, as in `-timestamp`.
    pub sort: Option<&'a str>,
    /// The environments the caller named.
    pub environments: &'a [String],
    /// The time the caller named.
    pub time: Option<&'a TimeRange>,
    /// The organization's slug.
    pub organization: &'a str,
    /// The project's numeric id.
    pub project: Option<&'a str>,
    /// Sentry, at the organization's region: for fields, attributes, validation, the user.
    pub sentry: &'a Client,
    /// When the answer must be there, so that the search itself still fits into the call.
    pub deadline: Instant,
}

/// A search, as the agent would write it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Translated {
    /// The data set; only for events.
    pub dataset: Option<Dataset>,
    /// In Sentry's search syntax, without time and order.
    pub query: String,
    /// The columns; not for issues.
    pub fields: Vec<String>,
    /// As in `-timestamp` or, for issues, `date`.
    pub sort: Option<String>,
    /// Environments of replays.
    pub environments: Vec<String>,
    /// The time that the words named.
    pub time: Option<TimeRange>,
    /// Why it is written so, in a sentence or two.
    pub explanation: Option<String>,
}

/// Why there is no search.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AgentFailure {
    /// The words cannot be searched for, or the model's answer has not the agreed form. The caller
    /// reads this and asks in another way.
    #[error("{0}")]
    Request(String),
    /// The provider could not be reached, refused, or is out of quota. The caller's own query is
    /// used instead; the words are for the log.
    #[error("{0}")]
    Provider(String),
}
