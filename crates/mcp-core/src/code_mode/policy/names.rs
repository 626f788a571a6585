//! Scripts bring no credentials: names that carry identity are refused wherever they stand.

use indexmap::IndexMap;
use serde_json::value::RawValue;

use crate::openapi::{Document, Operation};

use super::{CallArguments, Refusal, Rule};

/// Headers a script may set although no operation declares them.
const FREE_HEADERS: &[&str] = &[
    "accept",
    "accept-language",
    "idempotency-key",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-unmodified-since",
    "prefer",
];

/// Names that carry a credential, an identity or another method, in lower case without separators.
const IDENTITY_NAMES: &[&str] = &[
    "accesstoken",
    "apikey",
    "auth",
    "authorization",
    "authtoken",
    "bearer",
    "cookie",
    "impersonate",
    "method",
    "methodoverride",
    "onbehalfof",
    "proxyauthorization",
    "runas",
    "setcookie",
    "sudo",
    "token",
    "xaccesstoken",
    "xapikey",
    "xauthtoken",
    "xhttpmethod",
    "xhttpmethodoverride",
    "xmethodoverride",
];

/// Parameters and headers of one call. No API has so many, and each costs the host time.
const MOST_NAMES: usize = 1_000;

/// Refuses every name that could change who is asking or what is asked.
pub(super) fn check(
    document: &Document,
    operation: &Operation,
    call: &CallArguments<'_>,
) -> Result<(), Refusal> {
    let count = call.path.len() + call.query.len() + call.headers.len();
    if count > MOST_NAMES {
        let message = format!(
            "{count} parameters in one call; {MOST_NAMES} are the most, and a list is one parameter: nothing was sent"
        );
        return Err(Refusal::new(Rule::Arguments, message));
    }
    for (name, _) in &call.headers {
        check_header(document, operation, name)?;
    }
    for (name, _) in &call.query {
        if is_scheme(document, name) || is_identity(name) {
            return Err(credential("query parameter", name));
        }
    }
    for name in body_names(call)? {
        if is_scheme(document, &name) || is_override(&name) {
            return Err(credential("body field", &name));
        }
    }
    Ok(())
}

/// Refuses a query, as it is sent, with such a name; `a[token]` has the names `a` and `token`.
pub(super) fn check_query(document: &Document, query: &str) -> Result<(), Refusal> {
    for (name, _) in url::form_urlencoded::parse(query.as_bytes()) {
        let parts = name.split(['[', ']', '.']).filter(|part| !part.is_empty());
        for part in parts.chain([name.as_ref()]) {
            if is_scheme(document, part) || is_identity(part) {
                return Err(credential("query parameter", &name));
            }
        }
    }
    Ok(())
}

fn check_header(document: &Document, operation: &Operation, name: &str) -> Result<(), Refusal> {
    let lower = name.to_ascii_lowercase();
    if is_scheme(document, name) || is_identity(name) || lower.contains("impersonat") {
        return Err(credential("header", name));
    }
    let declared = operation.parameters.iter().any(|it| {
        it.location == api_client::request::Location::Header && it.name.eq_ignore_ascii_case(name)
    });
    if declared || FREE_HEADERS.contains(&lower.as_str()) {
        return Ok(());
    }
    let mut known: Vec<_> = operation
        .parameters
        .iter()
        .filter(|it| it.location == api_client::request::Location::Header)
        .map(|it| format!("`{}`", it.name))
        .collect();
    known.push("`Accept`, `If-*`, `Idempotency-Key`, `Prefer`".to_owned());
    let message =
        format!("header `{name}` may not be set; this operation takes {}", known.join(", "));
    Err(Refusal::new(Rule::Credentials, message))
}

/// Whether the document uses this name to carry a credential. A credential name is never required
/// of a script either.
pub(super) fn is_scheme(document: &Document, name: &str) -> bool {
    document
        .security_schemes()
        .iter()
        .filter_map(|scheme| scheme.parameter_name.as_deref())
        .any(|carrier| carrier.eq_ignore_ascii_case(name))
}

/// Whether the name is one that carries identity in some API.
pub(super) fn is_identity(name: &str) -> bool {
    let plain: String = name
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|it| it.to_ascii_lowercase())
        .collect();
    // `method` alone is an ordinary word; `_method` is how frameworks override the real one.
    match plain.as_str() {
        "method" => name.starts_with('_'),
        plain => IDENTITY_NAMES.contains(&plain),
    }
}

fn is_override(name: &str) -> bool {
    name == "_method"
}

/// The body's own names; none for a body that is no object.
fn body_names(call: &CallArguments<'_>) -> Result<Vec<String>, Refusal> {
    let Some(body) = call.body else { return Ok(Vec::new()) };
    if !body.get().trim_start().starts_with('{') {
        return Ok(Vec::new());
    }
    // One level only: what is inside may be nested deeper than a parser follows.
    match serde_json::from_str::<IndexMap<String, &RawValue>>(body.get()) {
        Ok(fields) => Ok(fields.into_keys().collect()),
        Err(error) => {
            let message = format!("the body cannot be read ({error}); nothing was sent");
            Err(Refusal::new(Rule::Arguments, message))
        }
    }
}

fn credential(place: &str, name: &str) -> Refusal {
    Refusal::new(
        Rule::Credentials,
        format!(
            "{place} `{name}` may not be set by a script: the server adds the credential by itself"
        ),
    )
}
