//! What a tool is: a definition the client reads, and a call.

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use crate::{caller::Caller, context::Context, error::ToolError, output::Content};

/// What calling a tool can do to the world; fixes the protocol's hints together, so that none is
/// ever left unset or contradicts another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Changes nothing.
    Read,
    /// May change or remove what exists.
    Destroy,
}

/// Whether a tool reaches beyond this server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum World {
    /// Answers from what the server holds.
    Closed,
    /// Talks to an upstream API.
    Open,
}

/// What a client is told of a tool.
#[derive(Debug, Clone)]
pub struct Definition {
    /// `^[a-z][a-z0-9_]*$`, at most 20 characters: clients add prefixes of their own.
    pub name: &'static str,
    /// A few words for a person.
    pub title: &'static str,
    /// What the model reads to decide and to write the call.
    pub description: String,
    /// A flat object schema in the subset every client understands.
    pub input_schema: Schema,
    /// What calling it can do.
    pub effect: Effect,
    /// Where it reaches.
    pub world: World,
}

/// A tool.
#[async_trait]
pub trait Tool: Send + Sync {
    /// What the client is told; fixed for the life of the server.
    fn definition(&self, cx: &Context) -> Definition;

    /// Does it. `arguments` were coerced to the declared types and validated.
    async fn call(
        &self,
        cx: &Context,
        caller: &dyn Caller,
        arguments: &Map<String, Value>,
    ) -> Result<Content, ToolError>;
}

/// The declared type of one argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentType {
    /// Any text; `empty` tells whether the empty string is a value or counts as absent.
    Text {
        /// Whether `""` means something.
        empty: bool,
    },
    /// A whole number within bounds.
    Integer {
        /// Smallest allowed.
        min: i64,
        /// Largest allowed.
        max: i64,
    },
    /// One of a few words.
    Choice(&'static [&'static str]),
    /// An object with fields of its own.
    Object,
}

/// One argument of a tool.
#[derive(Debug, Clone)]
pub struct Argument {
    /// Its name on the wire.
    pub name: &'static str,
    /// Its type.
    pub kind: ArgumentType,
    /// Whether a call without it is refused.
    pub required: bool,
    /// What the model reads; empty where the name says it all.
    pub description: String,
}

/// The arguments of a tool: renders as JSON Schema, and coerces what clients send.
#[derive(Debug, Clone)]
pub struct Schema(pub Vec<Argument>);

impl Schema {
    /// The JSON Schema: a plain object without `$ref`, unions, or `additionalProperties`.
    pub fn to_json(&self) -> Map<String, Value> {
        let mut properties = Map::new();
        for argument in &self.0 {
            let mut property = match argument.kind {
                ArgumentType::Text { .. } => json!({ "type": "string" }),
                ArgumentType::Integer { min, max } => {
                    json!({ "type": "integer", "minimum": min, "maximum": max })
                }
                ArgumentType::Choice(choices) => json!({ "type": "string", "enum": choices }),
                ArgumentType::Object => json!({ "type": "object" }),
            };
            if !argument.description.is_empty() {
                property["description"] = json!(argument.description);
            }
            properties.insert(argument.name.to_owned(), property);
        }
        let required: Vec<_> = self.0.iter().filter(|it| it.required).map(|it| it.name).collect();
        let mut schema = Map::new();
        schema.insert("type".to_owned(), json!("object"));
        schema.insert("properties".to_owned(), Value::Object(properties));
        schema.insert("required".to_owned(), json!(required));
        schema
    }

    /// Brings arguments to their declared types and names what is still wrong.
    ///
    /// Models send numbers as text and fill optional arguments with `null`, `""` or the text
    /// `null`: those count as absent.
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
            let Some(argument) = self.0.iter().find(|it| it.name == name) else {
                let known: Vec<_> = self.0.iter().map(|it| format!("`{}`", it.name)).collect();
                return Err(ToolError::user(format!("`{tool}` has no argument `{name}`"))
                    .hint(format!("its arguments are {}", known.join(", "))));
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
            if !arguments.contains_key(argument.name) {
                return Err(ToolError::user(format!(
                    "`{tool}` needs the argument `{}`, {}",
                    argument.name,
                    argument.kind.wanted()
                )));
            }
        }
        Ok(arguments)
    }
}

fn is_absent(value: &Value, argument: &Argument) -> bool {
    let keeps_text = matches!(argument.kind, ArgumentType::Text { empty: true });
    match value {
        Value::Null => true,
        Value::String(text) if !argument.required => {
            !keeps_text && (text.is_empty() || text == "null")
        }
        _ => false,
    }
}

impl ArgumentType {
    fn wanted(self) -> String {
        match self {
            Self::Text { .. } => "a text".to_owned(),
            Self::Integer { min, max } => format!("a whole number from {min} to {max}"),
            Self::Choice(choices) => format!("one of {}", choices.join(", ")),
            Self::Object => "an object".to_owned(),
        }
    }

    fn coerce(self, value: Value) -> Result<Value, String> {
        let coerced = match self {
            Self::Text { .. } => match value {
                Value::String(_) => Some(value),
                Value::Number(number) => Some(Value::String(number.to_string())),
                Value::Bool(flag) => Some(Value::String(flag.to_string())),
                Value::Null | Value::Array(_) | Value::Object(_) => None,
            },
            Self::Integer { min, max } => integer(&value)
                .filter(|number| (min..=max).contains(number))
                .map(|number| json!(number)),
            Self::Choice(choices) => value
                .as_str()
                .and_then(|text| choices.iter().find(|it| it.eq_ignore_ascii_case(text.trim())))
                .map(|choice| json!(choice)),
            Self::Object => match value {
                Value::Object(_) => Some(value),
                // Some clients send nested objects as their text.
                Value::String(text) => serde_json::from_str(&text).ok().filter(Value::is_object),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
            },
        };
        coerced.ok_or_else(|| self.wanted())
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

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Schema {
        let argument =
            |name, kind, required| Argument { name, kind, required, description: String::new() };
        Schema(vec![
            argument("query", ArgumentType::Text { empty: true }, true),
            argument("limit", ArgumentType::Integer { min: 1, max: 50 }, false),
            argument("detail", ArgumentType::Choice(&["brief", "full"]), false),
        ])
    }

    fn coerce(given: Value) -> Result<Value, String> {
        let Value::Object(given) = given else { panic!("an object") };
        schema().coerce("search", given).map(Value::Object).map_err(|error| match error {
            ToolError::UserInput(error) => error.to_string(),
            ToolError::System(error) => error.to_string(),
        })
    }

    #[test]
    fn numbers_and_text_are_coerced_both_ways() {
        assert_eq!(
            coerce(json!({"query": 12, "limit": "5", "detail": "FULL"})),
            Ok(json!({"query": "12", "limit": 5, "detail": "full"}))
        );
        assert_eq!(
            coerce(json!({"query": true, "limit": 7.0})),
            Ok(json!({"query": "true", "limit": 7}))
        );
    }

    #[test]
    fn null_and_empty_optional_arguments_count_as_absent() {
        for nothing in [json!(null), json!(""), json!("null")] {
            assert_eq!(
                coerce(json!({"query": "", "limit": nothing, "detail": nothing})),
                Ok(json!({"query": ""}))
            );
        }
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
                json!({"q": "a"}),
                "`search` has no argument `q`\nhint: its arguments are `query`, `limit`, `detail`",
            ),
        ];
        for (given, message) in table {
            assert_eq!(coerce(given.clone()), Err(message.to_owned()), "{given}");
        }
    }
}
