//! The data sets that can be searched, and what each is searched with when the caller says nothing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::syntax;

/// One kind of what projects send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Dataset {
    /// Spans of traces.
    Spans,
    /// Error events.
    Errors,
    /// Log lines.
    Logs,
    /// Samples of metrics.
    Metrics,
    /// Profiles.
    Profiles,
    /// Session replays.
    Replays,
}

impl Dataset {
    /// Every data set.
    pub const ALL: [Self; 6] =
        [Self::Spans, Self::Errors, Self::Logs, Self::Metrics, Self::Profiles, Self::Replays];

    /// The name that callers use.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Spans => "spans",
            Self::Errors => "errors",
            Self::Logs => "logs",
            Self::Metrics => "metrics",
            Self::Profiles => "profiles",
            Self::Replays => "replays",
        }
    }

    /// The name in Sentry's API.
    #[must_use]
    pub fn api_id(self) -> &'static str {
        match self {
            Self::Metrics => "tracemetrics",
            other => other.id(),
        }
    }

    /// The columns that are read when none are named; a replay is always read whole.
    #[must_use]
    pub fn default_fields(self) -> &'static [&'static str] {
        match self {
            Self::Errors => &[
                "issue",
                "title",
                "project",
                "timestamp",
                "level",
                "message",
                "error.type",
                "culprit",
                "user.email",
                "user.id",
            ],
            Self::Logs => &["timestamp", "project", "message", "severity", "trace"],
            Self::Spans => &[
                "id",
                "span.op",
                "span.description",
                "span.duration",
                "transaction",
                "timestamp",
                "project",
                "trace",
            ],
            Self::Metrics => &[
                "id",
                "timestamp",
                "project",
                "trace",
                "metric.name",
                "metric.type",
                "metric.unit",
                "value",
            ],
            Self::Profiles => &[
                "project",
                "profile.id",
                "profiler.id",
                "thread.id",
                "timestamp",
                "transaction",
                "transaction.duration",
                "release",
                "environment",
                "trace",
                "precise.start_ts",
                "precise.finish_ts",
            ],
            Self::Replays => &[],
        }
    }

    /// The order when none is named: the newest first.
    #[must_use]
    pub fn default_sort(self) -> &'static str {
        match self {
            Self::Replays => "-started_at",
            Self::Errors | Self::Logs | Self::Spans | Self::Metrics | Self::Profiles => {
                "-timestamp"
            }
        }
    }

    /// What to try when nothing was found.
    pub(crate) fn advice(self, query: &str) -> String {
        let what = match self {
            Self::Spans => "span",
            Self::Errors => "error",
            Self::Logs => "log line",
            Self::Metrics => "sample",
            Self::Profiles => "profile",
            Self::Replays => "replay",
        };
        let syntax = if query.is_empty() || syntax::is_structured(query) {
            "Widen the time, or drop a filter."
        } else {
            "Words match only as they stand: write filters as `key:value`, or widen the time."
        };
        format!("No {what} matches. {syntax}")
    }
}
