//! One request is one transaction: routed, checked, run under the lock, logged with its changes.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::http::Method;
use serde_json::Value;

use crate::edit::{self, Edit};
use crate::fault::{Action, Fault, Phase};
use crate::http::{Call, Reply, Request};
use crate::log::{self, Boundary, Entry};
use crate::route::{self, Found, Handler, Route};
use crate::table::{Table, Tables};
use crate::time::Timestamp;
use crate::{Extra, World, hash};

/// An API: its state, its routes and the few things all its answers share.
pub(crate) trait Fixture: fmt::Debug + Sized + Send + 'static {
    type State: State;

    /// Prefix of every route, without a trailing slash.
    const BASE: &'static str;
    /// The `detail` of an unknown path.
    const NOT_FOUND: &'static str;

    fn default_token(seed: u64) -> String;
    fn state(seed: u64, extra: Extra) -> Self::State;
    fn routes() -> Vec<Route<Self::State>>;
    /// What the same host answers outside of the API, without a token and without an entry in the log.
    fn beside(_: &Self::State, _: &Request) -> Option<Reply> {
        None
    }
    /// The answer to a request that does not carry the token.
    fn refuse(request: &Request, token: &str) -> Option<Reply>;
}

/// What a mock remembers: tables, and whatever else is no part of the exported state.
pub(crate) trait State: Clone + fmt::Debug + Send {
    fn tables(&self) -> Tables<'_>;
    fn table(&mut self, name: &str) -> Option<&mut Table>;

    fn export(&self) -> Value {
        self.tables().iter().map(|(name, table)| (*name, table.export())).collect()
    }
}

/// What the socket side needs of an engine, whatever API it speaks.
pub(crate) trait Service: fmt::Debug + Send + Sync {
    /// The fault that strikes before the handler.
    fn strike(&self, request: &Request) -> Option<Fault>;
    /// Logs a request that a fault kept from its handler.
    fn skip(&self, request: &Request, fault: &Fault);
    /// Runs the handler; the second value is the fault that strikes after the commit.
    fn run(&self, request: &Request, before: Option<&Fault>) -> (Reply, Option<Fault>);
    fn log(&self) -> Vec<Entry>;
    /// The stored rows as they are now.
    fn state(&self) -> Value;
    /// The state before the first request, then after each boundary.
    fn states(&self) -> Vec<Value>;
    fn boundaries(&self) -> Vec<Boundary>;
    fn set_faults(&self, faults: Vec<Fault>);
    /// Makes the world another one and starts over from there.
    fn edit(&self, edits: &[Edit]) -> Result<(), String>;
    fn reset(&self);
    /// Becomes the world of another seed, as if it had just started.
    fn begin(&self, seed: u64, extra: Extra, faults: Vec<Fault>);
    fn count(&self) -> usize;
}

#[derive(Debug)]
pub(crate) struct Engine<F: Fixture> {
    routes: Vec<Route<F::State>>,
    token: String,
    origin: String,
    started: Instant,
    inner: Mutex<Inner<F::State>>,
}

#[derive(Debug)]
struct Inner<S> {
    baseline: S,
    state: S,
    log: Vec<Entry>,
    commits: Vec<Commit<S>>,
    faults: Vec<(Fault, Seen)>,
}

/// A change and the state it left behind.
#[derive(Debug)]
struct Commit<S> {
    request: u64,
    diff: Vec<log::Change>,
    after: S,
    by_fixture: bool,
}

/// What a fault has had to do with so far.
#[derive(Debug, Default)]
struct Seen {
    matching: u32,
    /// The window of a rate limit: when it began, and how many it let in.
    window: Option<(Instant, u32)>,
}

impl<F: Fixture> Engine<F> {
    pub(crate) fn new(world: World, token: String, origin: String) -> Self {
        let state = F::state(world.seed, world.extra);
        let inner = Mutex::new(Inner {
            baseline: state.clone(),
            state,
            log: Vec::new(),
            commits: Vec::new(),
            faults: fresh(world.faults),
        });
        Self { routes: F::routes(), token, origin, started: Instant::now(), inner }
    }

    fn lock(&self) -> MutexGuard<'_, Inner<F::State>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, request: &Request) -> Found<'_, F::State> {
        match request.path.strip_prefix(F::BASE) {
            Some(path) if path.starts_with('/') => route::find(&self.routes, &request.method, path),
            Some(_) | None => Found::Nothing,
        }
    }

    fn entry(&self, request: &Request) -> Entry {
        let at_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        Entry { at_ms, ..Entry::of(request) }
    }

    /// Counts the request against the faults of this phase and returns the one whose turn it is.
    ///
    /// A request that a rate limit turns away has not come: it counts for no other fault.
    fn due(&self, inner: &mut Inner<F::State>, request: &Request, phase: Phase) -> Option<Fault> {
        let Found::Route { route, .. } = self.find(request) else { return None };
        let template = full::<F>(route.template);
        let path = request.segments();
        let mut due = None;
        for (fault, seen) in &mut inner.faults {
            let same = fault.phase == phase
                && fault.method.eq_ignore_ascii_case(request.method.as_str())
                && route::same_template(&fault.route, &template)
                && fault.when.holds(
                    &fault.route,
                    &path,
                    |name| request.parameter(name),
                    || serde_json::from_slice(&request.body).ok(),
                );
            if !same {
                continue;
            }
            seen.matching = seen.matching.saturating_add(1);
            if let Action::RateLimit { limit, window_ms, by_count, .. } = fault.action {
                if !seen.lets_in(limit, Duration::from_millis(window_ms), by_count) {
                    return Some(fault.clone());
                }
            } else if fault.takes(seen.matching) && due.is_none() {
                due = Some(fault.clone());
            }
        }
        due
    }

    fn dispatch(&self, inner: &mut Inner<F::State>, request: &Request, entry: &mut Entry) -> Reply {
        let found = self.find(request);
        if matches!(found, Found::Slashless) {
            return add_slash(request, F::NOT_FOUND);
        }
        if let Some(refusal) = F::refuse(request, &self.token) {
            return refusal;
        }
        match found {
            Found::Route { route, values } => {
                entry.route = Some(full::<F>(route.template));
                let now = Timestamp::START.plus_seconds(inner.commits.len() as i64);
                let call = Call::new(request, &self.origin, now, values);
                let reply = inner.call(route, &call, entry);
                entry.handler_status = Some(reply.status);
                reply
            }
            Found::WrongMethod { template, allowed } => {
                entry.route = Some(full::<F>(template));
                let text = format!("Method \"{}\" not allowed.", request.method);
                Reply::detail(405, &text).header("allow", &allowed.join(", "))
            }
            Found::Slashless | Found::Nothing => {
                Reply { unimplemented: true, ..Reply::detail(404, F::NOT_FOUND) }
            }
        }
    }
}

fn fresh(faults: Vec<Fault>) -> Vec<(Fault, Seen)> {
    faults.into_iter().map(|fault| (fault, Seen::default())).collect()
}

impl Seen {
    /// A window begins with its first request or, where only requests count, with the first one
    /// that is turned away.
    fn lets_in(&mut self, limit: u32, window: Duration, by_count: bool) -> bool {
        let now = Instant::now();
        let (began, count) = self.window.unwrap_or((now, 0));
        let over = now.duration_since(began) >= window && (!by_count || count > limit);
        let (began, count) = if over { (now, 0) } else { (began, count) };
        let began = if by_count && count == limit { now } else { began };
        self.window = Some((began, count.saturating_add(1)));
        count < limit
    }
}

impl<S: State> Inner<S> {
    /// A handler that answers with an error leaves no trace, as in a database transaction.
    fn call(&mut self, route: &Route<S>, call: &Call<'_>, entry: &mut Entry) -> Reply {
        match route.handler {
            Handler::Read(read) => read(&self.state, call).unwrap_or_else(|reply| reply),
            Handler::Write(write) => {
                let mut next = self.state.clone();
                let reply = write(&mut next, call).unwrap_or_else(|reply| reply);
                if !reply.failed() {
                    entry.diff = self.commit(next, false);
                    entry.wrote = !entry.diff.is_empty();
                }
                reply
            }
        }
    }

    /// Makes `next` the state, as a change of the request that is at work.
    fn commit(&mut self, next: S, by_fixture: bool) -> Vec<log::Change> {
        let diff = log::diff(&self.state.tables(), &next.tables());
        if !diff.is_empty() {
            let (request, diff, after) = (self.next_seq(), diff.clone(), next.clone());
            self.commits.push(Commit { request, diff, after, by_fixture });
        }
        self.state = next;
        diff
    }

    /// Does what a fault says to the world. A table that does not exist changes nothing.
    fn mutate(&mut self, fault: Option<&Fault>, entry: &mut Entry) {
        let Some(Fault { action: Action::Mutate { edits }, .. }) = fault else { return };
        let mut next = self.state.clone();
        if edit::apply(&mut next, edits).is_ok() {
            entry.mutated.extend(self.commit(next, true));
        }
    }

    fn next_seq(&self) -> u64 {
        self.log.len() as u64 + 1
    }

    fn record(&mut self, mut entry: Entry) {
        entry.seq = self.next_seq();
        self.log.push(entry);
    }

    fn start_over(&mut self) {
        self.state = self.baseline.clone();
        self.log.clear();
        self.commits.clear();
        for (_, seen) in &mut self.faults {
            *seen = Seen::default();
        }
    }

    fn boundary(&self, number: usize, commit: &Commit<S>) -> Boundary {
        let index = usize::try_from(commit.request).unwrap_or_default().checked_sub(1);
        let entry = index.and_then(|index| self.log.get(index));
        Boundary {
            seq: number as u64 + 1,
            request_seq: commit.request,
            method: entry.map(|it| it.method.clone()).unwrap_or_default(),
            path: entry.map(|it| it.path.clone()).unwrap_or_default(),
            body: entry.and_then(|it| it.body.clone()),
            handler_status: entry.and_then(|it| it.handler_status),
            sent_status: entry.map_or(0, |it| it.status),
            state_hash: hash::of(&commit.after.export()),
            diff: commit.diff.clone(),
            fault: entry.and_then(|it| it.fault.clone()),
            by_fixture: commit.by_fixture,
        }
    }
}

impl<F: Fixture> Service for Engine<F> {
    fn strike(&self, request: &Request) -> Option<Fault> {
        match F::refuse(request, &self.token) {
            Some(_) => None,
            None => self.due(&mut self.lock(), request, Phase::Before),
        }
    }

    fn skip(&self, request: &Request, fault: &Fault) {
        let mut entry = self.entry(request);
        if let Found::Route { route, .. } = self.find(request) {
            entry.route = Some(full::<F>(route.template));
        }
        entry.status = sent_status(fault, 0);
        entry.fault = Some(fault.id.clone());
        if let Action::Respond { body, .. } = &fault.action {
            entry.bytes = body.len() as u64;
        }
        self.lock().record(entry);
    }

    fn run(&self, request: &Request, before: Option<&Fault>) -> (Reply, Option<Fault>) {
        let mut inner = self.lock();
        if let Some(reply) = F::beside(&inner.state, request) {
            return (reply, None);
        }
        let mut entry = self.entry(request);
        inner.mutate(before, &mut entry);
        let reply = self.dispatch(&mut inner, request, &mut entry);
        let committed = entry.handler_status.is_some() && !reply.failed();
        let after =
            if committed { self.due(&mut inner, request, Phase::AfterCommit) } else { None };
        inner.mutate(after.as_ref(), &mut entry);
        entry.status =
            after.as_ref().map_or(reply.status, |fault| sent_status(fault, reply.status));
        entry.unimplemented = reply.unimplemented;
        entry.fault = after.as_ref().or(before).map(|fault| fault.id.clone());
        entry.bytes = sent_bytes(after.as_ref(), reply.body.len());
        let whole = after.as_ref().is_none_or(|fault| fault.passes_on() && !cuts(fault));
        if committed && whole {
            entry.delivered = log::ids(&reply.body);
        }
        inner.record(entry);
        (reply, after)
    }

    fn log(&self) -> Vec<Entry> {
        self.lock().log.clone()
    }

    fn state(&self) -> Value {
        self.lock().state.export()
    }

    fn states(&self) -> Vec<Value> {
        let inner = self.lock();
        let after = inner.commits.iter().map(|commit| &commit.after);
        std::iter::once(&inner.baseline).chain(after).map(State::export).collect()
    }

    fn boundaries(&self) -> Vec<Boundary> {
        let inner = self.lock();
        let commits = inner.commits.iter().enumerate();
        commits.map(|(number, commit)| inner.boundary(number, commit)).collect()
    }

    fn set_faults(&self, faults: Vec<Fault>) {
        self.lock().faults = fresh(faults);
    }

    fn edit(&self, edits: &[Edit]) -> Result<(), String> {
        let mut inner = self.lock();
        edit::apply(&mut inner.baseline, edits)?;
        inner.start_over();
        Ok(())
    }

    fn reset(&self) {
        self.lock().start_over();
    }

    fn begin(&self, seed: u64, extra: Extra, faults: Vec<Fault>) {
        let mut inner = self.lock();
        inner.baseline = F::state(seed, extra);
        inner.faults = fresh(faults);
        inner.start_over();
    }

    fn count(&self) -> usize {
        self.lock().log.len()
    }
}

fn full<F: Fixture>(template: &str) -> String {
    format!("{}{template}", F::BASE)
}

fn sent_status(fault: &Fault, handler: u16) -> u16 {
    match fault.action {
        Action::Respond { status, .. } => status,
        Action::RateLimit { .. } => 429,
        Action::Delay { .. } | Action::Truncate { .. } | Action::Mutate { .. } => handler,
        Action::Stall { .. } | Action::Reset => 0,
    }
}

fn cuts(fault: &Fault) -> bool {
    matches!(fault.action, Action::Truncate { .. })
}

/// How much of an answer's body goes out after a fault.
fn sent_bytes(fault: Option<&Fault>, whole: usize) -> u64 {
    let sent = match fault.map(|fault| &fault.action) {
        None | Some(Action::Delay { .. } | Action::Mutate { .. }) => whole,
        Some(Action::Truncate { bytes, .. }) => whole.min(*bytes),
        Some(Action::Respond { body, .. }) => body.len(),
        Some(Action::Stall { .. } | Action::Reset | Action::RateLimit { .. }) => 0,
    };
    sent as u64
}

/// Reads are sent to the spelling with a slash; a redirected write would lose its body.
fn add_slash(request: &Request, not_found: &str) -> Reply {
    if request.method != Method::GET && request.method != Method::HEAD {
        return Reply::detail(404, not_found);
    }
    let query = if request.query.is_empty() { "" } else { "?" };
    let location = format!("{}/{query}{}", request.path, request.query);
    Reply::empty(301).header("location", &location)
}
