//! What an agent can do with an HTTP API, independent of any transport.
//!
//! Reading order: [`context`] (what a caller has), `session` (what it may see), [`tool`] (what a tool
//! is), `catalog` (curated tools, one a file), [`code_mode`] (search, execute, execute_write and the
//! policy they share), then the parts they stand on: [`openapi`]
//! (documents), [`search`] (ranking), [`sandbox`] (where scripts run), [`profile`] (what differs between
//! APIs). [`server`] alone speaks the protocol's SDK; [`build_server`] is the one entry.

pub mod agents;
pub mod caller;
mod catalog;
pub mod code_mode;
pub mod constraints;
pub mod context;
mod conversation;
pub mod definitions;
pub mod docs;
pub mod error;
pub mod event_search;
#[cfg(test)]
mod examples;
mod failure;
mod issue;
pub mod observer;
pub mod openapi;
pub mod output;
mod params;
mod plain_mode;
pub mod profile;
mod profiling;
mod render;
pub mod sandbox;
pub mod search;
mod sentry_url;
pub mod server;
mod session;
pub mod skill;
mod special;
pub mod surfaces;
#[cfg(test)]
mod test_support;
pub mod tool;
mod trace;

pub use context::Context;
pub use server::build_server;
