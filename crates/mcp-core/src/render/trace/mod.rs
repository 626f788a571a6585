//! Traces as text: what they are made of, their most telling spans as a tree, one span in full.
//! Whoever sends spans chose nearly all of it, so it belongs in a fence.

mod focus;
mod forest;
mod label;
mod operations;
#[cfg(test)]
mod properties;
mod sql;
mod tree;

use serde_json::Value;

use crate::render::event::{Sheet, short, shorten};

pub(crate) use focus::{attributes, focus};
pub(crate) use forest::Forest;

use forest::{Bounds, Failure};

/// Bytes of a trace's text.
const ROOM: usize = 30_000;
/// What is shown of a whole trace.
const OVERVIEW: Bounds = Bounds { roots: 12, spans: 96, depth: 8, below: 24 };
/// Errors that are named.
const MOST_FAILURES: usize = 10;

/// A trace as text: operations, spans, errors.
pub(crate) fn overview(forest: &Forest) -> String {
    let mut sheet = Sheet::new(ROOM);
    operations::table(&mut sheet, forest);
    tree::spans(&mut sheet, forest, &forest.roots, OVERVIEW);
    failures(&mut sheet, forest, |_| true);
    sheet.finish_or("The trace has nothing that could be shown.")
}

/// The projects that spans came from, in the order of the spans; at most so many.
pub(crate) fn projects(forest: &Forest, most: usize) -> Vec<&str> {
    let mut projects: Vec<&str> = Vec::new();
    for slug in forest.nodes.iter().filter_map(|it| it.span.project_slug.as_deref()) {
        if projects.len() == most {
            break;
        }
        if !slug.is_empty() && !projects.contains(&slug) {
            projects.push(slug);
        }
    }
    projects
}

/// What went wrong, each with its issue and the span it happened in.
fn failures(sheet: &mut Sheet, forest: &Forest, concerns: impl Fn(&Failure) -> bool) {
    let wanted: Vec<&Failure> = forest.failures.iter().filter(|it| concerns(it)).collect();
    sheet.section(format!("Errors and performance issues ({})", wanted.len()));
    for failure in wanted.iter().take(MOST_FAILURES) {
        sheet.line(failure_line(forest, failure));
    }
    if wanted.len() > MOST_FAILURES {
        sheet.line(format!("… {} more", wanted.len() - MOST_FAILURES));
    }
}

fn failure_line(forest: &Forest, failure: &Failure) -> String {
    let said = |names: &[&str], most: usize| {
        let known = names.iter().filter_map(|name| failure.fields.get(*name));
        let scalar = known.filter(|it| it.is_string() || it.is_number()).map(|it| short(it, most));
        scalar.map(|it| it.trim().to_owned()).find(|it| !it.is_empty())
    };
    let title = said(&["title", "message", "description", "culprit"], 160);
    let title = title.unwrap_or_else(|| "(no title)".to_owned());
    let issue = said(&["short_id", "issue_short_id", "issue_id", "issue"], 60);
    let event = said(&["event_id", "id"], 60);
    let span = failure.span.and_then(|it| forest.node(it)?.span.any_id());
    let parts = [
        Some(match said(&["level"], 20) {
            Some(level) => format!("{level}: {title}"),
            None => title,
        }),
        issue.map(|it| format!("issue {it}")),
        event.map(|it| format!("event {it}")),
        span.map(|it| format!("in span {}", shorten(it, 40))),
        said(&["project_slug"], 60),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// Ids of conversations with a model that spans belong to, the first few.
pub(crate) fn conversations(forest: &Forest, most: usize) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for node in &forest.nodes {
        let attributes = [&node.span.additional_attributes, &node.span.data];
        let id = attributes.into_iter().find_map(|it| it.get("gen_ai.conversation.id")?.as_str());
        if let Some(id) = id.filter(|it| !it.trim().is_empty() && it.len() <= 200)
            && !found.iter().any(|it| it == id)
        {
            found.push(id.to_owned());
            if found.len() == most {
                break;
            }
        }
    }
    found
}

/// Whether an attribute says something.
fn is_said(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    }
}
