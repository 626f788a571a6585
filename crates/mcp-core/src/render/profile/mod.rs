//! Profiles as text: where the time goes, which functions are slow, what has changed.
//! Names of functions and files come from whoever sends profiles, so they belong in a fence.

mod functions;
mod paths;
#[cfg(test)]
mod properties;
mod stacks;

use api_client::sentry::profiles::{Flamegraph, Profile};
use serde_json::Value;

use super::{
    event::{Sheet, short, shorten},
    is_id,
};

pub(crate) use stacks::Stacks;

use paths::{frame_text, hot_paths, percent, seen, time};

/// Bytes of a profile's text.
const ROOM: usize = 24_000;
/// Threads and functions of one profile that are shown, and its paths.
const MOST_THREADS: usize = 20;
const MOST_FRAMES: usize = 10;
const FEW_PATHS: usize = 5;

/// How profiles are shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View {
    /// Whether libraries are left out where the app has code of its own.
    pub(crate) own_code: bool,
    /// Hot paths that are shown.
    pub(crate) paths: usize,
}

/// Many profiles, laid over each other; with what changed since a baseline.
pub(crate) fn analysis(graph: &Flamegraph, baseline: Option<&Flamegraph>, view: View) -> String {
    let stacks = Stacks::of_flamegraph(graph);
    let mut sheet = Sheet::new(ROOM);
    let name = graph.transaction_name.as_deref().map(|it| shorten(it, 300));
    sheet.fact("Transaction", name);
    sheet.fact("Platform", graph.platform.as_deref().map(|it| shorten(it, 60)));
    sheet.fact("Profiles", Some(graph.shared.profiles.len().to_string()).filter(|it| it != "0"));
    sheet.line(format!("Samples: {:.0}", stacks.samples()));
    sheet.fact("Time in them", stacks.has_time().then(|| time(stacks.nanoseconds())));
    if let Some(baseline) = baseline {
        functions::comparison(&mut sheet, graph, baseline, view.own_code);
    }
    hot_paths(&mut sheet, &stacks, view.own_code, view.paths);
    functions::table(&mut sheet, graph, view.own_code);
    sheet.finish()
}

/// Whether a flame graph has anything in it.
pub(crate) fn is_empty(graph: &Flamegraph) -> bool {
    graph.profiles.iter().all(|it| it.samples.iter().all(Vec::is_empty))
}

/// A profile that was made of it, to be looked at by itself.
pub(crate) fn example(graph: &Flamegraph) -> Option<&str> {
    let ids = graph.shared.profiles.iter().filter_map(|it| it.get("profile_id")?.as_str());
    ids.into_iter().find(|it| is_id(it))
}

/// One profile: what it is of, what it is made of, the functions that were seen most.
pub(crate) fn one(profile: &Profile, own_code: bool) -> String {
    let stacks = Stacks::of_profile(profile);
    let mut sheet = Sheet::new(ROOM);
    let transaction = &profile.transaction;
    let text = |it: &Option<String>| it.as_deref().map(|it| shorten(it, 300));
    sheet.fact("Transaction", text(&transaction.name).or_else(|| text(&profile.transaction_name)));
    sheet.fact("Transaction's event", text(&transaction.id));
    sheet.fact("Platform", text(&profile.platform));
    sheet.fact("Release", profile.release.as_ref().and_then(release));
    sheet.fact("Environment", text(&profile.environment));
    let began = profile.timestamp.as_ref().filter(|it| it.is_string() || it.is_number());
    sheet.fact("Began", began.map(|it| short(it, 60)));
    let length = profile.duration_ns.filter(|it| it.is_finite() && *it >= 0.0).or(stacks.span);
    sheet.fact("Duration", length.map(time));
    if stacks.is_empty() {
        sheet.line("The profile has no samples.");
        return sheet.finish();
    }
    sheet.section("Samples");
    sheet.line(format!(
        "{:.0} samples of {} threads: {} different stacks of {} functions",
        stacks.samples(),
        stacks.threads.len(),
        stacks.stacks.len(),
        stacks.frames.len(),
    ));
    threads(&mut sheet, &stacks, transaction.active_thread_id.as_deref());
    hot_paths(&mut sheet, &stacks, own_code, FEW_PATHS);
    top_frames(&mut sheet, &stacks, own_code);
    sheet.finish()
}

/// A version, or an object that has it.
fn release(release: &Value) -> Option<String> {
    let version = release.get("version").unwrap_or(release);
    version.as_str().filter(|it| !it.trim().is_empty()).map(|it| shorten(it, 200))
}

fn threads(sheet: &mut Sheet, stacks: &Stacks, active: Option<&str>) {
    let all: f64 = stacks.threads.iter().map(|it| it.samples).sum();
    sheet.section(format!("Threads ({})", stacks.threads.len()));
    for thread in stacks.threads.iter().take(MOST_THREADS) {
        let name = thread.name.as_deref().map(|it| format!(" {}", shorten(it, 80)));
        let active = if active == Some(thread.id.as_str()) { ", the transaction's" } else { "" };
        sheet.line(format!(
            "{}:{} {:.0} samples ({}){active}",
            shorten(&thread.id, 40),
            name.unwrap_or_default(),
            thread.samples,
            percent(thread.samples, all),
        ));
    }
    if stacks.threads.len() > MOST_THREADS {
        sheet.line(format!("… {} more", stacks.threads.len() - MOST_THREADS));
    }
}

fn top_frames(sheet: &mut Sheet, stacks: &Stacks, own_code: bool) {
    let seen = seen(stacks, own_code);
    let whole: f64 = stacks.stacks.iter().map(|it| stacks.weight(it)).sum();
    sheet.section("Functions that were seen most");
    for it in seen.iter().take(MOST_FRAMES) {
        sheet.line(format!(
            "{}: on {} of the stacks, at the end of {}",
            frame_text(stacks.frames.get(it.frame)),
            percent(it.on, whole),
            percent(it.at_the_end, whole),
        ));
    }
    if seen.len() > MOST_FRAMES {
        sheet.line(format!("… {} more functions", seen.len() - MOST_FRAMES));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const VIEW: View = View { own_code: true, paths: 2 };

    fn graph(p75: u64) -> Flamegraph {
        serde_json::from_value(json!({
            "platform": "go",
            "profiles": [{"threadID": 1, "unit": "nanoseconds", "samples": [[0, 1, 2], [0, 1, 3], [0], [0, 4]],
                "weights": [6_000_000, 2_000_000, 1_000_000, 1_000_000], "sample_counts": [6, 2, 1, 1]}],
            "shared": {
                "frames": [
                    {"name": "main", "file": "proc.go", "is_application": false},
                    {"name": "pay", "file": "pay.go", "line": 3, "is_application": true, "fingerprint": 1},
                    {"name": "read", "is_application": false}, {"name": "write", "is_application": false},
                    {"name": "log", "is_application": true, "fingerprint": 2},
                ],
                "frame_infos": [{}, {"count": 4_000, "sumDuration": 8e6, "sumSelfTime": 1e6, "p75Duration": p75, "p95Duration": p75, "p99Duration": 9e8},
                    null, null, {"count": 2, "sumDuration": 900, "p75Duration": 450}],
            },
        }))
        .unwrap()
    }

    #[test]
    fn the_hot_paths_are_those_of_the_app_and_say_where_they_ended() {
        assert_eq!(
            analysis(&graph(200_000_000), None, VIEW),
            "Platform: go\nSamples: 10\nTime in them: 10 ms\n\n\
             Hot paths (the app's own code, the outermost call first)\n\
             1. 80.0 % · 8.00 ms · 8 samples\n     pay (pay.go:3)\n     mostly in read\n\
             2. 10.0 % · 1.00 ms · 1 samples\n     log\n\
             10.0 % went outside the app's own code\n\n\
             Slow functions\npay (pay.go:3)\n     8.00 ms in all, 1.00 ms of it own · 4000 calls · 75 % within 200 ms, 95 % within 200 ms, 99 % within 900 ms\n\
             log\n     900 ns in all, 0 ns of it own · 2 calls · 75 % within 450 ns\n\n\
             Worth a look\n\
             - pay (pay.go:3): slow, a quarter of its calls take over 200 ms; irregular, one call in a hundred takes 4.5 times as long; called very often, 4000 times\n"
        );
    }

    #[test]
    fn libraries_are_shown_on_request_and_paths_are_limited() {
        let text = analysis(&graph(1), None, View { own_code: false, paths: 1 });
        assert!(text.contains("1. 60.0 % · 6.00 ms · 6 samples\n     main (proc.go)\n     pay (pay.go:3)\n     read\n"), "{text}");
        assert!(text.contains("… 3 more paths, 40.0 % together"), "{text}");
    }

    #[test]
    fn what_changed_is_sorted_by_how_much() {
        for (before, expected) in [
            (
                100_000_000,
                "Large regressions (over 20 % slower): 1\n+100 % pay (pay.go:3): 100 ms → 200 ms\n",
            ),
            (175_000_000, "Small regressions (10 to 20 % slower): 1\n+14 % pay"),
            (
                400_000_000,
                "Improvements (over 10 % faster): 1\n-50 % pay (pay.go:3): 400 ms → 200 ms\n",
            ),
            (200_000_000, "2 functions were seen in both; 2 hardly changed"),
        ] {
            let text = analysis(&graph(200_000_000), Some(&graph(before)), VIEW);
            assert!(text.contains(expected), "{before}: {text}");
        }
    }

    #[test]
    fn a_path_of_a_hundred_calls_is_cut_in_the_middle() {
        let frames: Vec<_> = (0..100).map(|n| json!({"name": format!("f{n}")})).collect();
        let stack: Vec<usize> = (0..100).collect();
        let graph = json!({"profiles": [{"samples": [stack]}], "shared": {"frames": frames}});
        let text = analysis(&serde_json::from_value(graph).unwrap(), None, VIEW);
        assert!(text.contains("     f2\n     … 89 calls\n     f92\n"), "{text}");
    }
}
