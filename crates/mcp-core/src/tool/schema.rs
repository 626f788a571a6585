//! The arguments of a tool: rendered in the subset of JSON Schema every client takes, and brought to
//! their declared types when a call comes in.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::error::ToolError;

use super::Form;

/// The declared type of one argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgumentType {
    /// Any text; `empty` tells whether the empty string is a value or counts as absent.
    Text {
        /// Whether `""` means something.
        empty: bool,
    },
    /// A text within lengths, in characters.
    Line {
        /// Fewest characters.
        least: usize,
        /// Most characters.
        most: usize,
    },
    /// A text of a known form, such as a slug.
    Form(Form),
    /// A whole number within bounds.
    Integer {
        /// Smallest allowed.
        min: i64,
        /// Largest allowed.
        max: i64,
    },
    /// True or false.
    Flag,
    /// One of a few words.
    Choice(Vec<Cow<'static, str>>),
    /// Several values of one type.
    List {
        /// The type of each.
        item: Box<Self>,
        /// Fewest items.
        least: usize,
        /// Most items.
        most: usize,
    },
    /// An object with fields of its own.
    Object,
    /// A value of a type, where `null` is a value too: it takes away what is set.
    Clearable(Box<Self>),
}

/// One argument of a tool.
#[derive(Debug, Clone)]
pub struct Argument {
    /// Its name on the wire.
    pub name: Cow<'static, str>,
    /// Its type.
    pub kind: ArgumentType,
    /// Whether a call without it is refused.
    pub required: bool,
    /// What the model reads; empty where the name says it all.
    pub description: String,
}

/// The arguments of a tool: renders as JSON Schema, and coerces what clients send.
#[derive(Debug, Clone, Default)]
pub struct Schema(pub Vec<Argument>);

impl Schema {
    /// The JSON Schema: a plain object without `$ref`, unions, or `additionalProperties`.
    pub fn to_json(&self) -> Map<String, Value> {
        let mut properties = Map::new();
        for argument in &self.0 {
            let mut property = argument.kind.to_json();
            if !argument.description.is_empty() {
                property.insert("description".to_owned(), json!(argument.description));
            }
            properties.insert(argument.name.clone().into_owned(), Value::Object(property));
        }
        let required: Vec<_> = self.0.iter().filter(|it| it.required).map(|it| &it.name).collect();
        let mut schema = Map::new();
        schema.insert("type".to_owned(), json!("object"));
        schema.insert("properties".to_owned(), Value::Object(properties));
        schema.insert("required".to_owned(), json!(required));
        schema
    }

    /// The argument of that name.
    pub fn get(&self, name: &str) -> Option<&Argument> {
        self.0.iter().find(|it| it.name == name)
    }

    /// Brings arguments to their declared types and names what is still wrong.
    ///
    /// Models send numbers as text, lists and objects as JSON text, and fill optional arguments with
    /// `null`, `""` or the text `null`: those count as absent.
    ///
    /// # Errors
    /// Names the first argument that is missing, unknown, or not of its type.
    pub fn coerce(
        &self,
        tool: &str,
        given: Map<String, Value>,
    ) -> Result<Map<String, Value>, ToolError> {
        let mut arguments = Map::new();
        for (name, value) in given {
            let Some(argument) = self.get(&name) else {
                return Err(self.unknown(tool, &name));
            };
            if is_absent(&value, argument) {
                continue;
            }
            let value = argument.kind.coerce(value).map_err(|wanted| {
                ToolError::user(format!("argument `{name}` of `{tool}` must be {wanted}"))
            })?;
            arguments.insert(name, value);
        }
        for argument in self.0.iter().filter(|it| it.required) {
            if !arguments.contains_key(argument.name.as_ref()) {
                return Err(ToolError::user(format!(
                    "`{tool}` needs the argument `{}`, {}",
                    argument.name,
                    argument.kind.wanted()
                )));
            }
        }
        Ok(arguments)
    }

    fn unknown(&self, tool: &str, name: &str) -> ToolError {
        let error = ToolError::user(format!("`{tool}` has no argument `{name}`"));
        let known: Vec<_> = self.0.iter().map(|it| format!("`{}`", it.name)).collect();
        if known.is_empty() {
            return error.hint("it takes none");
        }
        error.hint(format!("its arguments are {}", known.join(", ")))
    }
}

fn is_absent(value: &Value, argument: &Argument) -> bool {
    let keeps_text = matches!(argument.kind, ArgumentType::Text { empty: true });
    let is_nothing = |text: &str| text.is_empty() || text == "null";
    match value {
        Value::Null => !matches!(argument.kind, ArgumentType::Clearable(_)),
        Value::String(text) if !argument.required => !keeps_text && is_nothing(text),
        Value::Array(items) if !argument.required => {
            let is_list = matches!(argument.kind, ArgumentType::List { .. });
            let nothing = |item: &Value| item.is_null() || item.as_str().is_some_and(is_nothing);
            is_list && items.iter().all(nothing)
        }
        Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => false,
    }
}

impl ArgumentType {
    /// One of these words.
    pub fn choice(words: &[&'static str]) -> Self {
        Self::Choice(words.iter().map(|&word| Cow::Borrowed(word)).collect())
    }

    fn to_json(&self) -> Map<String, Value> {
        let schema = match self {
            Self::Text { .. } | Self::Line { .. } | Self::Form(_) => json!({ "type": "string" }),
            Self::Integer { min, max } => {
                let mut schema = json!({ "type": "integer", "minimum": min });
                if *max < UNBOUNDED {
                    schema["maximum"] = json!(max);
                }
                schema
            }
            Self::Flag => json!({ "type": "boolean" }),
            Self::Choice(choices) => json!({ "type": "string", "enum": choices }),
            Self::List { item, .. } => json!({ "type": "array", "items": item.to_json() }),
            Self::Object => json!({ "type": "object" }),
            Self::Clearable(inner) => return inner.to_json(),
        };
        match schema {
            Value::Object(schema) => schema,
            _ => Map::new(),
        }
    }

    fn wanted(&self) -> String {
        match self {
            Self::Text { .. } => "a text".to_owned(),
            Self::Line { least, most: usize::MAX } => {
                format!("a text of {least} or more characters")
            }
            Self::Line { least, most } => format!("a text of {least} to {most} characters"),
            Self::Form(form) => form.wanted().to_owned(),
            Self::Integer { min, max } if *max < UNBOUNDED => {
                format!("a whole number from {min} to {max}")
            }
            Self::Integer { min, .. } => format!("a whole number from {min}"),
            Self::Flag => "true or false".to_owned(),
            Self::Choice(choices) => format!("one of {}", choices.join(", ")),
            Self::List { item, least, most } => {
                let item = item.wanted();
                match (*least, *most) {
                    (0, usize::MAX) => format!("a list, each item {item}"),
                    (least, usize::MAX) => format!("a list of {least} or more, each {item}"),
                    (least, most) if least == most => format!("a list of {least}, each {item}"),
                    (least, most) => format!("a list of {least} to {most}, each {item}"),
                }
            }
            Self::Object => "an object".to_owned(),
            Self::Clearable(inner) => format!("{}, or null to clear it", inner.wanted()),
        }
    }

    /// What is wanted, shortened where it is a long list of words.
    pub(crate) fn wanted_briefly(&self) -> String {
        match self {
            Self::Choice(choices) if choices.len() > 12 => {
                let first: Vec<_> = choices.iter().take(6).map(AsRef::as_ref).collect();
                format!("one of {} words: {}, …", choices.len(), first.join(", "))
            }
            other => other.wanted(),
        }
    }

    fn coerce(&self, value: Value) -> Result<Value, String> {
        let coerced = match self {
            Self::Text { .. } => text(value).map(Value::String),
            Self::Line { least, most } => text(value)
                .map(|text| text.trim().to_owned())
                .filter(|text| (*least..=*most).contains(&text.chars().count()))
                .map(Value::String),
            Self::Form(form) => text(value).and_then(|text| form.check(&text)).map(Value::String),
            Self::Integer { min, max } => integer(&value)
                .filter(|number| (min..=max).contains(&number))
                .map(|number| json!(number)),
            Self::Flag => flag(&value).map(Value::Bool),
            Self::Choice(choices) => value
                .as_str()
                .and_then(|text| choices.iter().find(|it| it.eq_ignore_ascii_case(text.trim())))
                .map(|choice| json!(choice)),
            Self::List { item, least, most } => list(value, item)
                .filter(|items| (*least..=*most).contains(&items.len()))
                .map(Value::Array),
            Self::Object => object(value).map(Value::Object),
            Self::Clearable(_) if value.is_null() => Some(Value::Null),
            Self::Clearable(inner) => return inner.coerce(value).map_err(|_| self.wanted()),
        };
        coerced.ok_or_else(|| self.wanted())
    }
}

/// A largest value from here on is no bound that anyone needs to know.
const UNBOUNDED: i64 = 4_294_967_295;

fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number
            .as_i64()
            .or_else(|| number.as_f64().filter(|it| it.fract() == 0.0).map(|it| it as i64)),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn flag(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" => Some(true),
            "false" | "0" | "no" => Some(false),
            _ => None,
        },
        Value::Number(number) => match number.as_i64() {
            Some(0) => Some(false),
            Some(1) => Some(true),
            _ => None,
        },
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A list, a list as JSON text, or one item that stands for a list of one.
fn list(value: Value, item: &ArgumentType) -> Option<Vec<Value>> {
    let items = match value {
        Value::Array(items) => items,
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(Value::Array(items)) => items,
            _ => vec![Value::String(text)],
        },
        other => vec![other],
    };
    items.into_iter().map(|it| item.coerce(it).ok()).collect()
}

/// An object, or an object as JSON text.
fn object(value: Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(fields) => Some(fields),
        Value::String(text) if text.trim().is_empty() => Some(Map::new()),
        Value::String(text) => serde_json::from_str(&text).ok(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argument(name: &'static str, kind: ArgumentType, required: bool) -> Argument {
        Argument { name: name.into(), kind, required, description: String::new() }
    }

    fn schema() -> Schema {
        let words = ArgumentType::List {
            item: Box::new(ArgumentType::Text { empty: false }),
            least: 0,
            most: 3,
        };
        Schema(vec![
            argument("query", ArgumentType::Text { empty: true }, true),
            argument("limit", ArgumentType::Integer { min: 1, max: 50 }, false),
            argument("detail", ArgumentType::choice(&["brief", "full"]), false),
            argument("wide", ArgumentType::Flag, false),
            argument("words", words, false),
            argument("fields", ArgumentType::Object, false),
            argument("owner", ArgumentType::Clearable(Box::new(ArgumentType::Flag)), false),
        ])
    }

    fn coerce(given: Value) -> Result<Value, String> {
        let Value::Object(given) = given else { panic!("an object") };
        schema().coerce("search", given).map(Value::Object).map_err(|error| match error {
            ToolError::UserInput(error) => error.to_string(),
            ToolError::System(error) => error.to_string(),
        })
    }

    /// P7.
    #[test]
    fn numbers_flags_and_text_are_coerced_both_ways() {
        assert_eq!(
            coerce(json!({"query": 12, "limit": "5", "detail": "FULL", "wide": "false"})),
            Ok(json!({"query": "12", "limit": 5, "detail": "full", "wide": false}))
        );
        assert_eq!(
            coerce(json!({"query": true, "limit": 7.0, "wide": 1})),
            Ok(json!({"query": "true", "limit": 7, "wide": true}))
        );
    }

    /// P6.
    #[test]
    fn null_and_empty_optional_arguments_count_as_absent() {
        for nothing in [json!(null), json!(""), json!("null")] {
            assert_eq!(
                coerce(
                    json!({"query": "", "limit": nothing, "detail": nothing, "words": [nothing]})
                ),
                Ok(json!({"query": ""}))
            );
        }
        assert_eq!(coerce(json!({"query": "", "owner": null})).unwrap()["owner"], json!(null));
    }

    /// P8.
    #[test]
    fn objects_and_lists_may_come_as_json_text_and_text_is_never_decoded() {
        assert_eq!(
            coerce(
                json!({"query": "{\"a\":1}", "fields": "{\"name\":\"x\"}", "words": "[\"a\",2]"})
            ),
            Ok(json!({"query": "{\"a\":1}", "fields": {"name": "x"}, "words": ["a", "2"]}))
        );
        assert_eq!(
            coerce(json!({"query": "", "words": "one"})),
            Ok(json!({"query": "", "words": ["one"]}))
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        let table = [
            (json!({}), "`search` needs the argument `query`, a text"),
            (json!({"query": null}), "`search` needs the argument `query`, a text"),
            (json!({"query": {}}), "argument `query` of `search` must be a text"),
            (
                json!({"query": "a", "limit": "five"}),
                "argument `limit` of `search` must be a whole number from 1 to 50",
            ),
            (
                json!({"query": "a", "limit": 51}),
                "argument `limit` of `search` must be a whole number from 1 to 50",
            ),
            (
                json!({"query": "a", "detail": "all"}),
                "argument `detail` of `search` must be one of brief, full",
            ),
            (
                json!({"query": "a", "words": ["a", "b", "c", "d"]}),
                "argument `words` of `search` must be a list of 0 to 3, each a text",
            ),
            (
                json!({"query": "a", "owner": "me"}),
                "argument `owner` of `search` must be true or false, or null to clear it",
            ),
            (
                json!({"q": "a"}),
                "`search` has no argument `q`\nhint: its arguments are `query`, `limit`, `detail`, \
                 `wide`, `words`, `fields`, `owner`",
            ),
        ];
        for (given, message) in table {
            assert_eq!(coerce(given.clone()), Err(message.to_owned()), "{given}");
        }
    }
}
