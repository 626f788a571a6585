//! Starts `xtask` once more, built with everything. The thin build of the first start is over in
//! seconds; this one takes minutes the first time, so cargo shows its progress.

#![cfg(not(feature = "full"))]

use std::{
    env,
    path::PathBuf,
    process::{Command, ExitCode},
};

use anyhow::{Context as _, Result, bail};

use crate::root;

/// Set for the second start, which must not start a third.
const STARTED: &str = "XTASK_STARTED";

/// Runs a command in the full build; standard output is the command's alone.
///
/// Every binary of the workspace is built in one go: what the command starts lies beside it, and no
/// dependency is built twice for another choice of features.
pub(crate) fn with_everything(command: &str, arguments: &[String]) -> Result<ExitCode> {
    if env::var_os(STARTED).is_some() {
        bail!("`{command}` is not in this build, though its features were asked for");
    }
    let here = env::current_exe().context("cannot tell where this program is")?;
    let mut build = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    build.args(["build", "--locked", "--workspace", "--bins", "--features", "xtask/full"]);
    // Figures of an unoptimised build say nothing.
    let program = if command == "bench" {
        build.arg("--release");
        released(here)?
    } else {
        here
    };
    if !build.current_dir(root()).status().context("cannot start cargo")?.success() {
        bail!("the workspace does not build");
    }
    let mut start = Command::new(program);
    start.arg(command).args(arguments).env(STARTED, "1");
    finish(start)
}

/// The optimised program beside this one: `target/release/xtask` for `target/debug/xtask`.
fn released(here: PathBuf) -> Result<PathBuf> {
    let name = here.file_name().context("this program has no name")?;
    let target = here.ancestors().nth(2).context("this program lies in no target directory")?;
    Ok(target.join("release").join(name))
}

/// Becomes the command, so that the terminal and its signals are the command's alone.
#[cfg(unix)]
fn finish(mut start: Command) -> Result<ExitCode> {
    use std::os::unix::process::CommandExt as _;

    Err(start.exec()).context("cannot start the full build")
}

#[cfg(not(unix))]
fn finish(mut start: Command) -> Result<ExitCode> {
    let status = start.status().context("cannot start the full build")?;
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    Ok(ExitCode::from(code))
}
