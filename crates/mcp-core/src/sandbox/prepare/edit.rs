//! Edits of a script in place: text becomes spaces, or is inserted, and no line ever moves.

use std::collections::HashMap;

/// The edits of one source text, by byte offset.
#[derive(Debug, Default)]
pub(super) struct Edits {
    edits: Vec<Edit>,
    /// The latest blanked text that ends at an offset, as an index of `edits`.
    ends: HashMap<usize, usize>,
}

#[derive(Debug)]
enum Edit {
    Insert { at: usize, text: String },
    Blank { start: usize, end: usize, first: Option<char> },
}

/// Text that stands in the result and not in the source.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Insertion {
    /// Line of the result, counted from 1.
    pub line: u32,
    /// Column of the result where it begins, counted from 1.
    pub column: u32,
    /// Its length in characters.
    pub width: u32,
}

impl Edits {
    /// Replaces text by spaces; line ends stay.
    pub(super) fn blank(&mut self, start: usize, end: usize) {
        self.push_blank(start, end, None);
    }

    /// Replaces text by spaces, its first character by `first`.
    pub(super) fn blank_as(&mut self, start: usize, end: usize, first: char) {
        self.push_blank(start, end, Some(first));
    }

    fn push_blank(&mut self, start: usize, end: usize, first: Option<char>) {
        if start < end {
            self.ends.insert(end, self.edits.len());
            self.edits.push(Edit::Blank { start, end, first });
        }
    }

    /// Inserts text on one line.
    pub(super) fn insert(&mut self, at: usize, text: impl Into<String>) {
        self.edits.push(Edit::Insert { at, text: text.into() });
    }

    /// Inserts text behind what is left of an expression that ends at `end`.
    pub(super) fn insert_after(&mut self, end: usize, text: impl Into<String>) {
        let trailing = self.blank_ending_at(end).map(|(start, _)| start);
        self.insert(trailing.unwrap_or(end), text);
    }

    /// Ends a statement with a semicolon where it ends with blanked text: what follows on the next
    /// line could be read as its continuation.
    pub(super) fn end_statement(&mut self, statement_end: usize) {
        if let Some((_, first @ None)) = self.blank_ending_at(statement_end) {
            *first = Some(';');
        }
    }

    fn blank_ending_at(&mut self, end: usize) -> Option<(usize, &mut Option<char>)> {
        match self.edits.get_mut(*self.ends.get(&end)?)? {
            Edit::Blank { start, first, .. } => Some((*start, first)),
            Edit::Insert { .. } => None,
        }
    }

    /// The edited text, and where it has more than the source.
    pub(super) fn apply(mut self, source: &str) -> (String, Vec<Insertion>) {
        // Stable: several insertions at one place keep their order.
        self.edits.sort_by_key(|edit| match edit {
            Edit::Insert { at, .. } => (*at, 0),
            Edit::Blank { start, .. } => (*start, 1),
        });
        let mut writer = Writer::default();
        let mut position = 0;
        for edit in &self.edits {
            match edit {
                Edit::Insert { at, text } => {
                    writer.copy(source, position, *at);
                    position = position.max(*at);
                    writer.insert(text);
                }
                Edit::Blank { start, end, first } => {
                    writer.copy(source, position, *start);
                    position = position.max(*start);
                    let blanked = source.get(position..*end).unwrap_or_default();
                    writer.blank(blanked, *first);
                    position = position.max(*end);
                }
            }
        }
        writer.copy(source, position, source.len());
        (writer.text, writer.insertions)
    }
}

#[derive(Default)]
struct Writer {
    text: String,
    insertions: Vec<Insertion>,
    line_start: usize,
    lines: u32,
}

impl Writer {
    fn copy(&mut self, source: &str, start: usize, end: usize) {
        let copied = source.get(start..end).unwrap_or_default();
        if let Some(last) = copied.rfind('\n') {
            self.lines += count(copied.bytes().filter(|byte| *byte == b'\n').count());
            self.line_start = self.text.len() + last + 1;
        }
        self.text.push_str(copied);
    }

    fn blank(&mut self, blanked: &str, mut first: Option<char>) {
        for c in blanked.chars() {
            match c {
                '\n' => {
                    self.text.push(c);
                    self.lines += 1;
                    self.line_start = self.text.len();
                }
                '\r' | '\u{2028}' | '\u{2029}' => self.text.push(c),
                _ => self.text.push(first.take().unwrap_or(' ')),
            }
        }
    }

    fn insert(&mut self, text: &str) {
        let column = self.text[self.line_start..].chars().count() + 1;
        self.insertions.push(Insertion {
            line: self.lines + 1,
            column: count(column),
            width: count(text.chars().count()),
        });
        self.text.push_str(text);
    }
}

/// Scripts are far smaller than what `u32` counts.
fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanked_text_keeps_its_columns_and_lines() {
        let mut edits = Edits::default();
        edits.blank(1, 7);
        edits.blank_as(7, 8, ';');
        assert_eq!(edits.apply("aé<\r\nb>c").0, "a  \r\n ;c");
    }

    #[test]
    fn insertions_know_their_place_in_the_result() {
        let mut edits = Edits::default();
        edits.insert(0, "((");
        edits.blank(4, 6);
        edits.insert_after(6, ")");
        let (text, insertions) = edits.apply("é\nb T c");
        assert_eq!(text, "((é\nb)   c");
        let first = Insertion { line: 1, column: 1, width: 2 };
        assert_eq!(insertions, [first, Insertion { line: 2, column: 2, width: 1 }]);
    }
}
