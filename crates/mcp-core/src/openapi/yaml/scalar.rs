//! The scalars of [`super::plain`]: how lines are folded into one text.

use std::borrow::Cow;

use super::plain::{Reader, plain_end};

/// A plain scalar, over as many lines as it has.
pub(super) fn plain<'t>(reader: &mut Reader<'t>, parent: usize) -> Option<Cow<'t, str>> {
    let (first, mut is_open) = plain_line(reader)?;
    let mut text = Cow::Borrowed(first);
    while is_open {
        let mut breaks = 0;
        let mut at = reader.at;
        // The next line that is not blank.
        let continued = loop {
            let rest = reader.text.get(at..)?;
            let line = rest.split('\n').next()?;
            let content = line.trim_start_matches(' ');
            breaks += 1;
            if content.starts_with('\t') {
                return None;
            }
            if !content.is_empty() {
                let column = line.len() - content.len();
                break (column > parent && !content.starts_with('#')).then_some(at + column);
            }
            if line.len() == rest.len() {
                break None;
            }
            at += line.len() + 1;
        };
        let Some(start) = continued else { break };
        reader.at = start;
        let (line, more) = plain_line(reader)?;
        fold(text.to_mut(), breaks);
        text.to_mut().push_str(line);
        is_open = more;
    }
    Some(text)
}

/// The text of one line, and whether the scalar may go on below. The line is passed.
fn plain_line<'t>(reader: &mut Reader<'t>) -> Option<(&'t str, bool)> {
    let line = reader.rest_of_line();
    let end = plain_end(line);
    let is_comment = match line.as_bytes().get(end) {
        None => false,
        Some(b'#') => true,
        // A key where none may be.
        Some(_) => return None,
    };
    reader.at = (reader.at + line.len() + 1).min(reader.text.len());
    let text = line.get(..end)?.trim_end_matches(' ');
    (!text.contains('\t')).then_some((text, !is_comment))
}

/// What so many line breaks between two pieces of text stand for.
fn fold(text: &mut String, breaks: usize) {
    if breaks == 1 {
        text.push(' ');
    }
    text.extend(std::iter::repeat_n('\n', breaks.saturating_sub(1)));
}

/// Whether a plain scalar may be a number, a boolean or null.
pub(super) fn may_be_special(text: &str) -> bool {
    if text.contains([' ', '\n']) {
        return false;
    }
    match text.bytes().next() {
        // Alone on a line, the marks would begin and end documents.
        Some(b'0'..=b'9' | b'+' | b'-' | b'.' | b'~') => !matches!(text, "---" | "..."),
        Some(b'n' | b'N' | b't' | b'T' | b'f' | b'F') => text.len() <= 5,
        _ => false,
    }
}

/// A quoted scalar; further lines must be indented deeper than `parent`, `usize::MAX` allows none.
pub(super) fn quoted<'t>(reader: &mut Reader<'t>, parent: usize) -> Option<Cow<'t, str>> {
    let quote = reader.rest().chars().next()?;
    reader.at += 1;
    let stops = [quote, '\n', if quote == '"' { '\\' } else { quote }];
    let mut text = Cow::Borrowed("");
    // Up to here blanks were asked for.
    let mut kept = 0;
    loop {
        let rest = reader.rest();
        let end = rest.find(stops)?;
        let piece = rest.get(..end)?;
        if text.is_empty() {
            text = Cow::Borrowed(piece);
        } else {
            text.to_mut().push_str(piece);
        }
        reader.at += end;
        let after = rest.get(end..)?;
        if after.starts_with('\n') {
            let blanks = text.get(kept..)?;
            let end = kept + blanks.trim_end_matches([' ', '\t']).len();
            text.to_mut().truncate(end);
            let breaks = pass_breaks(reader, parent)?;
            fold(text.to_mut(), breaks);
            kept = text.len();
        } else if after.starts_with('\\') {
            escape(reader, text.to_mut(), parent)?;
            kept = text.len();
        } else if quote == '\'' && after.starts_with("''") {
            text.to_mut().push('\'');
            reader.at += 2;
            kept = text.len();
        } else {
            reader.at += 1;
            return Some(text);
        }
    }
}

/// Passes line breaks and the blanks around them, and answers how many breaks there were.
fn pass_breaks(reader: &mut Reader<'_>, parent: usize) -> Option<usize> {
    let mut breaks = 0;
    loop {
        let rest = reader.rest();
        let content = rest.trim_start_matches(' ');
        let column = rest.len() - content.len();
        if let Some(after) = content.strip_prefix('\n') {
            breaks += 1;
            reader.at = reader.text.len() - after.len();
            continue;
        }
        if breaks > 0 && column <= parent || content.starts_with('\t') {
            return None;
        }
        reader.at += column;
        return Some(breaks);
    }
}

fn escape(reader: &mut Reader<'_>, text: &mut String, parent: usize) -> Option<()> {
    let rest = reader.rest();
    let kind = rest.chars().nth(1)?;
    let digits = match kind {
        'x' => 2,
        'u' => 4,
        'U' => 8,
        _ => 0,
    };
    reader.at += 1 + kind.len_utf8() + digits;
    text.push(match kind {
        '0' => '\0',
        'a' => '\x07',
        'b' => '\x08',
        't' | '\t' => '\t',
        'n' => '\n',
        'v' => '\x0b',
        'f' => '\x0c',
        'r' => '\r',
        'e' => '\x1b',
        ' ' | '"' | '/' | '\\' => kind,
        'N' => '\u{85}',
        '_' => '\u{a0}',
        'L' => '\u{2028}',
        'P' => '\u{2029}',
        'x' | 'u' | 'U' => {
            let code = rest.get(2..2 + digits)?;
            let is_hex = code.bytes().all(|byte| byte.is_ascii_hexdigit());
            char::from_u32(u32::from_str_radix(code, 16).ok().filter(|_| is_hex)?)?
        }
        '\n' => {
            // The break itself is nothing; further ones are kept.
            reader.at -= 1;
            let breaks = pass_breaks(reader, parent)?;
            text.extend(std::iter::repeat_n('\n', breaks - 1));
            return Some(());
        }
        _ => return None,
    });
    Some(())
}

/// A literal (`|`) or folded (`>`) scalar, to the end of its last line.
pub(super) fn block<'t>(reader: &mut Reader<'t>, parent: usize) -> Option<Cow<'t, str>> {
    let header = reader.rest_of_line().trim_end_matches(' ');
    let is_literal = header.starts_with('|');
    let chomping = header.get(1..)?;
    if !matches!(chomping, "" | "-" | "+") {
        return None;
    }
    reader.at = (reader.at + reader.rest_of_line().len() + 1).min(reader.text.len());
    let (mut breaks, indent) = block_start(reader, parent)?;
    let mut text = String::new();
    let mut line_break = false;
    let mut is_blank_before = false;
    loop {
        let line = reader.rest_of_line();
        let content = line.get(indent..)?;
        let is_blank = content.starts_with([' ', '\t']);
        if !is_literal && line_break && !is_blank_before && !is_blank {
            if breaks == 0 {
                text.push(' ');
            }
        } else if line_break {
            text.push('\n');
        }
        text.extend(std::iter::repeat_n('\n', breaks));
        text.push_str(content);
        is_blank_before = is_blank;
        line_break = reader.at + line.len() < reader.text.len();
        reader.at = (reader.at + line.len() + 1).min(reader.text.len());
        breaks = 0;
        let next = loop {
            let line = reader.rest_of_line();
            let content = line.trim_start_matches(' ');
            let column = line.len() - content.len();
            if column >= indent && line.len() > indent {
                break Some(());
            }
            if !content.is_empty() {
                // Deeper than the collection it is in, but less than the text: an error or a comment.
                if column > parent || content.starts_with('\t') {
                    return None;
                }
                break None;
            }
            if reader.at + line.len() >= reader.text.len() {
                // Blanks without a line break at the end of the text are left to the full parser.
                if !line.is_empty() {
                    return None;
                }
                break None;
            }
            breaks += 1;
            reader.at += line.len() + 1;
        };
        if next.is_none() {
            break;
        }
    }
    if line_break && chomping != "-" {
        text.push('\n');
    }
    if chomping == "+" {
        text.extend(std::iter::repeat_n('\n', breaks));
    }
    Some(Cow::Owned(text))
}

/// Passes the blank lines before a block scalar's text; answers how many and how deep the text is.
fn block_start(reader: &mut Reader<'_>, parent: usize) -> Option<(usize, usize)> {
    let mut breaks = 0;
    let mut deepest = 0;
    loop {
        let line = reader.rest_of_line();
        let content = line.trim_start_matches(' ');
        let column = line.len() - content.len();
        if content.starts_with('\t') {
            return None;
        }
        if !content.is_empty() {
            return (column > parent && column >= deepest).then_some((breaks, column));
        }
        if reader.at + line.len() >= reader.text.len() {
            return None;
        }
        deepest = deepest.max(column);
        breaks += 1;
        reader.at += line.len() + 1;
    }
}
