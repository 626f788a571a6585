//! What the tools about issues share: how one is named, how it is ignored, what is looked up around it.

mod ignoring;
mod reference;
mod surroundings;

pub(crate) use ignoring::{IgnoreMode, IgnoreOptions};
pub(crate) use reference::{IssueRef, IssueTarget};
pub(crate) use surroundings::Surroundings;
