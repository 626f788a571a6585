//! Bytes to a [`Document`]: lenient, bounded, and never all or nothing.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};
use thiserror::Error;
use url::Url;

use super::document::{
    Component, ComponentKind, Document, Method, Order, Skipped, StoredOperation, StoredPath,
};
use super::operation::broken;
use super::prose::one_line;
use super::prune::{Place, Pruner, Span};
use super::resolve::Pointer;
use super::server::{root_server, servers};
use super::summary::{multi_segment, summaries, tags};
use super::text::{Json, Kind, Object, Tree};
use super::upper::{Source, members};
use super::{swagger2, yaml};

/// A document of more bytes is refused; the largest public ones have about 40 MB.
const MAX_BYTES: usize = 128 << 20;

/// Values outside the usual places that are kept because something refers to them.
const MAX_EXTRAS: usize = 10_000;

/// The bytes of all of them together.
const MAX_EXTRA_BYTES: usize = 32 << 20;

/// What the bytes of a document do not say themselves.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// Where the document came from: the base of relative server URLs.
    pub document_url: Option<Url>,
}

/// Why a document as a whole cannot be used.
#[derive(Debug, Error)]
pub enum LoadError {
    /// There are no bytes, or only blanks.
    #[error("the OpenAPI document is empty")]
    Empty,
    /// A web page or a sign-in form came instead.
    #[error(
        "got HTML, not an OpenAPI document; check the address, it may need a sign-in or be the page that shows the document"
    )]
    Html,
    /// The text is in an encoding that is not UTF-8.
    #[error("the OpenAPI document is in UTF-16; save it as UTF-8")]
    Utf16,
    /// There are more bytes than a document may have.
    #[error("the OpenAPI document has {bytes} bytes, more than the {MAX_BYTES} that are read")]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
    /// The syntax is broken.
    #[error("the OpenAPI document is not valid {syntax}: {detail}")]
    Syntax {
        /// `JSON` or `YAML`.
        syntax: &'static str,
        /// What the parser says, with line and column where it knows them.
        detail: String,
    },
    /// It is JSON or YAML, but of something else.
    #[error(
        "this is not an OpenAPI document: it has none of `openapi`, `swagger` and `paths` at its top level, but {found}"
    )]
    NotOpenApi {
        /// What is there instead.
        found: String,
    },
}

/// Reads an OpenAPI 2.0 or 3.x document, JSON or YAML.
///
/// A part that cannot be read costs only itself; see [`Document::skipped`].
///
/// # Errors
/// Only where there is no OpenAPI document at all.
pub fn load(bytes: &[u8], options: &LoadOptions) -> Result<Document, LoadError> {
    if bytes.len() > MAX_BYTES {
        return Err(LoadError::TooLarge { bytes: bytes.len() });
    }
    let text = json_text(bytes)?;
    let source = Source::read(Json::new(&text))?;
    let mut loader = Loader::new(&source, text.len());
    loader.components();
    loader.paths();
    loader.security();
    loader.extras();
    let hash = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(loader.finish(hash, options))
}

/// The document as JSON text, whatever it was written in.
fn json_text(bytes: &[u8]) -> Result<Cow<'_, str>, LoadError> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(LoadError::Utf16);
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text =
        std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed);
    match text.trim_start().chars().next() {
        None => Err(LoadError::Empty),
        Some('<') => Err(LoadError::Html),
        Some('{') => match serde_json::from_str::<&RawValue>(&text) {
            Ok(_) => Ok(text),
            // Trailing commas and comments are YAML.
            Err(error) => yaml::to_json(&text)
                .map(Cow::Owned)
                .map_err(|_| LoadError::Syntax { syntax: "JSON", detail: error.to_string() }),
        },
        Some(_) => yaml::to_json(&text)
            .map(Cow::Owned)
            .map_err(|error| LoadError::Syntax { syntax: "YAML", detail: error.to_string() }),
    }
}

/// Fills the tables of a document.
struct Loader<'s> {
    source: &'s Source<'s>,
    pruner: Pruner,
    components: Vec<Component>,
    paths: Vec<StoredPath>,
    operations: Vec<StoredOperation>,
    methods: Vec<Method>,
    security: Option<Span>,
    extras: Vec<(String, Span)>,
    skipped: Vec<Skipped>,
}

impl<'s> Loader<'s> {
    fn new(source: &'s Source<'s>, bytes: usize) -> Self {
        Self {
            source,
            pruner: Pruner::with_capacity(bytes / 3),
            components: Vec::new(),
            paths: Vec::new(),
            operations: Vec::new(),
            methods: Vec::new(),
            security: None,
            extras: Vec::new(),
            skipped: Vec::new(),
        }
    }

    fn skip(&mut self, place: impl Into<String>, reason: impl Into<String>) {
        self.skipped.push(Skipped { place: place.into(), reason: reason.into() });
    }

    fn components(&mut self) {
        let (root, tree) = (&self.source.root, &self.source.tree);
        if self.source.swagger {
            for (name, schema) in members(tree.get("definitions")) {
                self.component(ComponentKind::Schema, &name, schema.json);
            }
            for (name, response) in members(tree.get("responses")) {
                let text = swagger2::response(response.json, root);
                self.component(ComponentKind::Response, &name, Json::new(&text));
            }
            for (name, scheme) in members(tree.get("securityDefinitions")) {
                let text = swagger2::security_scheme(scheme.json);
                self.component(ComponentKind::SecurityScheme, &name, Json::new(&text));
            }
        } else {
            for (kind, values) in members(tree.get("components")) {
                let Some(kind) = ComponentKind::from_key(&kind) else { continue };
                for (name, value) in members(Some(values)) {
                    self.component(kind, &name, value.json);
                }
            }
        }
        self.components.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
    }

    fn component(&mut self, kind: ComponentKind, name: &str, value: Json<'_>) {
        let place = match kind {
            ComponentKind::Schema => Place::Schema,
            ComponentKind::Parameter => Place::Parameter,
            ComponentKind::Body => Place::Body,
            ComponentKind::Response => Place::Response,
            ComponentKind::SecurityScheme => Place::Plain,
        };
        match self.pruner.keep(value, place) {
            Ok(span) => self.components.push(Component { kind, name: name.to_owned(), span }),
            Err(error) => self.skip(one_line(name, 200), error.to_string()),
        }
    }

    fn paths(&mut self) {
        for (template, item) in members(self.source.tree.get("paths")) {
            if template.starts_with("x-") || item.json.kind() == Kind::Null {
                continue;
            }
            if template.chars().any(char::is_control) {
                self.skip(one_line(&template, 200), "the path holds control characters");
                continue;
            }
            let template = if template.starts_with('/') {
                template.into_owned()
            } else {
                format!("/{template}")
            };
            if let Err(reason) = self.path(&template, item) {
                self.skip(template, reason);
            }
        }
    }

    fn path(&mut self, template: &str, item: &Tree<'s>) -> Result<(), String> {
        if !item.json.is_object() {
            return Err("the path item is not an object".to_owned());
        }
        let own = item.object();
        let target = match own.get("$ref") {
            None => None,
            Some(_) => Some(
                self.source
                    .follow(item.json)
                    .ok_or("the path item's `$ref` leads to nothing in this document")?
                    .object(),
            ),
        };
        // What stands beside a `$ref` counts more than what it leads to.
        let get = |name: &str| own.get(name).or_else(|| target.as_ref()?.get(name));
        let parameters = get("parameters");
        if parameters.is_some_and(|it| !matches!(it.kind(), Kind::Array | Kind::Null)) {
            return Err("the path item's `parameters` is not an array".to_owned());
        }
        let shared = if self.source.swagger || (parameters.is_none() && get("servers").is_none()) {
            None
        } else {
            let null = Json::new("null");
            let (parameters, servers) =
                (parameters.unwrap_or(null), get("servers").unwrap_or(null));
            let text =
                format!(r#"{{"parameters":{},"servers":{}}}"#, parameters.text(), servers.text());
            Some(
                self.pruner
                    .keep(Json::new(&text), Place::Shared)
                    .map_err(|error| error.to_string())?,
            )
        };
        let path = u32::try_from(self.paths.len()).map_err(|_| "there are too many paths")?;
        self.paths.push(StoredPath {
            template: template.to_owned(),
            shared,
            multi_segment: Vec::new(),
        });
        let mut seen = Vec::new();
        for (key, _) in own.iter().chain(target.iter().flat_map(Object::iter)) {
            let Some(method) = Method::parse(key.raw()).filter(|method| !seen.contains(method))
            else {
                continue;
            };
            seen.push(method);
            let Some(operation) = get(key.raw()).filter(|it| it.kind() != Kind::Null) else {
                continue;
            };
            match self.operation(operation, parameters) {
                Ok(span) => {
                    self.operations.push(StoredOperation { path, span });
                    self.methods.push(method);
                }
                Err(reason) => self.skip(format!("{method} {template}"), reason),
            }
        }
        for unknown in ["query", "additionalOperations"] {
            if get(unknown).is_some_and(Json::is_object) {
                let place = format!("{} {template}", unknown.to_uppercase());
                self.skip(place, "methods beyond those of OpenAPI 3.1 are not supported");
            }
        }
        Ok(())
    }

    fn operation(&mut self, operation: Json<'s>, shared: Option<Json<'s>>) -> Result<Span, String> {
        let converted = if self.source.swagger {
            Some(swagger2::operation(operation, shared, self.source)?)
        } else {
            None
        };
        let operation = converted.as_deref().map_or(operation, Json::new);
        let span =
            self.pruner.keep(operation, Place::Operation).map_err(|error| error.to_string())?;
        match broken(Json::new(span.of(self.pruner.text()).unwrap_or_default())) {
            Some(reason) => Err(reason),
            None => Ok(span),
        }
    }

    fn security(&mut self) {
        if let Some(security) = self.source.root.get("security") {
            self.security = self.pruner.keep(security, Place::Data).ok();
        }
    }

    /// Keeps what references point at and the tables do not hold: what pruning left out, and
    /// places of a document's own invention.
    fn extras(&mut self) {
        let limit = self.pruner.text().len() + MAX_EXTRA_BYTES;
        let mut seen = HashSet::new();
        loop {
            let unusual = self.pruner.take_unusual();
            if unusual.is_empty() {
                return;
            }
            for it in unusual {
                if seen.len() >= MAX_EXTRAS
                    || self.pruner.text().len() > limit
                    || !seen.insert(it.reference.clone())
                    || self.is_kept(&it.reference)
                {
                    continue;
                }
                if let Some(value) = self.source.find(&it.reference)
                    && let Ok(span) = self.pruner.keep(value, it.place)
                {
                    self.extras.push((it.reference, span));
                }
            }
        }
    }

    /// Tells by the words of a pointer whether its target is in the tables.
    fn is_kept(&self, reference: &str) -> bool {
        let Some(pointer) = Pointer::readings(reference).next() else { return true };
        let mut segments = pointer.segments();
        let usual = match segments.next() {
            Some("paths") => !self.source.swagger,
            Some("definitions" | "responses") => self.source.swagger,
            Some("components") => segments.next().and_then(ComponentKind::from_key).is_some(),
            _ => false,
        };
        let pruned = |word: &str| {
            matches!(word, "example" | "examples" | "headers" | "links" | "callbacks")
                || word.starts_with("x-")
        };
        usual && !segments.any(pruned)
    }

    fn finish(self, hash: String, options: &LoadOptions) -> Document {
        let root = &self.source.root;
        let info = root.get("info");
        let info = |name| {
            let text = info.and_then(|info| info.get_scalar(name));
            one_line(text.as_deref().unwrap_or_default(), 200)
        };
        let mut document = Document {
            hash,
            title: info("title"),
            version: info("version"),
            spec_version: self.source.spec_version.clone().into_owned(),
            document_url: options.document_url.as_ref().map(Url::to_string),
            servers: if self.source.swagger {
                swagger2::servers(root)
            } else {
                servers(root.get("servers"))
            },
            tags: Vec::new(),
            skipped: self.skipped,
            summaries: Vec::new(),
            operations: self.operations,
            paths: self.paths,
            components: self.components,
            extras: self.extras,
            security: self.security,
            text: self.pruner.into_text(),
            order: Order::default(),
        };
        if document.servers.is_empty() {
            document.servers.push(root_server());
        }
        document.extras.sort_by(|a, b| a.0.cmp(&b.0));
        document.summaries = summaries(&document, &self.methods);
        document.tags = tags(&document.summaries);
        let multi_segment = multi_segment(&document);
        for (path, names) in document.paths.iter_mut().zip(multi_segment) {
            path.multi_segment = names;
        }
        document.ordered()
    }
}
