//! End-to-end tests of the real binary.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod any_api;
mod catalog;
mod cli;
mod code_mode;
mod confirm;
mod documents;
mod lifecycle;
mod support;
mod tool_list;
mod upstream;
