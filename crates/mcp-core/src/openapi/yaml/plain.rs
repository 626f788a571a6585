//! The YAML that documents are written in, without the rest of the language: block collections,
//! scalars of every style, and flow collections on one line. It reads several times faster than the
//! full parser does, which gets everything else: anchors, tags, tabs, errors.
//!
//! What is answered here is what the full parser would answer, to the byte; a test and a fuzz target
//! hold the two together.

use std::borrow::Cow;

use super::scalar;
use super::{close, write_string};

/// More levels are left to the full parser, which has a limit of its own.
const MAX_DEPTH: usize = 100;
/// A longer key is no key in YAML.
const MAX_KEY: usize = 1_000;

/// Converts a document, or answers `None` where it holds anything unusual.
pub(super) fn to_json(text: &str) -> Option<String> {
    let lines = if text.contains("\r\n") {
        Cow::Owned(text.replace("\r\n", "\n"))
    } else {
        Cow::Borrowed(text)
    };
    let text = lines.strip_prefix("---\n").unwrap_or(&lines);
    if text.chars().any(is_unusual) {
        return None;
    }
    let mut reader = Reader { text, at: 0, json: String::with_capacity(text.len()), depth: 0 };
    let line = reader.line()?;
    reader.node(line?, None)?;
    // All of it was read.
    reader.line()?.is_none().then_some(reader.json)
}

/// Characters that YAML refuses or takes for the end of a line.
fn is_unusual(character: char) -> bool {
    match character {
        '\n' | '\t' | ' '..='~' => false,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => true,
        _ => matches!(character, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'),
    }
}

/// A position in the text. Every `None` means: leave it to the full parser.
pub(super) struct Reader<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    json: String,
    depth: usize,
}

impl<'t> Reader<'t> {
    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// What is left of this line.
    pub(super) fn rest_of_line(&self) -> &'t str {
        let rest = self.rest();
        rest.find('\n').and_then(|end| rest.get(..end)).unwrap_or(rest)
    }

    /// Stands on the first character of the next line that says something, past blanks and comments,
    /// and answers its column; the inner `None` is the end of the text. To be called where a line starts.
    fn line(&mut self) -> Option<Option<usize>> {
        loop {
            let line = self.rest_of_line();
            let content = line.trim_start_matches(' ');
            if content.starts_with('\t') {
                return None;
            }
            if !content.is_empty() && !content.starts_with('#') {
                let column = line.len() - content.len();
                let marks = ["---", "...", "%"];
                if column == 0 && marks.iter().any(|mark| content.starts_with(mark)) {
                    return None;
                }
                self.at += column;
                return Some(Some(column));
            }
            if self.at + line.len() >= self.text.len() {
                self.at = self.text.len();
                return Some(None);
            }
            self.at += line.len() + 1;
        }
    }

    /// Looks at the next line and stays where it is.
    fn peek(&mut self) -> Option<Option<usize>> {
        let at = self.at;
        let line = self.line();
        self.at = at;
        line
    }

    /// Passes what may follow a value on its line: blanks and a comment.
    fn end_line(&mut self) -> Option<()> {
        let rest = self.rest_of_line();
        let after = rest.trim_start_matches(' ');
        let is_over = after.is_empty() || after.starts_with('#') && after.len() < rest.len();
        if !is_over {
            return None;
        }
        self.at = (self.at + rest.len() + 1).min(self.text.len());
        Some(())
    }

    fn skip_spaces(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches(' ').len();
    }

    /// The value that starts here, at `column`, inside a collection that is indented by `parent`.
    fn node(&mut self, column: usize, parent: Option<usize>) -> Option<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        if is_entry(self.rest_of_line()) {
            self.sequence(column)?;
        } else if let Some(key) = self.key() {
            self.mapping(column, key)?;
        } else {
            self.scalar(parent?)?;
        }
        self.depth -= 1;
        Some(())
    }

    fn sequence(&mut self, column: usize) -> Option<()> {
        self.json.push('[');
        let start = self.json.len();
        loop {
            self.at += 1;
            let dash = self.at;
            self.skip_spaces();
            let rest = self.rest_of_line();
            if rest.is_empty() || rest.starts_with('#') {
                self.at = dash;
                self.end_line()?;
                self.below(column, false)?;
            } else {
                self.node(column + 1 + (self.at - dash), Some(column))?;
            }
            self.json.push(',');
            match self.peek()? {
                Some(next) if next > column => return None,
                Some(next) if next == column => {
                    self.line()?;
                    if !is_entry(self.rest_of_line()) {
                        // A key after entries that are indented no deeper than it.
                        self.at -= column;
                        break;
                    }
                }
                _ => break,
            }
        }
        close(&mut self.json, start, ']');
        Some(())
    }

    fn mapping(&mut self, column: usize, first: Key<'t>) -> Option<()> {
        self.json.push('{');
        let start = self.json.len();
        let mut key = first;
        loop {
            if key.text() == "<<" {
                return None;
            }
            write_string(&mut self.json, key.text());
            self.json.push(':');
            self.at = key.end;
            self.skip_spaces();
            let rest = self.rest_of_line();
            if rest.is_empty() || rest.starts_with('#') {
                self.at = key.end;
                self.end_line()?;
                self.below(column, true)?;
            } else {
                self.scalar(column)?;
            }
            self.json.push(',');
            match self.peek()? {
                Some(next) if next > column => return None,
                Some(next) if next == column => {
                    self.line()?;
                    key = self.key()?;
                }
                _ => break,
            }
        }
        close(&mut self.json, start, '}');
        Some(())
    }

    /// The value of a key or entry that has nothing beside it: on the lines below, or null. The
    /// entries of a key's sequence may stand in the column of the key.
    fn below(&mut self, column: usize, is_key: bool) -> Option<()> {
        match self.peek()? {
            Some(next) if next > column => {
                self.line()?;
                self.node(next, Some(column))
            }
            Some(next) if is_key && next == column => {
                let at = self.at;
                self.line()?;
                if is_entry(self.rest_of_line()) {
                    return self.node(next, Some(column));
                }
                self.at = at;
                self.json.push_str("null");
                Some(())
            }
            _ => {
                self.json.push_str("null");
                Some(())
            }
        }
    }

    /// The key that starts here, which is not passed; `None` as well where there is no key.
    fn key(&self) -> Option<Key<'t>> {
        let rest = self.rest_of_line();
        let mut reader = Self { text: self.text, at: self.at, json: String::new(), depth: 0 };
        let (text, length) = match rest.bytes().next()? {
            b'"' | b'\'' => {
                let quoted = scalar::quoted(&mut reader, usize::MAX)?;
                (quoted, reader.at - self.at)
            }
            first if starts_plain(first, rest) => {
                let end = plain_end(rest);
                rest.get(end..)?.strip_prefix(':')?;
                let text = rest.get(..end)?.trim_end_matches(' ');
                (Cow::Borrowed(text), end)
            }
            _ => return None,
        };
        let after = rest.get(length..)?.trim_start_matches(' ');
        let value = after.strip_prefix(':').filter(|it| it.is_empty() || it.starts_with(' '))?;
        let end = self.at + rest.len() - value.len();
        let is_short = !text.is_empty() && length < MAX_KEY && !rest.get(..length)?.contains('\t');
        is_short.then_some(Key { text, end })
    }

    /// A scalar or a flow collection, to the end of its last line.
    fn scalar(&mut self, parent: usize) -> Option<()> {
        let rest = self.rest_of_line();
        match rest.bytes().next()? {
            b'"' | b'\'' => {
                let text = scalar::quoted(self, parent)?;
                write_string(&mut self.json, &text);
                self.end_line()
            }
            b'|' | b'>' => {
                let text = scalar::block(self, parent)?;
                write_string(&mut self.json, &text);
                Some(())
            }
            b'[' | b'{' => {
                self.flow(0)?;
                self.end_line()
            }
            first if starts_plain(first, rest) => {
                let text = scalar::plain(self, parent)?;
                self.untagged(&text)
            }
            _ => None,
        }
    }

    /// A plain scalar by its meaning.
    fn untagged(&mut self, text: &str) -> Option<()> {
        let is_number = text.len() < 19
            && text.bytes().all(|byte| byte.is_ascii_digit())
            && (text == "0" || !text.starts_with('0'));
        if is_number || matches!(text, "true" | "false" | "null") {
            self.json.push_str(text);
        } else if scalar::may_be_special(text) {
            self.json.push_str(&super::parsed(text).ok()?);
        } else {
            write_string(&mut self.json, text);
        }
        Some(())
    }

    /// `[a, "b"]` and `{a: b}` on one line.
    fn flow(&mut self, depth: usize) -> Option<()> {
        if self.depth + depth > MAX_DEPTH {
            return None;
        }
        let open = self.rest().bytes().next()?;
        let (closing, bracket) = if open == b'[' { (']', b']') } else { ('}', b'}') };
        self.json.push(char::from(open));
        let start = self.json.len();
        self.at += 1;
        loop {
            self.skip_spaces();
            if self.rest().bytes().next()? == bracket {
                self.at += 1;
                break;
            }
            if open == b'{' {
                let key = self.flow_text()?;
                if key == "<<" || key.is_empty() {
                    return None;
                }
                write_string(&mut self.json, &key);
                self.rest().strip_prefix(": ")?;
                self.json.push(':');
                self.at += 2;
                self.skip_spaces();
            }
            match self.rest().bytes().next()? {
                b'[' | b'{' => self.flow(depth + 1)?,
                b'"' | b'\'' => {
                    let text = self.flow_text()?;
                    write_string(&mut self.json, &text);
                }
                _ => {
                    let text = self.flow_text()?;
                    self.untagged(&text)?;
                }
            }
            self.json.push(',');
            self.skip_spaces();
            match self.rest().bytes().next()? {
                b',' => self.at += 1,
                end if end == bracket => {}
                _ => return None,
            }
        }
        close(&mut self.json, start, closing);
        Some(())
    }

    /// A scalar in a flow collection. Plain ones of harmless characters only.
    fn flow_text(&mut self) -> Option<Cow<'t, str>> {
        let rest = self.rest_of_line();
        if rest.starts_with(['"', '\'']) {
            let before = self.at;
            let text = scalar::quoted(self, usize::MAX)?;
            return (self.at - before < MAX_KEY).then_some(text);
        }
        let is_harmless = |byte: u8| {
            byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'_' | b'-' | b'.' | b'/' | b'$')
        };
        let end = rest.bytes().position(|byte| !is_harmless(byte))?;
        let text = rest.get(..end)?.trim_end_matches(' ');
        let starts_well = text.starts_with(|it: char| it.is_ascii_alphanumeric());
        self.at += end;
        (starts_well && text.len() < MAX_KEY).then_some(Cow::Borrowed(text))
    }
}

/// A key and where its value may start.
struct Key<'t> {
    text: Cow<'t, str>,
    end: usize,
}

impl Key<'_> {
    fn text(&self) -> &str {
        &self.text
    }
}

/// Whether a line is an entry of a sequence.
fn is_entry(rest: &str) -> bool {
    rest.strip_prefix('-').is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// Whether a plain scalar may start like this.
fn starts_plain(first: u8, rest: &str) -> bool {
    match first {
        b'-' => !is_entry(rest),
        b'?' | b':' | b',' | b'[' | b']' | b'{' | b'}' | b'#' | b'&' | b'*' | b'!' | b'|'
        | b'>' | b'\'' | b'"' | b'%' | b'@' | b'`' | b'\t' | b'\n' => false,
        _ => true,
    }
}

/// Where plain text on this line ends: before a `:` that ends a key, before a comment, or with the line.
pub(super) fn plain_end(line: &str) -> usize {
    let bytes = line.as_bytes();
    let ends = |at: usize| match bytes.get(at) {
        Some(b':') => bytes.get(at + 1).is_none_or(|next| matches!(next, b' ' | b'\t')),
        Some(b'#') => at > 0 && matches!(bytes.get(at - 1), Some(b' ' | b'\t')),
        _ => false,
    };
    (0..bytes.len()).find(|&at| ends(at)).unwrap_or(bytes.len())
}
