//! `cargo xtask test`: everything that must hold, with one count at the end.

use std::{
    env,
    io::{BufRead as _, BufReader},
    process::{Command, ExitCode, Stdio},
};

use anyhow::{Context as _, Result, ensure};

use crate::{root, tidy};

/// Parts that are built by choice and must hold all the same.
const FEATURES: &str = "xtask/full,mcp-http/otel,mcp-http/sentry";

/// Runs every check; the last line is `N passed, M failed`.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    ensure!(arguments.is_empty(), "`test` takes no arguments");
    let mut count = Count::default();
    count.step("walls between crates", tidy::print(&tidy::check(root())?));
    count.step("cargo fmt", cargo(&["fmt", "--all", "--check"]).status()?.success());
    let clippy = ["clippy", "--workspace", "--features", FEATURES, "--all-targets", "--locked"];
    let clippy = cargo(&clippy).args(["--", "-D", "warnings"]).status()?.success();
    count.step("cargo clippy", clippy);
    count.tests()?;
    count.report();
    Ok(if count.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    println!("\n$ cargo {}", arguments.join(" "));
    command
}

#[derive(Debug, Default)]
struct Count {
    passed: u32,
    failed: u32,
    /// What failed, by name.
    failures: Vec<String>,
}

impl Count {
    fn step(&mut self, name: &str, passed: bool) {
        if passed {
            self.passed += 1;
        } else {
            self.failed += 1;
            self.failures.push(name.to_owned());
        }
    }

    /// Runs all tests, passes their output on and counts by it.
    fn tests(&mut self) -> Result<()> {
        let arguments =
            ["test", "--workspace", "--features", FEATURES, "--locked", "--no-fail-fast"];
        let mut child = cargo(&arguments).stdout(Stdio::piped()).spawn()?;
        let output = child.stdout.take().context("cargo has no output")?;
        let failed_before = self.failed;
        for line in BufReader::new(output).split(b'\n') {
            let line = line?;
            let line = String::from_utf8_lossy(&line);
            println!("{line}");
            self.read(&line);
        }
        if !child.wait()?.success() && self.failed == failed_before {
            // A test that does not compile, or a test program that died, has no result of its own.
            self.step("cargo test", false);
        }
        Ok(())
    }

    /// Takes what a line of a test program's output says.
    fn read(&mut self, line: &str) {
        if let Some(result) = line.strip_prefix("test result: ") {
            self.passed += number_before(result, " passed");
            self.failed += number_before(result, " failed");
        } else if let Some(name) =
            line.strip_prefix("test ").and_then(|it| it.strip_suffix(" ... FAILED"))
        {
            self.failures.push(name.to_owned());
        }
    }

    fn report(&self) {
        println!();
        for failure in &self.failures {
            println!("failed: {failure}");
        }
        println!("{} passed, {} failed", self.passed, self.failed);
    }
}

fn number_before(text: &str, word: &str) -> u32 {
    let before = text.split(word).next().unwrap_or_default();
    before.rsplit(|c: char| !c.is_ascii_digit()).next().and_then(|it| it.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_all_test_programs_add_up() {
        let mut count = Count::default();
        for line in [
            "running 3 tests",
            "test a::b ... ok",
            "test a::c ... FAILED",
            "test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out",
            "test result: ok. 40 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out",
        ] {
            count.read(line);
        }
        count.step("cargo fmt", true);
        count.step("cargo clippy", false);
        assert_eq!((count.passed, count.failed), (43, 2));
        assert_eq!(count.failures, ["a::c", "cargo clippy"]);
    }
}
