//! The world of a trial: a mock that starts the same for the same seed. The one file that knows
//! `mocks`.

use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use mocks::{Mock, Running};
use serde_json::Value;

use crate::evidence::Request;
use crate::state;
use crate::task::{Api, Task};

/// A mock that is running, and how it was at the start.
#[derive(Clone, Debug)]
pub struct World {
    mock: Arc<Running>,
    pub baseline: Arc<Value>,
    pub baseline_hash: String,
}

impl World {
    /// Starts the task's world.
    pub fn start(task: &Task, seed: u64) -> Result<Self> {
        let api = match task.api {
            Api::Authentik => mocks::Api::Authentik,
            Api::Sentry => mocks::Api::Sentry,
        };
        let (extra, faults) = furniture(task)?;
        let mock = Mock::start(mocks::World { seed, faults, extra, ..mocks::World::of(api) })
            .context("starting the mock")?;
        let loopback = mock.base_url.starts_with("http://127.0.0.1:");
        ensure!(loopback, "`{}` is not a loopback address", mock.base_url);
        Ok(Self::of(Arc::new(mock)))
    }

    /// The world of another task of the same API, at the same address.
    pub fn turn_into(self, task: &Task, seed: u64) -> Result<Self> {
        let (extra, faults) = furniture(task)?;
        self.mock.begin(seed, extra, faults);
        Ok(Self::of(self.mock))
    }

    fn of(mock: Arc<Running>) -> Self {
        let baseline = mock.state();
        let baseline_hash = state::hash(&baseline);
        Self { mock, baseline: Arc::new(baseline), baseline_hash }
    }

    pub fn base_url(&self) -> &str {
        &self.mock.base_url
    }

    /// The token the server is given. It must show nowhere else.
    pub fn token(&self) -> &str {
        &self.mock.token
    }

    /// How many requests there were so far.
    pub fn count(&self) -> u64 {
        self.mock.count() as u64
    }

    pub fn requests(&self) -> Result<Vec<Request>> {
        Ok(serde_json::from_value(serde_json::to_value(self.mock.log())?)?)
    }

    pub fn final_hash(&self) -> String {
        state::hash(&self.mock.state())
    }
}

/// The rows a task's world has in addition, and what goes wrong in it.
fn furniture(task: &Task) -> Result<(mocks::Extra, Vec<mocks::Fault>)> {
    let faults = serde_json::from_value((task.faults)())
        .with_context(|| format!("the faults of `{}`", task.name))?;
    let extra = match (task.extra)() {
        Value::Null => mocks::Extra::None,
        extra => serde_json::from_value(extra)
            .with_context(|| format!("the extra rows of `{}`", task.name))?,
    };
    Ok((extra, faults))
}

/// The description of Sentry's API that comes with the fixture: the operations it answers.
pub fn fixture_document() -> &'static str {
    mocks::SENTRY_DOCUMENT
}
