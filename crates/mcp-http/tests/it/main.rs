//! End to end: the real binary as a child process, real sockets, a mock or a small upstream behind it.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod callers;
mod chat;
mod faults;
mod isolation;
mod limits;
mod narrowing;
mod oauth;
mod operators;
mod playground;
mod protocol;
mod sessions;
mod shared_state;
mod support;
mod telemetry;
mod upstream;
