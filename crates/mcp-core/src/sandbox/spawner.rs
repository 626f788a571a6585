//! Worker processes: started from one permanent thread, kept ready, ended and reaped.
//!
//! The signal that ends a worker when its parent dies follows the *thread* that started it, so the
//! thread that starts workers must live as long as they do.

use std::{
    collections::VecDeque,
    io,
    os::{
        fd::OwnedFd,
        unix::{net::UnixStream, process::CommandExt as _},
    },
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, mpsc},
    thread,
    time::Duration,
};

use tokio::sync::oneshot;

use super::worker::Backstop;

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
    child: Option<Child>,
    stream: Option<UnixStream>,
    reaper: mpsc::Sender<Child>,
}

impl Spawner {
    pub(super) fn new(program: PathBuf, backstop: Backstop, spares: usize) -> Self {
        Self {
            settings: Arc::new(Settings { program, backstop, spares }),
            spares: Spares::default(),
            orders: OnceLock::new(),
        }
    }

    /// Starts filling up the spares, without waiting.
    pub(super) fn refill(&self) {
        drop(self.orders().send(Order::Refill));
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
    for order in orders {
        match order {
            Order::Start(sender) => drop(sender.send(start(settings, reaper))),
            Order::Refill => {
                while spares.lock().len() < settings.spares {
                    match start(settings, reaper) {
                        Ok(worker) => spares.lock().push_back(worker),
                        // The next run asks for a worker itself, and reports the error.
                        Err(_) => break,
                    }
                }
            }
        }
    }
}

fn reap(dead: mpsc::Receiver<Child>) {
    for mut child in dead {
        drop(child.wait());
    }
}

/// No `pre_exec`: with it, the whole parent would be forked.
fn start(settings: &Settings, reaper: &mpsc::Sender<Child>) -> io::Result<Worker> {
    let (ours, theirs) = UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    let child = Command::new(&settings.program)
        .arg0("sandbox-worker")
        .args(settings.backstop.arguments())
        .env_clear()
        // Dates in scripts are the same on every server.
        .env("TZ", "UTC0")
        .current_dir("/")
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    Ok(Worker { child: Some(child), stream: Some(ours), reaper: reaper.clone() })
}

impl Worker {
    /// The socket to this worker; it can be taken once.
    pub(super) fn take_stream(&mut self) -> io::Result<tokio::net::UnixStream> {
        let stream = self.stream.take().ok_or_else(|| io::Error::other("the stream is taken"))?;
        tokio::net::UnixStream::from_std(stream)
    }

    fn lives(&mut self) -> bool {
        self.child.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(None)))
    }

    /// How a worker that closed its socket ended.
    pub(super) async fn exit_status(&mut self) -> Option<ExitStatus> {
        let child = self.child.as_mut()?;
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

    /// The process is not reaped while `self` holds it, so the number is still its own.
    fn proc_file(&self, name: &str) -> Option<String> {
        if cfg!(not(target_os = "linux")) {
            return None;
        }
        std::fs::read_to_string(format!("/proc/{}/{name}", self.child.as_ref()?.id())).ok()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        drop(child.kill());
        drop(self.reaper.send(child));
    }
}
