//! A stack as text: the frame to look at first with its code and variables, then the frames.

use super::frame::{Frame, Stack};
use super::language::Language;
use super::sheet::{Sheet, short, shorten};

/// Lines of code shown before and after the line that failed.
const AROUND: u64 = 3;
const MOST_VARIABLES: usize = 20;
/// The most characters of a variable's value.
const LONGEST_VALUE: usize = 80;
/// Runs of library frames longer than this are folded.
const LONGEST_RUN: usize = 3;

/// How much of a stack is shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StackView {
    /// At most so many frames.
    pub(crate) most: usize,
    /// Whether long runs of library frames are told as a number.
    pub(crate) folds_libraries: bool,
}

impl StackView {
    /// For a first look.
    pub(crate) const BRIEF: Self = Self { most: 40, folds_libraries: true };
    /// For a close look.
    pub(crate) const WHOLE: Self = Self { most: 400, folds_libraries: false };
}

/// The frame to look at first, with the code around it and its variables.
pub(crate) fn relevant_frame(sheet: &mut Sheet, frame: Frame<'_>, platform: Option<&str>) {
    sheet.section("Most relevant frame");
    for line in Language::of(frame, platform).header(frame).lines() {
        sheet.line(line);
    }
    code(sheet, frame);
    variables(sheet, frame);
}

fn code(sheet: &mut Sheet, frame: Frame<'_>) {
    let Some(failing) = frame.line() else { return };
    let around = failing.saturating_sub(AROUND)..=failing.saturating_add(AROUND);
    let rows: Vec<_> = frame.code().filter(|(number, _)| around.contains(number)).collect();
    let width = rows.iter().map(|(number, _)| number.to_string().len()).max().unwrap_or(0);
    for (number, text) in rows.into_iter().take(2 * AROUND as usize + 1) {
        let mark = if number == failing { "→" } else { " " };
        sheet.line(format!("  {mark} {number:>width$} │ {}", shorten(text, 200)));
    }
}

fn variables(sheet: &mut Sheet, frame: Frame<'_>) {
    let Some(variables) = frame.variables() else { return };
    sheet.line("  Variables:");
    for (name, value) in variables.iter().take(MOST_VARIABLES) {
        sheet.line(format!("    {} = {}", shorten(name, 60), short(value, LONGEST_VALUE)));
    }
    if variables.len() > MOST_VARIABLES {
        sheet.line(format!("    … {} more", variables.len() - MOST_VARIABLES));
    }
}

/// A line of a stack: a frame, or how many are not shown.
enum Row<'e> {
    Frame(Frame<'e>),
    Folded(usize),
    LeftOut(usize),
}

/// The frames, in the order of the language.
pub(crate) fn frames(
    sheet: &mut Sheet,
    stack: &Stack<'_>,
    platform: Option<&str>,
    view: StackView,
) {
    let has_own = stack.frames.iter().any(|it| it.is_in_app());
    let mut rows = rows(stack, view.folds_libraries && has_own);
    cut(&mut rows, view.most);
    let newest = stack.frames.last().copied();
    let order = newest.map_or(Language::Other, |it| Language::of(it, platform));
    if !order.is_newest_last() {
        rows.reverse();
    }
    let mixed = has_own && !stack.frames.iter().all(|it| it.is_in_app());
    for row in rows {
        match row {
            Row::Frame(frame) => {
                let mark = if mixed && frame.is_in_app() { ">" } else { " " };
                let header = Language::of(frame, platform).header(frame);
                let mut lines = header.lines();
                sheet.line(format!("{mark} {}", lines.next().unwrap_or_default()));
                for line in lines {
                    sheet.line(format!("  {line}"));
                }
            }
            Row::Folded(count) => sheet.line(format!("    … {count} frames of libraries")),
            Row::LeftOut(count) => sheet.line(format!("    … {count} frames are not shown")),
        }
    }
    if mixed {
        sheet.line("  (> marks the app's own frames)");
    }
    if let Some(omitted) = stack.omitted {
        sheet.line(format!("  (Sentry left out {omitted} frames)"));
    }
}

/// All rows, oldest first.
fn rows<'e>(stack: &Stack<'e>, folds_libraries: bool) -> Vec<Row<'e>> {
    let mut rows = Vec::new();
    for run in stack.frames.chunk_by(|one, next| one.is_in_app() == next.is_in_app()) {
        match run {
            [first, inner @ .., last]
                if folds_libraries && !first.is_in_app() && run.len() > LONGEST_RUN =>
            {
                rows.push(Row::Frame(*first));
                rows.push(Row::Folded(inner.len()));
                rows.push(Row::Frame(*last));
            }
            _ => rows.extend(run.iter().copied().map(Row::Frame)),
        }
    }
    rows
}

/// Keeps the newest rows and some of the oldest.
fn cut(rows: &mut Vec<Row<'_>>, most: usize) {
    let Some(over) = rows.len().checked_sub(most).filter(|it| *it > 0) else { return };
    let oldest = most / 5;
    let hidden = rows.drain(oldest..oldest + over).map(|row| match row {
        Row::Frame(_) => 1,
        Row::Folded(count) | Row::LeftOut(count) => count,
    });
    let hidden = hidden.sum();
    rows.insert(oldest, Row::LeftOut(hidden));
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn shown(frames: Vec<Value>, view: StackView) -> String {
        let holder = json!({"stacktrace": {"frames": frames, "framesOmitted": [1, 3]}});
        let mut sheet = Sheet::new(100_000);
        super::frames(&mut sheet, &Stack::of(&holder).unwrap(), Some("x"), view);
        sheet.finish()
    }

    fn frame(name: String, in_app: bool) -> Value {
        json!({"function": name, "filename": "a.c", "lineNo": 1, "inApp": in_app})
    }

    #[test]
    fn library_frames_between_the_apps_own_are_folded() {
        let mut stack = vec![frame("main".to_owned(), true)];
        stack.extend((0..6).map(|n| frame(format!("lib{n}"), false)));
        stack.push(frame("crash".to_owned(), true));
        assert_eq!(
            shown(stack.clone(), StackView::BRIEF),
            "> at crash (a.c:1)\n  at lib5 (a.c:1)\n    … 4 frames of libraries\n  at lib0 (a.c:1)\n> at main (a.c:1)\n  (> marks the app's own frames)\n  (Sentry left out 2 frames)\n"
        );
        assert_eq!(shown(stack, StackView::WHOLE).lines().count(), 10);
    }

    #[test]
    fn ten_thousand_frames_are_cut_in_the_middle() {
        let stack = (0..10_000).map(|n| frame(format!("f{n}"), true)).collect();
        let text = shown(stack, StackView { most: 10, folds_libraries: true });
        assert!(text.starts_with("  at f9999"), "{text}");
        assert!(
            text.contains("  at f0 ") && text.contains("… 9990 frames are not shown"),
            "{text}"
        );
        assert_eq!(text.lines().count(), 12);
    }
}
