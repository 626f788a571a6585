//! The words of an operation that a search index takes beside its summary.

use std::borrow::Cow;

use super::document::{Document, SearchFields};
use super::operation::{Parts, contents};
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
    /// The words of an operation a search index takes beside its summary. Cheap: nothing is built
    /// but the words.
    #[must_use]
    pub fn search_fields(&self, index: usize) -> SearchFields {
        let Some(parts) = self.parts(index) else { return SearchFields::default() };
        let parameters = parts.parameters().into_iter().map(|it| it.name.into_owned()).collect();
        let mut answer = Vec::new();
        let mut body = Vec::new();
        if let Some(schema) = parts.body().and_then(first_schema) {
            self.add_name(schema, &mut answer);
            self.add_body(schema, &mut body);
        }
        self.add_answer(&parts, &mut answer);
        SearchFields { parameters, body, answer }
    }

    fn add_body(&self, schema: Json<'_>, words: &mut Vec<String>) {
        let shape = self.shape(schema);
        // A list is searched for by what is in it.
        let element = shape.items.filter(|_| shape.properties.is_empty());
        let shape = element.map_or(shape, |items| self.shape(items));
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
    fn add_answer(&self, parts: &Parts<'_>, words: &mut Vec<String>) {
        let mut responses = parts.responses().filter(|(status, _)| status.starts_with('2'));
        let Some(schema) = responses.find_map(|(_, response)| first_schema(response)) else {
            return;
        };
        self.add_name(schema, words);
        let Target::Found(schema) = self.follow(schema) else { return };
        let schema = schema.object();
        let element = schema.get("items").and_then(|items| self.follow(items).found());
        let properties = match element {
            Some(element) => element.get("properties"),
            None => schema.get("properties"),
        };
        let first = words.len();
        for (name, property) in properties.into_iter().flat_map(Json::members) {
            // A page is known by what it holds, and has few properties of its own.
            if words.len() < first + MAX_PAGE_WORDS && property.get("items").is_some() {
                self.add_name(property, words);
            }
            words.push(name.name().into_owned());
            if words.len() >= MAX_ANSWER_WORDS {
                return;
            }
        }
    }

    /// The name of a schema, or of the elements of a list.
    fn add_name(&self, schema: Json<'_>, words: &mut Vec<String>) {
        let reference = schema.get_str("$ref");
        let reference = reference.or_else(|| schema.get("items")?.get_str("$ref"));
        words.extend(reference.map(|it| reference_name(&it).into_owned()));
    }
}

fn first_schema(holder: Json<'_>) -> Option<Json<'_>> {
    contents(holder).into_iter().find_map(|(_, media)| media.get("schema"))
}
