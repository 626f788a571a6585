//! Workers without a start of their own: one process gets ready once and forks a worker when asked.
//!
//! Starting a program costs several times what running a small script does: most of it is spent on
//! memory that the program touches on its way to the engine. The nursery has done that, has seen no
//! script and never sees one; what it forks locks itself down as any other worker.

use std::{
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::{
        fd::{AsFd, OwnedFd},
        unix::net::UnixStream,
    },
    process::Child,
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    net::{
        RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
        SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
    },
    process::{Signal, pidfd_send_signal},
};

/// Time the nursery gets to get ready, or to fork.
const PATIENCE: Duration = Duration::from_secs(5);

/// The process that forks workers. Dropping it ends it, and with it all its workers.
#[derive(Debug)]
pub(super) struct Nursery {
    child: Child,
    control: UnixStream,
}

/// A worker's process whose parent is the nursery.
#[derive(Debug)]
pub(super) struct Forked {
    pub id: u32,
    /// Stays this process's, also when another one has got its number.
    handle: OwnedFd,
}

impl Nursery {
    /// `start` starts the program with the given standard input.
    pub(super) fn start(start: impl FnOnce(OwnedFd) -> io::Result<Child>) -> io::Result<Self> {
        let (control, theirs) = UnixStream::pair()?;
        control.set_read_timeout(Some(PATIENCE))?;
        control.set_write_timeout(Some(PATIENCE))?;
        Ok(Self { child: start(OwnedFd::from(theirs))?, control })
    }

    /// A new worker with this standard input; nothing where the system has none to give.
    ///
    /// After an error the nursery is of no use any more.
    pub(super) fn fork(&self, stdin: &OwnedFd) -> io::Result<Option<Forked>> {
        send(&self.control, &[0], Some(stdin))?;
        let mut id = [0; 4];
        let handle = receive(&self.control, &mut id)?;
        Ok(handle.map(|handle| Forked { id: u32::from_ne_bytes(id), handle }))
    }
}

impl Drop for Nursery {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Forked {
    pub(super) fn lives(&self) -> bool {
        let mut ended = [PollFd::new(&self.handle, PollFlags::IN)];
        poll(&mut ended, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|ready| ready == 0)
    }

    pub(super) fn kill(&self) {
        // One that has ended is what was wanted.
        let _ = pidfd_send_signal(&self.handle, Signal::KILL);
    }
}

/// Fills `bytes`, and takes the descriptor that may come with them.
pub(super) fn receive(socket: impl AsFd, bytes: &mut [u8]) -> io::Result<Option<OwnedFd>> {
    let expected = bytes.len();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::WAITALL;
    let received = recvmsg(socket, &mut [IoSliceMut::new(bytes)], &mut ancillary, flags)?;
    if received.bytes != expected {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(ancillary.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    }))
}

/// Sends bytes, with a descriptor if there is one.
pub(super) fn send(
    socket: impl AsFd,
    bytes: &[u8],
    descriptor: Option<&OwnedFd>,
) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let descriptors: Vec<_> = descriptor.into_iter().map(AsFd::as_fd).collect();
    if !descriptors.is_empty() {
        ancillary.push(SendAncillaryMessage::ScmRights(&descriptors));
    }
    let sent = sendmsg(socket, &[IoSlice::new(bytes)], &mut ancillary, SendFlags::NOSIGNAL)?;
    if sent == bytes.len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
}
