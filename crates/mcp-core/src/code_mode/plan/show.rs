//! What a person reads: nothing hidden, nothing that can pass for something else.

use std::convert::Infallible;

use super::symbol::{self, map_strings, quoted};

/// Text with control, format and bidirectional characters escaped, so that what is read is what runs.
pub(in super::super) fn visible(text: &str) -> String {
    escaped(text, |it| is_hidden(it) && !matches!(it, '\n' | '\t'))
}

fn is_hidden(character: char) -> bool {
    match character {
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' => true,
        '\u{2800}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' => true,
        '\u{180b}'..='\u{180d}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => true,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => true,
        other => other.is_control(),
    }
}

fn escaped(text: &str, hide: impl Fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if hide(character) {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// A text of a planned request: symbols by name, and no other text that looks like one.
pub(super) fn text(text: &str, nonce: &str) -> String {
    let hide = |it: char| is_hidden(it) || it == '«';
    let mut shown = String::new();
    let mut from = 0;
    for mark in symbol::marks(text, nonce) {
        shown.push_str(&escaped(text.get(from..mark.at.0).unwrap_or_default(), hide));
        shown.push_str(&symbol::shown(mark.name));
        from = mark.at.1;
    }
    shown.push_str(&escaped(text.get(from..).unwrap_or_default(), hide));
    shown
}

/// The same for JSON: every string of it.
pub(super) fn json(json: &str, nonce: &str) -> String {
    let mut show = |string: &str| Ok::<_, Infallible>(Some(quoted(&text(string, nonce))));
    match map_strings(json, &mut show) {
        Ok(shown) => shown,
        Err(impossible) => match impossible {},
    }
}

/// A percent-encoded path or query with its symbols by name; nothing else is decoded.
pub(super) fn encoded(path: &str, nonce: &str) -> String {
    const OPEN: &str = "%C2%AB";
    const CLOSE: &str = "%C2%BB";
    const SEPARATOR: &str = "%C2%B7";
    let mut shown = String::with_capacity(path.len());
    let mut rest = path;
    while let Some((head, after)) = rest.split_once(CLOSE) {
        // The last opening mark before a closing one: what stands before it is plain text.
        let symbol = head.rsplit_once(OPEN).and_then(|(before, mark)| {
            let mut parts = mark.split(SEPARATOR);
            let name = parts.next()?;
            let is_name = name.bytes().all(|it| it.is_ascii_alphanumeric() || b"_.-".contains(&it));
            (is_name && parts.next() == Some(nonce)).then_some((before, name))
        });
        match symbol {
            Some((before, name)) => {
                shown.push_str(before);
                shown.push_str(&symbol::shown(name));
            }
            None => {
                shown.push_str(head);
                shown.push_str(CLOSE);
            }
        }
        rest = after;
    }
    shown.push_str(rest);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_shown_escaped() {
        assert_eq!(visible("a\u{202e}b\u{200b}\u{7}\n\tc"), "a\\u{202e}b\\u{200b}\\u{7}\n\tc");
    }

    #[test]
    fn only_real_symbols_look_like_symbols() {
        assert_eq!(text("«1.pk·00ff·t» «1.pk» \u{202e}", "00ff"), "«1.pk» \\u{ab}1.pk» \\u{202e}");
        assert_eq!(
            json(r#"{"a":"«1.pk·00ff·v»","b":"«1.pk»","n":1}"#, "00ff"),
            r#"{"a":"«1.pk»","b":"\\u{ab}1.pk»","n":1}"#
        );
    }

    #[test]
    fn encoded_paths_show_symbols_and_stay_encoded() {
        let path = "/u/%C2%AB1.pk%C2%B700ff%C2%B7t%C2%BB/a%20b/%C2%ABx%C2%BB";
        assert_eq!(encoded(path, "00ff"), "/u/«1.pk»/a%20b/%C2%ABx%C2%BB");
        let stray = "/u/%C2%ABx%C2%AB1.pk%C2%B700ff%C2%B7t%C2%BB";
        assert_eq!(encoded(stray, "00ff"), "/u/%C2%ABx«1.pk»");
    }
}
