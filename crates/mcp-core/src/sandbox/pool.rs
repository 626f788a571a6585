//! The pool: hands each script a worker of its own and keeps the next ones ready.

use std::{
    convert::Infallible,
    fmt,
    path::PathBuf,
    sync::{Arc, OnceLock},
    thread,
    time::Duration,
};

use async_trait::async_trait;
use serde_json::Map;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::{
    connection::{Connection, Running},
    error::{HostError, ScriptError},
    limits::{Limits, Stop},
    prepare::Prepared,
    protocol::{BUILD, Failure, Frame, FromWorker, Pace, Protections, Run, Warning},
    queue::Queue,
    run::{Ended, NotStarted, converse},
    worker,
};

/// Time a started worker gets to introduce itself.
const HELLO: Duration = Duration::from_secs(5);
/// Workers tried for one script before it is given up.
const ATTEMPTS: usize = 3;

/// A run that ends within this time is over before a worker is started beside it.
const SHORT_RUN: Duration = Duration::from_millis(5);

const OTHER_VERSION: &str = "the worker program is of another version";
const NO_PROTOCOL: &str = "the worker program does not speak the protocol";
const NO_HELLO: &str = "the worker program does not introduce itself";
const ADVICE: &str = "its `main` must call `worker_main` first thing";

/// The program that is started as a worker.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum WorkerProgram {
    /// This program itself: its `main` calls [`worker_main`](super::worker_main) first thing.
    #[default]
    CurrentExe,
    /// Another program that does, of the same version of this crate.
    Path(PathBuf),
    /// No process but a thread of this one. A script that hangs a built-in of the engine cannot be
    /// ended then, and a fault in the engine is a fault of this process: for trusted scripts only.
    InThread,
}

/// How a [`Pool`] works.
#[derive(Debug, Clone)]
pub struct PoolOptions {
    /// What workers are.
    pub worker: WorkerProgram,
    /// Workers kept ready (as many as processors, 2 at least).
    pub spares: usize,
    /// Whether workers are forked from one that is ready instead of started anew, where the system can
    /// (it can on Linux): several times faster, and all have the same memory layout.
    pub fork: bool,
    /// Scripts that run at once (twice the number of processors); others wait, fairly by caller.
    pub at_once: usize,
    /// The most any run may ask for: the kernel's limits of a worker are derived from these.
    pub ceiling: Limits,
}

impl Default for PoolOptions {
    fn default() -> Self {
        let processors = thread::available_parallelism().map_or(2, usize::from);
        Self {
            worker: WorkerProgram::default(),
            spares: processors.max(2),
            fork: true,
            at_once: 2 * processors,
            ceiling: Limits::default(),
        }
    }
}

/// One API as scripts see it: the names its `api` object is bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    /// For example `api` and `ak`. The first binding also answers the global `search`.
    pub names: Vec<String>,
}

/// A script and all its run depends on.
#[derive(Debug, Clone)]
pub struct Script {
    /// The script, made ready by [`prepare`](super::prepare).
    pub prepared: Prepared,
    /// The APIs; a [`HostCall`] names them by index.
    pub bindings: Vec<Binding>,
    /// What the script's clock shows at the start: milliseconds since the epoch.
    pub clock_ms: i64,
    /// Decides every `Math.random()`.
    pub seed: u64,
    /// How time passes.
    pub pace: Pace,
}

/// A call the script made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostCall {
    /// Index of the API.
    pub binding: usize,
    /// `request`, `call`, `paginate`, `search`, `describe` or `operations`; a hostile worker may
    /// send any other text.
    pub function: String,
    /// What the script passed: valid JSON, an array.
    pub arguments: String,
}

/// A host function's answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostReply {
    /// JSON text.
    pub json: String,
    /// Integers beyond 2^53 occur: the script gets them as `BigInt`.
    pub big_integers: bool,
}

/// What scripts can reach.
#[async_trait]
pub trait Host: Send + Sync {
    /// Answers one call. Several run at once; each is dropped when its run ends.
    async fn call(&self, call: HostCall) -> Result<HostReply, HostError>;
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// JSON text, or what was thrown. The JSON may be nested deeper than `serde_json` parses by default.
    pub result: Result<String, ScriptError>,
    /// What the script printed, also when it was stopped.
    pub logs: Vec<String>,
    /// What the script got away with: a missing `await`, a missing `return`.
    pub warnings: Vec<String>,
    /// Where a rehearsed script looked at what a placeholder stands for: the plan may not be whole.
    pub observations: Vec<String>,
    /// The limit that ended the run.
    pub stop: Option<Stop>,
    /// Processor time of the script.
    pub cpu: Duration,
}

/// Runs scripts, each in a worker of its own.
pub struct Pool {
    source: Source,
    queue: Queue,
    ceiling: Limits,
    protections: OnceLock<Protections>,
}

/// Where workers come from.
enum Source {
    #[cfg(unix)]
    Processes(super::spawner::Spawner),
    Threads,
    /// Why there are none.
    Nowhere(String),
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("protections", &self.protections).finish_non_exhaustive()
    }
}

impl Pool {
    /// A pool; cheap, nothing is started yet.
    pub fn new(options: PoolOptions) -> Self {
        let PoolOptions { worker, spares, fork, at_once, ceiling } = options;
        Self {
            source: source(worker, spares, fork, &ceiling),
            queue: Queue::new(at_once),
            ceiling,
            protections: OnceLock::new(),
        }
    }

    /// Starts the spare workers without waiting, so that the first script finds one.
    pub fn warm_up(&self) {
        #[cfg(unix)]
        if let Source::Processes(spawner) = &self.source {
            spawner.refill();
        }
    }

    /// What holds the workers on this system; starts one to find out.
    ///
    /// Fails with a sentence for the operator when no worker can be started.
    pub async fn protections(&self) -> Result<Protections, ScriptError> {
        if let Some(protections) = self.protections.get() {
            return Ok(*protections);
        }
        let connection = self.connect(false).await?;
        drop(connection);
        self.warm_up();
        Ok(self.protections.get().copied().unwrap_or_default())
    }

    /// Runs the script and says how it ended. Never fails otherwise, and never takes longer than
    /// the queue and wall limits.
    ///
    /// `caller` is whoever should not hold up others. Dropping the future ends the worker.
    pub async fn run(
        &self,
        script: Script,
        limits: &Limits,
        host: Arc<dyn Host>,
        cancel: CancellationToken,
        caller: &str,
    ) -> Outcome {
        let limits = self.within_ceiling(limits);
        let permit = tokio::select! {
            biased;
            () = cancel.cancelled() => return Outcome::stopped(Stop::Cancelled, &limits),
            permit = timeout(limits.queue, self.queue.enter(caller)) => permit.ok().flatten(),
        };
        let Some(_permit) = permit else { return Outcome::stopped(Stop::Busy, &limits) };
        let mut problem = String::new();
        for attempt in 0..ATTEMPTS {
            let connection = tokio::select! {
                biased;
                () = cancel.cancelled() => return Outcome::stopped(Stop::Cancelled, &limits),
                connection = self.connect(attempt > 0) => match connection {
                    Ok(connection) => connection,
                    Err(error) => return Outcome::failed(error),
                },
            };
            let run = order(&script, &limits);
            let ended = tokio::select! {
                ended = converse(connection, run, &limits, &host, &cancel) => ended,
                never = self.refill_beside() => match never {},
            };
            self.warm_up();
            match ended {
                Ok(ended) => return Outcome::new(ended, &script.prepared, &limits),
                Err(NotStarted(lost)) => problem = lost.to_string(),
            }
        }
        Outcome::failed(unavailable(&problem))
    }

    /// Starts the next worker beside a run that takes a while: a short one has the processors for
    /// itself, and the next worker is started after it.
    async fn refill_beside(&self) -> Infallible {
        tokio::time::sleep(SHORT_RUN).await;
        self.warm_up();
        std::future::pending().await
    }

    fn within_ceiling(&self, limits: &Limits) -> Limits {
        Limits {
            heap: limits.heap.min(self.ceiling.heap),
            stack: limits.stack.min(self.ceiling.stack),
            cpu: limits.cpu.min(self.ceiling.cpu),
            wall: limits.wall.min(self.ceiling.wall),
            ..limits.clone()
        }
    }

    /// A worker that has proved to be of this build. `anew`, and after a first disappointment, no
    /// spare is taken: what ended one may have ended all.
    async fn connect(&self, anew: bool) -> Result<Connection, ScriptError> {
        let mut problem = String::new();
        for attempt in 0..ATTEMPTS {
            let mut connection = match self.open(anew || attempt > 0).await {
                Ok(connection) => connection,
                Err(error) => return Err(unavailable(&error)),
            };
            match timeout(HELLO, connection.reader.receive()).await {
                Ok(Ok(FromWorker::Hello(hello))) if hello.build == BUILD => {
                    self.note(hello.protections, &connection.engine);
                    return Ok(connection);
                }
                Ok(Ok(FromWorker::Hello(_))) => OTHER_VERSION.clone_into(&mut problem),
                Ok(Ok(_)) => NO_PROTOCOL.clone_into(&mut problem),
                Ok(Err(lost)) => problem = format!("{lost} before a word; {ADVICE}"),
                Err(_) => problem = format!("{NO_HELLO}; {ADVICE}"),
            }
        }
        Err(unavailable(&problem))
    }

    #[cfg_attr(not(unix), expect(unused_variables, reason = "a thread is always new"))]
    async fn open(&self, anew: bool) -> Result<Connection, String> {
        let connection = match &self.source {
            #[cfg(unix)]
            Source::Processes(spawner) => {
                let spare = if anew { None } else { spawner.spare() };
                match spare {
                    Some(worker) => Connection::process(worker),
                    None => spawner.start().await.and_then(Connection::process),
                }
            }
            Source::Threads => Connection::thread(),
            Source::Nowhere(reason) => return Err(reason.clone()),
        };
        connection.map_err(|error| error.to_string())
    }

    /// Remembers what the first worker said about its jail, and warns once of what is missing.
    fn note(&self, protections: Protections, engine: &Running) {
        if self.protections.set(protections).is_err() {
            return;
        }
        #[cfg(unix)]
        if let Source::Processes(spawner) = &self.source {
            spawner.trust();
        }
        match engine {
            Running::Thread(_) => tracing::warn!(
                "scripts run in a thread of this process: they cannot be ended by force, and a fault in the \
                 engine is a fault of the server"
            ),
            #[cfg(unix)]
            Running::Process(_) if !protections.seccomp => tracing::warn!(
                landlock = protections.landlock,
                rlimits = protections.rlimits,
                "script workers run without a system call filter"
            ),
            #[cfg(unix)]
            Running::Process(_) => {}
        }
    }
}

/// What a worker is told to do.
fn order(script: &Script, limits: &Limits) -> Run {
    Run {
        javascript: script.prepared.javascript.clone(),
        bindings: script.bindings.iter().map(|binding| binding.names.clone()).collect(),
        clock_ms: script.clock_ms,
        seed: script.seed,
        pace: script.pace,
        heap: limits.heap,
        stack: limits.stack,
        cpu: limits.cpu,
        wall: limits.wall,
        logs: limits.logs,
    }
}

fn unavailable(problem: &str) -> ScriptError {
    ScriptError::new("SandboxError", format!("no sandbox worker could be started: {problem}"))
}

fn source(worker: WorkerProgram, spares: usize, fork: bool, ceiling: &Limits) -> Source {
    if worker::is_worker() {
        return Source::Nowhere("this process is a worker itself".to_owned());
    }
    let program = match worker {
        WorkerProgram::InThread => return Source::Threads,
        WorkerProgram::Path(path) => path,
        // The link leads to this very program even after the file on disk was replaced.
        WorkerProgram::CurrentExe if cfg!(target_os = "linux") => PathBuf::from("/proc/self/exe"),
        WorkerProgram::CurrentExe => match std::env::current_exe() {
            Ok(path) => path,
            Err(error) => return Source::Nowhere(error.to_string()),
        },
    };
    processes(program, spares, fork, ceiling)
}

#[cfg(unix)]
fn processes(program: PathBuf, spares: usize, fork: bool, ceiling: &Limits) -> Source {
    /// What a worker maps beside a script's heap: the program, its libraries, messages in transit.
    const OVERHEAD: u64 = 448 << 20;
    let backstop = worker::Backstop {
        cpu_seconds: ceiling.cpu.as_secs() + 2,
        address_space: OVERHEAD.saturating_add(ceiling.heap as u64),
    };
    Source::Processes(super::spawner::Spawner::new(program, backstop, spares, fork))
}

#[cfg(not(unix))]
fn processes(_: PathBuf, _: usize, _: bool, _: &Limits) -> Source {
    Source::Nowhere(
        "worker processes are not supported on this system; `WorkerProgram::InThread` is"
            .to_owned(),
    )
}

impl Outcome {
    fn new(ended: Ended, prepared: &Prepared, limits: &Limits) -> Self {
        let Ended { report, logs } = ended;
        let result = match report.stop {
            Some(stop) => Err(stop.error(limits)),
            None => report.result.map_err(|failure| located(failure, prepared)),
        };
        let placed = |notes: Vec<Warning>| {
            let placed = |Warning { text, place }| match place {
                Some(Frame { line, column, .. }) => {
                    format!("{text} (line {})", prepared.locate(line, column).0)
                }
                None => text,
            };
            notes.into_iter().map(placed).collect()
        };
        Self {
            result,
            logs,
            warnings: placed(report.warnings),
            observations: placed(report.observations),
            stop: report.stop,
            cpu: report.cpu,
        }
    }

    fn stopped(stop: Stop, limits: &Limits) -> Self {
        Self { stop: Some(stop), ..Self::failed(stop.error(limits)) }
    }

    /// The outcome of something that was done without a worker.
    pub(crate) fn success(json: String) -> Self {
        Self { result: Ok(json), ..Self::failed(ScriptError::default()) }
    }

    /// The outcome of something that failed without a worker.
    pub(crate) fn failure(error: ScriptError) -> Self {
        Self::failed(error)
    }

    fn failed(error: ScriptError) -> Self {
        Self {
            result: Err(error),
            logs: Vec::new(),
            warnings: Vec::new(),
            observations: Vec::new(),
            stop: None,
            cpu: Duration::ZERO,
        }
    }
}

/// The failure with positions in the agent's own text.
fn located(failure: Failure, prepared: &Prepared) -> ScriptError {
    let Failure { name, message, frames, properties, hollow: _ } = failure;
    let places: Vec<(String, u32, u32)> = frames
        .into_iter()
        .map(|Frame { function, line, column }| {
            let (line, column) = prepared.locate(line, column);
            (function, line, column)
        })
        .collect();
    let stack = places
        .iter()
        .map(|(function, line, column)| match function.as_str() {
            "" | "<anonymous>" | "<eval>" => format!("at {line}:{column}"),
            _ => format!("at {function} ({line}:{column})"),
        })
        .collect();
    ScriptError {
        name,
        message,
        line: places.first().map(|(_, line, _)| *line),
        column: places.first().map(|(_, _, column)| *column),
        stack,
        properties: serde_json::from_str(&properties).unwrap_or_else(|_| Map::new()),
    }
}
