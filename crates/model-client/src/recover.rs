//! A JSON object found in what a model wrote around it.

use serde_json::{Map, Value};

/// At how many braces an object is looked for.
const MAX_TRIES: usize = 1000;

/// Returns the first object that `accept` takes: the whole text, what stands in a fence, or any
/// part from a brace to the one that closes it.
pub fn object_in<T>(
    text: &str,
    mut accept: impl FnMut(Map<String, Value>) -> Option<T>,
) -> Option<T> {
    let mut take = |text: &str| match serde_json::from_str(text.trim()) {
        Ok(Value::Object(object)) => accept(object),
        Ok(_) | Err(_) => None,
    };
    if let Some(found) = take(text) {
        return Some(found);
    }
    if let Some(found) = fenced(text).find_map(&mut take) {
        return Some(found);
    }
    let mut rest = text;
    for _ in 0..MAX_TRIES {
        let start = rest.find('{')?;
        let from = rest.get(start..).unwrap_or_default();
        // Reads one value and leaves what follows it.
        let mut values = serde_json::Deserializer::from_str(from).into_iter::<Value>();
        let value = values.next().and_then(Result::ok);
        let end = values.byte_offset().max(1);
        let step = match value {
            Some(_) => {
                if let Some(found) = from.get(..end).and_then(&mut take) {
                    return Some(found);
                }
                end
            }
            None => 1,
        };
        rest = from.get(step..).unwrap_or_default();
    }
    None
}

/// The contents of fenced blocks.
fn fenced(text: &str) -> impl Iterator<Item = &str> {
    text.split("```").skip(1).step_by(2).map(|block| {
        let (language, content) = block.split_once('\n').unwrap_or(("", block));
        if language.trim().chars().all(char::is_alphanumeric) { content } else { block }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_query(text: &str) -> Option<String> {
        object_in(text, |object| object.get("query")?.as_str().map(str::to_owned))
    }

    #[test]
    fn an_object_is_found_whole_fenced_or_in_prose() {
        for text in [
            r#"{"query":"a"}"#,
            " \n{\"query\":\"a\"}\n",
            "Here:\n```json\n{\"query\":\"a\"}\n```\nDone.",
            "```\n{\"query\":\"a\"}\n```",
            r#"I thought {of it} and {"x":1}, then {"query":"a","n":{"b":"}"}} it is."#,
            r#"Braces { come before {"query":"a"}"#,
        ] {
            assert_eq!(with_query(text).as_deref(), Some("a"), "{text}");
        }
    }

    #[test]
    fn what_holds_no_accepted_object_gives_none() {
        for text in ["", "no", "[1]", "{\"query\":", r#"{"other":1}"#, "{{{{", "```"] {
            assert_eq!(with_query(text), None, "{text}");
        }
    }
}
