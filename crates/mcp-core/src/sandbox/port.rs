//! How the engine reaches its host: a socket in a worker process, a channel in a thread.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    time::Duration,
};

use tokio::sync::mpsc as async_mpsc;

use super::protocol::{Call, FromWorker, Reply, ToWorker};

/// The engine's only way out. A port that has lost its host answers [`Event::Abort`].
pub(super) trait Port {
    /// Hands a call to the host; the reply comes from [`Port::wait`].
    fn start(&self, call: Call);
    /// Hands a line of the script's log to the host.
    fn log(&self, line: String);
    /// The next event, or [`Event::Timeout`] after `timeout`.
    fn wait(&self, timeout: Duration) -> Event;
    /// Whether the host wants the run to end; asked often, from the interrupt handler.
    fn abort(&self) -> bool;
}

/// What a port waits for.
#[derive(Debug)]
pub(super) enum Event {
    Reply(u32, Reply),
    Timeout,
    Abort,
}

/// A port to a host in the same process.
#[derive(Debug)]
pub(super) struct ChannelPort {
    pub to_host: async_mpsc::Sender<FromWorker>,
    pub from_host: mpsc::Receiver<ToWorker>,
    pub aborted: Arc<AtomicBool>,
}

impl ChannelPort {
    fn send(&self, message: FromWorker) {
        if self.to_host.blocking_send(message).is_err() {
            self.aborted.store(true, Ordering::Relaxed);
        }
    }
}

impl Port for ChannelPort {
    fn start(&self, call: Call) {
        self.send(FromWorker::Call(call));
    }

    fn log(&self, line: String) {
        self.send(FromWorker::Log(line));
    }

    fn wait(&self, timeout: Duration) -> Event {
        match self.from_host.recv_timeout(timeout) {
            Ok(ToWorker::Reply(id, reply)) => Event::Reply(id, reply),
            Ok(ToWorker::Run(_)) | Err(mpsc::RecvTimeoutError::Disconnected) => Event::Abort,
            Err(mpsc::RecvTimeoutError::Timeout) => Event::Timeout,
        }
    }

    fn abort(&self) -> bool {
        self.aborted.load(Ordering::Relaxed)
    }
}
