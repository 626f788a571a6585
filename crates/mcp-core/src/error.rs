//! The two tiers of failure: what the model can fix, and what only an operator can.

use std::fmt;

/// Why a tool call failed.
#[derive(Debug)]
pub enum ToolError {
    /// The caller can fix it; message and hints are shown to the model.
    UserInput(UserInputError),
    /// Ours or the machine's: logged in full under an event id, the model sees the id alone.
    System(Box<dyn std::error::Error + Send + Sync>),
}

/// A fault in what was asked for, in words for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserInputError {
    /// What is wrong: a lower-case fragment that names the thing in backticks.
    pub message: String,
    /// What to do next.
    pub hints: Vec<String>,
}

impl ToolError {
    /// A fault the caller can fix.
    pub fn user(message: impl Into<String>) -> Self {
        Self::UserInput(UserInputError { message: message.into(), hints: Vec::new() })
    }

    /// Adds what to do next; does nothing to a system error.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        if let Self::UserInput(error) = &mut self {
            error.hints.push(hint.into());
        }
        self
    }

    /// A fault that the caller cannot fix.
    pub fn system(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::System(source.into())
    }
}

impl fmt::Display for UserInputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for hint in &self.hints {
            write!(f, "\nhint: {hint}")?;
        }
        Ok(())
    }
}
