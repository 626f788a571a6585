//! Spans as a tree, in the order they began; what is left out is counted where it would stand.

use crate::render::event::{Sheet, milliseconds, shorten};

use super::forest::{Bounds, Forest, Node};
use super::label::label;

/// What comes next when a tree is written.
enum Next {
    Span { place: usize, depth: usize },
    LeftOut { spans: usize, depth: usize },
}

/// The spans below some, themselves included.
pub(super) fn spans(sheet: &mut Sheet, forest: &Forest, roots: &[usize], bounds: Bounds) {
    let chosen = forest.chosen(roots, bounds);
    let is_chosen = |place: &usize| chosen.get(*place).copied().unwrap_or(false);
    let size = |place: &usize| forest.node(*place).map_or(0, |it| it.descendants + 1);
    let shown = chosen.iter().filter(|it| **it).count();
    let total: usize = roots.iter().map(size).sum();
    sheet.section(match shown {
        _ if shown == total => format!("Spans ({total})"),
        _ => format!("Spans (the {shown} most telling of {total})"),
    });
    let level = |places: &[usize], depth: usize, waiting: &mut Vec<Next>| {
        let left_out: usize = places.iter().filter(|it| !is_chosen(it)).map(size).sum();
        if left_out > 0 {
            waiting.push(Next::LeftOut { spans: left_out, depth });
        }
        let kept = places.iter().rev().filter(|it| is_chosen(it));
        waiting.extend(kept.map(|place| Next::Span { place: *place, depth }));
    };
    let begin = forest.begin();
    let mut waiting = Vec::new();
    level(roots, 0, &mut waiting);
    while let Some(next) = waiting.pop() {
        match next {
            Next::LeftOut { spans, depth } => {
                let noun = if spans == 1 { "span" } else { "spans" };
                sheet.line(format!("{}… {spans} more {noun}", "  ".repeat(depth)));
            }
            Next::Span { place, depth } => {
                let Some(node) = forest.node(place) else { continue };
                sheet.line(format!("{}{}", "  ".repeat(depth), line(forest, node, place, begin)));
                level(&node.below, depth + 1, &mut waiting);
            }
        }
    }
}

/// What it did, how long, since when, whose it is where that changes, its id, what went wrong.
fn line(forest: &Forest, node: &Node, place: usize, begin: Option<f64>) -> String {
    let offset = node.start.zip(begin).map(|(start, begin)| start - begin);
    let offset = offset.filter(|it| *it >= 0.5).map(|it| format!(" at +{}", milliseconds(it)));
    let duration = node.duration.map(milliseconds).unwrap_or_else(|| "no duration".to_owned());
    let of_above = node.above.and_then(|it| forest.node(it)?.span.project_slug.as_deref());
    let project = node.span.project_slug.as_deref().filter(|it| of_above != Some(it));
    let failures = forest.failures.iter().filter(|it| it.span == Some(place)).count();
    let parts = [
        Some(label(&node.span)),
        Some(format!("{duration}{}", offset.unwrap_or_default())),
        project.map(|it| shorten(it, 60)),
        node.span.any_id().map(|it| shorten(it, 40)),
        match failures {
            0 => None,
            1 => Some("1 failure".to_owned()),
            _ => Some(format!("{failures} failures")),
        },
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}
