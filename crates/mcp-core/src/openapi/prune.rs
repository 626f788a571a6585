//! Copies the parts of a document that calls are built from, minified, and leaves the rest behind.
//!
//! What is left out is decided by position: `example` below a schema goes, but a property that is
//! *named* `example` stays.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::document::ComponentKind;
use super::text::{Cursor, Json, Kind, string_end};

/// `serde_json` builds values of up to 128 levels; what is stored must stay readable by it, also
/// when it is wrapped once more.
const MAX_NESTING: usize = 100;

/// Prose beyond this many bytes is cut: no answer shows as much of one description.
const MAX_PROSE: usize = 2_000;

/// Where a kept value lies in the document's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Span {
    start: u32,
    end: u32,
}

impl Span {
    pub(crate) fn of(self, text: &str) -> Option<&str> {
        text.get(usize::try_from(self.start).ok()?..usize::try_from(self.end).ok()?)
    }
}

/// The role of a value in a document: it says which of its members are kept, and as what.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// Free data, kept to the letter: `enum`, `default`, `const`.
    Data,
    /// Text for people, kept up to a length.
    Prose,
    /// Free names, each leading to a value of one role: `properties`, `content`.
    Names(&'static Self),
    /// As `Names`, but `x-…` are extensions: `responses`.
    Statuses,
    Schema,
    Parameter,
    Body,
    MediaType,
    Encoding,
    Response,
    Operation,
    /// What a path item says to all its operations.
    Shared,
    /// An object without a grammar of its own: security schemes, servers.
    Plain,
}

impl Place {
    /// The role of a member, or `None` where it is left out.
    fn member(self, name: &str) -> Option<Self> {
        match self {
            Self::Names(value) => Some(*value),
            _ if name.starts_with("x-") => {
                matches!(name, "x-nullable" | "x-multi-segment").then_some(Self::Data)
            }
            _ if name == "description" => Some(Self::Prose),
            Self::Data | Self::Prose => Some(Self::Data),
            Self::Plain => Some(Self::Plain),
            Self::Statuses => Some(Self::Response),
            Self::Schema => schema_member(name),
            Self::Parameter => match name {
                "schema" => Some(Self::Schema),
                "content" => Some(Self::Names(&Self::MediaType)),
                "example" | "examples" => None,
                _ => Some(Self::Data),
            },
            Self::Body => match name {
                "content" => Some(Self::Names(&Self::MediaType)),
                _ => Some(Self::Data),
            },
            Self::MediaType => match name {
                "schema" => Some(Self::Schema),
                "encoding" => Some(Self::Names(&Self::Encoding)),
                "example" | "examples" => None,
                _ => Some(Self::Data),
            },
            Self::Encoding => (name != "headers").then_some(Self::Data),
            Self::Response => match name {
                "content" => Some(Self::Names(&Self::MediaType)),
                "headers" | "links" => None,
                _ => Some(Self::Data),
            },
            Self::Operation => match name {
                "parameters" => Some(Self::Parameter),
                "requestBody" => Some(Self::Body),
                "responses" => Some(Self::Statuses),
                "servers" => Some(Self::Plain),
                "callbacks" | "externalDocs" => None,
                _ => Some(Self::Data),
            },
            Self::Shared => match name {
                "parameters" => Some(Self::Parameter),
                "servers" => Some(Self::Plain),
                _ => None,
            },
        }
    }
}

fn schema_member(name: &str) -> Option<Place> {
    match name {
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => {
            Some(Place::Names(&Place::Schema))
        }
        "items"
        | "additionalProperties"
        | "allOf"
        | "anyOf"
        | "oneOf"
        | "not"
        | "prefixItems"
        | "if"
        | "then"
        | "else"
        | "contains"
        | "propertyNames"
        | "additionalItems"
        | "unevaluatedItems"
        | "unevaluatedProperties" => Some(Place::Schema),
        "example" | "examples" | "externalDocs" | "xml" | "$comment" => None,
        _ => Some(Place::Data),
    }
}

/// Why a value could not be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(crate) enum PruneError {
    #[error("it is nested more than {MAX_NESTING} levels deep")]
    Depth,
    #[error("the document has more than 4 GB of text")]
    Size,
}

/// A reference to somewhere other than a named component, and what it stands for.
#[derive(Debug)]
pub(crate) struct Unusual {
    pub(crate) reference: String,
    pub(crate) place: Place,
}

/// Collects kept values in one text.
#[derive(Debug, Default)]
pub(crate) struct Pruner {
    text: String,
    unusual: Vec<Unusual>,
}

impl Pruner {
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self { text: String::with_capacity(bytes), unusual: Vec::new() }
    }

    /// Keeps one value; a value that cannot be kept leaves nothing behind.
    pub(crate) fn keep(&mut self, value: Json<'_>, place: Place) -> Result<Span, PruneError> {
        let (start, unusual) = (self.text.len(), self.unusual.len());
        let end = self.copy(&mut Cursor::new(value), place, 0).map(|()| self.text.len());
        let span = end.and_then(|end| match (u32::try_from(start), u32::try_from(end)) {
            (Ok(start), Ok(end)) => Ok(Span { start, end }),
            _ => Err(PruneError::Size),
        });
        if span.is_err() {
            self.text.truncate(start);
            self.unusual.truncate(unusual);
        }
        span
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn into_text(self) -> Box<str> {
        self.text.into_boxed_str()
    }

    /// The unusual references met since the last call.
    pub(crate) fn take_unusual(&mut self) -> Vec<Unusual> {
        std::mem::take(&mut self.unusual)
    }

    /// Copies the value at the cursor, which is passed.
    fn copy(
        &mut self,
        cursor: &mut Cursor<'_>,
        place: Place,
        depth: usize,
    ) -> Result<(), PruneError> {
        if depth > MAX_NESTING {
            return Err(PruneError::Depth);
        }
        match (place, cursor.kind()) {
            (Place::Data, _) => self.minify(cursor.value().unwrap_or_default(), depth)?,
            (_, Kind::Object) => {
                self.text.push('{');
                let start = self.text.len();
                cursor.enter();
                while let Some(key) = cursor.key() {
                    let name = key.raw();
                    let Some(role) = place.member(name) else {
                        cursor.value();
                        continue;
                    };
                    if self.text.len() > start {
                        self.text.push(',');
                    }
                    self.text.push('"');
                    self.text.push_str(name);
                    self.text.push_str("\":");
                    let before = self.text.len();
                    self.copy(cursor, role, depth + 1)?;
                    if name == "$ref" && !matches!(place, Place::Names(_)) {
                        self.note(before, place);
                    }
                }
                self.text.push('}');
            }
            (_, Kind::Array) => {
                self.text.push('[');
                let start = self.text.len();
                cursor.enter();
                while cursor.element() {
                    if self.text.len() > start {
                        self.text.push(',');
                    }
                    self.copy(cursor, place, depth + 1)?;
                }
                self.text.push(']');
            }
            (place, Kind::String | Kind::Number | Kind::Boolean | Kind::Null) => {
                let text = cursor.value().unwrap_or_default().text();
                if matches!(place, Place::Prose) {
                    self.prose(text);
                } else {
                    self.text.push_str(text);
                }
            }
        }
        Ok(())
    }

    /// Copies a value to the letter, without the whitespace between its parts.
    fn minify(&mut self, value: Json<'_>, depth: usize) -> Result<(), PruneError> {
        let text = value.text();
        if !matches!(value.kind(), Kind::Object | Kind::Array) {
            self.text.push_str(text);
            return Ok(());
        }
        let mut level = depth;
        let mut at = 0;
        while let Some(byte) = text.as_bytes().get(at) {
            let end = match byte {
                b'"' => string_end(text.as_bytes(), at + 1).map_or(text.len(), |end| end + 1),
                _ => at + 1,
            };
            match byte {
                b'{' | b'[' => level += 1,
                b'}' | b']' => level = level.saturating_sub(1),
                _ => {}
            }
            if level > MAX_NESTING {
                return Err(PruneError::Depth);
            }
            if !byte.is_ascii_whitespace() {
                self.text.push_str(text.get(at..end).unwrap_or_default());
            }
            at = end;
        }
        Ok(())
    }

    fn prose(&mut self, literal: &str) {
        if literal.len() <= MAX_PROSE {
            self.text.push_str(literal);
            return;
        }
        // The last start of a character that is not inside an escape.
        let mut cut = 1;
        let mut characters = literal.char_indices().skip(1);
        while let Some((at, character)) = characters.next() {
            if at > MAX_PROSE {
                break;
            }
            cut = at;
            if character == '\\' && characters.next().is_some_and(|(_, kind)| kind == 'u') {
                // Four digits, twice for a pair of surrogates, which must not be parted.
                let pair = matches!(literal.get(at + 2..at + 4), Some(high) if is_high(high));
                characters.nth(if pair { 9 } else { 3 });
            }
        }
        self.text.push_str(literal.get(..cut).unwrap_or("\""));
        self.text.push_str("…\"");
    }

    /// Remembers the reference that was written last, if it is an unusual one.
    fn note(&mut self, start: usize, place: Place) {
        if let Some(reference) = self.text.get(start..).and_then(|text| Json::new(text).as_str())
            && reference.starts_with("#/")
            && !is_component(&reference)
        {
            let reference = reference.into_owned();
            self.unusual.push(Unusual { reference, place });
        }
    }
}

fn is_high(digits: &str) -> bool {
    matches!(digits.to_ascii_lowercase().as_str(), "d8" | "d9" | "da" | "db")
}

/// True for the usual `#/components/KIND/NAME` and `#/definitions/NAME`.
fn is_component(reference: &str) -> bool {
    let name = match reference.strip_prefix("#/components/") {
        Some(rest) => {
            rest.split_once('/').filter(|(kind, _)| ComponentKind::from_key(kind).is_some())
        }
        None => reference
            .strip_prefix("#/")
            .and_then(|rest| rest.split_once('/'))
            .filter(|(kind, _)| *kind == "definitions"),
    };
    name.is_some_and(|(_, name)| !name.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(text: &str, place: Place) -> String {
        let mut pruner = Pruner::default();
        let span = pruner.keep(Json::new(text), place).unwrap();
        span.of(pruner.text()).unwrap().to_owned()
    }

    #[test]
    fn keywords_go_but_names_that_look_like_them_stay() {
        let schema = r#"{
            "type": "object", "example": {"a": 1}, "x-internal": true, "x-nullable": true,
            "properties": {
                "example": {"type": "string", "example": "e"},
                "x-id": {"type": "integer"},
                "headers": {"enum": ["a b", {"example": 1}]},
                "properties": {"properties": {"examples": {}}}
            }
        }"#;
        assert_eq!(
            kept(schema, Place::Schema),
            r#"{"type":"object","x-nullable":true,"properties":{"example":{"type":"string"},"x-id":{"type":"integer"},"headers":{"enum":["a b",{"example":1}]},"properties":{"properties":{"examples":{}}}}}"#
        );
    }

    #[test]
    fn an_operation_keeps_what_calls_need() {
        let operation = r##"{
            "operationId": "a", "externalDocs": {}, "callbacks": {"c": {}}, "x-codeSamples": [],
            "parameters": [{"name": "q", "in": "query", "example": 1, "x-multi-segment": true}],
            "requestBody": {"content": {"examples": {"schema": {}, "examples": {}, "encoding": {"headers": {"headers": {}, "style": "form"}}}}},
            "responses": {"200": {"description": "d", "headers": {}, "links": {}, "content": {}}, "x-a": {}}
        }"##;
        assert_eq!(
            kept(operation, Place::Operation),
            r#"{"operationId":"a","parameters":[{"name":"q","in":"query","x-multi-segment":true}],"requestBody":{"content":{"examples":{"schema":{},"encoding":{"headers":{"style":"form"}}}}},"responses":{"200":{"description":"d","content":{}}}}"#
        );
    }

    #[test]
    fn too_deep_a_value_leaves_nothing_behind() {
        let deep = format!("{}1{}", "[".repeat(101), "]".repeat(101));
        for text in
            [deep.clone(), format!(r#"{{"default":{deep}}}"#), format!(r#"{{"items":{deep}}}"#)]
        {
            let mut pruner = Pruner::default();
            assert_eq!(pruner.keep(Json::new(&text), Place::Schema), Err(PruneError::Depth));
            assert_eq!(pruner.text(), "");
        }
    }

    #[test]
    fn long_prose_is_cut_between_characters() {
        for filler in ["a", "é", r"\n", r"\u00e9", r"\ud83d\ude00", r#"\""#, r"\\"] {
            let text = format!(r#"{{"description":"x{}"}}"#, filler.repeat(3_000));
            let kept = kept(&text, Place::Schema);
            let value: serde_json::Value = serde_json::from_str(&kept).unwrap();
            assert!(kept.len() < MAX_PROSE + 40, "{filler}: {}", kept.len());
            assert!(value["description"].as_str().unwrap().ends_with('…'), "{filler}");
        }
    }

    #[test]
    fn references_beside_the_components_are_noted() {
        let mut pruner = Pruner::default();
        let text = r##"{"properties":{"a":{"$ref":"#/components/schemas/A"},"b":{"$ref":"#/paths/~1a/get"},"$ref":{"$ref":"#/definitions/C"}}}"##;
        pruner.keep(Json::new(text), Place::Schema).unwrap();
        let unusual: Vec<_> = pruner.take_unusual().into_iter().map(|it| it.reference).collect();
        assert_eq!(unusual, ["#/paths/~1a/get"]);
    }
}
