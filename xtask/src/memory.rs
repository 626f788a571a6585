//! How much memory a process has, as `/proc` tells.

use std::fmt::Display;

use anyhow::{Context as _, Result};

/// All that is resident.
pub(crate) const RESIDENT: &str = "VmRSS";
/// The part of it that is the process's own, without the pages of its program.
pub(crate) const OWN: &str = "RssAnon";
/// The most that was ever resident.
pub(crate) const PEAK: &str = "VmHWM";

/// Megabytes of a process: its number, or `self`.
pub(crate) fn megabytes(process: impl Display, which: &str) -> Result<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))
        .context("memory is read from /proc")?;
    let value = status.lines().find_map(|line| line.strip_prefix(which)?.strip_prefix(':'));
    let value = value.with_context(|| format!("no {which}: the process is gone"))?;
    let kilobytes: f64 = value.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kilobytes / 1e3)
}
