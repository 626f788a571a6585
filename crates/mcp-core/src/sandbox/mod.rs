//! Where scripts run: one script, one jailed and disposable process without secrets, network or files.
//!
//! [`prepare()`] reads a script, a [`Pool`] runs it, a [`Host`] answers its calls. The process side is in
//! `worker`; both sides talk through `protocol`.

mod connection;
mod error;
mod limits;
#[cfg(target_os = "linux")]
mod nursery;
mod pool;
mod port;
mod prepare;
mod protocol;
mod queue;
mod run;
#[cfg(unix)]
mod spawner;
mod worker;

pub use error::{HostError, ScriptError};
pub use limits::{Limits, Stop};
pub use pool::{
    Binding, Host, HostCall, HostReply, Outcome, Pool, PoolOptions, Script, WorkerProgram,
};
pub use prepare::{Prepared, prepare};
#[doc(hidden)]
pub use protocol::read_as_both_sides;
pub use protocol::{Pace, Protections};
#[cfg(unix)]
pub use worker::{Jail, lock_down};
pub use worker::{return_memory, worker_main};
