//! Reading JSON where it lies: a value is a slice of the document's text, and only what is asked for is decoded.
//!
//! The text was checked when it was loaded. On text that is not JSON (a damaged cache) every
//! function still ends and answers `None` or nothing.

use std::borrow::Cow;

use serde_json::Value;

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

/// A position in JSON text, for reading it once from front to back.
#[derive(Debug)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(value: Json<'a>) -> Self {
        Self { text: value.0, at: 0 }
    }

    /// What the value here is; the cursor stands on its first byte.
    pub(crate) fn kind(&self) -> Kind {
        Kind::of(self.text.as_bytes().get(self.at).copied())
    }

    /// Steps into the object or array here.
    pub(crate) fn enter(&mut self) {
        self.at += 1;
    }

    /// The next key of the object the cursor is in, which then stands on its value; after the
    /// last one `None`, and the object is left.
    pub(crate) fn key(&mut self) -> Option<Key<'a>> {
        if self.separator()? != b'"' {
            self.at += 1;
            return None;
        }
        let start = self.at + 1;
        self.at = string_end(self.text.as_bytes(), start)?;
        let key = Key(self.text.get(start..self.at)?);
        self.at += 1;
        if self.blank()? != b':' {
            return None;
        }
        self.at += 1;
        self.blank()?;
        Some(key)
    }

    /// Stands on the next element of the array the cursor is in; after the last one false, and the
    /// array is left.
    pub(crate) fn element(&mut self) -> bool {
        match self.separator() {
            Some(b']') => {
                self.at += 1;
                false
            }
            Some(_) => true,
            None => false,
        }
    }

    /// The value here, which is passed.
    pub(crate) fn value(&mut self) -> Option<Json<'a>> {
        let end = value_end(self.text.as_bytes(), self.at)?;
        let value = self.text.get(self.at..end)?;
        self.at = end;
        Some(Json(value))
    }

    /// The value here, which is passed, with `levels` of its members.
    fn tree(&mut self, levels: usize) -> Option<Tree<'a>> {
        let start = self.at;
        let mut members = Vec::new();
        if levels == 0 || self.kind() != Kind::Object {
            return Some(Tree { json: self.value()?, members });
        }
        self.enter();
        while let Some(key) = self.key() {
            members.push((key, self.tree(levels - 1)?));
        }
        Some(Tree { json: Json(self.text.get(start..self.at)?), members })
    }

    /// Passes whitespace and one comma; answers the byte it stands on.
    fn separator(&mut self) -> Option<u8> {
        if self.blank()? == b',' {
            self.at += 1;
        }
        self.blank()
    }

    fn blank(&mut self) -> Option<u8> {
        loop {
            match self.text.as_bytes().get(self.at)? {
                b' ' | b'\n' | b'\r' | b'\t' => self.at += 1,
                byte => return Some(*byte),
            }
        }
    }
}

/// The index of the quote that closes a string whose content starts at `from`.
pub(crate) fn string_end(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at = find(bytes, at, |word| equal(word, b'"') | equal(word, b'\\'))?;
        if bytes.get(at) == Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}

/// The index just past the value that starts at `from`. Counts brackets instead of recursing, so
/// no nesting is too deep for it.
fn value_end(bytes: &[u8], from: usize) -> Option<usize> {
    match bytes.get(from)? {
        b'"' => return Some(string_end(bytes, from + 1)? + 1),
        b'{' | b'[' => {}
        _ => {
            let rest = bytes.get(from..)?;
            let is_scalar =
                |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
            let length = rest.iter().position(|byte| !is_scalar(byte)).unwrap_or(rest.len());
            return (length > 0).then_some(from + length);
        }
    }
    let mut at = from + 1;
    let mut depth = 1_usize;
    while depth > 0 {
        // `[` and `{`, and `]` and `}`, differ in one bit.
        at = find(bytes, at, |word| {
            let folded = word | (BIT * 0x20);
            equal(word, b'"') | equal(folded, b'{') | equal(folded, b'}')
        })?;
        match bytes.get(at)? {
            b'"' => at = string_end(bytes, at + 1)?,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    Some(at)
}

/// One in each byte of a word.
const BIT: u64 = 0x0101_0101_0101_0101;

/// The high bit of each byte of `word` that equals `byte`; above the first such byte there may be
/// false ones.
fn equal(word: u64, byte: u8) -> u64 {
    let difference = word ^ (BIT * u64::from(byte));
    difference.wrapping_sub(BIT) & !difference & (BIT << 7)
}

/// The first index from `at` on whose byte `hits` marks, eight bytes at a time.
fn find(bytes: &[u8], mut at: usize, hits: impl Fn(u64) -> u64) -> Option<usize> {
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let marks = hits(u64::from_le_bytes(*chunk));
        if marks != 0 {
            return Some(at + usize::try_from(marks.trailing_zeros() / 8).ok()?);
        }
        at += 8;
    }
    let rest = bytes.get(at..)?;
    Some(at + rest.iter().position(|byte| hits(u64::from(*byte)) & 0x80 != 0)?)
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
