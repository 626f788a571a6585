//! The transcript: what is asked and answered, shortened where it says so, and what was checked.

use std::io::{self, IsTerminal as _, Write as _};

use anyhow::Result;

const WIDTH: usize = 100;

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
        let total = text.lines().count();
        for (at, line) in text.lines().take(lines).enumerate() {
            let arrow = if at == 0 { self.paint(color, arrow) } else { " ".to_owned() };
            self.line(&format!("{arrow} {}", shorten(line)))?;
        }
        if total > lines {
            self.line(&self.paint("2", &format!("  … {} more lines", total - lines)))?;
        }
        Ok(())
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.color { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// A line that fits, or its beginning and how much is missing.
fn shorten(line: &str) -> String {
    let length = line.chars().count();
    if length <= WIDTH {
        return line.to_owned();
    }
    let kept: String = line.chars().take(WIDTH - 24).collect();
    format!("{kept} … {} more characters", length - (WIDTH - 24))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_says_how_much_is_missing() {
        assert_eq!(shorten("short"), "short");
        let shown = shorten(&"ü".repeat(200));
        assert_eq!(shown, format!("{} … 124 more characters", "ü".repeat(76)));
    }
}
