//! The worker process: locks itself down, runs one script, and is gone.

mod hints;
mod host_functions;
#[cfg(unix)]
mod jail;
#[cfg(target_os = "linux")]
mod nursery;
mod raw;
mod runtime;
mod state;
#[cfg(unix)]
mod stream;
#[cfg(test)]
mod tests;

#[cfg(unix)]
pub(super) use jail::Backstop;
#[cfg(unix)]
pub use jail::Jail;
pub(super) use runtime::Engine;

/// First argument of a process that is to be a worker; the number that follows it is [`Backstop`].
pub(super) const ARGUMENT: &str = "--mcp-sandbox-worker";

/// Fourth argument of a worker that is to fork others instead of serving.
#[cfg(target_os = "linux")]
pub(super) const NURSERY: &str = "nursery";

/// Whether this process was started to be a worker.
///
/// Such a process must never start workers of its own, even where the program forgot to call
/// [`worker_main`].
pub(super) fn is_worker() -> bool {
    std::env::args_os().nth(1).is_some_and(|argument| argument == ARGUMENT)
}

/// Whether this process was started to fork workers.
#[cfg(target_os = "linux")]
fn is_nursery() -> bool {
    std::env::args_os().nth(4).is_some_and(|argument| argument == NURSERY)
}

/// Becomes a sandbox worker and never returns, if this process was started as one.
///
/// Call it first thing in `main`, before threads, files or an async runtime exist. In every other
/// process it makes the process unreadable for its own workers (not dumpable, no core files) and
/// returns.
pub fn worker_main() {
    #[cfg(unix)]
    {
        jail::keep_memory_private();
        if is_worker() {
            become_worker();
        }
    }
}

/// Has this process return memory to the system soon after it is free, where its allocator can be
/// told: for servers, which hold a large response now and then. Call it before threads exist.
pub fn return_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    raw::return_memory();
}

/// Puts this process into a worker's jail and says what holds it: for probes and tests.
///
/// There is no way back.
#[cfg(unix)]
pub fn lock_down(jail: Jail) -> super::Protections {
    jail::lock_down(&jail::Backstop::from_arguments(), jail)
}

#[cfg(unix)]
#[expect(clippy::exit, reason = "the process was started for this alone")]
fn become_worker() -> ! {
    jail::leave_parent();
    let code = match serve() {
        Ok(()) => 0,
        Err(_) => 1,
    };
    std::process::exit(code)
}

/// The engine is built before the door closes: what libraries look up once (time zone, entropy, how
/// to read a clock) is known by then, and no byte of a script has arrived.
#[cfg(unix)]
fn serve() -> Result<(), stream::Lost> {
    use std::rc::Rc;

    use super::protocol::{BUILD, FromWorker, Hello, ToWorker};

    let engine = Engine::new().map_err(|_| stream::Lost)?;
    state::thread_cpu();
    #[cfg(target_os = "linux")]
    if is_nursery() {
        nursery::fork_on_order()?;
    }
    let protections = jail::lock_down(&jail::Backstop::from_arguments(), Jail::Whole);
    engine.warm_up();
    let port = Rc::new(stream::StreamPort::new());
    port.send(&FromWorker::Hello(Hello { build: BUILD, protections }))?;
    let ToWorker::Run(run) = port.receive()? else { return Err(stream::Lost) };
    port.send(&FromWorker::Started)?;
    let report = engine.run(&run, Rc::<stream::StreamPort>::clone(&port));
    port.send(&FromWorker::Done(Box::new(report)))?;
    // The host may still look at this process; it ends it, and freeing a heap would only cost time.
    port.wait_for_end();
    std::mem::forget(engine);
    Ok(())
}
