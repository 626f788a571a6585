//! Worker processes: started from one permanent thread, kept ready, ended and reaped.
//!
//! The signal that ends a worker when its parent dies follows the *thread* that started it, so the
//! thread that starts workers must live as long as they do. Once a worker has proved to be one, the
//! next ones come from a [nursery](super::nursery), where the system has what that takes.

use std::{
    collections::VecDeque,
    io,
    os::{
        fd::OwnedFd,
        unix::{net::UnixStream, process::CommandExt as _},
    },
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use tokio::sync::oneshot;

#[cfg(target_os = "linux")]
use super::nursery::{Forked, Nursery};
use super::worker::Backstop;

/// Nurseries that may fail before the spawner does without.
#[cfg(target_os = "linux")]
const NURSERIES: usize = 3;

/// Has a heap that grows grow in large steps and pages: a response of megabytes takes about a tenth less time.
const HEAP: &str = "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=4194304";
/// Time between the end of a run and the start of the next worker: the answer has the processors first.
const BREATHER: Duration = Duration::from_millis(1);

/// Starts workers and keeps spares.
#[derive(Debug)]
pub(super) struct Spawner {
    settings: Arc<Settings>,
    spares: Spares,
    orders: OnceLock<mpsc::Sender<Order>>,
}

#[derive(Debug)]
struct Settings {
    program: PathBuf,
    backstop: Backstop,
    spares: usize,
    /// Workers may be forked.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux has a nursery"))]
    forks: bool,
    /// The program is known to be a worker.
    proven: AtomicBool,
}

#[derive(Debug, Clone, Default)]
struct Spares(Arc<Mutex<VecDeque<Worker>>>);

#[derive(Debug)]
enum Order {
    Refill,
    Start(oneshot::Sender<io::Result<Worker>>),
}

/// One worker process and the host's end of its socket. Dropping it ends the process.
#[derive(Debug)]
pub(super) struct Worker {
    process: Process,
    stream: Option<UnixStream>,
    reaper: mpsc::Sender<Child>,
}

#[derive(Debug)]
enum Process {
    Started(Child),
    #[cfg(target_os = "linux")]
    Forked(Forked),
    /// Handed to the reaper.
    Gone,
}

impl Spawner {
    pub(super) fn new(program: PathBuf, backstop: Backstop, spares: usize, forks: bool) -> Self {
        let proven = AtomicBool::new(false);
        Self {
            settings: Arc::new(Settings { program, backstop, spares, forks, proven }),
            spares: Spares::default(),
            orders: OnceLock::new(),
        }
    }

    /// Starts filling up the spares, without waiting.
    pub(super) fn refill(&self) {
        drop(self.orders().send(Order::Refill));
    }

    /// Notes that the program proved to be a worker.
    pub(super) fn trust(&self) {
        self.settings.proven.store(true, Ordering::Relaxed);
    }

    /// A worker that was started before and still lives, if there is one.
    pub(super) fn spare(&self) -> Option<Worker> {
        loop {
            let mut worker = self.spares.lock().pop_front()?;
            if worker.lives() {
                return Some(worker);
            }
        }
    }

    /// A worker started now.
    pub(super) async fn start(&self) -> io::Result<Worker> {
        let (sender, worker) = oneshot::channel();
        let gone = || io::Error::other("the thread that starts workers is gone");
        self.orders().send(Order::Start(sender)).map_err(|_| gone())?;
        worker.await.map_err(|_| gone())?
    }

    /// The two threads exist from the first order on.
    fn orders(&self) -> &mpsc::Sender<Order> {
        self.orders.get_or_init(|| {
            let (orders, received) = mpsc::channel();
            let (settings, spares) = (Arc::clone(&self.settings), self.spares.clone());
            let (reaper, dead) = mpsc::channel();
            // Without threads every order is answered with an error.
            drop(thread::Builder::new().name("sandbox-reaper".to_owned()).spawn(|| reap(dead)));
            drop(
                thread::Builder::new()
                    .name("sandbox-spawner".to_owned())
                    .spawn(move || serve(&received, &settings, &spares, &reaper)),
            );
            orders
        })
    }
}

impl Spares {
    fn lock(&self) -> MutexGuard<'_, VecDeque<Worker>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn serve(
    orders: &mpsc::Receiver<Order>,
    settings: &Settings,
    spares: &Spares,
    reaper: &mpsc::Sender<Child>,
) {
    let mut source = Source::default();
    let mut refill_at = None;
    loop {
        let order = match refill_at {
            None => orders.recv().map_err(RecvTimeoutError::from),
            Some(at) => {
                orders.recv_timeout(Instant::saturating_duration_since(&at, Instant::now()))
            }
        };
        match order {
            Ok(Order::Start(sender)) => drop(sender.send(source.worker(settings, reaper))),
            Ok(Order::Refill) => refill_at = refill_at.or_else(|| Some(Instant::now() + BREATHER)),
            // One at a time: whoever waits for a worker comes first.
            Err(RecvTimeoutError::Timeout) => {
                spares.lock().retain_mut(Worker::lives);
                let is_full = spares.lock().len() >= settings.spares;
                // Where none can be had, the next run asks for a worker itself, and reports the error.
                let worker = if is_full { None } else { source.worker(settings, reaper).ok() };
                refill_at = worker.is_some().then(Instant::now);
                spares.lock().extend(worker);
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

fn reap(dead: mpsc::Receiver<Child>) {
    for mut child in dead {
        drop(child.wait());
    }
}

/// Where the spawner's thread gets workers from.
#[derive(Debug, Default)]
struct Source {
    #[cfg(target_os = "linux")]
    nursery: Option<Nursery>,
    /// Those that failed once: their workers may still run, and end with them.
    #[cfg(target_os = "linux")]
    retired: Vec<Nursery>,
}

impl Source {
    fn worker(&mut self, settings: &Settings, reaper: &mpsc::Sender<Child>) -> io::Result<Worker> {
        let (ours, theirs) = pair()?;
        #[cfg(target_os = "linux")]
        if let Some(forked) = self.fork(settings, &theirs) {
            let process = Process::Forked(forked);
            return Ok(Worker { process, stream: Some(ours), reaper: reaper.clone() });
        }
        // One that failed to be forked may have used the first pair.
        #[cfg(target_os = "linux")]
        let (ours, theirs) = pair()?;
        let process = Process::Started(start(settings, theirs, &[])?);
        Ok(Worker { process, stream: Some(ours), reaper: reaper.clone() })
    }

    #[cfg(target_os = "linux")]
    fn fork(&mut self, settings: &Settings, stdin: &OwnedFd) -> Option<Forked> {
        let is_known = settings.proven.load(Ordering::Relaxed);
        if !settings.forks || !is_known || self.retired.len() >= NURSERIES {
            return None;
        }
        match self.ask_nursery(settings, stdin) {
            Ok(forked) => forked,
            Err(error) => {
                tracing::debug!(error = &error as &dyn std::error::Error, "no nursery");
                self.retired.extend(self.nursery.take());
                None
            }
        }
    }

    #[cfg(target_os = "linux")]
    fn ask_nursery(&mut self, settings: &Settings, stdin: &OwnedFd) -> io::Result<Option<Forked>> {
        let nursery = match &mut self.nursery {
            Some(nursery) => nursery,
            none => none
                .insert(Nursery::start(|stdin| start(settings, stdin, &[super::worker::NURSERY]))?),
        };
        nursery.fork(stdin)
    }
}

/// The host's end of a new socket, and the worker's.
fn pair() -> io::Result<(UnixStream, OwnedFd)> {
    let (ours, theirs) = UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    Ok((ours, OwnedFd::from(theirs)))
}

/// No `pre_exec`: with it, the whole parent would be forked.
fn start(settings: &Settings, stdin: OwnedFd, more: &[&str]) -> io::Result<Child> {
    Command::new(&settings.program)
        .arg0("sandbox-worker")
        .args(settings.backstop.arguments())
        .args(more)
        .env_clear()
        // Dates in scripts are the same on every server.
        .env("TZ", "UTC0")
        .env("GLIBC_TUNABLES", HEAP)
        .current_dir("/")
        .stdin(Stdio::from(stdin))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

impl Worker {
    /// The socket to this worker; it can be taken once.
    pub(super) fn take_stream(&mut self) -> io::Result<tokio::net::UnixStream> {
        let stream = self.stream.take().ok_or_else(|| io::Error::other("the stream is taken"))?;
        tokio::net::UnixStream::from_std(stream)
    }

    fn lives(&mut self) -> bool {
        match &mut self.process {
            Process::Started(child) => matches!(child.try_wait(), Ok(None)),
            #[cfg(target_os = "linux")]
            Process::Forked(forked) => forked.lives(),
            Process::Gone => false,
        }
    }

    /// How a worker that closed its socket ended; known of this process's own children.
    pub(super) async fn exit_status(&mut self) -> Option<ExitStatus> {
        let Process::Started(child) = &mut self.process else { return None };
        for _ in 0..100 {
            if let Some(status) = child.try_wait().ok()? {
                return Some(status);
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        None
    }

    /// Processor time the process has used, where the system tells.
    pub(super) fn cpu(&self) -> Option<Duration> {
        let stat = self.proc_file("stat")?;
        // The second field is the program's name, in parentheses, and can hold anything.
        let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(11);
        let user: u64 = fields.next()?.parse().ok()?;
        let system: u64 = fields.next()?.parse().ok()?;
        // Linux shows user programs hundredths of a second, whatever the kernel's own tick.
        Some(Duration::from_millis((user + system).saturating_mul(10)))
    }

    /// The most memory the process ever had resident, in bytes, where the system tells.
    pub(super) fn peak_memory(&self) -> Option<usize> {
        let status = self.proc_file("status")?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        let kilobytes: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kilobytes << 10)
    }

    /// A child is not reaped while `self` holds it, so the number is still its own. One that was
    /// forked is ended through its handle alone: a stranger's figures can cost it no more than its run.
    fn proc_file(&self, name: &str) -> Option<String> {
        if cfg!(not(target_os = "linux")) {
            return None;
        }
        let id = match &self.process {
            Process::Started(child) => child.id(),
            #[cfg(target_os = "linux")]
            Process::Forked(forked) => forked.id,
            Process::Gone => return None,
        };
        std::fs::read_to_string(format!("/proc/{id}/{name}")).ok()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        match std::mem::replace(&mut self.process, Process::Gone) {
            Process::Started(mut child) => {
                drop(child.kill());
                drop(self.reaper.send(child));
            }
            #[cfg(target_os = "linux")]
            Process::Forked(forked) => forked.kill(),
            Process::Gone => {}
        }
    }
}
