//! How a script writes a call: the two forms of `api.request`, and `api.call` by operationId.

use std::collections::BTreeMap;

use serde_json::{Map, Value, value::RawValue};
use url::Url;

use api_client::{
    Method,
    request::{
        BodySpec, FieldEncoding, Location, Parameter as WireParameter, Request, RequestBuilder,
    },
};

use crate::{
    context::Api,
    openapi::{Document, MediaType, Operation, Parameter},
    sandbox::HostError,
};

use super::{
    files,
    policy::{CallArguments, Refusal, Rule},
};

/// What `api.request` was given.
#[derive(Debug)]
pub(super) struct RequestForm {
    /// Upper case.
    pub(super) method: String,
    /// As written, without its query.
    pub(super) path: String,
    /// From the path and from `query`, in this order.
    pub(super) query: Vec<(String, Value)>,
    /// Names as written.
    pub(super) headers: Vec<(String, Value)>,
    /// Exact text.
    pub(super) body: Option<Box<RawValue>>,
}

const REQUEST_USAGE: &str = "write `api.request(method, path, { query, body, headers })` or `api.request({ method, path, query, body, headers })`";

impl RequestForm {
    /// Reads the arguments of `api.request`, given as a JSON array.
    ///
    /// # Errors
    /// Names an option that does not exist and the one that was probably meant.
    pub(super) fn parse(arguments: &str) -> Result<Self, HostError> {
        let given: Vec<Box<RawValue>> = parse(arguments)?;
        let mut given = given.into_iter();
        let first = given.next().ok_or_else(|| usage("a method and a path are missing"))?;
        let mut options = match serde_json::from_str::<Value>(first.get()) {
            Ok(Value::String(method)) => {
                let path = given.next().ok_or_else(|| usage("the path is missing"))?;
                let path: String = serde_json::from_str(path.get())
                    .map_err(|_| usage("the second argument must be the path, a text"))?;
                let mut options = match given.next() {
                    Some(options) if options.get() != "null" => object(&options)?,
                    _ => Fields::new(),
                };
                for name in ["method", "path"] {
                    if options.contains_key(name) {
                        return Err(usage(&format!("`{name}` is given twice")));
                    }
                }
                options.insert("method".to_owned(), raw(&Value::String(method))?);
                options.insert("path".to_owned(), raw(&Value::String(path))?);
                options
            }
            Ok(Value::Object(_)) => object(&first)?,
            _ => return Err(usage("the first argument must be the method or an object")),
        };
        let method = text(&mut options, "method")?;
        let path = text(&mut options, "path")?;
        let body = options.shift_remove("body").filter(|body| body.get() != "null");
        let (path, mut query) = split_query(&path);
        if let Some(given) = options.shift_remove("query") {
            query.extend(query_pairs(&given)?);
        }
        let headers = match options.shift_remove("headers") {
            Some(headers) if headers.get() != "null" => pairs(&headers, "headers")?,
            _ => Vec::new(),
        };
        if let Some(unknown) = options.keys().next() {
            return Err(usage(&unknown_option(unknown)));
        }
        Ok(Self { method: method.trim().to_ascii_uppercase(), path, query, headers, body })
    }
}

/// Brings what was written as a path to a path of this API: a full URL of the same origin is
/// accepted, any other is refused.
pub(super) fn local_path(path: &str, base: &Url) -> Result<String, Refusal> {
    let foreign = || {
        Refusal::new(
            Rule::Origin,
            format!(
                "`{}` is not on {}: give the path alone, as in `/users/`; nothing was sent",
                shorten(path),
                base.host_str().unwrap_or_default()
            ),
        )
    };
    if path.starts_with("//") || path.starts_with("/\\") || path.starts_with('\\') {
        return Err(foreign());
    }
    let scheme_end = path.find("://");
    let first_slash = path.find('/');
    let is_url = matches!((scheme_end, first_slash), (Some(scheme), Some(slash)) if scheme < slash);
    if !is_url {
        return if path.starts_with('/') {
            Ok(path.to_owned())
        } else if path.is_empty() {
            Err(Refusal::new(Rule::Path, "the path is empty; it begins with `/`"))
        } else {
            Ok(format!("/{path}"))
        };
    }
    let url = Url::parse(path).map_err(|_| foreign())?;
    if url.origin() != base.origin() || !url.username().is_empty() || url.password().is_some() {
        return Err(foreign());
    }
    // The path as written, not as the URL parser tidied it: `..` must be seen to be refused.
    let after_scheme = path.get(scheme_end.unwrap_or_default() + 3..).unwrap_or_default();
    Ok(after_scheme.find('/').and_then(|at| after_scheme.get(at..)).unwrap_or("/").to_owned())
}

/// What `api.call` and `api.paginate` were given beside the operation.
#[derive(Debug, Default)]
pub(super) struct CallForm {
    pub(super) path: Vec<(String, Value)>,
    pub(super) query: Vec<(String, Value)>,
    pub(super) headers: Vec<(String, Value)>,
    pub(super) body: Option<Box<RawValue>>,
    /// `maxItems` and `from`, which belong to `paginate`, where no parameter has that name.
    pub(super) options: Map<String, Value>,
}

/// Sorts the arguments of a call by the operation's parameters.
///
/// A key that names a declared parameter is that parameter, unless its value is an object and the
/// declared type is not; then `path`, `query`, `headers` and `header` are groups.
///
/// # Errors
/// Names the first key that is neither.
pub(super) fn sort_arguments(
    operation: &Operation,
    arguments: Option<&RawValue>,
    options: &[&str],
) -> Result<CallForm, HostError> {
    let mut form = CallForm::default();
    let Some(arguments) = arguments.filter(|it| it.get() != "null") else { return Ok(form) };
    for (name, value) in object(arguments)? {
        let parsed: Value = parse(value.get())?;
        if let Some(parameter) = operation.parameters.iter().find(|it| it.name == name)
            && !(parsed.is_object() && is_group(&name) && !takes_object(parameter))
        {
            form.place(parameter, parsed);
            continue;
        }
        match name.as_str() {
            "body" => form.body = Some(value).filter(|body| body.get() != "null"),
            "path" => form.path.extend(pairs(&value, "path")?),
            "query" => form.query.extend(query_pairs(&value)?),
            "headers" | "header" => form.headers.extend(pairs(&value, "headers")?),
            option if options.contains(&option) => {
                form.options.insert(name, parsed);
            }
            _ => return Err(unknown_argument(operation, &name)),
        }
    }
    Ok(form)
}

impl CallForm {
    fn place(&mut self, parameter: &Parameter, value: Value) {
        let target = match parameter.location {
            Location::Path => &mut self.path,
            Location::Query => &mut self.query,
            Location::Header | Location::Cookie => &mut self.headers,
        };
        target.push((parameter.name.clone(), value));
    }

    /// The same, as the policy reads it.
    pub(super) fn arguments(&self) -> CallArguments<'_> {
        CallArguments {
            path: self.path.clone(),
            query: self.query.clone(),
            headers: self.headers.clone(),
            body: self.body.as_deref(),
        }
    }
}

fn is_group(name: &str) -> bool {
    matches!(name, "path" | "query" | "headers" | "header" | "body")
}

fn takes_object(parameter: &Parameter) -> bool {
    let schema = &parameter.schema;
    parameter.json_content
        || schema.get("type").and_then(Value::as_str) == Some("object")
        || schema.get("properties").is_some()
        || schema.get("$ref").is_some()
}

/// Builds the request: parameters in their declared style, everything else as the most common one.
///
/// # Errors
/// A value that its place cannot carry.
pub(super) fn build(
    api: &Api,
    document: &Document,
    operation: &Operation,
    call: &CallArguments<'_>,
) -> Result<Request, Refusal> {
    let bad = |message: String| Refusal::new(Rule::Arguments, message);
    let method = Method::from_bytes(operation.method.as_str().as_bytes())
        .map_err(|_| bad(format!("`{}` is not a method", operation.method.as_str())))?;
    let prefix = server_prefix(document, operation, api)?;
    let mut builder = RequestBuilder::new(method, format!("{prefix}{}", operation.path));
    let declared = |name: &str, location: Location| {
        operation.parameters.iter().find(|it| it.location == location && it.name == name)
    };
    for (name, value) in &call.path {
        let parameter = declared(name, Location::Path)
            .map_or_else(|| WireParameter::new(name.as_str(), Location::Path), Parameter::wire);
        builder = builder.parameter(&parameter, value);
    }
    for (name, value) in &call.query {
        builder = match declared(name, Location::Query) {
            Some(parameter) => builder.parameter(&parameter.wire(), value),
            None => builder.query(name, value),
        };
    }
    for (name, value) in &call.headers {
        let parameter = operation
            .parameters
            .iter()
            .find(|it| it.location == Location::Header && it.name.eq_ignore_ascii_case(name));
        builder = match (parameter, value) {
            (Some(parameter), value) => builder.parameter(&parameter.wire(), value),
            (None, Value::String(value)) => builder.header(name, value),
            (None, Value::Number(value)) => builder.header(name, &value.to_string()),
            (None, _) => return Err(bad(format!("header `{name}` must be a text"))),
        };
    }
    if let Some(body) = call.body {
        let media = operation.body.as_ref().and_then(|it| it.preferred());
        builder = match media {
            Some(media) if !is_json(&media.content_type) => {
                let mut value: Value = serde_json::from_str(body.get())
                    .map_err(|error| bad(format!("the body is not JSON: {error}")))?;
                files::stand_in(&mut value);
                builder.body(&media.wire(document), &value)
            }
            _ if files::has_handle(body.get()) => {
                return Err(bad(format!(
                    "`{}` takes JSON, and a file is no part of that",
                    operation.id
                )));
            }
            media => {
                let declared = media.map_or("application/json", |it| it.content_type.as_str());
                let content_type =
                    if declared.contains('*') { "application/json" } else { declared };
                builder.json_body(content_type, body.get().to_owned())
            }
        };
    }
    builder.build().map_err(|error| bad(format!("{error}; nothing was sent")))
}

/// What stands between the base URL and the operation's path.
///
/// # Errors
/// Refuses an operation that the document places on another host: the credential is not for it.
fn server_prefix(document: &Document, operation: &Operation, api: &Api) -> Result<String, Refusal> {
    let base = api.transport.base_url();
    let variables: BTreeMap<String, String> = api
        .profile
        .server_variables
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    let root = document.server_url(&variables);
    if operation.servers.is_empty() {
        return Ok(api.profile.prefix(base, &root));
    }
    let from = document.document_url();
    let own = operation
        .servers
        .first()
        .map(|server| server.resolve(from.as_ref(), &variables))
        .unwrap_or_default();
    let origin = |url: &str| base.join(url).map(|it| it.origin());
    let allowed = origin(&own) == origin(&root) || origin(&own) == Ok(base.origin());
    if allowed {
        return Ok(api.profile.prefix(base, &own));
    }
    Err(Refusal::new(
        Rule::Origin,
        format!(
            "`{}` is served by `{own}`, which is not this API's configured address; nothing was sent",
            operation.id
        ),
    ))
}

/// Whether a body of this type is sent as the script's own JSON text.
pub(super) fn is_json(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "*/*"
        || essence.ends_with("json")
        || essence.ends_with("/*") && essence.starts_with("application")
}

impl Parameter {
    fn wire(&self) -> WireParameter {
        WireParameter {
            name: self.name.clone(),
            location: self.location,
            style: self.style,
            explode: self.explode,
            allow_reserved: self.allow_reserved,
            multi_segment: self.multi_segment,
            json: self.json_content,
        }
    }
}

impl MediaType {
    fn wire(&self, document: &Document) -> BodySpec {
        let schema = document.flatten(&self.schema);
        let properties = schema.get("properties").and_then(Value::as_object);
        let is_binary = |property: &Value| {
            let property = document.flatten(property);
            let format = property.get("format").and_then(Value::as_str);
            matches!(format, Some("binary" | "base64"))
                || property.get("contentMediaType").is_some()
        };
        BodySpec {
            content_type: self.content_type.clone(),
            encoding: self
                .encoding
                .iter()
                .map(|(name, it)| {
                    let encoding = FieldEncoding {
                        style: it.style,
                        explode: it.explode,
                        content_type: it.content_type.clone(),
                    };
                    (name.clone(), encoding)
                })
                .collect(),
            binary_fields: properties
                .into_iter()
                .flatten()
                .filter(|(_, property)| is_binary(property))
                .map(|(name, _)| name.clone())
                .collect(),
        }
    }
}

type Fields = indexmap::IndexMap<String, Box<RawValue>>;

fn parse<'a, T: serde::Deserialize<'a>>(text: &'a str) -> Result<T, HostError> {
    serde_json::from_str(text)
        .map_err(|error| usage(&format!("the arguments are not JSON: {error}")))
}

fn raw(value: &Value) -> Result<Box<RawValue>, HostError> {
    RawValue::from_string(value.to_string()).map_err(|error| usage(&error.to_string()))
}

fn object(value: &RawValue) -> Result<Fields, HostError> {
    serde_json::from_str(value.get())
        .map_err(|_| usage(&format!("expected an object, got `{}`", shorten(value.get()))))
}

fn text(options: &mut Fields, name: &str) -> Result<String, HostError> {
    let value = options.shift_remove(name).ok_or_else(|| {
        let stray = options.keys().find(|it| !OPTIONS.contains(&it.as_str()));
        usage(&stray.map_or_else(
            || format!("`{name}` is missing"),
            |stray| format!("`{name}` is missing, and {}", unknown_option(stray)),
        ))
    })?;
    serde_json::from_str(value.get()).map_err(|_| usage(&format!("`{name}` must be a text")))
}

const OPTIONS: [&str; 5] = ["method", "path", "query", "body", "headers"];

fn unknown_option(name: &str) -> String {
    let meant = match name.to_ascii_lowercase().as_str() {
        "params" | "qs" | "search" | "searchparams" | "parameters" => "query",
        "data" | "json" | "payload" | "form" => "body",
        "url" | "uri" | "pth" | "endpoint" | "route" => "path",
        "header" => "headers",
        "verb" | "type" => "method",
        _ => return format!("`{name}` is not an option; the options are query, body, headers"),
    };
    format!("`{name}` is not an option: write `{meant}`")
}

fn unknown_argument(operation: &Operation, name: &str) -> HostError {
    let mut known: Vec<_> =
        operation.parameters.iter().map(|it| format!("`{}`", it.name)).collect();
    if operation.body.is_some() {
        known.push("`body` (its fields go inside)".to_owned());
    }
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    usage(&format!(
        "`{name}` is not a parameter of `{}`; its parameters: {known}; undocumented ones go into `query`",
        operation.id
    ))
}

fn usage(problem: &str) -> HostError {
    HostError::new("TypeError", format!("{problem}; {REQUEST_USAGE}"))
}

fn split_query(path: &str) -> (String, Vec<(String, Value)>) {
    let path = path.split_once('#').map_or(path, |(path, _)| path);
    match path.split_once('?') {
        Some((path, query)) => (path.to_owned(), parse_query(query)),
        None => (path.to_owned(), Vec::new()),
    }
}

/// The decoded pairs of a query, with or without its `?`.
pub(super) fn parse_query(text: &str) -> Vec<(String, Value)> {
    url::form_urlencoded::parse(text.trim_start_matches('?').as_bytes())
        .map(|(name, value)| (name.into_owned(), Value::String(value.into_owned())))
        .collect()
}

fn query_pairs(value: &RawValue) -> Result<Vec<(String, Value)>, HostError> {
    match serde_json::from_str::<Value>(value.get()) {
        Ok(Value::Null) => Ok(Vec::new()),
        Ok(Value::String(text)) => Ok(parse_query(&text)),
        _ => pairs(value, "query"),
    }
}

fn pairs(value: &RawValue, what: &str) -> Result<Vec<(String, Value)>, HostError> {
    match serde_json::from_str::<Value>(value.get()) {
        Ok(Value::Object(fields)) => {
            Ok(fields.into_iter().filter(|(_, it)| !it.is_null()).collect())
        }
        _ => Err(usage(&format!("`{what}` must be an object"))),
    }
}

/// The beginning of a text, for a message.
fn shorten(text: &str) -> String {
    const SHOWN: usize = 80;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn form(arguments: Value) -> Result<RequestForm, String> {
        RequestForm::parse(&arguments.to_string()).map_err(|error| error.message)
    }

    #[test]
    fn both_forms_mean_the_same() {
        let positional = form(json!(["get", "/items", {"query": {"limit": 5}}])).unwrap();
        let object =
            form(json!([{"method": "GET", "path": "/items", "query": {"limit": 5}}])).unwrap();
        for form in [positional, object] {
            assert_eq!((form.method.as_str(), form.path.as_str()), ("GET", "/items"));
            assert_eq!(form.query, [("limit".to_owned(), json!(5))]);
        }
    }

    #[test]
    fn a_query_in_the_path_is_a_query() {
        let form =
            form(json!(["GET", "/items?q=a%20b&limit=1#x", {"query": {"page": 2}}])).unwrap();
        assert_eq!(form.path, "/items");
        let expected = [("q", json!("a b")), ("limit", json!("1")), ("page", json!(2))];
        assert_eq!(form.query, expected.map(|(name, value)| (name.to_owned(), value)));
    }

    #[test]
    fn wrong_options_are_named_with_the_right_one() {
        let table = [
            (
                json!([{"method": "GET", "pth": "/items"}]),
                "`path` is missing, and `pth` is not an option: write `path`",
            ),
            (json!(["GET", "/items", {"params": {}}]), "`params` is not an option: write `query`"),
            (json!(["POST", "/items", {"data": {}}]), "`data` is not an option: write `body`"),
            (
                json!(["GET", "/items", {"zzz": 1}]),
                "`zzz` is not an option; the options are query, body, headers",
            ),
            (json!([]), "a method and a path are missing"),
            (json!(["/items"]), "the path is missing"),
            (json!(["GET", "/items", 3]), "expected an object, got `3`"),
        ];
        for (arguments, message) in table {
            let error = form(arguments.clone()).expect_err("a wrong form is an error");
            assert!(error.starts_with(message), "{arguments}: {error}");
        }
    }

    #[test]
    fn the_body_keeps_its_exact_text() {
        let form = RequestForm::parse(
            r#"["POST","/x",{"body":{"n":123456789012345678901234567890,"f":1.0}}]"#,
        );
        assert_eq!(
            form.unwrap().body.unwrap().get(),
            r#"{"n":123456789012345678901234567890,"f":1.0}"#
        );
    }

    #[test]
    fn only_this_origin_is_a_path() {
        let base = Url::parse("https://id.test:9443/api/v3").unwrap();
        let local = |path: &str| local_path(path, &base).map_err(|it| it.rule);
        assert_eq!(local("/core/users/"), Ok("/core/users/".to_owned()));
        assert_eq!(local("core/users/"), Ok("/core/users/".to_owned()));
        assert_eq!(local("https://id.test:9443/api/v3/x/../y"), Ok("/api/v3/x/../y".to_owned()));
        for foreign in [
            "http://id.test:9443/x",
            "https://id.test/x",
            "https://evil.test/x",
            "//evil.test/x",
            "/\\evil.test/x",
            "\\\\evil.test",
            "https://u:p@id.test:9443/x",
            "https://id.test:9443@evil.test/x",
        ] {
            assert_eq!(local(foreign), Err(Rule::Origin), "{foreign}");
        }
    }
}
