//! A request as the script asked for it: an operation and its arguments, before they are encoded.

use std::borrow::Cow;

use api_client::request::Request;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};
use sha2::{Digest as _, Sha256};

use api_client::transport::Response;

use crate::{context::Api, openapi::Document};

use super::{
    super::{call, policy::CallArguments},
    Asked, Done,
    symbol::{self, Found, Unresolved},
};

/// An operation and its arguments; texts in them may be symbols.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in super::super) struct Wish {
    /// The API's number.
    pub(super) binding: usize,
    /// The operation's number in the document.
    pub(super) operation: usize,
    pub(super) path: Vec<(String, Value)>,
    pub(super) query: Vec<(String, Value)>,
    pub(super) headers: Vec<(String, Value)>,
    /// Exact text.
    pub(super) body: Option<Box<RawValue>>,
}

impl Wish {
    pub(super) fn of(asked: &Asked<'_>) -> Self {
        let CallArguments { path, query, headers, body } = asked.arguments;
        Self {
            binding: asked.binding,
            operation: asked.index,
            path: path.clone(),
            query: query.clone(),
            headers: headers.clone(),
            body: body.map(ToOwned::to_owned),
        }
    }

    pub(super) fn body_text(&self) -> Option<&str> {
        self.body.as_ref().map(|it| it.get())
    }

    /// The request with the symbols' values in it.
    ///
    /// # Errors
    /// A sentence: a symbol without a value, or a value that its place cannot carry.
    pub(super) fn resolve(
        &self,
        api: &Api,
        document: &Document,
        nonce: &str,
        values: &dyn Fn(&str) -> Found,
    ) -> Result<Request, String> {
        let missing = |Unresolved(name)| {
            format!("the real responses have no value for {}", symbol::shown(&name))
        };
        let all = |pairs: &[(String, Value)]| {
            let resolved = pairs.iter().map(|(name, value)| {
                let name = symbol::resolve_text(name, nonce, values)?;
                Ok((name, symbol::resolve_value(value, nonce, values)?))
            });
            resolved.collect::<Result<Vec<_>, _>>().map_err(missing)
        };
        let body = match self.body_text() {
            Some(body) => {
                let json = symbol::resolve_json(body, nonce, values).map_err(missing)?;
                Some(RawValue::from_string(json).map_err(|error| error.to_string())?)
            }
            None => None,
        };
        let arguments = CallArguments {
            path: all(&self.path)?,
            query: all(&self.query)?,
            headers: all(&self.headers)?,
            body: body.as_deref(),
        };
        let operation = document.operation(self.operation).ok_or("no such operation")?;
        call::build(api, document, &operation, &arguments).map_err(|it| it.message)
    }

    /// Every text of the wish, in which symbols may stand.
    pub(super) fn texts(&self) -> Vec<Cow<'_, str>> {
        let pairs = self.path.iter().chain(&self.query).chain(&self.headers);
        let mut texts: Vec<Cow<'_, str>> = Vec::new();
        for (name, value) in pairs {
            texts.push(Cow::Borrowed(name));
            match value {
                Value::String(text) => texts.push(Cow::Borrowed(text)),
                other => texts.push(Cow::Owned(other.to_string())),
            }
        }
        texts.extend(self.body_text().map(Cow::Borrowed));
        texts
    }

    pub(super) fn has_symbols(&self, nonce: &str) -> bool {
        self.texts().iter().any(|it| symbol::marks(it, nonce).next().is_some())
    }

    pub(super) fn has_symbols_in_path(&self, nonce: &str) -> bool {
        self.path.iter().any(|(_, it)| symbol::marks(&it.to_string(), nonce).next().is_some())
    }
}

/// Identifies a request as it is sent.
pub(super) fn digest(binding: usize, request: &Request) -> String {
    let Request { method, template: _, path, query, headers, body } = request;
    let mut hash = Sha256::new();
    let mut add = |part: &[u8]| {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    };
    add(&binding.to_le_bytes());
    add(method.as_str().as_bytes());
    add(path.as_bytes());
    add(query.as_bytes());
    for (name, value) in headers {
        add(name.as_bytes());
        add(value.as_bytes());
    }
    if let Some(body) = body {
        add(body.content_type.as_bytes());
        add(&body.bytes);
    }
    BASE64_STANDARD.encode(hash.finalize())
}

impl Done {
    pub(super) fn new(asked: &Asked<'_>, response: &Response) -> Self {
        Self {
            binding: asked.binding,
            request: digest(asked.binding, asked.request),
            write: asked.effect == super::Effect::Write,
            status: response.status,
            headers: response.headers.clone(),
            body: BASE64_STANDARD.encode(&response.body),
        }
    }

    pub(super) fn response(&self) -> Response {
        Response {
            status: self.status,
            headers: self.headers.clone(),
            body: BASE64_STANDARD.decode(&self.body).unwrap_or_default().into(),
        }
    }
}

/// What an earlier part of the run has done, given again to the same script.
#[derive(Debug)]
pub(super) struct Past {
    left: Vec<Option<Done>>,
}

impl Past {
    pub(super) fn new(done: Vec<Done>) -> Self {
        Self { left: done.into_iter().map(Some).collect() }
    }

    /// The answer this request got then; writes come in their order.
    ///
    /// # Errors
    /// When the script writes something else than it did then.
    pub(super) fn take(&mut self, asked: &Asked<'_>) -> Result<Option<Done>, String> {
        let digest = digest(asked.binding, asked.request);
        let is_write = asked.effect == super::Effect::Write;
        let next = self.left.iter_mut().find(|it| {
            it.as_ref().is_some_and(|it| it.write == is_write && (is_write || it.request == digest))
        });
        let Some(next) = next else { return Ok(None) };
        if next.as_ref().is_some_and(|it| it.request != digest) {
            return Err(format!(
                "`{} {}` is not what the script sent at this place before; nothing more was sent",
                asked.request.method, asked.request.path
            ));
        }
        Ok(next.take())
    }
}
