//! Any text as YAML: the short way to read it answers what the full parser answers, or nothing.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_core::openapi;

fuzz_target!(|text: &str| assert!(openapi::yaml_readings_agree(text), "{text:?}"));
