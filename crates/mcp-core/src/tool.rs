//! What a tool is: a definition the client reads, and a call.

mod curated;
mod derive;
mod form;
mod schema;

use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::{
    caller::Caller, constraints::Constraints, context::Context, error::ToolError, output::Content,
};

pub(crate) use curated::{Call, CuratedTool, Hidden, Markdown, Mode, Registered, Spec, Structured};
pub(crate) use derive::CLEARABLE;
#[cfg(test)]
pub(crate) use derive::KEYWORDS;
pub use form::Form;
pub use schema::{Argument, ArgumentType, Schema};

/// What calling a tool can do to the world; fixes the protocol's hints together, so that none is
/// ever left unset or contradicts another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Changes nothing.
    Read,
    /// Makes something new; twice makes two.
    Create,
    /// Adds what is missing; twice is as good as once.
    Add,
    /// Changes or removes what exists; twice is as good as once.
    Replace,
    /// May change or remove what exists, and each call counts.
    Destroy,
}

impl Effect {
    /// Whether nothing changes.
    pub fn is_read_only(self) -> bool {
        self == Self::Read
    }

    /// Whether what exists may be lost.
    pub fn is_destructive(self) -> bool {
        matches!(self, Self::Replace | Self::Destroy)
    }

    /// Whether a second call like the first changes nothing more.
    pub fn is_idempotent(self) -> bool {
        matches!(self, Self::Read | Self::Add | Self::Replace)
    }
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
    /// `^[a-z][a-z0-9_]*$`, at most 64 characters, and better 20: clients add prefixes of their own.
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

impl Definition {
    /// The same without the parameters a session is pinned to.
    pub(crate) fn under(&self, constraints: &Constraints) -> Self {
        let input_schema = constraints.hide(self.input_schema.clone());
        Self { input_schema, ..self.clone() }
    }
}

/// A tool.
#[async_trait]
pub trait Tool: Send + Sync {
    /// What the client is told; fixed for the life of the server.
    fn definition(&self, cx: &Context) -> Definition;

    /// The shape of every success, where the tool promises one.
    fn output_schema(&self) -> Option<Map<String, Value>> {
        None
    }

    /// Does it. `arguments` were coerced to the declared types and validated.
    async fn call(
        &self,
        cx: &Context,
        caller: &dyn Caller,
        arguments: &Map<String, Value>,
    ) -> Result<Content, ToolError>;
}
