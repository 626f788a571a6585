//! Speaks HTTP to upstream APIs: request building, credentials, transport, pagination. Knows nothing of MCP.

pub mod auth;
pub mod error;
pub mod oauth;
pub mod pagination;
pub mod request;
pub mod secret;
pub mod sentry;
pub mod transport;

pub use http::Method;
