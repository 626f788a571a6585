//! The host's end of a conversation with one engine, in a process or in a thread.

use std::{
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use tokio::sync::mpsc as async_mpsc;

use super::{
    limits::{Limits, Stop},
    port::ChannelPort,
    protocol::{BUILD, FromWorker, Hello, Protections, ProtocolError, ToWorker},
    worker::Engine,
};

/// Messages a thread may be ahead of its host.
const CHANNEL: usize = 64;
/// Native stack of an engine's thread: several times what the engine itself may use.
const THREAD_STACK: usize = 4 << 20;

/// The other side is gone or does not speak the protocol.
#[derive(Debug, thiserror::Error)]
pub(super) enum Lost {
    #[error("the worker closed the connection")]
    Closed,
    #[error("the worker could not be reached")]
    Io(#[from] std::io::Error),
    #[error("the worker broke the protocol")]
    Protocol(#[from] ProtocolError),
}

/// A worker to talk to. Dropping it ends the worker.
#[derive(Debug)]
pub(super) struct Connection {
    pub reader: Reader,
    pub writer: Writer,
    pub engine: Running,
}

/// Where messages come from.
#[derive(Debug)]
pub(super) enum Reader {
    #[cfg(unix)]
    Process(process::Reader),
    Thread(async_mpsc::Receiver<FromWorker>),
}

/// Where messages go.
#[derive(Debug)]
pub(super) enum Writer {
    #[cfg(unix)]
    Process(process::Writer),
    Thread(mpsc::Sender<ToWorker>),
}

/// What runs the script.
#[derive(Debug)]
pub(super) enum Running {
    #[cfg(unix)]
    Process(super::spawner::Worker),
    Thread(#[expect(dead_code, reason = "held for what its drop does")] Thread),
}

/// An engine in this process. Dropping it asks the engine to end.
#[derive(Debug)]
pub(super) struct Thread(Arc<AtomicBool>);

impl Drop for Thread {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Connection {
    /// An engine in a thread of this process.
    pub(super) fn thread() -> std::io::Result<Self> {
        let (to_host, reader) = async_mpsc::channel(CHANNEL);
        let (writer, from_host) = mpsc::channel();
        let aborted = Arc::new(AtomicBool::new(false));
        let port = ChannelPort { to_host, from_host, aborted: Arc::clone(&aborted) };
        thread::Builder::new()
            .name("sandbox-engine".to_owned())
            .stack_size(THREAD_STACK)
            .spawn(move || serve(port))?;
        Ok(Self {
            reader: Reader::Thread(reader),
            writer: Writer::Thread(writer),
            engine: Running::Thread(Thread(aborted)),
        })
    }

    #[cfg(unix)]
    pub(super) fn process(mut worker: super::spawner::Worker) -> std::io::Result<Self> {
        let (reader, writer) = process::split(worker.take_stream()?);
        Ok(Self {
            reader: Reader::Process(reader),
            writer: Writer::Process(writer),
            engine: Running::Process(worker),
        })
    }
}

/// A thread's whole life.
fn serve(port: ChannelPort) {
    let Ok(engine) = Engine::new() else { return };
    let hello = Hello { build: BUILD, protections: Protections::default() };
    let to_host = port.to_host.clone();
    if to_host.blocking_send(FromWorker::Hello(hello)).is_err() {
        return;
    }
    let Ok(ToWorker::Run(run)) = port.from_host.recv() else { return };
    if to_host.blocking_send(FromWorker::Started).is_err() {
        return;
    }
    let report = engine.run(&run, Rc::new(port));
    // A host that is gone has no use for it.
    drop(to_host.blocking_send(FromWorker::Done(Box::new(report))));
}

impl Reader {
    /// The next message. Nothing is lost when the future is dropped early.
    pub(super) async fn receive(&mut self) -> Result<FromWorker, Lost> {
        match self {
            #[cfg(unix)]
            Self::Process(reader) => reader.receive().await,
            Self::Thread(reader) => reader.recv().await.ok_or(Lost::Closed),
        }
    }
}

impl Writer {
    /// Puts a message in line; [`Writer::flush`] sends it.
    pub(super) fn push(&mut self, message: ToWorker) -> Result<(), Lost> {
        match self {
            #[cfg(unix)]
            Self::Process(writer) => writer.push(&message),
            Self::Thread(writer) => writer.send(message).map_err(|_| Lost::Closed),
        }
    }

    /// Whether a message waits to be sent.
    pub(super) fn is_pending(&self) -> bool {
        match self {
            #[cfg(unix)]
            Self::Process(writer) => writer.is_pending(),
            Self::Thread(_) => false,
        }
    }

    /// Sends what waits. Nothing is lost or sent twice when the future is dropped early.
    pub(super) async fn flush(&mut self) -> Result<(), Lost> {
        match self {
            #[cfg(unix)]
            Self::Process(writer) => writer.flush().await,
            Self::Thread(_) => Ok(()),
        }
    }
}

impl Running {
    /// Processor time used, where it can be seen from outside.
    pub(super) fn cpu(&self) -> Option<Duration> {
        match self {
            #[cfg(unix)]
            Self::Process(worker) => worker.cpu(),
            Self::Thread(_) => None,
        }
    }

    /// Whether the heap limit was within reach: tells an engine without memory from a script that
    /// throws `null`.
    pub(super) fn used_its_heap(&self, limits: &Limits) -> bool {
        match self {
            #[cfg(unix)]
            Self::Process(worker) => {
                worker.peak_memory().is_some_and(|peak| peak >= limits.heap / 4 * 3)
            }
            Self::Thread(_) => false,
        }
    }

    /// Why an engine that closed its connection is gone.
    pub(super) async fn autopsy(&mut self) -> Stop {
        match self {
            #[cfg(unix)]
            Self::Process(worker) => {
                use std::os::unix::process::ExitStatusExt as _;
                let cpu_exhausted = rustix::process::Signal::XCPU.as_raw();
                match worker.exit_status().await.and_then(|status| status.signal()) {
                    Some(signal) if signal == cpu_exhausted => Stop::Cpu,
                    _ => Stop::Crashed,
                }
            }
            Self::Thread(_) => Stop::Crashed,
        }
    }
}

#[cfg(unix)]
mod process {
    //! Frames over a socket.

    use std::collections::VecDeque;

    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::{
            UnixStream,
            unix::{OwnedReadHalf, OwnedWriteHalf},
        },
    };

    use super::{
        super::protocol::{Decoder, FromWorker, MAX_FROM_WORKER, ToWorker, encode},
        Lost,
    };

    pub(super) fn split(stream: UnixStream) -> (Reader, Writer) {
        let (read, write) = stream.into_split();
        (
            Reader { stream: read, decoder: Decoder::new(MAX_FROM_WORKER) },
            Writer { stream: write, frames: VecDeque::new(), sent: 0 },
        )
    }

    #[derive(Debug)]
    pub(in super::super) struct Reader {
        stream: OwnedReadHalf,
        decoder: Decoder,
    }

    impl Reader {
        pub(super) async fn receive(&mut self) -> Result<FromWorker, Lost> {
            loop {
                if let Some(message) = self.decoder.next()? {
                    return Ok(message);
                }
                let buffer = self.decoder.buffer();
                buffer.reserve(16 << 10);
                if self.stream.read_buf(buffer).await? == 0 {
                    return Err(Lost::Closed);
                }
            }
        }
    }

    #[derive(Debug)]
    pub(in super::super) struct Writer {
        stream: OwnedWriteHalf,
        frames: VecDeque<Vec<u8>>,
        /// Bytes of the first frame that are on their way.
        sent: usize,
    }

    impl Writer {
        pub(super) fn push(&mut self, message: &ToWorker) -> Result<(), Lost> {
            self.frames.push_back(encode(message)?);
            Ok(())
        }

        pub(super) fn is_pending(&self) -> bool {
            !self.frames.is_empty()
        }

        pub(super) async fn flush(&mut self) -> Result<(), Lost> {
            while let Some(frame) = self.frames.front() {
                let rest = frame.get(self.sent..).unwrap_or_default();
                if rest.is_empty() {
                    self.frames.pop_front();
                    self.sent = 0;
                } else {
                    self.sent += self.stream.write(rest).await?;
                }
            }
            Ok(())
        }
    }
}
