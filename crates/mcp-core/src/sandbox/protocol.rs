//! The messages between host and worker: length-prefixed binary frames, checked on both sides.
//!
//! A frame is a little-endian `u32` length and that many bytes of postcard. Whoever reads does not
//! trust the writer: lengths are bounded, strings are valid UTF-8 and enums in range, or the
//! conversation is over.

use std::time::Duration;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::limits::Stop;

/// Longest frame a worker may send: a result or a request body of [`MAX_TEXT`] and its surroundings.
pub(super) const MAX_FROM_WORKER: usize = MAX_TEXT + (1 << 20);
/// Longest frame the host may send: a script, or a reply that carries a run's whole response budget.
pub(super) const MAX_TO_WORKER: usize = 96 << 20;
/// Longest result, or arguments of one call, that leave a worker.
pub(super) const MAX_TEXT: usize = 16 << 20;
/// Calls of one run that may wait for their reply at once.
pub(super) const MAX_IN_FLIGHT: u32 = 1_000;
/// Calls one run may make, lookups included; requests have a lower limit of their own.
pub(super) const MAX_CALLS: u32 = 20_000;
/// All arguments of one run's calls together: what the host keeps of them is bounded by this.
pub(super) const MAX_ARGUMENTS: usize = 32 << 20;
/// Warnings one run may give.
pub(super) const MAX_WARNINGS: usize = 20;

/// Identifies what both sides must agree on: the messages and the script's surroundings.
pub(super) const BUILD: u64 = fingerprint(&[
    env!("CARGO_PKG_VERSION").as_bytes(),
    include_bytes!("protocol.rs"),
    include_bytes!("limits.rs"),
    include_bytes!("worker/prelude.js"),
    include_bytes!("worker/placeholders.js"),
    include_bytes!("worker/polyfills.js"),
    include_bytes!("worker/mod.rs"),
    include_bytes!("worker/runtime.rs"),
    include_bytes!("worker/state.rs"),
    include_bytes!("worker/host_functions.rs"),
]);

/// FNV-1a over the parts.
const fn fingerprint(parts: &[&[u8]]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut part = 0;
    while part < parts.len() {
        let mut byte = 0;
        while byte < parts[part].len() {
            hash = (hash ^ parts[part][byte] as u64).wrapping_mul(0x0100_0000_01b3);
            byte += 1;
        }
        part += 1;
    }
    hash
}

/// What the host says.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ToWorker {
    /// Comes once, first.
    Run(Box<Run>),
    Reply(u32, Reply),
}

/// What a worker says.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum FromWorker {
    /// Comes once, first.
    Hello(Hello),
    /// Comes once, when the script has arrived and nothing of it has run.
    Started,
    Call(Call),
    Log(String),
    /// Comes last.
    Done(Box<Report>),
}

/// A worker's introduction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Hello {
    pub build: u64,
    pub protections: Protections,
}

/// Which of the kernel's protections hold a worker.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each reported by name")]
pub struct Protections {
    /// System calls outside a short list end the process.
    pub seccomp: bool,
    /// Files and sockets are denied by landlock (used where seccomp is missing).
    pub landlock: bool,
    /// Memory, processor time, files and processes are bounded by the kernel.
    pub rlimits: bool,
    /// No program it could start would gain rights.
    pub no_new_privs: bool,
}

/// A script and everything its run depends on.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Run {
    pub javascript: String,
    /// The names of each API.
    pub bindings: Vec<Vec<String>>,
    pub clock_ms: i64,
    pub seed: u64,
    pub pace: Pace,
    pub heap: usize,
    pub stack: usize,
    pub cpu: Duration,
    pub wall: Duration,
    pub logs: usize,
}

/// How time passes in a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pace {
    /// Replies reach the script as they come, and timers take their time.
    #[default]
    Free,
    /// Replies reach the script in the order the calls were made, and the clock moves only when it
    /// is read or slept on: the same script on the same replies does the same again.
    Ordered,
    /// As `Ordered`, and timers take no time: they fire when no reply is awaited any more.
    Rehearsal,
}

/// A call of a host function.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Call {
    pub id: u32,
    pub binding: usize,
    pub function: String,
    pub arguments: String,
    /// The script stands still until the reply is there.
    pub blocking: bool,
}

/// The answer to a call.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Reply {
    Value {
        json: String,
        big_integers: bool,
    },
    Error {
        name: String,
        message: String,
        /// A JSON object.
        properties: String,
    },
}

/// How a run ended.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Report {
    /// JSON text.
    pub result: Result<String, Failure>,
    pub warnings: Vec<Warning>,
    /// Where a rehearsed script looked at what a placeholder stands for.
    pub observations: Vec<Warning>,
    pub stop: Option<Stop>,
    pub cpu: Duration,
}

/// Something the script got away with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Warning {
    pub text: String,
    pub place: Option<Frame>,
}

/// What a script threw, with positions in the JavaScript that was run.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Failure {
    pub name: String,
    pub message: String,
    pub frames: Vec<Frame>,
    /// A JSON object.
    pub properties: String,
    /// Nothing was thrown that a program throws: what the engine leaves when it has no memory for an error.
    pub hollow: bool,
}

impl Failure {
    /// A failure that has no place in the script.
    pub(super) fn new(name: &str, message: impl Into<String>) -> Self {
        Self { name: name.to_owned(), message: message.into(), ..Self::default() }
    }
}

/// One place in the script's stack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Frame {
    pub function: String,
    pub line: u32,
    pub column: u32,
}

/// The other side does not speak this protocol.
#[derive(Debug, thiserror::Error)]
pub(super) enum ProtocolError {
    #[error("a frame of {0} bytes is too long")]
    TooLong(usize),
    #[error("a frame could not be read")]
    Malformed(#[source] postcard::Error),
}

/// A message as a frame.
pub(super) fn encode(message: &impl Serialize) -> Result<Vec<u8>, ProtocolError> {
    let mut frame = postcard::to_extend(message, vec![0; 4]).map_err(ProtocolError::Malformed)?;
    let length = frame.len() - 4;
    let prefix = u32::try_from(length).map_err(|_| ProtocolError::TooLong(length))?;
    frame[..4].copy_from_slice(&prefix.to_le_bytes());
    Ok(frame)
}

/// Turns a stream of bytes back into messages.
#[derive(Debug)]
pub(super) struct Decoder {
    bytes: Vec<u8>,
    longest: usize,
}

impl Decoder {
    pub(super) fn new(longest: usize) -> Self {
        Self { bytes: Vec::new(), longest }
    }

    /// Where the next bytes that arrive are put.
    pub(super) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Bytes that the next message still lacks, as far as that is known.
    #[cfg(unix)]
    pub(super) fn missing(&self) -> usize {
        let prefix = self.bytes.first_chunk::<4>().copied().unwrap_or_default();
        (4 + u32::from_le_bytes(prefix) as usize).saturating_sub(self.bytes.len())
    }

    /// The next message, once all of it has arrived.
    pub(super) fn next<M: DeserializeOwned>(&mut self) -> Result<Option<M>, ProtocolError> {
        let Some(prefix) = self.bytes.first_chunk::<4>() else { return Ok(None) };
        let length = u32::from_le_bytes(*prefix) as usize;
        if length > self.longest {
            return Err(ProtocolError::TooLong(length));
        }
        let Some(body) = self.bytes.get(4..4 + length) else { return Ok(None) };
        let message = postcard::from_bytes(body).map_err(ProtocolError::Malformed)?;
        self.bytes.drain(..4 + length);
        Ok(Some(message))
    }
}

/// Reads bytes as either side would; what it takes, it must be able to write and read again.
/// For the fuzz target `protocol`, which sees only what is public.
///
/// # Panics
/// Where a message that was read does not survive being written.
#[doc(hidden)]
pub fn read_as_both_sides(bytes: &[u8]) {
    read_all::<FromWorker>(bytes, MAX_FROM_WORKER);
    read_all::<ToWorker>(bytes, MAX_TO_WORKER);
}

fn read_all<M: Serialize + DeserializeOwned>(bytes: &[u8], longest: usize) {
    let mut decoder = Decoder::new(longest);
    // In two pieces: a frame's parts need not arrive together.
    let (early, late) = bytes.split_at(bytes.len() / 2);
    for piece in [early, late] {
        decoder.buffer().extend_from_slice(piece);
        while let Ok(Some(message)) = decoder.next::<M>() {
            let frame = encode(&message).ok();
            let mut again = Decoder::new(longest);
            again.buffer().extend_from_slice(frame.as_deref().unwrap_or_default());
            let read = again.next::<M>().ok().flatten();
            assert_eq!(read.and_then(|it| encode(&it).ok()), frame, "a message changed on its way");
            assert!(again.buffer().is_empty(), "a frame was not read to its end");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoder(bytes: &[u8]) -> Decoder {
        let mut decoder = Decoder::new(MAX_FROM_WORKER);
        decoder.buffer().extend_from_slice(bytes);
        decoder
    }

    #[test]
    fn a_message_survives_the_way_in_pieces() {
        let frame = encode(&FromWorker::Log("hé\0llo".to_owned())).unwrap();
        let mut decoder = Decoder::new(MAX_FROM_WORKER);
        for byte in &frame[..frame.len() - 1] {
            decoder.buffer().push(*byte);
            assert!(decoder.next::<FromWorker>().unwrap().is_none());
        }
        decoder.buffer().push(frame[frame.len() - 1]);
        let Some(FromWorker::Log(line)) = decoder.next().unwrap() else { panic!("not a log") };
        assert_eq!(line, "hé\0llo");
        assert!(decoder.next::<FromWorker>().unwrap().is_none());
    }

    #[test]
    fn a_hostile_length_is_refused_before_anything_is_stored() {
        let error = decoder(&u32::MAX.to_le_bytes()).next::<FromWorker>().unwrap_err();
        assert!(matches!(error, ProtocolError::TooLong(length) if length == u32::MAX as usize));
    }

    #[test]
    fn bytes_that_are_no_message_are_refused() {
        let cases: [&[u8]; 3] = [
            &[1, 0, 0, 0, 99],
            // A log that claims more text than the frame holds.
            &[3, 0, 0, 0, 2, 200, 1],
            // A log that is not UTF-8.
            &[3, 0, 0, 0, 2, 1, 0xff],
        ];
        for bytes in cases {
            let error = decoder(bytes).next::<FromWorker>().unwrap_err();
            assert!(matches!(error, ProtocolError::Malformed(_)), "{bytes:?}");
        }
    }
}
