//! `search_issues`: issues by Sentry's own search syntax.

use api_client::sentry::{
    issues::{Issue, IssueList},
    time::TimeRange,
};
use schemars::JsonSchema;
use serde::Deserialize;
use url::form_urlencoded;

use crate::{
    agents::Search,
    error::ToolError,
    event_search::{self, Asked, Asker, FAILED},
    params::{DateTime, Limit, OrganizationSlug, ProjectSlugOrId, RegionUrl},
    render::{Page, event::Sheet, inline, issue_row},
    skill::Skill,
    tool::{Call, CuratedTool, Markdown, Spec},
};

const DEFAULT_PERIOD: &str = "30d";
/// Bytes of the list.
const ROOM: usize = 60_000;

#[derive(Debug)]
pub(super) struct SearchIssues;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    organization_slug: OrganizationSlug,
    #[serde(default = "unresolved")]
    query: String,
    /// default date
    #[serde(default)]
    sort: Sort,
    project_slug_or_id: Option<ProjectSlugOrId>,
    region_url: Option<RegionUrl>,
    #[serde(default)]
    limit: Limit<10, 100>,
    /// default 30d
    period: Option<Within>,
    /// ISO 8601, with `end`, instead of `period`
    start: Option<DateTime>,
    end: Option<DateTime>,
    #[serde(default)]
    include_explanation: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Sort {
    #[default]
    Date,
    Freq,
    New,
    User,
    Recommended,
}

impl Sort {
    const ALL: [Self; 5] = [Self::Date, Self::Freq, Self::New, Self::User, Self::Recommended];

    fn of(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.id() == text.trim())
    }

    fn id(self) -> &'static str {
        match self {
            Self::Date => "date",
            Self::Freq => "freq",
            Self::New => "new",
            Self::User => "user",
            Self::Recommended => "recommended",
        }
    }
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
enum Within {
    #[serde(rename = "24h")]
    Day,
    #[serde(rename = "7d")]
    Week,
    #[serde(rename = "14d")]
    TwoWeeks,
    #[serde(rename = "30d")]
    Month,
    #[serde(rename = "90d")]
    Quarter,
}

impl Within {
    fn id(self) -> &'static str {
        match self {
            Self::Day => "24h",
            Self::Week => "7d",
            Self::TwoWeeks => "14d",
            Self::Month => "30d",
            Self::Quarter => "90d",
        }
    }
}

fn unresolved() -> String {
    "is:unresolved".to_owned()
}

impl CuratedTool for SearchIssues {
    const SPEC: Spec = Spec {
        name: "search_issues",
        title: "Search issues",
        description: "List issues (groups of events) by Sentry's search syntax: `is:unresolved`, `is:ignored`, `assigned:me`, `level:fatal`, `release:1.2`, `error.type:KeyError`, `issue.category:feedback`, `lastSeen:-24h`, `user.email:a@b.c`, `!browser:Firefox`, any tag as `key:value`, free text. Not for counts or single events.",
        skills: &[Skill::Inspect, Skill::Triage, Skill::Seer],
        scopes: &["event:read"],
        formerly: &["list_issues", "find_issues"],
        ..Spec::READ
    };
    type Params = Params;
    type Output = Markdown;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Markdown, ToolError> {
        let sentry = cx.sentry_in(params.region_url.as_deref())?;
        let (start, end) = (params.start.as_deref(), params.end.as_deref());
        let time = TimeRange::of(params.period.map(Within::id), start, end, DEFAULT_PERIOD)
            .map_err(|error| ToolError::user(error.to_string()))?;
        let organization: &str = &params.organization_slug;
        let project = match params.project_slug_or_id.as_deref() {
            Some(project) => {
                Some(event_search::project_number(&sentry, organization, project).await?)
            }
            None => None,
        };
        let project = project.as_deref();
        let asker = Asker { search: Search::Issues, organization, project, sentry: &sentry };
        let asked =
            asker.about_query(cx, &params.query, Some(params.sort.id()), Some(&time)).await?;
        let wanted = Wanted::of(&params, asked);
        let list = IssueList {
            query: &wanted.query,
            sort: Some(wanted.sort.id()),
            time: &time,
            project,
            limit: params.limit.get() as u32,
            cursor: None,
        };
        let found = sentry.list_issues(&params.organization_slug, &list).await?;
        let more = found.next_cursor.is_some() || found.items.len() > params.limit.get();
        let mut page = header(cx, &params, &wanted, &time, project);
        if found.items.is_empty() {
            page.paragraph("No issue matches. Widen the time, or drop a filter.")
                .next_steps([cx.hint("search_events", "search single events instead")]);
            return Ok(page.finish());
        }
        let mut sheet = Sheet::new(ROOM);
        for (index, issue) in found.items.iter().take(params.limit.get()).enumerate() {
            let path = format!("/issues/{}", crate::render::segment(&issue.id));
            let link = cx.web_url(&params.organization_slug, &path);
            issue_row(&mut sheet, index + 1, issue, &link, cx.clock.now());
        }
        page.untrusted(&sheet.finish());
        if more {
            page.paragraph("There are more: narrow the query, or raise `limit` up to 100.");
        }
        page.next_steps([
            cx.hint("get_sentry_resource", "look at one, by its link"),
            cx.hint("update_issue", "resolve, ignore or assign one"),
            cx.hint("search_events", "count events or look at single ones"),
            cx.hint("get_issue_user_reports", "read what users wrote of an error").filter(|_| {
                let is_feedback = |it: &Issue| it.issue_category.as_deref() == Some("feedback");
                found.items.iter().any(is_feedback)
            }),
        ]);
        Ok(page.finish())
    }
}

/// What is searched for, by the caller's words or an agent's.
struct Wanted {
    query: String,
    sort: Sort,
    explanation: Option<String>,
    failed: bool,
}

impl Wanted {
    fn of(params: &Params, asked: Asked) -> Self {
        let own = |failed| Self {
            query: params.query.clone(),
            sort: params.sort,
            explanation: None,
            failed,
        };
        let agent = match asked {
            Asked::Nobody => return own(false),
            Asked::Failed => return own(true),
            Asked::Answered(agent) => agent,
        };
        // Another order than the usual one was asked for.
        let sort = agent.sort.as_deref().and_then(Sort::of).filter(|_| params.sort == Sort::Date);
        Self {
            query: event_search::rewritten(&params.query, &agent.query),
            sort: sort.unwrap_or(params.sort),
            explanation: agent.explanation,
            failed: false,
        }
    }
}

/// What was searched, defaults included, and the same search in Sentry.
fn header(
    cx: &Call<'_>,
    params: &Params,
    wanted: &Wanted,
    time: &TimeRange,
    project: Option<&str>,
) -> Page {
    let organization = &params.organization_slug;
    let mut page = Page::new(format!("Issues in {organization}"));
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("query", &wanted.query).append_pair("sort", wanted.sort.id());
    if let Some(project) = project {
        query.append_pair("project", project);
    }
    event_search::append_time(&mut query, time);
    if wanted.query != params.query {
        page.code_fact("Asked for", [params.query.as_str()]);
    }
    if wanted.query.is_empty() {
        page.fact("Query", "(everything)");
    } else {
        page.code_fact("Query", [wanted.query.as_str()]);
    }
    page.maybe("Project", params.project_slug_or_id.as_deref().map(inline))
        .fact("Period", event_search::told(time))
        .fact("Sort", wanted.sort.id())
        .maybe("Explanation", wanted.explanation.as_ref().filter(|_| params.include_explanation))
        .link("In Sentry", &cx.web_url(organization, &format!("/issues/?{}", query.finish())));
    if wanted.failed {
        page.paragraph(FAILED);
    }
    page
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::{Value, json};

    use crate::{
        agents::{AgentFailure, Translated},
        test_support::{Sentry, fault, rows},
    };

    const LIST: &str = "/api/0/organizations/{o}/issues/";

    fn with(more: Value) -> Value {
        let mut arguments = json!({"organizationSlug": "harbor-lantern"});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    }

    #[tokio::test]
    async fn issues_are_listed_with_what_triage_needs() {
        let arguments = with(json!({"projectSlugOrId": "quay-api", "limit": 3}));
        assert_snapshot!(Sentry::new().call("search_issues", arguments).await);
    }

    #[tokio::test]
    async fn nothing_found_says_what_was_searched() {
        let arguments = with(json!({"query": "is:unresolved zzz"}));
        assert_snapshot!(Sentry::new().call("search_issues", arguments).await);
    }

    /// P30.
    #[tokio::test]
    async fn never_more_than_asked_for_whatever_comes_back() {
        let many = rows(100, |n| json!({"id": n, "title": format!("Error {n}")}));
        let sentry = Sentry::with_fault(fault("GET", LIST, 200, &many));
        let text = sentry.call("search_issues", with(json!({"limit": 3}))).await;
        assert_eq!(text.matches(": Error ").count(), 3, "{text}");
        assert!(text.contains("limit=3") && text.contains("There are more"), "{text}");
    }

    /// P31.
    #[tokio::test]
    async fn the_defaults_in_force_are_told() {
        let text = Sentry::new().call("search_issues", with(json!({}))).await;
        for words in
            ["**Period**: 30d", "**Sort**: date", "**Query**: `is:unresolved`", "statsPeriod=30d"]
        {
            assert!(text.contains(words), "{words}: {text}");
        }
        let text = Sentry::new().call("search_issues", with(json!({"period": "7d"}))).await;
        assert!(text.contains("statsPeriod=7d"), "{text}");
    }

    /// P32 and P33.
    #[tokio::test]
    async fn a_query_and_an_absolute_time_are_sent_as_they_are() {
        let sentry = Sentry::new();
        let arguments = with(json!({
            "query": "level:fatal lastSeen:-3d",
            "start": "2026-07-01T10:00:00Z",
            "end": "2026-07-01T11:00:00Z",
        }));
        sentry.call("search_issues", arguments).await;
        let requests = sentry.requests();
        for sent in [
            "query=level%3Afatal%20lastSeen%3A-3d",
            "start=2026-07-01T10%3A00%3A00Z",
            "end=2026-07-01T11%3A00%3A00Z",
        ] {
            let plus = sent.replace("%20", "+");
            assert!(requests[0].contains(sent) || requests[0].contains(&plus), "{requests:?}");
        }
        assert!(!requests[0].contains("statsPeriod"), "{requests:?}");
    }

    #[tokio::test]
    async fn half_a_time_is_refused() {
        let arguments = with(json!({"start": "2026-07-01T10:00:00Z"}));
        assert_snapshot!(Sentry::new().call("search_issues", arguments).await);
    }

    /// P43.
    #[tokio::test]
    async fn an_unknown_project_is_named_with_the_tool_that_lists_them() {
        let text = Sentry::new()
            .call_failing("search_issues", with(json!({"projectSlugOrId": "nope"})))
            .await;
        assert!(text.contains("`nope`") && text.contains("find_projects"), "{text}");
    }

    #[tokio::test]
    async fn a_query_sentry_cannot_read_is_told_in_its_words() {
        let text = Sentry::new()
            .call_failing("search_issues", with(json!({"query": "message:\"half"})))
            .await;
        assert!(text.contains("unbalanced quotation marks"), "{text}");
    }

    /// P39.
    #[tokio::test]
    async fn bare_issues_are_rows_too() {
        let sentry =
            Sentry::with_fault(fault("GET", LIST, 200, r#"[{"id":"7"},{"id":8,"count":null}]"#));
        let text = sentry.call("search_issues", with(json!({}))).await;
        assert!(text.contains("1. 7: (no title)") && text.contains("2. 8: (no title)"), "{text}");
    }

    #[tokio::test]
    async fn words_are_an_agents_to_put_into_syntax() {
        let agent = Translated {
            query: "is:unresolved level:fatal".to_owned(),
            sort: Some("freq".to_owned()),
            explanation: Some("worst means fatal".to_owned()),
            ..Translated::default()
        };
        let sentry = Sentry::new().agent(Ok(agent));
        let arguments = with(json!({"query": "the worst crashes", "includeExplanation": true}));
        assert_snapshot!(sentry.call("search_issues", arguments).await);
    }

    #[tokio::test]
    async fn a_query_in_syntax_needs_no_agent_and_no_agent_drops_a_filter() {
        let agent = Translated { query: "is:resolved".to_owned(), ..Translated::default() };
        for (query, sent) in
            [("is:unresolved", "is%3Aunresolved"), ("is:ignored boats", "is%3Aignored")]
        {
            let sentry = Sentry::new().agent(Ok(agent.clone()));
            sentry.call("search_issues", with(json!({"query": query}))).await;
            let requests = sentry.requests();
            assert!(requests[0].contains(sent), "{requests:?}");
        }
    }

    #[tokio::test]
    async fn an_agent_that_cannot_be_had_is_told_and_does_without() {
        let sentry = Sentry::new().agent(Err(AgentFailure::Provider("quota".to_owned())));
        let text = sentry.call("search_issues", with(json!({"query": "payment"}))).await;
        assert!(text.contains("could not be reached") && text.contains("query=payment"), "{text}");
        assert!(!text.contains("quota"), "{text}");
        let sentry =
            Sentry::new().agent(Err(AgentFailure::Request("that is no search".to_owned())));
        let text = sentry.call_failing("search_issues", with(json!({"query": "payment"}))).await;
        assert!(text.contains("That is no search"), "{text}");
    }
}
