//! Reading JSON where it lies: a value is a slice of the document's text, and only what is asked for is decoded.
//!
//! The text was checked when it was loaded. On text that is not JSON (a damaged cache) every
//! function still ends and answers `None` or nothing.

mod scan;

use std::borrow::Cow;

use serde_json::Value;

pub(crate) use scan::{Cursor, string_end};

/// One JSON value inside a longer text, without the whitespace around it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Json<'a>(&'a str);

impl Default for Json<'_> {
    fn default() -> Self {
        Self("null")
    }
}

/// What a value is, told from its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Object,
    Array,
    String,
    Number,
    Boolean,
    Null,
}

impl Kind {
    fn of(byte: Option<u8>) -> Self {
        match byte {
            Some(b'{') => Self::Object,
            Some(b'[') => Self::Array,
            Some(b'"') => Self::String,
            Some(b't' | b'f') => Self::Boolean,
            Some(b'-' | b'0'..=b'9') => Self::Number,
            _ => Self::Null,
        }
    }
}

impl<'a> Json<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self(text.trim_matches([' ', '\n', '\r', '\t']))
    }

    pub(crate) fn text(self) -> &'a str {
        self.0
    }

    /// Where the value lies in memory. Two readings of one stored schema share it, so it tells a
    /// cycle from a sibling.
    pub(crate) fn address(self) -> usize {
        self.0.as_ptr().addr()
    }

    pub(crate) fn kind(self) -> Kind {
        Kind::of(self.0.as_bytes().first().copied())
    }

    pub(crate) fn is_object(self) -> bool {
        self.kind() == Kind::Object
    }

    /// The members of an object in document order; nothing for any other value.
    pub(crate) fn members(self) -> Members<'a> {
        Members { cursor: Cursor { text: self.0, at: 1 }, open: self.is_object() }
    }

    /// The elements of an array; nothing for any other value.
    pub(crate) fn elements(self) -> Elements<'a> {
        Elements { cursor: Cursor { text: self.0, at: 1 }, open: self.kind() == Kind::Array }
    }

    /// The members taken apart, where several of them are looked up.
    pub(crate) fn object(self) -> Object<'a> {
        Object(self.members().collect())
    }

    /// The value with `levels` of its members taken apart, in one pass over the text.
    pub(crate) fn tree(self, levels: usize) -> Tree<'a> {
        let tree = Cursor::new(self).tree(levels);
        tree.unwrap_or_else(|| Tree { json: self, members: Vec::new() })
    }

    /// A member by name. The last one wins where a name occurs twice.
    pub(crate) fn get(self, name: &str) -> Option<Self> {
        self.members().filter(|(key, _)| key.is(name)).map(|(_, value)| value).last()
    }

    pub(crate) fn element(self, index: usize) -> Option<Self> {
        self.elements().nth(index)
    }

    pub(crate) fn as_str(self) -> Option<Cow<'a, str>> {
        Key(self.0.strip_prefix('"')?.strip_suffix('"')?).decode()
    }

    pub(crate) fn as_bool(self) -> Option<bool> {
        match self.0 {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    pub(crate) fn get_str(self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name)?.as_str()
    }

    /// True where the member is the word `true`.
    pub(crate) fn flag(self, name: &str) -> bool {
        self.get(name).and_then(Self::as_bool) == Some(true)
    }

    /// A scalar as a person would write it: a string without its quotes, a number by its digits.
    pub(crate) fn scalar(self) -> Option<Cow<'a, str>> {
        match self.kind() {
            Kind::String => self.as_str(),
            Kind::Number | Kind::Boolean | Kind::Null => Some(Cow::Borrowed(self.0)),
            Kind::Object | Kind::Array => None,
        }
    }

    pub(crate) fn get_scalar(self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name)?.scalar()
    }

    /// The strings of an array of strings; other elements are passed over.
    pub(crate) fn strings(self) -> impl Iterator<Item = Cow<'a, str>> {
        self.elements().filter_map(Self::as_str)
    }

    /// Follows decoded pointer segments downwards.
    pub(crate) fn walk<'s>(self, segments: impl Iterator<Item = &'s str>) -> Option<Self> {
        let mut value = self;
        for segment in segments {
            value = match value.kind() {
                Kind::Object => value.get(segment)?,
                Kind::Array => value.element(segment.parse().ok()?)?,
                Kind::String | Kind::Number | Kind::Boolean | Kind::Null => return None,
            };
        }
        Some(value)
    }

    /// The whole value, or null where it is nested too deeply to be built.
    pub(crate) fn parse(self) -> Value {
        serde_json::from_str(self.0).unwrap_or(Value::Null)
    }
}

/// A string between its quotes, escapes as written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key<'a>(&'a str);

impl<'a> Key<'a> {
    pub(crate) fn raw(self) -> &'a str {
        self.0
    }

    pub(crate) fn is(self, name: &str) -> bool {
        self.0 == name || (self.0.contains('\\') && self.decode().is_some_and(|key| key == name))
    }

    pub(crate) fn decode(self) -> Option<Cow<'a, str>> {
        if !self.0.contains('\\') {
            return Some(Cow::Borrowed(self.0));
        }
        serde_json::from_str(&format!("\"{}\"", self.0)).ok().map(Cow::Owned)
    }

    /// The name, or what is written where its escapes are broken.
    pub(crate) fn name(self) -> Cow<'a, str> {
        self.decode().unwrap_or(Cow::Borrowed(self.0))
    }
}

/// The members of an object taken apart once, for several look-ups.
#[derive(Debug)]
pub(crate) struct Object<'a>(Vec<(Key<'a>, Json<'a>)>);

impl<'a> Object<'a> {
    /// A member by name, the last of equal ones.
    pub(crate) fn get(&self, name: &str) -> Option<Json<'a>> {
        self.0.iter().rev().find(|(key, _)| key.is(name)).map(|(_, value)| *value)
    }

    pub(crate) fn get_str(&self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name)?.as_str()
    }

    pub(crate) fn get_scalar(&self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name)?.scalar()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (Key<'a>, Json<'a>)> {
        self.0.iter().copied()
    }
}

/// A value and, where it is an object, its members: the upper levels of a long text.
#[derive(Debug)]
pub(crate) struct Tree<'a> {
    pub(crate) json: Json<'a>,
    pub(crate) members: Vec<(Key<'a>, Self)>,
}

impl<'a> Tree<'a> {
    /// A member by name, the last of equal ones.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        self.members.iter().rev().find(|(key, _)| key.is(name)).map(|(_, member)| member)
    }

    pub(crate) fn object(&self) -> Object<'a> {
        Object(self.members.iter().map(|(key, member)| (*key, member.json)).collect())
    }
}

#[derive(Debug)]
pub(crate) struct Members<'a> {
    cursor: Cursor<'a>,
    open: bool,
}

impl<'a> Iterator for Members<'a> {
    type Item = (Key<'a>, Json<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let member = if self.open { self.cursor.key().zip(self.cursor.value()) } else { None };
        self.open = member.is_some();
        member
    }
}

#[derive(Debug)]
pub(crate) struct Elements<'a> {
    cursor: Cursor<'a>,
    open: bool,
}

impl<'a> Iterator for Elements<'a> {
    type Item = Json<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let element = if self.open && self.cursor.element() { self.cursor.value() } else { None };
        self.open = element.is_some();
        element
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        r#" { "a" : [1, -2.5e3 ,"x\"]}", {"b":null}], "q\u0022" : true, "a":{"deep":[[],{}]} } "#;

    #[test]
    fn members_and_elements_are_found_without_building_values() {
        let json = Json::new(TEXT);
        let keys: Vec<_> = json.members().map(|(key, _)| key.name().into_owned()).collect();
        assert_eq!(keys, ["a", "q\"", "a"]);
        let first = json.members().next().map(|(_, value)| value).unwrap();
        let texts: Vec<_> = first.elements().map(Json::text).collect();
        assert_eq!(texts, ["1", "-2.5e3", r#""x\"]}""#, r#"{"b":null}"#]);
    }

    #[test]
    fn a_tree_holds_the_upper_levels() {
        let tree = Json::new(TEXT).tree(2);
        assert_eq!(tree.json.text(), TEXT.trim());
        let inner = tree.get("a").unwrap();
        assert_eq!(inner.json.text(), r#"{"deep":[[],{}]}"#);
        assert_eq!(inner.object().get("deep").unwrap().text(), "[[],{}]");
        assert!(inner.get("deep").unwrap().members.is_empty());
        assert!(Json::new(TEXT).tree(1).get("a").unwrap().members.is_empty());
    }

    #[test]
    fn the_last_of_two_equal_names_wins() {
        assert_eq!(Json::new(TEXT).get("a").unwrap().text(), r#"{"deep":[[],{}]}"#);
        assert!(Json::new(TEXT).flag("q\""));
    }

    #[test]
    fn a_walk_goes_through_objects_and_arrays() {
        let json = Json::new(TEXT);
        assert_eq!(json.walk(["a", "deep", "1"].into_iter()).unwrap().text(), "{}");
        assert!(json.walk(["a", "deep", "2"].into_iter()).is_none());
        assert!(json.walk(["a", "deep", "x"].into_iter()).is_none());
        assert!(json.walk(["q\"", "x"].into_iter()).is_none());
    }

    #[test]
    fn broken_text_ends_every_reading() {
        for text in [
            "", "{", "{\"a", "{\"a\"", "{\"a\":", "{\"a\":}", "[", "[1", "[1,,", "{]", "\"", "\\",
            "[\"é\\",
        ] {
            let json = Json::new(text);
            assert!(json.members().count() <= 1, "{text}");
            assert!(json.elements().count() <= 2, "{text}");
            assert!(
                json.parse().is_null() && json.walk(["a", "b"].into_iter()).is_none(),
                "{text}"
            );
        }
    }

    #[test]
    fn nesting_costs_no_stack() {
        let text = format!("{{\"a\":{}1{}}}", "[".repeat(200_000), "]".repeat(200_000));
        assert_eq!(Json::new(&text).get("a").unwrap().text().len(), 400_001);
    }
}
