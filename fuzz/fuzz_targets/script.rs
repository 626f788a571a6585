//! Any text as a script: reading it ends without a panic, moves no line, and blames no place outside it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_core::sandbox;

fuzz_target!(|source: &str| {
    let lines = u32::try_from(source.split('\n').count()).unwrap_or(u32::MAX);
    match sandbox::prepare(source) {
        Ok(prepared) => {
            let (line, column) = prepared.locate(1, 1);
            assert!((1..=lines).contains(&line) && column >= 1, "line {line} of {lines}");
        }
        Err(error) => assert!(error.line.is_none_or(|line| line <= lines + 1), "{error}"),
    }
});
