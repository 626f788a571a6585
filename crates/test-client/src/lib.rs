//! Talks MCP to a server over stdio or HTTP and sees only the wire.
//!
//! [`Client`] is a well-behaved client for tests and tools; [`raw::Session`] sends lines as they
//! are, for what a well-behaved client never does. [`Offer`] hands the server's tools to a language
//! model.

mod client;
mod connect;
mod handler;
mod offer;
mod output;
pub mod raw;

pub use client::{Annotations, Client, Error, Server, ToolInfo, ToolResult};
pub use connect::{Options, Protocol};
pub use handler::{Answer, Elicitation, Progress};
pub use offer::{Approve, Offer};
