//! `/dashboards/`: list without widgets, detail with them, and the traps of writing.

use serde_json::{Value, json};

use super::spelling::{camel_errors, snake};
use super::{State, members, not_found, organization, page, widgets};
use crate::fields::{Field, Form, Mode};
use crate::http::{Answer, Call, Reply};
use crate::route::{Route, delete, get, post, put};
use crate::table::{Columns as _, Row, row};
use crate::time::Timestamp;

const MAX_WIDGETS: usize = 30;
const PAGE_FILTERS: [&str; 5] = ["environment", "period", "start", "end", "utc"];
const TAG_FILTERS: [(&str, &str); 3] =
    [("release", "release"), ("release_id", "releaseId"), ("global_filter", "globalFilter")];
/// Both kinds of copies share the base: "Ops", "Ops copy", "Ops copy 1".
const COPY: &str = " copy";

pub(super) fn routes() -> Vec<Route<State>> {
    vec![
        get("/organizations/{organization_id_or_slug}/dashboards/", list),
        post("/organizations/{organization_id_or_slug}/dashboards/", create),
        get("/organizations/{organization_id_or_slug}/dashboards/{dashboard_id}/", retrieve),
        put("/organizations/{organization_id_or_slug}/dashboards/{dashboard_id}/", update),
        delete("/organizations/{organization_id_or_slug}/dashboards/{dashboard_id}/", destroy),
    ]
}

fn fields() -> Vec<Field> {
    vec![
        Field::short_text("title", 255),
        Field::list("projects", Field::big_integer("")),
        Field::list("environment", Field::text("")).nullable(),
        Field::text("period").nullable(),
        Field::time("start").nullable(),
        Field::time("end").nullable(),
        Field::object("filters"),
        Field::flag("utc"),
        Field::object("permissions").nullable(),
        Field::flag("is_favorited"),
    ]
}

fn list(state: &State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let query = call.query("query").unwrap_or_default().to_lowercase();
    let mut rows: Vec<&Row> = state
        .dashboards
        .rows()
        .filter(|dashboard| dashboard.text("title").to_lowercase().contains(&query))
        .collect();
    rows.sort_by_key(|dashboard| dashboard.text("title").to_lowercase());
    let sort = call.query("sort").unwrap_or_default();
    if sort.trim_start_matches('-') == "dateCreated" {
        rows.sort_by_key(|dashboard| dashboard.text("date_created"));
    }
    if sort.starts_with('-') {
        rows.reverse();
    }
    page::answer(call, &rows, summary)
}

fn retrieve(state: &State, call: &Call<'_>) -> Answer {
    Ok(Reply::json(200, &view(&find(state, call)?)))
}

/// A taken title is no error: the copy gets another one.
fn create(state: &mut State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let (sent, new_widgets) = read(state, call, true)?;
    let id = state.ids.number("dashboard", 81_000).to_string();
    let mut dashboard = row(json!({
        "id": id,
        "title": free_title(state, sent.text("title")),
        "created_by": "7001",
        "date_created": call.now.to_string(),
        "projects": [],
        "filters": {},
        "permissions": null,
        "is_favorited": false,
        "last_visited": null,
        "widgets": widgets::merge(&mut state.ids, &[], &new_widgets.unwrap_or_default(), call.now)?,
    }));
    apply(&mut dashboard, &sent);
    if let Some(favorited) = sent.get("is_favorited") {
        dashboard.set("is_favorited", favorited.clone());
    }
    state.dashboards.insert(&id, dashboard.clone());
    Ok(Reply::json(201, &view(&dashboard)))
}

fn update(state: &mut State, call: &Call<'_>) -> Answer {
    let mut dashboard = find(state, call)?;
    let (sent, new_widgets) = read(state, call, false)?;
    if let Some(title) = sent.get("title").and_then(Value::as_str) {
        let other = state.dashboards.find("title", title);
        if other.is_some_and(|other| other.get("id") != dashboard.get("id")) {
            return Err(Reply::detail(409, "Dashboard with that title already exists."));
        }
        dashboard.set("title", title);
    }
    if let Some(sent) = new_widgets {
        let stored = dashboard.list("widgets").to_vec();
        dashboard.set("widgets", widgets::merge(&mut state.ids, &stored, &sent, call.now)?);
    }
    apply(&mut dashboard, &sent);
    state.dashboards.insert(dashboard.text("id"), dashboard.clone());
    Ok(Reply::json(200, &view(&dashboard)))
}

fn destroy(state: &mut State, call: &Call<'_>) -> Answer {
    let dashboard = find(state, call)?;
    if state.dashboards.rows().count() == 1 {
        return Err(Reply::json(409, &["Cannot delete last Dashboard."]));
    }
    state.dashboards.remove(dashboard.text("id"));
    Ok(Reply::empty(204))
}

fn find(state: &State, call: &Call<'_>) -> Result<Row, Reply> {
    organization(state, call)?;
    state.dashboards.get(call.value(1)).cloned().ok_or_else(not_found)
}

/// The checked body: its own columns, and the widgets if it has any to say about them.
fn read(state: &State, call: &Call<'_>, new: bool) -> Result<(Row, Option<Vec<Row>>), Reply> {
    let body = snake(&call.body()?)?;
    let mut form = Form::read(&fields(), &body, Mode::Sent);
    if new && !body.contains_key("title") {
        form.reject("title", "This field is required.");
    }
    let widgets = match body.get("widgets").map(widgets::check) {
        Some(Ok(widgets)) => Some(widgets),
        Some(Err(errors)) => {
            form.reject_parts("widgets", errors);
            None
        }
        None => None,
    };
    check_projects(state, &form.row)?;
    if form.is_valid() {
        let time = |field: &str| Timestamp::parse(form.row.text(field));
        if time("start").zip(time("end")).is_some_and(|(start, end)| start >= end) {
            form.reject("non_field_errors", "start must be before end");
        } else if widgets.as_ref().is_some_and(|widgets| widgets.len() > MAX_WIDGETS) {
            let text = format!("Number of widgets must be less than {MAX_WIDGETS}");
            form.reject("non_field_errors", &text);
        }
    }
    let columns = form.take().map_err(|errors| Reply::json(400, &camel_errors(errors)))?;
    Ok((columns, widgets))
}

/// Somebody else's project and one that does not exist are the same refusal.
fn check_projects(state: &State, sent: &Row) -> Result<(), Reply> {
    let unknown = |id: &&Value| state.projects.get(&id.to_string()).is_none();
    if all_projects(sent) || !sent.list("projects").iter().any(|id| unknown(&id)) {
        return Ok(());
    }
    Err(Reply::detail(403, "You do not have permission to perform this action."))
}

fn all_projects(sent: &Row) -> bool {
    sent.list("projects") == [json!(-1)]
}

/// Any page filter that is sent replaces all of them: the others are lost.
fn apply(dashboard: &mut Row, sent: &Row) {
    let mut filters = Row::new();
    let mut touched = false;
    if sent.contains_key("projects") {
        let all = all_projects(sent);
        dashboard.set("projects", if all { json!([]) } else { sent.value("projects") });
        if all {
            filters.set("all_projects", true);
            touched = true;
        }
    }
    let tags = sent.get("filters").and_then(Value::as_object);
    let tags = tags
        .into_iter()
        .flatten()
        .filter(|(key, _)| TAG_FILTERS.iter().any(|(name, _)| name == key));
    let page = sent.iter().filter(|(key, _)| PAGE_FILTERS.contains(&key.as_str()));
    for (key, value) in page.chain(tags) {
        touched = true;
        if !value.is_null() {
            filters.set(key, value.clone());
        }
    }
    if touched {
        dashboard.set("filters", filters);
    }
    if let Some(permissions) = sent.get("permissions") {
        dashboard.set("permissions", permissions.clone());
    }
}

fn free_title(state: &State, title: &str) -> String {
    if state.dashboards.find("title", title).is_none() {
        return title.to_owned();
    }
    let base = copy_of(title).map_or(title, |(base, _)| base);
    let copies = state.dashboards.rows().filter_map(|other| match copy_of(other.text("title")) {
        Some((other, number)) if other == base => Some(number),
        Some(_) | None => None,
    });
    match copies.max() {
        Some(number) => format!("{base}{COPY} {}", number + 1),
        None => format!("{base}{COPY}"),
    }
}

/// The base of "… copy" and "… copy 3", and the number (0 for the first).
fn copy_of(title: &str) -> Option<(&str, u32)> {
    if let Some(base) = title.strip_suffix(COPY) {
        return Some((base, 0));
    }
    let (rest, number) = title.rsplit_once(' ')?;
    Some((rest.strip_suffix(COPY)?, number.parse().ok()?))
}

fn projects(dashboard: &Row) -> Value {
    let filters = dashboard.get("filters").and_then(|filters| filters.get("all_projects"));
    if filters == Some(&json!(true)) { json!([-1]) } else { dashboard.value("projects") }
}

fn tag_filters(dashboard: &Row) -> Row {
    let filters = dashboard.get("filters").and_then(Value::as_object);
    let stored = filters.into_iter().flat_map(|filters| {
        TAG_FILTERS.iter().filter_map(|(name, shown)| Some((*shown, filters.get(*name)?)))
    });
    stored.map(|(shown, value)| (shown.to_owned(), value.clone())).collect()
}

fn permissions(dashboard: &Row) -> Value {
    match dashboard.get("permissions") {
        Some(Value::Object(stored)) => json!({
            "isEditableByEveryone": stored.truth("is_editable_by_everyone"),
            "teamsWithEditAccess": stored.list("teams_with_edit_access"),
        }),
        Some(_) | None => Value::Null,
    }
}

/// What list and detail have in common.
fn common(dashboard: &Row) -> Row {
    row(json!({
        "id": dashboard.text("id"),
        "title": dashboard.text("title"),
        "dateCreated": dashboard.text("date_created"),
        "createdBy": members::user(dashboard.text("created_by"), "Eval Runner", "eval"),
        "projects": projects(dashboard),
        "filters": tag_filters(dashboard),
        "permissions": permissions(dashboard),
        "isFavorited": dashboard.truth("is_favorited"),
        "prebuiltId": null,
    }))
}

/// The widgets are not in the list.
fn summary(dashboard: &Row) -> Value {
    let filters = dashboard.get("filters").and_then(|filters| filters.get("environment"));
    let widgets: Vec<&Row> =
        dashboard.list("widgets").iter().filter_map(Value::as_object).collect();
    let display = widgets.iter().map(|widget| widget.value("display_type"));
    let preview = widgets.iter().map(|widget| {
        json!({ "displayType": widget.value("display_type"), "layout": widget.value("layout") })
    });
    let mut view = common(dashboard);
    view.set("environment", filters.cloned().unwrap_or_else(|| json!([])));
    view.set("lastVisited", dashboard.value("last_visited"));
    view.set("widgetDisplay", display.collect::<Vec<_>>());
    view.set("widgetPreview", preview.collect::<Vec<_>>());
    Value::Object(view)
}

/// Page filters stand at the top level, and only when they are stored.
fn view(dashboard: &Row) -> Value {
    let widgets = dashboard.list("widgets").iter().filter_map(Value::as_object);
    let widgets = widgets.map(|widget| widgets::view(widget, dashboard.text("id")));
    let mut view = common(dashboard);
    view.set("widgets", widgets.collect::<Vec<_>>());
    let filters = dashboard.get("filters").and_then(Value::as_object);
    let stored = filters.into_iter().flatten();
    view.extend(
        stored
            .filter(|(key, _)| PAGE_FILTERS.contains(&key.as_str()))
            .map(|(key, value)| (key.clone(), value.clone())),
    );
    Value::Object(view)
}

/// The dashboard that is worth copying, and two that look like it or lie near.
pub(super) fn seed(state: &mut State) {
    let project = |state: &State, slug: &str| {
        let id = state.projects.find("slug", slug).map(|project| project.text("id"));
        json!([id.and_then(|id| id.parse::<i64>().ok())])
    };
    let web = project(state, "quay-web");
    let worker = project(state, "tide-worker");
    let filters = json!({
        "environment": ["production"],
        "period": "14d",
        "utc": true,
        "release": ["quay-web@3.4.0"],
    });
    add(state, "Checkout health", web.clone(), filters, checkout_widgets(), true);
    let old = json!({ "environment": ["production"], "period": "30d" });
    let first: Vec<Value> = checkout_widgets().into_iter().take(1).collect();
    add(state, "Checkout health (2024)", web, old, first.clone(), false);
    add(state, "Ops wallboard", worker, json!({ "period": "24h" }), first, false);
}

/// A dashboard of one project with one widget.
pub(super) fn seed_decoy(state: &mut State, title: &str, project: &str) {
    let id = state.projects.find("slug", project).map(|it| it.text("id"));
    let project = json!([id.and_then(|id| id.parse::<i64>().ok())]);
    let first: Vec<Value> = checkout_widgets().into_iter().take(1).collect();
    add(state, title, project, json!({ "period": "24h" }), first, false);
}

fn add(
    state: &mut State,
    title: &str,
    projects: Value,
    filters: Value,
    sent: Vec<Value>,
    favorited: bool,
) {
    let created = Timestamp::parse("2026-02-11T09:12:44.120000Z").unwrap_or(Timestamp::START);
    let sent: Vec<Row> = sent.into_iter().map(row).collect();
    let widgets = widgets::merge(&mut state.ids, &[], &sent, created).unwrap_or_default();
    let id = state.ids.number("dashboard", 81_000).to_string();
    let dashboard = json!({
        "id": id,
        "title": title,
        "created_by": "7001",
        "date_created": created.to_string(),
        "projects": projects,
        "filters": filters,
        "permissions": { "is_editable_by_everyone": true, "teams_with_edit_access": [] },
        "is_favorited": favorited,
        "last_visited": null,
        "widgets": widgets,
    });
    state.dashboards.insert(&id, row(dashboard));
}

/// Stored columns; the order is not that of the places on the screen.
fn checkout_widgets() -> Vec<Value> {
    let query = |name: &str, fields: &[&str], conditions: &str| {
        let mut query = row(json!({ "name": name, "fields": fields, "conditions": conditions }));
        query.set("field_aliases", vec![""; fields.len()]);
        query
    };
    let mut hidden = query("unhandled", &["count()"], "error.handled:false");
    hidden.set("is_hidden", true);
    let mut table = query("", &["transaction", "p95()", "count()"], "event.type:transaction");
    table.set("field_aliases", json!(["Page", "p95", "Views"]));
    table.set("orderby", "-p95()");
    vec![
        json!({
            "title": "Errors by handling", "description": "Handled next to unhandled",
            "display_type": "line", "legend_type": "default",
            "queries": [query("handled", &["count()"], "error.handled:true"), hidden],
            "layout": { "x": 0, "y": 2, "w": 4, "h": 2, "minH": 2 },
        }),
        json!({
            "title": "Slowest pages", "description": "By the 95th percentile",
            "display_type": "table", "widget_type": "transaction-like", "limit": 7,
            "queries": [table],
            "layout": { "x": 0, "y": 4, "w": 6, "h": 3, "minH": 2 },
        }),
        json!({
            "title": "Payment latency", "description": "",
            "display_type": "big_number", "widget_type": "spans",
            "thresholds": { "max_values": { "max1": 120, "max2": 400 }, "unit": "millisecond",
                "preferredPolarity": "-" },
            "queries": [query("", &["p75(span.duration)"], "span.op:http.client")],
            "layout": { "x": 0, "y": 0, "w": 2, "h": 1, "minH": 1 },
        }),
        json!({
            "title": "Orders", "description": null, "display_type": "area",
            "widget_type": "transaction-like", "interval": "1h", "axis_range": "dataMin",
            "queries": [query("", &["count()"], "transaction:/checkout/done")],
            "layout": { "x": 2, "y": 0, "w": 4, "h": 2, "minH": 2 },
        }),
    ]
}
