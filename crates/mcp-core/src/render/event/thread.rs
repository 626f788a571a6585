//! Threads: a table of them, and the stack of one.

use api_client::sentry::events::Event;
use serde_json::Value;

use super::frame::Stack;
use super::sheet::{Sheet, items, short, shorten, text};

/// The most rows of the table.
const MOST_THREADS: usize = 60;

/// One thread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Thread<'e>(&'e Value);

impl<'e> Thread<'e> {
    /// The number or text that names it.
    pub(crate) fn id(self) -> Option<String> {
        let id = self.0.get("id").filter(|it| it.is_number() || it.is_string());
        id.map(|it| short(it, 40)).filter(|it| !it.is_empty())
    }

    /// The name.
    pub(crate) fn name(self) -> Option<&'e str> {
        text(self.0, "name")
    }

    /// What it was doing, as in `BLOCKED`.
    pub(crate) fn state(self) -> Option<&'e str> {
        text(self.0, "state")
    }

    /// Whether it is the one that crashed.
    pub(crate) fn is_crashed(self) -> bool {
        self.0.get("crashed").and_then(Value::as_bool).unwrap_or(false)
    }

    /// Whether it sent the event.
    pub(crate) fn is_current(self) -> bool {
        self.0.get("current").and_then(Value::as_bool).unwrap_or(false)
    }

    /// Its frames, if it has any.
    pub(crate) fn stack(self) -> Option<Stack<'e>> {
        Stack::of(self.0)
    }

    /// One line about it.
    pub(crate) fn label(self) -> String {
        let id = self.id().unwrap_or_else(|| "?".to_owned());
        let name = self.name().map(|it| format!(" {}", shorten(it, 60))).unwrap_or_default();
        let flags = [
            self.state(),
            self.is_crashed().then_some("crashed"),
            self.is_current().then_some("current"),
            self.stack().is_none().then_some("no stack"),
        ];
        let flags: Vec<_> = flags.into_iter().flatten().map(|it| shorten(it, 40)).collect();
        let flags =
            if flags.is_empty() { String::new() } else { format!(" ({})", flags.join(", ")) };
        format!("{id}:{name}{flags}")
    }
}

/// The threads of an event.
pub(crate) fn threads(event: &Event) -> Vec<Thread<'_>> {
    let values = event.entry("threads").map(|it| items(it, "values")).unwrap_or_default();
    values.iter().filter(|it| it.is_object()).map(Thread).collect()
}

/// The thread to look at when nobody names one, and why.
pub(crate) fn default_thread<'e>(threads: &[Thread<'e>]) -> Option<(Thread<'e>, &'static str)> {
    let find = |holds: fn(&Thread<'e>) -> bool| threads.iter().copied().find(holds);
    find(|it| it.is_crashed())
        .map(|it| (it, "it crashed"))
        .or_else(|| find(|it| it.stack().is_some()).map(|it| (it, "it is the first with a stack")))
        .or_else(|| threads.first().map(|it| (*it, "it is the first")))
}

/// A line for each thread.
pub(crate) fn table(sheet: &mut Sheet, threads: &[Thread<'_>]) {
    sheet.section(format!("Threads ({})", threads.len()));
    for thread in threads.iter().take(MOST_THREADS) {
        sheet.line(thread.label());
    }
    if threads.len() > MOST_THREADS {
        sheet.line(format!("… {} more", threads.len() - MOST_THREADS));
    }
}
