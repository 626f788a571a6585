//! Rows of searches over events as text. Whoever can send an event chose most of it, so it belongs
//! in a fence.

mod errors;
mod grouped;
mod logs;
#[cfg(test)]
mod properties;
mod replays;
mod samples;
mod value;

use serde_json::{Map, Value};

use crate::event_search::Dataset;

use super::{
    event::{Sheet, shorten},
    segment,
};

pub(crate) use errors::issue_event;
pub(crate) use grouped::grouped;
pub(crate) use replays::replays;

/// Bytes of a list.
pub(crate) const ROOM: usize = 60_000;
/// Columns of a row that are shown.
const MOST_COLUMNS: usize = 40;

/// From a path such as `/issues/1/` to its address.
pub(crate) type Link<'a> = &'a dyn Fn(&str) -> String;

/// The rows of a search, each by the kind of its data set.
pub(crate) fn table(
    dataset: Dataset,
    columns: &[String],
    rows: &[Map<String, Value>],
    link: Link<'_>,
) -> String {
    let mut sheet = Sheet::new(ROOM);
    let rows: Vec<Row<'_>> = rows.iter().map(|fields| Row { fields, columns }).collect();
    if dataset == Dataset::Logs {
        logs::lines(&mut sheet, &rows, link);
        return sheet.finish();
    }
    for (number, row) in (1..).zip(&rows) {
        match dataset {
            Dataset::Errors => errors::row(&mut sheet, number, row, link),
            Dataset::Spans => samples::span(&mut sheet, number, row, link),
            Dataset::Profiles => samples::profile(&mut sheet, number, row, link),
            Dataset::Metrics => samples::metric(&mut sheet, number, row, link),
            Dataset::Logs | Dataset::Replays => samples::plain(&mut sheet, number, row, link),
        }
    }
    sheet.finish()
}

/// A row with the columns it was asked for.
#[derive(Debug, Clone, Copy)]
struct Row<'r> {
    fields: &'r Map<String, Value>,
    columns: &'r [String],
}

impl Row<'_> {
    /// A field on one line, where it says something.
    fn said(&self, key: &str) -> Option<String> {
        value::said(self.fields.get(key)?)
    }

    /// The first of several fields that says something.
    fn first(&self, keys: &[&str]) -> Option<String> {
        keys.iter().find_map(|it| self.said(it))
    }

    /// A field that is a number.
    fn number(&self, key: &str) -> Option<f64> {
        let field = self.fields.get(key)?;
        let number = field.as_f64().or_else(|| field.as_str()?.trim().parse().ok());
        number.filter(|it| it.is_finite())
    }

    /// Adds the named fields.
    fn show(&self, sheet: &mut Sheet, keys: &[&str]) {
        for key in keys {
            self.line(sheet, key, self.said(key));
        }
    }

    /// Adds every other field, in the order of the columns.
    fn rest(&self, sheet: &mut Sheet, shown: &[&str]) {
        let asked = self.columns.iter().map(String::as_str);
        let added = self.fields.keys().map(String::as_str);
        let added = added.filter(|it| !self.columns.iter().any(|column| column == it));
        let mut others = asked
            .chain(added)
            .filter(|it| !shown.contains(it))
            .filter_map(|it| Some((it, self.said(it)?)));
        for (key, text) in others.by_ref().take(MOST_COLUMNS) {
            self.line(sheet, key, Some(text));
        }
        let more = others.count();
        if more > 0 {
            sheet.line(format!("   … {more} more columns"));
        }
    }

    fn line(&self, sheet: &mut Sheet, key: &str, text: Option<String>) {
        let Some(text) = text else { return };
        sheet.line(format!("   {}: {text}", shorten(key, 80)));
        if let Some(place) = self.fields.get(key).and_then(value::place) {
            sheet.line(format!("   {}: {place}", shorten(&format!("{key}.geo"), 80)));
        }
    }

    /// Adds an id with the page that shows it.
    fn linked(&self, sheet: &mut Sheet, key: &str, link: impl Fn(&str) -> String) {
        if let Some(id) = self.said(key) {
            sheet.line(format!("   {}: {id} {}", shorten(key, 80), link(&segment(&id))));
        }
    }

    /// Adds its trace, with a link.
    fn trace(&self, sheet: &mut Sheet, link: Link<'_>) {
        self.linked(sheet, "trace", |id| link(&format!("/explore/traces/trace/{id}")));
    }
}
