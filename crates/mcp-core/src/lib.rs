//! What an agent can do with an HTTP API, independent of any transport.
//!
//! Reading order: [`context`] (what a caller has), [`tool`] (what a tool is), [`code_mode`] (search,
//! execute, execute_write and the policy they share), then the parts they stand on: [`openapi`]
//! (documents), [`search`] (ranking), [`sandbox`] (where scripts run), [`profile`] (what differs between
//! APIs). [`server`] alone speaks the protocol's SDK; [`build_server`] is the one entry.

pub mod caller;
pub mod code_mode;
pub mod context;
pub mod error;
pub mod openapi;
pub mod output;
mod plain_mode;
pub mod profile;
pub mod sandbox;
pub mod search;
pub mod server;
pub mod tool;

pub use context::Context;
pub use server::build_server;
