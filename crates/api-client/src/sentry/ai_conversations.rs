//! AI conversations: what agents and their users said to each other, put together from spans.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::call::all_pages_of;
use super::error::Error;
use super::lenient::{field, id, ids, list};
use super::time::TimeRange;
use super::{Client, Completeness, Page};

/// Spans of a conversation on one page, and how many pages are read.
const SPANS_PER_PAGE: u32 = 1_000;
const MAX_PAGES: usize = 10;

/// A conversation, in short.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AiConversation {
    /// The id, as the SDK gave it.
    #[serde(deserialize_with = "id")]
    pub conversation_id: String,
    /// The title, where Sentry has one.
    #[serde(default, deserialize_with = "field")]
    pub title: Option<String>,
    /// When it began, in milliseconds since 1970.
    #[serde(default, deserialize_with = "field")]
    pub start_timestamp: Option<f64>,
    /// When it ended, in milliseconds since 1970.
    #[serde(default, deserialize_with = "field")]
    pub end_timestamp: Option<f64>,
    /// How many spans failed.
    #[serde(default, deserialize_with = "field")]
    pub errors: Option<u64>,
    /// How often a model was called.
    #[serde(default, deserialize_with = "field")]
    pub llm_calls: Option<u64>,
    /// How often a tool was called.
    #[serde(default, deserialize_with = "field")]
    pub tool_calls: Option<u64>,
    /// How many calls of tools failed.
    #[serde(default, deserialize_with = "field")]
    pub tool_errors: Option<u64>,
    /// Tokens of all calls of models.
    #[serde(default, deserialize_with = "field")]
    pub total_tokens: Option<f64>,
    /// What they cost, in dollars.
    #[serde(default, deserialize_with = "field")]
    pub total_cost: Option<f64>,
    /// How many traces it spans.
    #[serde(default, deserialize_with = "field")]
    pub trace_count: Option<u64>,
    /// Those traces.
    #[serde(default, deserialize_with = "ids")]
    pub trace_ids: Vec<String>,
    /// What the user said first: a text, mostly.
    #[serde(default)]
    pub first_input: Value,
    /// What the agent said last: a text, mostly.
    #[serde(default)]
    pub last_output: Value,
    /// The agents that took part, in order.
    #[serde(default, deserialize_with = "list")]
    pub flow: Vec<String>,
    /// The tools that were called.
    #[serde(default, deserialize_with = "list")]
    pub tool_names: Vec<String>,
    /// Who it was with.
    #[serde(default, deserialize_with = "field")]
    pub user: Option<ConversationUser>,
}

/// Whom an agent talked to.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct ConversationUser {
    /// The address.
    #[serde(deserialize_with = "field")]
    pub email: Option<String>,
    /// The name.
    #[serde(deserialize_with = "field")]
    pub username: Option<String>,
}

/// Which conversations.
#[derive(Debug, Clone, Copy)]
pub struct AiConversationList<'a> {
    /// Sentry's query language, over spans.
    pub query: Option<&'a str>,
    /// The projects' numeric ids; all when empty.
    pub projects: &'a [String],
    /// Environments to look at; all when empty.
    pub environments: &'a [String],
    /// The time they are from.
    pub time: &'a TimeRange,
    /// Where the last answer ended.
    pub cursor: Option<&'a str>,
    /// At most this many.
    pub per_page: u32,
}

impl Client {
    /// Lists conversations, the newest first.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn search_ai_conversations(
        &self,
        organization: &str,
        list: &AiConversationList<'_>,
    ) -> Result<Page<AiConversation>, Error> {
        let call = self
            .get("/api/0/organizations/{organization}/ai-conversations/")
            .path("organization", organization)
            .query("query", list.query)
            .query("project", list.projects)
            .query("environment", list.environments)
            .query("per_page", list.per_page)
            .query("cursor", list.cursor);
        let page: Page<Value> = list.time.apply(call).page().await?;
        let items = page.items.into_iter().filter_map(|it| serde_json::from_value(it).ok());
        Ok(Page { items: items.collect(), next_cursor: page.next_cursor })
    }

    /// Returns the spans of a conversation in the order they began, by their attributes' names, and
    /// whether those are all. An unknown conversation has none.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn ai_conversation_spans(
        &self,
        organization: &str,
        conversation: &str,
        project: &str,
        time: &TimeRange,
    ) -> Result<(Vec<Map<String, Value>>, Completeness), Error> {
        let call = || {
            let call = self
                .get("/api/0/organizations/{organization}/ai-conversations/{conversation}/")
                .path("organization", organization)
                .path("conversation", conversation)
                .query("project", project);
            time.apply(call)
        };
        let (spans, completeness) = all_pages_of::<Value>(SPANS_PER_PAGE, MAX_PAGES, call).await?;
        let spans = spans.into_iter().filter_map(|it| match it {
            Value::Object(span) => Some(span),
            _ => None,
        });
        Ok((spans.collect(), completeness))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Server, page};
    use super::*;

    fn month() -> TimeRange {
        TimeRange::Last("30d".to_owned())
    }

    #[tokio::test]
    async fn conversations_are_listed_by_what_can_be_read_of_them() {
        let body = r#"[{"conversationId":"c-1","llmCalls":2,"totalCost":"free","user":{"email":"a@b.test"},
            "traceIds":["t1"],"flow":["planner",7],"firstInput":"hello"},{"conversationId":null},7]"#;
        let server = Server::start(vec![page(body, Some("0:10:0"))]).await;
        let time = month();
        let projects = ["7".to_owned(), "8".to_owned()];
        let environments = ["production".to_owned()];
        let list = AiConversationList {
            query: Some("gen_ai.agent.name:planner"),
            projects: &projects,
            environments: &environments,
            time: &time,
            cursor: None,
            per_page: 10,
        };
        let found = server.client().search_ai_conversations("acme", &list).await.unwrap();
        let [only] = found.items.as_slice() else { panic!("{found:?}") };
        assert_eq!((only.llm_calls, only.total_cost), (Some(2), None));
        assert_eq!((only.flow.len(), found.next_cursor.as_deref()), (1, Some("0:10:0")));
        assert_eq!(
            server.lines(),
            ["GET /api/0/organizations/acme/ai-conversations/?query=gen_ai.agent.name%3Aplanner\
              &project=7&project=8&environment=production&per_page=10&statsPeriod=30d"]
        );
    }

    #[tokio::test]
    async fn spans_of_a_conversation_are_read_page_by_page() {
        let server = Server::start(vec![
            page(r#"[{"span_id":"s1"},null]"#, Some("0:1000:0")),
            page(r#"[{"span_id":"s2"}]"#, None),
        ])
        .await;
        let client = server.client();
        let found = client.ai_conversation_spans("acme", "a/b", "-1", &month()).await.unwrap();
        assert_eq!((found.0.len(), found.1), (2, Completeness::Whole));
        let [first, second] = server.lines().try_into().unwrap();
        assert_eq!(
            first,
            "GET /api/0/organizations/acme/ai-conversations/a%2Fb/?project=-1&statsPeriod=30d&per_page=1000"
        );
        assert!(second.ends_with("cursor=0%3A1000%3A0"), "{second}");
    }
}
