//! Session replays in a list: when, whose, what went wrong, where.

use api_client::sentry::replays::Replay;
use serde_json::{Map, Value};

use crate::render::{
    event::{Sheet, shorten},
    segment,
};

use super::{Link, ROOM, value};

/// Pages of a replay that are shown.
const FEW_PAGES: usize = 2;

/// A list of replays.
pub(crate) fn replays(replays: &[Replay], link: Link<'_>) -> String {
    let mut sheet = Sheet::new(ROOM);
    for (number, replay) in (1..).zip(replays) {
        row(&mut sheet, number, replay, link);
    }
    sheet.finish()
}

fn row(sheet: &mut Sheet, number: usize, replay: &Replay, link: Link<'_>) {
    let id = replay.id.replace('-', "");
    let heading = [
        replay.started_at.as_deref().map(|it| shorten(it, 40)),
        replay.duration.filter(|it| (0.0..1e9).contains(it)).map(length),
        value::said(&Value::Object(replay.user.clone())),
    ];
    let heading: Vec<String> = heading.into_iter().flatten().collect();
    let heading = if heading.is_empty() { shorten(&id, 40) } else { heading.join(" · ") };
    sheet.line(format!("{number}. {heading}"));
    let counted = |count: Option<u64>, what: &str| count.map(|it| format!("{it} {what}"));
    let facts = [
        counted(replay.count_errors, "errors"),
        counted(replay.count_rage_clicks, "rage clicks"),
        counted(replay.count_dead_clicks, "dead clicks"),
        replay.environment.as_deref().map(|it| shorten(it, 80)),
        named(&replay.browser),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().filter(|it| !it.is_empty()).collect();
    if !facts.is_empty() {
        sheet.line(format!("   {}", facts.join(" · ")));
    }
    for page in replay.urls.iter().take(FEW_PAGES) {
        sheet.line(format!("   page: {}", shorten(page, 200)));
    }
    let more = replay.urls.len().saturating_sub(FEW_PAGES);
    if more > 0 {
        sheet.line(format!("   … {more} more pages"));
    }
    sheet.fact("   release", replay.releases.first().map(|it| shorten(it, 120)));
    sheet.fact("   first trace", replay.trace_ids.first().map(|it| shorten(it, 40)));
    if replay.is_archived == Some(true) {
        sheet.line("   archived: its recording is gone");
    }
    sheet.line(format!("   {}", link(&format!("/explore/replays/{}/", segment(&id)))));
}

/// Name and version.
fn named(thing: &Map<String, Value>) -> Option<String> {
    let part = |key: &str| thing.get(key).and_then(Value::as_str).filter(|it| !it.is_empty());
    let parts: Vec<String> = [part("name")?, part("version").unwrap_or_default()]
        .into_iter()
        .filter(|it| !it.is_empty())
        .map(|it| shorten(it, 40))
        .collect();
    Some(parts.join(" "))
}

fn length(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds / 60 % 60),
    }
}
