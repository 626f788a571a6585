//! Searches over events, shared by the search tools: from what a caller asked for to what is run.
//!
//! What a caller wrote in Sentry's syntax is authoritative: [`plan`] decides what an embedded agent
//! may add to it.

mod ask;
mod columns;
mod dataset;
mod gate;
mod link;
mod plan;
mod syntax;

use api_client::sentry::{Client, time::TimeRange};

use crate::error::ToolError;

pub(crate) use ask::{Asked, Asker, FAILED, rewritten};
pub use columns::REPLAY_SORTS;
pub(crate) use columns::normal_sort;
pub use dataset::Dataset;
pub(crate) use gate::check;
pub(crate) use link::{append_time, page};
pub(crate) use plan::{DEFAULT_PERIOD, Plan, Wish};

/// The number that lists know a project by.
pub(crate) async fn project_number(
    sentry: &Client,
    organization: &str,
    project: &str,
) -> Result<String, ToolError> {
    if project.bytes().all(|it| it.is_ascii_digit()) {
        return Ok(project.to_owned());
    }
    Ok(sentry.project(organization, project).await?.id)
}

/// A stretch of time in words.
pub(crate) fn told(time: &TimeRange) -> String {
    match time {
        TimeRange::Last(period) => period.clone(),
        TimeRange::Between { start, end } => format!("{start} to {end}"),
    }
}
