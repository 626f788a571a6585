//! The two things the safe interfaces do not offer, and all unsafe code of the sandbox.
#![expect(unsafe_code, reason = "two foreign calls, each explained where it is made")]

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
