//! Alert rules of both families: what they share in lists, and as markdown.

use api_client::sentry::{
    alert_rules::{AlertRule, AlertTrigger},
    workflows::{Action, Condition, ConditionGroup, Workflow},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Page, segment};
use crate::{error::ToolError, tool::Call};

/// The most components of a section that are shown.
const COMPONENTS: usize = 5;

/// Which family of rules.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RuleKind {
    #[default]
    All,
    Issue,
    Metric,
}

impl RuleKind {
    pub(crate) fn has_issue(self) -> bool {
        matches!(self, Self::All | Self::Issue)
    }

    pub(crate) fn has_metric(self) -> bool {
        matches!(self, Self::All | Self::Metric)
    }
}

/// Issue rules cannot be looked for everywhere.
pub(crate) fn project_needed() -> ToolError {
    ToolError::user("issue alert rules belong to a project: `projectSlug` is needed")
        .hint_tool("find_projects", "list the projects")
}

/// The page of an issue rule for people.
pub(crate) fn issue_url(cx: &Call<'_>, organization: &str, id: &str) -> String {
    cx.web_url(organization, &format!("/monitors/alerts/{}/", segment(id)))
}

/// The page of a metric rule for people.
pub(crate) fn metric_url(cx: &Call<'_>, organization: &str, id: &str) -> String {
    cx.web_url(organization, &format!("/issues/alerts/rules/details/{}/", segment(id)))
}

/// The word for an issue rule's state.
pub(crate) fn issue_status(rule: &Workflow) -> &'static str {
    match rule.enabled {
        Some(true) => "active",
        Some(false) => "disabled",
        None => "unknown",
    }
}

/// An issue rule: facts, what starts it, and what it does under which conditions.
pub(crate) fn issue_page(rule: &Workflow, project: &str, url: &str) -> Page {
    let mut page = Page::new(format_args!("Issue alert rule: {}", super::inline(&rule.name)));
    page.fact("Kind", "issue").fact("ID", &rule.id).fact("Project", project);
    page.fact("Status", issue_status(rule));
    page.maybe("Triggers match", rule.triggers.as_ref().and_then(|it| it.logic_type.as_deref()));
    let filters = rule.action_filters.iter().filter_map(|it| it.logic_type.as_deref());
    page.maybe("Filters match", Some(filters.collect::<Vec<_>>().join(", ")));
    let frequency =
        rule.config.frequency.map(|it| format!("at most once in {it} minutes an issue"));
    page.maybe("Frequency", frequency);
    page.maybe("Environment", rule.environment.as_deref());
    page.maybe("Owner", rule.owner.as_ref().and_then(|it| it.label()));
    page.maybe("Created", rule.date_created.as_deref());
    page.maybe("Changed", rule.date_updated.as_deref());
    page.maybe("Last triggered", rule.last_triggered.as_deref());
    page.fact("Link", url);
    if let Some(triggers) = &rule.triggers {
        section(&mut page, "Triggers", &triggers.conditions, condition);
    }
    for (number, filter) in rule.action_filters.iter().enumerate() {
        let place = match rule.action_filters.len() {
            1 => String::new(),
            _ => format!(" {}", number + 1),
        };
        add_filter(&mut page, &place, filter);
    }
    page
}

fn add_filter(page: &mut Page, place: &str, filter: &ConditionGroup) {
    section(page, &format!("Filters{place}"), &filter.conditions, condition);
    section(page, &format!("Actions{place}"), &filter.actions, action);
}

/// A metric rule: facts, then its thresholds.
pub(crate) fn metric_page(rule: &AlertRule, url: &str) -> Page {
    let mut page = Page::new(format_args!("Metric alert rule: {}", super::inline(&rule.name)));
    page.fact("Kind", "metric").fact("ID", &rule.id).fact("Projects", rule.projects.join(", "));
    page.fact("Status", rule.status_text());
    page.maybe("Data set", rule.dataset.as_deref());
    page.maybe("Aggregate", rule.aggregate.as_deref());
    page.maybe("Query", rule.query.as_deref());
    page.maybe("Time window", rule.time_window.map(|it| format!("{it} minutes")));
    page.maybe("Environment", rule.environment.as_deref());
    page.maybe("Owner", rule.owner.as_ref().and_then(|it| it.label()));
    page.maybe("Created", rule.date_created.as_deref());
    page.maybe("Changed", rule.date_modified.as_deref());
    page.fact("Link", url);
    section(&mut page, "Triggers", &rule.triggers, |it| trigger(rule, it));
    page
}

/// The first few components, and how many more there are.
fn section<T>(page: &mut Page, heading: &str, components: &[T], line: impl Fn(&T) -> String) {
    page.heading(heading);
    if components.is_empty() {
        page.item("none");
    }
    for component in components.iter().take(COMPONENTS) {
        page.item(line(component));
    }
    if components.len() > COMPONENTS {
        page.item(format_args!("and {} more", components.len() - COMPONENTS));
    }
}

fn condition(condition: &Condition) -> String {
    let kind = words(condition.kind.as_deref().unwrap_or("unknown condition"));
    match details(&condition.comparison) {
        Some(details) => format!("{kind}: {details}"),
        None => kind,
    }
}

fn action(action: &Action) -> String {
    let kind = words(action.kind.as_deref().unwrap_or("unknown action"));
    let parts: Vec<String> = [&action.config, &action.data].into_iter().flat_map(named).collect();
    if parts.is_empty() { kind } else { format!("{kind}: {}", parts.join(", ")) }
}

fn trigger(rule: &AlertRule, trigger: &AlertTrigger) -> String {
    let label = trigger.label.as_deref().unwrap_or("trigger");
    let below = trigger.threshold_type.or(rule.threshold_type) == Some(1);
    let mut parts = Vec::new();
    if let Some(threshold) = trigger.alert_threshold {
        parts.push(format!("{} {threshold}", if below { "below" } else { "above" }));
    }
    if let Some(threshold) = trigger.resolve_threshold.or(rule.resolve_threshold) {
        parts.push(format!("resolved at {threshold}"));
    }
    let actions = trigger.actions.iter().map(|it| match &it.desc {
        Some(words) => words.clone(),
        None => {
            let target = it.target_type.iter().chain(&it.target_identifier);
            let target: Vec<&str> = target.map(String::as_str).collect();
            format!("{} {}", words(it.kind.as_deref().unwrap_or("action")), target.join(" "))
        }
    });
    parts.extend(actions);
    format!("{label}: {}", parts.join("; "))
}

/// What a condition compares with; a bare `true` says nothing.
fn details(comparison: &Value) -> Option<String> {
    match comparison {
        Value::Null | Value::Bool(true) => None,
        Value::Object(fields) => Some(named(fields).join(", ")).filter(|it| !it.is_empty()),
        other => plain(other),
    }
}

/// Names and values of an object in words, without ids and without what is not known.
fn named(fields: &Map<String, Value>) -> Vec<String> {
    let wanted = fields.iter().filter(|(name, _)| {
        let name = name.to_ascii_lowercase();
        !(name == "id" || name.ends_with("_id") || name.ends_with("identifier"))
    });
    wanted
        .filter_map(|(name, value)| {
            let value = plain(value).filter(|it| !it.is_empty() && it != "unknown")?;
            Some(format!("{} {value}", words(name)))
        })
        .collect()
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Bool(flag) => Some(if *flag { "yes" } else { "no" }.to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Array(items) => Some(items.iter().filter_map(plain).collect::<Vec<_>>().join(" / ")),
        Value::Object(fields) => Some(format!("({})", named(fields).join(", "))),
    }
}

/// A machine's name in words: `first_seen_event` and `targetType` become readable.
fn words(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        match letter {
            '_' | '-' => words.push(' '),
            letter if letter.is_ascii_uppercase() && !words.is_empty() => {
                words.push(' ');
                words.push(letter.to_ascii_lowercase());
            }
            letter => words.push(letter.to_ascii_lowercase()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn machine_names_become_words() {
        for (name, expected) in [
            ("first_seen_event", "first seen event"),
            ("targetType", "target type"),
            ("slack", "slack"),
        ] {
            assert_eq!(words(name), expected);
        }
    }

    #[test]
    fn components_are_said_without_ids_and_unknowns() {
        let shown =
            |comparison| condition(&Condition { kind: Some("level".to_owned()), comparison });
        assert_eq!(shown(json!(true)), "level");
        assert_eq!(shown(json!(false)), "level: no");
        assert_eq!(
            shown(json!({"level": 40, "match": "gte", "tag_id": 7})),
            "level: level 40, match gte"
        );
        let config =
            json!({"targetType": "specific", "targetIdentifier": "C1", "targetDisplay": "unknown"});
        let action = super::action(&Action {
            kind: Some("slack".to_owned()),
            config: config.as_object().unwrap().clone(),
            ..Action::default()
        });
        assert_eq!(action, "slack: target type specific");
    }
}
