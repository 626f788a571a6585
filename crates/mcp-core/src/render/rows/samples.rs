//! Spans, profiles and metrics: one sample, its fields, and the pages that show more.

use api_client::sentry::time::moment;

use crate::render::{event::Sheet, segment};

use super::{Link, Row};

/// Columns in milliseconds.
const DURATIONS: [&str; 3] = ["span.duration", "span.self_time", "transaction.duration"];

/// A span.
pub(super) fn span(sheet: &mut Sheet, number: usize, row: &Row<'_>, link: Link<'_>) {
    let what = row.first(&["span.description", "span.name", "transaction", "id"]);
    let heading: Vec<String> = [row.said("span.op"), what].into_iter().flatten().collect();
    heading_line(sheet, number, &heading.join(" "), "(no description)");
    durations(sheet, row);
    row.trace(sheet, link);
    row.rest(sheet, &[&DURATIONS[..], &["span.op", "span.description", "trace"]].concat());
}

/// A profile: of one transaction, or a stretch of a continuous one.
pub(super) fn profile(sheet: &mut Sheet, number: usize, row: &Row<'_>, link: Link<'_>) {
    let what = row.first(&["transaction", "profile.id", "profiler.id"]).unwrap_or_default();
    heading_line(sheet, number, &what, "(no transaction)");
    if let Some(page) = profile_page(row) {
        sheet.line(format!("   profile page: {}", link(&page)));
    }
    durations(sheet, row);
    row.trace(sheet, link);
    row.rest(sheet, &[&DURATIONS[..], &["transaction", "trace"]].concat());
}

fn profile_page(row: &Row<'_>) -> Option<String> {
    let project = segment(&row.said("project")?);
    if let Some(profile) = row.said("profile.id") {
        let profile = segment(&profile);
        return Some(format!("/explore/profiling/profile/{project}/{profile}/flamegraph/"));
    }
    let profiler = segment(&row.said("profiler.id")?);
    // Whole seconds around the stretch; what is out of reach is no moment.
    let seconds = |key: &str| row.number(key).filter(|it| (0.0..4e9).contains(it));
    let start = moment(seconds("precise.start_ts")?.floor() as i64);
    let end = moment(seconds("precise.finish_ts")?.ceil() as i64);
    Some(format!(
        "/explore/profiling/profile/{project}/flamegraph/?profilerId={profiler}&start={start}&end={end}"
    ))
}

/// A sample of a metric.
pub(super) fn metric(sheet: &mut Sheet, number: usize, row: &Row<'_>, link: Link<'_>) {
    let name = row.first(&["metric.name", "id"]).unwrap_or_default();
    let form: Vec<String> =
        ["metric.type", "metric.unit"].into_iter().filter_map(|it| row.said(it)).collect();
    let form = if form.is_empty() { String::new() } else { format!(" ({})", form.join(", ")) };
    let value = row.said("value").map(|it| format!(": {it}")).unwrap_or_default();
    heading_line(sheet, number, &format!("{name}{form}{value}"), "(no name)");
    row.trace(sheet, link);
    row.rest(sheet, &["metric.name", "metric.type", "metric.unit", "value", "trace"]);
}

/// A row of no particular kind.
pub(super) fn plain(sheet: &mut Sheet, number: usize, row: &Row<'_>, link: Link<'_>) {
    heading_line(sheet, number, &row.said("id").unwrap_or_default(), "(no id)");
    row.trace(sheet, link);
    row.rest(sheet, &["trace"]);
}

fn heading_line(sheet: &mut Sheet, number: usize, text: &str, without: &str) {
    let text = if text.trim().is_empty() { without } else { text };
    sheet.line(format!("{number}. {text}"));
}

fn durations(sheet: &mut Sheet, row: &Row<'_>) {
    for key in DURATIONS {
        match row.number(key) {
            Some(number) => {
                sheet.line(format!("   {key}: {} ms", (number * 100.0).round() / 100.0));
            }
            None => row.show(sheet, &[key]),
        }
    }
}
