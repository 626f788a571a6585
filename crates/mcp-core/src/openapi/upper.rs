//! The upper levels of a document's own text, and what references in it lead to while it is loaded.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::load::LoadError;
use super::prose::one_line;
use super::resolve::{MAX_CHAIN, Pointer};
use super::text::{Json, Kind, Object, Tree};

/// A value of fewer bytes is looked through anew by each reference.
const SMALL: usize = 4_096;

/// How many levels of a document are taken apart at once: down to methods and to components.
const LEVELS: usize = 3;

/// The upper levels of a document.
#[derive(Debug)]
pub(super) struct Source<'s> {
    pub(super) root: Object<'s>,
    pub(super) tree: Tree<'s>,
    /// Version 2 of the specification, which has its own grammar.
    pub(super) swagger: bool,
    pub(super) spec_version: Cow<'s, str>,
    /// The members of large values that references lead through, by address.
    index: RefCell<HashMap<usize, HashMap<Cow<'s, str>, Json<'s>>>>,
}

impl<'s> Source<'s> {
    pub(super) fn read(json: Json<'s>) -> Result<Self, LoadError> {
        if !json.is_object() {
            let found = match json.kind() {
                Kind::Array => "is a list",
                Kind::String | Kind::Number | Kind::Boolean | Kind::Null | Kind::Object => {
                    "is a single value"
                }
            };
            return Err(LoadError::NotOpenApi { found: found.to_owned() });
        }
        let tree = json.tree(LEVELS);
        let root = tree.object();
        let version = |name| root.get_scalar(name).filter(|version| !version.is_empty());
        let openapi = version("openapi");
        let swagger = version("swagger").filter(|_| openapi.is_none());
        if openapi.is_none() && swagger.is_none() && root.get("paths").is_none() {
            let keys: Vec<_> = root
                .iter()
                .take(5)
                .map(|(key, _)| format!("`{}`", one_line(&key.name(), 40)))
                .collect();
            let found = if keys.is_empty() { "is empty".to_owned() } else { keys.join(", ") };
            return Err(LoadError::NotOpenApi { found });
        }
        let is_swagger = swagger.as_ref().is_some_and(|version| !version.starts_with('3'));
        let spec_version = openapi.or(swagger).unwrap_or(Cow::Borrowed("3.0.0"));
        Ok(Self { root, tree, swagger: is_swagger, spec_version, index: RefCell::default() })
    }

    /// Follows a local reference in the source itself, before anything is left out.
    pub(super) fn follow(&self, value: Json<'s>) -> Option<Json<'s>> {
        let mut value = value;
        for _ in 0..MAX_CHAIN {
            let Some(reference) = value.get_str("$ref") else { return Some(value) };
            value = self.find(&reference)?;
        }
        None
    }

    pub(super) fn find(&self, reference: &str) -> Option<Json<'s>> {
        Pointer::readings(reference).find_map(|pointer| {
            let mut segments = pointer.segments();
            let value = self.root.get(segments.next()?)?;
            segments.try_fold(value, |value, segment| self.member(value, segment))
        })
    }

    /// Thousands of references may lead through one large value: it is taken apart once.
    fn member(&self, value: Json<'s>, segment: &str) -> Option<Json<'s>> {
        if value.text().len() < SMALL {
            return value.walk(std::iter::once(segment));
        }
        let mut index = self.index.borrow_mut();
        let members = index.entry(value.address()).or_insert_with(|| {
            let elements = value.elements().enumerate();
            let elements = elements.map(|(at, it)| (Cow::Owned(at.to_string()), it));
            value.members().map(|(key, it)| (key.name(), it)).chain(elements).collect()
        });
        members.get(segment).copied()
    }
}

/// Members with decoded names, the last of equal ones in the place of the first.
pub(super) fn members<'t, 's>(
    object: Option<&'t Tree<'s>>,
) -> impl Iterator<Item = (Cow<'s, str>, &'t Tree<'s>)> {
    let mut members: Vec<(Cow<'s, str>, &'t Tree<'s>)> = Vec::new();
    let mut places = HashMap::new();
    for (key, value) in object.into_iter().flat_map(|it| &it.members) {
        match places.entry(key.raw()) {
            Entry::Occupied(place) => {
                let place: &usize = place.get();
                members[*place].1 = value;
            }
            Entry::Vacant(place) => {
                place.insert(members.len());
                members.push((key.name(), value));
            }
        }
    }
    members.into_iter()
}
