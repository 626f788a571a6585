//! Queries without the values they were sent with: those belong to somebody.

use std::borrow::Cow;

/// Puts `?` in place of texts and numbers. Names, quoted or not, and placeholders stay.
pub(super) fn without_literals(query: &str) -> Cow<'_, str> {
    let mut clean = String::with_capacity(query.len());
    let mut rest = query;
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        let taken = match first {
            '\'' => quoted(rest, '\''),
            '"' => {
                let taken = quoted(rest, '"');
                let inner = rest.get(1..taken).unwrap_or_default().trim_end_matches('"');
                if is_name(inner) {
                    clean.push_str(rest.get(..taken).unwrap_or_default());
                    before = '"';
                    rest = rest.get(taken..).unwrap_or_default();
                    continue;
                }
                taken
            }
            '0'..='9' if !continues_a_name(before) => {
                let ends = |it: char| !it.is_ascii_alphanumeric() && it != '.';
                rest.find(ends).unwrap_or(rest.len())
            }
            _ => {
                clean.push(first);
                before = first;
                rest = rest.get(first.len_utf8()..).unwrap_or_default();
                continue;
            }
        };
        clean.push('?');
        before = '?';
        rest = rest.get(taken..).unwrap_or_default();
    }
    if clean == query { Cow::Borrowed(query) } else { Cow::Owned(clean) }
}

/// Bytes of a quoted text with its quotes; a doubled or escaped quote does not end it.
fn quoted(text: &str, quote: char) -> usize {
    let mut characters = text.char_indices().skip(1).peekable();
    while let Some((at, character)) = characters.next() {
        if character == '\\' {
            characters.next();
        } else if character == quote {
            match characters.peek() {
                Some((_, next)) if *next == quote => {
                    characters.next();
                }
                _ => return at + quote.len_utf8(),
            }
        }
    }
    text.len()
}

fn is_name(text: &str) -> bool {
    let inner = |it: char| it.is_alphanumeric() || matches!(it, '_' | '$' | '.' | '-');
    text.starts_with(|it: char| it.is_alphabetic() || it == '_') && text.chars().all(inner)
}

/// `t1`, `$1`, `:1`, `%1` are no numbers.
fn continues_a_name(before: char) -> bool {
    before.is_alphanumeric() || matches!(before, '_' | '$' | ':' | '%' | '?' | '@')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_go_and_names_stay() {
        for (query, expected) in [
            ("SELECT * FROM t1 WHERE id = 42", "SELECT * FROM t1 WHERE id = ?"),
            ("WHERE a = 'it''s' AND b = 'x\\'y'", "WHERE a = ? AND b = ?"),
            ("SELECT \"boats\".\"id\" FROM \"boats\"", "SELECT \"boats\".\"id\" FROM \"boats\""),
            ("WHERE mail = \"a b@c.test\"", "WHERE mail = ?"),
            ("VALUES (1.5, -2, 0xff, $1, :2, %s, ?)", "VALUES (?, -?, ?, $1, :2, %s, ?)"),
            ("WHERE a = 'never closed", "WHERE a = ?"),
            ("", ""),
        ] {
            assert_eq!(without_literals(query), expected);
        }
    }
}
