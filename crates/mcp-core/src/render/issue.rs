//! Issues: their status in words, how promising they are, one as a row of a list.

use std::time::{SystemTime, UNIX_EPOCH};

use api_client::sentry::{issues::Issue, time::epoch};
use serde_json::{Map, Value};

use super::{
    Page,
    event::{Sheet, short, shorten},
    inline,
};

/// What an issue is called by: its short id, or else its number.
pub(crate) fn issue_name(issue: &Issue) -> &str {
    issue.short_id.as_deref().filter(|it| !it.is_empty()).unwrap_or(&issue.id)
}

/// The status in the words of `update_issue`, with what it depends on.
pub(crate) fn issue_status(issue: &Issue) -> String {
    let status = issue.status.as_deref().unwrap_or("unknown");
    let details = &issue.status_details;
    if status == "resolved" && details.get("inNextRelease").is_some_and(|it| it == true) {
        return "resolvedInNextRelease".to_owned();
    }
    match ignoring(issue) {
        Some(how) => format!("ignored, {how}"),
        None => inline(status),
    }
}

/// How an ignored issue is ignored.
pub(crate) fn ignoring(issue: &Issue) -> Option<String> {
    if issue.status.as_deref() != Some("ignored") {
        return None;
    }
    let conditions = conditions(&issue.status_details);
    Some(match issue.substatus.as_deref() {
        _ if !conditions.is_empty() => conditions.join(" or "),
        Some("archived_until_escalating") => "until it escalates".to_owned(),
        Some("archived_until_condition_met") => "until a condition is met".to_owned(),
        Some("archived_forever") | None => "forever".to_owned(),
        Some(other) => inline(other),
    })
}

fn conditions(details: &Map<String, Value>) -> Vec<String> {
    let number = |key: &str| details.get(key).and_then(Value::as_u64);
    let within = |key: &str| {
        number(key).map(|minutes| format!(" within {minutes} minutes")).unwrap_or_default()
    };
    let mut conditions = Vec::new();
    if let Some(until) = details.get("ignoreUntil").filter(|it| !it.is_null()) {
        conditions.push(format!("until {}", short(until, 40)));
    }
    if let Some(count) = number("ignoreCount") {
        conditions.push(format!("until {count} more events{}", within("ignoreWindow")));
    }
    if let Some(count) = number("ignoreUserCount") {
        conditions.push(format!("until {count} more users{}", within("ignoreUserWindow")));
    }
    conditions
}

/// How likely Seer is to find a fix.
pub(crate) fn actionability(issue: &Issue) -> Option<&'static str> {
    let score = issue.seer_fixability_score?;
    Some(match score {
        _ if score > 0.76 => "super_high",
        _ if score > 0.66 => "high",
        _ if score > 0.40 => "medium",
        _ if score > 0.25 => "low",
        _ => "super_low",
    })
}

/// Who looks after it.
pub(crate) fn assignee(issue: &Issue) -> String {
    let label = issue.assigned_to.as_ref().and_then(|it| it.label());
    label.unwrap_or_else(|| "nobody".to_owned())
}

/// Whether an issue is about a metric, which Seer cannot analyse.
pub(crate) fn is_about_metric(issue: &Issue) -> bool {
    issue.issue_category.as_deref() == Some("metric")
        || issue.issue_type.as_deref() == Some("metric_issue")
}

/// The facts about an issue that Sentry itself says.
pub(crate) fn issue_facts(page: &mut Page, issue: &Issue, link: &str) {
    let project = issue.project.as_ref().map(|it| it.slug.as_str());
    page.maybe("Project", project)
        .fact("Status", issue_status(issue))
        .maybe("Substatus", issue.substatus.as_ref())
        .fact("Assigned to", assignee(issue))
        .maybe("Type", issue.issue_type.as_ref())
        .maybe("Category", issue.issue_category.as_ref())
        .maybe("Level", issue.level.as_ref())
        .maybe("Platform", issue.platform.as_ref())
        .maybe("First seen", issue.first_seen.as_ref())
        .maybe("Last seen", issue.last_seen.as_ref())
        .maybe("Events", issue.count.as_ref())
        .maybe("Users", issue.user_count)
        .maybe("Seer actionability", actionability(issue))
        .fact("Link", link);
}

/// What outsiders wrote about an issue as a whole: title, culprit, and what its kind adds.
pub(crate) fn issue_words(sheet: &mut Sheet, issue: &Issue) {
    let said =
        |key: &str| issue.metadata.get(key).filter(|it| !it.is_null()).map(|it| short(it, 380));
    sheet.line(&issue.title);
    let is_performance =
        issue.issue_type.as_deref().is_some_and(|it| it.starts_with("performance_"));
    if is_performance {
        sheet.fact("Description", said("title").filter(|it| *it != issue.title));
        sheet.fact("Location", said("location").or_else(|| issue.culprit.clone()));
        sheet.fact("Query pattern", said("value"));
    } else {
        sheet.fact("Culprit", issue.culprit.as_deref());
    }
    if issue.issue_category.as_deref() == Some("feedback") {
        sheet.fact("From", said("name"));
        sheet.fact("Email", said("contact_email"));
    }
}

/// An issue in a list.
pub(crate) fn issue_row(
    sheet: &mut Sheet,
    number: usize,
    issue: &Issue,
    link: &str,
    now: SystemTime,
) {
    let title = if issue.title.trim().is_empty() { "(no title)" } else { &issue.title };
    sheet.line(format!("{number}. {}: {}", issue_name(issue), shorten(title, 200)));
    let category = issue.issue_category.as_deref().filter(|it| *it != "error");
    let counts = [
        issue.count.as_ref().map(|it| format!("{it} events")),
        issue.user_count.map(|it| format!("{it} users")),
        Some(format!("assigned to {}", assignee(issue))),
        actionability(issue).map(|it| format!("actionability {it}")),
    ];
    let facts: Vec<String> = [Some(issue_status(issue)), category.map(str::to_owned)]
        .into_iter()
        .chain(counts)
        .flatten()
        .collect();
    sheet.line(format!("   {}", facts.join(" · ")));
    let seen = [("first seen", &issue.first_seen), ("last seen", &issue.last_seen)];
    let seen: Vec<String> = seen
        .into_iter()
        .filter_map(|(name, moment)| Some(format!("{name} {}", ago(moment.as_deref()?, now))))
        .collect();
    if !seen.is_empty() {
        sheet.line(format!("   {}", seen.join(" · ")));
    }
    if let Some(culprit) = issue.culprit.as_deref().filter(|it| !it.is_empty()) {
        sheet.line(format!("   {}", shorten(culprit, 200)));
    }
    sheet.line(format!("   {link}"));
}

/// A moment as seen from now: minutes, hours, days, from 30 days on the date.
pub(crate) fn ago(moment: &str, now: SystemTime) -> String {
    let now = now.duration_since(UNIX_EPOCH).map_or(0, |it| it.as_secs());
    let Some(then) = epoch(moment) else { return shorten(moment, 40) };
    let minutes = (i64::try_from(now).unwrap_or(i64::MAX).saturating_sub(then) / 60).max(0);
    let some =
        |count: i64, unit: &str| format!("{count} {unit}{} ago", if count == 1 { "" } else { "s" });
    match minutes {
        0 => "just now".to_owned(),
        1..60 => some(minutes, "minute"),
        60..1_440 => some(minutes / 60, "hour"),
        1_440..43_200 => some(minutes / 1_440, "day"),
        _ => moment.split(['T', ' ']).next().unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    fn issue(value: Value) -> Issue {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_status_says_what_it_depends_on() {
        for (status, substatus, details, expected) in [
            ("resolved", json!(null), json!({"inNextRelease": true}), "resolvedInNextRelease"),
            ("resolved", json!(null), json!({}), "resolved"),
            (
                "ignored",
                json!("archived_until_escalating"),
                json!({}),
                "ignored, until it escalates",
            ),
            ("ignored", json!("archived_forever"), json!({}), "ignored, forever"),
            ("ignored", json!(null), json!([]), "ignored, forever"),
            (
                "ignored",
                json!("archived_until_condition_met"),
                json!({"ignoreCount": 10, "ignoreWindow": 60, "ignoreUntil": null}),
                "ignored, until 10 more events within 60 minutes",
            ),
            (
                "ignored",
                json!("archived_until_condition_met"),
                json!({"ignoreUserCount": 3, "ignoreUntil": "2026-05-05T00:00:00Z"}),
                "ignored, until 2026-05-05T00:00:00Z or until 3 more users",
            ),
        ] {
            let issue = issue(json!({
                "id": 1, "status": status, "substatus": substatus, "statusDetails": details
            }));
            assert_eq!(issue_status(&issue), expected);
        }
    }

    #[test]
    fn a_score_has_a_name() {
        for (score, expected) in [
            (json!(0.8), Some("super_high")),
            (json!(0.7), Some("high")),
            (json!(0.5), Some("medium")),
            (json!(0.3), Some("low")),
            (json!(0.1), Some("super_low")),
            (json!(null), None),
        ] {
            let issue = issue(json!({"id": 1, "seerFixabilityScore": score}));
            assert_eq!(actionability(&issue), expected);
        }
    }

    #[test]
    fn the_past_is_told_from_now() {
        let now = UNIX_EPOCH + Duration::from_secs(1_777_885_200);
        for (moment, expected) in [
            ("2026-05-04T09:00:00Z", "just now"),
            ("2026-05-04T09:10:00Z", "just now"),
            ("2026-05-04T08:59:00Z", "1 minute ago"),
            ("2026-05-04T06:30:00.5Z", "2 hours ago"),
            ("2026-05-01T09:00:00Z", "3 days ago"),
            ("2026-01-01T09:00:00Z", "2026-01-01"),
            ("a while back", "a while back"),
        ] {
            assert_eq!(ago(moment, now), expected, "{moment}");
        }
    }
}
