//! One request is one transaction: routed, checked, run under the lock, logged with its changes.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::http::Method;
use serde_json::Value;

use crate::World;
use crate::fault::{Action, Fault, Phase};
use crate::http::{Call, Reply, Request};
use crate::log::{self, Entry};
use crate::route::{self, Found, Handler, Route};
use crate::table::Tables;
use crate::time::Timestamp;

/// An API: its state, its routes and the few things all its answers share.
pub(crate) trait Fixture: fmt::Debug + Sized + Send + 'static {
    type State: State;

    /// Prefix of every route, without a trailing slash.
    const BASE: &'static str;
    /// The `detail` of an unknown path.
    const NOT_FOUND: &'static str;

    fn default_token(seed: u64) -> String;
    fn state(seed: u64) -> Self::State;
    fn routes() -> Vec<Route<Self::State>>;
    /// The answer to a request that does not carry the token.
    fn refuse(request: &Request, token: &str) -> Option<Reply>;
}

/// What a mock remembers: tables, and whatever else is no part of the exported state.
pub(crate) trait State: Clone + fmt::Debug + Send {
    fn tables(&self) -> Tables<'_>;
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
    fn state(&self) -> Value;
    fn reset(&self);
}

#[derive(Debug)]
pub(crate) struct Engine<F: Fixture> {
    routes: Vec<Route<F::State>>,
    faults: Vec<Fault>,
    seed: u64,
    token: String,
    origin: String,
    inner: Mutex<Inner<F::State>>,
}

#[derive(Debug)]
struct Inner<S> {
    state: S,
    log: Vec<Entry>,
    /// Moves the clock: it stands still between writes.
    commits: i64,
    /// Per fault, the matching requests so far.
    seen: Vec<u32>,
}

impl<F: Fixture> Engine<F> {
    pub(crate) fn new(world: World, token: String, origin: String) -> Self {
        let inner = Mutex::new(Inner {
            state: F::state(world.seed),
            log: Vec::new(),
            commits: 0,
            seen: vec![0; world.faults.len()],
        });
        let (routes, faults, seed) = (F::routes(), world.faults, world.seed);
        Self { routes, faults, seed, token, origin, inner }
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

    /// Counts the request against the faults of this phase and returns the one whose turn it is.
    fn due(&self, inner: &mut Inner<F::State>, request: &Request, phase: Phase) -> Option<Fault> {
        let Found::Route { route, .. } = self.find(request) else { return None };
        let template = full::<F>(route.template);
        let mut due = None;
        for (fault, seen) in self.faults.iter().zip(&mut inner.seen) {
            let same = fault.phase == phase
                && fault.method.eq_ignore_ascii_case(request.method.as_str())
                && route::same_template(&fault.route, &template);
            if same {
                *seen += 1;
                if fault.nth.is_none_or(|nth| nth == *seen) && due.is_none() {
                    due = Some(fault.clone());
                }
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
                let now = Timestamp::START.plus_seconds(inner.commits);
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

impl<S: State> Inner<S> {
    /// A handler that answers with an error leaves no trace, as in a database transaction.
    fn call(&mut self, route: &Route<S>, call: &Call<'_>, entry: &mut Entry) -> Reply {
        match route.handler {
            Handler::Read(read) => read(&self.state, call).unwrap_or_else(|reply| reply),
            Handler::Write(write) => {
                let mut next = self.state.clone();
                let reply = write(&mut next, call).unwrap_or_else(|reply| reply);
                if !reply.failed() {
                    entry.diff = log::diff(&self.state.tables(), &next.tables());
                    entry.wrote = !entry.diff.is_empty();
                    self.commits += i64::from(entry.wrote);
                    self.state = next;
                }
                reply
            }
        }
    }

    fn record(&mut self, mut entry: Entry) {
        entry.seq = self.log.len() as u64 + 1;
        self.log.push(entry);
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
        let mut entry = Entry::of(request);
        if let Found::Route { route, .. } = self.find(request) {
            entry.route = Some(full::<F>(route.template));
        }
        entry.status = sent_status(fault, 0);
        entry.fault = Some(fault.id.clone());
        self.lock().record(entry);
    }

    fn run(&self, request: &Request, before: Option<&Fault>) -> (Reply, Option<Fault>) {
        let mut inner = self.lock();
        let mut entry = Entry::of(request);
        let reply = self.dispatch(&mut inner, request, &mut entry);
        let committed = entry.handler_status.is_some() && !reply.failed();
        let after =
            if committed { self.due(&mut inner, request, Phase::AfterCommit) } else { None };
        entry.status =
            after.as_ref().map_or(reply.status, |fault| sent_status(fault, reply.status));
        entry.unimplemented = reply.unimplemented;
        if after.as_ref().is_none_or(|fault| matches!(fault.action, Action::Delay { .. })) {
            entry.deliver(&reply.body);
        }
        entry.fault = after.as_ref().or(before).map(|fault| fault.id.clone());
        inner.record(entry);
        (reply, after)
    }

    fn log(&self) -> Vec<Entry> {
        self.lock().log.clone()
    }

    fn state(&self) -> Value {
        let inner = self.lock();
        let tables = inner.state.tables();
        tables.iter().map(|(name, table)| (*name, table.export())).collect()
    }

    fn reset(&self) {
        let mut inner = self.lock();
        inner.state = F::state(self.seed);
        inner.log.clear();
        inner.commits = 0;
        inner.seen.fill(0);
    }
}

fn full<F: Fixture>(template: &str) -> String {
    format!("{}{template}", F::BASE)
}

fn sent_status(fault: &Fault, handler: u16) -> u16 {
    match fault.action {
        Action::Respond { status, .. } => status,
        Action::Delay { .. } => handler,
        Action::Reset => 0,
    }
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
