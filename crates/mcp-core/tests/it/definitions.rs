//! What `cargo xtask definitions` wrote down is what the tools say today.

use std::{fs, path::PathBuf};

use mcp_core::definitions;

fn written(path: &str) -> String {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn assert_current(path: &str, today: &str) {
    assert!(written(path) == today, "docs/{path} is not current: run `cargo xtask definitions`");
}

#[test]
fn tool_definitions_are_written_down_as_they_are() {
    assert_current("definitions/tools.json", &definitions::pretty(&definitions::tools()));
}

#[test]
fn skill_definitions_are_written_down_as_they_are() {
    assert_current("definitions/skills.json", &definitions::pretty(&definitions::skills()));
}

#[test]
fn the_reference_page_is_current() {
    assert_current("tools.md", &definitions::reference());
}
