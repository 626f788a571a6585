//! Plain text within a budget: lines are cleaned, values shortened, and what did not fit is said.

use std::{fmt::Write as _, io};

use serde_json::{Map, Value};

/// The most characters of one line.
const LONGEST_LINE: usize = 400;

/// Text that is being written, section by section.
#[derive(Debug)]
pub(crate) struct Sheet {
    text: String,
    room: usize,
    /// The heading of a section that has no line yet.
    heading: Option<String>,
    left_out: usize,
}

impl Sheet {
    /// Starts a text of at most about so many bytes.
    pub(crate) fn new(room: usize) -> Self {
        Self { text: String::new(), room, heading: None, left_out: 0 }
    }

    /// Starts a section; it shows only if a line follows.
    pub(crate) fn section(&mut self, heading: impl Into<String>) {
        self.heading = Some(heading.into());
    }

    /// Adds a line, shortened where it is very long.
    pub(crate) fn line(&mut self, line: impl AsRef<str>) {
        let line = shorten(line.as_ref(), LONGEST_LINE);
        let heading = self.heading.as_ref().map_or(0, |it| it.len() + 2);
        // Once something was left out, what follows would stand in the wrong place.
        if self.left_out > 0 || self.text.len() + heading + line.len() + 1 > self.room {
            self.left_out += 1;
            return;
        }
        if let Some(heading) = self.heading.take() {
            if !self.text.is_empty() {
                self.text.push('\n');
            }
            self.text.push_str(&heading);
            self.text.push('\n');
        }
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    /// Adds `name: value`, where there is a value.
    pub(crate) fn fact(&mut self, name: &str, value: Option<impl AsRef<str>>) {
        if let Some(value) = value.filter(|it| !it.as_ref().trim().is_empty()) {
            self.line(format!("{name}: {}", value.as_ref()));
        }
    }

    /// Adds the lines of a text, at most so many.
    pub(crate) fn paragraph(&mut self, text: &str, most: usize) {
        let mut lines = text.lines();
        for line in lines.by_ref().take(most) {
            self.line(line);
        }
        let rest = lines.count();
        if rest > 0 {
            self.line(format!("… {rest} more lines"));
        }
    }

    /// Whether nothing was written yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.left_out == 0
    }

    /// The text, or these words where there is none.
    pub(crate) fn finish_or(self, words: &str) -> String {
        if self.is_empty() { format!("{words}\n") } else { self.finish() }
    }

    /// The text; it says so where something was left out.
    pub(crate) fn finish(mut self) -> String {
        if self.left_out > 0 {
            // Writing to a `String` cannot fail.
            writeln!(self.text, "… {} more lines did not fit", self.left_out).ok();
        }
        self.text
    }
}

/// A text without what a terminal or a reader could be led astray by, at most so many characters.
pub(crate) fn shorten(text: &str, most: usize) -> String {
    let mut characters = text.chars();
    let mut kept: String = characters.by_ref().take(most).map(harmless).collect();
    if characters.next().is_some() {
        kept.push('…');
    }
    kept
}

/// A character that neither moves the cursor nor turns the direction of writing, or one in its place.
pub(crate) fn harmless(it: char) -> char {
    match it {
        '\t' => it,
        '\u{2028}' | '\u{2029}' => ' ',
        // Marks that turn the direction of writing.
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        _ if it.is_control() => ' ',
        _ => it,
    }
}

/// A value on one line: text as it is, anything else as JSON.
pub(crate) fn short(value: &Value, most: usize) -> String {
    if let Value::String(text) = value {
        return shorten(text, most);
    }
    // Four bytes are the most of a character; a value of megabytes is not written out to be cut.
    let mut start = Start { bytes: Vec::new(), most: most.saturating_mul(4).saturating_add(4) };
    serde_json::to_writer(&mut start, value).ok();
    shorten(&String::from_utf8_lossy(&start.bytes), most)
}

/// Keeps the beginning of what is written to it.
struct Start {
    bytes: Vec<u8>,
    most: usize,
}

impl io::Write for Start {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let room = self.most - self.bytes.len();
        if room == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        let taken = buffer.len().min(room);
        self.bytes.extend_from_slice(buffer.get(..taken).unwrap_or_default());
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A text field that says something.
pub(crate) fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key).and_then(Value::as_str).filter(|it| !it.trim().is_empty())
}

/// A field that is a whole number, or text that is one.
pub(crate) fn number(value: &Value, key: &str) -> Option<u64> {
    let field = value.get(key)?;
    field.as_u64().or_else(|| field.as_str()?.trim().parse().ok())
}

/// The items of a list, or none.
pub(crate) fn items<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The fields of an object as lines, at most so many; empty ones are left out.
pub(crate) fn fields(sheet: &mut Sheet, fields: &Map<String, Value>, most: usize, width: usize) {
    let said = |value: &Value| match value {
        Value::Null => false,
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    };
    let mut known = fields.iter().filter(|(_, value)| said(value));
    for (name, value) in known.by_ref().take(most) {
        sheet.line(format!("{}: {}", shorten(name, 80), short(value, width)));
    }
    let rest = known.count();
    if rest > 0 {
        sheet.line(format!("… {rest} more"));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_section_without_lines_does_not_show() {
        let mut sheet = Sheet::new(1_000);
        sheet.section("Empty");
        sheet.section("Facts");
        sheet.fact("a", Some("1"));
        sheet.fact("b", None::<&str>);
        assert_eq!(sheet.finish(), "Facts\na: 1\n");
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let mut sheet = Sheet::new(10);
        for line in ["12345", "12345", "1"] {
            sheet.line(line);
        }
        assert_eq!(sheet.finish(), "12345\n… 2 more lines did not fit\n");
    }

    #[test]
    fn values_are_short_and_harmless() {
        assert_eq!(short(&json!("a\u{1b}[2J\u{202e}b\n"), 80), "a [2J\u{fffd}b ");
        assert_eq!(short(&json!({"a": [1, null]}), 80), r#"{"a":[1,null]}"#);
        assert_eq!(short(&json!(["éééééééé"]), 4).chars().count(), 5);
        let large = json!(vec!["x".repeat(1_000); 1_000]);
        assert_eq!(short(&large, 10).chars().count(), 11);
    }
}
