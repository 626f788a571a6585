//! The one request builder: a route template and values in, encoded path, query, headers and body out.

mod body;
mod multipart;
mod styles;

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use http::Method;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use styles::Encoding;

pub use multipart::Part;

/// A request that is ready to be sent to any base URL. Holds no credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The HTTP method.
    pub method: Method,
    /// The route template it was built from, as in `/users/{id}`: what errors and logs name.
    pub template: String,
    /// The percent-encoded path below the base URL, with a leading `/`.
    pub path: String,
    /// The percent-encoded query without `?`; empty if there is none.
    pub query: String,
    /// Header names and values, in the order they were given.
    pub headers: Vec<(String, String)>,
    /// The body, if there is one.
    pub body: Option<Body>,
}

/// A serialised request body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    /// The value of the `Content-Type` header.
    pub content_type: String,
    /// The body as it is sent.
    pub bytes: Bytes,
}

/// Where a parameter goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Location {
    /// A placeholder of the route template.
    Path,
    /// The query string.
    Query,
    /// A request header.
    Header,
    /// A cookie. Known so that it can be refused: cookies are never sent.
    Cookie,
}

/// How arrays and objects are written into a parameter, in OpenAPI's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Style {
    /// `a=1,2` or, exploded, `a=1&a=2`.
    Form,
    /// `a=1%202`; exploded as `Form`.
    SpaceDelimited,
    /// `a=1%7C2`; exploded as `Form`.
    PipeDelimited,
    /// `a[b][0]=1`.
    DeepObject,
    /// `1,2`, in paths and headers.
    Simple,
    /// `.1,2` or, exploded, `.1.2`, in paths.
    Label,
    /// `;a=1,2` or, exploded, `;a=1;a=2`, in paths.
    Matrix,
}

impl Style {
    /// Returns the style OpenAPI gives a parameter that declares none.
    #[must_use]
    pub fn default_for(location: Location) -> Self {
        match location {
            Location::Path | Location::Header => Self::Simple,
            Location::Query | Location::Cookie => Self::Form,
        }
    }

    /// Returns whether OpenAPI explodes this style when a document does not say.
    #[must_use]
    pub fn explodes_by_default(self) -> bool {
        self == Self::Form
    }
}

/// How one declared parameter is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    /// The name on the wire.
    pub name: String,
    /// Where it goes.
    pub location: Location,
    /// How arrays and objects are written.
    pub style: Style,
    /// Whether each item of an array or object stands on its own.
    pub explode: bool,
    /// Whether reserved characters that cannot change the meaning of a query stay as they are.
    pub allow_reserved: bool,
    /// Whether `/` in a path value separates segments instead of being encoded.
    pub multi_segment: bool,
    /// Whether the value is sent as JSON text (`content: application/json`).
    pub json: bool,
}

impl Parameter {
    /// Returns a parameter with OpenAPI's defaults for its place.
    #[must_use]
    pub fn new(name: impl Into<String>, location: Location) -> Self {
        let style = Style::default_for(location);
        Self {
            name: name.into(),
            location,
            style,
            explode: style.explodes_by_default(),
            allow_reserved: false,
            multi_segment: false,
            json: false,
        }
    }
}

/// How a body is written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BodySpec {
    /// The declared content type, parameters included.
    pub content_type: String,
    /// What the document says of single fields of a form.
    pub encoding: BTreeMap<String, FieldEncoding>,
    /// Fields of a multipart body that are files.
    pub binary_fields: BTreeSet<String>,
}

/// How one field of a form body is written, where the document says so.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldEncoding {
    /// How arrays and objects are written.
    pub style: Option<Style>,
    /// Whether each item of an array or object stands on its own.
    pub explode: Option<bool>,
    /// The content type of the field.
    pub content_type: Option<String>,
}

/// Why a request cannot be built. Names parameters, never their values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// A placeholder of the template got no value.
    #[error("path parameter `{0}` is missing")]
    MissingPath(String),
    /// A path value would leave an empty segment, which is another route.
    #[error(
        "path parameter `{0}` has an empty segment: give a value without leading, trailing or doubled `/`"
    )]
    EmptyPath(String),
    /// A segment of the path would be `.` or `..`, which leads to another route.
    #[error("a segment of `{0}` would be `.` or `..`, which names another path")]
    DotSegment(String),
    /// A value holds characters that its place cannot carry.
    #[error("{place} `{name}` holds control characters: remove them")]
    ControlCharacter {
        /// "path parameter" or "header".
        place: &'static str,
        /// The name of the parameter or header.
        name: String,
    },
    /// The header has a name that is not one, or belongs to the transport.
    #[error("header `{0}` cannot be set by a request")]
    Header(String),
    /// The parameter is a cookie.
    #[error("cookie parameter `{0}` is not supported: cookies are never sent")]
    Cookie(String),
    /// The body cannot be written as the content type wants it.
    #[error("body of type `{content_type}`: {problem}")]
    Body {
        /// The declared content type.
        content_type: String,
        /// What is wrong, and what would be right.
        problem: String,
    },
}

/// Collects the parts of one request; the first mistake is reported by [`RequestBuilder::build`].
#[derive(Debug)]
pub struct RequestBuilder {
    method: Method,
    template: String,
    path_values: Vec<(String, String)>,
    query: Vec<(String, String)>,
    headers: Vec<(String, String)>,
    body: Option<Body>,
    error: Option<RequestError>,
}

impl RequestBuilder {
    /// Starts a request for a route template such as `/users/{id}`.
    #[must_use]
    pub fn new(method: Method, template: impl Into<String>) -> Self {
        Self {
            method,
            template: template.into(),
            path_values: Vec::new(),
            query: Vec::new(),
            headers: Vec::new(),
            body: None,
            error: None,
        }
    }

    /// Adds a declared parameter. A `null` in query or header is left out; in a path it is missing.
    #[must_use]
    pub fn parameter(self, parameter: &Parameter, value: &Value) -> Self {
        if value.is_null() {
            return self;
        }
        self.attempt(|it| it.add_parameter(parameter, value))
    }

    /// Adds a query parameter the document does not declare: arrays repeat the name, objects
    /// become `name[key]=`, `null` is left out.
    #[must_use]
    pub fn query(mut self, name: &str, value: &Value) -> Self {
        let style = styles::undeclared(value);
        self.query.extend(styles::pairs(name, value, style, true, Encoding::Component));
        self
    }

    /// Adds a header. Framing headers (`Host`, `Content-Length`, …) are refused.
    #[must_use]
    pub fn header(self, name: &str, value: &str) -> Self {
        self.attempt(|it| it.add_header(name, value.to_owned()))
    }

    /// Sets a JSON body whose text is sent to the letter.
    #[must_use]
    pub fn json_body(mut self, content_type: &str, text: String) -> Self {
        self.body = Some(Body { content_type: content_type.to_owned(), bytes: Bytes::from(text) });
        self
    }

    /// Sets a body written as its content type wants it: JSON, form, multipart, text or bytes.
    ///
    /// Bytes are given as `{ "base64": "…", "type"?: "…", "filename"?: "…" }`.
    #[must_use]
    pub fn body(self, spec: &BodySpec, value: &Value) -> Self {
        self.attempt(|it| {
            it.body = Some(body::write(spec, value)?);
            Ok(())
        })
    }

    /// Sets a multipart body; `content_type` is the declared one, such as `multipart/form-data`.
    #[must_use]
    pub fn parts(self, content_type: &str, parts: &[Part]) -> Self {
        self.attempt(|it| {
            let written = multipart::assemble(content_type, parts);
            it.body = Some(written.map_err(|problem| RequestError::Body {
                content_type: content_type.to_owned(),
                problem,
            })?);
            Ok(())
        })
    }

    /// Puts the request together.
    ///
    /// # Errors
    /// The first mistake in what was added, or a placeholder without a value.
    pub fn build(self) -> Result<Request, RequestError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        // A fragment is never sent; some documents use one to tell operations apart.
        let (route, _) = self.template.split_once('#').unwrap_or((&self.template, ""));
        let (route, fixed_query) = route.split_once('?').unwrap_or((route, ""));
        let mut path = fill(route, &self.path_values)?;
        if !path.starts_with('/') {
            path.insert(0, '/');
        }
        if path.split('/').any(is_dot_segment) {
            return Err(RequestError::DotSegment(self.template));
        }

        let mut query = fill(fixed_query, &self.path_values)?;
        for (name, value) in &self.query {
            if !query.is_empty() {
                query.push('&');
            }
            query.extend([name.as_str(), "=", value.as_str()]);
        }

        let mut headers = self.headers;
        if let Some(Body { content_type, .. }) = &self.body {
            if http::HeaderValue::from_str(content_type).is_err() {
                let problem = "the content type is not a header value".to_owned();
                return Err(RequestError::Body { content_type: content_type.clone(), problem });
            }
            headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
        }
        let Self { method, template, body, .. } = self;
        Ok(Request { method, template, path, query, headers, body })
    }

    fn attempt(mut self, add: impl FnOnce(&mut Self) -> Result<(), RequestError>) -> Self {
        if self.error.is_none() {
            self.error = add(&mut self).err();
        }
        self
    }

    fn add_parameter(&mut self, parameter: &Parameter, value: &Value) -> Result<(), RequestError> {
        let Parameter { name, location, style, explode, .. } = parameter;
        let json = parameter.json.then(|| Value::String(value.to_string()));
        let value = json.as_ref().unwrap_or(value);
        match location {
            Location::Path => {
                let text = if parameter.multi_segment {
                    segments(name, &styles::text(value))?
                } else {
                    styles::path(name, value, *style, *explode)
                };
                if text.is_empty() || styles::is_empty(value) {
                    return Err(RequestError::EmptyPath(name.clone()));
                }
                if has_encoded_control(&text) {
                    let place = "path parameter";
                    return Err(RequestError::ControlCharacter { place, name: name.clone() });
                }
                self.path_values.push((name.clone(), text));
            }
            Location::Query => {
                let encoding =
                    if parameter.allow_reserved { Encoding::Reserved } else { Encoding::Component };
                self.query.extend(styles::pairs(name, value, *style, *explode, encoding));
            }
            Location::Header => self.add_header(name, styles::header(value, *explode))?,
            Location::Cookie => return Err(RequestError::Cookie(name.clone())),
        }
        Ok(())
    }

    fn add_header(&mut self, name: &str, value: String) -> Result<(), RequestError> {
        let framing = FRAMING_HEADERS.iter().any(|it| name.eq_ignore_ascii_case(it));
        if framing || http::HeaderName::from_bytes(name.as_bytes()).is_err() {
            return Err(RequestError::Header(name.to_owned()));
        }
        if http::HeaderValue::from_bytes(value.as_bytes()).is_err() {
            let place = "header";
            return Err(RequestError::ControlCharacter { place, name: name.to_owned() });
        }
        self.headers.push((name.to_owned(), value));
        Ok(())
    }
}

/// Headers that say how a message travels; a caller that sets one can split or redirect it.
const FRAMING_HEADERS: &[&str] = &[
    "connection",
    "content-encoding",
    "content-length",
    "cookie",
    "expect",
    "host",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Puts encoded values into a template. Values are copied whole, never looked at for placeholders.
fn fill(template: &str, values: &[(String, String)]) -> Result<String, RequestError> {
    let mut filled = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((literal, after)) = rest.split_once('{') {
        let Some((name, tail)) = after.split_once('}') else { break };
        filled.push_str(&styles::literal(literal));
        let value = values.iter().find(|(known, _)| known == name);
        let (_, value) = value.ok_or_else(|| RequestError::MissingPath(name.to_owned()))?;
        filled.push_str(value);
        rest = tail;
    }
    filled.push_str(&styles::literal(rest));
    Ok(filled)
}

/// Encodes a value that spans several segments, each on its own.
fn segments(name: &str, value: &str) -> Result<String, RequestError> {
    let parts: Vec<&str> = value.split('/').collect();
    if parts.iter().any(|part| part.is_empty()) {
        return Err(RequestError::EmptyPath(name.to_owned()));
    }
    let encoded: Vec<String> = parts.iter().map(|part| Encoding::Component.apply(part)).collect();
    Ok(encoded.join("/"))
}

/// Whether a URL parser, or a server that decodes before it routes, would take a part of this
/// segment for `.` or `..`.
fn is_dot_segment(segment: &str) -> bool {
    let decoded = percent_encoding::percent_decode_str(segment).decode_utf8_lossy();
    decoded.split(['/', '\\']).any(|part| part == "." || part == "..")
}

fn has_encoded_control(encoded: &str) -> bool {
    percent_encoding::percent_decode_str(encoded).decode_utf8_lossy().chars().any(char::is_control)
}

#[cfg(test)]
mod tests;
