//! Metric alert rules; read only, and not in the published document.

use serde_json::{Value, json};

use super::{State, matches_query, not_found, organization, owner, page};
use crate::http::{Answer, Call, Reply};
use crate::route::{Route, get};
use crate::table::{Columns as _, Row, row};

pub(super) fn routes() -> Vec<Route<State>> {
    vec![
        get("/organizations/{organization_id_or_slug}/alert-rules/", list),
        get("/organizations/{organization_id_or_slug}/alert-rules/{alert_rule_id}/", retrieve),
        get("/organizations/{organization_id_or_slug}/combined-rules/", combined),
    ]
}

/// Two rules share a name in different projects.
pub(super) fn seed(state: &mut State) {
    let rules = [
        ("Checkout latency", "quay-web", "web-crew", "p95(transaction.duration)", 10, 1_200.0),
        ("Checkout latency", "quay-api", "api-crew", "p95(transaction.duration)", 5, 800.0),
        ("Orders dried up", "quay-api", "dock-oncall", "count()", 60, 5.0),
    ];
    for (name, project, team, aggregate, minutes, threshold) in rules {
        let id = state.ids.number("alert rule", 330_000);
        let below = aggregate == "count()";
        let columns = json!({
            "id": id.to_string(),
            "name": name,
            "project": project,
            "owner": owner::team(state, team),
            "dataset": if below { "events" } else { "transactions" },
            "aggregate": aggregate,
            "query": if below { "message:order.placed" } else { "transaction:/checkout" },
            "time_window": minutes,
            "threshold_type": i64::from(below),
            "resolve_threshold": if below { Value::Null } else { json!(threshold / 2.0) },
            "environment": "production",
            "alert_threshold": threshold,
            "date_created": "2026-01-20T12:00:00Z",
        });
        state.alert_rules.insert(id, row(columns));
    }
}

fn list(state: &State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let rows = of_projects(state, call);
    page::answer(call, &rows, |rule| Value::Object(view(rule)))
}

fn retrieve(state: &State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let rule = state.alert_rules.get(call.value(1)).ok_or_else(not_found)?;
    Ok(Reply::json(200, &view(rule)))
}

/// Of the kinds this list combines, the mock has metric rules only.
fn combined(state: &State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let kinds = call.queries("alertType");
    let name = call.query("name").unwrap_or_default();
    let metric = kinds.is_empty() || kinds.iter().any(|kind| kind == "alert_rule");
    let mut rows = of_projects(state, call);
    rows.retain(|rule| metric && matches_query(rule, &name));
    page::answer(call, &rows, |rule| {
        let mut view = view(rule);
        view.set("type", "alert_rule");
        view.set("latestIncident", Value::Null);
        Value::Object(view)
    })
}

fn of_projects<'s>(state: &'s State, call: &Call<'_>) -> Vec<&'s Row> {
    let wanted = call.queries("project");
    let holds = |rule: &Row| {
        let project = state.projects.find("slug", rule.text("project"));
        wanted.iter().any(|id| id == "-1" || project.is_some_and(|it| it.text("id") == id))
    };
    let mut rows: Vec<&Row> =
        state.alert_rules.rows().filter(|rule| wanted.is_empty() || holds(rule)).collect();
    rows.sort_by_key(|rule| rule.text("name"));
    rows
}

fn view(rule: &Row) -> Row {
    let mut view =
        rule.only(&["id", "name", "dataset", "aggregate", "query", "environment", "owner"]);
    let action = json!({
        "id": format!("{}20", rule.text("id")),
        "type": "slack",
        "targetType": "specific",
        "targetIdentifier": "#checkout-oncall",
        "inputChannelId": "C0420",
        "integrationId": 512,
        "desc": "Send a Slack notification to #checkout-oncall",
    });
    let trigger = json!({
        "id": format!("{}10", rule.text("id")),
        "alertRuleId": rule.text("id"),
        "label": "critical",
        "thresholdType": rule.integer("threshold_type"),
        "alertThreshold": rule.value("alert_threshold"),
        "resolveThreshold": rule.value("resolve_threshold"),
        "dateCreated": rule.text("date_created"),
        "actions": [action],
    });
    view.set("status", 0);
    view.set("snooze", false);
    view.set("queryType", 1);
    view.set("timeWindow", rule.integer("time_window"));
    view.set("thresholdType", rule.integer("threshold_type"));
    view.set("resolveThreshold", rule.value("resolve_threshold"));
    view.set("projects", json!([rule.text("project")]));
    view.set("dateCreated", rule.text("date_created"));
    view.set("dateModified", rule.text("date_created"));
    view.set("triggers", json!([trigger]));
    view
}
