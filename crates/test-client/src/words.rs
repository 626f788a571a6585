//! A line split into words as a shell does it, for commands and for the prompt.

use anyhow::{Result, ensure};

/// Splits at blanks; quotes of either kind keep blanks, a backslash keeps the next character
/// except inside single quotes.
pub(crate) fn split(line: &str) -> Result<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(open), close) if open == close => quote = None,
            (None, '"' | '\'') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(characters.next()),
            (None, blank) if blank.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    ensure!(quote.is_none(), "a quote is not closed");
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_backslashes_keep_blanks() {
        let words = split(r#"a "b c"  d='e "f"' \  "" "g\"h""#).unwrap();
        assert_eq!(words, ["a", "b c", r#"d=e "f""#, " ", "", "g\"h"]);
        assert_eq!(split("  ").unwrap(), [""; 0]);
        assert!(split("'open").is_err());
    }
}
