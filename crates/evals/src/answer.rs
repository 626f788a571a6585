//! The final answer: one JSON object out of an agent's last words, or the reason why there is none.
//!
//! Prose around it is passed over; what could be read in two ways is refused, never repaired.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

const MAX_BYTES: usize = 256 * 1024;
const MAX_DEPTH: usize = 32;
const DUPLICATE: &str = "duplicate key";

/// Why a text holds no answer.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    thiserror::Error,
    serde::Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
pub enum Rejection {
    #[error("the text is empty")]
    Empty,
    #[error("the text is longer than {MAX_BYTES} bytes")]
    TooLarge,
    #[error("there is no fenced block, and the text is more than one JSON object")]
    NoFence,
    #[error("a fence is opened and not closed")]
    MalformedFence,
    #[error("there is more than one fenced block")]
    MultipleFences,
    #[error("the fenced block is not marked as JSON")]
    WrongFenceLanguage,
    #[error("the block is not JSON")]
    BadJson,
    #[error("an object has the same key twice")]
    DuplicateKey,
    #[error("the JSON is nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
    #[error("the JSON is not an object")]
    NotObject,
}

/// Reads the answer out of an agent's final text.
pub fn parse(text: &str) -> Result<Map<String, Value>, Rejection> {
    if text.len() > MAX_BYTES {
        return Err(Rejection::TooLarge);
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    if text.trim().is_empty() {
        return Err(Rejection::Empty);
    }
    match fences(&text)?.as_slice() {
        [] if text.trim_start().starts_with('{') => match object(text.trim()) {
            Err(Rejection::BadJson) => Err(Rejection::NoFence),
            read => read,
        },
        [] => Err(Rejection::NoFence),
        [fence] => {
            let json = ["", "json", "jsonc"].iter().any(|it| fence.info.eq_ignore_ascii_case(it));
            if json { object(&fence.content) } else { Err(Rejection::WrongFenceLanguage) }
        }
        _ => Err(Rejection::MultipleFences),
    }
}

struct Fence {
    info: String,
    content: String,
}

/// The fenced blocks of a markdown text; everything inside one belongs to it.
fn fences(text: &str) -> Result<Vec<Fence>, Rejection> {
    let mut found = Vec::new();
    let mut open: Option<(char, usize, Fence)> = None;
    for line in text.split('\n') {
        open = match (open, marker(line)) {
            (None, Some((mark, length, info))) if mark == '~' || !info.contains('`') => {
                let fence = Fence { info: info.trim().to_owned(), content: String::new() };
                Some((mark, length, fence))
            }
            (None, _) => None,
            (Some((mark, length, fence)), Some((closing, run, rest)))
                if closing == mark && run >= length && rest.trim().is_empty() =>
            {
                found.push(fence);
                None
            }
            (Some((mark, length, mut fence)), _) => {
                fence.content.push_str(line);
                fence.content.push('\n');
                Some((mark, length, fence))
            }
        };
    }
    if open.is_some() { Err(Rejection::MalformedFence) } else { Ok(found) }
}

/// The character, length and rest of a line that could open or close a block.
fn marker(line: &str) -> Option<(char, usize, &str)> {
    let inner = line.trim_start_matches(' ');
    let mark = inner.chars().next().filter(|it| matches!(it, '`' | '~'))?;
    let rest = inner.trim_start_matches(mark);
    let run = inner.len() - rest.len();
    (line.len() - inner.len() <= 3 && run >= 3).then_some((mark, run, rest))
}

fn object(json: &str) -> Result<Map<String, Value>, Rejection> {
    let mut reader = serde_json::Deserializer::from_str(json);
    let value = Strict.deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    match value {
        Ok(value) if depth(&value) > MAX_DEPTH => Err(Rejection::TooDeep),
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(Rejection::NotObject),
        Err(error) if error.to_string().starts_with(DUPLICATE) => Err(Rejection::DuplicateKey),
        Err(_) => Err(Rejection::BadJson),
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

/// JSON in which a key that comes twice is an error.
struct Strict;

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut read = Vec::new();
        while let Some(item) = items.next_element_seed(Self)? {
            read.push(item);
        }
        Ok(read.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut read = Map::new();
        while let Some(key) = fields.next_key::<String>()? {
            if read.contains_key(&key) {
                return Err(A::Error::custom(DUPLICATE));
            }
            let value = fields.next_value_seed(Self)?;
            read.insert(key, value);
        }
        Ok(read.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_is_an_answer_or_has_its_reason() {
        let answer = Ok(());
        let long = format!("```json\n{{\"a\": \"{}\"}}\n```", "x".repeat(300 * 1024));
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(40), "]".repeat(40));
        for (text, expected) in [
            ("I set {it} up.\n```json\n{\"a\": 1}\n```\nSee {above}.", answer),
            ("{\"a\": 1}", answer),
            ("\u{feff}  {\"a\": 1}\r\n", answer),
            ("```JSON\n{\"a\": 1}\n```", answer),
            ("```jsonc\n{\"a\": 1}\n```", answer),
            ("~~~\n{\"a\": 1}\n~~~", answer),
            ("   ```\n{\"a\": \"```\"}\n   ````  ", answer),
            ("```json\r\n{\"a\": 1}\r\n```\r\nDone.", answer),
            ("", Err(Rejection::Empty)),
            (" \n", Err(Rejection::Empty)),
            (&long, Err(Rejection::TooLarge)),
            ("{\"a\": 1}\nThat is all.", Err(Rejection::NoFence)),
            ("It is `{}`.", Err(Rejection::NoFence)),
            ("    ```json\n    {\"a\": 1}\n    ```", Err(Rejection::NoFence)),
            ("```json\n{\"a\": 1}", Err(Rejection::MalformedFence)),
            ("````json\n{\"a\": 1}\n```", Err(Rejection::MalformedFence)),
            ("```\n{}\n```\n```\n{}\n```", Err(Rejection::MultipleFences)),
            ("```json\n{}\n```\n```bash\nls\n```", Err(Rejection::MultipleFences)),
            ("```text\n{\"a\": 1}\n```", Err(Rejection::WrongFenceLanguage)),
            ("````json\n```\n{}\n```\n````", Err(Rejection::BadJson)),
            ("```json\n{\"a\": 1,}\n```", Err(Rejection::BadJson)),
            ("```json\n{\"a\": NaN}\n```", Err(Rejection::BadJson)),
            ("```json\n{\"a\": 1e999}\n```", Err(Rejection::BadJson)),
            ("```json\n{} {}\n```", Err(Rejection::BadJson)),
            ("{\"a\": 1, \"a\": 2}", Err(Rejection::DuplicateKey)),
            ("```\n{\"a\": [{\"b\": 1, \"b\": 1}]}\n```", Err(Rejection::DuplicateKey)),
            (&deep, Err(Rejection::TooDeep)),
            ("```json\n[1]\n```", Err(Rejection::NotObject)),
        ] {
            let shown: String = text.chars().take(60).collect();
            assert_eq!(parse(text).map(drop), expected, "{shown}");
        }
    }
}
