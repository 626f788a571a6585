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

/// P20: what the documents call a tool is one.
#[test]
fn every_tool_that_the_documents_name_exists() {
    const VERBS: [&str; 10] = [
        "find_",
        "get_",
        "search_",
        "create_",
        "update_",
        "delete_",
        "add_",
        "remove_",
        "execute_",
        "call_operation",
    ];
    let whole = ["execute_write", "call_operation", "call_operation_write"];
    let tools = definitions::tools();
    let curated = tools.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap());
    let known: Vec<&str> = curated.chain(whole).collect();
    for document in ["../README.md", "../ARCHITECTURE.md", "../CONTRIBUTING.md", "tools.md"] {
        for name in written(document).split('`').skip(1).step_by(2) {
            let is_name = name.chars().all(|it| it.is_ascii_lowercase() || it == '_');
            if is_name && VERBS.iter().any(|verb| name.starts_with(verb)) {
                assert!(known.contains(&name), "{document} names `{name}`");
            }
        }
    }
}

#[test]
fn the_reference_page_is_current() {
    assert_current("tools.md", &definitions::reference());
}
