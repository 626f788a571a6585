//! `search_issue_events`: single events of one issue, with filters.

use api_client::sentry::{events::IssueEventList, issues::Issue, time::TimeRange};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    agents::Search,
    error::ToolError,
    event_search::{self, Asked, Asker, Dataset, FAILED, Plan, Wish},
    issue::{IssueRef, IssueTarget},
    params::{DateTime, Limit, Period, ProjectSlug},
    render::{Page, event::Sheet, rows},
    skill::Skill,
    tool::{Call, CuratedTool, Markdown, Spec},
};

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
    #[serde(default)]
    include_explanation: bool,
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
        let wish = wish(&params)?;
        target.check_project(cx).await?;
        if let Some(project) =
            params.project_slug.as_deref().filter(|_| cx.constraints.project.is_none())
        {
            belongs_to(&target.fetch(cx).await?, project)?;
        }
        let asked_for = wish.query.clone();
        let (plan, failed) = plan(cx, &target, &params, wish).await?;
        let list = IssueEventList {
            query: Some(plan.query.as_str()).filter(|it| !it.is_empty()),
            sort: Some(&plan.sort),
            time: &plan.time,
            per_page: params.limit.get() as u32,
        };
        let found = target.sentry.issue_events(&target.organization, &target.issue, &list).await?;
        let mut page = header(cx, &target, &plan);
        if plan.query != asked_for {
            page.code_fact("Asked for", [asked_for.as_str()]);
        }
        if params.include_explanation {
            page.maybe("Explanation", plan.explanation.as_ref());
        }
        if failed {
            page.paragraph(FAILED);
        }
        if found.items.is_empty() {
            page.paragraph("No event matches. Widen the time, or drop a filter.");
            return Ok(page.finish());
        }
        let mut sheet = Sheet::new(rows::ROOM);
        for (number, event) in (1..).zip(found.items.iter().take(params.limit.get())) {
            rows::issue_event(&mut sheet, number, event);
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

fn wish(params: &Params) -> Result<Wish, ToolError> {
    let (period, start, end) =
        (params.period.as_deref(), params.start.as_deref(), params.end.as_deref());
    let time = TimeRange::of(period, start, end, event_search::DEFAULT_PERIOD)
        .map_err(|error| ToolError::user(error.to_string()))?;
    let is_named = period.or(start).is_some();
    let sort = params.sort.as_deref().map(event_search::normal_sort);
    Ok(Wish {
        dataset: Some(Dataset::Errors),
        query: params.query.clone().unwrap_or_default(),
        sort: sort.filter(|it| !it.is_empty()),
        time: is_named.then_some(time),
        ..Wish::default()
    })
}

/// The search, and whether an agent that should have written it could not be had.
async fn plan(
    cx: &Call<'_>,
    target: &IssueTarget,
    params: &Params,
    wish: Wish,
) -> Result<(Plan, bool), ToolError> {
    let organization = target.organization.as_str();
    let sentry = &target.sentry;
    // It only helps the agent to find fields: the issue says which project it is.
    let project = match params.project_slug.as_deref().filter(|_| cx.agent.is_some()) {
        Some(project) => event_search::project_number(sentry, organization, project).await.ok(),
        None => None,
    };
    let project = project.as_deref();
    let asker = Asker { search: Search::IssueEvents, organization, project, sentry };
    let (query, sort, time) = (wish.query.as_str(), wish.sort.as_deref(), wish.time.as_ref());
    Ok(match asker.about_query(cx, query, sort, time).await? {
        Asked::Nobody => (wish.alone()?, false),
        Asked::Failed => (wish.alone()?, true),
        Asked::Answered(mut agent) => {
            agent.dataset = Some(Dataset::Errors);
            agent.query = event_search::rewritten(&wish.query, &agent.query);
            agent.sort = wish.sort.clone().or(agent.sort);
            (wish.with(agent)?, false)
        }
    })
}

/// What was searched, defaults included, and the same search in Sentry.
fn header(cx: &Call<'_>, target: &IssueTarget, plan: &Plan) -> Page {
    let IssueTarget { organization, issue, .. } = target;
    let mut page = Page::new(format!("Events of {issue} in {organization}"));
    if plan.query.is_empty() {
        page.fact("Query", "(all events)");
    } else {
        page.code_fact("Query", [plan.query.as_str()]);
    }
    let within = format!("issue:{issue} {}", plan.query);
    let within = Plan { query: within.trim().to_owned(), ..plan.clone() };
    let link = cx.web_url(organization, &event_search::page(&within, None));
    page.fact("Period", event_search::told(&plan.time))
        .code_fact("Sort", [plan.sort.as_str()])
        .link("In Sentry", &link);
    page
}

fn belongs_to(issue: &Issue, project: &str) -> Result<(), ToolError> {
    let own = issue.project.as_ref().map(|it| it.slug.as_str());
    match own {
        Some(own) if own != project => {
            let message = format!("the issue belongs to the project `{own}`, not to `{project}`");
            Err(ToolError::user(message).hint("leave `projectSlug` out"))
        }
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::{Value, json};

    use crate::{
        agents::{AgentFailure, Translated},
        test_support::{Sentry, fault, rows},
    };

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
        assert_eq!(text.matches("   id: ").count(), 4, "{text}");
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

    #[tokio::test]
    async fn an_agent_adds_filters_and_keeps_those_that_are_there() {
        let agent = Translated {
            query: "environment:production browser:Firefox".to_owned(),
            sort: Some("timestamp".to_owned()),
            ..Translated::default()
        };
        let sentry = Sentry::new().agent(Ok(agent.clone()));
        let arguments = with(
            "QUAY-API-2",
            json!({"query": "environment:production in Firefox", "period": "7d"}),
        );
        let text = sentry.call("search_issue_events", arguments).await;
        for words in ["browser%3AFirefox", "sort=timestamp", "statsPeriod=7d", "**Asked for**"] {
            assert!(text.contains(words), "{words}: {text}");
        }
        let sentry = Sentry::new().agent(Ok(Translated { sort: None, ..agent }));
        let arguments = with("QUAY-API-2", json!({"query": "in Firefox"}));
        let text = sentry.call_failing("search_issue_events", arguments).await;
        assert!(text.contains("named no order"), "{text}");
    }

    /// P33.
    #[tokio::test]
    async fn without_an_agent_the_callers_words_are_used() {
        let sentry = Sentry::new().agent(Err(AgentFailure::Provider("down".to_owned())));
        let arguments = with("QUAY-API-2", json!({"query": "berth please"}));
        let text = sentry.call("search_issue_events", arguments).await;
        assert!(text.contains("berth+please") || text.contains("berth%20please"), "{text}");
        assert!(text.contains("could not be reached"), "{text}");
    }

    /// P32.
    #[tokio::test]
    async fn an_hour_of_an_incident_can_be_looked_at() {
        let sentry = Sentry::new();
        let arguments = with(
            "QUAY-API-2",
            json!({"start": "2026-05-03T20:30:00Z", "end": "2026-05-03T21:30:00Z"}),
        );
        let text = sentry.call("search_issue_events", arguments).await;
        assert!(
            text.contains("**Period**: 2026-05-03T20:30:00Z to 2026-05-03T21:30:00Z"),
            "{text}"
        );
        assert!(sentry.requests()[0].contains("start=2026-05-03T20%3A30%3A00Z"), "{text}");
    }
}
