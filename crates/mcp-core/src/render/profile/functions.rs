//! How long functions took over many profiles: the slow ones, what stands out, what has changed.

use std::collections::HashMap;

use api_client::sentry::profiles::{Flamegraph, Frame, FrameInfo};

use crate::render::event::Sheet;

use super::paths::{frame_text, time};

/// Functions that are shown.
const MOST: usize = 10;
/// Calls beyond which a function is called very often.
const MANY_CALLS: f64 = 1_000.0;
/// Nanoseconds beyond which a function is slow.
const SLOW: f64 = 100_000_000.0;
/// How many times the usual a rare call may take.
const IRREGULAR: f64 = 3.0;
/// Growth in percent that is a large regression, a small one, and an improvement.
const MAJOR: f64 = 20.0;
const MINOR: f64 = 10.0;

/// A function with its numbers.
#[derive(Debug, Clone, Copy)]
struct Function<'g> {
    frame: &'g Frame,
    info: &'g FrameInfo,
}

impl Function<'_> {
    fn own(self) -> f64 {
        amount(self.info.sum_self_time)
    }

    fn all(self) -> f64 {
        amount(self.info.sum_duration)
    }

    fn p75(self) -> f64 {
        amount(self.info.p75_duration)
    }

    fn p99(self) -> f64 {
        amount(self.info.p99_duration)
    }

    fn calls(self) -> f64 {
        amount(self.info.count)
    }
}

fn amount(value: Option<f64>) -> f64 {
    value.filter(|it| it.is_finite() && *it >= 0.0).unwrap_or(0.0)
}

/// Functions that have numbers; with `own_code` only the app's, if any are its.
fn functions(graph: &Flamegraph, own_code: bool) -> Vec<Function<'_>> {
    let pairs = graph.shared.frames.iter().zip(&graph.shared.frame_infos);
    let all = pairs.map(|(frame, info)| Function { frame, info });
    let known: Vec<_> = all.filter(|it| it.all() > 0.0 || it.calls() > 0.0).collect();
    let own: Vec<_> =
        known.iter().copied().filter(|it| own_code && it.frame.in_app == Some(true)).collect();
    if own.is_empty() { known } else { own }
}

/// The functions that took the most time, themselves first, then with what they called.
pub(super) fn table(sheet: &mut Sheet, graph: &Flamegraph, own_code: bool) {
    let mut functions = functions(graph, own_code);
    functions.sort_by(|a, b| b.all().total_cmp(&a.all()).then(b.own().total_cmp(&a.own())));
    sheet.section("Slow functions");
    for function in functions.iter().take(MOST) {
        let info = function.info;
        let within =
            [("75 %", info.p75_duration), ("95 %", info.p95_duration), ("99 %", info.p99_duration)];
        let within: Vec<String> = within
            .into_iter()
            .filter_map(|(share, value)| {
                Some(format!("{share} within {}", time(amount(Some(value?)))))
            })
            .collect();
        sheet.line(frame_text(Some(function.frame)));
        sheet.line(format!(
            "     {} in all, {} of it own · {:.0} calls{}{}",
            time(function.all()),
            time(function.own()),
            function.calls(),
            if within.is_empty() { "" } else { " · " },
            within.join(", "),
        ));
    }
    if functions.len() > MOST {
        sheet.line(format!("… {} more functions", functions.len() - MOST));
    }
    insights(sheet, functions.get(..MOST).unwrap_or(&functions));
}

/// What stands out among the slow functions.
fn insights(sheet: &mut Sheet, functions: &[Function<'_>]) {
    sheet.section("Worth a look");
    for function in functions {
        let usual = function.p75();
        let is_irregular = usual > 0.0 && function.p99() > IRREGULAR * usual;
        let times = function.p99() / usual;
        let remarks = [
            (usual > SLOW)
                .then(|| format!("slow, a quarter of its calls take over {}", time(usual))),
            is_irregular.then(|| {
                format!("irregular, one call in a hundred takes {times:.1} times as long")
            }),
            (function.calls() > MANY_CALLS)
                .then(|| format!("called very often, {:.0} times", function.calls())),
        ];
        let remarks: Vec<String> = remarks.into_iter().flatten().collect();
        if !remarks.is_empty() {
            sheet.line(format!("- {}: {}", frame_text(Some(function.frame)), remarks.join("; ")));
        }
    }
}

/// A function in two periods.
struct Pair<'g> {
    now: Function<'g>,
    before: f64,
    /// Percent.
    growth: f64,
}

/// What has become slower or faster since the baseline, by what three of four calls stay within.
pub(super) fn comparison(
    sheet: &mut Sheet,
    now: &Flamegraph,
    baseline: &Flamegraph,
    own_code: bool,
) {
    let before: HashMap<u64, Function<'_>> = functions(baseline, own_code)
        .into_iter()
        .filter_map(|it| Some((it.frame.fingerprint?, it)))
        .collect();
    let mut pairs: Vec<Pair<'_>> = functions(now, own_code)
        .into_iter()
        .filter_map(|now| {
            let before = before.get(&now.frame.fingerprint?)?.p75();
            let growth = (before > 0.0).then(|| (now.p75() - before) / before * 100.0)?;
            Some(Pair { now, before, growth })
        })
        .collect();
    let matched = pairs.len();
    pairs.sort_by(|a, b| b.growth.total_cmp(&a.growth));
    // By growth: more than the first, no more than the second.
    let kinds = [
        ("Large regressions (over 20 % slower)", MAJOR, f64::INFINITY),
        ("Small regressions (10 to 20 % slower)", MINOR, MAJOR),
        ("Improvements (over 10 % faster)", f64::NEG_INFINITY, -MINOR),
    ];
    for (heading, above, most) in kinds {
        let holds = |it: &&Pair<'_>| it.growth > above && it.growth <= most;
        let mut rows: Vec<&Pair<'_>> = pairs.iter().filter(holds).collect();
        rows.sort_by(|a, b| b.growth.abs().total_cmp(&a.growth.abs()));
        sheet.section(format!("{heading}: {}", rows.len()));
        for Pair { now, before, growth } in rows.iter().take(MOST) {
            let (before, after) = (time(*before), time(now.p75()));
            sheet.line(format!(
                "{growth:+.0} % {}: {before} → {after}",
                frame_text(Some(now.frame))
            ));
        }
        if rows.len() > MOST {
            sheet.line(format!("… {} more", rows.len() - MOST));
        }
    }
    let changed = pairs.iter().filter(|it| it.growth > MINOR || it.growth < -MINOR).count();
    sheet.section("In both periods");
    sheet.line(format!(
        "{matched} functions were seen in both; {} hardly changed (within 10 %)",
        matched - changed
    ));
}
