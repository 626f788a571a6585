//! Widgets of a dashboard and their queries: checked, merged by id, shown.

use serde_json::{Map, Value, json};

use super::spelling::camel_errors;
use crate::fields::{Field, Form, Mode, python_type};
use crate::http::Reply;
use crate::seed::Ids;
use crate::table::{Columns as _, Row, row};
use crate::time::Timestamp;

const DISPLAY_TYPES: &[&str] = &[
    "line",
    "area",
    "bar",
    "table",
    "big_number",
    "details",
    "categorical_bar",
    "wheel",
    "rage_and_dead_clicks",
    "server_tree",
    "text",
    "agents_traces_table",
    "heatmap",
];
const WIDGET_TYPES: &[&str] = &[
    "discover",
    "issue",
    "metrics",
    "error-events",
    "transaction-like",
    "spans",
    "logs",
    "tracemetrics",
    "preprod-app-size",
];
const FOREIGN_WIDGET: &str = "You cannot update widgets that are not part of this dashboard.";
const FOREIGN_QUERY: &str = "You cannot use a query not owned by this widget";

fn widget_fields() -> Vec<Field> {
    vec![
        Field::text("id"),
        Field::short_text("title", 255),
        Field::blank_text("description").nullable(),
        Field::object("thresholds").nullable(),
        Field::choice("display_type", DISPLAY_TYPES),
        Field::short_text("interval", 10),
        Field::choice("widget_type", WIDGET_TYPES),
        Field::natural("limit").nullable(),
        Field::object("layout").nullable(),
        Field::choice("axis_range", &["auto", "dataMin"]).nullable(),
        Field::choice("legend_type", &["default", "breakdown"]).nullable(),
    ]
}

fn query_fields() -> Vec<Field> {
    let texts = |name| Field::list(name, Field::blank_text(""));
    vec![
        Field::text("id"),
        texts("fields"),
        texts("aggregates").nullable(),
        texts("columns").nullable(),
        texts("field_aliases").nullable(),
        Field::blank_text("name"),
        Field::blank_text("conditions"),
        Field::blank_text("orderby"),
        Field::flag("is_hidden"),
        Field::integer("selected_aggregate").nullable(),
        Field::list("linked_dashboards", Field::object("")),
    ]
}

/// Checks `widgets` of a body whose keys are snake_case.
pub(super) fn check(value: &Value) -> Result<Vec<Row>, Value> {
    check_each(value, check_widget)
}

fn check_each(
    value: &Value,
    check: fn(&Row) -> Result<Row, Map<String, Value>>,
) -> Result<Vec<Row>, Value> {
    let Some(items) = value.as_array() else {
        let kind = python_type(value);
        let text = format!("Expected a list of items but got type \"{kind}\".");
        return Err(json!({ "non_field_errors": [text] }));
    };
    let checked: Vec<Result<Row, Map<String, Value>>> = items
        .iter()
        .map(|item| match item {
            Value::Object(item) => check(item).map_err(camel_errors),
            other => {
                let kind = python_type(other);
                let text = format!("Invalid data. Expected a dictionary, but got {kind}.");
                Err(row(json!({ "nonFieldErrors": [text] })))
            }
        })
        .collect();
    if checked.iter().all(Result::is_ok) {
        Ok(checked.into_iter().flatten().collect())
    } else {
        // Good items stand in the list of errors as empty objects.
        let errors = checked.into_iter().map(|item| Value::Object(item.err().unwrap_or_default()));
        Err(errors.collect())
    }
}

/// A new widget, one without an id, has to be whole.
fn check_widget(body: &Row) -> Result<Row, Map<String, Value>> {
    let mut form = Form::read(&widget_fields(), body, Mode::Sent);
    check_id(&mut form);
    check_part(&mut form, "layout", layout);
    check_part(&mut form, "thresholds", thresholds);
    match body.get("queries").map(|queries| check_each(queries, check_query)) {
        Some(Ok(queries)) => form.row.set("queries", json!(queries)),
        Some(Err(errors)) => form.reject_parts("queries", errors),
        None => {}
    }
    if form.is_valid() && !form.row.contains_key("id") {
        if form.row.list("queries").is_empty() {
            form.reject("queries", "One or more queries are required to create a widget");
        } else if !form.row.contains_key("title") {
            form.reject("title", "Title is required during creation.");
        } else if !form.row.contains_key("display_type") {
            form.reject("display_type", "displayType is required during creation.");
        }
    }
    form.take()
}

/// An id, even a meaningless one, switches the check for the required fields off.
fn check_query(body: &Row) -> Result<Row, Map<String, Value>> {
    let mut form = Form::read(&query_fields(), body, Mode::Sent);
    check_id(&mut form);
    let required = ["fields", "conditions"];
    let whole = required.iter().all(|field| form.row.contains_key(*field));
    if form.is_valid() && !form.row.contains_key("id") && !whole {
        for field in required {
            form.reject(field, &format!("{field} are required during creation."));
        }
    }
    form.take()
}

fn check_id(form: &mut Form) {
    let numeric = form.row.text("id").bytes().all(|byte| byte.is_ascii_digit());
    if !numeric {
        form.reject("id", "Invalid ID format. Must be a numeric string");
    }
}

fn check_part(form: &mut Form, field: &str, clean: fn(&Row) -> Result<Row, String>) {
    let Some(Value::Object(part)) = form.row.get(field) else { return };
    match clean(part) {
        Ok(part) => form.row.set(field, part),
        Err(text) => form.reject(field, &text),
    }
}

/// All of it or nothing; stored in the spelling it is shown in.
fn layout(layout: &Row) -> Result<Row, String> {
    let keys = [
        ("x", "x", 0..=5),
        ("y", "y", 0..=i64::MAX),
        ("w", "w", 1..=6),
        ("h", "h", 1..=i64::MAX),
        ("min_h", "minH", 1..=i64::MAX),
    ];
    let missing: Vec<&str> = keys
        .iter()
        .filter(|(key, _, _)| !layout.contains_key(*key))
        .map(|(_, shown, _)| *shown)
        .collect();
    if !missing.is_empty() {
        return Err(format!("Missing required keys: {}", missing.join(", ")));
    }
    let mut stored = Row::new();
    for (key, shown, range) in keys {
        let number = layout.get(key).and_then(Value::as_i64);
        let number = number.ok_or_else(|| format!("Expected number for: {shown}"))?;
        if !range.contains(&number) {
            return Err(format!("Number out of range for: {shown}"));
        }
        stored.set(shown, number);
    }
    Ok(stored)
}

/// The keys below `max_values` stay in snake case when they are shown.
fn thresholds(thresholds: &Row) -> Result<Row, String> {
    let maxima = thresholds.get("max_values").and_then(Value::as_object);
    let unknown = maxima
        .and_then(|maxima| maxima.keys().find(|key| !matches!(key.as_str(), "max1" | "max2")));
    if let Some(key) = unknown {
        return Err(format!("Invalid maximum key {key}"));
    }
    let names = [
        ("max_values", "max_values"),
        ("unit", "unit"),
        ("preferred_polarity", "preferredPolarity"),
    ];
    let kept = names.into_iter().filter(|(key, _)| thresholds.contains_key(*key));
    Ok(kept.map(|(key, shown)| (shown.to_owned(), thresholds.value(key))).collect())
}

/// The widgets of a dashboard after an update: what has an id is changed, what has none is new,
/// what is absent is gone, and the order is that of the body.
pub(super) fn merge(
    ids: &mut Ids,
    stored: &[Value],
    sent: &[Row],
    now: Timestamp,
) -> Result<Vec<Value>, Reply> {
    sent.iter()
        .map(|sent| {
            let mut widget = match owned(stored, sent) {
                Some(stored) => stored,
                None if sent.contains_key("id") => return Err(refused(FOREIGN_WIDGET)),
                None => new_widget(ids, now),
            };
            let is_new = !sent.contains_key("id");
            let queries = widget.list("queries").to_vec();
            let columns =
                sent.iter().filter(|(name, _)| !matches!(name.as_str(), "id" | "queries"));
            widget.extend(columns.map(|(name, value)| (name.clone(), value.clone())));
            if sent.contains_key("queries") {
                let merged: Result<Vec<Value>, Reply> = sent
                    .list("queries")
                    .iter()
                    .filter_map(Value::as_object)
                    .map(|query| merge_query(ids, &queries, query, is_new))
                    .collect();
                widget.set("queries", merged?);
            }
            Ok(Value::Object(widget))
        })
        .collect()
}

/// In a new widget the ids of queries are passed over.
fn merge_query(
    ids: &mut Ids,
    stored: &[Value],
    sent: &Row,
    in_new_widget: bool,
) -> Result<Value, Reply> {
    let mut query = match owned(stored, sent) {
        Some(stored) => stored,
        None if sent.contains_key("id") && !in_new_widget => return Err(refused(FOREIGN_QUERY)),
        None => new_query(ids, sent),
    };
    for (name, value) in sent.iter().filter(|(name, value)| *name != "id" && !value.is_null()) {
        query.set(name, value.clone());
    }
    Ok(Value::Object(query))
}

fn owned(stored: &[Value], sent: &Row) -> Option<Row> {
    let id = sent.get("id")?;
    stored.iter().filter_map(Value::as_object).find(|row| row.get("id") == Some(id)).cloned()
}

fn refused(text: &str) -> Reply {
    Reply::json(400, &[text])
}

fn new_widget(ids: &mut Ids, now: Timestamp) -> Row {
    row(json!({
        "id": ids.number("widget", 90_000).to_string(),
        "title": "",
        "description": null,
        "display_type": null,
        "thresholds": null,
        "interval": "5m",
        "date_created": now.to_string(),
        "queries": [],
        "limit": null,
        "widget_type": "error-events",
        "layout": null,
        "axis_range": null,
        "legend_type": null,
    }))
}

/// Aggregates and columns are what `fields` has of each, unless they are sent.
fn new_query(ids: &mut Ids, sent: &Row) -> Row {
    let (aggregates, columns): (Vec<Value>, Vec<Value>) = sent
        .list("fields")
        .iter()
        .cloned()
        .partition(|field| field.as_str().is_some_and(|field| field.contains('(')));
    row(json!({
        "id": ids.number("widget query", 95_000).to_string(),
        "name": "",
        "fields": [],
        "aggregates": aggregates,
        "columns": columns,
        "field_aliases": [],
        "conditions": "",
        "orderby": "",
        "is_hidden": false,
        "selected_aggregate": null,
        "linked_dashboards": [],
    }))
}

pub(super) fn view(widget: &Row, dashboard: &str) -> Value {
    let queries = widget.list("queries").iter().filter_map(Value::as_object);
    let queries: Vec<Value> = queries.map(|query| view_query(query, widget.text("id"))).collect();
    json!({
        "id": widget.text("id"),
        "title": widget.text("title"),
        "description": widget.value("description"),
        "displayType": widget.value("display_type"),
        "thresholds": widget.value("thresholds"),
        "interval": widget.text("interval"),
        "dateCreated": widget.text("date_created"),
        "dashboardId": dashboard,
        "datasetSource": "user",
        "queries": queries,
        "limit": widget.value("limit"),
        "widgetType": widget.value("widget_type"),
        "layout": widget.value("layout"),
        "axisRange": widget.value("axis_range"),
        "legendType": widget.value("legend_type"),
        "exploreUrls": null,
        "changedReason": null,
    })
}

fn view_query(query: &Row, widget: &str) -> Value {
    json!({
        "id": query.text("id"),
        "name": query.text("name"),
        "fields": query.value("fields"),
        "aggregates": query.value("aggregates"),
        "columns": query.value("columns"),
        "fieldAliases": query.value("field_aliases"),
        "conditions": query.text("conditions"),
        "orderby": query.text("orderby"),
        "widgetId": widget,
        "onDemand": [],
        "isHidden": query.truth("is_hidden"),
        "selectedAggregate": query.value("selected_aggregate"),
        "linkedDashboards": query.value("linked_dashboards"),
    })
}
