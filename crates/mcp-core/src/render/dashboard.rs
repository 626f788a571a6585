//! A dashboard as markdown.

use api_client::sentry::dashboards::{Dashboard, Layout, Widget, WidgetQuery};
use serde_json::Value;

use super::Page;

/// The whole dashboard: what it covers, then its widgets.
pub(crate) fn page(dashboard: &Dashboard, url: &str) -> Page {
    let summary = &dashboard.summary;
    let mut page = Page::new(format_args!("Dashboard: {}", super::inline(&summary.title)));
    page.fact("ID", &summary.id).fact("Link", url);
    page.maybe("Created", summary.date_created.as_deref());
    page.maybe("Created by", summary.created_by.as_ref().and_then(|it| it.label()));
    page.fact("Projects (ids)", all_or(&summary.projects));
    page.fact("Environments", all_or(&summary.environment));
    page.maybe("Period", dashboard.period.as_deref());
    page.maybe("From", dashboard.start.as_deref()).maybe("To", dashboard.end.as_deref());
    page.maybe("Times in UTC", dashboard.utc.map(yes_no));
    if dashboard.expired == Some(true) {
        page.fact("Expired", "its period is older than the data that is kept");
    }
    page.maybe("Prebuilt id", summary.prebuilt_id.as_deref());
    page.fact("Favorite", yes_no(summary.is_favorited));
    if !dashboard.filters.is_empty() {
        page.heading("Filters");
        for (name, value) in &dashboard.filters {
            page.fact(name, flat(value));
        }
    }
    page.heading(format_args!("Widgets ({})", dashboard.widgets.len()));
    if dashboard.widgets.is_empty() {
        page.paragraph("This dashboard has no widgets.");
    }
    for widget in &dashboard.widgets {
        add_widget(&mut page, widget);
    }
    page.paragraph("These are saved definitions, not live data.");
    page
}

fn add_widget(page: &mut Page, widget: &Widget) {
    let title = if widget.title.is_empty() { "(no title)" } else { &widget.title };
    page.subheading(super::inline(title));
    page.maybe("ID", widget.id.as_deref());
    page.maybe("Display", widget.display_type.as_deref());
    page.maybe("Data set", widget.widget_type.as_deref());
    page.maybe("Data set chosen by", widget.dataset_source.as_deref());
    page.maybe("Interval", widget.interval.as_deref());
    page.maybe("Limit", widget.limit);
    page.maybe("Place", widget.layout.map(place));
    page.maybe("Description", widget.description.as_deref());
    for (number, query) in widget.queries.iter().enumerate() {
        let name = format!("Query {}", number + 1);
        page.fact(&name, query_line(query));
    }
}

fn place(layout: Layout) -> String {
    let Layout { x, y, w, h } = layout;
    format!("column {x}, row {y}, {w} wide, {h} high")
}

/// All that a query says, in one line.
fn query_line(query: &WidgetQuery) -> String {
    let mut parts = Vec::new();
    let text = |name: &str, value: Option<&str>| {
        value.filter(|it| !it.is_empty()).map(|it| format!("{name} `{it}`"))
    };
    let list = |name: &str, values: &[String]| {
        (!values.is_empty()).then(|| format!("{name} `{}`", values.join("`, `")))
    };
    parts.extend(text("name", query.name.as_deref()));
    parts
        .push(text("where", query.conditions.as_deref()).unwrap_or_else(|| "no filter".to_owned()));
    parts.extend(list("fields", &query.fields));
    parts.extend(list("aggregates", &query.aggregates));
    parts.extend(list("columns", &query.columns));
    parts.extend(text("sorted by", query.orderby.as_deref()));
    if query.is_hidden {
        parts.push("hidden".to_owned());
    }
    parts.join("; ")
}

/// Texts and lists of texts without quotes, anything else as JSON.
fn flat(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

fn all_or(values: &[String]) -> String {
    match values {
        [] => "all".to_owned(),
        [one] if one == "-1" => "all".to_owned(),
        several => several.join(", "),
    }
}

fn yes_no(flag: bool) -> &'static str {
    if flag { "yes" } else { "no" }
}
