//! What can go wrong between a request and its response, said so that a person can act on it.

use std::fmt;
use std::time::Duration;

/// A setting that cannot work. Found before anything is sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}; {hint}")]
pub struct ConfigError {
    message: String,
    hint: String,
}

impl ConfigError {
    /// Says what is wrong, naming the setting, and what to do about it.
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into() }
    }

    /// What is wrong.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> &str {
        &self.hint
    }
}

/// A request that got no usable response. Names the route's template, never values or credentials.
#[derive(Debug)]
pub struct Error(Box<Failure>);

#[derive(Debug)]
struct Failure {
    route: String,
    /// `host:port`.
    place: String,
    progress: Progress,
    kind: ErrorKind,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// How far a request came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Nothing of it left this machine.
    NotSent,
    /// It may have arrived, but no answer came.
    Sent,
    /// It was answered with this status.
    Answered(u16),
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrorKind {
    /// The host name cannot be resolved.
    Dns,
    /// A redirect leads to a host name that has no public address.
    Inner,
    /// Nothing listens on the port.
    Refused,
    /// There is no way to the host.
    Unreachable,
    /// No secure connection came about.
    Tls {
        /// The cause, with the issuer of an untrusted certificate.
        why: String,
    },
    /// The proxy in between failed.
    Proxy {
        /// The proxy's `host:port`.
        proxy: String,
        /// The cause.
        why: String,
    },
    /// The connection did not come about in time.
    ConnectTimeout,
    /// The response did not come, or not to its end, in time.
    Timeout,
    /// The connection was closed before the response was complete.
    Incomplete,
    /// The response is larger than allowed, in bytes.
    TooLarge {
        /// The most that is accepted.
        limit: u64,
        /// The size, where the server told it.
        size: Option<u64>,
    },
    /// A redirect that is not followed.
    Redirect {
        /// The status of the redirect.
        status: u16,
        /// Where it leads: an origin, or the words "the same server".
        target: String,
        /// Why it is not followed.
        why: String,
    },
    /// What answered does not speak HTTP.
    NotHttp,
    /// The response cannot be decoded.
    Decode {
        /// What was expected.
        why: String,
    },
    /// Status 429.
    RateLimited {
        /// How long the server wants to be left alone.
        retry_after: Option<Duration>,
    },
    /// Another status that is no success.
    Status(u16),
    /// The credential cannot be used.
    Credential(ConfigError),
    /// The request cannot be sent as it is.
    Request {
        /// What is wrong with it.
        why: String,
    },
    /// Anything else.
    Other,
}

impl Error {
    pub(crate) fn new(
        route: impl Into<String>,
        place: impl Into<String>,
        progress: Progress,
        kind: ErrorKind,
    ) -> Self {
        let (route, place) = (route.into(), place.into());
        Self(Box::new(Failure { route, place, progress, kind, source: None }))
    }

    pub(crate) fn with_source(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// The method and template of the route, as in `GET /users/{id}`.
    #[must_use]
    pub fn route(&self) -> &str {
        &self.0.route
    }

    /// The `host:port` the request went to.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.0.place
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// How far the request came.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.0.progress
    }

    /// Whether a write may or may not have happened: it was sent and not answered, or answered by
    /// a redirect that servers use both for "done" and for "elsewhere".
    #[must_use]
    pub fn is_outcome_unknown(&self) -> bool {
        match self.0.progress {
            Progress::NotSent => false,
            Progress::Sent => true,
            Progress::Answered(status) => matches!(status, 301..=303),
        }
    }

    /// Whether trying a read again can help: the connection failed, not the request.
    pub(crate) fn is_connection_failure(&self) -> bool {
        matches!(
            self.0.kind,
            ErrorKind::Refused
                | ErrorKind::Unreachable
                | ErrorKind::ConnectTimeout
                | ErrorKind::Incomplete
        )
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failure { route, place, kind, progress, .. } = &*self.0;
        write!(f, "`{route}`: ")?;
        match kind {
            ErrorKind::Dns => write!(
                f,
                "the host of `{place}` is unknown (DNS); check the name, the network and the VPN"
            ),
            ErrorKind::Inner => write!(
                f,
                "a redirect leads to `{place}`, which has no public address: it is not followed \
                 into an inner network"
            ),
            ErrorKind::Refused => write!(
                f,
                "connection refused by `{place}`; nothing listens there: check host and port"
            ),
            ErrorKind::Unreachable => {
                write!(f, "no route to `{place}`; check the network and the VPN")
            }
            ErrorKind::Tls { why } => write!(f, "no secure connection (TLS) to `{place}`: {why}"),
            ErrorKind::Proxy { proxy, why } => {
                write!(f, "`{place}` cannot be reached through the proxy `{proxy}`: {why}")
            }
            ErrorKind::ConnectTimeout => {
                write!(f, "no connection to `{place}` in time; a firewall or VPN may be in between")
            }
            ErrorKind::Timeout => write!(f, "no complete answer from `{place}` in time"),
            ErrorKind::Incomplete => {
                write!(f, "`{place}` closed the connection before the answer was complete")
            }
            ErrorKind::TooLarge { limit, size } => {
                match size {
                    Some(size) => write!(f, "the response has {size} bytes")?,
                    None => f.write_str("the response is larger")?,
                }
                write!(f, ", the limit is {limit}; ask for less: a page, a filter, fewer fields")
            }
            ErrorKind::Redirect { status, target, why } => {
                write!(f, "redirect ({status}) to {target} not followed: {why}")
            }
            ErrorKind::NotHttp => write!(
                f,
                "what answers on `{place}` does not speak plain HTTP; perhaps it wants `https://`"
            ),
            ErrorKind::Decode { why } => write!(f, "the response cannot be read: {why}"),
            ErrorKind::RateLimited { retry_after: Some(wait) }
                if *progress == Progress::NotSent =>
            {
                let seconds = wait.as_secs_f64().ceil();
                write!(f, "not sent, as `{place}` limits the rate; try again in {seconds} s")
            }
            ErrorKind::RateLimited { retry_after: Some(wait) } => write!(
                f,
                "`{place}` limits the rate (429); try again in {} s",
                wait.as_secs().max(1)
            ),
            ErrorKind::RateLimited { retry_after: None } => {
                write!(f, "`{place}` limits the rate (429); try again later")
            }
            ErrorKind::Status(status) => write!(f, "`{place}` answered {status}"),
            ErrorKind::Credential(error) => write!(f, "the credential cannot be used: {error}"),
            ErrorKind::Request { why } => write!(f, "the request cannot be sent: {why}"),
            ErrorKind::Other => write!(f, "the request to `{place}` failed"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|it| it as _)
    }
}
