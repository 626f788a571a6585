//! A loaded document: the text that is kept, and the small tables that say what lies where.

use std::fmt;

use serde::{Deserialize, Serialize};
use url::Url;

use super::prune::Span;
use super::server::Server;
use super::text::Json;

/// An HTTP method a document can describe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Method {
    /// `GET`
    Get,
    /// `PUT`
    Put,
    /// `POST`
    Post,
    /// `DELETE`
    Delete,
    /// `OPTIONS`
    Options,
    /// `HEAD`
    Head,
    /// `PATCH`
    Patch,
    /// `TRACE`
    Trace,
}

impl Method {
    /// Every method, in the order of the specification.
    pub const ALL: [Self; 8] = [
        Self::Get,
        Self::Put,
        Self::Post,
        Self::Delete,
        Self::Options,
        Self::Head,
        Self::Patch,
        Self::Trace,
    ];

    /// The method in capitals.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Put => "PUT",
            Self::Post => "POST",
            Self::Delete => "DELETE",
            Self::Options => "OPTIONS",
            Self::Head => "HEAD",
            Self::Patch => "PATCH",
            Self::Trace => "TRACE",
        }
    }

    /// The method in small letters, as documents write it.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Put => "put",
            Self::Post => "post",
            Self::Delete => "delete",
            Self::Options => "options",
            Self::Head => "head",
            Self::Patch => "patch",
            Self::Trace => "trace",
        }
    }

    /// Reads a method in any letter case.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.as_str().eq_ignore_ascii_case(text))
    }
}

impl fmt::Display for Method {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// What is known of an operation without reading it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// The name to call it by: the document's `operationId`, or one made from method and path.
    pub id: String,
    /// Its method.
    pub method: Method,
    /// Its path template, with a leading slash.
    pub path: String,
    /// The document's summary, on one line; may be empty.
    pub summary: String,
    /// The document's description without markup, at most 600 characters; may be empty.
    pub description: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// Whether the document says not to use it any more.
    pub deprecated: bool,
}

/// A part of the document that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// `POST /things`, a path, or the name of a component.
    pub place: String,
    /// What is wrong with it.
    pub reason: String,
}

/// The words of an operation that a search index takes beside its [`Summary`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchFields {
    /// Names of its parameters.
    pub parameters: Vec<String>,
    /// Names of the body's properties, one level deep, and their short enum values.
    pub body: Vec<String>,
    /// Names of the schemas of body and answer, and of the answer's properties.
    pub answer: Vec<String>,
}

/// A loaded OpenAPI document.
///
/// Everything that decides what a call may do is derived from method and path when it is asked
/// for; nothing of that kind is stored.
#[derive(Clone, Serialize, Deserialize)]
pub struct Document {
    pub(super) hash: String,
    pub(super) title: String,
    pub(super) version: String,
    pub(super) spec_version: String,
    pub(super) document_url: Option<String>,
    pub(super) servers: Vec<Server>,
    pub(super) tags: Vec<(String, usize)>,
    pub(super) skipped: Vec<Skipped>,
    pub(super) summaries: Vec<Summary>,
    /// One for each summary.
    pub(super) operations: Vec<StoredOperation>,
    pub(super) paths: Vec<StoredPath>,
    /// Sorted by kind and name.
    pub(super) components: Vec<Component>,
    /// Values elsewhere that something refers to, by reference.
    pub(super) extras: Vec<(String, Span)>,
    /// The security requirements of operations that have none of their own.
    pub(super) security: Option<Span>,
    pub(super) text: Box<str>,
    pub(super) order: Order,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct StoredOperation {
    pub(super) path: u32,
    pub(super) span: Span,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct StoredPath {
    pub(super) template: String,
    /// Parameters and servers for all its operations.
    pub(super) shared: Option<Span>,
    /// Parameters whose value may hold slashes.
    pub(super) multi_segment: Vec<String>,
}

/// The kinds of components that calls are built from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum ComponentKind {
    Schema,
    Parameter,
    Body,
    Response,
    SecurityScheme,
}

impl ComponentKind {
    pub(super) fn from_key(key: &str) -> Option<Self> {
        match key {
            "schemas" => Some(Self::Schema),
            "parameters" => Some(Self::Parameter),
            "requestBodies" => Some(Self::Body),
            "responses" => Some(Self::Response),
            "securitySchemes" => Some(Self::SecurityScheme),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Component {
    pub(super) kind: ComponentKind,
    pub(super) name: String,
    pub(super) span: Span,
}

/// Sorted views of the tables.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Order {
    /// Operations by id.
    pub(super) ids: Vec<u32>,
    /// Operations by path and method.
    pub(super) routes: Vec<u32>,
    /// Paths by number of segments, the more specific first; see `route`. Made anew whenever a
    /// document comes to life.
    #[serde(skip)]
    pub(super) templates: Vec<(u16, u32)>,
}

impl Document {
    /// The document's `info.title`; may be empty.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The API's version, `info.version`; may be empty.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The version of OpenAPI, as written.
    #[must_use]
    pub fn spec_version(&self) -> &str {
        &self.spec_version
    }

    /// The hexadecimal SHA-256 of the bytes the document was loaded from.
    #[must_use]
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Where the document came from.
    #[must_use]
    pub fn document_url(&self) -> Option<Url> {
        Url::parse(self.document_url.as_deref()?).ok()
    }

    /// How many operations there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.summaries.len()
    }

    /// True for a document without operations, which is a valid one.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.summaries.is_empty()
    }

    /// What could not be read.
    #[must_use]
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// Tags and how many operations have them, in the order of first use.
    #[must_use]
    pub fn tags(&self) -> &[(String, usize)] {
        &self.tags
    }

    /// The operations in document order. An operation's place here is its index everywhere.
    #[must_use]
    pub fn summaries(&self) -> &[Summary] {
        &self.summaries
    }

    /// Finds an operation by its id: as written, else in another letter case, else as
    /// `METHOD /template`.
    #[must_use]
    pub fn find_id(&self, id: &str) -> Option<usize> {
        let id = id.trim();
        let found = self.order.ids.binary_search_by(|&index| self.id_at(index).cmp(id));
        if let Some(&index) = found.ok().and_then(|at| self.order.ids.get(at)) {
            return usize::try_from(index).ok();
        }
        let mut alike =
            (0..self.len()).filter(|&index| self.summaries[index].id.eq_ignore_ascii_case(id));
        if let Some(index) = alike.next() {
            return alike.next().is_none().then_some(index);
        }
        let (method, template) = id.split_once(char::is_whitespace)?;
        self.find_route(method, template.trim_start())
    }

    /// Finds an operation by method (any letter case) and path template (as written; the names of
    /// its parameters and a slash at its end make no difference).
    #[must_use]
    pub fn find_route(&self, method: &str, template: &str) -> Option<usize> {
        let method = Method::parse(method)?;
        if let Some(index) = self.exact_route(method, template) {
            return Some(index);
        }
        let wanted = bare_template(template);
        self.summaries
            .iter()
            .position(|it| it.method == method && bare_template(&it.path) == wanted)
    }

    pub(super) fn exact_route(&self, method: Method, template: &str) -> Option<usize> {
        let found = self.order.routes.binary_search_by(|&index| {
            let summary = self.summary_at(index);
            summary.map(|it| (it.path.as_str(), it.method)).cmp(&Some((template, method)))
        });
        usize::try_from(*self.order.routes.get(found.ok()?)?).ok()
    }

    /// The names of the document's schemas, sorted.
    pub fn schema_names(&self) -> impl Iterator<Item = &str> {
        self.components_of(ComponentKind::Schema).map(|component| component.name.as_str())
    }

    pub(super) fn stored(&self, span: Span) -> Json<'_> {
        Json::new(span.of(&self.text).unwrap_or_default())
    }

    pub(super) fn path_at(&self, index: u32) -> Option<&StoredPath> {
        self.paths.get(usize::try_from(index).ok()?)
    }

    pub(super) fn summary_at(&self, index: u32) -> Option<&Summary> {
        self.summaries.get(usize::try_from(index).ok()?)
    }

    pub(super) fn id_at(&self, index: u32) -> &str {
        self.summary_at(index).map_or("", |summary| &summary.id)
    }

    pub(super) fn components_of(&self, kind: ComponentKind) -> impl Iterator<Item = &Component> {
        let start = self.components.partition_point(|component| component.kind < kind);
        self.components.iter().skip(start).take_while(move |component| component.kind == kind)
    }

    pub(super) fn component(&self, kind: ComponentKind, name: &str) -> Option<Json<'_>> {
        let found = self.components.binary_search_by(|component| {
            (component.kind, component.name.as_str()).cmp(&(kind, name))
        });
        Some(self.stored(self.components.get(found.ok()?)?.span))
    }
}

impl fmt::Debug for Document {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Document")
            .field("title", &self.title)
            .field("version", &self.version)
            .field("spec_version", &self.spec_version)
            .field("operations", &self.len())
            .field("hash", &self.hash)
            .finish_non_exhaustive()
    }
}

/// A template without the names of its parameters and the slash at its end.
fn bare_template(template: &str) -> String {
    let mut bare = String::with_capacity(template.len());
    let mut inside = false;
    for character in template.trim_end_matches('/').chars() {
        inside = (inside || character == '{') && character != '}';
        if !inside {
            bare.push(character);
        }
    }
    bare
}
