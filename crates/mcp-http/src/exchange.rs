//! One request from its head to the last byte of its answer: what logs and figures say of it.

use std::{
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

use crate::{
    audit::{Audit, Record},
    limits::Place,
    metrics::Metrics,
};

/// One request.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) id: String,
    started: Instant,
    metrics: Arc<Metrics>,
    audit: Option<Arc<Audit>>,
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
}

impl Exchange {
    pub(crate) fn begin(metrics: &Arc<Metrics>, audit: Option<&Arc<Audit>>) -> Arc<Self> {
        Arc::new(Self {
            id: mcp_core::code_mode::confirm::random_token().unwrap_or_default(),
            started: Instant::now(),
            metrics: Arc::clone(metrics),
            audit: audit.cloned(),
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

    fn record<'a>(
        &'a self,
        event: &'a str,
        facts: &'a Facts,
        sent: &'a Outgoing<'a>,
    ) -> Record<'a> {
        Record {
            event,
            request: &self.id,
            caller: &facts.caller,
            name: &facts.name,
            host: sent.url.host_str().unwrap_or_default(),
            method: sent.method.as_str(),
            path: sent.url.path(),
            outcome: None,
        }
    }
}

impl Observer for Exchange {
    fn called(&self, call: &Called<'_>) {
        let facts = self.facts().clone();
        // A name that is none is the client's own text.
        let tool = if call.outcome == Outcome::Unknown { "unknown" } else { call.tool };
        let (outcome, ms) = (call.outcome.id(), call.took.as_millis() as u64);
        let upstream = self.upstream.swap(0, Ordering::Relaxed);
        self.metrics.called(tool, outcome, call.took);
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
}

impl Witness for Exchange {
    fn about_to_send(&self, outgoing: &Outgoing<'_>) -> Result<(), String> {
        self.upstream.fetch_add(1, Ordering::Relaxed);
        if let (Some(audit), Effect::Write) = (&self.audit, outgoing.effect) {
            let facts = self.facts().clone();
            audit.append(&self.record("sending", &facts, outgoing)).map_err(|error| {
                tracing::error!(%error, "the audit log cannot be written");
                "writes are recorded, and the record cannot be written".to_owned()
            })?;
        }
        Ok(())
    }

    fn answered(&self, outgoing: &Outgoing<'_>, status: Option<u16>, sent: bool) {
        self.metrics.sent(outgoing.effect, status);
        if let (Some(audit), Effect::Write) = (&self.audit, outgoing.effect) {
            let facts = self.facts().clone();
            let outcome = match status {
                Some(status) => status.to_string(),
                None if sent => "unknown".to_owned(),
                None => "not sent".to_owned(),
            };
            let record = self.record("sent", &facts, outgoing);
            if let Err(error) = audit.append(&Record { outcome: Some(&outcome), ..record }) {
                tracing::error!(%error, "the audit log cannot be written");
            }
        }
    }
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
