//! Error events: what went wrong first, then what is known of it.

use serde_json::{Map, Value};

use crate::render::event::Sheet;

use super::{Link, Row};

/// What is looked at first.
const PRIORITY: [&str; 7] =
    ["project", "timestamp", "level", "error.type", "culprit", "user.email", "user.id"];
/// What a list of an issue's events says of each, in order.
const OF_ISSUE: [&str; 6] = ["eventID", "dateCreated", "culprit", "location", "user", "tags"];

/// A row of a search.
pub(super) fn row(sheet: &mut Sheet, number: usize, row: &Row<'_>, link: Link<'_>) {
    let title = row.first(&["title", "message", "error.type", "issue", "id"]);
    sheet.line(format!("{number}. {}", title.as_deref().unwrap_or("(no title)")));
    row.linked(sheet, "issue", |id| link(&format!("/issues/{id}")));
    row.show(sheet, &PRIORITY);
    // Most titles begin with the type and go on with the message.
    let message = row.said("message");
    let repeats = |it: &String| title.as_ref().is_some_and(|title| title.contains(it.as_str()));
    row.line(sheet, "message", message.filter(|it| !repeats(it)));
    row.trace(sheet, link);
    let shown = [&PRIORITY[..], &["title", "issue", "message", "trace"]].concat();
    row.rest(sheet, &shown);
}

/// An event in a list of its issue, which has other fields than a row of a search.
pub(crate) fn issue_event(sheet: &mut Sheet, number: usize, event: &Map<String, Value>) {
    let row = Row { fields: event, columns: &[] };
    let title = row.first(&["title", "message"]);
    sheet.line(format!("{number}. {}", title.as_deref().unwrap_or("(no title)")));
    if row.said("eventID").is_none() {
        row.show(sheet, &["id"]);
    }
    row.show(sheet, &OF_ISSUE);
    let message = row.said("message");
    row.line(sheet, "message", message.filter(|it| Some(it) != title.as_ref()));
}
