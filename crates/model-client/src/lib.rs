//! Speaks to language models: OpenAI (Responses and Chat Completions), Azure OpenAI, OpenRouter, any
//! endpoint of the same form, and Anthropic Messages. Knows nothing of MCP.
//!
//! Reading order: `conversation` (what is said), `settings` and `choice` (to whom), `model` (one
//! request), `agent` (requests and tools in turn); `wire` has the three forms a request can take.
//!
//! ```
//! use model_client::{Conversation, Model, Provider, Settings};
//!
//! # fn main() -> Result<(), model_client::ConfigError> {
//! let settings = Settings::new(Provider::Anthropic).key("ANTHROPIC_API_KEY", "sk-ant-example")?;
//! let model = Model::new(settings)?;
//! let conversation = Conversation::new("Say hello.");
//! // model.complete(&conversation).await
//! # Ok(())
//! # }
//! ```

mod agent;
mod choice;
mod conversation;
mod error;
mod model;
mod recover;
mod settings;
mod sse;
mod usage;
mod wire;

pub use agent::{Agent, End, Outcome, Seen, ToolOutcome, Toolbox};
pub use api_client::error::ConfigError;
pub use api_client::transport::{ProxyOptions, TlsOptions};
pub use choice::{Account, Choice, Given};
pub use conversation::{
    Conversation, Message, Reply, Schema, Stop, Tool, ToolCall, ToolResult, Turn,
};
pub use error::{Error, ErrorKind};
pub use model::{Delta, Model};
pub use recover::object_in;
pub use settings::{Protocol, Provider, Settings};
pub use usage::Usage;
