//! What the safe interfaces do not offer, and all unsafe code of the sandbox.
#![expect(unsafe_code, reason = "a few foreign calls, each explained where it is made")]

use rquickjs::{Context, qjs};

/// The heap limit of a running engine, adjustable from inside the interrupt handler.
///
/// The safe setter borrows the runtime, which is already borrowed while a script runs.
#[derive(Debug, Clone, Copy)]
pub(super) struct HeapLimit(*mut qjs::JSRuntime);

impl HeapLimit {
    /// The limit of `context`'s runtime. Use it only while that runtime lives.
    pub(super) fn of(context: &Context) -> Self {
        Self(context.get_runtime_ptr())
    }

    /// Sets the limit to this many bytes.
    ///
    /// The engine allocates the error that ends a script; with a full heap it would throw a `null`
    /// that the script can catch instead.
    pub(super) fn set(self, bytes: usize) {
        // SAFETY: the pointer comes from a live context, the interrupt handler that calls this is
        // owned by that very runtime, and the call stores one integer without touching the heap.
        unsafe { qjs::JS_SetMemoryLimit(self.0, bytes as qjs::size_t) }
    }
}

/// Has the allocator of this process return memory soon after it is free.
///
/// Left to itself, glibc keeps the more the larger the blocks were that it saw: one large response,
/// and tens of megabytes stay in each of its arenas.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(super) fn return_memory() {
    const KEPT: i32 = 1 << 20;
    // SAFETY: each call stores an integer in the allocator's settings.
    unsafe {
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT);
        libc::mallopt(libc::M_MMAP_THRESHOLD, KEPT);
    }
}

/// Splits this process in two: the number of the new one, or nothing in that one.
#[cfg(target_os = "linux")]
pub(super) fn fork() -> std::io::Result<Option<rustix::process::Pid>> {
    // SAFETY: the nursery has one thread, so no lock is held that the new process would wait for.
    match unsafe { libc::fork() } {
        -1 => Err(std::io::Error::last_os_error()),
        id => Ok(rustix::process::Pid::from_raw(id)),
    }
}

/// Makes this the standard input; what was that before is closed.
#[cfg(target_os = "linux")]
pub(super) fn become_stdin(descriptor: &std::os::fd::OwnedFd) -> std::io::Result<()> {
    use std::os::fd::AsRawFd as _;
    // SAFETY: both descriptors are open, and nobody owns standard input.
    match unsafe { libc::dup2(descriptor.as_raw_fd(), libc::STDIN_FILENO) } {
        -1 => Err(std::io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Closes these descriptors, as far as they are open.
#[cfg(unix)]
pub(super) fn close(descriptors: impl Iterator<Item = i32>) {
    use std::os::fd::BorrowedFd;

    for descriptor in descriptors {
        // SAFETY: nothing in this process owns a descriptor above 2 yet, so what is open there was
        // inherited and is closed once. The borrow only asks whether it is open and ends before that.
        unsafe {
            if rustix::io::fcntl_getfd(BorrowedFd::borrow_raw(descriptor)).is_ok() {
                rustix::io::close(descriptor);
            }
        }
    }
}
