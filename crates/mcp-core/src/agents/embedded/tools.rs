//! What an agent may look up: fields, attributes, naming conventions, who asks.

use api_client::sentry::error::Error;
use api_client::sentry::events::EventSearch;
use api_client::sentry::tags::AttributeList;
use api_client::sentry::time::TimeRange;
use async_trait::async_trait;
use model_client::{Tool, ToolOutcome, Toolbox};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::super::{Question, Search};
use super::{otel, prompt};
use crate::event_search::{Dataset, REPLAY_SORTS};

/// How many attributes one look-up names.
const MAX_FIELDS: usize = 50;
/// Of how many attributes the type is told.
const MAX_TYPES: usize = 30;
/// How many tags of errors and of issues are named.
const MAX_TAGS: usize = 30;
/// How many of them when they are one project's own.
const MAX_PROJECT_TAGS: usize = 20;

/// Attributes seen in this time are offered.
const SEEN_WITHIN: &str = "14d";

/// Fields every error has, whatever its tags.
const ERROR_FIELDS: [&str; 22] = [
    "title",
    "message",
    "level",
    "timestamp",
    "project",
    "culprit",
    "transaction",
    "environment",
    "release",
    "platform",
    "error.type",
    "error.value",
    "error.handled",
    "error.unhandled",
    "stack.filename",
    "stack.function",
    "stack.module",
    "http.method",
    "http.url",
    "user.id",
    "user.email",
    "trace",
];

/// Fields of issues that are no tags.
const ISSUE_FIELDS: [&str; 18] = [
    "is",
    "assigned",
    "assigned_or_suggested",
    "bookmarks",
    "firstSeen",
    "lastSeen",
    "age",
    "times_seen",
    "issue.category",
    "issue.type",
    "issue.priority",
    "firstRelease",
    "release",
    "environment",
    "level",
    "has",
    "error.type",
    "title",
];

/// Fields that replays can be searched by but not ordered by.
const REPLAY_FILTERS: [&str; 8] = [
    "environment",
    "release",
    "url",
    "click.selector",
    "click.textContent",
    "dead.selector",
    "rage.selector",
    "trace",
];

pub(super) struct Tools<'q> {
    pub(super) question: &'q Question<'q>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attributes {
    dataset: Dataset,
    substring_match: Option<String>,
    query: Option<String>,
    attribute_types: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Validate {
    dataset: Dataset,
    query: String,
    #[serde(default)]
    fields: Vec<String>,
    sort: Option<String>,
    stats_period: Option<String>,
}

#[derive(Deserialize)]
struct Namespace {
    namespace: String,
}

impl Tools<'_> {
    pub(super) fn list(&self) -> Vec<Tool> {
        let datasets = json!({ "type": "string", "enum": Dataset::ALL.map(Dataset::id) });
        let text = |words: &str| json!({ "type": "string", "description": words });
        let texts = json!({ "type": "array", "items": { "type": "string" } });
        let who = tool("whoami", "Who asks: id, name and address.", json!({}), &[]);
        match self.question.search {
            Search::Issues => vec![
                tool(
                    "issueFields",
                    "Fields and tags that issues can be searched by.",
                    json!({}),
                    &[],
                ),
                who,
            ],
            Search::IssueEvents => vec![
                tool(
                    "issueEventFields",
                    "Fields and tags that the events of an issue can be searched by.",
                    json!({}),
                    &[],
                ),
                who,
            ],
            Search::Events => vec![
                tool(
                    "datasetAttributes",
                    "Fields of a data set, with their types, and queries that show how to use them.",
                    json!({
                        "dataset": datasets,
                        "substringMatch": text("a part of the field's name"),
                        "query": text("words, one of which the field's name holds"),
                        "attributeTypes": {
                            "type": "array",
                            "items": { "type": "string", "enum": ["string", "number", "boolean"] },
                        },
                    }),
                    &["dataset"],
                ),
                tool(
                    "validateSearch",
                    "Whether Sentry would run a search, and what is wrong with it.",
                    json!({
                        "dataset": datasets,
                        "query": text("Sentry search syntax"),
                        "fields": texts,
                        "sort": text("as in `-timestamp`"),
                        "statsPeriod": text("as in `24h`"),
                    }),
                    &["dataset", "query"],
                ),
                tool("replayFields", "What replays are searched and ordered by.", json!({}), &[]),
                tool(
                    "otelSemantics",
                    "The names OpenTelemetry gives to attributes of a namespace, as in `gen_ai`.",
                    json!({ "namespace": text("as in `db`, `http`, `gen_ai`") }),
                    &["namespace"],
                ),
                who,
            ],
        }
    }

    async fn look_up(&self, name: &str, arguments: Map<String, Value>) -> Result<Value, String> {
        match (self.question.search, name) {
            (_, "whoami") => {
                let user = self.question.sentry.authenticated_user().await.map_err(told)?;
                Ok(json!({ "id": user.id, "name": user.name, "email": user.email }))
            }
            (Search::Issues, "issueFields") => {
                let tags = self.tags("search_issues").await?;
                Ok(json!({ "fields": ISSUE_FIELDS, "tags": tags }))
            }
            (Search::IssueEvents, "issueEventFields") => {
                let tags = self.tags("events").await?;
                Ok(json!({ "fields": ERROR_FIELDS, "tags": tags }))
            }
            (Search::Events, "datasetAttributes") => self.attributes(read(arguments)?).await,
            (Search::Events, "validateSearch") => self.validate(read(arguments)?).await,
            (Search::Events, "replayFields") => {
                Ok(json!({ "filters": REPLAY_FILTERS, "filtersAndSorts": REPLAY_SORTS }))
            }
            (Search::Events, "otelSemantics") => {
                let Namespace { namespace } = read(arguments)?;
                otel::namespace(&namespace)
            }
            _ => Err(format!("there is no tool `{name}`")),
        }
    }

    async fn tags(&self, dataset: &str) -> Result<Vec<String>, String> {
        let Question { sentry, organization, project, .. } = self.question;
        let time = TimeRange::Last(SEEN_WITHIN.to_owned());
        let page = sentry.list_tags(organization, dataset, *project, &time).await.map_err(told)?;
        let most = if project.is_some() { MAX_PROJECT_TAGS } else { MAX_TAGS };
        let mut tags = page.items;
        tags.sort_by_key(|tag| std::cmp::Reverse(tag.total_values));
        let shown = tags.into_iter().map(|tag| tag.key).filter(|key| is_shown(key));
        Ok(shown.take(most).collect())
    }

    async fn attributes(&self, asked: Attributes) -> Result<Value, String> {
        let Question { sentry, organization, project, .. } = self.question;
        let time = TimeRange::Last(SEEN_WITHIN.to_owned());
        let dataset = asked.dataset;
        let text = |it: &&str| ((*it).to_owned(), None);
        let mut found: Vec<(String, Option<String>)> = match dataset {
            Dataset::Replays => return Err("ask `replayFields` about replays".to_owned()),
            Dataset::Profiles => dataset.default_fields().iter().map(text).collect(),
            Dataset::Errors => {
                let tags = sentry.list_tags(organization, "events", *project, &time).await;
                let tags = tags.map_err(told)?.items.into_iter().map(|tag| (tag.key, None));
                ERROR_FIELDS.iter().map(text).chain(tags).collect()
            }
            Dataset::Spans | Dataset::Logs | Dataset::Metrics => {
                let list = AttributeList {
                    item_type: dataset.api_id(),
                    substring: asked.substring_match.as_deref(),
                    project: *project,
                    time: &time,
                };
                let page = sentry.list_attributes(organization, &list).await.map_err(told)?;
                page.items.into_iter().map(|it| (it.key, it.attribute_type)).collect()
            }
        };
        found.retain(|(key, kind)| {
            let kinds = asked.attribute_types.as_deref().unwrap_or_default();
            let is_kind = kinds.is_empty() || kind.as_ref().is_none_or(|kind| kinds.contains(kind));
            let part = asked.substring_match.as_deref().unwrap_or_default();
            is_shown(key) && is_kind && key.contains(part)
        });
        narrow(&mut found, asked.query.as_deref().unwrap_or_default());
        let names: Vec<&str> = found.iter().take(MAX_FIELDS).map(|(key, _)| key.as_str()).collect();
        let types: Map<String, Value> = found
            .iter()
            .filter_map(|(key, kind)| Some((key.clone(), Value::from(kind.clone()?))))
            .take(MAX_TYPES)
            .collect();
        Ok(json!({
            "dataset": dataset,
            "recommended": prompt::recommended(dataset),
            "examples": prompt::examples(dataset),
            "fields": names,
            "types": types,
            "total": found.len(),
        }))
    }

    async fn validate(&self, asked: Validate) -> Result<Value, String> {
        let Question { sentry, organization, project, time, environments, .. } = self.question;
        if asked.dataset == Dataset::Replays {
            return Err("searches of replays cannot be checked beforehand".to_owned());
        }
        let time = match (&asked.stats_period, time) {
            (None, Some(time)) => (*time).clone(),
            (period, _) => TimeRange::of(period.as_deref(), None, None, SEEN_WITHIN)
                .map_err(|error| error.to_string())?,
        };
        let search = EventSearch {
            dataset: asked.dataset.api_id(),
            query: &asked.query,
            fields: &asked.fields,
            sort: asked.sort.as_deref(),
            project: *project,
            environments,
            time: &time,
            per_page: 1,
        };
        let found = sentry.validate_events(organization, &search).await.map_err(told)?;
        Ok(json!({ "valid": found.valid, "parts": found.parts }))
    }
}

#[async_trait]
impl Toolbox for Tools<'_> {
    async fn call(&self, name: &str, arguments: Map<String, Value>) -> ToolOutcome {
        let (answer, is_error) = match self.look_up(name, arguments).await {
            Ok(result) => (json!({ "result": result }), false),
            Err(error) => (json!({ "error": error }), true),
        };
        ToolOutcome { text: answer.to_string(), is_error }
    }
}

fn tool(name: &str, description: &str, properties: Value, required: &[&str]) -> Tool {
    Tool {
        name: name.to_owned(),
        description: description.to_owned(),
        input_schema: json!({ "type": "object", "properties": properties, "required": required }),
    }
}

fn read<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, String> {
    serde_json::from_value(Value::Object(arguments)).map_err(|error| error.to_string())
}

/// What the model reads of a failed look-up.
fn told(error: Error) -> String {
    error.to_string()
}

/// Keys that Sentry uses for itself are of no use in a search.
fn is_shown(key: &str) -> bool {
    !key.starts_with("sentry:")
}

/// Keeps the fields whose name holds one of the words, if there are any.
fn narrow(found: &mut Vec<(String, Option<String>)>, words: &str) {
    let words: Vec<String> =
        words.split_whitespace().filter(|it| it.len() > 2).map(str::to_lowercase).collect();
    let fits = |key: &str| words.iter().any(|word| key.to_lowercase().contains(word.as_str()));
    if found.iter().any(|(key, _)| fits(key)) {
        found.retain(|(key, _)| fits(key));
    }
}
