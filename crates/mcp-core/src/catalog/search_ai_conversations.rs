//! `search_ai_conversations`: what users and agents talked about, one conversation a row.

use api_client::sentry::{
    Client,
    ai_conversations::{AiConversation, AiConversationList},
    time::TimeRange,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::form_urlencoded;

use crate::{
    conversation::{self, UNTRUSTED},
    error::ToolError,
    event_search,
    params::{DateTime, Limit, OrganizationSlug, Period, ProjectSlugOrId, RegionUrl},
    render::{event::shorten, segment},
    skill::Skill,
    tool::{Call, CuratedTool, Spec, Structured},
};

const DEFAULT_PERIOD: &str = "30d";
/// Conversations of one answer: more do not fit.
const MOST_AT_ONCE: usize = 50;
/// Characters of what was said first and last, of one conversation and of all together.
const LONGEST_PREVIEW: usize = 240;
const PREVIEWS: usize = 8_000;
/// Names of agents and of tools, of one conversation and of all together; ids of traces of each.
const MOST_NAMES: usize = 10;
const NAMES: usize = 100;
const MOST_TRACES: usize = 3;

#[derive(Debug)]
pub(super) struct SearchAiConversations;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    organization_slug: OrganizationSlug,
    /// Sentry's search syntax over spans, as in `gen_ai.agent.name:planner`
    query: Option<String>,
    project: Option<Vec<ProjectSlugOrId>>,
    environment: Option<Vec<String>>,
    /// default 30d
    period: Option<Period>,
    start: Option<DateTime>,
    end: Option<DateTime>,
    /// `nextCursor` of the last answer
    cursor: Option<String>,
    /// 50 come at once
    #[serde(default)]
    limit: Limit<10, 100>,
    region_url: Option<RegionUrl>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Answer {
    organization_slug: String,
    search_url: String,
    /// The time that was searched.
    period: String,
    count: usize,
    /// Where the list goes on, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    #[serde(skip_serializing_if = "str::is_empty")]
    untrusted: &'static str,
    conversations: Vec<Conversation>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Conversation {
    conversation_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_timestamp: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_timestamp: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u64>,
    errors: u64,
    ai_call_count: u64,
    tool_call_count: u64,
    tool_error_count: u64,
    total_tokens: f64,
    total_cost: f64,
    trace_count: u64,
    /// At most three.
    sample_trace_ids: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_input_preview: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_output_preview: Option<String>,
    /// Agents, in order.
    flow: Vec<String>,
    tool_names: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<User>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct User {
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    username: Option<String>,
}

impl CuratedTool for SearchAiConversations {
    const SPEC: Spec = Spec {
        name: "search_ai_conversations",
        title: "Search AI conversations",
        description: "List conversations of users with AI agents that a project monitors, newest first: what was asked first and answered last, agents, tools, failures, tokens, cost. The whole transcript is in `get_ai_conversation_details`.",
        skills: &[Skill::Inspect, Skill::Triage, Skill::Seer],
        scopes: &["event:read", "project:read"],
        ..Spec::READ
    };
    type Params = Params;
    type Output = Structured<Answer>;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Self::Output, ToolError> {
        let sentry = cx.sentry_in(params.region_url.as_deref())?;
        let organization: &str = &params.organization_slug;
        let (period, start, end) =
            (params.period.as_deref(), params.start.as_deref(), params.end.as_deref());
        let time = TimeRange::of(period, start, end, DEFAULT_PERIOD)
            .map_err(|error| ToolError::user(error.to_string()))?;
        let projects = projects(cx, &sentry, organization, &params).await?;
        let environments = params.environment.clone().unwrap_or_default();
        let limit = params.limit.get().min(MOST_AT_ONCE);
        let list = AiConversationList {
            query: params.query.as_deref(),
            projects: &projects,
            environments: &environments,
            time: &time,
            cursor: params.cursor.as_deref(),
            per_page: limit as u32,
        };
        let found = sentry.search_ai_conversations(organization, &list).await?;
        let shown = found.items.len().min(limit);
        let room = Room {
            preview: (PREVIEWS / shown.max(1) / 2).min(LONGEST_PREVIEW),
            names: (NAMES / shown.max(1)).min(MOST_NAMES),
        };
        let conversations: Vec<Conversation> = found
            .items
            .into_iter()
            .take(shown)
            .map(|it| conversation(cx, organization, it, room))
            .collect();
        Ok(Structured(Answer {
            organization_slug: organization.to_owned(),
            search_url: search_url(cx, organization, &list),
            period: event_search::told(&time),
            count: conversations.len(),
            next_cursor: found.next_cursor,
            untrusted: if conversations.is_empty() { "" } else { UNTRUSTED },
            conversations,
        }))
    }
}

/// The numbers of the projects that were named, or of the one the session is pinned to.
async fn projects(
    cx: &Call<'_>,
    sentry: &Client,
    organization: &str,
    params: &Params,
) -> Result<Vec<String>, ToolError> {
    if let Some(pinned) = cx.constraints.project.as_deref() {
        return Ok(vec![event_search::project_number(sentry, organization, pinned).await?]);
    }
    let mut numbers = Vec::new();
    for project in params.project.iter().flatten() {
        numbers.push(event_search::project_number(sentry, organization, project).await?);
    }
    Ok(numbers)
}

fn search_url(cx: &Call<'_>, organization: &str, list: &AiConversationList<'_>) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    if let Some(text) = list.query {
        query.append_pair("query", text);
    }
    for project in list.projects {
        query.append_pair("project", project);
    }
    for environment in list.environments {
        query.append_pair("environment", environment);
    }
    event_search::append_time(&mut query, list.time);
    cx.web_url(organization, &format!("/explore/conversations/?{}", query.finish()))
}

/// What one conversation may take of the answer.
#[derive(Debug, Clone, Copy)]
struct Room {
    preview: usize,
    names: usize,
}

fn conversation(
    cx: &Call<'_>,
    organization: &str,
    found: AiConversation,
    room: Room,
) -> Conversation {
    let page = format!("/explore/conversations/{}/", segment(&found.conversation_id));
    let names = |names: &[String]| -> Vec<String> {
        names.iter().take(room.names).map(|it| shorten(it, 40)).collect()
    };
    let length = found.end_timestamp.zip(found.start_timestamp).map(|(end, start)| end - start);
    let user = found.user.map(|it| User {
        email: it.email.map(|it| shorten(&it, 120)),
        username: it.username.map(|it| shorten(&it, 120)),
    });
    Conversation {
        url: cx.web_url(organization, &page),
        conversation_id: shorten(&found.conversation_id, 200),
        title: found.title.map(|it| shorten(&it, 200)),
        start_timestamp: found.start_timestamp.and_then(|it| conversation::moment_of(it / 1_000.0)),
        end_timestamp: found.end_timestamp.and_then(|it| conversation::moment_of(it / 1_000.0)),
        duration_ms: length.filter(|it| *it >= 0.0).map(|it| it as u64),
        errors: found.errors.unwrap_or_default(),
        ai_call_count: found.llm_calls.unwrap_or_default(),
        tool_call_count: found.tool_calls.unwrap_or_default(),
        tool_error_count: found.tool_errors.unwrap_or_default(),
        total_tokens: found.total_tokens.unwrap_or_default(),
        total_cost: found.total_cost.unwrap_or_default(),
        trace_count: found.trace_count.unwrap_or_default(),
        sample_trace_ids: found
            .trace_ids
            .iter()
            .take(MOST_TRACES)
            .map(|it| shorten(it, 40))
            .collect(),
        first_input_preview: conversation::preview(&found.first_input, room.preview),
        last_output_preview: conversation::preview(&found.last_output, room.preview),
        flow: names(&found.flow),
        tool_names: names(&found.tool_names),
        user: user.filter(|it| it.email.is_some() || it.username.is_some()),
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::{Value, json};

    use crate::test_support::{Sentry, fault, rows};

    const LIST: &str = "/api/0/organizations/{o}/ai-conversations/";

    fn with(more: Value) -> Value {
        let mut arguments = json!({"organizationSlug": "harbor-lantern"});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    }

    #[tokio::test]
    async fn conversations_are_listed_with_what_was_said_first_and_last() {
        let arguments =
            with(json!({"project": "quay-api", "limit": 1, "environment": "production"}));
        assert_snapshot!(Sentry::new().call("search_ai_conversations", arguments).await);
    }

    #[tokio::test]
    async fn none_is_an_empty_list_with_the_time_that_was_searched() {
        let arguments = with(json!({"query": "nonsense"}));
        let answer = Sentry::new().call_structured("search_ai_conversations", arguments).await;
        assert_eq!((&answer["count"], &answer["period"]), (&json!(0), &json!("30d")));
        assert_eq!(answer.get("untrusted"), None);
    }

    #[tokio::test]
    async fn a_pinned_session_sees_its_project_alone() {
        let sentry = Sentry::new().pinned("harbor-lantern", Some("quay-web"));
        let answer =
            sentry.call_structured("search_ai_conversations", json!({"project": "quay-api"})).await;
        assert_eq!(answer["count"], 0);
        assert!(sentry.requests()[0].contains("/quay-web/"), "{:?}", sentry.requests());
    }

    #[tokio::test]
    async fn half_a_time_is_refused() {
        let arguments = with(json!({"start": "2026-07-01T10:00:00Z"}));
        let text = Sentry::new().call_failing("search_ai_conversations", arguments).await;
        assert!(text.contains("must be given together"), "{text}");
    }

    /// P39.
    #[tokio::test]
    async fn odd_conversations_are_rows_too_and_a_hundred_fit() {
        let long = "é".repeat(600);
        let many = rows(100, |n| {
            json!({"conversationId": n, "firstInput": [{"a": long}], "lastOutput": long,
                   "flow": vec![&long; 20], "startTimestamp": 1e300, "endTimestamp": "x", "user": []})
        });
        let sentry = Sentry::with_fault(fault("GET", LIST, 200, &many));
        let answer =
            sentry.call_structured("search_ai_conversations", with(json!({"limit": 100}))).await;
        assert_eq!(answer["count"], 50);
        let first = &answer["conversations"][0];
        assert_eq!((first.get("startTimestamp"), first.get("user")), (None, None));
    }
}
