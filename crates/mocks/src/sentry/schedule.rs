//! Schedules of cron monitors: what is accepted, and the form it is stored in.

use serde_json::{Map, Value, json};

use crate::fields::{Field, Form, Mode};
use crate::table::{Columns as _, Row};

const TYPES: &[&str] = &["crontab", "interval"];
const UNITS: &[&str] = &["year", "month", "week", "day", "hour", "minute"];
const NAMED: [(&str, &str); 6] = [
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];
/// The first part of the names of time zones; the rest is taken on trust.
const AREAS: &[&str] = &[
    "Africa",
    "America",
    "Antarctica",
    "Arctic",
    "Asia",
    "Atlantic",
    "Australia",
    "Europe",
    "Indian",
    "Pacific",
    "Etc",
    "US",
    "Canada",
];
const PLAIN_ZONES: &[&str] = &["UTC", "GMT", "Portugal", "Japan", "Singapore", "Israel", "Turkey"];

/// Merges what a body says into the stored settings, which have no schedule when the monitor is a
/// new one; the errors are by field.
pub(super) fn merge(stored: &Row, sent: &Map<String, Value>) -> Result<Row, Map<String, Value>> {
    let minutes = |name| Field::between(name, 1, 40_320).nullable();
    let times = |name| Field::between(name, 1, 720).nullable();
    let fields = [
        Field::choice("schedule_type", TYPES),
        minutes("checkin_margin"),
        minutes("max_runtime"),
        times("failure_issue_threshold"),
        times("recovery_threshold"),
        Field::blank_text("timezone").nullable(),
    ];
    let mut form = Form::read(&fields, sent, Mode::Sent);
    let zone = form.row.text("timezone");
    if !zone.is_empty() && !is_zone(zone) {
        let text = format!("\"{zone}\" is not a valid choice.");
        form.reject("timezone", &text);
    }
    let within = sent.get("schedule").and_then(|it| it.get("type")).filter(|it| !it.is_null());
    let beside = form.row.get("schedule_type");
    let kind = within.or(beside).cloned().unwrap_or_else(|| stored.value("schedule_type"));
    let kind = TYPES.iter().copied().find(|it| kind.as_str() == Some(*it));
    let schedule = match (sent.get("schedule"), kind) {
        (Some(sent), Some(kind)) => Some(read(kind, sent)),
        (Some(_), None) => {
            if !sent.contains_key("schedule_type") || form.row.contains_key("schedule_type") {
                form.reject("schedule_type", "Missing or invalid schedule type");
            }
            None
        }
        (None, _) => {
            if stored.value("schedule").is_null() {
                form.reject("schedule", "This field is required.");
            }
            None
        }
    };
    if let Some(Err(text)) = &schedule {
        form.reject("schedule", text);
    }
    let mut config = stored.clone();
    let changes = form.take()?;
    config.extend(
        changes.into_iter().filter(|(name, value)| name != "timezone" || *value != json!("")),
    );
    if let (Some(Ok(schedule)), Some(kind)) = (schedule, kind) {
        config.set("schedule_type", kind);
        config.set("schedule", schedule);
    }
    Ok(config)
}

fn is_zone(name: &str) -> bool {
    PLAIN_ZONES.contains(&name)
        || name
            .split_once('/')
            .is_some_and(|(area, place)| AREAS.contains(&area) && !place.is_empty())
}

fn read(kind: &str, sent: &Value) -> Result<Value, String> {
    match (kind, sent) {
        ("interval", Value::Array(parts)) => interval(parts.first(), parts.get(1)),
        ("interval", Value::Object(parts)) => interval(parts.get("value"), parts.get("unit")),
        ("interval", _) => Err("Invalid schedule for 'interval' type".to_owned()),
        (_, Value::String(line)) => crontab(line).map(Value::from),
        (_, Value::Object(parts)) => match parts.get("value").and_then(Value::as_str) {
            Some(line) => crontab(line).map(Value::from),
            None => Err("Invalid schedule for 'crontab' type".to_owned()),
        },
        (_, _) => Err("Invalid schedule for 'crontab' type".to_owned()),
    }
}

fn interval(count: Option<&Value>, unit: Option<&Value>) -> Result<Value, String> {
    let count = count.and_then(Value::as_i64).filter(|count| *count > 0);
    let unit = unit.and_then(Value::as_str).filter(|unit| UNITS.contains(unit));
    match (count, unit) {
        (Some(count), Some(unit)) => Ok(json!([count, unit])),
        (None, _) => Err("Invalid schedule for schedule unit count (index 0)".to_owned()),
        (_, None) => Err("Invalid schedule for schedule unit name (index 1)".to_owned()),
    }
}

fn crontab(line: &str) -> Result<String, String> {
    if let Some((_, long)) = NAMED.iter().find(|(short, _)| *short == line.trim()) {
        return Ok((*long).to_owned());
    }
    let fields: Vec<&str> = line.split_whitespace().collect();
    if fields.len() > 5 {
        return Err("Only 5 field crontab syntax is supported".to_owned());
    }
    let bounds = [(0, 59), (0, 23), (1, 31), (1, 12), (0, 7)];
    let valid =
        fields.len() == 5 && fields.iter().zip(bounds).all(|(field, it)| is_field(field, it));
    if valid { Ok(fields.join(" ")) } else { Err("Schedule was not parseable".to_owned()) }
}

/// Lists of steps of ranges of numbers or names.
fn is_field(field: &str, (low, high): (u32, u32)) -> bool {
    let value = |text: &str| {
        let number = text.parse().is_ok_and(|number| (low..=high).contains(&number));
        number || (text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_alphabetic()))
    };
    field.split(',').all(|item| {
        let (range, step) = item.split_once('/').unwrap_or((item, "1"));
        let ends = range.split_once('-').unwrap_or((range, range));
        step.parse::<u32>().is_ok_and(|step| step > 0)
            && (range == "*" || (value(ends.0) && value(ends.1)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::row;

    fn merged(sent: Value) -> Result<Row, Value> {
        let stored = row(json!({
            "schedule_type": "crontab", "schedule": "15 2 * * *", "timezone": "UTC",
            "checkin_margin": 7, "alert_rule_id": 4417,
        }));
        merge(&stored, &row(sent)).map_err(Value::Object)
    }

    #[test]
    fn what_is_not_sent_stays_and_lines_are_normalised() {
        let config =
            merged(json!({ "schedule": " 45  6 * * MON-FRI ", "timezone": "Europe/Lisbon" }))
                .unwrap();
        assert_eq!(config.text("schedule"), "45 6 * * MON-FRI");
        assert_eq!(
            (config.text("timezone"), config.integer("checkin_margin")),
            ("Europe/Lisbon", 7)
        );
        let kept = merged(json!({ "timezone": "", "alert_rule_id": 1 })).unwrap();
        assert_eq!((kept.text("timezone"), kept.integer("alert_rule_id")), ("UTC", 4417));
        assert_eq!(merged(json!({ "schedule": "@daily" })).unwrap().text("schedule"), "0 0 * * *");
    }

    #[test]
    fn schedules_that_are_none_are_refused_by_field() {
        for (sent, field) in [
            (json!({ "schedule": "0 0 0 * * *" }), "schedule"),
            (json!({ "schedule": "61 * * * *" }), "schedule"),
            (json!({ "schedule": [2, "hour"] }), "schedule"),
            (json!({ "schedule_type": "interval", "schedule": [0, "hour"] }), "schedule"),
            (json!({ "schedule_type": "interval", "schedule": [1, "fortnight"] }), "schedule"),
            (json!({ "timezone": "Lisbon" }), "timezone"),
            (json!({ "max_runtime": 0 }), "max_runtime"),
            (json!({ "recovery_threshold": 721 }), "recovery_threshold"),
        ] {
            let errors = merged(sent.clone()).unwrap_err();
            assert!(errors.get(field).is_some(), "{sent}: {errors}");
        }
        let interval =
            json!({ "schedule_type": "interval", "schedule": { "value": 2, "unit": "hour" } });
        assert_eq!(merged(interval).unwrap().value("schedule"), json!([2, "hour"]));
    }

    #[test]
    fn a_new_schedule_has_its_type_beside_it_or_within() {
        let fresh = |sent: Value| merge(&Row::new(), &row(sent)).map_err(Value::Object);
        let within = json!({ "schedule": { "type": "interval", "value": 5, "unit": "day" } });
        let config = fresh(within).unwrap();
        assert_eq!(config.text("schedule_type"), "interval");
        assert_eq!(config.value("schedule"), json!([5, "day"]));
        let beside = json!({ "schedule": "@daily", "schedule_type": "crontab" });
        assert_eq!(fresh(beside).unwrap().text("schedule"), "0 0 * * *");
        let none = json!({ "schedule_type": ["Missing or invalid schedule type"] });
        assert_eq!(fresh(json!({ "schedule": "@daily" })).unwrap_err(), none);
        let required = json!({ "schedule": ["This field is required."] });
        assert_eq!(fresh(json!({ "schedule_type": "crontab" })).unwrap_err(), required);
    }
}
