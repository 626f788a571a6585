//! Exceptions: the outermost first, each followed by the one that led to it.

use api_client::sentry::events::Event;
use serde_json::Value;

use super::frame::Stack;
use super::language::Language;
use super::sheet::{Sheet, items, shorten, text};
use super::stack::{self, StackView};

/// The most exceptions of a chain.
const MOST_EXCEPTIONS: usize = 8;
/// The most characters of an exception's message, and its lines.
const LONGEST_VALUE: usize = 2_000;
const MOST_LINES: usize = 12;

/// One exception.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exception<'e>(&'e Value);

impl<'e> Exception<'e> {
    /// Its frames, if it has any.
    pub(crate) fn stack(self) -> Option<Stack<'e>> {
        Stack::of(self.0)
    }

    /// Its type and what it says, as the language writes them.
    fn title(self, language: Language) -> String {
        let kind = text(self.0, "type").unwrap_or_default();
        let qualified = match (language, text(self.0, "module")) {
            (Language::Java | Language::Python, Some(module)) if !kind.contains('.') => {
                format!("{module}.{kind}")
            }
            _ => kind.to_owned(),
        };
        let value = text(self.0, "value").map(|it| shorten_lines(it, LONGEST_VALUE));
        match (qualified.is_empty(), value) {
            (false, Some(value)) => format!("{qualified}: {value}"),
            (false, None) => qualified,
            (true, Some(value)) => value,
            (true, None) => "an exception without type or message".to_owned(),
        }
    }

    /// How it came to Sentry.
    fn mechanism(self) -> Option<String> {
        let mechanism = self.0.get("mechanism")?;
        let handled = mechanism.get("handled").and_then(Value::as_bool);
        let handled = handled.map(|it| if it { "handled" } else { "not handled" });
        let kind = text(mechanism, "type").filter(|it| *it != "generic" && *it != "chained");
        let parts: Vec<_> = handled.into_iter().chain(kind).collect();
        (!parts.is_empty()).then(|| shorten(&parts.join(", "), 100))
    }
}

/// The exceptions of an event, the innermost first.
pub(crate) fn exceptions(event: &Event) -> Vec<Exception<'_>> {
    let values = event.entry("exception").map(|it| items(it, "values")).unwrap_or_default();
    values.iter().filter(|it| it.is_object()).map(Exception).collect()
}

/// The chain, with stacks.
pub(crate) fn chain(sheet: &mut Sheet, event: &Event, view: StackView) {
    let platform = event.platform.as_deref();
    let exceptions = exceptions(event);
    let mut before: Option<Language> = None;
    sheet.section("Exception");
    for exception in exceptions.iter().rev().take(MOST_EXCEPTIONS) {
        let stack = exception.stack();
        let newest = stack.as_ref().and_then(|it| it.frames.last().copied());
        let language = newest
            .map(|it| Language::of(it, platform))
            .or_else(|| platform.and_then(Language::of_platform))
            .unwrap_or(Language::Other);
        if let Some(before) = before.replace(language) {
            sheet.line("");
            sheet.line(before.caused_by());
        }
        sheet.paragraph(&exception.title(language), MOST_LINES);
        if let Some(mechanism) = exception.mechanism() {
            sheet.line(format!("  ({mechanism})"));
        }
        match stack {
            Some(stack) => stack::frames(sheet, &stack, platform, view),
            None => sheet.line("  (no stack)"),
        }
    }
    if exceptions.len() > MOST_EXCEPTIONS {
        sheet.line(format!("… {} more exceptions", exceptions.len() - MOST_EXCEPTIONS));
    }
}

/// A text of several lines, at most so many characters.
fn shorten_lines(text: &str, most: usize) -> String {
    let mut characters = text.char_indices();
    match characters.nth(most) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}
