//! What surrounds an event: its user, tags, contexts, extra data, and the trail that led to it.

use api_client::sentry::{events::Event, time::moment};
use serde_json::{Map, Value};

use super::sheet::{Sheet, fields, items, short, shorten, text};

const MOST_TAGS: usize = 60;
const MOST_CONTEXTS: usize = 20;
const MOST_FIELDS: usize = 20;
const LONGEST_VALUE: usize = 200;
/// The most characters of a breadcrumb's message, and of its data.
const LONGEST_CRUMB: usize = 120;

/// The user it happened to.
pub(super) fn user(sheet: &mut Sheet, user: &Map<String, Value>) {
    sheet.section("User");
    let told = |key: &str| user.get(key).filter(|it| !it.is_null()).map(|it| short(it, 120));
    for (label, key) in [
        ("ID", "id"),
        ("Email", "email"),
        ("Username", "username"),
        ("Name", "name"),
        ("IP address", "ip_address"),
    ] {
        sheet.fact(label, told(key));
    }
    let geo = user.get("geo").map(|geo| {
        let parts = ["city", "subdivision", "region", "country_code"].map(|key| text(geo, key));
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    });
    sheet.fact("Place", geo);
}

/// Tags; those about replays are told with the replays.
pub(super) fn tags(sheet: &mut Sheet, event: &Event) {
    sheet.section("Tags");
    let mut tags = event.tags.iter().filter(|it| !is_about_replays(&it.key));
    for tag in tags.by_ref().take(MOST_TAGS) {
        let (key, value) = (shorten(&tag.key, 80), shorten(&tag.value, LONGEST_VALUE));
        sheet.line(format!("{key}: {value}"));
    }
    let rest = tags.count();
    if rest > 0 {
        sheet.line(format!("… {rest} more"));
    }
}

/// Extra data.
pub(super) fn extra(sheet: &mut Sheet, event: &Event) {
    sheet.section("Extra data");
    fields(sheet, &event.context, MOST_FIELDS, LONGEST_VALUE);
}

/// Contexts, one after the other.
pub(super) fn contexts(sheet: &mut Sheet, event: &Event) {
    let contexts = event.contexts.iter().filter(|(name, _)| !is_about_replays(name));
    for (name, context) in contexts.take(MOST_CONTEXTS) {
        let Some(context) = context.as_object() else { continue };
        let mut context = context.clone();
        context.shift_remove("type");
        sheet.section(format!("Context: {}", shorten(name, 60)));
        fields(sheet, &context, MOST_FIELDS, LONGEST_VALUE);
    }
}

fn is_about_replays(name: &str) -> bool {
    matches!(name, "replay" | "replayId" | "replay_id")
}

/// The breadcrumbs of an event, oldest first.
pub(crate) fn breadcrumbs(event: &Event) -> &[Value] {
    event.entry("breadcrumbs").map(|it| items(it, "values")).unwrap_or_default()
}

/// A breadcrumb on one line: when, how bad, what about, what it says.
pub(crate) fn breadcrumb(crumb: &Value) -> String {
    let when = crumb.get("timestamp").and_then(written).unwrap_or_else(|| "-".to_owned());
    let level = shorten(text(crumb, "level").unwrap_or("info"), 20);
    let category = text(crumb, "category").or_else(|| text(crumb, "type")).unwrap_or("-");
    let mut line = format!("{when} {level:<7} [{}]", shorten(category, 60));
    if let Some(message) = text(crumb, "message") {
        line.push(' ');
        line.push_str(&shorten(message, LONGEST_CRUMB));
    }
    let data = crumb.get("data").and_then(Value::as_object).filter(|it| !it.is_empty());
    if let Some(data) = data {
        line.push(' ');
        line.push_str(&short(&Value::Object(data.clone()), LONGEST_VALUE));
    }
    line
}

/// A moment, which may be a number of seconds.
fn written(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(shorten(text, 40)),
        Value::Number(number) => {
            let seconds = number.as_f64().filter(|it| (0.0..4e9).contains(it))?;
            Some(moment(seconds as i64))
        }
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}
