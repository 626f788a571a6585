//! OpenAPI documents: read leniently, kept as text, understood operation by operation.
//!
//! [`load`] takes JSON or YAML of any OpenAPI version and keeps each operation and component as
//! pruned JSON text. What is asked for is read from that text at the moment it is asked for; no
//! reference is ever resolved ahead of need.

pub mod cache;
mod document;
mod load;
mod operation;
mod prose;
mod prune;
mod render;
mod resolve;
mod route;
mod security;
mod server;
mod shape;
pub mod source;
mod stored;
mod summary;
mod swagger2;
mod text;
mod typed;
mod types;
mod upper;
mod words;
mod yaml;

pub use document::{Document, Method, SearchFields, Skipped, Summary};
pub use load::{LoadError, LoadOptions, load};
pub use operation::{Body, Encoding, MediaType, Operation, Parameter, Response};
pub use render::{Depth, full, line, schema, signature};
pub use route::{RouteError, RouteMatch};
pub use security::{SecurityKind, SecurityScheme};
pub use server::{Server, ServerVariable, join_url};
pub use stored::DocumentBytesError;
pub use typed::{typed_operation, typed_schema};
#[doc(hidden)]
pub use yaml::yaml_readings_agree;
