//! What a running script has used up, and everything that waits for it.

use std::{
    cell::{Cell, RefCell},
    cmp::Reverse,
    collections::{BinaryHeap, VecDeque},
    fmt,
    rc::Rc,
    time::{Duration, Instant},
};

use super::{
    super::{
        limits::{Stop, size},
        port::{Event, Port},
        protocol::{
            Call, Frame, MAX_ARGUMENTS, MAX_CALLS, MAX_IN_FLIGHT, MAX_WARNINGS, Pace, Reply, Run,
            Warning,
        },
    },
    raw::HeapLimit,
};

/// What the heap may grow by once a run is being stopped, so that stopping it cannot fail.
const STOP_RESERVE: usize = 4 << 20;

/// The state of one run, shared by the interrupt handler, the host functions and the job loop.
pub(super) struct State {
    port: Rc<dyn Port>,
    heap: HeapLimit,
    heap_bytes: usize,
    pace: Pace,
    cpu: Duration,
    wall: Duration,
    cpu_start: Duration,
    start: Instant,
    stop: Cell<Option<Stop>>,
    in_flight: Cell<u32>,
    calls: Cell<u32>,
    /// Bytes of arguments that may still leave.
    arguments_room: Cell<usize>,
    replies: RefCell<VecDeque<(u32, Reply)>>,
    timers: RefCell<BinaryHeap<Reverse<Timer>>>,
    /// The time of a run whose clock stands still, since its start.
    ordered_time: Cell<Duration>,
    clock_ms: f64,
    log_room: Cell<usize>,
    log_limit: usize,
    pub(super) warnings: RefCell<Vec<Warning>>,
    /// Where the script looked at what a placeholder stands for.
    pub(super) observations: RefCell<Vec<Warning>>,
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State").field("stop", &self.stop).finish_non_exhaustive()
    }
}

impl State {
    #[expect(clippy::cast_precision_loss, reason = "milliseconds are exact up to the year 287396")]
    pub(super) fn new(run: &Run, port: Rc<dyn Port>, heap: HeapLimit) -> Self {
        Self {
            port,
            heap,
            heap_bytes: run.heap,
            pace: run.pace,
            cpu: run.cpu,
            wall: run.wall,
            cpu_start: thread_cpu(),
            start: Instant::now(),
            stop: Cell::new(None),
            in_flight: Cell::new(0),
            calls: Cell::new(0),
            arguments_room: Cell::new(MAX_ARGUMENTS),
            replies: RefCell::default(),
            timers: RefCell::default(),
            ordered_time: Cell::new(Duration::ZERO),
            clock_ms: run.clock_ms as f64,
            log_room: Cell::new(run.logs),
            log_limit: run.logs,
            warnings: RefCell::default(),
            observations: RefCell::default(),
        }
    }

    /// Whether the run must end now. Asked by the interrupt handler and between jobs.
    pub(super) fn poll(&self) -> bool {
        if self.stop.get().is_some() {
            return true;
        }
        let stop = if self.port.abort() {
            Stop::Cancelled
        } else if self.wall_left().is_zero() {
            Stop::Wall
        } else if self.cpu_used() > self.cpu {
            Stop::Cpu
        } else {
            return false;
        };
        self.stop_with(stop);
        true
    }

    pub(super) fn stop(&self) -> Option<Stop> {
        self.stop.get()
    }

    pub(super) fn stop_with(&self, stop: Stop) {
        self.stop.set(Some(stop));
        self.heap.set(self.heap_bytes.saturating_add(STOP_RESERVE));
    }

    /// Processor time the script has used.
    pub(super) fn cpu_used(&self) -> Duration {
        thread_cpu().saturating_sub(self.cpu_start)
    }

    fn wall_left(&self) -> Duration {
        self.wall.saturating_sub(self.start.elapsed())
    }

    /// Starts a call, or says why there cannot be another one.
    pub(super) fn call(
        &self,
        binding: usize,
        function: String,
        arguments: String,
    ) -> Result<u32, String> {
        let in_flight = self.in_flight.get();
        if in_flight >= MAX_IN_FLIGHT {
            return Err(format!("{MAX_IN_FLIGHT} calls are waiting already: await some first"));
        }
        let id = self.begin(binding, function, arguments, false)?;
        self.in_flight.set(in_flight + 1);
        Ok(id)
    }

    /// Makes a call and waits for its reply; `None` when the run was stopped meanwhile.
    pub(super) fn ask(
        &self,
        binding: usize,
        function: String,
        arguments: String,
    ) -> Result<Option<Reply>, String> {
        let id = self.begin(binding, function, arguments, true)?;
        while !self.poll() {
            match self.port.wait(self.wall_left()) {
                Event::Reply(other, reply) if other == id => return Ok(Some(reply)),
                Event::Reply(other, reply) => self.replies.borrow_mut().push_back((other, reply)),
                Event::Timeout => {}
                Event::Abort => self.stop_with(Stop::Cancelled),
            }
        }
        Ok(None)
    }

    fn begin(
        &self,
        binding: usize,
        function: String,
        arguments: String,
        blocking: bool,
    ) -> Result<u32, String> {
        let id = self.calls.get() + 1;
        if id > MAX_CALLS {
            return Err(format!("a script can make {MAX_CALLS} calls at most"));
        }
        let Some(room) = self.arguments_room.get().checked_sub(arguments.len()) else {
            return Err(format!(
                "the arguments of a script's calls can have {} together",
                size(MAX_ARGUMENTS)
            ));
        };
        self.arguments_room.set(room);
        self.calls.set(id);
        self.port.start(Call { id, binding, function, arguments, blocking });
        Ok(id)
    }

    pub(super) fn in_flight(&self) -> u32 {
        self.in_flight.get()
    }

    /// Registers a timer; it comes back from [`State::next`].
    pub(super) fn set_timer(&self, id: u32, delay: Duration) {
        let ordered_due = self.ordered_time.get() + delay;
        let due = match self.pace {
            Pace::Rehearsal => ordered_due,
            Pace::Free | Pace::Ordered => self.start.elapsed() + delay,
        };
        self.timers.borrow_mut().push(Reverse(Timer { due, id, ordered_due }));
    }

    /// Waits for what happens next outside the script.
    pub(super) fn next(&self) -> Next {
        while !self.poll() {
            if let Some((id, reply)) = self.replies.borrow_mut().pop_front() {
                return self.settled(id, reply);
            }
            let due = self.timers.borrow().peek().map(|Reverse(timer)| timer.due);
            let awaiting = self.in_flight.get() > 0;
            let patience = match due {
                // In a rehearsal a reply is always quicker than a timer.
                Some(_) if awaiting && self.pace == Pace::Rehearsal => self.wall_left(),
                Some(due) => {
                    let left = if self.pace == Pace::Rehearsal {
                        Duration::ZERO
                    } else {
                        due.saturating_sub(self.start.elapsed())
                    };
                    if left.is_zero() {
                        return self.fired();
                    }
                    left.min(self.wall_left())
                }
                None if awaiting => self.wall_left(),
                None => return Next::Nothing,
            };
            match self.port.wait(patience) {
                Event::Reply(id, reply) => return self.settled(id, reply),
                Event::Timeout => {}
                Event::Abort => self.stop_with(Stop::Cancelled),
            }
        }
        Next::Stopped
    }

    fn settled(&self, id: u32, reply: Reply) -> Next {
        self.in_flight.set(self.in_flight.get().saturating_sub(1));
        Next::Reply(id, reply)
    }

    fn fired(&self) -> Next {
        let Some(Reverse(timer)) = self.timers.borrow_mut().pop() else { return Next::Nothing };
        self.ordered_time.set(self.ordered_time.get().max(timer.ordered_due));
        Next::Timer(timer.id)
    }

    /// What the script's clock shows, in milliseconds since the epoch.
    pub(super) fn clock_ms(&self) -> f64 {
        let elapsed = match self.pace {
            Pace::Free => self.start.elapsed(),
            // A loop that waits for the clock must see it move.
            Pace::Ordered | Pace::Rehearsal => {
                let time = self.ordered_time.get();
                self.ordered_time.set(time + Duration::from_millis(1));
                time
            }
        };
        self.clock_ms + (elapsed.as_secs_f64() * 1000.0).floor()
    }

    pub(super) fn wall(&self) -> Duration {
        self.wall
    }

    /// Passes a line on as long as there is room, and says once when there is none.
    pub(super) fn log(&self, mut line: String) {
        let room = self.log_room.get();
        if room == 0 {
            return;
        }
        if line.len() < room {
            self.log_room.set(room - line.len() - 1);
            self.port.log(line);
            return;
        }
        self.log_room.set(0);
        line.truncate(line.floor_char_boundary(room));
        self.port.log(line);
        self.port.log(format!("(logs cut: the limit is {})", size(self.log_limit)));
    }

    pub(super) fn warn(&self, text: String, place: Option<Frame>) {
        note(&self.warnings, Warning { text, place });
    }

    pub(super) fn observe(&self, what: String, place: Option<Frame>) {
        note(&self.observations, Warning { text: what, place });
    }
}

fn note(list: &RefCell<Vec<Warning>>, warning: Warning) {
    let mut list = list.borrow_mut();
    if list.len() < MAX_WARNINGS && !list.contains(&warning) {
        list.push(warning);
    }
}

/// A timer of the script; the earliest is the smallest.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Timer {
    /// Time since the start of the run.
    due: Duration,
    id: u32,
    /// The same on the clock that stands still.
    ordered_due: Duration,
}

/// What a script that stands still is woken by.
#[derive(Debug)]
pub(super) enum Next {
    Reply(u32, Reply),
    Timer(u32),
    /// Nothing can wake it any more.
    Nothing,
    Stopped,
}

/// Processor time of this thread.
#[cfg(unix)]
pub(super) fn thread_cpu() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

/// Stands in for the processor time, which it bounds.
#[cfg(not(unix))]
pub(super) fn thread_cpu() -> Duration {
    use std::sync::LazyLock;
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed()
}
