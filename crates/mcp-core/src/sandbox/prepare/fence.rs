//! Takes a script out of the markdown it came in.

use std::ops::Range;

const FENCE: &str = "```";

/// Names of the languages a script may be fenced as.
const LANGUAGES: &[&str] =
    &["", "javascript", "js", "jsx", "cjs", "mjs", "typescript", "ts", "tsx", "mts", "cts", "node"];

/// What a script's markdown means for it.
#[derive(Debug, PartialEq)]
pub(super) enum Fence {
    None,
    /// The lines between the fence's first and last line. Text around them is ignored.
    Around(Range<usize>),
    /// A fence of another language.
    Foreign {
        at: usize,
        language: String,
    },
}

/// Looks for a fence. A line inside a template literal opens none.
pub(super) fn find(source: &str) -> Fence {
    let mut in_template = false;
    for (start, line) in lines(source) {
        if let Some(language) = language(line) {
            return match language {
                _ if in_template => Fence::None,
                ours if is_ours(ours) => Fence::Around(inside(source, start + line.len() + 1)),
                other => Fence::Foreign { at: start, language: other.to_owned() },
            };
        }
        let backticks = line.matches('`').count() - line.matches("\\`").count();
        in_template ^= backticks % 2 == 1;
    }
    Fence::None
}

/// The lines up to the last one that closes a fence, or all.
fn inside(source: &str, first: usize) -> Range<usize> {
    let first = first.min(source.len());
    let closing = lines(&source[first..]).filter(|(_, line)| line.trim() == FENCE).last();
    first..closing.map_or(source.len(), |(offset, _)| first + offset)
}

/// The language a fence's first line names.
fn language(line: &str) -> Option<&str> {
    let language = line.trim().strip_prefix(FENCE)?;
    (!language.contains('`')).then(|| language.trim())
}

fn is_ours(language: &str) -> bool {
    LANGUAGES.iter().any(|ours| ours.eq_ignore_ascii_case(language))
}

/// Each line without its end, and where it starts.
fn lines(source: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    source.split('\n').map(move |line| {
        let place = (start, line);
        start += line.len() + 1;
        place
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(source: &str) -> Option<&str> {
        match find(source) {
            Fence::Around(range) => Some(&source[range]),
            Fence::None | Fence::Foreign { .. } => None,
        }
    }

    #[test]
    fn a_fence_is_taken_off_with_the_text_around_it() {
        assert_eq!(code("```js\na\nb\n```"), Some("a\nb\n"));
        assert_eq!(code("\n  ```TypeScript\r\na\r\n  ```\nThat is all."), Some("a\r\n"));
        assert_eq!(code("Here, with `x`:\n```\na"), Some("a"));
        let inner = "return `\n```\nx\n```\n`;\n";
        assert_eq!(code(&format!("```js\n{inner}```\n")), Some(inner));
        assert_eq!(code("```"), Some(""));
    }

    #[test]
    fn a_script_without_a_fence_is_left_alone() {
        assert_eq!(code("return 1"), None);
        assert_eq!(code("return `\n```js\nx\n```\n`"), None);
        assert_eq!(code("return `\\`\n```js\nx\n```\n`"), None);
        assert_eq!(code("```js return 1```"), None);
    }

    #[test]
    fn a_fence_of_another_language_is_named() {
        let foreign = Fence::Foreign { at: 1, language: "python".to_owned() };
        assert_eq!(find("\n```python\nprint(1)\n```"), foreign);
    }
}
