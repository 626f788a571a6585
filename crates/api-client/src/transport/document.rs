//! Fetching documents: redirects, validators and a size cap of their own.

use std::time::Instant;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, header};
use url::Url;

use super::reach::{Reach, is_loopback};
use super::redirect::Rule;
use super::trip::Trip;
use super::{Effect, Transport, place};
use crate::error::{Error, ErrorKind, Progress};

/// The largest document that is fetched: the largest known (Microsoft Graph) has about 40 MB.
pub const MAX_DOCUMENT_BYTES: u64 = 64 * 1024 * 1024;

/// What tells whether a document has changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Validators {
    /// The `ETag` header.
    pub etag: Option<String>,
    /// The `Last-Modified` header.
    pub last_modified: Option<String>,
}

/// The answer to [`Transport::fetch`].
#[derive(Debug, Clone)]
pub enum Fetched {
    /// The document is as it was when the validators were given out.
    NotModified,
    /// The document.
    Document {
        /// Its content.
        bytes: Bytes,
        /// The `Content-Type` header: `text/html` here is a page about the API, not its document.
        content_type: Option<String>,
        /// To be given to the next fetch.
        validators: Validators,
        /// Where it was found after redirects: the base of relative server URLs.
        url: Url,
    },
}

impl Transport {
    /// Fetches a document. The credential is sent to the base origin alone.
    ///
    /// Plain `http` is allowed where the base URL is `http` too, and on loopback; redirects stay on
    /// their origin or lead to `https`, and to another host at public addresses only.
    ///
    /// # Errors
    /// As [`Transport::send`]; any status but 2xx and 304 is an error too.
    pub async fn fetch(
        &self,
        url: &Url,
        conditional: Option<&Validators>,
        deadline: Instant,
    ) -> Result<Fetched, Error> {
        let route = "GET document".to_owned();
        let plain = self.base_url().scheme() == "http" || is_loopback(url);
        if url.scheme() != "https" && !(url.scheme() == "http" && plain) {
            let why = "a document is fetched over `https` only, unless the API itself is `http`";
            let kind = ErrorKind::Request { why: why.to_owned() };
            return Err(Error::new(route, place(url), Progress::NotSent, kind));
        }
        let mut headers = HeaderMap::new();
        // JSON is read several times faster than YAML, and a server that is offered both by name may
        // choose by its own order.
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json, */*;q=0.5"));
        for (name, value) in [
            (header::IF_NONE_MATCH, conditional.and_then(|it| it.etag.as_deref())),
            (header::IF_MODIFIED_SINCE, conditional.and_then(|it| it.last_modified.as_deref())),
        ] {
            if let Some(value) = value.and_then(|it| HeaderValue::from_str(it).ok()) {
                headers.insert(name, value);
            }
        }
        let trip = Trip {
            route,
            effect: Effect::Read,
            method: Method::GET,
            url: url.clone(),
            headers,
            body: None,
            rule: Rule::Document,
            reach: Reach::Any,
            limit: MAX_DOCUMENT_BYTES,
            deadline,
        };
        let (response, url) = self.attempts(&trip).await?;
        if response.status == 304 && conditional.is_some() {
            return Ok(Fetched::NotModified);
        }
        let response = response.success(&trip.route, &place(&url))?;
        let header = |name: &str| response.header(name).map(str::to_owned);
        Ok(Fetched::Document {
            content_type: header("content-type"),
            validators: Validators { etag: header("etag"), last_modified: header("last-modified") },
            url,
            bytes: response.body,
        })
    }
}
