//! What a transport is told once: base, credential, limits, TLS and proxy.

use std::fmt;
use std::time::Duration;

use url::{Origin, Url};

use crate::auth::Credential;
use crate::error::ConfigError;
use crate::secret::Secret;

/// The settings of a [`super::Transport`].
pub struct TransportOptions {
    /// Where the API lives; paths are appended to its path. `http` or `https`, no user name.
    pub base_url: Url,
    /// Sent to the origin of `base_url` and nowhere else.
    pub credential: Credential,
    /// More headers for the base origin, such as a gateway's key.
    pub headers: Vec<(String, Secret)>,
    /// The most one request may take, retries and redirects included.
    pub timeout: Duration,
    /// The most a connection may take, name look-up and TLS included.
    pub connect_timeout: Duration,
    /// Whether failed reads are tried again.
    pub retries: bool,
    /// The `User-Agent` header.
    pub user_agent: String,
    /// The largest response body that is accepted, in bytes after decompression.
    pub max_response_bytes: u64,
    /// Other origins to which redirects of reads may lead.
    pub allowed_origins: Vec<Origin>,
    /// Certificates.
    pub tls: TlsOptions,
    /// A proxy for everything but loopback; without it the system's settings count.
    pub proxy: Option<ProxyOptions>,
}

impl TransportOptions {
    /// Returns the defaults: no credential, 30 s a request, 10 s to connect, retries, 4 MiB a response.
    #[must_use]
    pub fn new(base_url: Url) -> Self {
        Self {
            base_url,
            credential: Credential::None,
            headers: Vec::new(),
            timeout: Duration::from_secs(30),
            connect_timeout: Duration::from_secs(10),
            retries: true,
            user_agent: concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_PKG_VERSION")).to_owned(),
            max_response_bytes: 4 * 1024 * 1024,
            allowed_origins: Vec::new(),
            tls: TlsOptions::default(),
            proxy: None,
        }
    }
}

impl fmt::Debug for TransportOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TransportOptions")
            .field("base_url", &self.base_url.origin().ascii_serialization())
            .field("credential", &self.credential)
            .field("timeout", &self.timeout)
            .field("retries", &self.retries)
            .finish_non_exhaustive()
    }
}

/// Which servers are trusted. The system's roots and built-in ones always count, added together.
#[derive(Debug, Clone, Default)]
pub struct TlsOptions {
    /// More certificate authorities, each text holding one or more PEM certificates.
    pub extra_ca_pem: Vec<String>,
    /// A client certificate chain and its private key, as PEM in one text.
    pub client_identity_pem: Option<Secret>,
    /// Accepts any certificate. Anyone in between can then read the credential.
    pub insecure: bool,
}

/// A proxy named by the operator.
#[derive(Debug, Clone)]
pub struct ProxyOptions {
    /// `http://`, `https://` or `socks5h://` URL; may hold user and password.
    pub url: Secret,
    /// Hosts that are reached without it, in the form of `NO_PROXY`.
    pub no_proxy: String,
}

/// Checks a base URL and takes off what a base cannot have: fragment and closing `/`.
pub(super) fn checked_base(mut url: Url) -> Result<Url, ConfigError> {
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(ConfigError::new(
            format!("the base URL has the scheme `{}`", url.scheme()),
            "give a URL that starts with `https://` or `http://`",
        ));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ConfigError::new(
            "the base URL holds a user name or password",
            "take it out of the URL and set it as the credential",
        ));
    }
    url.set_fragment(None);
    let path = url.path().trim_end_matches('/').to_owned();
    url.set_path(&path);
    Ok(url)
}
