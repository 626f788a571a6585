//! One request from its head to the last byte of its answer: what logs and figures say of it.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    task::{Context as TaskContext, Poll},
    time::Instant,
};

use api_client::transport::{Effect, Outgoing, Witness};
use axum::{body::Body, response::Response};
use bytes::Bytes;
use http::{HeaderName, HeaderValue};
use http_body::{Frame, SizeHint};
use mcp_core::observer::{Called, Observer, Outcome};
use serde_json::json;

use crate::{
    audit::{Audit, Record},
    limits::Place,
    metrics::Metrics,
    routes::ENDPOINT,
    telemetry::span::Trace,
};

/// One request.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) id: String,
    started: Instant,
    metrics: Arc<Metrics>,
    audit: Option<Arc<Audit>>,
    trace: Option<Trace>,
    facts: Mutex<Facts>,
    /// Requests to the API since the last call was over.
    upstream: AtomicU32,
}

#[derive(Debug, Clone, Default)]
struct Facts {
    caller: String,
    name: String,
    method: String,
    status: u16,
    /// What a person has confirmed and the present call sends.
    plan: Option<String>,
}

impl Exchange {
    pub(crate) fn begin(
        metrics: &Arc<Metrics>,
        audit: Option<&Arc<Audit>>,
        trace: Option<Trace>,
    ) -> Arc<Self> {
        Arc::new(Self {
            id: mcp_core::code_mode::confirm::random_token().unwrap_or_default(),
            started: Instant::now(),
            metrics: Arc::clone(metrics),
            audit: audit.cloned(),
            trace,
            facts: Mutex::default(),
            upstream: AtomicU32::new(0),
        })
    }

    pub(crate) fn is_from(&self, caller: &str, name: &str) {
        let mut facts = self.facts();
        caller.clone_into(&mut facts.caller);
        name.clone_into(&mut facts.name);
    }

    pub(crate) fn asks_for(&self, method: &str) {
        // A client's own text.
        self.facts().method = method.chars().filter(|it| !it.is_control()).take(60).collect();
    }

    /// Marks the answer with the request's id, and says what came of it when it is all sent.
    pub(crate) fn finish(self: Arc<Self>, response: Response, place: Option<Place>) -> Response {
        self.facts().status = response.status().as_u16();
        let id = HeaderValue::from_str(&self.id).ok();
        let ending = Ending { exchange: self, _place: place };
        let (mut parts, body) = response.into_parts();
        parts.headers.extend(id.map(|id| (HeaderName::from_static("x-request-id"), id)));
        Response::from_parts(parts, Body::new(Watched { body, _ending: ending }))
    }

    fn facts(&self) -> std::sync::MutexGuard<'_, Facts> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a line about a write into the record, where one is kept.
    fn record(&self, event: &str, sent: &Outgoing<'_>, outcome: Option<&str>) -> io::Result<()> {
        let (Some(audit), Effect::Write) = (&self.audit, sent.effect) else { return Ok(()) };
        let facts = self.facts().clone();
        audit.append(&Record {
            event,
            request: &self.id,
            caller: &facts.caller,
            name: &facts.name,
            host: sent.url.host_str().unwrap_or_default(),
            operation: &operation(sent),
            path: sent.url.path(),
            plan: facts.plan.as_deref(),
            outcome,
        })
    }
}

impl Observer for Exchange {
    fn called(&self, call: &Called<'_>) {
        let facts = {
            let mut facts = self.facts();
            // In a session the next call is another matter.
            facts.plan = None;
            facts.clone()
        };
        // A name that is none is the client's own text.
        let tool = if call.outcome == Outcome::Unknown { "unknown" } else { call.tool };
        let (outcome, ms) = (call.outcome.id(), call.took.as_millis() as u64);
        let upstream = self.upstream.swap(0, Ordering::Relaxed);
        self.metrics.called(tool, outcome, call.took);
        if let Some(trace) = &self.trace {
            let facts = vec![
                ("gen_ai.tool.name", json!(tool)),
                ("mcp.outcome", json!(outcome)),
                ("mcp.upstream_requests", json!(upstream)),
            ];
            trace.called(tool, call.took, call.outcome != Outcome::Done, facts);
        }
        tracing::info!(
            request = self.id,
            caller = facts.caller,
            name = facts.name,
            tool,
            outcome,
            ms,
            upstream,
            "call"
        );
    }

    fn confirmed(&self, plan: &str) {
        let facts = {
            let mut facts = self.facts();
            facts.plan = Some(plan.to_owned());
            facts.clone()
        };
        tracing::info!(
            request = self.id,
            caller = facts.caller,
            name = facts.name,
            plan,
            "confirmed"
        );
    }
}

impl Witness for Exchange {
    fn about_to_send(&self, outgoing: &Outgoing<'_>) -> Result<(), String> {
        self.upstream.fetch_add(1, Ordering::Relaxed);
        if let Some(trace) = &self.trace {
            trace.sending(&operation(outgoing));
        }
        self.record("sending", outgoing, None).map_err(|error| {
            tracing::error!(%error, "the audit log cannot be written");
            "writes are recorded, and the record cannot be written".to_owned()
        })
    }

    fn answered(&self, outgoing: &Outgoing<'_>, status: Option<u16>, sent: bool) {
        self.metrics.sent(outgoing.effect, status);
        if let Some(trace) = &self.trace {
            let mut facts = vec![
                ("http.request.method", json!(outgoing.method.as_str())),
                ("url.template", json!(outgoing.template)),
                ("server.address", json!(outgoing.url.host_str())),
            ];
            facts.extend(status.map(|it| ("http.response.status_code", json!(it))));
            let failed = status.is_none_or(|it| it >= 400);
            trace.sent(operation(outgoing), failed, facts);
        }
        let outcome = match status {
            Some(status) => status.to_string(),
            None if sent => "unknown".to_owned(),
            None => "not sent".to_owned(),
        };
        if let Err(error) = self.record("sent", outgoing, Some(&outcome)) {
            tracing::error!(%error, "the audit log cannot be written");
        }
    }
}

/// Method and path template: what is asked for, without what it is asked about.
fn operation(outgoing: &Outgoing<'_>) -> String {
    format!("{} {}", outgoing.method, outgoing.template)
}

/// Says what came of a request when its answer is sent, or when nobody wants it any more.
struct Ending {
    exchange: Arc<Exchange>,
    _place: Option<Place>,
}

impl Drop for Ending {
    fn drop(&mut self) {
        let exchange = &self.exchange;
        let facts = exchange.facts().clone();
        let took = exchange.started.elapsed();
        exchange.metrics.answered(facts.status);
        if let Some(trace) = &exchange.trace {
            let shown = vec![
                ("http.route", json!(ENDPOINT)),
                ("http.response.status_code", json!(facts.status)),
                ("mcp.method.name", json!(facts.method)),
                ("mcp.caller", json!(facts.caller)),
                ("mcp.request", json!(exchange.id)),
            ];
            trace.end(facts.method.clone(), facts.status >= 500, shown);
        }
        tracing::info!(
            request = exchange.id,
            caller = facts.caller,
            name = facts.name,
            method = facts.method,
            status = facts.status,
            ms = took.as_millis() as u64,
            "request"
        );
    }
}

/// An answer on its way.
struct Watched {
    body: Body,
    _ending: Ending,
}

impl http_body::Body for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut TaskContext<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
