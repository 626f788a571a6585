//! What a script's run can fail with, as the agent will read it.

use std::fmt;

use serde_json::{Map, Value};

/// Says why a script failed, with positions in the agent's own text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ScriptError {
    /// The error's class: `TypeError`, `ApiError`, `SyntaxError`, `LimitError`, ….
    pub name: String,
    /// One sentence, with a hint where one is known.
    pub message: String,
    /// Line of the agent's text, counted from 1.
    pub line: Option<u32>,
    /// Column of the agent's text, counted from 1.
    pub column: Option<u32>,
    /// The frames inside the agent's text, innermost first: `at name (line:column)`.
    pub stack: Vec<String>,
    /// The error's own properties, such as `status` and `data` of an `ApiError`.
    pub properties: Map<String, Value>,
}

impl ScriptError {
    /// An error of this class and message without a position.
    pub fn new(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self { name: name.into(), message: message.into(), ..Self::default() }
    }
}

impl From<HostError> for ScriptError {
    fn from(error: HostError) -> Self {
        let HostError { name, message, properties } = error;
        Self { name, message, properties, ..Self::default() }
    }
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.message)?;
        match (self.line, self.column) {
            (Some(line), Some(column)) => write!(f, " (line {line}, column {column})"),
            (Some(line), None) => write!(f, " (line {line})"),
            (None, _) => Ok(()),
        }
    }
}

impl std::error::Error for ScriptError {}

/// A host function's refusal or failure: thrown in the script where it made the call.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HostError {
    /// The class the script sees. `ApiError` makes it an instance of that class.
    pub name: String,
    /// One sentence for the agent.
    pub message: String,
    /// Becomes the thrown error's own properties.
    pub properties: Map<String, Value>,
}

impl HostError {
    /// An error of this class and message without properties.
    pub fn new(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self { name: name.into(), message: message.into(), properties: Map::new() }
    }

    /// Adds an own property.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.properties.insert(name.into(), value.into());
        self
    }
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.message)
    }
}

impl std::error::Error for HostError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_prints_with_its_place() {
        let mut error = ScriptError::new("TypeError", "not a function");
        assert_eq!(error.to_string(), "TypeError: not a function");
        error.line = Some(3);
        error.column = Some(7);
        assert_eq!(error.to_string(), "TypeError: not a function (line 3, column 7)");
    }
}
