//! Session replays as text: who it was, where they went, what they did when it went wrong.

mod activity;
#[cfg(test)]
mod properties;

use api_client::sentry::replays::Replay;
use serde_json::{Map, Value};

use super::{
    Page,
    event::{Sheet, short, shorten},
};

/// Bytes of a replay's text.
const ROOM: usize = 12_000;
/// Pages that are named.
const MOST_PAGES: usize = 3;
const LONGEST: usize = 300;

/// What Sentry itself says of a replay.
pub(crate) fn facts(page: &mut Page, replay: &Replay, link: &str) {
    let flag = |value: Option<bool>| value.map(|it| if it { "yes" } else { "no" });
    page.fact("Link", link)
        .maybe("Started", replay.started_at.as_ref())
        .maybe("Duration", replay.duration.filter(|it| it.is_finite() && *it >= 0.0).map(clock))
        .maybe("Type", replay.replay_type.as_ref())
        .maybe("Errors", replay.count_errors)
        .maybe("Warnings", replay.count_warnings)
        .maybe("Notes", replay.count_infos)
        .maybe("Dead clicks", replay.count_dead_clicks)
        .maybe("Rage clicks", replay.count_rage_clicks)
        .maybe("Segments", replay.count_segments)
        .maybe("Archived", flag(replay.is_archived))
        .maybe("Watched by you", flag(replay.has_viewed));
}

/// What outsiders chose: user, software, pages, and what they did.
pub(crate) fn words(replay: &Replay, segments: &[Vec<Value>]) -> String {
    let mut sheet = Sheet::new(ROOM);
    sheet.fact("User", user(&replay.user));
    sheet.fact("Browser", named(&replay.browser, &["name", "version"]));
    sheet.fact("System", named(&replay.os, &["name", "version"]));
    sheet.fact("Device", named(&replay.device, &["brand", "name", "model", "family"]));
    let releases: Vec<String> = replay.releases.iter().take(3).map(|it| shorten(it, 100)).collect();
    sheet.fact("Release", Some(releases.join(", ")));
    sheet.fact("Environment", replay.environment.as_deref().map(|it| shorten(it, 100)));
    sheet.section(format!("Pages ({})", replay.urls.len()));
    for url in replay.urls.iter().take(MOST_PAGES) {
        sheet.line(format!("- {}", shorten(url, LONGEST)));
    }
    if replay.urls.len() > MOST_PAGES {
        sheet.line(format!("… {} more", replay.urls.len() - MOST_PAGES));
    }
    activity::timeline(&mut sheet, replay, segments);
    sheet.finish_or("The replay says nothing of its user, pages or actions.")
}

fn user(user: &Map<String, Value>) -> Option<String> {
    let said = |key: &str| {
        let value = user.get(key).filter(|it| it.is_string() || it.is_number())?;
        Some(short(value, 120)).filter(|it| !it.trim().is_empty())
    };
    let name = ["email", "username", "display_name", "name"].into_iter().find_map(said);
    let id = said("id").map(|it| format!("id {it}"));
    let parts: Vec<String> = [name, id, said("ip")].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The parts that are there, each once.
fn named(fields: &Map<String, Value>, keys: &[&str]) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    for key in keys {
        let value = fields.get(*key).filter(|it| it.is_string() || it.is_number());
        let Some(text) = value.map(|it| short(it, 80)).filter(|it| !it.trim().is_empty()) else {
            continue;
        };
        if !parts.contains(&text) {
            parts.push(text);
        }
    }
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// Seconds as a clock shows them.
fn clock(seconds: f64) -> String {
    // A cast of a number too large ends at the largest.
    let whole = seconds.max(0.0) as u64;
    let (hours, minutes, seconds) = (whole / 3_600, whole / 60 % 60, whole % 60);
    match hours {
        0 => format!("{minutes:02}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_replay_says_who_where_and_with_what() {
        let replay: Replay = serde_json::from_value(json!({
            "id": "7e07", "user": {"id": 44, "email": "ines@boats.test", "ip": null},
            "browser": {"name": "Firefox", "version": 139}, "os": {"name": "", "version": null},
            "device": {"brand": "Apple", "name": "Apple", "model": "iPad"},
            "urls": ["/a", "/b", "/c", "/d"], "releases": ["web@1", "web@2"],
        }))
        .unwrap();
        assert_eq!(
            words(&replay, &[]),
            "User: ines@boats.test, id 44\nBrowser: Firefox 139\nDevice: Apple iPad\n\
             Release: web@1, web@2\n\nPages (4)\n- /a\n- /b\n- /c\n… 1 more\n"
        );
    }

    #[test]
    fn time_reads_like_a_clock() {
        for (seconds, expected) in
            [(0.0, "00:00"), (74.9, "01:14"), (7_265.0, "2:01:05"), (-3.0, "00:00")]
        {
            assert_eq!(clock(seconds), expected);
        }
        assert!(!clock(f64::MAX).is_empty());
    }
}
