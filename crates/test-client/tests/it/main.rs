//! Tests of the library and of the binary against the fake server.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod cli;
mod client;
mod http;
mod prompt;
mod raw;

#[path = "../fake/protocol.rs"]
mod protocol;

use tokio::process::Command;

fn fake(flags: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fake-server"));
    command.args(flags);
    command
}
