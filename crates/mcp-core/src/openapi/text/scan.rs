//! Going through JSON text byte by byte, eight at a time where nothing is to be decided.

use super::{Json, Key, Kind, Tree};

/// A position in JSON text, for reading it once from front to back.
#[derive(Debug)]
pub(crate) struct Cursor<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
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
    pub(super) fn tree(&mut self, levels: usize) -> Option<Tree<'a>> {
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
