//! The ways to a connection: the transport, the protocol's era, the callbacks.

use std::collections::HashMap;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use reqwest::{Url, redirect};
use rmcp::RoleClient;
use rmcp::model::ProtocolVersion;
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, RunningService,
};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{IntoTransport, StreamableHttpClientTransport, TokioChildProcess};
use tokio::process::Command;

use crate::client::{Client, Error, chain};
use crate::handler::{Answer, Elicitation, Handler, Progress};
use crate::output::Captured;

/// How to connect; the default suits a test.
#[derive(Debug, Clone)]
pub struct Options {
    protocol: Protocol,
    connect_timeout: Duration,
    inherit_stderr: bool,
    handler: Handler,
}

/// The era of the protocol to speak.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Protocol {
    /// The modern one where the server knows it, else the legacy one.
    #[default]
    Auto,
    /// Up to revision 2025-11-25: a session that begins with `initialize`.
    Legacy,
    /// From revision 2026-07-28: stateless requests.
    Modern,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            protocol: Protocol::default(),
            connect_timeout: Duration::from_secs(30),
            inherit_stderr: false,
            handler: Handler::default(),
        }
    }
}

impl Options {
    #[must_use]
    pub fn protocol(mut self, protocol: Protocol) -> Self {
        self.protocol = protocol;
        self
    }

    /// How long starting and greeting the server may take together; 30 s by default.
    #[must_use]
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Lets a server we start write to our own stderr instead of keeping what it writes.
    #[must_use]
    pub fn inherit_stderr(mut self) -> Self {
        self.inherit_stderr = true;
        self
    }

    /// Is told of every progress notification, whichever call it belongs to.
    #[must_use]
    pub fn on_progress(mut self, report: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        self.handler.on_progress = Some(Arc::new(report));
        self
    }

    /// Answers the server's questions, on a thread that may block. Without it elicitation is not
    /// offered to the server.
    #[must_use]
    pub fn on_elicitation(
        mut self,
        ask: impl Fn(Elicitation) -> Answer + Send + Sync + 'static,
    ) -> Self {
        self.handler.on_elicitation = Some(Arc::new(ask));
        self
    }

    /// Starts `command` and speaks with it over its standard streams.
    pub async fn stdio(self, command: impl Into<Command>) -> Result<Client, Error> {
        let command: Command = command.into();
        let program = command.as_std().get_program().to_string_lossy().into_owned();
        let stderr = if self.inherit_stderr { Stdio::inherit() } else { Stdio::piped() };
        let (transport, stderr) = TokioChildProcess::builder(command)
            .stderr(stderr)
            .spawn()
            .map_err(|error| Error::Connection(format!("cannot start `{program}`: {error}")))?;
        let mut stderr = stderr.map(Captured::read).unwrap_or_default();
        match self.greet(transport).await {
            Ok(service) => Ok(Client::new(service, stderr)),
            Err(reason) => {
                stderr.finish().await;
                Err(Error::Connection(match stderr.text().trim() {
                    "" => format!("`{program}` did not greet: {reason}"),
                    said => format!("`{program}` did not greet: {reason}; it wrote: {said}"),
                }))
            }
        }
    }

    /// Connects to an HTTP endpoint, sending `headers` with every request.
    pub async fn http(self, url: &str, headers: &[(&str, &str)]) -> Result<Client, Error> {
        let headers = header_map(headers)?;
        let config = StreamableHttpClientTransportConfig::with_uri(url).custom_headers(headers);
        let transport = StreamableHttpClientTransport::with_client(http_client(url)?, config);
        match self.greet(transport).await {
            Ok(service) => Ok(Client::new(service, Captured::default())),
            Err(reason) => Err(Error::Connection(format!("no answer from `{url}`: {reason}"))),
        }
    }

    async fn greet<T, E, A>(
        self,
        transport: T,
    ) -> Result<RunningService<RoleClient, Handler>, String>
    where
        T: IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let modern = vec![ProtocolVersion::V_2026_07_28];
        let lifecycle = match self.protocol {
            Protocol::Auto => {
                ClientLifecycleMode::Auto { preferred_versions: modern, legacy_version: None }
            }
            Protocol::Legacy => ClientLifecycleMode::Initialize,
            Protocol::Modern => ClientLifecycleMode::Discover { preferred_versions: modern },
        };
        let greeting = self.handler.serve_with_lifecycle(transport, lifecycle);
        match tokio::time::timeout(self.connect_timeout, greeting).await {
            Ok(greeted) => greeted.map_err(|error| describe(&error)),
            Err(_) => Err(format!("nothing came within {:?}", self.connect_timeout)),
        }
    }
}

fn describe(error: &ClientInitializeError) -> String {
    match error {
        _ if error.auth_challenge().is_some() => {
            let challenge = error.auth_challenge().unwrap_or_default();
            format!("it asks for authorization ({challenge}); name a token")
        }
        // The second attempt is the one every server understands.
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => describe(fallback),
        ClientInitializeError::ConnectionClosed(_) => "it closed the connection".to_owned(),
        other => chain(other),
    }
}

fn header_map(headers: &[(&str, &str)]) -> Result<HashMap<HeaderName, HeaderValue>, Error> {
    let parse = |&(name, value): &(&str, &str)| {
        let header = HeaderName::try_from(name)
            .map_err(|_| Error::Usage(format!("`{name}` is not a header name")))?;
        let mut value = HeaderValue::try_from(value)
            .map_err(|_| Error::Usage(format!("the value of header `{name}` cannot be sent")))?;
        value.set_sensitive(true);
        Ok((header, value))
    };
    headers.iter().map(parse).collect()
}

/// The client never follows a redirect: the headers may hold a token.
fn http_client(url: &str) -> Result<reqwest::Client, Error> {
    let url = Url::parse(url).map_err(|error| Error::Usage(format!("`{url}`: {error}")))?;
    // An error says that a provider is installed already, and any will do.
    rustls::crypto::aws_lc_rs::default_provider().install_default().ok();
    let mut client = reqwest::Client::builder().redirect(redirect::Policy::none());
    if is_loopback(&url) {
        client = client.no_proxy();
    }
    client.build().map_err(|error| Error::Connection(chain(&error)))
}

fn is_loopback(url: &Url) -> bool {
    match url.host_str() {
        Some("localhost" | "[::1]") => true,
        Some(host) => host.parse().is_ok_and(|ip: std::net::Ipv4Addr| ip.is_loopback()),
        None => false,
    }
}
