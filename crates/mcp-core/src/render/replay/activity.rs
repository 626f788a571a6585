//! The recording of a replay: of thousands of events, the few that tell what happened.

use api_client::sentry::replays::Replay;
use serde_json::Value;

use crate::render::event::{Sheet, moment_of, shorten};

use super::clock;

/// Events that are told.
const MOST: usize = 6;
const LONGEST: usize = 240;
/// What an event of a recording is, in the numbers of the recorder.
const PAGE: u64 = 4;
const CUSTOM: u64 = 5;
/// Events of the recorder and the SDK about themselves.
const OWN: [&str; 3] = ["options", "breadcrumb.options", "sdk"];

/// How much an event tells; the lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    Failure,
    Frustration,
    Page,
    Action,
    Other,
}

struct Moment<'r> {
    /// Milliseconds since 1970.
    at: f64,
    weight: Weight,
    kind: &'r str,
    says: String,
}

/// The most telling events, in the order they happened.
pub(super) fn timeline(sheet: &mut Sheet, replay: &Replay, segments: &[Vec<Value>]) {
    let mut moments: Vec<Moment<'_>> = segments.iter().flatten().filter_map(moment).collect();
    moments.sort_by(|a, b| a.at.total_cmp(&b.at));
    let all = moments.len();
    let started = replay.started_at.as_ref().and_then(|it| moment_of(&Value::from(it.as_str())));
    let begin = started.or_else(|| moments.first().map(|it| it.at)).unwrap_or(0.0);
    moments.sort_by_key(|it| it.weight);
    moments.truncate(MOST);
    moments.sort_by(|a, b| a.at.total_cmp(&b.at));
    sheet.section(match all > MOST {
        true => format!("Activity (the {MOST} most telling of {all} events)"),
        false => "Activity".to_owned(),
    });
    for Moment { at, kind, says, .. } in &moments {
        let after = clock((at - begin) / 1_000.0);
        sheet.line(format!("T+{after} {}: {says}", shorten(kind, 40)));
    }
}

fn moment(event: &Value) -> Option<Moment<'_>> {
    let at = event.get("timestamp").and_then(Value::as_f64).filter(|it| it.is_finite())?;
    let data = event.get("data")?;
    match event.get("type").and_then(Value::as_u64)? {
        PAGE => {
            let says = text(data, "href")?;
            Some(Moment { at, weight: Weight::Page, kind: "page", says })
        }
        CUSTOM => custom(at, data),
        _ => None,
    }
}

fn custom(at: f64, data: &Value) -> Option<Moment<'_>> {
    let tag = data.get("tag").and_then(Value::as_str)?;
    let payload = data.get("payload")?;
    match tag {
        "breadcrumb" => breadcrumb(at, payload),
        "performanceSpan" => span(at, payload),
        _ if OWN.contains(&tag) => None,
        _ => {
            let says = text(payload, "message").or_else(|| text(payload, "description"));
            Some(Moment { at, weight: Weight::Other, kind: tag, says: says.unwrap_or_default() })
        }
    }
}

fn breadcrumb(at: f64, payload: &Value) -> Option<Moment<'_>> {
    let category = payload.get("category").and_then(Value::as_str).unwrap_or("breadcrumb");
    let level = payload.get("level").and_then(Value::as_str).unwrap_or_default();
    let (weight, kind) = match category {
        _ if matches!(level, "error" | "fatal") => (Weight::Failure, category),
        "ui.multiClick" => (Weight::Frustration, "rage click"),
        "ui.slowClickDetected" => (Weight::Frustration, "dead click"),
        "ui.click" | "ui.tap" => (Weight::Action, "click"),
        "navigation" => (Weight::Page, "page"),
        "ui.input" | "ui.keyDown" => (Weight::Action, category),
        // The mouse, the window and the connection come and go all the time.
        "ui.focus" | "ui.blur" | "replay.mutations" | "device.connectivity" => return None,
        _ => (Weight::Other, category),
    };
    let to = payload.get("data").and_then(|it| text(it, "to"));
    let says = text(payload, "message").or(to).or_else(|| text(payload, "type"))?;
    Some(Moment { at, weight, kind, says })
}

fn span(at: f64, payload: &Value) -> Option<Moment<'_>> {
    let operation = payload.get("op").and_then(Value::as_str)?;
    let says = text(payload, "description")?;
    if operation.starts_with("navigation.") {
        return Some(Moment { at, weight: Weight::Page, kind: "page", says });
    }
    let data = payload.get("data");
    let status = data.and_then(|it| it.get("statusCode")).and_then(Value::as_u64);
    let method = data.and_then(|it| text(it, "method")).map(|it| format!("{it} "));
    let is_request = matches!(operation, "resource.fetch" | "resource.xhr");
    let (weight, kind) = match status {
        Some(400..) if is_request => (Weight::Failure, "request"),
        _ if is_request => (Weight::Other, "request"),
        // Each picture and script is one of these.
        _ if operation.starts_with("resource.") => return None,
        _ => (Weight::Other, operation),
    };
    let answered = status.map(|it| format!(" ({it})")).unwrap_or_default();
    let says = format!("{}{says}{answered}", method.unwrap_or_default());
    Some(Moment { at, weight, kind, says })
}

fn text(value: &Value, key: &str) -> Option<String> {
    let text = value.get(key)?.as_str()?.trim();
    (!text.is_empty()).then(|| shorten(text, LONGEST))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(events: Vec<Value>) -> String {
        let replay =
            serde_json::from_value(json!({"id": "r", "started_at": "1970-01-01T00:01:00Z"}));
        let mut sheet = Sheet::new(10_000);
        timeline(&mut sheet, &replay.unwrap(), &[events]);
        sheet.finish()
    }

    fn crumb(second: u64, payload: Value) -> Value {
        json!({"type": 5, "timestamp": 60_000 + second * 1_000, "data": {"tag": "breadcrumb", "payload": payload}})
    }

    fn span(second: u64, payload: Value) -> Value {
        json!({"type": 5, "timestamp": 60_000 + second * 1_000, "data": {"tag": "performanceSpan", "payload": payload}})
    }

    #[test]
    fn each_kind_of_event_is_told_in_its_words() {
        let events = vec![
            json!({"type": 4, "timestamp": 60_000, "data": {"href": "https://a.test/"}}),
            json!({"type": 3, "timestamp": 60_001, "data": {"source": 2}}),
            span(
                2,
                json!({"op": "resource.fetch", "description": "/api/pay", "data": {"method": "POST", "statusCode": 500}}),
            ),
            span(3, json!({"op": "resource.img", "description": "/boat.png"})),
            crumb(4, json!({"category": "ui.slowClickDetected", "message": "button#pay"})),
            crumb(65, json!({"category": "console", "level": "error", "message": "charge failed"})),
            crumb(66, json!({"category": "navigation", "data": {"to": "/sorry"}})),
        ];
        assert_eq!(
            shown(events),
            "Activity\nT+00:00 page: https://a.test/\nT+00:02 request: POST /api/pay (500)\n\
             T+00:04 dead click: button#pay\nT+01:05 console: charge failed\nT+01:06 page: /sorry\n"
        );
    }

    #[test]
    fn of_many_events_the_telling_ones_stay_in_order() {
        let mut events: Vec<Value> = (0..500)
            .map(|n| crumb(n, json!({"category": "ui.click", "message": format!("a{n}")})))
            .collect();
        events.push(crumb(300, json!({"category": "x", "level": "fatal", "message": "boom"})));
        let text = shown(events);
        assert!(
            text.starts_with("Activity (the 6 most telling of 501 events)\nT+00:00 click: a0\n"),
            "{text}"
        );
        assert!(text.ends_with("T+05:00 x: boom\n") && text.lines().count() == 7, "{text}");
    }
}
