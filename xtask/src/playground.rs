//! `cargo xtask playground`: the tests of the playground in a real browser, which is installed first
//! where the system is Debian's and lets us.

use std::{
    path::Path,
    process::{Command, ExitCode, Stdio},
};

use anyhow::{Context as _, Result, ensure};

use crate::root;

/// The browser and what drives it.
const PROGRAMS: [&str; 2] = ["chromedriver", "chromium"];
const PACKAGES: [&str; 2] = ["chromium-driver", "chromium"];

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    ensure!(arguments.is_empty(), "`playground` takes no arguments");
    if !PROGRAMS.iter().all(|it| is_there(it)) && !install() {
        println!("skipped: install {}, then try again", PACKAGES.join(" and "));
        return Ok(ExitCode::SUCCESS);
    }
    let tests = ["test", "--package", "mcp-http", "--test", "it", "--", "playground"];
    let status = Command::new("cargo").current_dir(root()).args(tests).status()?;
    let pictures = root().join("target/tmp/playground");
    if pictures.is_dir() {
        println!("pictures of the page: {}", list(&pictures)?.join(" "));
    }
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn is_there(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|it| it.success())
}

/// Whether the packages could be installed.
fn install() -> bool {
    let mut command = Command::new("apt-get");
    command.args(["install", "--yes", "--no-install-recommends"]).args(PACKAGES);
    command.stdout(Stdio::null()).status().is_ok_and(|it| it.success())
}

fn list(folder: &Path) -> Result<Vec<String>> {
    let entries = folder.read_dir().with_context(|| format!("`{}`", folder.display()))?;
    let mut names = Vec::new();
    for entry in entries {
        let path = entry?.path();
        names.push(path.strip_prefix(root()).unwrap_or(&path).display().to_string());
    }
    names.sort();
    Ok(names)
}
