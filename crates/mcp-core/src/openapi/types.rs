//! Writes a schema as a TypeScript-like type: to a depth, within a number of bytes, always ending.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;

use super::document::Document;
use super::prose::{is_hidden, one_line};
use super::resolve::Target;
use super::shape::Shape;
use super::text::{Json, Kind};

/// Enum values and branches of a union that are shown; the rest is counted.
const MAX_VALUES: usize = 8;

/// Property names shown of an object that is not opened.
const MAX_KEYS: usize = 5;

/// Schemas inside schemas that are followed, whatever depth is asked for.
const MAX_NESTING: usize = 40;

/// Bytes of schema text one answer may read.
const MAX_READING: usize = 64 << 20;

/// Characters of a string literal or name.
const MAX_LITERAL: usize = 80;

/// Properties up to which a named type is shown again where it stands: a name would cost a reader more
/// than it saves.
const SMALL: usize = 6;

/// How much a description adds to a line of the full layout.
const MAX_NOTE: usize = 120;

/// Whose view of a schema is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// What a caller sends: without `readOnly` properties.
    Request,
    /// What comes back: without `writeOnly` properties.
    Response,
}

/// How objects are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// On one line, without descriptions.
    Compact,
    /// One property a line, with descriptions.
    Full,
}

/// Writes types until its bytes are used up.
#[derive(Debug)]
pub(super) struct Types<'a> {
    document: &'a Document,
    side: Side,
    layout: Layout,
    indent: usize,
    /// Bytes left to write; what is beyond is counted or named instead.
    left: usize,
    pub(super) cut: bool,
    reading: usize,
    /// The schemas being written, outermost first: one of them again is a cycle.
    trail: Vec<usize>,
    /// Named schemas the full layout has opened; further on their names are enough.
    opened: HashSet<usize>,
}

impl<'a> Types<'a> {
    pub(super) fn new(document: &'a Document, layout: Layout, bytes: usize) -> Self {
        Self {
            document,
            side: Side::Request,
            layout,
            indent: 0,
            left: bytes,
            cut: false,
            reading: MAX_READING,
            trail: Vec::new(),
            opened: HashSet::new(),
        }
    }

    /// Turns to what is sent or what comes back, where the same schema shows other properties.
    pub(super) fn turn(&mut self, side: Side) {
        self.side = side;
        self.opened.clear();
    }

    /// A schema as a type, with `depth` levels of objects opened.
    pub(super) fn write(&mut self, schema: Json<'a>, depth: usize) -> String {
        if !schema.is_object() {
            return self.spent(if schema.text() == "false" { "never" } else { "any" }.to_owned());
        }
        let target = match self.document.follow(schema) {
            Target::Found(target) => target,
            Target::Missing(name) => return self.spent(unknown(&name)),
        };
        self.reading = self.reading.saturating_sub(schema.text().len() + target.text().len());
        if self.left == 0 || self.reading == 0 {
            self.cut = true;
            return "…".to_owned();
        }
        let shape = self.document.shape(schema);
        if self.trail.len() >= MAX_NESTING || self.trail.contains(&target.address()) {
            return self.spent(closed(&shape));
        }
        self.trail.push(target.address());
        let mut text = self.shape(&shape, depth);
        self.trail.pop();
        if shape.nullable && text != "any" && text != "null" {
            text.push_str("|null");
        }
        text
    }

    fn shape(&mut self, shape: &Shape<'a>, depth: usize) -> String {
        if let Some(constant) = shape.constant {
            return self.spent(literal(constant));
        }
        if let Some(values) = shape.values {
            let text = enumeration(values, shape);
            return self.spent(text);
        }
        let mut pieces = Vec::new();
        if !shape.properties.is_empty() || shape.unions.is_empty() {
            pieces.push(self.plain(shape, depth));
        }
        for union in &shape.unions {
            let union = self.union(union, shape, depth);
            pieces.push(if shape.unions.len() + pieces.len() > 1 { grouped(union) } else { union });
        }
        let mut text = pieces.join("&");
        if !shape.alternatives.is_empty() {
            let sets = shape.alternatives.iter().take(MAX_VALUES);
            let sets: Vec<_> =
                sets.map(|set| set.get("required").map(names).unwrap_or_default()).collect();
            let note = format!("/*with {}*/", comment(&sets.join(" or ")));
            text.push_str(&self.spent(note));
        }
        text
    }

    /// A schema without unions.
    fn plain(&mut self, shape: &Shape<'a>, depth: usize) -> String {
        if shape.types.is_empty() {
            if shape.is_object() {
                return self.object(shape, depth);
            }
            if shape.items.is_some() || shape.tuple.is_some() {
                return self.array(shape, depth);
            }
            return self.spent(match (&shape.missing, shape.never) {
                (Some(name), _) => unknown(name),
                (None, true) => "never".to_owned(),
                (None, false) => "any".to_owned(),
            });
        }
        let types: Vec<_> = shape
            .types
            .iter()
            .map(|kind| match kind.as_ref() {
                "object" => self.object(shape, depth),
                "array" => self.array(shape, depth),
                "string" => {
                    let text = string(shape);
                    self.spent(text)
                }
                other => self.spent(one_line(other, 40)),
            })
            .collect();
        types.join("|")
    }

    fn array(&mut self, shape: &Shape<'a>, depth: usize) -> String {
        if let Some(tuple) = shape.tuple {
            let parts: Vec<_> =
                tuple.elements().take(MAX_VALUES).map(|part| self.write(part, depth)).collect();
            return format!("[{}]", parts.join(","));
        }
        let element = match shape.items {
            Some(items) => grouped(self.write(items, depth)),
            None => self.spent("any".to_owned()),
        };
        format!("{element}[]")
    }

    fn union(&mut self, branches: &[Json<'a>], shape: &Shape<'a>, depth: usize) -> String {
        let mut texts: Vec<String> = Vec::new();
        let mut nullable = false;
        for branch in branches.iter().take(MAX_VALUES) {
            let mut text = self.write(*branch, depth);
            if let Some(bare) = text.strip_suffix("|null") {
                nullable = true;
                text.truncate(bare.len());
            }
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        if branches.len() > MAX_VALUES {
            texts.push(format!("/*+{}*/any", branches.len() - MAX_VALUES));
        }
        if nullable && !shape.nullable {
            texts.push("null".to_owned());
        }
        let mut text = texts.join("|");
        if let Some(note) = shape.discriminator.and_then(discriminator) {
            text.push_str(&self.spent(note));
        }
        text
    }

    fn object(&mut self, shape: &Shape<'a>, depth: usize) -> String {
        if shape.properties.is_empty() {
            return match shape.additional {
                Some(values) => {
                    let value = self.write(values, depth);
                    format!("Record<string,{value}>")
                }
                None => self.spent("object".to_owned()),
            };
        }
        let address = self.trail.last().copied().unwrap_or_default();
        let is_repeated = self.layout == Layout::Full
            && shape.name.is_some()
            && shape.properties.len() > SMALL
            && self.opened.contains(&address);
        if depth == 0 || is_repeated {
            return self.spent(closed(shape));
        }
        self.opened.insert(address);
        let (required, optional): (Vec<_>, Vec<_>) = shape
            .properties
            .iter()
            .filter(|(_, property)| !self.hides(**property))
            .partition(|(name, _)| shape.required.contains(*name));
        let count = required.len() + optional.len();
        let optional_from = required.len();
        let mut fields = Vec::new();
        self.indent += 1;
        for (index, (name, property)) in required.into_iter().chain(optional).enumerate() {
            if self.left == 0 {
                self.cut = true;
                fields.push(format!("…+{}", count - index));
                break;
            }
            let mark = if index < optional_from { "" } else { "?" };
            let name = self.spent(format!("{}{mark}:", property_name(name)));
            let mut field = format!("{name}{}", self.write(*property, depth - 1));
            if self.layout == Layout::Full {
                let note = self.note(*property);
                field.push_str(&self.spent(note));
            }
            fields.push(field);
        }
        self.indent -= 1;
        if shape.additional.is_some_and(|it| it.text() != "true") && self.left > 0 {
            fields.push("[key:string]:any".to_owned());
        }
        let braces = self.braces(&fields);
        match &shape.name {
            Some(name) if self.layout == Layout::Full => {
                format!("{} {braces}", one_line(name, 100))
            }
            _ => braces,
        }
    }

    /// Fields between braces, by layout.
    pub(super) fn braces(&self, fields: &[String]) -> String {
        match self.layout {
            Layout::Compact => format!("{{{}}}", fields.join(",")),
            Layout::Full => {
                let outer = "  ".repeat(self.indent);
                let mut text = "{\n".to_owned();
                for field in fields {
                    let _ = writeln!(text, "{outer}  {field}");
                }
                text.push_str(&outer);
                text.push('}');
                text
            }
        }
    }

    /// What the full layout adds to a line: default and description.
    pub(super) fn note(&self, schema: Json<'a>) -> String {
        let shape = self.document.shape(schema);
        let mut note = String::new();
        if shape.deprecated {
            note.push_str(" (deprecated)");
        }
        if let Some(default) = shape.default.filter(|it| !matches!(it.kind(), Kind::Null)) {
            let _ = write!(note, " default {}", one_line(default.text(), 40));
        }
        let description = one_line(shape.description.as_deref().unwrap_or_default(), MAX_NOTE);
        if !description.is_empty() {
            let _ = write!(note, " {description}");
        }
        if note.is_empty() { note } else { format!(" //{note}") }
    }

    fn hides(&self, property: Json<'a>) -> bool {
        let key = match self.side {
            Side::Request => "readOnly",
            Side::Response => "writeOnly",
        };
        property.flag(key)
            || (property.get("$ref").is_some()
                && self.document.follow(property).found().is_some_and(|target| target.flag(key)))
    }

    pub(super) fn is_spent(&self) -> bool {
        self.left == 0
    }

    pub(super) fn spent(&mut self, text: String) -> String {
        self.left = self.left.saturating_sub(text.len());
        text
    }
}

/// An object that is not opened: its name, or some of its properties.
fn closed(shape: &Shape<'_>) -> String {
    if let Some(name) = &shape.name {
        return one_line(name, 100);
    }
    if shape.properties.is_empty() {
        return if shape.is_object() { "object" } else { "any" }.to_owned();
    }
    let mut keys: Vec<Cow<'_, str>> =
        shape.properties.keys().take(MAX_KEYS).map(|key| property_name(key).into()).collect();
    if shape.properties.len() > MAX_KEYS {
        keys.push(format!("…+{}", shape.properties.len() - MAX_KEYS).into());
    }
    format!("{{{}}}", keys.join(","))
}

fn enumeration(values: Json<'_>, shape: &Shape<'_>) -> String {
    let mut total = 0_usize;
    let mut shown = Vec::new();
    for value in values.elements().filter(|it| it.kind() != Kind::Null) {
        total += 1;
        if shown.len() < MAX_VALUES {
            shown.push(literal(value));
        }
    }
    if total == 0 {
        return "null".to_owned();
    }
    if total > shown.len() {
        let kind = shape.types.first().map_or("string", AsRef::as_ref);
        shown.push(format!("/*+{}*/{}", total - shown.len(), one_line(kind, 20)));
    }
    shown.join("|")
}

/// The formats that change what a caller has to write.
fn string(shape: &Shape<'_>) -> String {
    match shape.format.as_deref() {
        Some("binary") => "binary".to_owned(),
        Some(format @ ("byte" | "date" | "date-time" | "uuid")) => format!("string/*{format}*/"),
        _ => "string".to_owned(),
    }
}

fn discriminator(discriminator: Json<'_>) -> Option<String> {
    let property = discriminator.get_str("propertyName")?;
    let mapping = discriminator.get("mapping").into_iter().flat_map(Json::members);
    let pairs: Vec<_> = mapping
        .take(MAX_VALUES)
        .filter_map(|(value, reference)| {
            let reference = reference.as_str()?;
            let name = super::resolve::reference_name(&reference);
            let value = value.name();
            Some(if value == name { name.into_owned() } else { format!("{value}={name}") })
        })
        .collect();
    let pairs = if pairs.is_empty() { String::new() } else { format!(": {}", pairs.join(", ")) };
    Some(format!("/*by {}{}*/", comment(&property), comment(&pairs)))
}

fn names(list: Json<'_>) -> String {
    list.strings().take(MAX_VALUES).collect::<Vec<_>>().join("+")
}

fn unknown(name: &str) -> String {
    format!("unknown /*{}*/", comment(&one_line(name, 100)))
}

fn comment(text: &str) -> String {
    one_line(&text.replace("*/", "* /"), 300)
}

/// Puts a union in parentheses.
fn grouped(text: String) -> String {
    let mut depth = 0_usize;
    let is_union = text.chars().any(|character| {
        match character {
            '{' | '[' | '(' | '<' => depth += 1,
            '}' | ']' | ')' | '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && matches!(character, '|' | '&')
    });
    if is_union { format!("({text})") } else { text }
}

/// A value as it would stand in a script.
fn literal(value: Json<'_>) -> String {
    match value.as_str() {
        Some(text) => quoted(&text),
        None => one_line(value.text(), MAX_LITERAL),
    }
}

fn quoted(text: &str) -> String {
    let mut literal = String::from("'");
    for (index, character) in text.chars().enumerate() {
        match character {
            _ if index == MAX_LITERAL => {
                literal.push('…');
                break;
            }
            '\'' | '\\' => literal.extend(['\\', character]),
            '\n' => literal.push_str("\\n"),
            it if is_hidden(it) => {}
            it => literal.push(it),
        }
    }
    literal.push('\'');
    literal
}

/// A name as it stands before a colon: quoted unless it is an identifier.
pub(super) fn property_name(name: &str) -> String {
    let plain = !name.is_empty()
        && name.len() <= 100
        && name.chars().all(|it| it.is_alphanumeric() || matches!(it, '_' | '$' | '.'));
    if plain { name.to_owned() } else { quoted(name) }
}
