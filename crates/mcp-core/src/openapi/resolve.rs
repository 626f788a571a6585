//! Follows `$ref` inside the kept text. Nothing outside the document is ever opened.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::document::{ComponentKind, Document, Method};
use super::text::Json;

/// How many references may lead to one another before they count as leading nowhere.
pub(super) const MAX_CHAIN: usize = 16;

/// A JSON pointer, taken apart and decoded.
pub(super) struct Pointer<'r>(Vec<Cow<'r, str>>);

impl<'r> Pointer<'r> {
    /// The ways to read a local reference: with `~1` and `~0` alone, then percent-decoded as well.
    /// Nothing for an external reference.
    pub(super) fn readings(reference: &'r str) -> impl Iterator<Item = Self> {
        let pointer = reference.strip_prefix("#/");
        let plain = pointer.map(|it| Self(it.split('/').map(unescape).collect()));
        let decoded = pointer.filter(|it| it.contains('%')).map(|it| {
            let decode = |segment: &str| {
                let text = percent_decode_str(segment).decode_utf8_lossy();
                Cow::Owned(unescape(&text).into_owned())
            };
            Self(it.split('/').map(decode).collect())
        });
        plain.into_iter().chain(decoded)
    }

    pub(super) fn segments(&self) -> impl Iterator<Item = &str> + Clone {
        self.0.iter().map(AsRef::as_ref)
    }
}

fn unescape(segment: &str) -> Cow<'_, str> {
    if segment.contains('~') {
        Cow::Owned(segment.replace("~1", "/").replace("~0", "~"))
    } else {
        Cow::Borrowed(segment)
    }
}

/// Where a chain of references ends.
#[derive(Clone, Debug)]
pub(super) enum Target<'a> {
    Found(Json<'a>),
    /// It leads out of the document, to nothing, or in a circle; with the name it was to have.
    Missing(Cow<'a, str>),
}

impl<'a> Target<'a> {
    pub(super) fn found(self) -> Option<Json<'a>> {
        match self {
            Self::Found(json) => Some(json),
            Self::Missing(_) => None,
        }
    }
}

impl Document {
    /// The value a local reference such as `#/components/schemas/User` leads to, references to
    /// references followed. `None` where it leads nowhere or out of the document.
    #[must_use]
    pub fn resolve(&self, reference: &str) -> Option<Value> {
        Some(self.follow(self.lookup(reference)?).found()?.parse())
    }

    /// The value at a reference as it is written there.
    pub(super) fn lookup(&self, reference: &str) -> Option<Json<'_>> {
        Pointer::readings(reference).find_map(|pointer| self.find(&pointer)).or_else(|| {
            let found = self.extras.binary_search_by(|(kept, _)| kept.as_str().cmp(reference));
            Some(self.stored(self.extras.get(found.ok()?)?.1))
        })
    }

    /// Goes from one reference to the next until a value is none.
    pub(super) fn follow<'a>(&'a self, value: Json<'a>) -> Target<'a> {
        let mut value = value;
        let mut name = Cow::Borrowed("");
        for _ in 0..MAX_CHAIN {
            let Some(reference) = value.get_str("$ref") else { return Target::Found(value) };
            name = reference_name(&reference);
            match self.lookup(&reference) {
                Some(next) => value = next,
                None => break,
            }
        }
        Target::Missing(name)
    }

    fn find(&self, pointer: &Pointer<'_>) -> Option<Json<'_>> {
        let mut segments = pointer.segments();
        let value = match segments.next()? {
            "components" => {
                let kind = ComponentKind::from_key(segments.next()?)?;
                self.component(kind, segments.next()?)?
            }
            // Swagger 2's places, and those of schemas that came from elsewhere.
            "definitions" | "$defs" => self.component(ComponentKind::Schema, segments.next()?)?,
            "responses" => self.component(ComponentKind::Response, segments.next()?)?,
            "paths" => {
                let template = segments.next()?;
                let mut rest = segments.clone();
                match rest.next().and_then(Method::parse) {
                    Some(method) => {
                        segments = rest;
                        let index = self.exact_route(method, template)?;
                        self.stored(self.operations.get(index)?.span)
                    }
                    None => {
                        let path = self.paths.iter().find(|path| path.template == template)?;
                        self.stored(path.shared?)
                    }
                }
            }
            _ => return None,
        };
        value.walk(segments)
    }
}

/// The last segment of a reference: how a person would call what it leads to.
pub(super) fn reference_name<'a>(reference: &str) -> Cow<'a, str> {
    let last = reference.rsplit(['/', '#']).next().unwrap_or(reference);
    Cow::Owned(percent_decode_str(&unescape(last)).decode_utf8_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{LoadOptions, load};
    use super::*;

    fn document() -> Document {
        let text = r##"{
            "openapi": "3.0.0",
            "paths": {
                "/a/{b}": {
                    "parameters": [{"name": "b", "in": "path", "schema": {"type": "integer"}}],
                    "get": {"responses": {"200": {"headers": {"X": {"schema": {"type": "number"}}}, "content": {"a/b": {"schema": {"title": "deep"}}}}}}
                }
            },
            "x-own": {"List": {"type": "array", "items": {"$ref": "#/x-own/Item"}}, "Item": {"type": "boolean"}},
            "components": {"schemas": {
                "A B/~": {"const": 1},
                "Alias": {"$ref": "#/components/schemas/A%20B~1~0"},
                "Loop": {"$ref": "#/components/schemas/Loop2"},
                "Loop2": {"$ref": "#/components/schemas/Loop"},
                "Uses": {"allOf": [{"$ref": "#/x-own/List"}, {"$ref": "#/paths/~1a~1{b}/get/responses/200/headers/X/schema"}]}
            }}
        }"##;
        load(text.as_bytes(), &LoadOptions::default()).unwrap()
    }

    #[track_caller]
    fn check(reference: &str, expected: Option<Value>) {
        assert_eq!(document().resolve(reference), expected, "{reference}");
    }

    #[test]
    fn pointers_are_read_plain_first_and_then_percent_decoded() {
        check("#/components/schemas/A B~1~0", Some(json!({"const": 1})));
        check("#/components/schemas/A%20B~1~0", Some(json!({"const": 1})));
        check("#/components/schemas/Alias", Some(json!({"const": 1})));
        check("#/definitions/Alias", Some(json!({"const": 1})));
    }

    #[test]
    fn pointers_lead_into_paths_and_to_what_was_left_out() {
        check("#/paths/~1a~1{b}/parameters/0/schema", Some(json!({"type": "integer"})));
        check(
            "#/paths/~1a~1%7Bb%7D/get/responses/200/content/a~1b/schema",
            Some(json!({"title": "deep"})),
        );
        check(
            "#/paths/~1a~1{b}/get/responses/200/headers/X/schema",
            Some(json!({"type": "number"})),
        );
        check("#/x-own/List", Some(json!({"type": "array", "items": {"$ref": "#/x-own/Item"}})));
        check("#/x-own/Item", Some(json!({"type": "boolean"})));
    }

    #[test]
    fn references_that_lead_nowhere_are_none() {
        for reference in [
            "",
            "#",
            "#/",
            "#/components",
            "#/components/schemas",
            "#/components/schemas/None",
            "#/components/schemas/Loop",
            "other.json#/components/schemas/Alias",
            "http://127.0.0.1:1/a#/b",
            "/etc/passwd",
            "#/paths/~1a~1{b}/get/parameters/9",
            "#/paths/~1a~1{b}/put",
        ] {
            check(reference, None);
        }
    }
}
