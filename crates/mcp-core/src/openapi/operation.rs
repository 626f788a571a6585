//! One operation, read from its stored text when it is asked for.

use std::borrow::Cow;
use std::collections::HashMap;

use api_client::request::{Location, Style};
use serde_json::Value;

use super::document::{Document, Method, Summary};
use super::resolve::Target;
use super::security::location;
use super::server::{Server, servers};
use super::text::{Json, Kind, Object};

/// Values longer than this, in bytes, are taken for no reference that others share.
pub(super) const MAX_REFERENCE: usize = 200;

/// An operation with everything a call needs. References of parameters, body and responses are
/// resolved; those inside schemas are not, see [`Document::resolve`] and [`Document::flatten`].
#[derive(Clone, Debug)]
pub struct Operation {
    /// The name to call it by, as in [`Summary::id`].
    pub id: String,
    /// Its method.
    pub method: Method,
    /// Its path template.
    pub path: String,
    /// The document's summary; may be empty.
    pub summary: String,
    /// The document's description, with its markup; may be empty.
    pub description: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// Whether the document says not to use it any more.
    pub deprecated: bool,
    /// Its parameters: those of the path item first, each name and place once.
    pub parameters: Vec<Parameter>,
    /// The body it takes.
    pub body: Option<Body>,
    /// The documented answers, in document order.
    pub responses: Vec<Response>,
    /// The scopes any of its security requirements names, without repetitions.
    pub scopes: Vec<String>,
    /// The servers it is at, where they differ from the document's.
    pub servers: Vec<Server>,
}

/// A parameter of an operation.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name, as it goes into the request.
    pub name: String,
    /// Where it goes.
    pub location: Location,
    /// Whether a call needs it. Always true in a path.
    pub required: bool,
    /// What its value looks like; `true` where the document does not say.
    pub schema: Value,
    /// How lists and objects are written.
    pub style: Style,
    /// Whether each element stands for itself.
    pub explode: bool,
    /// Whether reserved characters are sent as they are.
    pub allow_reserved: bool,
    /// Whether its value may be several path segments (`x-multi-segment: true`).
    pub multi_segment: bool,
    /// Whether its value is sent as JSON text.
    pub json_content: bool,
    /// What the document says about it; may be empty.
    pub description: String,
    /// Whether the document says not to use it any more.
    pub deprecated: bool,
}

/// The body of an operation.
#[derive(Clone, Debug)]
pub struct Body {
    /// Whether a call needs one.
    pub required: bool,
    /// The forms it may have, best first: JSON, then forms, then files and text.
    pub content: Vec<MediaType>,
}

impl Body {
    /// The form to send when the caller does not choose.
    #[must_use]
    pub fn preferred(&self) -> Option<&MediaType> {
        self.content.first()
    }
}

/// One form of a body or response.
#[derive(Clone, Debug)]
pub struct MediaType {
    /// Its content type, as the document writes it.
    pub content_type: String,
    /// What it holds; `true` where the document does not say.
    pub schema: Value,
    /// How the fields of a form are written, by name.
    pub encoding: Vec<(String, Encoding)>,
}

/// How one field of a form is written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Encoding {
    /// How lists and objects are written.
    pub style: Option<Style>,
    /// Whether each element stands for itself.
    pub explode: Option<bool>,
    /// The field's own content type.
    pub content_type: Option<String>,
}

/// A documented answer.
#[derive(Clone, Debug)]
pub struct Response {
    /// `200`, `4XX`, `default`.
    pub status: String,
    /// What the document says about it; may be empty.
    pub description: String,
    /// The forms it may have, best first; empty for an answer without a body.
    pub content: Vec<MediaType>,
}

impl Document {
    /// Reads an operation by its index in [`Document::summaries`]. `None` beyond the last one.
    #[must_use]
    pub fn operation(&self, index: usize) -> Option<Operation> {
        let parts = self.parts(index)?;
        let text = |name| parts.operation.get_str(name).unwrap_or_default().into_owned();
        Some(Operation {
            id: parts.summary.id.clone(),
            method: parts.summary.method,
            path: parts.summary.path.clone(),
            summary: text("summary"),
            description: text("description"),
            tags: parts.summary.tags.clone(),
            deprecated: parts.summary.deprecated,
            parameters: parts.parameters().into_iter().map(|it| self.parameter(it)).collect(),
            body: parts.body().map(|body| Body {
                required: body.flag("required"),
                content: self.media_types(body),
            }),
            responses: parts
                .responses()
                .map(|(status, response)| Response {
                    status: status.into_owned(),
                    description: response.get_str("description").unwrap_or_default().into_owned(),
                    content: self.media_types(response),
                })
                .collect(),
            scopes: parts.scopes(),
            servers: parts.servers(),
        })
    }

    fn parameter(&self, parameter: ParameterText<'_>) -> Parameter {
        let json = parameter.json;
        let style = parameter.style();
        let content = json.get("content").and_then(|it| it.members().next());
        Parameter {
            location: parameter.location,
            required: parameter.required(),
            schema: parameter.schema().map_or(Value::Bool(true), |it| self.resolved(it)),
            style,
            explode: json.get("explode").and_then(Json::as_bool).unwrap_or(style == Style::Form),
            allow_reserved: json.flag("allowReserved"),
            multi_segment: json.flag("x-multi-segment"),
            json_content: content.is_some_and(|(kind, _)| is_json(&kind.name())),
            description: json.get_str("description").unwrap_or_default().into_owned(),
            deprecated: json.flag("deprecated"),
            name: parameter.name.into_owned(),
        }
    }

    fn media_types(&self, holder: Json<'_>) -> Vec<MediaType> {
        contents(holder)
            .into_iter()
            .map(|(content_type, media)| MediaType {
                content_type: content_type.into_owned(),
                schema: media.get("schema").map_or(Value::Bool(true), |it| self.resolved(it)),
                encoding: media
                    .get("encoding")
                    .into_iter()
                    .flat_map(Json::members)
                    .map(|(field, json)| (field.name().into_owned(), encoding(json)))
                    .collect(),
            })
            .collect()
    }

    /// A schema behind its references, or as it is where they lead nowhere.
    fn resolved<'a>(&'a self, schema: Json<'a>) -> Value {
        match self.follow(schema) {
            Target::Found(json) => json.parse(),
            Target::Missing(_) => schema.parse(),
        }
    }

    /// The stored text of an operation with what its path item adds.
    pub(super) fn parts(&self, index: usize) -> Option<Parts<'_>> {
        let stored = self.operations.get(index)?;
        let shared = self.path_at(stored.path).and_then(|path| path.shared);
        Some(Parts {
            document: self,
            summary: self.summaries.get(index)?,
            text: self.stored(stored.span),
            operation: self.stored(stored.span).object(),
            shared: shared.map(|span| self.stored(span)),
        })
    }
}

/// An operation as it is stored.
#[derive(Debug)]
pub(super) struct Parts<'a> {
    pub(super) document: &'a Document,
    pub(super) summary: &'a Summary,
    pub(super) text: Json<'a>,
    operation: Object<'a>,
    shared: Option<Json<'a>>,
}

impl<'a> Parts<'a> {
    /// Its parameters after references and the path item's own; a parameter that leads nowhere is
    /// left out, a placeholder that nothing declares is a string.
    pub(super) fn parameters(&self) -> Vec<ParameterText<'a>> {
        self.parameters_by(&mut ParameterReader::new(self.document))
    }

    /// [`Self::parameters`], with a reader that serves several operations.
    pub(super) fn parameters_by(&self, reader: &mut ParameterReader<'a>) -> Vec<ParameterText<'a>> {
        let path = self.summary.path.as_str();
        let shared = self.shared.and_then(|shared| shared.get("parameters"));
        let own = self.operation.get("parameters");
        let mut parameters: Vec<ParameterText<'a>> = Vec::new();
        for json in shared.into_iter().chain(own).flat_map(Json::elements) {
            let Some(parameter) = reader.read(json).filter(|it| it.counts(path)) else { continue };
            let same = |it: &&mut ParameterText<'a>| {
                it.location == parameter.location && it.name == parameter.name
            };
            match parameters.iter_mut().find(same) {
                Some(earlier) => *earlier = parameter,
                None => parameters.push(parameter),
            }
        }
        for name in placeholders(path) {
            if !parameters.iter().any(|it| it.location == Location::Path && it.name == name) {
                let json = Json::new("{}");
                parameters.push(ParameterText {
                    name: Cow::Borrowed(name),
                    location: Location::Path,
                    json,
                });
            }
        }
        parameters
    }

    pub(super) fn body(&self) -> Option<Json<'a>> {
        let body = self.operation.get("requestBody")?;
        self.document.follow(body).found().filter(|body| body.is_object())
    }

    pub(super) fn responses(&self) -> impl Iterator<Item = (Cow<'a, str>, Json<'a>)> {
        let document = self.document;
        let responses = self.operation.get("responses").into_iter().flat_map(Json::members);
        responses.map(move |(status, response)| {
            let found = document.follow(response).found().filter(|it| it.is_object());
            (status.name(), found.unwrap_or(Json::new("{}")))
        })
    }

    pub(super) fn scopes(&self) -> Vec<String> {
        let document = self.document;
        let security = self.operation.get("security");
        let security = security.or_else(|| document.security.map(|span| document.stored(span)));
        let mut scopes = Vec::new();
        let requirements = security.into_iter().flat_map(Json::elements);
        for scope in requirements.flat_map(Json::members).flat_map(|(_, scopes)| scopes.strings()) {
            if !scopes.iter().any(|it| *it == scope) {
                scopes.push(scope.into_owned());
            }
        }
        scopes
    }

    pub(super) fn servers(&self) -> Vec<Server> {
        let own = servers(self.operation.get("servers"));
        if own.is_empty() {
            servers(self.shared.and_then(|shared| shared.get("servers")))
        } else {
            own
        }
    }
}

/// A parameter as it is stored.
#[derive(Clone, Debug)]
pub(super) struct ParameterText<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) location: Location,
    pub(super) json: Json<'a>,
}

/// Reads parameters, those that several operations refer to once.
#[derive(Debug)]
pub(super) struct ParameterReader<'a> {
    document: &'a Document,
    /// By the text of the reference.
    shared: HashMap<&'a str, Option<ParameterText<'a>>>,
}

impl<'a> ParameterReader<'a> {
    pub(super) fn new(document: &'a Document) -> Self {
        Self { document, shared: HashMap::new() }
    }

    fn read(&mut self, json: Json<'a>) -> Option<ParameterText<'a>> {
        let read = || ParameterText::of(self.document, json);
        if json.text().len() > MAX_REFERENCE {
            return read();
        }
        self.shared.entry(json.text()).or_insert_with(read).clone()
    }
}

impl<'a> ParameterText<'a> {
    fn of(document: &'a Document, json: Json<'a>) -> Option<Self> {
        let json = document.follow(json).found()?;
        Some(Self { name: json.get_str("name")?, location: location(&json.get_str("in")?)?, json })
    }

    /// By the specification these headers are not parameters, and a path parameter that is not in
    /// the path cannot be sent.
    fn counts(&self, path: &str) -> bool {
        match self.location {
            Location::Header => !["accept", "content-type", "authorization"]
                .iter()
                .any(|it| self.name.eq_ignore_ascii_case(it)),
            Location::Path => placeholders(path).any(|it| it == self.name),
            Location::Query | Location::Cookie => true,
        }
    }

    pub(super) fn required(&self) -> bool {
        self.location == Location::Path || self.json.flag("required")
    }

    /// Its schema, or that of the first form of its `content`.
    pub(super) fn schema(&self) -> Option<Json<'a>> {
        self.json
            .get("schema")
            .or_else(|| self.json.get("content")?.members().next()?.1.get("schema"))
    }

    fn style(&self) -> Style {
        let usual = match self.location {
            Location::Path | Location::Header => Style::Simple,
            Location::Query | Location::Cookie => Style::Form,
        };
        self.json.get_str("style").and_then(|it| style(&it)).unwrap_or(usual)
    }
}

/// The names between the braces of a path template.
pub(super) fn placeholders(path: &str) -> impl Iterator<Item = &str> {
    path.split('{')
        .skip(1)
        .filter_map(|part| Some(part.split_once('}')?.0))
        .filter(|name| !name.is_empty())
}

/// The content of a body or response, best form first.
pub(super) fn contents(holder: Json<'_>) -> Vec<(Cow<'_, str>, Json<'_>)> {
    let mut contents: Vec<_> = holder
        .get("content")
        .into_iter()
        .flat_map(Json::members)
        .map(|(content_type, media)| (content_type.name(), media))
        .filter(|(content_type, _)| !content_type.chars().any(char::is_control))
        .collect();
    contents.sort_by_key(|(content_type, _)| preference(content_type));
    contents
}

/// Lower is better: exact JSON, JSON by another name, anything, forms, files and text.
fn preference(content_type: &str) -> u8 {
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match essence.as_str() {
        "application/json" if essence.len() == content_type.len() => 0,
        "application/json" | "text/json" => 1,
        it if it.ends_with("+json") => 2,
        it if it.ends_with("json") => 3,
        "*/*" | "application/*" => 4,
        "application/x-www-form-urlencoded" => 5,
        it if it.starts_with("multipart/") => 6,
        "application/octet-stream" => 7,
        it if it.starts_with("text/") => 8,
        _ => 9,
    }
}

/// True for `application/json`, `…+json` and the like, with or without parameters.
pub(super) fn is_json(content_type: &str) -> bool {
    preference(content_type) <= 3
}

fn encoding(json: Json<'_>) -> Encoding {
    Encoding {
        style: json.get_str("style").and_then(|it| style(&it)),
        explode: json.get("explode").and_then(Json::as_bool),
        content_type: json.get_str("contentType").map(Cow::into_owned),
    }
}

fn style(word: &str) -> Option<Style> {
    match word {
        "form" => Some(Style::Form),
        "spaceDelimited" => Some(Style::SpaceDelimited),
        "pipeDelimited" => Some(Style::PipeDelimited),
        "deepObject" => Some(Style::DeepObject),
        "simple" => Some(Style::Simple),
        "label" => Some(Style::Label),
        "matrix" => Some(Style::Matrix),
        _ => None,
    }
}

/// Why no correct call could be built from an operation, if so.
pub(super) fn broken(operation: Json<'_>) -> Option<String> {
    if !operation.is_object() {
        return Some("the operation is not an object".to_owned());
    }
    if let Some(parameters) = operation.get("parameters") {
        match parameters.kind() {
            Kind::Null => {}
            Kind::Array => {
                if let Some(wrong) = parameters.elements().position(|it| !it.is_object()) {
                    return Some(format!("`parameters[{wrong}]` is not an object"));
                }
            }
            Kind::Object | Kind::String | Kind::Number | Kind::Boolean => {
                return Some("`parameters` is not an array".to_owned());
            }
        }
    }
    let body = operation.get("requestBody")?;
    let wrong = !matches!(body.kind(), Kind::Object | Kind::Null);
    wrong.then(|| "`requestBody` is not an object".to_owned())
}
