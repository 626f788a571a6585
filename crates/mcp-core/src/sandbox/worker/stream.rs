//! The worker's end of the socket pair, which is its standard input.

use std::{
    cell::{Cell, RefCell},
    io::stdin,
    time::{Duration, Instant},
};

use rustix::{
    buffer::spare_capacity,
    event::{PollFd, PollFlags, Timespec, poll},
    io::{Errno, read, write},
};

use super::super::{
    port::{Event, Port},
    protocol::{Call, Decoder, FromWorker, MAX_TO_WORKER, ToWorker, encode},
};

/// Room made for what arrives: a trivial script, or a part of a large response.
const SMALL: usize = 4 << 10;
const LARGE: usize = 1 << 20;

/// The host is gone, or does not make sense.
#[derive(Debug)]
pub(super) struct Lost;

/// Frames over standard input, both ways.
#[derive(Debug)]
pub(super) struct StreamPort {
    decoder: RefCell<Decoder>,
    lost: Cell<bool>,
}

impl StreamPort {
    pub(super) fn new() -> Self {
        Self { decoder: RefCell::new(Decoder::new(MAX_TO_WORKER)), lost: Cell::new(false) }
    }

    pub(super) fn send(&self, message: &FromWorker) -> Result<(), Lost> {
        let frame = encode(message).map_err(|_| Lost)?;
        let mut rest = frame.as_slice();
        while !rest.is_empty() {
            match write(stdin(), rest) {
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(_) => return Err(Lost),
            }
        }
        Ok(())
    }

    /// The next message, however long it takes.
    pub(super) fn receive(&self) -> Result<ToWorker, Lost> {
        loop {
            if let Some(message) = self.receive_until(None)? {
                return Ok(message);
            }
        }
    }

    /// Returns when the host has closed its end.
    pub(super) fn wait_for_end(&self) {
        while self.receive().is_ok() {}
    }

    fn receive_until(&self, deadline: Option<Instant>) -> Result<Option<ToWorker>, Lost> {
        let mut decoder = self.decoder.borrow_mut();
        loop {
            if let Some(message) = decoder.next().map_err(|_| Lost)? {
                return Ok(Some(message));
            }
            if let Some(deadline) = deadline
                && !readable(deadline.saturating_duration_since(Instant::now()))?
            {
                return Ok(None);
            }
            let room = decoder.missing().clamp(SMALL, LARGE);
            let buffer = decoder.buffer();
            buffer.reserve(room);
            match read(stdin(), spare_capacity(buffer)) {
                Ok(0) => return Err(Lost),
                Ok(_) => {}
                Err(Errno::INTR) => {}
                Err(_) => return Err(Lost),
            }
        }
    }

    fn tell(&self, message: &FromWorker) {
        if self.send(message).is_err() {
            self.lost.set(true);
        }
    }
}

impl Port for StreamPort {
    fn start(&self, call: Call) {
        self.tell(&FromWorker::Call(call));
    }

    fn log(&self, line: String) {
        self.tell(&FromWorker::Log(line));
    }

    fn wait(&self, timeout: Duration) -> Event {
        match self.receive_until(Some(Instant::now() + timeout)) {
            Ok(Some(ToWorker::Reply(id, reply))) => Event::Reply(id, reply),
            Ok(None) => Event::Timeout,
            Ok(Some(ToWorker::Run(_))) | Err(Lost) => Event::Abort,
        }
    }

    /// A host that wants a worker to stop ends the process.
    fn abort(&self) -> bool {
        self.lost.get()
    }
}

/// Whether something arrives within `timeout`.
fn readable(timeout: Duration) -> Result<bool, Lost> {
    let input = stdin();
    let mut waiting = [PollFd::new(&input, PollFlags::IN)];
    let timeout = Timespec::try_from(timeout).map_err(|_| Lost)?;
    match poll(&mut waiting, Some(&timeout)) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::INTR) => Ok(false),
        Err(_) => Err(Lost),
    }
}
