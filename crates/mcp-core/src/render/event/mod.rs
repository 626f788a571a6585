//! Events as text: what went wrong, in the form the developers of each language know, then what
//! surrounded it. Whoever can send an event chose nearly all of it, so it belongs in a fence.

mod details;
mod exception;
mod frame;
mod language;
mod metric;
mod moment;
mod performance;
#[cfg(test)]
mod properties;
mod request;
mod sheet;
mod span;
mod stack;
mod thread;

use api_client::sentry::events::Event;
use serde_json::Value;

pub(crate) use details::{breadcrumb, breadcrumbs};
pub(crate) use frame::Frame;
pub(crate) use moment::moment_of;
pub(crate) use sheet::{Sheet, harmless, short, shorten};
pub(crate) use span::{Span, milliseconds};
pub(crate) use stack::{StackView, frames, relevant_frame};
pub(crate) use thread::{Thread, default_thread, table, threads};

/// Bytes of an event's text.
const ROOM: usize = 36_000;
/// Lines of a message.
const MOST_MESSAGE_LINES: usize = 40;
/// The newest breadcrumbs that are shown with an event.
pub(crate) const FEW_BREADCRUMBS: usize = 5;

/// An event as text. `spans` are those of its trace, for events that came without.
pub(crate) fn body(event: &Event, spans: &[Span]) -> String {
    let mut sheet = Sheet::new(ROOM);
    message(&mut sheet, event);
    if let Some(frame) = relevant(event) {
        relevant_frame(&mut sheet, frame, event.platform.as_deref());
    }
    exception::chain(&mut sheet, event, StackView::BRIEF);
    crashed_thread(&mut sheet, event);
    if let Some(data) = event.entry("request") {
        request::http(&mut sheet, data);
    }
    for kind in ["csp", "expectct", "expectstaple", "hpkp"] {
        if let Some(data) = event.entry(kind) {
            request::policy(&mut sheet, kind, data);
        }
    }
    if let Some(occurrence) = &event.occurrence {
        match metric::Numbers::of(occurrence) {
            Some(numbers) => metric::evidence(&mut sheet, occurrence, numbers),
            None => performance::evidence(&mut sheet, occurrence, &own_spans(event, spans)),
        }
    }
    if let Some(user) = &event.user {
        details::user(&mut sheet, user);
    }
    details::tags(&mut sheet, event);
    details::extra(&mut sheet, event);
    details::contexts(&mut sheet, event);
    last_breadcrumbs(&mut sheet, event);
    sheet.finish_or("The event has nothing that could be shown.")
}

/// The frame to look at first: of the innermost exception that has frames, else of the thread that
/// crashed.
pub(crate) fn relevant(event: &Event) -> Option<Frame<'_>> {
    let stacks = exception::exceptions(event).into_iter().filter_map(exception::Exception::stack);
    let of_thread = || default_thread(&threads(event)).and_then(|(it, _)| it.stack());
    stacks.into_iter().next().or_else(of_thread)?.relevant()
}

/// The stacks of the exceptions, for a close look.
pub(crate) fn exception_stacks(sheet: &mut Sheet, event: &Event) -> bool {
    exception::chain(sheet, event, StackView::WHOLE);
    !exception::exceptions(event).is_empty()
}

/// Whether its spans are worth fetching: it is about performance and came without.
pub(crate) fn lacks_spans(event: &Event) -> bool {
    let about_errors = matches!(event.kind.as_deref(), Some("error" | "default" | "csp") | None);
    let evidence = event.occurrence.as_ref().and_then(|it| it.get("evidenceData"));
    let names_spans = evidence.is_some_and(|it| it.get("offenderSpanIds").is_some());
    !about_errors && names_spans && event.entry("spans").is_none()
}

/// The trace an event belongs to, if its id has the form of one.
pub(crate) fn trace_id(event: &Event) -> Option<&str> {
    let id = event.contexts.get("trace")?.get("trace_id")?.as_str()?;
    (id.len() == 32 && id.bytes().all(|it| it.is_ascii_hexdigit())).then_some(id)
}

fn own_spans(event: &Event, fetched: &[Span]) -> Vec<Span> {
    let own = event.entry("spans").and_then(Value::as_array);
    let own: Vec<Span> = own.into_iter().flatten().filter_map(Span::of_event).collect();
    if own.is_empty() { fetched.to_vec() } else { own }
}

fn message(sheet: &mut Sheet, event: &Event) {
    let entry = event.entry("message").and_then(|it| {
        let said = |key: &str| it.get(key).and_then(Value::as_str).filter(|it| !it.is_empty());
        said("formatted").or_else(|| said("message"))
    });
    let own = event.message.as_deref().filter(|it| !it.trim().is_empty());
    if let Some(message) = entry.or(own) {
        sheet.section("Message");
        sheet.paragraph(message, MOST_MESSAGE_LINES);
    }
}

/// The stack of the thread that crashed, where no exception tells it, and the others by name.
fn crashed_thread(sheet: &mut Sheet, event: &Event) {
    let threads = threads(event);
    let has_stack = exception::exceptions(event).into_iter().any(|it| it.stack().is_some());
    if !has_stack && let Some((thread, _)) = default_thread(&threads) {
        sheet.section(format!("Stack of thread {}", thread.label()));
        if let Some(stack) = thread.stack() {
            frames(sheet, &stack, event.platform.as_deref(), StackView::BRIEF);
        }
    }
    if threads.len() > 1 {
        table(sheet, &threads);
    }
}

/// P35: the newest few; the rest have a tool of their own.
fn last_breadcrumbs(sheet: &mut Sheet, event: &Event) {
    let crumbs = breadcrumbs(event);
    let newest = crumbs.len().saturating_sub(FEW_BREADCRUMBS);
    sheet.section(match newest {
        0 => "Breadcrumbs".to_owned(),
        _ => format!("Breadcrumbs (the newest {FEW_BREADCRUMBS} of {})", crumbs.len()),
    });
    for crumb in crumbs.iter().skip(newest) {
        sheet.line(breadcrumb(crumb));
    }
}
