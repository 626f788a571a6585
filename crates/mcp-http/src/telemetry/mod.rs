//! What leaves this process for its operators: traces for a collector (feature `otel`) and reports of
//! errors for Sentry (feature `sentry`). Neither holds an argument, a result or a secret.

#[cfg(feature = "otel")]
mod otlp;
#[cfg(any(feature = "otel", feature = "sentry"))]
mod outbox;
#[cfg(feature = "sentry")]
mod reports;
#[cfg_attr(not(feature = "otel"), allow(dead_code, reason = "nobody makes spans then"))]
pub(crate) mod span;

use std::sync::Arc;

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use self::span::Spans;
use server_config::given::{Environment, Given, SetupError};

use crate::options::ServerOptions;

/// The variables that OpenTelemetry's own specification names.
const OTLP_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
#[cfg(feature = "otel")]
const OTLP_HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";
/// The variable that Sentry's own clients read.
const DSN: &str = "SENTRY_DSN";

/// Everything that is sent, waiting for somebody to send it.
#[derive(Default)]
pub(crate) struct Telemetry {
    #[cfg(feature = "otel")]
    traces: Option<(otlp::Traces, outbox::Mail<span::Span>, otlp::Collector)>,
    #[cfg(feature = "sentry")]
    reports: Option<(reports::Reports, outbox::Mail<reports::Report>, reports::Project)>,
}

impl Telemetry {
    /// Settles what options and variables say.
    ///
    /// # Errors
    /// An address that cannot be meant, or one for something that is not built in.
    pub(crate) fn resolve(
        options: &ServerOptions,
        env: Environment<'_>,
    ) -> Result<Self, SetupError> {
        let endpoint = match Given::option("otlp-endpoint", options.otlp_endpoint.as_ref(), env)? {
            None => Given::variable(OTLP_ENDPOINT, env)?,
            given => given,
        };
        let dsn = match Given::option("sentry-dsn", options.sentry_dsn.as_ref(), env)? {
            None => Given::variable(DSN, env)?,
            given => given,
        };
        #[cfg(not(feature = "otel"))]
        not_built(endpoint.as_ref(), "otel")?;
        #[cfg(not(feature = "sentry"))]
        not_built(dsn.as_ref(), "sentry")?;
        Ok(Self {
            #[cfg(feature = "otel")]
            traces: match endpoint {
                Some(endpoint) => {
                    let headers = Given::variable(OTLP_HEADERS, env)?;
                    let (traces, mail) = otlp::Traces::new();
                    Some((traces, mail, otlp::Collector::parse(&endpoint, headers.as_ref())?))
                }
                None => None,
            },
            #[cfg(feature = "sentry")]
            reports: match dsn {
                Some(dsn) => {
                    let (reports, mail) = reports::Reports::new();
                    Some((reports, mail, reports::Project::parse(&dsn)?))
                }
                None => None,
            },
        })
    }

    /// Who takes the spans of requests.
    pub(crate) fn spans(&self) -> Option<Arc<dyn Spans>> {
        #[cfg(feature = "otel")]
        return self.traces.as_ref().map(|(traces, ..)| Arc::new(traces.clone()) as _);
        #[cfg(not(feature = "otel"))]
        None
    }

    /// The part of the log's machinery that reports errors.
    #[cfg(feature = "sentry")]
    pub(crate) fn layer(&self) -> Option<reports::Reports> {
        self.reports.as_ref().map(|(reports, ..)| reports.clone())
    }

    /// The part of the log's machinery that reports errors: none is built in.
    #[cfg(not(feature = "sentry"))]
    pub(crate) fn layer(&self) -> Option<tracing_subscriber::layer::Identity> {
        None
    }

    /// Sends what comes, until `end` is cancelled and the rest is sent too.
    ///
    /// # Errors
    /// Certificate authorities that cannot be used.
    pub(crate) fn start(
        self,
        extra_ca: &[String],
        end: &CancellationToken,
    ) -> Result<JoinSet<()>, SetupError> {
        #[allow(unused_mut, reason = "without both features nobody is there to send")]
        let mut senders = JoinSet::new();
        #[cfg(feature = "otel")]
        if let Some((_, mail, collector)) = self.traces {
            senders.spawn(collector.serve(mail, extra_ca, end.clone())?);
        }
        #[cfg(feature = "sentry")]
        if let Some((_, mail, project)) = self.reports {
            senders.spawn(project.serve(mail, extra_ca, end.clone())?);
        }
        #[cfg(not(any(feature = "otel", feature = "sentry")))]
        let _ = (extra_ca, end);
        Ok(senders)
    }
}

/// Refuses a setting of a part that was left out of this program.
#[cfg(not(all(feature = "otel", feature = "sentry")))]
fn not_built(given: Option<&Given>, feature: &str) -> Result<(), SetupError> {
    match given {
        None => Ok(()),
        Some(given) => Err(SetupError::new(
            format!("{} needs a part that is not built into this program", given.from),
            format!("build it with `--features {feature}`, or leave the setting out"),
        )),
    }
}
