//! Check-ins of cron monitors, as a list and as counts.

use serde_json::{Value, json};

use super::{State, monitors, page};
use crate::http::{Answer, Call, Reply};
use crate::route::{Route, get};
use crate::table::{Columns as _, Row, row};
use crate::time::Timestamp;

const HOUR: i64 = 3_600;

pub(super) fn routes() -> Vec<Route<State>> {
    vec![
        get(
            "/organizations/{organization_id_or_slug}/monitors/{monitor_id_or_slug}/checkins/",
            list,
        ),
        get(
            "/projects/{organization_id_or_slug}/{project_id_or_slug}/monitors/{monitor_id_or_slug}/checkins/",
            list,
        ),
        get("/organizations/{organization_id_or_slug}/monitors/{monitor_id_or_slug}/stats/", stats),
        get(
            "/projects/{organization_id_or_slug}/{project_id_or_slug}/monitors/{monitor_id_or_slug}/stats/",
            stats,
        ),
    ]
}

/// Twelve for each monitor, one every two hours; the fifth failed and the eighth did not come.
pub(super) fn seed(state: &mut State) {
    let monitors: Vec<String> = state.monitors.rows().map(|it| it.text("id").to_owned()).collect();
    for monitor in monitors {
        for number in 0..12 {
            let id = state.ids.uuid("check-in");
            let at = Timestamp::START.plus_seconds(-2 * HOUR * number - 60);
            let (status, duration) = match number {
                4 => ("error", json!(9_400)),
                7 => ("missed", Value::Null),
                _ => ("ok", json!(41_250 + 130 * number)),
            };
            let columns = json!({
                "id": id,
                "monitor_id": monitor,
                "environment": "production",
                "status": status,
                "duration": duration,
                "date_added": at.to_string(),
            });
            state.check_ins.insert(&id, row(columns));
        }
    }
}

/// Newest first.
fn list(state: &State, call: &Call<'_>) -> Answer {
    let monitor = monitors::find(state, call)?;
    let rows = of_monitor(state, call, &monitor)?;
    page::answer(call, &rows, |check_in| {
        let added = check_in.text("date_added");
        json!({
            "id": check_in.text("id"),
            "environment": check_in.text("environment"),
            "status": check_in.text("status"),
            "duration": check_in.value("duration"),
            "dateCreated": added,
            "dateAdded": added,
            "dateUpdated": added,
            "dateInProgress": null,
            "dateClock": added,
            "expectedTime": added,
            "monitorConfig": monitor.value("config"),
        })
    })
}

/// Counts from `since` to `until`, by default an hour each.
fn stats(state: &State, call: &Call<'_>) -> Answer {
    let monitor = monitors::find(state, call)?;
    let seconds = |name: &str| call.query(name)?.parse::<i64>().ok();
    let now = call.now.unix_seconds();
    let until = seconds("until").unwrap_or(now);
    let since = seconds("since").unwrap_or(until - 24 * HOUR);
    let step = match call.query("resolution").as_deref().and_then(|it| it.strip_suffix('s')) {
        Some(step) => step.parse().ok().filter(|step| *step > 0),
        None => Some(HOUR),
    };
    let step = step.ok_or_else(|| Reply::detail(400, "Invalid resolution"))?;
    let first = since - since.rem_euclid(step);
    if until < since || (until - first) / step > 1_000 {
        return Err(Reply::detail(400, "Invalid stats period"));
    }
    let rows: Vec<&Row> =
        state.check_ins.rows().filter(|it| it.text("monitor_id") == monitor.text("id")).collect();
    let starts = (0..=(until - first) / step).map(|number| first + number * step);
    let buckets = starts.map(|start| {
        let inside = |it: &&Row| {
            let at = Timestamp::parse(it.text("date_added")).map(Timestamp::unix_seconds);
            at.is_some_and(|at| (start..start + step).contains(&at))
        };
        let inside: Vec<&Row> = rows.iter().copied().filter(inside).collect();
        let count = |status: &str| inside.iter().filter(|it| it.text("status") == status).count();
        let times: Vec<i64> =
            inside.iter().map(|it| it.integer("duration")).filter(|it| *it > 0).collect();
        let total: i64 = times.iter().sum();
        let mean = total.checked_div(i64::try_from(times.len()).unwrap_or(1)).unwrap_or(0);
        json!({
            "ts": start,
            "ok": count("ok"),
            "error": count("error"),
            "missed": count("missed"),
            "timeout": count("timeout"),
            "in_progress": count("in_progress"),
            "unknown": count("unknown"),
            "duration": mean,
        })
    });
    Ok(Reply::json(200, &buckets.collect::<Vec<_>>()))
}

fn of_monitor<'s>(state: &'s State, call: &Call<'_>, monitor: &Row) -> Result<Vec<&'s Row>, Reply> {
    let (since, until) = window(call)?;
    let environments = call.queries("environment");
    let mut rows: Vec<&Row> = state
        .check_ins
        .rows()
        .filter(|it| it.text("monitor_id") == monitor.text("id"))
        .filter(|it| {
            environments.is_empty()
                || environments.iter().any(|name| name == it.text("environment"))
        })
        .filter(|it| {
            Timestamp::parse(it.text("date_added")).is_some_and(|at| since <= at && at <= until)
        })
        .collect();
    rows.sort_by_key(|it| std::cmp::Reverse(it.text("date_added")));
    Ok(rows)
}

/// The time a list covers: `statsPeriod`, `start` and `end`, or the last 90 days.
pub(super) fn window(call: &Call<'_>) -> Result<(Timestamp, Timestamp), Reply> {
    let moment = |name: &str| call.query(name).map(|text| Timestamp::parse(&text));
    match (call.query("statsPeriod"), moment("start"), moment("end")) {
        (None, Some(Some(start)), Some(Some(end))) if start < end => Ok((start, end)),
        (None, None, None) => Ok((call.now.plus_seconds(-90 * 24 * HOUR), call.now)),
        (Some(period), None, None) => {
            let text = format!("Invalid statsPeriod: '{period}'");
            let seconds = seconds_in(&period).ok_or_else(|| Reply::detail(400, &text))?;
            Ok((call.now.plus_seconds(-seconds), call.now))
        }
        _ => Err(Reply::detail(400, "Invalid date range")),
    }
}

fn seconds_in(period: &str) -> Option<i64> {
    let (number, unit) = period.split_at_checked(period.len().checked_sub(1)?)?;
    let unit = match unit {
        "s" => 1,
        "m" => 60,
        "h" => HOUR,
        "d" => 24 * HOUR,
        "w" => 7 * 24 * HOUR,
        _ => return None,
    };
    number.parse::<i64>().ok()?.checked_mul(unit)
}
