//! One script's run, seen from the host: the conversation with its worker, and its hard limits.

use std::{sync::Arc, time::Duration};

use futures::{
    StreamExt as _,
    future::BoxFuture,
    stream::{FuturesOrdered, FuturesUnordered},
};
use serde::de::IgnoredAny;
use tokio::time::{Instant, interval_at, sleep_until};
use tokio_util::sync::CancellationToken;

use super::{
    connection::{Connection, Lost},
    limits::{Limits, Stop},
    pool::{Host, HostCall},
    protocol::{
        Call, FromWorker, MAX_ARGUMENTS, MAX_CALLS, MAX_IN_FLIGHT, MAX_TEXT, Pace, Reply, Report,
        Run, ToWorker, Warning,
    },
};

/// Time a worker gets to end a run by itself before it is killed: its own account is better.
const GRACE: Duration = Duration::from_millis(250);
/// How often a worker's processor time is looked at from outside.
const SAMPLE: Duration = Duration::from_millis(50);

/// What came of a conversation.
#[derive(Debug)]
pub(super) struct Ended {
    pub report: Report,
    pub logs: Vec<String>,
}

/// The worker was lost before anything of the script ran: another one can have it.
#[derive(Debug)]
pub(super) struct NotStarted(pub Lost);

/// Runs the script on a worker that has introduced itself, to its end or to a limit.
pub(super) async fn converse(
    mut connection: Connection,
    run: Run,
    limits: &Limits,
    host: &Arc<dyn Host>,
    cancel: &CancellationToken,
) -> Result<Ended, NotStarted> {
    let deadline = sleep_until(Instant::now() + limits.wall + GRACE);
    tokio::pin!(deadline);
    let mut sample = interval_at(Instant::now() + SAMPLE, SAMPLE);
    let mut cpu = Duration::ZERO;
    let mut calls = Calls::new(&run);
    let mut logs = Logs::new(limits.logs);
    let stopped = |stop, cpu| Report {
        result: Err(super::protocol::Failure::default()),
        warnings: Vec::new(),
        observations: Vec::new(),
        stop: Some(stop),
        cpu,
    };
    connection.writer.push(ToWorker::Run(Box::new(run))).map_err(NotStarted)?;
    let mut started = false;
    let mut report = loop {
        let lost: Lost = tokio::select! {
            biased;
            () = cancel.cancelled() => break stopped(Stop::Cancelled, cpu),
            () = &mut deadline => break stopped(Stop::Wall, cpu),
            sent = connection.writer.flush(), if connection.writer.is_pending() => match sent {
                Ok(()) => continue,
                Err(lost) => lost,
            },
            received = connection.reader.receive() => match received {
                Ok(FromWorker::Started) if !started => {
                    started = true;
                    continue;
                }
                Ok(_) if !started => break stopped(Stop::Crashed, cpu),
                Ok(FromWorker::Call(call)) if calls.accept(&call) => {
                    calls.start(call, host);
                    continue;
                }
                Ok(FromWorker::Log(line)) if logs.accept(&line) => {
                    logs.lines.push(line);
                    continue;
                }
                Ok(FromWorker::Done(report)) if plausible(&report) => break *report,
                Ok(_) => break stopped(Stop::Crashed, cpu),
                Err(lost) => lost,
            },
            Some((id, reply)) = calls.next() => {
                match connection.writer.push(ToWorker::Reply(id, reply)) {
                    Ok(()) => continue,
                    Err(lost) => lost,
                }
            }
            _ = sample.tick() => {
                cpu = connection.engine.cpu().unwrap_or(cpu);
                if cpu > limits.cpu + GRACE {
                    break stopped(Stop::Cpu, cpu);
                }
                continue;
            }
        };
        tracing::debug!(error = &lost as &dyn std::error::Error, "a sandbox worker was lost");
        if !started {
            return Err(NotStarted(lost));
        }
        let stop = match connection.engine.autopsy().await {
            Stop::Crashed if cpu >= limits.cpu => Stop::Cpu,
            stop => stop,
        };
        break stopped(stop, cpu);
    };
    if let Err(failure) = &report.result
        && failure.hollow
        && report.stop.is_none()
        && connection.engine.used_its_heap(limits)
    {
        report.stop = Some(Stop::Memory);
    }
    Ok(Ended { report, logs: logs.lines })
}

/// Whether a report is what an engine could have written.
fn plausible(report: &Report) -> bool {
    let Report { result, warnings, observations, .. } = report;
    let noted = warnings.iter().chain(observations);
    let warned: usize = noted.map(|Warning { text, .. }| text.len()).sum();
    warned <= MAX_TEXT
        && match result {
            Ok(json) => json.len() <= MAX_TEXT && is_json(json),
            Err(_) => true,
        }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// The calls of one run, counted on this side.
struct Calls {
    bindings: usize,
    count: u32,
    /// Bytes of their arguments.
    bytes: usize,
    blocking: FuturesUnordered<BoxFuture<'static, (u32, Reply)>>,
    free: FuturesUnordered<BoxFuture<'static, (u32, Reply)>>,
    ordered: FuturesOrdered<BoxFuture<'static, (u32, Reply)>>,
    in_order: bool,
}

impl Calls {
    fn new(run: &Run) -> Self {
        Self {
            bindings: run.bindings.len(),
            count: 0,
            bytes: 0,
            blocking: FuturesUnordered::new(),
            free: FuturesUnordered::new(),
            ordered: FuturesOrdered::new(),
            in_order: run.pace != Pace::Free,
        }
    }

    fn accept(&mut self, call: &Call) -> bool {
        self.count += 1;
        self.bytes = self.bytes.saturating_add(call.arguments.len());
        let waiting = self.free.len() + self.ordered.len();
        self.count <= MAX_CALLS
            && call.binding < self.bindings
            && if call.blocking {
                self.blocking.is_empty()
            } else {
                waiting < MAX_IN_FLIGHT as usize
            }
            && call.arguments.len() <= MAX_TEXT
            && self.bytes <= MAX_ARGUMENTS
            && call.arguments.starts_with('[')
            && is_json(&call.arguments)
    }

    fn start(&mut self, call: Call, host: &Arc<dyn Host>) {
        let host = Arc::clone(host);
        let Call { id, binding, function, arguments, blocking } = call;
        let answer: BoxFuture<'static, (u32, Reply)> = Box::pin(async move {
            match host.call(HostCall { binding, function, arguments }).await {
                Ok(reply) => {
                    (id, Reply::Value { json: reply.json, big_integers: reply.big_integers })
                }
                Err(error) => {
                    let properties = serde_json::Value::Object(error.properties).to_string();
                    (id, Reply::Error { name: error.name, message: error.message, properties })
                }
            }
        });
        if blocking {
            self.blocking.push(answer);
        } else if self.in_order {
            self.ordered.push_back(answer);
        } else {
            self.free.push(answer);
        }
    }

    /// The next reply; never, when no call is waiting.
    async fn next(&mut self) -> Option<(u32, Reply)> {
        tokio::select! {
            biased;
            Some(answer) = self.blocking.next() => Some(answer),
            Some(answer) = self.free.next() => Some(answer),
            Some(answer) = self.ordered.next() => Some(answer),
            else => std::future::pending().await,
        }
    }
}

/// What a run logged, counted on this side.
struct Logs {
    lines: Vec<String>,
    room: usize,
}

impl Logs {
    /// Room for what the engine lets through, and for its note that there was more.
    fn new(limit: usize) -> Self {
        Self { lines: Vec::new(), room: limit.saturating_add(200) }
    }

    fn accept(&mut self, line: &str) -> bool {
        let room = self.room.checked_sub(line.len() + 1);
        self.room = room.unwrap_or_default();
        room.is_some()
    }
}
