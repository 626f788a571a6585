//! `get_ai_conversation_details`: what was said in one conversation, and which tools were called.

use std::{collections::BTreeSet, ops::Add};

use api_client::sentry::{Completeness, time::TimeRange};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    conversation::{Cut, Entry, EntryKind, Span, SpanSummary, UNTRUSTED, fit, timeline},
    error::ToolError,
    event_search,
    params::{DateTime, OrganizationSlug, ProjectSlugOrId, RegionUrl},
    render::{event::shorten, segment},
    skill::Skill,
    tool::{Call, CuratedTool, Spec, Structured},
};

/// Sentry keeps no more of conversations.
const PERIOD: &str = "30d";
const EVERY_PROJECT: &str = "-1";
/// Ids of traces and names of projects that are listed.
const MOST_NAMES: usize = 50;

#[derive(Debug)]
pub(super) struct GetAiConversationDetails;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    organization_slug: OrganizationSlug,
    /// as in `search_ai_conversations` or the conversation's address
    #[schemars(length(min = 1, max = 200))]
    conversation_id: String,
    project: Option<ProjectSlugOrId>,
    /// ISO 8601, with `end`; default the last 30 days
    start: Option<DateTime>,
    end: Option<DateTime>,
    region_url: Option<RegionUrl>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Answer {
    conversation_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    organization_slug: String,
    url: String,
    lookup_window: Window,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_timestamp: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_timestamp: Option<String>,
    trace_ids: Vec<String>,
    projects: Vec<String>,
    span_count: usize,
    ai_call_count: usize,
    message_count: usize,
    tool_call_count: usize,
    total_tokens: f64,
    /// What is not told, if anything.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<String>,
    #[serde(skip_serializing_if = "str::is_empty")]
    untrusted: &'static str,
    timeline: Vec<Entry>,
    span_summaries: Vec<SpanSummary>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Window {
    #[serde(skip_serializing_if = "Option::is_none")]
    stats_period: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<String>,
}

impl CuratedTool for GetAiConversationDetails {
    const SPEC: Spec = Spec {
        name: "get_ai_conversation_details",
        title: "Get AI conversation details",
        description: "Read one conversation of a user with an AI agent as a timeline of messages and calls of tools, with its spans: models, tokens, prompts, arguments. Long texts are cut and named in `truncatedFields`.",
        skills: &[Skill::Inspect, Skill::Triage, Skill::Seer],
        scopes: &["event:read", "project:read"],
        ..Spec::READ
    };
    type Params = Params;
    type Output = Structured<Answer>;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Self::Output, ToolError> {
        let sentry = cx.sentry_in(params.region_url.as_deref())?;
        let organization: &str = &params.organization_slug;
        let (start, end) = (params.start.as_deref(), params.end.as_deref());
        let time = TimeRange::of(None, start, end, PERIOD)
            .map_err(|error| ToolError::user(error.to_string()))?;
        let pinned = match cx.constraints.project.as_deref() {
            Some(project) => {
                Some(event_search::project_number(&sentry, organization, project).await?)
            }
            None => None,
        };
        let project = pinned.as_deref().or(params.project.as_deref()).unwrap_or(EVERY_PROJECT);
        let id = params.conversation_id.as_str();
        let (found, completeness) =
            sentry.ai_conversation_spans(organization, id, project, &time).await?;
        let spans: Vec<Span<'_>> = found.iter().map(Span).collect();
        let url = cx.web_url(organization, &format!("/explore/conversations/{}/", segment(id)));
        let room = cx.limits.result - cx.limits.result / 10;
        Ok(Structured(fit(room, |cut| {
            answer(&spans, cut, completeness, &params, url.clone(), window(&time))
        })))
    }
}

fn window(time: &TimeRange) -> Window {
    match time {
        TimeRange::Last(period) => {
            Window { stats_period: Some(period.clone()), start: None, end: None }
        }
        TimeRange::Between { start, end } => {
            Window { stats_period: None, start: Some(start.clone()), end: Some(end.clone()) }
        }
    }
}

fn answer(
    spans: &[Span<'_>],
    cut: Cut,
    completeness: Completeness,
    params: &Params,
    url: String,
    lookup_window: Window,
) -> Answer {
    let mut timeline = timeline(spans, cut);
    let messages = timeline.iter().filter(|it| it.kind == EntryKind::Message).count();
    let calls = || spans.iter().filter(|it| it.is_ai_call());
    let mut left_out = Vec::new();
    if completeness == Completeness::Cut {
        left_out.push(format!("spans after the first {}: narrow `start` and `end`", spans.len()));
    }
    let mut note = |what: &str, count: usize| {
        if count > cut.items {
            left_out
                .push(format!("{} of {count} {what}: narrow `start` and `end`", count - cut.items));
        }
    };
    note("entries of the timeline", timeline.len());
    note("spans", spans.len());
    timeline.truncate(cut.items);
    Answer {
        conversation_id: params.conversation_id.clone(),
        title: spans.iter().find_map(|it| it.short("gen_ai.conversation.title")),
        organization_slug: params.organization_slug.to_string(),
        url,
        lookup_window,
        start_timestamp: spans.iter().filter_map(Span::began).min(),
        end_timestamp: spans.iter().filter_map(Span::ended).max(),
        trace_ids: different(spans.iter().map(Span::trace)),
        projects: different(spans.iter().filter_map(|it| it.short("project"))),
        span_count: spans.len(),
        ai_call_count: calls().count(),
        message_count: messages,
        tool_call_count: spans.iter().filter(|it| it.is_tool_call()).count(),
        total_tokens: calls()
            .filter_map(|it| it.number("gen_ai.usage.total_tokens"))
            .fold(0.0, Add::add),
        left_out,
        untrusted: if spans.is_empty() { "" } else { UNTRUSTED },
        timeline,
        span_summaries: spans.iter().take(cut.items).map(|it| it.summary(cut)).collect(),
    }
}

/// Each name once, without empty ones.
fn different(names: impl Iterator<Item = String>) -> Vec<String> {
    let names: BTreeSet<String> = names.filter(|it| !it.is_empty()).collect();
    names.into_iter().take(MOST_NAMES).map(|it| shorten(&it, 100)).collect()
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use proptest::{
        collection::vec,
        prelude::{Just, ProptestConfig, Strategy, any, prop_oneof, proptest},
        sample::select,
    };
    use serde_json::{Map, Value, json};

    use super::*;
    use crate::test_support::{Sentry, fault, rows};

    const SPANS: &str = "/api/0/organizations/{o}/ai-conversations/{c}/";

    fn with(conversation: &str, more: Value) -> Value {
        let mut arguments =
            json!({"organizationSlug": "harbor-lantern", "conversationId": conversation});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    }

    #[tokio::test]
    async fn a_conversation_reads_as_it_went() {
        let arguments = with("conv-berth-17", json!({}));
        assert_snapshot!(Sentry::new().call("get_ai_conversation_details", arguments).await);
    }

    #[tokio::test]
    async fn an_unknown_conversation_is_empty() {
        let arguments = with(
            "nobody",
            json!({"project": "quay-api", "start": "2026-05-01T00:00:00Z", "end": "2026-05-02T00:00:00Z"}),
        );
        assert_snapshot!(Sentry::new().call("get_ai_conversation_details", arguments).await);
    }

    #[tokio::test]
    async fn a_pinned_session_looks_into_its_project_alone() {
        let sentry = Sentry::new().pinned("harbor-lantern", Some("quay-web"));
        let arguments = json!({"conversationId": "conv-berth-17", "project": "quay-api"});
        sentry.call_structured("get_ai_conversation_details", arguments).await;
        let requests = sentry.requests();
        assert!(requests[0].contains("/quay-web/"), "{requests:?}");
        assert!(
            !requests[1].contains("quay-api") && !requests[1].contains("project=-1"),
            "{requests:?}"
        );
    }

    #[tokio::test]
    async fn half_a_time_is_refused() {
        let arguments = with("c", json!({"end": "2026-05-02T00:00:00Z"}));
        let text = Sentry::new().call_failing("get_ai_conversation_details", arguments).await;
        assert!(text.contains("must be given together"), "{text}");
    }

    #[tokio::test]
    async fn a_long_conversation_is_cut_to_fit_and_says_what_is_missing() {
        let words = "é".repeat(4_500);
        let many = rows(300, |n| {
            json!({
                "span_id": format!("{n:016x}"), "trace": "t", "gen_ai.operation.type": "ai_client",
                "gen_ai.input.messages": format!("question {n} {words}"),
                "gen_ai.output.messages": words,
            })
        });
        let sentry = Sentry::with_fault(fault("GET", SPANS, 200, &many));
        let content = sentry.content("get_ai_conversation_details", with("c", json!({}))).await;
        assert!(!content.is_error && content.text.len() < 80_000, "{}", content.text.len());
        let answer = content.structured.unwrap();
        assert_eq!((&answer["spanCount"], &answer["messageCount"]), (&json!(300), &json!(600)));
        assert_eq!(answer["leftOut"].as_array().unwrap().len(), 2, "{}", answer["leftOut"]);
    }

    #[test]
    fn texts_that_were_cut_are_named() {
        let span = json!({"span_id": "s", "gen_ai.input.messages": "x".repeat(5_000), "gen_ai.response.text": "short"});
        let span = span.as_object().unwrap();
        let cut = Cut { text: 4_000, items: usize::MAX };
        let summary = serde_json::to_value(Span(span).summary(cut)).unwrap();
        assert_eq!(summary["genAi"]["truncatedFields"], json!(["inputMessages"]));
        assert_eq!(summary["genAi"]["inputMessages"].as_str().unwrap().chars().count(), 4_001);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
            select(vec![
                "ai_client",
                "tool",
                "user",
                "assistant",
                "[",
                "{}",
                r#"["a"]"#,
                r#"[{"role":"user"}]"#
            ])
            .prop_map(Value::from),
            (1_usize..20_000).prop_map(|length| Value::from("é`\n".repeat(length))),
        ];
        leaf.prop_recursive(5, 32, 5, |inner| {
            let names = select(vec!["role", "content", "parts", "text", "type"]);
            prop_oneof![
                vec(inner.clone(), 0..5).prop_map(Value::from),
                vec((names, inner), 0..5).prop_map(|fields| {
                    let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value));
                    Value::Object(fields.collect())
                }),
            ]
        })
    }

    fn any_span() -> impl Strategy<Value = Map<String, Value>> {
        let names = select(vec![
            "span_id",
            "trace",
            "parent_span",
            "precise.start_ts",
            "precise.finish_ts",
            "project",
            "span.duration",
            "span.name",
            "is_transaction",
            "gen_ai.operation.type",
            "user.email",
            "gen_ai.input.messages",
            "gen_ai.output.messages",
            "gen_ai.request.messages",
            "gen_ai.response.text",
            "gen_ai.response.object",
            "gen_ai.tool.name",
            "gen_ai.tool.call.arguments",
            "gen_ai.usage.total_tokens",
        ]);
        vec((names, any_json()), 0..12).prop_map(|fields| {
            fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_spans_are_a_conversation_of_bounded_size(found in vec(any_span(), 0..30)) {
            let params: Params =
                serde_json::from_value(json!({"organizationSlug": "acme", "conversationId": "c"})).unwrap();
            let spans: Vec<Span<'_>> = found.iter().map(Span).collect();
            let time = TimeRange::Last("30d".to_owned());
            let answer = fit(72_000, |cut| {
                answer(&spans, cut, Completeness::Whole, &params, String::new(), window(&time))
            });
            assert_eq!(answer.span_count, found.len());
            assert!(serde_json::to_string_pretty(&answer).unwrap().len() <= 72_000);
        }
    }
}
