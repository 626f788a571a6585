//! What a person reads: tools, results and plans as text for a terminal.

use std::fmt::Write as _;

use serde_json::Value;
use test_client::{Server, ToolInfo};

/// Columns that a value may fill before it is broken into lines.
const WIDTH: usize = 96;

/// Colours, where the output is a terminal.
#[derive(Clone, Copy)]
pub(crate) struct Paint {
    pub(crate) on: bool,
}

impl Paint {
    pub(crate) fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    pub(crate) fn green(self, text: &str) -> String {
        self.with("32", text)
    }

    pub(crate) fn yellow(self, text: &str) -> String {
        self.with("33", text)
    }

    pub(crate) fn red(self, text: &str) -> String {
        self.with("31", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.on { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

pub(crate) fn server(server: &Server, paint: Paint) -> String {
    let Server { name, version, protocol, .. } = server;
    let rest = clean(&format!("{version} · MCP {protocol}"));
    format!("{} {}\n", paint.bold(&clean(name)), paint.dim(&rest))
}

/// One line a tool: name, what it may do, the first sentence about it.
pub(crate) fn tools(tools: &[ToolInfo], paint: Paint) -> String {
    let width = tools.iter().map(|it| clean(&it.name).chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for tool in tools {
        let mark = match (tool.is_read_only(), tool.is_destructive()) {
            (true, _) => paint.green("read-only  "),
            (false, true) => paint.red("destructive"),
            (false, false) => paint.yellow("writes     "),
        };
        let name = paint.bold(&format!("{:width$}", clean(&tool.name)));
        let sentence = clean(first_sentence(&tool.description));
        let line = format!("{name}  {mark}  {sentence}");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// JSON laid out for reading where the text is JSON, else the text.
pub(crate) fn result(text: &str) -> String {
    let mut shown = match serde_json::from_str(text) {
        Ok(value) => json(&value),
        Err(_) => clean(text),
    };
    shown.push('\n');
    shown
}

/// What an `execute_write` is about to do, as its reply tells it.
pub(crate) fn plan(reply: &Value, paint: Paint) -> String {
    let mut text = String::new();
    match reply.get("plan").and_then(Value::as_array) {
        Some(requests) => requests.iter().enumerate().for_each(|(at, request)| {
            text.push_str(&planned(at + 1, request, paint));
        }),
        None => {
            let preview = reply.get("preview").and_then(Value::as_str).unwrap_or_default();
            for line in clean(preview).lines() {
                // Writing to a string cannot fail.
                writeln!(text, "  {} {line}", paint.dim("│")).ok();
            }
        }
    }
    if reply.get("complete") == Some(&Value::Bool(false)) {
        let note = "The plan may not be the whole of it: the rest is shown before it is sent.";
        writeln!(text, "{}", paint.yellow(note)).ok();
    }
    for warning in reply.get("warnings").and_then(Value::as_array).into_iter().flatten() {
        writeln!(text, "{} {}", paint.yellow("warning:"), plain(warning)).ok();
    }
    for name in ["reason", "message"] {
        if let Some(said) = reply.get(name) {
            writeln!(text, "{}", plain(said)).ok();
        }
    }
    text
}

fn planned(number: usize, request: &Value, paint: Paint) -> String {
    let field = |name| request.get(name).map(plain).unwrap_or_default();
    let number = request.get("n").map_or_else(|| number.to_string(), plain);
    let target = format!("{} {}", field("method"), field("path"));
    let origin = [field("api"), field("operation")].join(" ");
    let mut text = format!("{number:>3}  {}", paint.bold(&target));
    if origin.trim().is_empty() {
        text.push('\n');
    } else {
        writeln!(text, "  {}", paint.dim(origin.trim())).ok();
    }
    for (name, label) in
        [("query", "query "), ("headers", "header"), ("before", "before"), ("body", "body  ")]
    {
        if let Some(value) = request.get(name) {
            let value = json(value).replace('\n', "\n             ");
            writeln!(text, "     {} {value}", paint.dim(label)).ok();
        }
    }
    text
}

/// A string as it is, anything else as JSON.
pub(crate) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| json(value), clean)
}

/// JSON for a reader: what fits stays on one line, and text of several lines stands as a block.
pub(crate) fn json(value: &Value) -> String {
    let mut text = String::new();
    lay_out(value, 0, &mut text);
    text
}

fn lay_out(value: &Value, indent: usize, text: &mut String) {
    let line = one_line(value);
    if line.chars().count() + indent <= WIDTH && !has_block(value) {
        text.push_str(&line);
        return;
    }
    let inner = indent + 2;
    match value {
        Value::Array(items) => {
            text.push('[');
            let mut last = None;
            for item in items {
                text.push_str(separator(last.replace(item)));
                new_line(inner, text);
                lay_out(item, inner, text);
            }
            new_line(indent, text);
            text.push(']');
        }
        Value::Object(fields) => {
            text.push('{');
            let mut last = None;
            for (name, item) in fields {
                text.push_str(separator(last.replace(item)));
                new_line(inner, text);
                text.push_str(&clean(&Value::from(name.as_str()).to_string()));
                text.push_str(": ");
                lay_out(item, inner, text);
            }
            new_line(indent, text);
            text.push('}');
        }
        Value::String(block) if is_block(value) => {
            text.push('|');
            for line in clean(block).lines() {
                new_line(inner, text);
                text.push_str(line);
            }
        }
        Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => text.push_str(&line),
    }
}

/// Compact JSON with a blank after each colon and comma, which are outside of strings.
fn one_line(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(one_line).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(fields) if !fields.is_empty() => {
            let field = |(name, item): (&String, &Value)| {
                format!("{}: {}", Value::from(name.as_str()), one_line(item))
            };
            let fields: Vec<_> = fields.iter().map(field).collect();
            clean(&format!("{{ {} }}", fields.join(", ")))
        }
        other => clean(&other.to_string()),
    }
}

/// No comma after a block: it would seem to belong to the text.
fn separator(last: Option<&Value>) -> &'static str {
    if last.is_none_or(is_block) { "" } else { "," }
}

fn is_block(value: &Value) -> bool {
    value.as_str().is_some_and(|it| it.contains('\n'))
}

fn has_block(value: &Value) -> bool {
    match value {
        Value::String(_) => is_block(value),
        Value::Array(items) => items.iter().any(has_block),
        Value::Object(fields) => fields.values().any(has_block),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn new_line(indent: usize, text: &mut String) {
    text.push('\n');
    text.extend(std::iter::repeat_n(' ', indent));
}

/// Takes from a text the power over the terminal: control and direction characters are escaped.
pub(crate) fn clean(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' => cleaned.push(character),
            _ if character.is_control() || is_invisible(character) => {
                cleaned.extend(character.escape_unicode());
            }
            _ => cleaned.push(character),
        }
    }
    cleaned
}

/// Zero-width and direction-changing characters (Unicode's format characters in common use).
fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// Up to the first full stop that ends a sentence: one before a capital or the end.
fn first_sentence(text: &str) -> &str {
    let line = text.trim().lines().next().unwrap_or_default();
    let ends = line.match_indices(". ").find(|(at, _)| {
        line.get(at + 2..).and_then(|it| it.chars().next()).is_some_and(char::is_uppercase)
    });
    ends.and_then(|(at, _)| line.get(..=at)).unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PLAIN: Paint = Paint { on: false };

    #[test]
    fn small_values_stay_on_a_line_and_large_ones_are_broken() {
        assert_eq!(json(&json!({ "a": [1, "x, y"], "b": {} })), r#"{ "a": [1, "x, y"], "b": {} }"#);
        let long = "x".repeat(90);
        let laid_out = json(&json!({ "rows": [{ "name": long }], "n": 1 }));
        let expected = format!(
            "{{\n  \"rows\": [\n    {{\n      \"name\": \"{long}\"\n    }}\n  ],\n  \"n\": 1\n}}"
        );
        assert_eq!(laid_out, expected);
    }

    #[test]
    fn text_of_several_lines_stands_as_a_block() {
        let shown = json(&json!({ "n": 1, "signature": "one(\n  two\n)", "m": 2 }));
        let block = "  \"signature\": |\n    one(\n      two\n    )\n";
        assert_eq!(shown, format!("{{\n  \"n\": 1,\n{block}  \"m\": 2\n}}"));
    }

    #[test]
    fn nothing_from_a_server_can_move_the_cursor_or_turn_the_text() {
        assert_eq!(clean("a\u{1b}[2J\u{202e}b\r\n"), "a\\u{1b}[2J\\u{202e}b\\u{d}\n");
        assert_eq!(result("\u{9b}x"), "\\u{9b}x\n");
        assert_eq!(json(&json!("a\u{1b}\u{200b}")), "\"a\\u001b\\u{200b}\"");
    }

    #[test]
    fn a_sentence_ends_before_a_capital() {
        assert_eq!(first_sentence("Finds it, e.g. by words. More."), "Finds it, e.g. by words.");
        assert_eq!(first_sentence("One line\nand another"), "One line");
        assert_eq!(first_sentence(""), "");
    }

    #[test]
    fn a_plan_numbers_its_requests_and_shows_what_they_change() {
        let reply = json!({
            "plan": [
                { "n": 1, "api": "ak", "method": "POST", "path": "/things/", "operation": "things_create",
                  "body": { "name": "a" } },
                { "n": 2, "method": "DELETE", "path": "/things/7/", "before": { "name": "b" } },
            ],
            "complete": false, "warnings": ["stale"], "message": "Nothing has been sent.",
        });
        let expected = "  1  POST /things/  ak things_create
     body   { \"name\": \"a\" }
  2  DELETE /things/7/
     before { \"name\": \"b\" }
The plan may not be the whole of it: the rest is shown before it is sent.
warning: stale
Nothing has been sent.
";
        assert_eq!(plan(&reply, PLAIN), expected);
    }

    #[test]
    fn a_reply_without_a_plan_shows_the_script() {
        let reply = json!({ "preview": "one\ntwo", "reason": "expired", "message": "Call again." });
        assert_eq!(plan(&reply, PLAIN), "  │ one\n  │ two\nexpired\nCall again.\n");
    }
}
