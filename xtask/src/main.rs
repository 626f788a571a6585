//! The workspace's own commands: `cargo xtask help` lists them.

#![expect(clippy::print_stdout, reason = "a command's output is what it is for")]
#![expect(clippy::print_stderr, reason = "faults belong beside cargo's own messages")]

mod conformance;
mod launch;
mod playground;
mod test;
mod tidy;

#[cfg(feature = "full")]
mod bench;
#[cfg(feature = "full")]
mod cases;
#[cfg(feature = "full")]
mod definitions;
#[cfg(feature = "full")]
mod demo;
#[cfg(feature = "full")]
mod full;
#[cfg(feature = "full")]
mod hostile;
#[cfg(feature = "full")]
mod interop;
#[cfg(feature = "full")]
mod memory;
#[cfg(feature = "full")]
mod specs;

use std::{env, path::Path, process::ExitCode};

use anyhow::Result;

/// A command of `cargo xtask`.
struct Command {
    name: &'static str,
    /// How to call it: its name and arguments.
    usage: &'static str,
    about: &'static str,
    run: Run,
}

enum Run {
    /// With what every build of `xtask` has.
    Here(fn(&[String]) -> Result<ExitCode>),
    /// With the feature `full`, which is built when a command first needs it.
    Full,
}

const COMMANDS: &[Command] = &[
    Command {
        name: "demo",
        usage: "demo",
        about: "plays the real server against a mock, up to a confirmed write, and verifies it",
        run: Run::Full,
    },
    Command {
        name: "test",
        usage: "test",
        about: "formatting, lints, walls between crates, all tests; ends with `N passed, M failed`",
        run: Run::Here(test::run),
    },
    Command {
        name: "tidy",
        usage: "tidy",
        about: "the walls between crates alone",
        run: Run::Here(tidy::run),
    },
    Command {
        name: "definitions",
        usage: "definitions",
        about: "writes docs/tools.md and docs/definitions/ from the catalog; what each tool costs",
        run: Run::Full,
    },
    Command {
        name: "test-client",
        usage: "test-client [ARGUMENT ...]",
        about: "talks to a server by hand; without `--stdio` or `--url` to the demo's",
        run: Run::Full,
    },
    Command {
        name: "interop",
        usage: "interop [--servers]",
        about: "official clients from their registries against the server and a mock",
        run: Run::Full,
    },
    Command {
        name: "conformance",
        usage: "conformance",
        about: "the official MCP suite against both servers, of both eras (needs npm)",
        run: Run::Here(conformance::run),
    },
    Command {
        name: "eval",
        usage: "eval run|serve|grade|regrade|compare|report|tasks|baselines ...",
        about: "does an agent get the job done? Tasks on fixtures, judged by verifiers (docs/evals.md)",
        run: Run::Full,
    },
    Command {
        name: "playground",
        usage: "playground",
        about: "the hosted server's page in a real Chromium, with pictures (installs it on Debian)",
        run: Run::Here(playground::run),
    },
    Command {
        name: "bench",
        usage: "bench retrieval --specs DIR --queries DIR [--json] [--explain] [--worn]",
        about: "how often `search` finds the right operation, and what its answers cost",
        run: Run::Full,
    },
    Command {
        name: "bench",
        usage: "bench code [--json]",
        about: "what scripts cost over stdio, beside the same work without a sandbox",
        run: Run::Full,
    },
    Command {
        name: "bench",
        usage: "bench load --specs DIR [--json]",
        about: "what documents cost in time and memory, from their bytes and from the disk cache",
        run: Run::Full,
    },
    Command {
        name: "bench",
        usage: "bench http [--openapi FILE] [--json]",
        about: "calls per second of the hosted server, beside one on the TypeScript SDK (needs npm)",
        run: Run::Full,
    },
    Command {
        name: "bench",
        usage: "bench render [--json]",
        about: "what the largest events, traces and profiles cost the server, and that answers stay bounded",
        run: Run::Full,
    },
    Command {
        name: "bench",
        usage: "bench start [--json]",
        about: "how soon the server answers after its start, and what `tools/list` takes",
        run: Run::Full,
    },
    Command {
        name: "cases",
        usage: "cases --dir DIR",
        about: "small documents with the right answers, requests over a socket",
        run: Run::Full,
    },
    Command {
        name: "hostile",
        usage: "hostile --dir DIR [--cpu SECONDS] [--wall SECONDS]",
        about: "every program of a folder through one session of the real server, which must not mind",
        run: Run::Full,
    },
    Command {
        name: "specs",
        usage: "specs --dir DIR",
        about: "fetches the public documents the benches use, pinned by checksum (needs npm)",
        run: Run::Full,
    },
    Command { name: "help", usage: "help", about: "this list", run: Run::Here(help) },
];

fn main() -> ExitCode {
    let arguments: Vec<String> =
        env::args_os().skip(1).map(|it| it.to_string_lossy().into_owned()).collect();
    let result = match arguments.split_first() {
        None => help(&[]),
        Some((name, rest)) => match find(name) {
            Some(command) => run(command, rest),
            None => {
                eprintln!("unknown command `{name}`: did you mean `{}`?", nearest(name).usage);
                eprintln!("`cargo xtask help` lists the commands");
                return ExitCode::from(2);
            }
        },
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

fn find(name: &str) -> Option<&'static Command> {
    let name = if matches!(name, "-h" | "--help") { "help" } else { name };
    COMMANDS.iter().find(|command| command.name == name)
}

fn run(command: &Command, arguments: &[String]) -> Result<ExitCode> {
    match command.run {
        Run::Here(run) => run(arguments),
        #[cfg(feature = "full")]
        Run::Full => full::run(command.name, arguments),
        #[cfg(not(feature = "full"))]
        Run::Full => launch::with_everything(command.name, arguments),
    }
}

fn help(_: &[String]) -> Result<ExitCode> {
    println!("usage: cargo xtask COMMAND\n");
    for Command { usage, about, .. } in COMMANDS {
        println!("  {usage}\n      {about}");
    }
    Ok(ExitCode::SUCCESS)
}

/// The workspace's root.
fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// The command whose name takes the fewest changes.
fn nearest(name: &str) -> &'static Command {
    let mut nearest = &COMMANDS[0];
    for command in COMMANDS {
        if distance(name, command.name) < distance(name, nearest.name) {
            nearest = command;
        }
    }
    nearest
}

/// Insertions, deletions and replacements between two words.
fn distance(left: &str, right: &str) -> usize {
    let mut row: Vec<usize> = (0..=right.chars().count()).collect();
    for (i, a) in left.chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, b) in right.chars().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[right.chars().count()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_command_is_answered_with_the_nearest() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "ab"), 2);
        assert_eq!(nearest("tests").name, "test");
        assert_eq!(nearest("testclient").name, "test-client");
        assert_eq!(nearest("ineterop").name, "interop");
    }

    #[test]
    fn commands_are_found_by_name() {
        assert_eq!(find("--help").map(|it| it.name), Some("help"));
        assert!(find("deploy").is_none());
        for command in COMMANDS {
            assert!(command.usage.starts_with(command.name));
        }
    }
}
