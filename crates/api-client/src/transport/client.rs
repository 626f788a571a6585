//! The HTTP clients behind a transport, each built when it is first needed, and name look-up.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use hyper_util::client::proxy::matcher::Matcher;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, NoProxy, Proxy, redirect, retry};
use rustls::ClientConfig;
use url::{Host, Url};

use super::options::{ProxyOptions, TlsOptions};
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

/// Which addresses a host name may stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Any: the operator named the host.
    Any,
    /// Only public ones: a server named the host.
    Public,
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

/// Whether a URL names this machine.
pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        None => false,
    }
}

/// Looks names up with the system's resolver, with an error type that can be recognised.
struct Resolver {
    reach: Reach,
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let reach = self.reach;
        Box::pin(async move {
            let found =
                tokio::net::lookup_host((name.as_str(), 0)).await.map_err(Unresolved::from)?;
            let allowed: Vec<SocketAddr> =
                found.filter(|address| reach == Reach::Any || is_public(address.ip())).collect();
            if allowed.is_empty() {
                return Err(Unresolved { cause: None, reach }.into());
            }
            let addresses: Addrs = Box::new(allowed.into_iter());
            Ok(addresses)
        })
    }
}

/// A name without a usable address.
#[derive(Debug)]
pub(super) struct Unresolved {
    cause: Option<std::io::Error>,
    reach: Reach,
}

impl From<std::io::Error> for Unresolved {
    fn from(cause: std::io::Error) -> Self {
        Self { cause: Some(cause), reach: Reach::Any }
    }
}

impl fmt::Display for Unresolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.reach {
            Reach::Any => "the name has no address",
            Reach::Public => "the name has no public address",
        })
    }
}

impl std::error::Error for Unresolved {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_ref().map(|it| it as _)
    }
}

/// Whether an address belongs to the open internet rather than to some inner network.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => match address.to_ipv4_mapped().or_else(|| translated(address)) {
            Some(address) => is_public_v4(address),
            None => is_public_v6(address),
        },
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 198 && (b == 18 || b == 19));
    !special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    // 2000::/3 is all that is given out so far; 2001:db8::/32 in it is for documentation.
    let [first, second, ..] = address.segments();
    first & 0xe000 == 0x2000 && !(first == 0x2001 && second == 0x0db8) && first != 0x2002
}

/// The IPv4 address behind a NAT64 one (64:ff9b::/96).
fn translated(address: Ipv6Addr) -> Option<Ipv4Addr> {
    match address.segments() {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            Some(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_networks_are_not_public() {
        for address in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "198.18.0.1",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "ff02::1",
            "::ffff:10.0.0.1",
            "64:ff9b::a00:1",
            "2002:a00:1::",
        ] {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
        for address in ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "64:ff9b::101:101"] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }

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
