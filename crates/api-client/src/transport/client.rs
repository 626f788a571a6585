//! The HTTP clients behind a transport, each built when it is first needed.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use hyper_util::client::proxy::matcher::Matcher;
use reqwest::{Client, NoProxy, Proxy, redirect, retry};
use rustls::ClientConfig;
use url::Url;

use super::options::{ProxyOptions, TlsOptions};
use super::reach::{Reach, Resolver, is_loopback};
use super::tls;
use crate::error::ConfigError;

/// The ways to a host.
pub(super) struct Clients {
    settings: Settings,
    tls: OnceLock<Result<Arc<ClientConfig>, ConfigError>>,
    proxies: OnceLock<Matcher>,
    direct: OnceLock<Result<Client, ConfigError>>,
    proxied: OnceLock<Result<Client, ConfigError>>,
    public_only: OnceLock<Result<Client, ConfigError>>,
}

pub(super) struct Settings {
    pub(super) tls: TlsOptions,
    pub(super) proxy: Option<ProxyOptions>,
    pub(super) connect_timeout: Duration,
    pub(super) user_agent: String,
    pub(super) retries: bool,
}

/// A client for one URL, and the proxy that it uses.
pub(super) struct Line<'a> {
    pub(super) client: &'a Client,
    pub(super) proxy: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Direct,
    Proxied,
    PublicOnly,
}

impl Clients {
    /// Checks the settings; builds nothing yet.
    pub(super) fn new(settings: Settings) -> Result<Self, ConfigError> {
        tls::check(&settings.tls)?;
        if let Some(proxy) = &settings.proxy {
            explicit_proxy(proxy)?;
        }
        Ok(Self {
            settings,
            tls: OnceLock::new(),
            proxies: OnceLock::new(),
            direct: OnceLock::new(),
            proxied: OnceLock::new(),
            public_only: OnceLock::new(),
        })
    }

    pub(super) fn line(&self, url: &Url, reach: Reach) -> Result<Line<'_>, &ConfigError> {
        let proxy = self.proxy_for(url);
        let (cell, kind) = match (&proxy, reach) {
            (Some(_), _) => (&self.proxied, Kind::Proxied),
            (None, Reach::Any) => (&self.direct, Kind::Direct),
            (None, Reach::Public) => (&self.public_only, Kind::PublicOnly),
        };
        let client = cell.get_or_init(|| self.build(kind)).as_ref()?;
        Ok(Line { client, proxy })
    }

    /// The `host:port` of the proxy for a URL. Loopback is never reached through one.
    fn proxy_for(&self, url: &Url) -> Option<String> {
        if is_loopback(url) {
            return None;
        }
        let matcher = self.proxies.get_or_init(|| match &self.settings.proxy {
            None => Matcher::from_system(),
            Some(proxy) => {
                Matcher::builder().all(proxy.url.expose()).no(proxy.no_proxy.as_str()).build()
            }
        });
        let intercept = matcher.intercept(&url.as_str().parse().ok()?)?;
        let uri = intercept.uri();
        let default = if uri.scheme_str() == Some("https") { 443 } else { 80 };
        Some(format!("{}:{}", uri.host()?, uri.port_u16().unwrap_or(default)))
    }

    fn build(&self, kind: Kind) -> Result<Client, ConfigError> {
        let tls = self.tls.get_or_init(|| tls::config(&self.settings.tls).map(Arc::new));
        let tls = tls.as_ref().map_err(Clone::clone)?;
        let reach = if kind == Kind::PublicOnly { Reach::Public } else { Reach::Any };
        let mut builder = Client::builder()
            .tls_backend_preconfigured(ClientConfig::clone(tls))
            .redirect(redirect::Policy::none())
            .connect_timeout(self.settings.connect_timeout)
            // Shorter than servers keep idle connections: a write on a dying one has no clear end.
            .pool_idle_timeout(Duration::from_secs(20))
            .dns_resolver(Arc::new(Resolver { reach }))
            .user_agent(self.settings.user_agent.as_str());
        if !self.settings.retries {
            builder = builder.retry(retry::never());
        }
        builder = match (kind, &self.settings.proxy) {
            (Kind::Direct | Kind::PublicOnly, _) => builder.no_proxy(),
            (Kind::Proxied, Some(proxy)) => builder.proxy(explicit_proxy(proxy)?),
            // The system's settings are the client's default.
            (Kind::Proxied, None) => builder,
        };
        builder.build().map_err(|error| {
            let hint = "check the proxy, user agent and certificates";
            ConfigError::new(format!("no HTTP client can be built: {error}"), hint)
        })
    }
}

fn explicit_proxy(options: &ProxyOptions) -> Result<Proxy, ConfigError> {
    let refuse = || {
        let hint = "give it as `http://host:port`, `https://host:port` or `socks5h://host:port`";
        ConfigError::new("the proxy is not a usable URL", hint)
    };
    let url = Url::parse(options.url.expose()).map_err(|_| refuse())?;
    if !matches!(url.scheme(), "http" | "https" | "socks4" | "socks4a" | "socks5" | "socks5h") {
        return Err(refuse());
    }
    let proxy = Proxy::all(url).map_err(|_| refuse())?;
    Ok(proxy.no_proxy(NoProxy::from_string(&options.no_proxy)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_explicit_proxy_spares_loopback_and_what_the_operator_excludes() {
        let options = ProxyOptions {
            url: crate::secret::Secret::new("http://user:pw@proxy.test:3128"),
            no_proxy: "inner.test,10.0.0.0/8".to_owned(),
        };
        let clients = Clients::new(Settings {
            tls: TlsOptions::default(),
            proxy: Some(options),
            connect_timeout: Duration::from_secs(1),
            user_agent: "test".to_owned(),
            retries: false,
        })
        .unwrap();
        let proxy = |url: &str| clients.proxy_for(&Url::parse(url).unwrap());
        assert_eq!(proxy("https://api.test/").as_deref(), Some("proxy.test:3128"));
        assert_eq!(proxy("http://api.test/").as_deref(), Some("proxy.test:3128"));
        for url in [
            "http://127.0.0.1:1/",
            "http://localhost/",
            "http://[::1]/",
            "https://inner.test/",
            "http://10.2.3.4/",
        ] {
            assert_eq!(proxy(url), None, "{url}");
        }
    }
}
