//! Where a redirect may lead.

use http::{HeaderMap, Method, header};
use url::Url;

use super::Transport;
use super::reach::{Reach, is_inner, is_loopback};
use crate::pagination::relative_to_base;

/// The policy's say on a redirect within the API: it sees what it sees of any other call.
pub trait RedirectPolicy: Send + Sync {
    /// Allows or refuses a read of `path` (encoded, below the base URL) with `query`.
    ///
    /// # Errors
    /// Why not, in words for the caller.
    fn check(&self, method: &Method, path: &str, query: &str) -> Result<(), String>;
}

impl<F> RedirectPolicy for F
where
    F: Fn(&Method, &str, &str) -> Result<(), String> + Send + Sync,
{
    fn check(&self, method: &Method, path: &str, query: &str) -> Result<(), String> {
        self(method, path, query)
    }
}

/// Allows every read below the base URL: for callers whose routes are fixed.
pub(super) fn any_read(_: &Method, _: &str, _: &str) -> Result<(), String> {
    Ok(())
}

/// Whose redirects are judged.
#[derive(Clone, Copy)]
pub(super) enum Rule<'a> {
    /// An API call.
    Call(&'a dyn RedirectPolicy),
    /// A document: stays on its host, or leads over `https` to what is public or known.
    Document,
}

impl Rule<'_> {
    /// Decides on one step, the last of which was made with `reach`; the error says why not.
    pub(super) fn judge(
        self,
        transport: &Transport,
        method: &Method,
        (from, reach): (&Url, Reach),
        to: &Url,
    ) -> Result<Reach, String> {
        let base = transport.base_url();
        match self {
            Self::Document if to.origin() == from.origin() => Ok(reach),
            Self::Document if to.scheme() != "https" => {
                Err("a document may only move over `https`".to_owned())
            }
            Self::Document if to.host() == from.host() => Ok(reach),
            Self::Document if to.origin() == base.origin() || transport.allows(&to.origin()) => {
                Ok(Reach::Any)
            }
            Self::Document if is_inner(to) => {
                Err("it leads into an inner network; if that is meant, name that address"
                    .to_owned())
            }
            Self::Document => Ok(Reach::Public),
            Self::Call(policy) if to.origin() == base.origin() => {
                let inside = relative_to_base(to, base)
                    .ok_or_else(|| "it leaves the path of the API".to_owned())?;
                let (path, query) = inside.split_once('?').unwrap_or((&inside, ""));
                policy.check(method, path, query).map(|()| Reach::Any)
            }
            Self::Call(_) if !matches!(*method, Method::GET | Method::HEAD) => {
                Err("only GET and HEAD follow to another origin".to_owned())
            }
            Self::Call(_) if !transport.allows(&to.origin()) => {
                Err("the operator has not allowed that origin".to_owned())
            }
            Self::Call(_) if transport.holds_secret(to.as_str()) => {
                Err("its address holds the credential".to_owned())
            }
            // An address or `localhost` in the operator's own list was meant.
            Self::Call(_)
                if matches!(to.host(), Some(url::Host::Domain(_))) && !is_loopback(to) =>
            {
                Ok(Reach::Public)
            }
            Self::Call(_) => Ok(Reach::Any),
        }
    }
}

/// The address a response redirects to, if it does.
pub(super) fn location(status: u16, headers: &HeaderMap, from: &Url) -> Option<Result<Url, ()>> {
    if !matches!(status, 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let text = headers.get(header::LOCATION)?.to_str().map_err(drop);
    Some(text.and_then(|text| from.join(text).map_err(drop)))
}

/// The method of the next request: what is not 307 or 308 turns all but HEAD into GET.
pub(super) fn next_method(status: u16, method: &Method) -> Method {
    match status {
        307 | 308 => method.clone(),
        _ if *method == Method::HEAD => Method::HEAD,
        _ => Method::GET,
    }
}

/// Describes a target without its path's values: an origin, or that it is the same server.
pub(super) fn describe(from: &Url, to: &Url) -> String {
    if from.origin() != to.origin() {
        return format!("`{}`", to.origin().ascii_serialization());
    }
    let (old, new) = (from.path(), to.path());
    if new.strip_suffix('/') == Some(old) {
        return "the same path with a closing `/`".to_owned();
    }
    if old.strip_suffix('/') == Some(new) {
        return "the same path without its closing `/`".to_owned();
    }
    "another path of the same server".to_owned()
}
