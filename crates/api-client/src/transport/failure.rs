//! From the HTTP client's error chain to a kind that a person understands.

use std::error::Error as StdError;
use std::io;

use super::reach::Unresolved;
use super::tls::Untrusted;
use crate::error::{ErrorKind, Progress};

/// Sorts a failure. `proxy` is the `host:port` of the proxy that was used, if any.
pub(super) fn classify(error: &reqwest::Error, proxy: Option<&str>) -> (Progress, ErrorKind) {
    if error.is_builder() {
        return (Progress::NotSent, ErrorKind::Request { why: "it is malformed".to_owned() });
    }
    let causes = causes(error);
    let kind = causes.iter().find_map(|cause| kind(*cause));
    // A request that was still waiting for its turn when the connection died.
    let canceled = |cause: &&(dyn StdError + 'static)| {
        cause.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_canceled)
    };
    if causes.iter().any(canceled) {
        return (Progress::NotSent, kind.unwrap_or(ErrorKind::Incomplete));
    }
    if !error.is_connect() {
        let kind = match kind {
            Some(kind) => kind,
            None if error.is_decode() => {
                ErrorKind::Decode { why: "its compression is broken".to_owned() }
            }
            None if error.is_timeout() => ErrorKind::Timeout,
            // HTTP/2 resets and the like.
            None if error.is_request() || error.is_body() => ErrorKind::Incomplete,
            None => ErrorKind::Other,
        };
        return (Progress::Sent, kind);
    }
    let kind = match kind {
        Some(ErrorKind::Timeout) => ErrorKind::ConnectTimeout,
        Some(kind) => kind,
        None if error.is_timeout() => ErrorKind::ConnectTimeout,
        None => ErrorKind::Other,
    };
    (Progress::NotSent, proxy.map_or(kind.clone(), |proxy| blame(proxy, kind, &causes)))
}

/// Decides whether a failure to connect is the proxy's: all but TLS with the host behind it.
fn blame(proxy: &str, kind: ErrorKind, causes: &[&(dyn StdError + 'static)]) -> ErrorKind {
    let refusal = || {
        let told = causes.iter().map(ToString::to_string);
        let mut told =
            told.filter(|text| text.starts_with("tunnel error") || text.starts_with("SOCKS"));
        told.next_back().unwrap_or_else(|| "it does not pass the connection on".to_owned())
    };
    let why = match &kind {
        ErrorKind::Tls { .. } => return kind,
        ErrorKind::Dns => "its host is unknown (DNS)".to_owned(),
        ErrorKind::Refused => "nothing listens there".to_owned(),
        ErrorKind::Unreachable => "there is no route to it".to_owned(),
        ErrorKind::ConnectTimeout => "no connection came about in time".to_owned(),
        _ => refusal(),
    };
    ErrorKind::Proxy { proxy: proxy.to_owned(), why }
}

/// All errors of a chain. An `io::Error` hides the one it wraps from `source`.
fn causes(error: &reqwest::Error) -> Vec<&(dyn StdError + 'static)> {
    let mut causes: Vec<&(dyn StdError + 'static)> = Vec::new();
    let mut next: Option<&(dyn StdError + 'static)> = error.source();
    while let Some(cause) = next {
        causes.push(cause);
        let wrapped = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        next = match wrapped {
            Some(inner) => Some(inner),
            None => cause.source(),
        };
    }
    causes
}

fn kind(cause: &(dyn StdError + 'static)) -> Option<ErrorKind> {
    if let Some(unresolved) = cause.downcast_ref::<Unresolved>() {
        return Some(if unresolved.is_inner() { ErrorKind::Inner } else { ErrorKind::Dns });
    }
    if let Some(error) = cause.downcast_ref::<rustls::Error>() {
        return Some(ErrorKind::Tls { why: tls(error) });
    }
    if let Some(error) = cause.downcast_ref::<hyper::Error>() {
        return match error {
            _ if error.is_parse() => Some(ErrorKind::NotHttp),
            _ if error.is_incomplete_message() => Some(ErrorKind::Incomplete),
            _ => None,
        };
    }
    match cause.downcast_ref::<io::Error>()?.kind() {
        io::ErrorKind::ConnectionRefused => Some(ErrorKind::Refused),
        io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable => {
            Some(ErrorKind::Unreachable)
        }
        io::ErrorKind::TimedOut => Some(ErrorKind::Timeout),
        io::ErrorKind::ConnectionReset
        | io::ErrorKind::ConnectionAborted
        | io::ErrorKind::BrokenPipe
        | io::ErrorKind::NotConnected
        | io::ErrorKind::UnexpectedEof => Some(ErrorKind::Incomplete),
        _ => None,
    }
}

fn tls(error: &rustls::Error) -> String {
    match error {
        rustls::Error::InvalidMessage(_) => {
            "what answers there speaks no TLS; perhaps it is plain `http://`".to_owned()
        }
        rustls::Error::InvalidCertificate(rustls::CertificateError::Other(other)) => {
            match other.0.downcast_ref::<Untrusted>() {
                Some(untrusted) => untrusted.to_string(),
                None => error.to_string(),
            }
        }
        rustls::Error::AlertReceived(alert) => {
            format!(
                "the server refused the handshake ({alert:?}); it may want a client certificate"
            )
        }
        other => other.to_string(),
    }
}
