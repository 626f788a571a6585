//! Hot paths: the ways through the code that most of the time went, and the functions on them.

use std::collections::{HashMap, HashSet};

use api_client::sentry::profiles::Frame;

use crate::render::event::{Sheet, milliseconds, shorten};

use super::stacks::Stacks;

/// Frames of a path that are shown, at its beginning and at its end.
const FIRST_FRAMES: usize = 3;
const LAST_FRAMES: usize = 8;
const LONGEST_NAME: usize = 120;

/// What stacks of the same path come to.
#[derive(Debug, Default)]
struct Path {
    weight: f64,
    samples: f64,
    nanoseconds: f64,
    /// What the innermost frames weigh, where they are not on the path.
    ends: HashMap<usize, f64>,
}

/// The hottest paths; with `own_code` only frames of the app, and what they ended in.
pub(super) fn hot_paths(sheet: &mut Sheet, stacks: &Stacks, own_code: bool, most: usize) {
    let own_code = own_code && (0..stacks.frames.len()).any(|it| stacks.is_own(it));
    let mut paths: HashMap<Vec<usize>, Path> = HashMap::new();
    let (mut whole, mut elsewhere) = (0.0, 0.0);
    for stack in &stacks.stacks {
        let weight = stacks.weight(stack);
        whole += weight;
        let mut frames = stack.frames.clone();
        if own_code {
            frames.retain(|it| stacks.is_own(*it));
        }
        if frames.is_empty() {
            elsewhere += weight;
            continue;
        }
        let end = stack.frames.last().filter(|it| frames.last() != Some(it));
        let path = paths.entry(frames).or_default();
        path.weight += weight;
        path.samples += stack.samples;
        path.nanoseconds += stack.nanoseconds;
        if let Some(end) = end {
            *path.ends.entry(*end).or_default() += weight;
        }
    }
    let mut paths: Vec<(Vec<usize>, Path)> = paths.into_iter().collect();
    paths.sort_by(|a, b| b.1.weight.total_cmp(&a.1.weight).then_with(|| a.0.cmp(&b.0)));
    sheet.section(match own_code {
        true => "Hot paths (the app's own code, the outermost call first)",
        false => "Hot paths (the outermost call first)",
    });
    for (number, (frames, path)) in paths.iter().take(most).enumerate() {
        sheet.line(format!("{}. {}", number + 1, amount(path, whole)));
        path_lines(sheet, stacks, frames);
        if let Some(end) = heaviest(&path.ends) {
            sheet.line(format!("     mostly in {}", frame_text(stacks.frames.get(end))));
        }
    }
    let rest: f64 = paths.iter().skip(most).map(|(_, path)| path.weight).sum();
    if paths.len() > most {
        sheet.line(format!(
            "… {} more paths, {} together",
            paths.len() - most,
            percent(rest, whole)
        ));
    }
    if elsewhere > 0.0 {
        sheet.line(format!("{} went outside the app's own code", percent(elsewhere, whole)));
    }
}

fn amount(path: &Path, whole: f64) -> String {
    let time = (path.nanoseconds > 0.0).then(|| time(path.nanoseconds));
    let parts =
        [Some(percent(path.weight, whole)), time, Some(format!("{:.0} samples", path.samples))];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

fn path_lines(sheet: &mut Sheet, stacks: &Stacks, frames: &[usize]) {
    let line = |place: &usize| format!("     {}", frame_text(stacks.frames.get(*place)));
    if frames.len() <= FIRST_FRAMES + LAST_FRAMES {
        frames.iter().for_each(|it| sheet.line(line(it)));
        return;
    }
    let (first, rest) = frames.split_at(FIRST_FRAMES);
    let (hidden, last) = rest.split_at(rest.len() - LAST_FRAMES);
    first.iter().for_each(|it| sheet.line(line(it)));
    sheet.line(format!("     … {} calls", hidden.len()));
    last.iter().for_each(|it| sheet.line(line(it)));
}

fn heaviest(weights: &HashMap<usize, f64>) -> Option<usize> {
    let heavier = |a: &(&usize, &f64), b: &(&usize, &f64)| a.1.total_cmp(b.1).then(b.0.cmp(a.0));
    weights.iter().max_by(heavier).map(|(place, _)| *place)
}

/// A function that was seen on stacks, by how much of the whole it was on, and at the end of.
#[derive(Debug, PartialEq)]
pub(super) struct Seen {
    pub(super) frame: usize,
    pub(super) on: f64,
    pub(super) at_the_end: f64,
}

/// Every function that was seen, the one that was on most stacks first. Recursion counts once.
pub(super) fn seen(stacks: &Stacks, own_code: bool) -> Vec<Seen> {
    let own_code = own_code && (0..stacks.frames.len()).any(|it| stacks.is_own(it));
    let mut totals: HashMap<usize, (f64, f64)> = HashMap::new();
    for stack in &stacks.stacks {
        let weight = stacks.weight(stack);
        let distinct: HashSet<usize> = stack.frames.iter().copied().collect();
        for frame in distinct {
            totals.entry(frame).or_default().0 += weight;
        }
        if let Some(last) = stack.frames.last() {
            totals.entry(*last).or_default().1 += weight;
        }
    }
    let mut seen: Vec<Seen> = totals
        .into_iter()
        .filter(|(frame, _)| !own_code || stacks.is_own(*frame))
        .map(|(frame, (on, at_the_end))| Seen { frame, on, at_the_end })
        .collect();
    seen.sort_by(|a, b| b.on.total_cmp(&a.on).then(a.frame.cmp(&b.frame)));
    seen
}

/// A function and where it is.
pub(super) fn frame_text(frame: Option<&Frame>) -> String {
    let Some(frame) = frame else { return "<unknown>".to_owned() };
    let name = frame.name.as_deref().map(|it| shorten(it, LONGEST_NAME));
    let name = name.unwrap_or_else(|| "<unknown>".to_owned());
    let line = frame.line.map(|it| format!(":{it}")).unwrap_or_default();
    let place = match (&frame.file, &frame.module) {
        (Some(file), _) => Some(format!("{}{line}", shorten(file, LONGEST_NAME))),
        (None, Some(module)) => Some(shorten(module, LONGEST_NAME)),
        (None, None) => None,
    };
    place.map_or(name.clone(), |place| format!("{name} ({place})"))
}

/// A share of the whole.
pub(super) fn percent(part: f64, whole: f64) -> String {
    let share = if whole > 0.0 { part / whole * 100.0 } else { 0.0 };
    format!("{share:.1} %")
}

/// Nanoseconds for people.
pub(super) fn time(nanoseconds: f64) -> String {
    match nanoseconds {
        _ if nanoseconds < 1_000.0 => format!("{nanoseconds:.0} ns"),
        _ if nanoseconds < 1_000_000.0 => format!("{:.0} µs", nanoseconds / 1_000.0),
        _ => milliseconds(nanoseconds / 1_000_000.0),
    }
}
