//! Starts `xtask` once more, built with everything. The thin build of the first start is over in
//! seconds; this one takes minutes the first time, so cargo shows its progress.

#![cfg(not(feature = "full"))]

use std::{
    env,
    process::{Command, ExitCode},
};

use anyhow::{Context as _, Result, bail};

/// Set for the second start, which must not start a third.
const STARTED: &str = "XTASK_STARTED";

/// Runs a command in the full build; standard output is the command's alone.
pub(crate) fn with_everything(command: &str, arguments: &[String]) -> Result<ExitCode> {
    if env::var_os(STARTED).is_some() {
        bail!("`{command}` is not in this build, though its features were asked for");
    }
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut start = Command::new(cargo);
    start.args(["run", "--locked", "--features", "full", "--manifest-path", manifest]);
    if command == "bench" {
        // Figures of an unoptimised build say nothing.
        start.arg("--release");
    }
    let status = start
        .args(["--", command])
        .args(arguments)
        .env(STARTED, "1")
        .status()
        .context("cannot start cargo")?;
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    Ok(ExitCode::from(code))
}
