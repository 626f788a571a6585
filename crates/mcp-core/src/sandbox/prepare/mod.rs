//! Makes JavaScript of what an agent writes: one read, edits in place, and no line ever moves.
//!
//! A script may be a function body with `await` and `return`, an arrow function, a function
//! declaration, a default export or an expression, with TypeScript's types, and in one markdown
//! fence; text around the fence is ignored.

mod edit;
mod fence;
mod nesting;
mod shape;
mod types;

use std::thread;

use oxc_allocator::Allocator;
use oxc_ast_visit::Visit as _;
use oxc_parser::{ParseOptions, Parser};
use oxc_span::SourceType;

use super::error::ScriptError;
use edit::Insertion;
use fence::Fence;
use nesting::Excess;
use types::Types;

const BEFORE: &str = "(async()=>{";
const AFTER: &str = "})()";

/// Stack for the deepest script that [`nesting`] lets pass.
const STACK: usize = FRAME << 13;
/// Stack for each byte of a script, for what is broken may be read as nested where it is not.
const STACK_PER_BYTE: usize = FRAME >> 1;
/// About what the parser needs for a level: unoptimised frames are far larger.
const FRAME: usize = if cfg!(debug_assertions) { 8 << 10 } else { 1 << 10 };
/// A script this flat and short is read on whatever stack the caller has.
const FLAT: u32 = 150;
const SHORT: usize = 2_000;

const JSX: &str = "JSX is not supported: use a string";

/// Characters of a line that an error shows.
const EXCERPT: usize = 100;

/// A script as the engine runs it.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// One expression, which evaluates to a promise of the script's value. The value may be a
    /// function, which is then to be called with `api`.
    pub javascript: String,
    /// Lines of the agent's text before the first one of `javascript`.
    lines_before: u32,
    insertions: Vec<Insertion>,
}

impl Prepared {
    /// The place in the agent's text that corresponds to one in [`javascript`](Self::javascript);
    /// lines and columns (in characters) count from 1.
    pub fn locate(&self, line: u32, column: u32) -> (u32, u32) {
        let inserted: u32 = self
            .insertions
            .iter()
            .filter(|insertion| insertion.line == line && insertion.column < column)
            .map(|insertion| insertion.width.min(column - insertion.column))
            .sum();
        (line.saturating_add(self.lines_before), column - inserted)
    }
}

/// Reads a script and makes it runnable.
///
/// # Errors
/// A `SyntaxError` with line and column in the agent's text, for what is no script, nests too deep,
/// or needs more of TypeScript than that types are dropped.
pub fn prepare(source: &str) -> Result<Prepared, ScriptError> {
    let whole = Script { text: source, code: source, start: 0 };
    match fence::find(source) {
        Fence::None => whole.prepare(),
        Fence::Around(inside) => {
            let start = inside.start;
            Script { text: source, code: &source[inside], start }.prepare()
        }
        Fence::Foreign { at, language } => {
            let message = format!("`{language}` is not supported: write JavaScript or TypeScript");
            Err(whole.error(at, &message))
        }
    }
}

/// The agent's text, and the code in it.
struct Script<'s> {
    text: &'s str,
    code: &'s str,
    start: usize,
}

impl Script<'_> {
    fn prepare(&self) -> Result<Prepared, ScriptError> {
        if let Some(at) = self.code.find('\0') {
            return Err(self.error(at, "a NUL character cannot be in a script: write `\\0`"));
        }
        match nesting::load(self.code) {
            Err(Excess::Depth { at }) => {
                Err(self.error(at, "the script nests or chains too deep: use variables or a loop"))
            }
            Err(Excess::Work { at }) => {
                Err(self.error(at, "the script is too long for how deep it nests: make it shorter"))
            }
            Ok(load) if load <= FLAT && self.code.len() <= SHORT => self.read(),
            Ok(_) => self.read_on_large_stack(),
        }
    }

    fn read_on_large_stack(&self) -> Result<Prepared, ScriptError> {
        let stack = STACK + self.code.len() * STACK_PER_BYTE;
        thread::scope(|scope| {
            let reader =
                thread::Builder::new().stack_size(stack).spawn_scoped(scope, || self.read());
            reader.ok().and_then(|reader| reader.join().ok())
        })
        .unwrap_or_else(|| {
            Err(ScriptError::new("Error", "the script cannot be read now: try again"))
        })
    }

    fn read(&self) -> Result<Prepared, ScriptError> {
        let allocator = Allocator::default();
        let read = parser(&allocator, self.code).parse();
        let program = &read.program;
        let mut types = Types::new(self.code);
        types.edits.insert(0, BEFORE);
        if let Some(fault) = read.diagnostics.first() {
            // An object or a function without a name is an expression, but no statement.
            let code = self.code.trim_end();
            let expression = code.trim_end_matches(';');
            let Ok(expression) = parser(&allocator, expression).parse_expression() else {
                let label = fault.labels.first();
                let (start, length) = label.map_or((0, 0), |label| (label.offset(), label.len()));
                let found = self.code.get(start as usize..(start + length) as usize);
                let message = tidied(&fault.message, fault.help.as_deref(), found);
                // An end that is missing is missing behind the last word.
                let at = (start as usize).min(code.len());
                let is_jsx = line_around(code, at).contains("</");
                return Err(self.error(at, if is_jsx { JSX } else { &message }));
            };
            types.visit_expression(&expression);
            shape::expression(&expression, &mut types);
        } else if program.body.is_empty() && program.directives.is_empty() {
            return Err(ScriptError::new("SyntaxError", "the script is empty"));
        } else {
            types.visit_program(program);
            shape::program(program, &mut types);
        }
        if let Some(refusal) = types.refusal {
            return Err(self.error(refusal.at, refusal.message));
        }
        types.edits.insert(self.code.len(), AFTER);
        let (javascript, insertions) = types.edits.apply(self.code);
        Ok(Prepared { javascript, lines_before: lines(&self.text[..self.start]), insertions })
    }

    /// An error at a place in the code, with the line it is on.
    fn error(&self, at: usize, message: &str) -> ScriptError {
        let at = self.text.floor_char_boundary(self.start + at);
        let before = &self.text[..at];
        let column = before.chars().rev().take_while(|c| *c != '\n').count();
        let shown = pointed_at(line_around(self.text, at), column);
        ScriptError {
            line: Some(lines(before) + 1),
            column: Some(u32::try_from(column + 1).unwrap_or(u32::MAX)),
            ..ScriptError::new("SyntaxError", format!("{message}\n{shown}"))
        }
    }
}

fn parser<'a>(allocator: &'a Allocator, code: &'a str) -> Parser<'a> {
    // A module is strict and may wait at its top, as the function is that a script becomes.
    let module = SourceType::ts().with_module(true);
    let options = ParseOptions { allow_return_outside_function: true, ..ParseOptions::default() };
    Parser::new(allocator, code, module).with_options(options)
}

/// The parser's message in the voice of the others, with what it found in the agent's words.
fn tidied(message: &str, help: Option<&str>, found: Option<&str>) -> String {
    let found = match found.and_then(|found| found.lines().next()) {
        Some(found) if !found.is_empty() => format!("`{}`", clipped(found, 30)),
        _ => "the end of the script".to_owned(),
    };
    let message = match message.split_once(" but found ") {
        Some((expected, _)) => format!("{expected} but found {found}"),
        None if message == "Unexpected token" => format!("unexpected {found}"),
        None => message.to_owned(),
    };
    let message = fragment(&message);
    help.map_or(message.clone(), |help| format!("{message}: {}", fragment(help)))
}

/// A sentence without its capital letter and full stop.
fn fragment(sentence: &str) -> String {
    let mut rest = sentence.trim_end_matches('.').chars();
    let first = rest.next().map(|first| first.to_lowercase().to_string()).unwrap_or_default();
    first + rest.as_str()
}

fn clipped(text: &str, characters: usize) -> &str {
    text.char_indices().nth(characters).map_or(text, |(end, _)| &text[..end])
}

/// The line a place is on; `at` is between characters.
fn line_around(text: &str, at: usize) -> &str {
    let (before, after) = text.split_at(at);
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let end = after.find(['\n', '\r']).map_or(text.len(), |length| at + length);
    &text[start..end]
}

/// A line, or the part of it around a column counted from 0, with a mark under that.
fn pointed_at(line: &str, column: usize) -> String {
    let indent = line.chars().take_while(|c| c.is_whitespace()).count().min(column);
    let start = indent.max(column.saturating_sub(EXCERPT * 2 / 3));
    let shown = line.char_indices().nth(start).map_or("", |(at, _)| &line[at..]);
    format!("{}\n{}^", clipped(shown, EXCERPT).trim_end(), " ".repeat(column - start))
}

fn lines(text: &str) -> u32 {
    u32::try_from(text.matches('\n').count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
