//! `search_issue_events`: single events of one issue, with filters.

use api_client::sentry::{events::IssueEventList, time::TimeRange};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    error::ToolError,
    issue::IssueRef,
    params::{DateTime, Limit, Period, ProjectSlug},
    render::{
        Page,
        event::{Sheet, short, shorten},
    },
    skill::Skill,
    tool::{Call, CuratedTool, Markdown, Spec},
};

const DEFAULT_PERIOD: &str = "14d";
const DEFAULT_SORT: &str = "-timestamp";
/// Bytes of the list, and tags of an event.
const ROOM: usize = 60_000;
const MOST_TAGS: usize = 8;

#[derive(Debug)]
pub(super) struct SearchIssueEvents;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    #[serde(flatten)]
    issue: IssueRef,
    /// Sentry's search syntax over events, as in `environment:production user.email:a@b.c`
    query: Option<String>,
    /// default `-timestamp`, the newest first
    sort: Option<String>,
    /// how far back; default 14d
    period: Option<Period>,
    start: Option<DateTime>,
    end: Option<DateTime>,
    /// the project the issue must belong to
    project_slug: Option<ProjectSlug>,
    #[serde(default)]
    limit: Limit<50, 100>,
}

impl CuratedTool for SearchIssueEvents {
    const SPEC: Spec = Spec {
        name: "search_issue_events",
        title: "Search issue events",
        description: "List single events of one issue, filtered by tags, environment, release, user or text: when, to whom, in which release it happened. Look at one by its id with `get_issue_details`.",
        skills: &[Skill::Inspect, Skill::Triage],
        scopes: &["event:read"],
        ..Spec::READ
    };
    type Params = Params;
    type Output = Markdown;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Markdown, ToolError> {
        let target = params.issue.resolve(cx)?;
        let (start, end) = (params.start.as_deref(), params.end.as_deref());
        let time = TimeRange::of(params.period.as_deref(), start, end, DEFAULT_PERIOD)
            .map_err(|error| ToolError::user(error.to_string()))?;
        target.check_project(cx).await?;
        if let Some(project) =
            params.project_slug.as_deref().filter(|_| cx.constraints.project.is_none())
        {
            belongs_to(&target.fetch(cx).await?, project)?;
        }
        let sort = params.sort.as_deref().unwrap_or(DEFAULT_SORT);
        let list = IssueEventList {
            query: params.query.as_deref(),
            sort: Some(sort),
            time: &time,
            per_page: params.limit.get() as u32,
        };
        let found = target.sentry.issue_events(&target.organization, &target.issue, &list).await?;
        let mut page = Page::new(format!("Events of {} in {}", target.issue, target.organization));
        page.fact("Query", params.query.as_deref().unwrap_or("(all events)"))
            .fact("Period", told(&time))
            .fact("Sort", sort);
        if found.items.is_empty() {
            page.paragraph("No event matches. Widen the time, or drop a filter.");
            return Ok(page.finish());
        }
        let mut sheet = Sheet::new(ROOM);
        for event in found.items.iter().take(params.limit.get()) {
            row(&mut sheet, event);
        }
        page.untrusted(&sheet.finish());
        if found.next_cursor.is_some() || found.items.len() > params.limit.get() {
            page.paragraph(
                "There are more: narrow the query or the time, or raise `limit` up to 100.",
            );
        }
        page.next_steps([
            cx.hint("get_issue_details", "look at one event, by its id as `eventId`"),
            cx.hint("get_issue_tag_values", "count the events by the values of a tag"),
        ]);
        Ok(page.finish())
    }
}

fn belongs_to(issue: &api_client::sentry::issues::Issue, project: &str) -> Result<(), ToolError> {
    let own = issue.project.as_ref().map(|it| it.slug.as_str());
    match own {
        Some(own) if own != project => {
            let message = format!("the issue belongs to the project `{own}`, not to `{project}`");
            Err(ToolError::user(message).hint("leave `projectSlug` out"))
        }
        Some(_) | None => Ok(()),
    }
}

fn told(time: &TimeRange) -> String {
    match time {
        TimeRange::Last(period) => period.clone(),
        TimeRange::Between { start, end } => format!("{start} to {end}"),
    }
}

/// An event in a few lines.
fn row(sheet: &mut Sheet, event: &Map<String, Value>) {
    let said = |key: &str| {
        let value = event.get(key).filter(|it| it.as_str().is_some_and(|it| !it.trim().is_empty()));
        value.map(|it| short(it, 200))
    };
    let id = said("eventID").or_else(|| said("id")).unwrap_or_else(|| "unknown".to_owned());
    let date = said("dateCreated").unwrap_or_else(|| "-".to_owned());
    let title = said("title").or_else(|| said("message")).unwrap_or_default();
    sheet.line(format!("{date} {title}"));
    sheet.line(format!("  event {id}"));
    let user = event.get("user").and_then(|user| {
        let names = ["email", "username", "name", "id", "ip_address"].into_iter();
        let known = names.filter_map(|key| user.get(key).filter(|it| !it.is_null()));
        known.map(|it| short(it, 100)).find(|it| !it.is_empty())
    });
    if let Some(user) = user {
        sheet.line(format!("  user {user}"));
    }
    let tags = event.get("tags").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let tags: Vec<String> = tags
        .iter()
        .filter_map(|tag| {
            let (key, value) = (tag.get("key")?.as_str()?, tag.get("value")?.as_str()?);
            Some(format!("{}:{}", shorten(key, 40), shorten(value, 60)))
        })
        .take(MOST_TAGS)
        .collect();
    if !tags.is_empty() {
        sheet.line(format!("  {}", tags.join(" ")));
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::{Value, json};

    use crate::test_support::{Sentry, fault, rows};

    const EVENTS: &str = "/api/0/organizations/{o}/issues/{i}/events/";

    fn with(issue: &str, more: Value) -> Value {
        let mut arguments = json!({"organizationSlug": "harbor-lantern", "issueId": issue});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    }

    /// P34.
    #[tokio::test]
    async fn events_of_an_issue_are_listed_with_filters() {
        let arguments = with("QUAY-API-2", json!({"query": "environment:production"}));
        assert_snapshot!(Sentry::new().call("search_issue_events", arguments).await);
    }

    #[tokio::test]
    async fn no_event_says_what_was_searched() {
        let arguments = with("QUAY-API-2", json!({"query": "environment:moon", "period": "24h"}));
        assert_snapshot!(Sentry::new().call("search_issue_events", arguments).await);
    }

    #[tokio::test]
    async fn never_more_than_asked_for_whatever_comes_back() {
        let many =
            rows(100, |n| json!({"id": n.to_string(), "title": "Error", "user": [], "tags": "x"}));
        let sentry = Sentry::with_fault(fault("GET", EVENTS, 200, &many));
        let text =
            sentry.call("search_issue_events", with("QUAY-API-2", json!({"limit": 4}))).await;
        assert_eq!(text.matches("  event ").count(), 4, "{text}");
        assert!(text.contains("per_page=4") && text.contains("There are more"), "{text}");
    }

    #[tokio::test]
    async fn an_unknown_issue_is_named() {
        assert_snapshot!(
            Sentry::new().call("search_issue_events", with("NOPE-1", json!({}))).await
        );
    }

    #[tokio::test]
    async fn an_issue_of_another_project_is_told() {
        let arguments = with("QUAY-API-2", json!({"projectSlug": "quay-web"}));
        let text = Sentry::new().call_failing("search_issue_events", arguments).await;
        assert!(text.contains("belongs to the project `quay-api`"), "{text}");
    }

    #[tokio::test]
    async fn a_period_and_a_start_are_one_too_many() {
        let arguments = with(
            "QUAY-API-2",
            json!({"period": "24h", "start": "2026-05-01T00:00:00Z", "end": "2026-05-02T00:00:00Z"}),
        );
        assert_snapshot!(Sentry::new().call("search_issue_events", arguments).await);
    }
}
