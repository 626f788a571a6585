//! Any bytes between host and worker: read by either side without a panic, and what is read can be written.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_core::sandbox;

fuzz_target!(|bytes: &[u8]| sandbox::read_as_both_sides(bytes));
