//! Descriptions made fit to show: no markup, one line, a bounded length.

/// The text on one line, cut between characters so that it has at most `max` bytes.
pub(super) fn one_line(text: &str, max: usize) -> String {
    let mut line = String::with_capacity(text.len().min(max));
    for word in words(text) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > max {
            break;
        }
    }
    cut(line, max)
}

/// The text without HTML tags, on one line, at most `max` characters.
pub(super) fn without_markup(text: &str, max: usize) -> String {
    let mut plain = String::with_capacity(text.len().min(max * 4));
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        plain.push_str(rest.get(..start).unwrap_or_default());
        let tail = rest.get(start..).unwrap_or_default();
        let is_tag = tail[1..]
            .starts_with(|next: char| next.is_ascii_alphabetic() || matches!(next, '/' | '!'));
        match tail.find('>').filter(|_| is_tag) {
            Some(end) => {
                plain.push(' ');
                rest = tail.get(end + 1..).unwrap_or_default();
            }
            None => {
                plain.push('<');
                rest = tail.get(1..).unwrap_or_default();
            }
        }
        if plain.len() > max * 4 {
            break;
        }
    }
    plain.push_str(rest);
    let line = one_line(&plain, max * 4);
    match line.char_indices().nth(max) {
        Some((end, _)) => line.get(..end).unwrap_or_default().to_owned(),
        None => line,
    }
}

/// The first sentence, or what fits of it.
pub(super) fn first_sentence(text: &str, max: usize) -> String {
    let line = one_line(text, max * 4);
    let end = line.find(". ").map_or(line.len(), |stop| stop + 1);
    cut(line.get(..end).unwrap_or_default().to_owned(), max)
}

fn cut(mut line: String, max: usize) -> String {
    if line.len() > max {
        line.truncate(line.floor_char_boundary(max.saturating_sub('…'.len_utf8())));
        line.truncate(line.trim_end().len());
        line.push('…');
    }
    line
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|it: char| it.is_whitespace() || is_hidden(it)).filter(|word| !word.is_empty())
}

/// Characters that must not reach a terminal or change how a line reads.
pub(super) fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_between_characters() {
        assert_eq!(one_line(" a\n\n b\u{202e}c ", 80), "a b c");
        assert_eq!(one_line("äöüäöü", 8), "äö…");
        assert_eq!(one_line("", 8), "");
    }

    #[test]
    fn markup_goes_and_comparisons_stay() {
        assert_eq!(
            without_markup("<p>Lists <b>all</b> x < 3 users</p><br/>", 600),
            "Lists all x < 3 users"
        );
        assert_eq!(without_markup("a <", 600), "a <");
        assert_eq!(without_markup("<unclosed", 600), "<unclosed");
        assert_eq!(without_markup(&"ä".repeat(900), 600).chars().count(), 600);
    }

    #[test]
    fn a_sentence_ends_at_its_stop() {
        assert_eq!(first_sentence("Returns v1.2 users. And more.", 80), "Returns v1.2 users.");
    }
}
