//! `/events/`: rows and aggregates of every data set, and what can be asked for.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{State, organization, page, samples};
use crate::http::{Answer, Call, Reply};
use crate::route::{Route, get};
use crate::table::{Columns as _, Row, row};

pub(super) fn routes() -> Vec<Route<State>> {
    vec![
        get("/organizations/{organization_id_or_slug}/events/", search),
        get("/organizations/{organization_id_or_slug}/events/validate/", validate),
        get("/organizations/{organization_id_or_slug}/tags/", tags),
        get("/organizations/{organization_id_or_slug}/trace-items/attributes/", attributes),
    ]
}

const ERRORS: &[&str] = &[
    "culprit",
    "environment",
    "error.type",
    "id",
    "issue",
    "issue.id",
    "level",
    "message",
    "project",
    "timestamp",
    "title",
    "trace",
    "user.email",
    "user.id",
];
const SPANS: &[&str] = &[
    "id",
    "is_transaction",
    "project",
    "span.description",
    "span.duration",
    "span.op",
    "span.status",
    "timestamp",
    "trace",
    "transaction",
];
const LOGS: &[&str] = &["id", "message", "project", "severity", "timestamp", "trace"];

fn columns(dataset: &str) -> Option<&'static [&'static str]> {
    match dataset {
        "errors" | "" => Some(ERRORS),
        "spans" => Some(SPANS),
        "logs" | "ourlogs" => Some(LOGS),
        "profiles" => Some(samples::PROFILES),
        "tracemetrics" => Some(samples::METRICS),
        _ => None,
    }
}

/// The rows of a data set, by the names of its columns.
fn rows(state: &State, dataset: &str) -> Vec<Row> {
    match dataset {
        "spans" => state.spans.rows().cloned().collect(),
        "logs" | "ourlogs" => state.logs.rows().cloned().collect(),
        "errors" | "" => state.events.rows().filter_map(|it| error(state, it)).collect(),
        "profiles" => samples::profiles(state),
        "tracemetrics" => samples::metrics(state),
        _ => Vec::new(),
    }
}

fn error(state: &State, event: &Row) -> Option<Row> {
    let issue = state.issues.get(event.text("issue_id"))?;
    let project = state.projects.get(issue.text("project_id"))?;
    let (kind, message) = issue.text("title").split_once(": ").unwrap_or(("", issue.text("title")));
    let user = event.value("user");
    Some(row(json!({
        "id": event.text("id"),
        "issue": issue.text("short_id"),
        "issue.id": issue.text("id"),
        "title": issue.text("title"),
        "message": message,
        "error.type": kind,
        "culprit": issue.text("culprit"),
        "level": issue.text("level"),
        "project": project.text("slug"),
        "environment": event.text("environment"),
        "timestamp": event.text("timestamp"),
        "trace": event.text("trace_id"),
        "user.id": user["id"],
        "user.email": user["email"],
    })))
}

fn search(state: &State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let dataset = call.query("dataset").unwrap_or_default();
    let fields = call.queries("field");
    if let Some((part, text)) = objection(&dataset, &fields, call.query("sort").as_deref()) {
        return Err(Reply::detail(400, &format!("Invalid {part}: {text}")));
    }
    let query = call.query("query").unwrap_or_default();
    let projects = call.queries("project");
    let found: Vec<Row> = rows(state, &dataset)
        .into_iter()
        .filter(|it| in_project(state, it, &projects) && passes(it, &query))
        .collect();
    let mut data = project_rows(&found, &fields);
    let sort = call.query("sort").unwrap_or_default();
    let column = sort.trim_start_matches('-');
    data.sort_by(|left, right| compare(left.get(column), right.get(column)));
    if sort.starts_with('-') {
        data.reverse();
    }
    let limit: usize = call.query("per_page").and_then(|it| it.parse().ok()).unwrap_or(50);
    let links = page::first_page_links(call, limit, data.len() > limit);
    data.truncate(limit);
    let types = fields.iter().map(|it| {
        let number = it.contains('(') || matches!(it.as_str(), "span.duration" | "value");
        (it.clone(), Value::from(if number { "number" } else { "string" }))
    });
    let types: Map<String, Value> = types.collect();
    let answer = json!({ "data": data, "meta": { "fields": types, "dataset": dataset } });
    Ok(Reply::json(200, &answer).header("link", &links))
}

/// What is wrong with a search, part by part; a wrong search is status 400.
fn validate(state: &State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let dataset = call.query("dataset").unwrap_or_default();
    let sort = call.query("orderby");
    let query = call.query("query").unwrap_or_default();
    let wrong = objection(&dataset, &call.queries("field"), sort.as_deref());
    let open = query.matches('"').count() % 2 == 1;
    let wrong = wrong
        .or_else(|| open.then(|| ("query", "the query has unbalanced quotation marks".to_owned())));
    let mut answer = json!({ "valid": wrong.is_none() });
    if let Some((part, text)) = &wrong {
        answer[*part] = json!([{ "valid": false, "error": text }]);
    }
    Ok(Reply::json(if wrong.is_none() { 200 } else { 400 }, &answer))
}

fn objection(
    dataset: &str,
    fields: &[String],
    sort: Option<&str>,
) -> Option<(&'static str, String)> {
    let Some(known) = columns(dataset) else {
        return Some(("dataset", format!("\"{dataset}\" is not a dataset")));
    };
    let unknown = |name: &str| !known.contains(&name) && !name.contains('(');
    if let Some(field) = fields.iter().find(|it| unknown(it)) {
        return Some(("field", format!("{field} is not a field of this dataset")));
    }
    let column = sort?.trim_start_matches('-');
    if fields.iter().any(|it| it == column) {
        return None;
    }
    Some(("orderby", format!("{column} is not one of the fields")))
}

fn in_project(state: &State, row: &Row, projects: &[String]) -> bool {
    let own = state.projects.find("slug", row.text("project"));
    projects.is_empty()
        || projects.iter().any(|it| it == "-1" || own.is_some_and(|own| own.text("id") == it))
}

/// `key:value`, `has:key`, their negations, and words anywhere in the row.
fn passes(row: &Row, query: &str) -> bool {
    query.split_whitespace().all(|token| {
        let (negated, token) = token.strip_prefix('!').map_or((false, token), |it| (true, it));
        let found = match token.split_once(':') {
            Some(("has", key)) => row.get(key).is_some_and(|it| !it.is_null()),
            Some((key, value)) => {
                let own = text(row.get(key));
                let list = value.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
                let mut wanted = list.unwrap_or(value).split(',').map(|it| it.trim_matches('"'));
                wanted.any(|it| own.eq_ignore_ascii_case(it))
            }
            None => {
                let word = token.to_lowercase();
                row.values().any(|it| text(Some(it)).to_lowercase().contains(&word))
            }
        };
        found != negated
    })
}

/// The fields of each row or, where one is a function, one row for each group of the others.
fn project_rows(rows: &[Row], fields: &[String]) -> Vec<Row> {
    if !fields.iter().any(|it| it.contains('(')) {
        let plain = |row: &Row| fields.iter().map(|it| (it.clone(), row.value(it))).collect();
        return rows.iter().map(plain).collect();
    }
    let keys: Vec<&String> = fields.iter().filter(|it| !it.contains('(')).collect();
    let mut groups: BTreeMap<String, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        let key: Vec<String> = keys.iter().map(|it| text(row.get(it.as_str()))).collect();
        groups.entry(key.join("\u{0}")).or_default().push(row);
    }
    groups
        .into_values()
        .map(|group| {
            fields
                .iter()
                .map(|field| {
                    let value = match field.split_once('(') {
                        Some((function, column)) => {
                            aggregate(function, column.trim_end_matches(')'), &group)
                        }
                        None => group.first().map(|it| it.value(field)).unwrap_or_default(),
                    };
                    (field.clone(), value)
                })
                .collect()
        })
        .collect()
}

fn aggregate(function: &str, column: &str, group: &[&Row]) -> Value {
    let mut numbers: Vec<i64> = group.iter().map(|it| it.integer(column)).collect();
    numbers.sort_unstable();
    let at = |share: usize| {
        numbers.get((numbers.len() * share / 100).min(numbers.len().saturating_sub(1)))
    };
    match function {
        "count" => group.len().into(),
        "count_unique" => {
            let mut values: Vec<String> = group.iter().map(|it| text(it.get(column))).collect();
            values.sort();
            values.dedup();
            values.len().into()
        }
        "sum" => numbers.iter().sum::<i64>().into(),
        "avg" => {
            let count = i64::try_from(numbers.len()).unwrap_or(1);
            numbers.iter().sum::<i64>().checked_div(count).into()
        }
        "min" => at(0).copied().into(),
        "p50" => at(50).copied().into(),
        "p75" => at(75).copied().into(),
        "p95" => at(95).copied().into(),
        "p99" | "max" => at(100).copied().into(),
        "last_seen" => group.iter().map(|it| it.text("timestamp")).max().into(),
        _ => Value::Null,
    }
}

fn compare(left: Option<&Value>, right: Option<&Value>) -> std::cmp::Ordering {
    let number = |it: Option<&Value>| it.and_then(Value::as_i64);
    number(left).cmp(&number(right)).then_with(|| text(left).cmp(&text(right)))
}

fn text(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

fn tags(state: &State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let total = state.events.rows().count();
    let keys = ["browser", "environment", "level", "release", "user"];
    let rows = keys.map(|it| json!({ "key": it, "name": it, "totalValues": total }));
    Ok(Reply::json(200, &rows))
}

fn attributes(state: &State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let item = call.query("itemType").unwrap_or_default();
    let known = match item.as_str() {
        "spans" => SPANS,
        "logs" => LOGS,
        "tracemetrics" => samples::METRICS,
        _ => return Err(Reply::json(400, &json!({ "itemType": ["Invalid item type"] }))),
    };
    let wanted = call.query("substringMatch").unwrap_or_default();
    let rows: Vec<Value> = known
        .iter()
        .filter(|it| it.contains(&wanted))
        .map(|it| {
            let kind = if matches!(*it, "span.duration" | "value") { "number" } else { "string" };
            json!({ "key": it, "name": it, "attributeType": kind })
        })
        .collect();
    Ok(Reply::json(200, &rows))
}
