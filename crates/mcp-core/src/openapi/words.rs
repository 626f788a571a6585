//! The words of an operation that a search index takes beside its summary.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

use super::document::{Document, SearchFields};
use super::operation::{MAX_REFERENCE, ParameterReader, contents};
use super::resolve::{Target, reference_name};
use super::text::Json;

/// Enum values up to this many bytes are words to search for.
const SHORT_VALUE: usize = 24;

/// No more body words than this are given to a search index for one operation.
const MAX_BODY_WORDS: usize = 400;

/// No more values than this of one enum are words to search for.
const MAX_ENUM_WORDS: usize = 30;

/// No more names than this are taken from what comes back.
const MAX_ANSWER_WORDS: usize = 24;

/// What holds a page of other things has them among the first of so many names.
const MAX_PAGE_WORDS: usize = 8;

impl Document {
    /// The words of every operation a search index takes beside its summary.
    #[must_use]
    pub fn search_fields(&self) -> Vec<SearchFields> {
        let mut reader = Reader::new(self);
        (0..self.len()).map(|index| reader.fields(index)).collect()
    }
}

/// Reads the words of one operation after the other, those of what they share once. What is shared
/// is told by its text: a reference, or a list of references.
struct Reader<'d> {
    document: &'d Document,
    parameters: ParameterReader<'d>,
    answers: HashMap<&'d str, Rc<[String]>>,
}

impl<'d> Reader<'d> {
    fn new(document: &'d Document) -> Self {
        Self { document, parameters: ParameterReader::new(document), answers: HashMap::new() }
    }

    fn fields(&mut self, index: usize) -> SearchFields {
        let Some(parts) = self.document.parts(index) else { return SearchFields::default() };
        let parameters = parts.parameters_by(&mut self.parameters);
        let parameters = parameters.into_iter().map(|it| it.name.into_owned()).collect();
        let mut answer = Vec::new();
        let mut body = Vec::new();
        if let Some(schema) = parts.body().and_then(first_schema) {
            add_name(schema, &mut answer);
            self.add_body(schema, &mut body);
        }
        let mut successes = parts.responses().filter(|(status, _)| status.starts_with('2'));
        if let Some(schema) = successes.find_map(|(_, response)| first_schema(response)) {
            answer.extend_from_slice(&self.answer(schema));
        }
        answer.truncate(MAX_ANSWER_WORDS);
        SearchFields { parameters, body, answer }
    }

    fn add_body(&self, schema: Json<'d>, words: &mut Vec<String>) {
        let shape = self.document.shape(schema);
        // A list is searched for by what is in it.
        let element = shape.items.filter(|_| shape.properties.is_empty());
        let shape = element.map_or(shape, |items| self.document.shape(items));
        for (name, property) in shape.properties {
            words.push(name.into_owned());
            let values = property.get("enum").into_iter().flat_map(Json::strings);
            let short = values.filter(|it| !it.is_empty() && it.len() <= SHORT_VALUE);
            words.extend(short.take(MAX_ENUM_WORDS).map(Cow::into_owned));
            if words.len() > MAX_BODY_WORDS {
                break;
            }
        }
    }

    /// What a success is called and what it is made of.
    fn answer(&mut self, schema: Json<'d>) -> Rc<[String]> {
        if schema.text().len() > MAX_REFERENCE {
            return answer_words(self.document, schema).into();
        }
        let words = || answer_words(self.document, schema).into();
        Rc::clone(self.answers.entry(schema.text()).or_insert_with(words))
    }
}

fn answer_words(document: &Document, schema: Json<'_>) -> Vec<String> {
    let mut words = Vec::new();
    add_name(schema, &mut words);
    let Target::Found(schema) = document.follow(schema) else { return words };
    let schema = schema.object();
    let element = schema.get("items").and_then(|items| document.follow(items).found());
    let properties = match element {
        Some(element) => element.get("properties"),
        None => schema.get("properties"),
    };
    let first = words.len();
    for (name, property) in properties.into_iter().flat_map(Json::members) {
        // A page is known by what it holds, and has few properties of its own.
        if words.len() < first + MAX_PAGE_WORDS && property.get("items").is_some() {
            add_name(property, &mut words);
        }
        words.push(name.name().into_owned());
        if words.len() >= MAX_ANSWER_WORDS {
            break;
        }
    }
    words
}

/// The name of a schema, or of the elements of a list.
fn add_name(schema: Json<'_>, words: &mut Vec<String>) {
    let reference = schema.get_str("$ref");
    let reference = reference.or_else(|| schema.get("items")?.get_str("$ref"));
    words.extend(reference.map(|it| reference_name(&it).into_owned()));
}

fn first_schema(holder: Json<'_>) -> Option<Json<'_>> {
    contents(holder).into_iter().find_map(|(_, media)| media.get("schema"))
}
