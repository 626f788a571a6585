//! Operations and schemas as an agent reads them: signatures, lines, and the long form.

use std::fmt::Write as _;

use api_client::request::Location;

use super::document::{ComponentKind, Document, Summary};
use super::operation::{ParameterText, Parts, contents, is_json};
use super::prose::{first_sentence, one_line};
use super::text::Json;
use super::types::{Layout, Side, Types, property_name};

/// A line of a list has at most this many bytes, unless the name and path alone have more.
const MAX_LINE: usize = 150;

/// How much of a summary or description stands above a signature.
const MAX_HEADING: usize = 120;

/// How much of a description the long form shows.
const MAX_DESCRIPTION: usize = 600;

/// How far a rendering goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Depth {
    /// Levels of objects opened in parameters and body.
    pub body: usize,
    /// Levels of objects opened in the result.
    pub response: usize,
    /// Bytes for one operation, nearly exact: what does not fit is counted or named.
    pub bytes: usize,
}

impl Default for Depth {
    /// What a search result shows.
    fn default() -> Self {
        Self { body: 2, response: 1, bytes: 3_000 }
    }
}

impl Depth {
    /// What the long form shows.
    pub const FULL: Self = Self { body: 4, response: 3, bytes: 16_000 };
}

/// The signature of an operation: enough to write a correct call. Empty beyond the last index.
#[must_use]
pub fn signature(document: &Document, index: usize, depth: Depth) -> String {
    let Some(parts) = document.parts(index) else { return String::new() };
    // Rather fewer levels than half of the fields.
    let less = [
        depth,
        Depth { body: depth.body.min(1), ..depth },
        Depth { body: depth.body.min(1), response: 0, ..depth },
    ];
    for depth in less {
        let page = Page::write(&parts, Layout::Compact, depth);
        if !page.cut {
            return page.text;
        }
    }
    Page::write(&parts, Layout::Compact, depth).text
}

/// The long form of an operation: deeper, with descriptions and every documented answer. Empty
/// beyond the last index.
#[must_use]
pub fn full(document: &Document, index: usize) -> String {
    document
        .parts(index)
        .map(|parts| Page::write(&parts, Layout::Full, Depth::FULL).text)
        .unwrap_or_default()
}

/// An operation on one line: `id METHOD /path — summary`.
#[must_use]
pub fn line(summary: &Summary) -> String {
    let mut line = format!("{} {} {}", summary.id, summary.method, summary.path);
    if summary.deprecated {
        line.push_str(" (deprecated)");
    }
    let room = MAX_LINE.saturating_sub(line.len() + " — ".len());
    let heading = heading(summary, room);
    if room > 10 && !heading.is_empty() {
        let _ = write!(line, " — {heading}");
    }
    line
}

/// A named schema as a type, `depth` levels of objects opened. The name may be in another letter
/// case. `None` where there is no such schema.
#[must_use]
pub fn schema(document: &Document, name: &str, depth: usize) -> Option<String> {
    let (name, schema) = document.find_schema(name)?;
    let mut types = Types::new(document, Layout::Full, Depth::FULL.bytes);
    types.turn(Side::Response);
    let text = types.write(schema, depth.max(1));
    let note = types.note(schema);
    let heading = if note.is_empty() { String::new() } else { format!("{}\n", note.trim_start()) };
    let cut = if types.cut { CUT } else { "" };
    Some(format!("{heading}{name} = {text}{cut}"))
}

impl Document {
    fn find_schema(&self, name: &str) -> Option<(&str, Json<'_>)> {
        let name = name.trim();
        let names = || self.components_of(ComponentKind::Schema);
        let found = names().find(|it| it.name == name).or_else(|| {
            let mut alike = names().filter(|it| it.name.eq_ignore_ascii_case(name));
            alike.next().filter(|_| alike.next().is_none())
        })?;
        Some((&found.name, self.stored(found.span)))
    }
}

const CUT: &str = "\n// cut here: ask for a schema by name to see more";

/// An operation being written.
struct Page<'a> {
    text: String,
    types: Types<'a>,
    layout: Layout,
    depth: Depth,
    cut: bool,
}

impl<'a> Page<'a> {
    fn write(parts: &Parts<'a>, layout: Layout, depth: Depth) -> Self {
        let types = Types::new(parts.document, layout, depth.bytes);
        let mut page = Self { text: String::new(), types, layout, depth, cut: false };
        page.heading(parts);
        page.parameters(&parts.parameters());
        page.body(parts);
        page.result(parts);
        page.scopes(parts);
        page.cut = page.types.cut;
        if page.cut {
            page.text.push_str(CUT);
        }
        page
    }

    fn heading(&mut self, parts: &Parts<'a>) {
        let summary = parts.summary;
        let mut heading = heading(summary, MAX_HEADING);
        if summary.deprecated {
            heading.insert_str(0, "DEPRECATED ");
        }
        self.comment(&heading);
        if self.layout == Layout::Full {
            let description = one_line(&summary.description, MAX_DESCRIPTION);
            if !description.starts_with(&heading) {
                self.comment(&description);
            }
        }
        let line = format!("{} {} {}", summary.id, summary.method, summary.path);
        self.text.push_str(&self.types.spent(line));
    }

    fn comment(&mut self, text: &str) {
        let text = text.trim();
        if !text.is_empty() {
            let line = format!("// {text}\n");
            self.text.push_str(&self.types.spent(line));
        }
    }

    fn parameters(&mut self, parameters: &[ParameterText<'a>]) {
        let mut groups = Vec::new();
        for (location, name) in [
            (Location::Path, "path"),
            (Location::Query, "query"),
            (Location::Header, "header"),
            (Location::Cookie, "cookie"),
        ] {
            let of_group = |it: &&ParameterText<'a>| it.location == location;
            let (required, optional): (Vec<_>, Vec<_>) =
                parameters.iter().filter(of_group).partition(|it| it.required());
            if required.is_empty() && optional.is_empty() {
                continue;
            }
            let fields: Vec<_> =
                required.into_iter().chain(optional).map(|it| self.parameter(it)).collect();
            groups.push(format!("{name}{}", self.types.braces(&fields)));
        }
        if !groups.is_empty() {
            let separator = if self.layout == Layout::Full { "\n" } else { " " };
            let _ = write!(self.text, "\n{}", groups.join(separator));
        }
    }

    fn parameter(&mut self, parameter: &ParameterText<'a>) -> String {
        let mark = if parameter.required() { "" } else { "?" };
        let mut text = self.types.spent(format!("{}{mark}:", property_name(&parameter.name)));
        match parameter.schema() {
            Some(schema) => text.push_str(&self.types.write(schema, self.depth.body.min(2))),
            None => text.push_str("string"),
        }
        if self.layout == Layout::Full {
            let own =
                one_line(&parameter.json.get_str("description").unwrap_or_default(), MAX_HEADING);
            let note = match parameter.schema() {
                _ if !own.is_empty() => format!(" // {own}"),
                Some(schema) => self.types.note(schema),
                None => String::new(),
            };
            text.push_str(&self.types.spent(note));
        }
        text
    }

    fn body(&mut self, parts: &Parts<'a>) {
        let Some(body) = parts.body() else { return };
        let contents = contents(body);
        self.types.turn(Side::Request);
        let mark = if body.flag("required") { "" } else { "?" };
        let content_type = contents.first().map(|(content_type, _)| content_type.as_ref());
        let named = content_type
            .filter(|it| *it != "application/json")
            .map(|it| format!("<{}>", one_line(it, 100)));
        let _ = write!(self.text, "\nbody{}{mark}:", named.unwrap_or_default());
        match contents.first().and_then(|(_, media)| media.get("schema")) {
            Some(schema) => self.text.push_str(&self.types.write(schema, self.depth.body)),
            None => self.text.push_str("any"),
        }
        if contents.len() > 1 && self.layout == Layout::Full {
            let others: Vec<_> = contents.iter().skip(1).map(|(it, _)| one_line(it, 100)).collect();
            let _ = write!(self.text, "\n// or as {}", others.join(", "));
        }
    }

    fn result(&mut self, parts: &Parts<'a>) {
        self.types.turn(Side::Response);
        let responses: Vec<_> = parts.responses().collect();
        let main =
            responses.iter().map(|(status, _)| status.as_ref()).min_by_key(|status| rank(status));
        let Some(main) = main else { return };
        for (status, response) in &responses {
            if status == main {
                let _ = write!(self.text, "\n-> {}", one_line(status, 20));
                let depth = self.depth.response;
                self.content(*response, depth);
            }
        }
        if self.layout == Layout::Full {
            for (status, response) in responses.iter().filter(|(status, _)| status != main) {
                let _ = write!(self.text, "\n-> {}", one_line(status, 20));
                let description =
                    one_line(&response.get_str("description").unwrap_or_default(), 80);
                self.content(*response, 0);
                if !description.is_empty() {
                    let note = format!(" // {description}");
                    self.text.push_str(&self.types.spent(note));
                }
            }
        }
    }

    fn content(&mut self, response: Json<'a>, depth: usize) {
        let contents = contents(response);
        let Some((content_type, media)) = contents.first().filter(|_| !self.types.is_spent())
        else {
            return;
        };
        if !is_json(content_type) && content_type != "*/*" {
            let _ = write!(self.text, " <{}>", one_line(content_type, 100));
        }
        if let Some(schema) = media.get("schema") {
            let _ = write!(self.text, " {}", self.types.write(schema, depth));
        }
    }

    fn scopes(&mut self, parts: &Parts<'a>) {
        let scopes = parts.scopes();
        if !scopes.is_empty() {
            let shown: Vec<_> = scopes.iter().take(8).map(|it| one_line(it, 80)).collect();
            let more =
                if scopes.len() > 8 { format!(" +{}", scopes.len() - 8) } else { String::new() };
            let _ = write!(self.text, "\nscopes: {}{more}", shown.join(" "));
        }
    }
}

fn heading(summary: &Summary, max: usize) -> String {
    if summary.summary.is_empty() {
        first_sentence(&summary.description, max)
    } else {
        one_line(&summary.summary, max)
    }
}

/// The answer to show first: the lowest success, then redirects, `default`, failures.
fn rank(status: &str) -> (u8, u16) {
    let number =
        status.get(..3).and_then(|it| it.replace(['X', 'x'], "9").parse().ok()).unwrap_or(u16::MAX);
    match number {
        200..300 => (0, number),
        300..400 => (1, number),
        u16::MAX => (2, 0),
        _ => (3, number),
    }
}
