//! Spans of requests, as OpenTelemetry understands them: a request, its tool calls, the requests to the
//! API. Without a collector there are none.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use http::HeaderMap;
use serde_json::Value;

/// Requests to the API that are waited for at once, at most.
const MAX_OPEN: usize = 64;

/// Takes spans that are over.
pub(crate) trait Spans: Send + Sync + fmt::Debug {
    fn record(&self, span: Span);
}

/// Something that took time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Span {
    pub(crate) trace: [u8; 16],
    pub(crate) id: [u8; 8],
    pub(crate) parent: Option<[u8; 8]>,
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) started: SystemTime,
    pub(crate) ended: SystemTime,
    pub(crate) failed: bool,
    pub(crate) attributes: Vec<(&'static str, Value)>,
}

/// Which side of what a span is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Internal = 1,
    Server = 2,
    Client = 3,
}

/// The trace that one request is part of.
#[derive(Debug)]
pub(crate) struct Trace {
    spans: Arc<dyn Spans>,
    trace: [u8; 16],
    id: [u8; 8],
    parent: Option<[u8; 8]>,
    started: SystemTime,
    /// Requests to the API that wait for an answer.
    open: Mutex<Vec<(String, SystemTime)>>,
}

impl Trace {
    /// Goes on with the client's trace, or begins one; none where the client's is not recorded.
    pub(crate) fn begin(spans: Option<&Arc<dyn Spans>>, headers: &HeaderMap) -> Option<Self> {
        let spans = Arc::clone(spans?);
        let given = headers.get("traceparent").and_then(|it| it.to_str().ok()).and_then(parse);
        let (trace, parent) = match given {
            Some((_, _, false)) => return None,
            Some((trace, parent, true)) => (trace, Some(parent)),
            None => (random()?, None),
        };
        let (id, started) = (random()?, SystemTime::now());
        Some(Self { spans, trace, id, parent, started, open: Mutex::default() })
    }

    /// The request is over.
    pub(crate) fn end(&self, name: String, failed: bool, attributes: Vec<(&'static str, Value)>) {
        self.spans.record(Span {
            trace: self.trace,
            id: self.id,
            parent: self.parent,
            name,
            kind: Kind::Server,
            started: self.started,
            ended: SystemTime::now(),
            failed,
            attributes,
        });
    }

    /// A tool call is over.
    pub(crate) fn called(
        &self,
        tool: &str,
        took: Duration,
        failed: bool,
        attributes: Vec<(&'static str, Value)>,
    ) {
        let started = SystemTime::now().checked_sub(took).unwrap_or(self.started);
        self.child(format!("tools/call {tool}"), Kind::Internal, started, failed, attributes);
    }

    /// A request to the API begins.
    pub(crate) fn sending(&self, operation: &str) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.len() < MAX_OPEN {
            open.push((operation.to_owned(), SystemTime::now()));
        }
    }

    /// A request to the API is over.
    pub(crate) fn sent(
        &self,
        operation: String,
        failed: bool,
        attributes: Vec<(&'static str, Value)>,
    ) {
        let started = {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            let at = open.iter().position(|(name, _)| *name == operation);
            at.map(|at| open.remove(at).1)
        };
        if let Some(started) = started {
            self.child(operation, Kind::Client, started, failed, attributes);
        }
    }

    fn child(
        &self,
        name: String,
        kind: Kind,
        started: SystemTime,
        failed: bool,
        attributes: Vec<(&'static str, Value)>,
    ) {
        let Some(id) = random() else { return };
        let (trace, parent, ended) = (self.trace, Some(self.id), SystemTime::now());
        self.spans.record(Span {
            trace,
            id,
            parent,
            name,
            kind,
            started,
            ended,
            failed,
            attributes,
        });
    }
}

fn random<const N: usize>() -> Option<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).ok()?;
    Some(bytes)
}

/// Reads W3C's `traceparent`: trace, span, and whether it is recorded.
fn parse(text: &str) -> Option<([u8; 16], [u8; 8], bool)> {
    let mut parts = text.trim().split('-');
    let (version, trace, span, flags) =
        (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let ([version], trace, span, [flags]) =
        (bytes::<1>(version)?, bytes::<16>(trace)?, bytes::<8>(span)?, bytes::<1>(flags)?);
    let is_longer = parts.next().is_some();
    let is_valid =
        version != 0xff && (version > 0 || !is_longer) && trace != [0; 16] && span != [0; 8];
    is_valid.then_some((trace, span, flags & 1 == 1))
}

fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    let is_lower = text.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'));
    if text.len() != 2 * N || !is_lower {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clients_trace_is_read_and_nonsense_is_none() {
        let good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let (trace, span, recorded) = parse(good).unwrap();
        assert_eq!((trace[0], span[7], recorded), (0x4b, 0xb7, true));
        let silent = good.replace("-01", "-00");
        assert!(parse(&silent).is_some_and(|(.., recorded)| !recorded));
        assert!(parse(&good.replacen("00", "01", 1).replace("-01", "-01-more")).is_some());
        for bad in [
            "",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "00-4bf9-00f067aa0ba902b7-01",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
