//! Columns and order of a search: what is asked for, and in which order the rows come.

use crate::error::ToolError;

use super::Dataset;

/// What replays can be ordered by, with or without a `-` before it.
pub const REPLAY_SORTS: [&str; 25] = [
    "activity",
    "browser.name",
    "browser.version",
    "count_dead_clicks",
    "count_errors",
    "count_infos",
    "count_rage_clicks",
    "count_urls",
    "count_warnings",
    "device.brand",
    "device.family",
    "device.model",
    "device.name",
    "dist",
    "duration",
    "finished_at",
    "os.name",
    "os.version",
    "platform",
    "project_id",
    "sdk.name",
    "started_at",
    "user.email",
    "user.id",
    "user.username",
];

/// What names the metric that a sample belongs to.
const METRIC: [&str; 3] = ["metric.name", "metric.type", "metric.unit"];

/// Whether a column is computed over many rows, as `count()` is.
pub(crate) fn is_aggregate(column: &str) -> bool {
    column.contains('(')
}

/// The column of an order such as `-timestamp`.
pub(crate) fn column(sort: &str) -> &str {
    sort.trim_start_matches('-')
}

/// An order as Sentry writes it, also from `timestamp desc` and `+timestamp`.
pub(crate) fn normal_sort(text: &str) -> String {
    let text = text.trim();
    let lower = text.to_ascii_lowercase();
    let bare = |text: &str| text.trim().trim_start_matches(['-', '+']).to_owned();
    if let Some(length) = lower.strip_suffix(" desc").map(str::len) {
        return format!("-{}", bare(text.get(..length).unwrap_or(text)));
    }
    if let Some(length) = lower.strip_suffix(" asc").map(str::len) {
        return bare(text.get(..length).unwrap_or(text));
    }
    match text.strip_prefix('-') {
        Some(rest) => format!("-{}", rest.trim()),
        None => text.trim_start_matches('+').trim().to_owned(),
    }
}

/// The order when none is named: the newest first, or the largest of the first function.
pub(crate) fn usual_sort(dataset: Dataset, fields: &[String]) -> String {
    match fields.iter().find(|it| is_aggregate(it)) {
        Some(function) => format!("-{function}"),
        None => dataset.default_sort().to_owned(),
    }
}

/// The columns to ask for: those named or the usual ones, what the order needs, and what tells
/// metrics apart.
pub(crate) fn wanted(dataset: Dataset, fields: &[String], sort: &str) -> Vec<String> {
    let mut columns: Vec<String> = Vec::new();
    let mut add = |name: &str| {
        if !name.is_empty() && !columns.iter().any(|it| it == name) {
            columns.push(name.to_owned());
        }
    };
    if fields.is_empty() {
        dataset.default_fields().iter().for_each(|it| add(it));
    }
    fields.iter().for_each(|it| add(it.trim()));
    let sorted_by = column(sort);
    let aggregates = columns.iter().any(|it| is_aggregate(it));
    let is_there = columns.iter().any(|it| it == sorted_by || alias(it) == sorted_by);
    // A plain column beside functions would change how the rows are grouped.
    if !is_there && (is_aggregate(sorted_by) || !aggregates) {
        columns.push(sorted_by.to_owned());
    }
    let aggregates = columns.iter().any(|it| is_aggregate(it));
    if dataset == Dataset::Metrics && !aggregates {
        for name in METRIC {
            if !columns.iter().any(|it| it == name) {
                columns.push(name.to_owned());
            }
        }
    }
    columns
}

/// The other name of a function: `p95_span_duration` for `p95(span.duration)`.
fn alias(column: &str) -> String {
    let words = column.split(|it: char| !it.is_ascii_alphanumeric() && it != '_');
    words.filter(|it| !it.is_empty()).collect::<Vec<_>>().join("_")
}

/// Refuses an order that replays do not have.
pub(crate) fn check_replay_sort(sort: &str) -> Result<(), ToolError> {
    if REPLAY_SORTS.contains(&column(sort)) {
        return Ok(());
    }
    let message = format!("replays cannot be sorted by `{}`", crate::render::inline(sort));
    Err(ToolError::user(message)
        .hint(format!("use one of these, with `-` for descending: {}", REPLAY_SORTS.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(names: &[&str]) -> Vec<String> {
        names.iter().map(|it| (*it).to_owned()).collect()
    }

    #[test]
    fn an_order_is_written_as_sentry_writes_it() {
        for (text, expected) in [
            ("-timestamp", "-timestamp"),
            (" count() DESC", "-count()"),
            ("-timestamp desc", "-timestamp"),
            ("timestamp asc", "timestamp"),
            ("+timestamp", "timestamp"),
            ("- timestamp", "-timestamp"),
            ("", ""),
        ] {
            assert_eq!(normal_sort(text), expected, "{text}");
        }
    }

    #[test]
    fn what_rows_are_ordered_by_is_asked_for() {
        let fields = owned(&["span.op", "id", "id"]);
        assert_eq!(
            wanted(Dataset::Spans, &fields, "-span.duration"),
            ["span.op", "id", "span.duration"]
        );
        let grouped = owned(&["span.op", "p95(span.duration)"]);
        for (sort, expected) in [
            ("-p95(span.duration)", 2),
            ("-p95_span_duration", 2),
            ("-count()", 3),
            ("-timestamp", 2),
        ] {
            assert_eq!(wanted(Dataset::Spans, &grouped, sort).len(), expected, "{sort}");
        }
        assert_eq!(wanted(Dataset::Logs, &[], "-timestamp"), Dataset::Logs.default_fields());
    }

    #[test]
    fn samples_of_metrics_say_which_metric_they_are_of() {
        let columns = wanted(Dataset::Metrics, &owned(&["value"]), "-timestamp");
        assert_eq!(columns, ["value", "timestamp", "metric.name", "metric.type", "metric.unit"]);
        let grouped =
            wanted(Dataset::Metrics, &owned(&["sum(value,a,counter,none)"]), "-timestamp");
        assert_eq!(grouped, ["sum(value,a,counter,none)"]);
    }

    #[test]
    fn groups_come_largest_first_and_samples_newest_first() {
        assert_eq!(usual_sort(Dataset::Errors, &owned(&["title", "count()"])), "-count()");
        assert_eq!(usual_sort(Dataset::Errors, &[]), "-timestamp");
        assert_eq!(usual_sort(Dataset::Replays, &[]), "-started_at");
    }

    #[test]
    fn replays_have_orders_of_their_own() {
        assert!(
            check_replay_sort("-count_errors").is_ok() && check_replay_sort("activity").is_ok()
        );
        assert!(check_replay_sort("-timestamp").is_err());
    }
}
