//! End-to-end tests of the real binary.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod addresses;
mod agents;
mod any_api;
mod catalog;
mod check;
mod cli;
mod code_mode;
mod configuration;
mod confirm;
mod documents;
mod echo;
mod files;
mod init;
mod lifecycle;
mod network;
mod plain;
mod plan;
mod sandbox;
mod several_apis;
mod support;
mod symbols;
mod tool_list;
mod upstream;
