//! What a request must look like before anybody asks who sent it: its host, its origin, the way it came.

use std::net::{IpAddr, SocketAddr};

use axum::{
    body::Body,
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header, uri::Authority};
use url::{Host, Url};

use crate::{
    refusal::Refusal,
    serving::{LOOPBACK, Serving},
};

/// Headers that a proxy adds.
const PROXY_MARKS: [&str; 6] =
    ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip"];

/// What browsers may send and read across origins.
const ALLOWED_HEADERS: &str = "accept, authorization, content-type, last-event-id, mcp-method, \
                               mcp-name, mcp-protocol-version, mcp-session-id";
const EXPOSED_HEADERS: &str = "mcp-session-id, retry-after, www-authenticate, x-request-id";

/// Where a page stands that sent a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// No page: a program.
    None,
    /// A page the operator named, or this server's own.
    Named,
    /// Some page of this machine.
    Loopback,
}

/// The checks of one server.
#[derive(Debug)]
pub(crate) struct Gate {
    hosts: Vec<String>,
    origins: Vec<String>,
    /// Whether nobody is asked who they are: then a proxy may stand for the whole world.
    is_open: bool,
    proxies: usize,
    port: u16,
    allowed_headers: String,
}

impl Gate {
    pub(crate) fn new(serving: &Serving, port: u16) -> Self {
        let forwarded = serving.doors.forwarded.iter();
        Self {
            hosts: serving.hosts.clone(),
            origins: serving.origins.clone(),
            is_open: serving.doors.is_open(),
            proxies: serving.proxies,
            port,
            allowed_headers: forwarded
                .fold(ALLOWED_HEADERS.to_owned(), |list, name| format!("{list}, {name}")),
        }
    }

    /// Refuses requests for another host, DNS rebinding among them.
    pub(crate) fn check_host(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        let mut named = headers.get_all(header::HOST).iter();
        let authority = match (named.next(), named.next()) {
            (Some(value), None) => value.to_str().ok().and_then(|it| it.parse::<Authority>().ok()),
            (None, _) => uri.authority().cloned(),
            (Some(_), Some(_)) => None,
        };
        let Some(authority) = authority else {
            return Err(Refusal::bad_request("the `Host` header cannot be read"));
        };
        if self.hosts.is_empty() || self.hosts.iter().any(|host| is_host(&authority, host)) {
            return Ok(());
        }
        Err(Refusal::forbidden(format!(
            "this server is not `{}`: whoever runs it can add the name with `--allowed-host`",
            authority.host()
        )))
    }

    /// Tells what page sent the request, and refuses foreign ones.
    pub(crate) fn check_origin(&self, headers: &HeaderMap) -> Result<Origin, Refusal> {
        let mut named = headers.get_all(header::ORIGIN).iter();
        let origin = match (named.next(), named.next()) {
            (None, _) => return Ok(Origin::None),
            (Some(value), None) => value.to_str().unwrap_or_default(),
            (Some(_), Some(_)) => "two origins",
        };
        self.judge(origin).ok_or_else(|| {
            let shown: String = origin.chars().filter(|it| !it.is_control()).take(100).collect();
            Refusal::forbidden(format!(
                "pages of `{shown}` may not call this server: whoever runs it can allow them with \
                 `--allowed-origin`"
            ))
        })
    }

    fn judge(&self, origin: &str) -> Option<Origin> {
        let url = Url::parse(origin).ok()?;
        let text = url.origin().ascii_serialization();
        // A page's origin has neither path nor anything else behind the port.
        if !text.eq_ignore_ascii_case(origin) {
            return None;
        }
        if self.origins.contains(&text) {
            return Some(Origin::Named);
        }
        let is_loopback = match url.host()? {
            Host::Ipv4(address) => address.is_loopback(),
            Host::Ipv6(address) => address.is_loopback(),
            Host::Domain(name) => name == "localhost",
        };
        if !is_loopback || !self.origins.iter().any(|it| it == LOOPBACK) {
            return None;
        }
        let is_own = url.scheme() == "http" && url.port_or_known_default() == Some(self.port);
        Some(if is_own { Origin::Named } else { Origin::Loopback })
    }

    /// Refuses what came through a proxy where that would let in the world behind it.
    pub(crate) fn check_way(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        match proxy_mark(headers).filter(|_| self.is_open) {
            Some(name) => Err(Refusal::forbidden(format!(
                "the request came through a proxy (`{name}`), and this server asks nobody who they \
                 are: whoever runs it must say who may call, for example with `--callers`"
            ))),
            None => Ok(()),
        }
    }

    /// The caller's address, as the outermost trusted proxy saw it.
    pub(crate) fn address(&self, peer: SocketAddr, headers: &HeaderMap) -> IpAddr {
        if self.proxies == 0 {
            return peer.ip();
        }
        let values = headers.get_all("x-forwarded-for").iter();
        let hops: Vec<&str> =
            values.filter_map(|it| it.to_str().ok()).flat_map(|it| it.split(',')).collect();
        // What stands further to the left was written by the caller.
        let hop = hops.len().checked_sub(self.proxies).and_then(|at| hops.get(at));
        hop.and_then(|it| it.trim().parse().ok()).unwrap_or_else(|| peer.ip())
    }

    /// The answer to a browser that asks before it sends.
    pub(crate) fn preflight(&self, headers: &HeaderMap) -> Response {
        if let Err(refusal) = self.check_origin(headers) {
            return refusal.into_response();
        }
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NO_CONTENT;
        let answers = [
            (header::ALLOW, "GET, POST, DELETE, OPTIONS"),
            (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, DELETE"),
            (header::ACCESS_CONTROL_ALLOW_HEADERS, self.allowed_headers.as_str()),
            (header::ACCESS_CONTROL_MAX_AGE, "600"),
        ];
        for (name, value) in answers {
            insert(response.headers_mut(), name, value);
        }
        response
    }

    /// Lets the page read an answer, refusals too: the page is one that may call.
    pub(crate) fn open_to(&self, origin: Option<&HeaderValue>, response: &mut Response) {
        let headers = response.headers_mut();
        headers.append(header::VARY, HeaderValue::from_static("origin"));
        let Some(origin) = origin else { return };
        if origin.to_str().ok().and_then(|it| self.judge(it)).is_some() {
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
            insert(headers, header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_HEADERS);
        }
    }
}

/// The first header that only a proxy adds.
pub(crate) fn proxy_mark(headers: &HeaderMap) -> Option<&'static str> {
    PROXY_MARKS.into_iter().find(|name| headers.contains_key(*name))
}

/// Whether a request is a browser's question and no call.
pub(crate) fn is_preflight(method: &Method) -> bool {
    method == Method::OPTIONS
}

fn insert(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

/// Whether an authority is a host name, with its port where the name has one.
fn is_host(authority: &Authority, host: &str) -> bool {
    let same = |name: &str| {
        authority.host().trim_end_matches('.').eq_ignore_ascii_case(name.trim_end_matches('.'))
    };
    match host.parse::<Authority>().ok() {
        Some(wanted) if wanted.port().is_some() => {
            same(wanted.host()) && authority.port_u16() == wanted.port_u16()
        }
        _ => same(host),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(hosts: &[&str], origins: &[&str], proxies: usize) -> Gate {
        let owned = |list: &[&str]| list.iter().map(|&it| it.to_owned()).collect();
        Gate {
            hosts: owned(hosts),
            origins: owned(origins),
            is_open: true,
            proxies,
            port: 8080,
            allowed_headers: String::new(),
        }
    }

    fn headers(list: &[(&str, &str)]) -> HeaderMap {
        let parse = |(name, value): &(&str, &str)| {
            (
                HeaderName::from_bytes(name.as_bytes()).unwrap(),
                HeaderValue::from_str(value).unwrap(),
            )
        };
        let mut map = HeaderMap::new();
        for (name, value) in list.iter().map(parse) {
            map.append(name, value);
        }
        map
    }

    #[test]
    fn a_host_is_compared_whole_and_with_its_port_where_one_is_named() {
        let gate = gate(&["mcp.test", "[::1]", "b.test:81"], &[], 0);
        let uri = Uri::from_static("/mcp");
        let passes = |host: &str| gate.check_host(&uri, &headers(&[("host", host)])).is_ok();
        for host in ["mcp.test", "MCP.test:8080", "mcp.test.", "[::1]:1", "b.test:81"] {
            assert!(passes(host), "{host}");
        }
        for host in ["evil.test", "mcp.test.evil.test", "b.test", "b.test:82", "a@mcp.test:1:2"] {
            assert!(!passes(host), "{host}");
        }
        let twice = headers(&[("host", "mcp.test"), ("host", "evil.test")]);
        assert!(gate.check_host(&uri, &twice).is_err());
        assert!(gate.check_host(&uri, &HeaderMap::new()).is_err());
    }

    #[test]
    fn pages_are_named_of_this_machine_or_refused() {
        let gate = gate(&[], &["https://app.test", LOOPBACK], 0);
        let cases = [
            ("https://app.test", Some(Origin::Named)),
            ("http://localhost:8080", Some(Origin::Named)),
            ("http://localhost:6274", Some(Origin::Loopback)),
            ("http://[::1]:1", Some(Origin::Loopback)),
            ("https://127.0.0.1:8080", Some(Origin::Loopback)),
            ("https://app.test:444", None),
            ("http://app.test", None),
            ("http://localhost.evil.test", None),
            ("null", None),
            ("", None),
            ("https://app.test/x", None),
        ];
        for (origin, expected) in cases {
            assert_eq!(gate.judge(origin), expected, "{origin}");
        }
    }

    #[test]
    fn only_what_trusted_proxies_wrote_counts_as_the_address() {
        let peer: SocketAddr = "10.0.0.1:1".parse().unwrap();
        let sent =
            headers(&[("x-forwarded-for", "6.6.6.6, 1.2.3.4"), ("x-forwarded-for", "5.5.5.5")]);
        for (proxies, expected) in
            [(0, "10.0.0.1"), (1, "5.5.5.5"), (2, "1.2.3.4"), (4, "10.0.0.1")]
        {
            let address = gate(&[], &[], proxies).address(peer, &sent);
            assert_eq!(address.to_string(), expected, "{proxies}");
        }
    }

    #[test]
    fn an_open_server_is_not_for_those_behind_a_proxy() {
        let gate = gate(&[], &[], 0);
        assert!(gate.check_way(&HeaderMap::new()).is_ok());
        assert!(gate.check_way(&headers(&[("via", "1.1 x")])).is_err());
        assert!(gate.check_way(&headers(&[("x-forwarded-for", "1.1.1.1")])).is_err());
    }
}
