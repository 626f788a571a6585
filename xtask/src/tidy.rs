//! The walls between the crates, checked by reading the sources.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, Result, ensure};

use crate::COMMANDS;

/// Words that some sources must not contain.
struct Wall {
    /// The sources, by the start of their path.
    within: &'static str,
    /// Where it holds not, by the start of the path.
    except: &'static [&'static str],
    words: &'static [&'static str],
    why: &'static str,
}

const WALLS: &[Wall] = &[
    Wall {
        within: "crates/",
        except: &[
            "crates/mcp-core/src/server.rs",
            "crates/mcp-stdio/",
            "crates/mcp-http/",
            "crates/conformance/",
            // It quiets the SDK's log by its name.
            "crates/server-config/src/config.rs",
            "crates/test-client/",
        ],
        words: &["rmcp"],
        why: "the protocol's SDK is named in `mcp-core/src/server.rs` and the binaries only",
    },
    Wall {
        within: "crates/api-client/",
        except: &[],
        words: &["mcp_core", "mocks", "model_client", "test_client"],
        why: "`api-client` imports nothing of ours",
    },
    Wall {
        within: "crates/model-client/src/",
        except: &[],
        words: &["mcp_core", "mocks", "test_client"],
        why: "`model-client` knows nothing of MCP",
    },
    Wall {
        within: "crates/mocks/",
        except: &[],
        words: &["api_client", "mcp_core", "model_client"],
        why: "a type shared with the client would make both wrong in the same way",
    },
    Wall {
        within: "crates/test-client/src/",
        except: &[],
        words: &["api_client", "mcp_core", "mocks"],
        why: "`test-client` sees only the wire",
    },
    Wall {
        within: "crates/evals/src/",
        except: &["crates/evals/src/world.rs", "crates/evals/src/provenance.rs"],
        words: &["mocks", "api_client", "mcp_core"],
        why: "a verifier that shares code with the fixture would be wrong in the same way",
    },
    Wall {
        within: "crates/mcp-core/src/",
        except: &[],
        words: &["axum", "clap", "env::var", "env::vars", "io::stdout", "println"],
        why: "`mcp-core` knows no transport, reads no environment and writes no stdout",
    },
    Wall {
        within: "crates/mcp-core/src/",
        except: &["crates/mcp-core/src/sandbox/", "crates/mcp-core/src/bin/"],
        words: &["std::process", "tokio::process", "env::args", "env::args_os", "current_exe"],
        why: "processes and program arguments appear in `sandbox/` alone",
    },
];

/// Where a wall is broken.
#[derive(Debug, PartialEq)]
pub(crate) struct Violation {
    path: String,
    line: usize,
    message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    ensure!(arguments.is_empty(), "`tidy` takes no arguments");
    let tidy = print(&check(crate::root())?);
    Ok(if tidy { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints what was found; whether that was nothing.
pub(crate) fn print(violations: &[Violation]) -> bool {
    for violation in violations {
        println!("{violation}");
    }
    violations.is_empty()
}

/// Reads every source and document of the workspace.
pub(crate) fn check(root: &Path) -> Result<Vec<Violation>> {
    let mut violations = Vec::new();
    for folder in ["crates", "xtask/src"] {
        for file in sources(&root.join(folder))? {
            let path =
                file.strip_prefix(root).unwrap_or(&file).to_string_lossy().replace('\\', "/");
            violations.extend(check_source(&path, &read(&file)?));
        }
    }
    for document in ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"] {
        violations.extend(check_document(document, &read(&root.join(document))?));
    }
    Ok(violations)
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))
}

/// The Rust files below a folder, in order.
fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot read `{}`", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(sources(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn check_source(path: &str, text: &str) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut report = |line: usize, message: String| {
        violations.push(Violation { path: path.to_owned(), line: line + 1, message });
    };
    if !text.starts_with("//!") {
        report(0, "a file opens with one `//!` sentence that says what it is for".to_owned());
    }
    for (number, line) in code(path, text) {
        for wall in WALLS {
            let behind = path.starts_with(wall.within)
                && !wall.except.iter().any(|except| path.starts_with(except));
            if !behind {
                continue;
            }
            if let Some(word) = wall.words.iter().find(|word| contains_word(line, word)) {
                report(number, format!("`{word}` is not for this file: {}", wall.why));
            }
        }
        if let Some(tool) = imported_tool(path, line) {
            report(number, format!("a tool imports the tool `{tool}`: share through `render/`"));
        }
    }
    violations
}

/// The lines of a source without comments and without its tests, which may do more.
fn code<'a>(path: &str, text: &'a str) -> impl Iterator<Item = (usize, &'a str)> {
    let is_test = path.ends_with("/tests.rs") || path.contains("/tests/");
    let lines = text.lines().map(|line| match line.split_once("//") {
        Some((code, _)) if !code.ends_with(':') => code,
        _ => line,
    });
    let mut in_tests = is_test;
    lines.enumerate().filter(move |(_, line)| {
        in_tests |= line.starts_with("mod tests {");
        !in_tests
    })
}

/// Whether a line has a word that is no part of a longer one.
fn contains_word(line: &str, word: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        !line[..at].ends_with(inside) && !line[at + word.len()..].starts_with(inside)
    })
}

/// The other tool that a line of a tool's file names.
fn imported_tool<'a>(path: &str, line: &'a str) -> Option<&'a str> {
    let file = path.strip_prefix("crates/mcp-core/src/catalog/")?.strip_suffix(".rs")?;
    if file == "mod" || file.contains('/') {
        return None;
    }
    ["super::", "catalog::"].iter().find_map(|prefix| {
        let (_, rest) = line.split_once(prefix)?;
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let name = &rest[..end];
        let is_module = name.starts_with(|c: char| c.is_ascii_lowercase());
        (is_module && name != file && name != "super").then_some(name)
    })
}

/// Commands that a document shows must exist.
fn check_document(path: &str, text: &str) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for (_, rest) in
            line.match_indices("cargo xtask ").map(|(at, it)| (at, &line[at + it.len()..]))
        {
            let end =
                rest.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(rest.len());
            let name = &rest[..end];
            if !name.is_empty() && !COMMANDS.iter().any(|command| command.name == name) {
                let message = format!("`cargo xtask {name}` is no command");
                violations.push(Violation { path: path.to_owned(), line: number + 1, message });
            }
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        check_source(path, text).iter().map(Violation::to_string).collect()
    }

    #[test]
    fn a_word_behind_its_wall_is_named_with_file_and_line() {
        let text = "//! A tool.\n\nuse rmcp::model::Tool;\n";
        let violations = found("crates/mcp-core/src/tool.rs", text);
        assert_eq!(violations.len(), 1);
        assert!(
            violations[0].starts_with("crates/mcp-core/src/tool.rs:3: `rmcp` is not for this file")
        );
        assert!(found("crates/mcp-core/src/server.rs", text).is_empty());
        assert!(found("crates/test-client/src/client.rs", text).is_empty());
    }

    #[test]
    fn each_wall_holds() {
        for (path, line) in [
            ("crates/api-client/src/a.rs", "use mcp_core::Context;"),
            ("crates/mocks/src/a.rs", "use api_client::auth;"),
            ("crates/test-client/src/a.rs", "use mcp_core::Context;"),
            ("crates/mcp-core/src/a.rs", "let a = std::env::var(\"A\");"),
            ("crates/mcp-core/src/a.rs", "std::process::Command::new(\"a\")"),
            ("crates/mcp-core/src/sandbox/a.rs", "std::io::stdout()"),
            ("crates/mcp-core/src/catalog/find_teams.rs", "use super::find_projects::Params;"),
        ] {
            assert_eq!(found(path, &format!("//! A.\n{line}")).len(), 1, "{path}: {line}");
        }
    }

    #[test]
    fn comments_tests_and_longer_words_break_no_wall() {
        for (path, text) in [
            ("crates/mcp-core/src/a.rs", "//! A.\nlet a = 1; // as axum does"),
            ("crates/mcp-core/src/a.rs", "//! A.\nlet axum_like = \"https://a\";"),
            (
                "crates/mcp-core/src/a.rs",
                "//! A.\n#[cfg(test)]\nmod tests {\n    use axum::Router;\n}",
            ),
            ("crates/mcp-core/tests/it/a.rs", "//! A.\nuse rmcp::model::Tool;"),
            ("crates/mcp-core/src/sandbox/pool.rs", "//! A.\nuse std::process::Command;"),
            ("crates/mcp-core/src/catalog/find_teams.rs", "//! A.\nuse super::Params;"),
        ] {
            assert_eq!(found(path, text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn a_file_without_an_opening_sentence_is_named() {
        assert!(
            found("xtask/src/a.rs", "fn main() {}")[0]
                .starts_with("xtask/src/a.rs:1: a file opens")
        );
    }

    #[test]
    fn a_document_shows_only_commands_that_exist() {
        let text =
            "```sh\ncargo xtask test    # all\n```\n`cargo xtask fly`, then cargo xtask help.";
        let violations = check_document("README.md", text);
        assert_eq!(violations.len(), 1);
        assert_eq!(violations[0].to_string(), "README.md:4: `cargo xtask fly` is no command");
    }
}
