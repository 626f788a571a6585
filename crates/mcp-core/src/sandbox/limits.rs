//! What one run may use, and the words for having used it up.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::error::ScriptError;

/// The limits of one run. Sizes are in bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// Longest script accepted (256 kB).
    pub script: usize,
    /// The script's heap (64 MB).
    pub heap: usize,
    /// The script's native stack (512 kB).
    pub stack: usize,
    /// Processor time of the script (5 s); waiting does not count.
    pub cpu: Duration,
    /// Time from start to end (50 s): below the 60 s at which clients give up.
    pub wall: Duration,
    /// Longest wait for a free worker before the run is turned away (8 s): with `wall` still below 60 s.
    pub queue: Duration,
    /// Time for one request (30 s).
    pub request: Duration,
    /// Requests one run may make (100).
    pub requests: usize,
    /// Requests of one run in flight at once (8).
    pub concurrent_requests: usize,
    /// Largest response handed to the script (4 MB).
    pub response: usize,
    /// All responses of one run together (16 MB).
    pub responses: usize,
    /// Largest result text (80 kB, about 20,000 tokens); above it the result is cut structurally.
    pub result: usize,
    /// Everything a run may log (64 kB).
    pub logs: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            script: 256 << 10,
            heap: 64 << 20,
            stack: 512 << 10,
            cpu: Duration::from_secs(5),
            wall: Duration::from_secs(50),
            queue: Duration::from_secs(8),
            request: Duration::from_secs(30),
            requests: 100,
            concurrent_requests: 8,
            response: 4 << 20,
            responses: 16 << 20,
            result: 80_000,
            logs: 64 << 10,
        }
    }
}

/// What ended a run before the script did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stop {
    /// The processor time was used up.
    Cpu,
    /// The time was used up.
    Wall,
    /// The heap was used up.
    Memory,
    /// The caller cancelled.
    Cancelled,
    /// No worker became free in time: nothing of the script ran.
    Busy,
    /// The worker process died or broke the protocol.
    Crashed,
}

impl Stop {
    /// The error a run stopped like this ends with: names the limit and what to do about it.
    pub fn error(self, limits: &Limits) -> ScriptError {
        match self {
            Self::Cpu => ScriptError::new(
                "LimitError",
                format!(
                    "CPU limit of {} reached; do less work in the script, for example filter in the \
                     request instead of in a loop",
                    seconds(limits.cpu)
                ),
            ),
            Self::Wall => ScriptError::new(
                "LimitError",
                format!(
                    "wall limit of {} reached; make fewer requests in one script, or run independent \
                     ones at once with `Promise.all`",
                    seconds(limits.wall)
                ),
            ),
            Self::Memory => ScriptError::new(
                "LimitError",
                format!(
                    "memory limit of {} reached; keep only the fields you need, or work page by page",
                    size(limits.heap)
                ),
            ),
            Self::Cancelled => ScriptError::new("Cancelled", "the call was cancelled"),
            Self::Busy => ScriptError::new(
                "LimitError",
                format!(
                    "no worker became free within {}; nothing was run, try again",
                    seconds(limits.queue)
                ),
            ),
            Self::Crashed => ScriptError::new(
                "SandboxError",
                "the sandbox process ended unexpectedly; the server and other scripts are not affected",
            ),
        }
    }
}

/// `5 s`, `0.5 s`.
pub(super) fn seconds(duration: Duration) -> String {
    format!("{} s", duration.as_secs_f64())
}

/// `64 MB`, `80 kB`, `12 bytes`: whole units where they fit.
pub(super) fn size(bytes: usize) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..0x10_0000 => format!("{} kB", bytes >> 10),
        _ => format!("{} MB", bytes >> 20),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P26: each limit is named with its value.
    #[test]
    fn a_stop_names_its_limit() {
        let limits = Limits::default();
        let message = |stop: Stop| stop.error(&limits).message;
        assert!(message(Stop::Cpu).starts_with("CPU limit of 5 s reached"));
        assert!(message(Stop::Wall).starts_with("wall limit of 50 s reached"));
        assert!(message(Stop::Memory).starts_with("memory limit of 64 MB reached"));
    }

    /// P25: an inner limit ends what it bounds before an outer one does.
    #[test]
    fn the_queue_and_the_script_together_stay_below_what_clients_wait() {
        let limits = Limits::default();
        assert!(limits.queue + limits.wall < Duration::from_secs(60));
        assert!(limits.request < limits.wall);
    }
}
