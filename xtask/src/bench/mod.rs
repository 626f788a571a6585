//! `cargo xtask bench`: figures, each beside a baseline of the same run.

pub(crate) mod code;
pub(crate) mod http;
pub(crate) mod load;
pub(crate) mod render;
pub(crate) mod retrieval;
pub(crate) mod start;
