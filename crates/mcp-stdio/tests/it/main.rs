//! End-to-end tests of the real binary.

mod cli;
mod code_mode;
mod confirm;
mod documents;
mod lifecycle;
mod support;
mod tool_list;
