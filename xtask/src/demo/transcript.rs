//! The transcript: what is asked and answered, shortened where it says so, and what was checked.

use std::io::{self, IsTerminal as _, Write as _};

use anyhow::Result;

const WIDTH: usize = 100;
/// What saying how much is missing takes.
const ROOM: usize = 24;

#[derive(Debug)]
pub(crate) struct Transcript {
    color: bool,
    steps: usize,
    passed: usize,
    failed: usize,
}

impl Transcript {
    pub(crate) fn new() -> Self {
        Self { color: io::stdout().is_terminal(), steps: 0, passed: 0, failed: 0 }
    }

    pub(crate) fn step(&mut self, title: &str) -> Result<()> {
        self.steps += 1;
        let title = self.paint("1", &format!("{}. {title}", self.steps));
        self.line(&format!("\n{title}"))
    }

    pub(crate) fn request(&self, text: &str) -> Result<()> {
        self.block("→", "36", text, usize::MAX)
    }

    /// An answer, of which at most `lines` lines are shown.
    pub(crate) fn answer(&self, text: &str, lines: usize) -> Result<()> {
        self.block("←", "35", text, lines)
    }

    /// Something that must hold; what does not is said and counted.
    pub(crate) fn check(&mut self, what: &str, holds: bool) -> Result<()> {
        let mark = if holds {
            self.passed += 1;
            self.paint("32", "✓")
        } else {
            self.failed += 1;
            self.paint("31", "✗ FAILED:")
        };
        self.line(&format!("  {mark} {what}"))
    }

    pub(crate) fn line(&self, text: &str) -> Result<()> {
        Ok(writeln!(io::stdout(), "{text}")?)
    }

    /// Checks that passed and failed.
    pub(crate) fn count(&self) -> (usize, usize) {
        (self.passed, self.failed)
    }

    fn block(&self, arrow: &str, color: &str, text: &str, lines: usize) -> Result<()> {
        let wrapped: Vec<_> = text.lines().flat_map(wrap).collect();
        for (at, line) in wrapped.iter().take(lines).enumerate() {
            let arrow = if at == 0 { self.paint(color, arrow) } else { " ".to_owned() };
            self.line(&format!("{arrow} {}", shorten(line)))?;
        }
        match wrapped.len().saturating_sub(lines) {
            0 => Ok(()),
            1 => self.line(&self.paint("2", "  … 1 more line")),
            more => self.line(&self.paint("2", &format!("  … {more} more lines"))),
        }
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.color { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// Breaks a line at blanks; what follows is indented like its beginning, and a little more.
fn wrap(line: &str) -> Vec<String> {
    let margin = line.len() - line.trim_start().len();
    let mut lines = vec![line.get(..margin).unwrap_or_default().to_owned()];
    for word in line.trim_start().split_inclusive(' ') {
        let length = |text: &str| text.trim_end().chars().count();
        match lines.last_mut() {
            Some(last) if length(last) == 0 || length(&format!("{last}{word}")) <= WIDTH => {
                last.push_str(word);
            }
            _ => lines.push(format!("{}{word}", " ".repeat(margin + 2))),
        }
    }
    lines
}

/// A line that fits, or its beginning and how much is missing.
fn shorten(line: &str) -> String {
    let line = line.trim_end();
    let length = line.chars().count();
    if length <= WIDTH {
        return line.to_owned();
    }
    let kept: String = line.chars().take(WIDTH - ROOM).collect();
    format!("{kept} … {} more characters", length - (WIDTH - ROOM))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_broken_at_blanks_under_its_beginning() {
        let words = format!("  {} {} end", "a".repeat(60), "b".repeat(50));
        let lines: Vec<_> = wrap(&words).iter().map(|it| it.trim_end().to_owned()).collect();
        let expected = [format!("  {}", "a".repeat(60)), format!("    {} end", "b".repeat(50))];
        assert_eq!(lines, expected);
        assert_eq!(wrap(""), [""]);
    }

    #[test]
    fn a_long_line_says_how_much_is_missing() {
        assert_eq!(shorten("short"), "short");
        let shown = shorten(&"ü".repeat(200));
        assert_eq!(shown, format!("{} … 124 more characters", "ü".repeat(76)));
    }
}
