//! The evidence of issues that are about numbers: a metric over its threshold, a duration that grew.

use api_client::sentry::time::moment;
use serde_json::Value;

use super::sheet::{Sheet, items, number, short, text};
use super::span::milliseconds;

/// Types of occurrences, by Sentry's numbers.
const METRIC_ALERT: u64 = 8_001;
const REGRESSIONS: [u64; 4] = [1_017, 1_018, 2_010, 2_011];

/// What kind of numbers an occurrence is about, if it is about numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    Metric,
    Regression,
}

impl Numbers {
    pub(super) fn of(occurrence: &Value) -> Option<Self> {
        let kind = occurrence.get("type").and_then(Value::as_u64);
        let data = occurrence.get("evidenceData")?;
        if kind == Some(METRIC_ALERT) {
            return Some(Self::Metric);
        }
        let known = kind.is_some_and(|it| REGRESSIONS.contains(&it));
        let looks_so = data.get("breakpoint").is_some() && data.get("aggregateRange1").is_some();
        (known || looks_so).then_some(Self::Regression)
    }
}

/// The evidence, by kind.
pub(super) fn evidence(sheet: &mut Sheet, occurrence: &Value, numbers: Numbers) {
    sheet.section(match numbers {
        Numbers::Metric => "Metric alert",
        Numbers::Regression => "Regression",
    });
    sheet.fact("Summary", text(occurrence, "subtitle"));
    let Some(data) = occurrence.get("evidenceData") else { return };
    match numbers {
        Numbers::Metric => metric(sheet, data),
        Numbers::Regression => regression(sheet, data),
    }
}

fn metric(sheet: &mut Sheet, data: &Value) {
    let source = items(data, "dataSources").iter().find_map(|source| {
        let query = source.get("queryObj").or_else(|| source.get("query_obj"))?;
        query.get("snubaQuery").or_else(|| query.get("snuba_query"))
    });
    if let Some(query) = source {
        for (label, key) in [
            ("Data set", "dataset"),
            ("Aggregate", "aggregate"),
            ("Query", "query"),
            ("Environment", "environment"),
        ] {
            sheet.fact(label, text(query, key));
        }
        let seconds = number(query, "timeWindow").or_else(|| number(query, "time_window"));
        sheet.fact("Interval", seconds.map(interval));
    }
    let value = data.get("value").filter(|it| !it.is_null() && !it.is_object());
    sheet.fact("Value", value.map(|it| short(it, 60)));
    for condition in items(data, "conditions").iter().take(5) {
        let Some(threshold) = condition.get("comparison").filter(|it| !it.is_null()) else {
            continue;
        };
        let sign = match text(condition, "type") {
            Some("gt") => ">",
            Some("gte") => ">=",
            Some("lt") => "<",
            Some("lte") => "<=",
            Some("eq") => "=",
            Some(other) => other,
            None => "reached",
        };
        sheet.fact("Threshold", Some(format!("{sign} {}", short(threshold, 60))));
    }
    let rule = ["alertId", "alert_id", "detectorId", "detector_id"];
    let rule = rule.into_iter().find_map(|key| data.get(key).filter(|it| !it.is_null()));
    sheet.fact("Alert rule", rule.map(|it| short(it, 40)));
}

fn interval(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..7_200 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3_600),
    }
}

fn regression(sheet: &mut Sheet, data: &Value) {
    let amount = |key: &str| data.get(key).and_then(Value::as_f64).filter(|it| it.is_finite());
    let name = text(data, "transaction").or_else(|| text(data, "function"));
    sheet.fact("Where", name);
    sheet.fact("Before", amount("aggregateRange1").map(milliseconds));
    sheet.fact("After", amount("aggregateRange2").map(milliseconds));
    sheet.fact("Growth", amount("trendPercentage").map(|it| format!("{it:.2} times")));
    let breakpoint = data.get("breakpoint").and_then(Value::as_f64);
    let within = breakpoint.filter(|it| (0.0..4e9).contains(it));
    sheet.fact("Since", within.map(|it| moment(it as i64)));
}
