//! The limits of scripts as the operator set them.

use std::{cell::RefCell, time::Duration};

use crate::{
    cli::LimitOptions,
    given::{Environment, Given, SetupError},
};

/// Limits that differ from the defaults.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LimitSettings {
    pub wall: Option<Duration>,
    pub cpu: Option<Duration>,
    pub heap_bytes: Option<usize>,
    pub max_requests: Option<usize>,
    pub concurrency: Option<usize>,
    pub response_bytes: Option<usize>,
    pub result_bytes: Option<usize>,
    pub script_bytes: Option<usize>,
    pub stack_bytes: Option<usize>,
    pub responses_bytes: Option<usize>,
    pub logs_bytes: Option<usize>,
    pub scripts: Option<usize>,
}

impl LimitSettings {
    /// Reads the limits that are set; with each, what it is and where it was set.
    pub fn resolve(
        options: &LimitOptions,
        env: Environment<'_>,
    ) -> Result<(Self, Vec<String>), SetupError> {
        let from = RefCell::new(Vec::new());
        let option = |name: &str, flag: &Option<String>| -> Result<_, SetupError> {
            let given = Given::option(name, flag.as_ref(), env)?;
            from.borrow_mut()
                .extend(given.iter().map(|it| format!("{name} {}, from {}", it.text, it.from)));
            Ok(given)
        };
        let seconds = |name, flag: &Option<String>, most| -> Result<_, SetupError> {
            let given = option(name, flag)?;
            given.map(|given| given.number(0.1, most).map(Duration::from_secs_f64)).transpose()
        };
        let count =
            |name, flag: &Option<String>, least: usize, most: usize| -> Result<_, SetupError> {
                let given = option(name, flag)?;
                given.map(|given| given.number(least, most)).transpose()
            };
        let limits = Self {
            wall: seconds("wall", &options.wall, 3600.0)?,
            cpu: seconds("cpu", &options.cpu, 600.0)?,
            heap_bytes: count("heap", &options.heap, 8, 2048)?.map(|megabytes| megabytes << 20),
            max_requests: count("max-requests", &options.max_requests, 1, 100_000)?,
            concurrency: count("concurrency", &options.concurrency, 1, 64)?,
            response_bytes: count("response-bytes", &options.response_bytes, 1_000, 64_000_000)?,
            script_bytes: count("script-bytes", &options.script_bytes, 1_000, 4_000_000)?,
            stack_bytes: count("stack", &options.stack, 64, 2_048)?
                .map(|kilobytes| kilobytes << 10),
            responses_bytes: count(
                "responses-bytes",
                &options.responses_bytes,
                1_000,
                256_000_000,
            )?,
            logs_bytes: count("logs-bytes", &options.logs_bytes, 100, 1_000_000)?,
            result_bytes: count("result-bytes", &options.result_bytes, 1_000, 4_000_000)?,
            scripts: count("scripts", &options.scripts, 1, 256)?,
        };
        Ok((limits, from.take()))
    }
}
