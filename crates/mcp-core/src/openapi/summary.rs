//! The summaries of a document's operations, each with a name of its own.

use std::collections::{HashMap, HashSet};

use super::document::{Document, Method, Summary};
use super::operation::ParameterReader;
use super::prose::{one_line, without_markup};
use super::text::Json;

/// How many characters of a description a summary keeps for searching.
const MAX_DESCRIPTION: usize = 600;

/// An `operationId` beyond this many bytes is no name to call by.
const MAX_ID: usize = 200;

/// Reads the summaries of all operations; `methods` has one for each.
pub(super) fn summaries(document: &Document, methods: &[Method]) -> Vec<Summary> {
    let mut summaries: Vec<_> = document
        .operations
        .iter()
        .zip(methods)
        .map(|(stored, &method)| {
            let operation = document.stored(stored.span).object();
            let path = document.path_at(stored.path).map(|path| path.template.clone());
            let text = |name| operation.get_str(name).unwrap_or_default();
            Summary {
                id: one_line(&text("operationId"), MAX_ID),
                method,
                path: path.unwrap_or_default(),
                summary: without_markup(&text("summary"), MAX_DESCRIPTION),
                description: without_markup(&text("description"), MAX_DESCRIPTION),
                tags: operation
                    .get("tags")
                    .into_iter()
                    .flat_map(|tags| tags.strings())
                    .map(|tag| one_line(&tag, 100))
                    .collect(),
                deprecated: operation.get("deprecated").and_then(Json::as_bool) == Some(true),
            }
        })
        .collect();
    name_operations(&mut summaries);
    summaries
}

/// Tags and how many operations have them, in the order of first use.
pub(super) fn tags(summaries: &[Summary]) -> Vec<(String, usize)> {
    let mut tags: Vec<(String, usize)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for tag in summaries.iter().flat_map(|it| &it.tags) {
        let place = *places.entry(tag).or_insert(tags.len());
        match tags.get_mut(place) {
            Some((_, count)) => *count += 1,
            None => tags.push((tag.clone(), 1)),
        }
    }
    tags
}

/// The parameters of each path whose value may hold slashes.
pub(super) fn multi_segment(document: &Document) -> Vec<Vec<String>> {
    let mut names = vec![Vec::new(); document.paths.len()];
    if !document.text.contains("\"x-multi-segment\"") {
        return names;
    }
    let mut reader = ParameterReader::new(document);
    for (index, operation) in document.operations.iter().enumerate() {
        let (Some(names), Some(parts)) =
            (names.get_mut(operation.path as usize), document.parts(index))
        else {
            continue;
        };
        for parameter in parts.parameters_by(&mut reader) {
            let name = parameter.name.into_owned();
            if parameter.json.flag("x-multi-segment") && !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

/// Fills in missing ids and tells equal ones apart, in document order: the first keeps the id.
fn name_operations(summaries: &mut [Summary]) {
    let declared: HashSet<String> = summaries.iter().map(|it| it.id.clone()).collect();
    let mut taken: HashSet<String> = HashSet::with_capacity(summaries.len());
    let mut later = Vec::new();
    for (index, summary) in summaries.iter_mut().enumerate() {
        if summary.id.is_empty() || !taken.insert(summary.id.clone()) {
            later.push(index);
        }
    }
    let mut next: HashMap<String, u32> = HashMap::new();
    for index in later {
        let summary = &mut summaries[index];
        let base = if summary.id.is_empty() { id_from_path(summary) } else { summary.id.clone() };
        let mut id = base.clone();
        while declared.contains(&id) || taken.contains(&id) {
            let count = next.entry(base.clone()).or_insert(1);
            *count += 1;
            id = format!("{base}_{count}");
        }
        taken.insert(id.clone());
        summary.id = id;
    }
}

/// `GET /users/{id}/keys` becomes `get_users_id_keys`.
fn id_from_path(summary: &Summary) -> String {
    let mut id = summary.method.key().to_owned();
    for word in summary
        .path
        .split(|character: char| !character.is_alphanumeric())
        .filter(|it| !it.is_empty())
    {
        if id.len() + word.len() > MAX_ID {
            break;
        }
        id.push('_');
        id.push_str(word);
    }
    id
}
