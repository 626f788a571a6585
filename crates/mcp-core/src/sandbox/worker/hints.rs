//! Turns the engine's terse messages into ones that say what to write instead.

use super::super::protocol::Failure;

/// What every `api` object has.
const MEMBERS: [&str; 7] =
    ["request", "call", "paginate", "search", "describe", "operations", "budget"];
/// Names beside the language's own that a script can use.
const GLOBALS: &str = "`search`, `sleep`, `console`, `setTimeout`, `URL`, `URLSearchParams`, \
                       `TextEncoder`, `TextDecoder`, `structuredClone`";

/// Extends the message of an error that nobody caught.
///
/// `javascript` is the text the failure's positions refer to, `names` are the names of all APIs.
pub(super) fn extend(failure: &mut Failure, javascript: &str, names: &[&str]) {
    let api = names.first().copied().unwrap_or("api");
    if let Some(name) = failure.message.strip_suffix(" is not defined")
        && failure.name == "ReferenceError"
    {
        let hint = unknown_name(name, api, names);
        failure.message.push_str(&hint);
    } else if failure.message == "not a function" {
        let Some(callee) = callee(failure, javascript) else { return };
        failure.message = format!("`{callee}` is not a function");
        failure.message.push_str(&unknown_member(callee, names));
    } else if failure.message.starts_with("could not load module") {
        failure.message =
            format!("modules are not available: use `{api}.request(…)` and the language itself");
    }
}

fn unknown_name(name: &str, api: &str, names: &[&str]) -> String {
    match name {
        "fetch" | "axios" | "XMLHttpRequest" | "http" | "https" | "got" | "request"
        | "WebSocket" => {
            format!(": use `await {api}.request(method, path, {{ query, body, headers }})`")
        }
        "require" | "module" | "exports" => {
            format!(": modules are not available, use `{api}.request(…)` and the language itself")
        }
        "process" | "Deno" | "Bun" | "global" | "window" | "self" => format!(
            ": there is no environment here, use `{api}.request(…)`; the host adds the credentials"
        ),
        "fs" | "path" | "os" | "Buffer" | "child_process" => {
            ": there are no files and no Node modules here; return what you need instead".to_owned()
        }
        "files" => {
            ": this server was started without `--files DIR`, which names a directory for them"
                .to_owned()
        }
        "setInterval" => ": use `await sleep(ms)` in a loop".to_owned(),
        _ => {
            let apis: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            format!("; available here: {}, {GLOBALS} and the language's own", apis.join(", "))
        }
    }
}

fn unknown_member(callee: &str, names: &[&str]) -> String {
    let Some((object, member)) = callee.rsplit_once('.') else { return String::new() };
    if object == "files" && names.contains(&object) {
        return ": `files` has `read`, `save` and `list`".to_owned();
    }
    if names.contains(&object) && !MEMBERS.contains(&member) {
        return match member {
            "get" | "head" | "post" | "put" | "patch" | "delete" | "fetch" => format!(
                ": use `await {object}.request(\"{}\", path, {{ query, body }})`",
                if member == "fetch" { "GET".to_owned() } else { member.to_uppercase() }
            ),
            _ => format!(": `{object}` has `{}`", MEMBERS.join("`, `")),
        };
    }
    match member {
        "json" | "text" => ": a response is parsed already, use its `.data`".to_owned(),
        "operations" => format!(": it is an iterator, use `for (const operation of {callee})`"),
        _ => String::new(),
    }
}

/// The dotted name at the failure's position.
fn callee<'a>(failure: &Failure, javascript: &'a str) -> Option<&'a str> {
    let frame = failure.frames.first()?;
    let line = javascript.lines().nth(frame.line.checked_sub(1)? as usize)?;
    let column = frame.column.checked_sub(1)? as usize;
    let at = line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
    let named = |c: char| c == '.' || c == '_' || c == '$' || c.is_alphanumeric();
    let (before, after) = line.split_at_checked(at)?;
    let start = before.len()
        - before.chars().rev().take_while(|c| named(*c)).map(char::len_utf8).sum::<usize>();
    let end = at + after.chars().take_while(|c| named(*c)).map(char::len_utf8).sum::<usize>();
    line.get(start..end).map(|name| name.trim_matches('.')).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{super::super::protocol::Frame, *};

    fn extended(name: &str, message: &str, javascript: &str, column: u32) -> String {
        let mut failure = Failure {
            name: name.to_owned(),
            message: message.to_owned(),
            frames: vec![Frame { function: "f".to_owned(), line: 1, column }],
            ..Failure::default()
        };
        extend(&mut failure, javascript, &["api", "ak"]);
        failure.message
    }

    #[test]
    fn fetch_is_answered_with_the_way_to_make_a_request() {
        assert_eq!(
            extended("ReferenceError", "fetch is not defined", "fetch('/x')", 1),
            "fetch is not defined: use `await api.request(method, path, { query, body, headers })`"
        );
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_real_ones() {
        let message = extended("ReferenceError", "foo is not defined", "foo.bar()", 1);
        assert!(
            message.starts_with("foo is not defined; available here: `api`, `ak`, `search`"),
            "{message}"
        );
    }

    #[test]
    fn an_unknown_member_is_answered_with_the_real_ones() {
        assert_eq!(
            extended("TypeError", "not a function", "await ak.get('/x')", 9),
            "`ak.get` is not a function: use `await ak.request(\"GET\", path, { query, body })`"
        );
        assert_eq!(
            extended("TypeError", "not a function", "return api.list()", 11),
            "`api.list` is not a function: `api` has `request`, `call`, `paginate`, `search`, `describe`, `operations`, `budget`"
        );
        assert_eq!(
            extended("TypeError", "not a function", "await r.json()", 8),
            "`r.json` is not a function: a response is parsed already, use its `.data`"
        );
    }

    #[test]
    fn a_position_outside_the_text_changes_nothing() {
        assert_eq!(extended("TypeError", "not a function", "ü()", 900), "not a function");
        assert_eq!(extended("TypeError", "not a function", "", 0), "not a function");
    }
}
