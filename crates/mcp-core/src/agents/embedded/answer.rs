//! The form of an agent's answer, and reading it.

use api_client::sentry::time::TimeRange;
use model_client::{Schema, object_in};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::{AgentFailure, Search, Translated};
use crate::event_search::Dataset;

/// The form that the provider is told; it is not relied on.
pub(super) fn schema(search: Search) -> Schema {
    let text = |words: &str| json!({ "type": "string", "description": words });
    let mut properties = json!({
        "query": text("Sentry search syntax, without time and order"),
        "sort": text("a column, with `-` before it for the largest first"),
        "explanation": text("why it is written so, in a sentence or two"),
        "error": text("only when it cannot be searched for: what the caller should do instead"),
    });
    let mut required = vec!["query", "sort", "explanation"];
    if search != Search::Issues {
        properties["fields"] = json!({ "type": "array", "items": { "type": "string" } });
        properties["timeRange"] = json!({
            "type": "object",
            "description": "`statsPeriod` as in `24h`, or `start` and `end` in RFC 3339",
            "properties": {
                "statsPeriod": { "type": "string" },
                "start": { "type": "string" },
                "end": { "type": "string" },
            },
        });
        required.push("fields");
    }
    if search == Search::Events {
        properties["dataset"] = json!({ "type": "string", "enum": Dataset::ALL.map(Dataset::id) });
        let environments = "environments of replays; elsewhere they are filters";
        properties["environment"] = json!({
            "type": "array",
            "items": { "type": "string" },
            "description": environments,
        });
        required.push("dataset");
    }
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    Schema { name: "search".to_owned(), schema }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    query: String,
    dataset: Option<Dataset>,
    fields: Option<Vec<String>>,
    sort: Option<String>,
    environment: Option<OneOrMany>,
    time_range: Option<Time>,
    explanation: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Time {
    stats_period: Option<String>,
    start: Option<String>,
    end: Option<String>,
}

/// Reads what a model wrote: the first object that has the form, or an error it reports.
pub(super) fn read(text: &str, search: Search) -> Result<Translated, AgentFailure> {
    let mut wrong = None;
    let found = object_in(text, |object| match reading(object, search) {
        Ok(found) => Some(Ok(found)),
        Err(Reading::Reported(words)) => Some(Err(AgentFailure::Request(words))),
        Err(Reading::Wrong(why)) => {
            wrong.get_or_insert(why);
            None
        }
    });
    found.unwrap_or_else(|| {
        let why = wrong.unwrap_or_else(|| "it holds no JSON object".to_owned());
        let words = format!("the model's answer has another form than agreed ({why})");
        Err(AgentFailure::Request(words))
    })
}

enum Reading {
    /// The model says that it cannot be done, and why.
    Reported(String),
    /// The object has another form.
    Wrong(String),
}

fn reading(object: Map<String, Value>, search: Search) -> Result<Translated, Reading> {
    if let Some(words) = object.get("error").and_then(Value::as_str).map(str::trim)
        && !words.is_empty()
    {
        let words = words.trim_end_matches('.');
        return Err(Reading::Reported(words.chars().take(MAX_ERROR).collect()));
    }
    let wrong = Reading::Wrong;
    let answer: Answer =
        serde_json::from_value(Value::Object(object)).map_err(|error| wrong(error.to_string()))?;
    let dataset = match (search, answer.dataset) {
        (Search::Events, None) => return Err(wrong("it names no `dataset`".to_owned())),
        (Search::Events, named) => named,
        (Search::Issues | Search::IssueEvents, _) => None,
    };
    let fields = match search {
        Search::Issues => Vec::new(),
        Search::Events | Search::IssueEvents => answer.fields.unwrap_or_default(),
    };
    let sort = answer.sort.map(|it| it.trim().to_owned()).filter(|it| !it.is_empty());
    let column = sort.as_deref().map(|it| it.trim_start_matches('-'));
    let is_free = search == Search::Issues || dataset == Some(Dataset::Replays);
    let defaults = dataset.unwrap_or(Dataset::Errors).default_fields();
    let is_shown = |column: &str| match fields.as_slice() {
        [] => defaults.contains(&column),
        fields => fields.iter().any(|field| field == column),
    };
    if let Some(column) = column.filter(|column| !is_free && !is_shown(column)) {
        return Err(wrong(format!("it sorts by `{column}`, which is not among its fields")));
    }
    let time = match answer.time_range {
        None | Some(Time { stats_period: None, start: None, end: None }) => None,
        Some(Time { stats_period, start, end }) => {
            let [period, start, end] = [&stats_period, &start, &end].map(Option::as_deref);
            let time = TimeRange::of(period, start, end, "14d");
            Some(time.map_err(|error| wrong(format!("its `timeRange`: {error}")))?)
        }
    };
    let environments = match answer.environment {
        None => Vec::new(),
        Some(OneOrMany::One(name)) => vec![name],
        Some(OneOrMany::Many(names)) => names,
    };
    Ok(Translated {
        dataset,
        query: answer.query.trim().to_owned(),
        fields,
        sort,
        environments,
        time: time.filter(|_| search != Search::Issues),
        explanation: answer.explanation.filter(|it| !it.trim().is_empty()),
    })
}

/// Of the words of a model's error, this many characters are passed on.
const MAX_ERROR: usize = 500;

#[cfg(test)]
mod tests {
    use super::*;

    fn request(text: &str, search: Search) -> String {
        match read(text, search) {
            Err(AgentFailure::Request(words)) => words,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_whole_answer_is_read_wherever_it_stands() {
        let object = r#"{"dataset":"spans","query":" span.op:db ","fields":["span.op","count()"],
            "sort":"-count()","environment":null,"timeRange":{"statsPeriod":"24h"},
            "explanation":"Counts."}"#;
        let expected = Translated {
            dataset: Some(Dataset::Spans),
            query: "span.op:db".to_owned(),
            fields: vec!["span.op".to_owned(), "count()".to_owned()],
            sort: Some("-count()".to_owned()),
            environments: Vec::new(),
            time: Some(TimeRange::Last("24h".to_owned())),
            explanation: Some("Counts.".to_owned()),
        };
        let fenced = format!("I looked {{around}}:\n```json\n{object}\n```");
        let after_another = format!("{{\"fields\":[]}} then {object} done");
        for text in [object, &fenced, &after_another] {
            assert_eq!(read(text, Search::Events), Ok(expected.clone()), "{text}");
        }
    }

    #[test]
    fn an_error_of_the_agent_is_the_callers_to_act_on() {
        let text = r#"{"error":"Name the project first.","query":"x"}"#;
        assert_eq!(request(text, Search::Events), "Name the project first");
        assert!(request("sorry", Search::Issues).contains("it holds no JSON object"));
        assert!(request("{\"query\":7}", Search::Issues).contains("expected a string"));
        assert!(request(r#"{"query":"x"}"#, Search::Events).contains("it names no `dataset`"));
    }

    #[test]
    fn the_order_must_be_shown_except_where_it_need_not() {
        let hidden = r#"{"dataset":"errors","query":"","fields":["title"],"sort":"-timestamp"}"#;
        let words = request(hidden, Search::Events);
        assert!(words.contains("it sorts by `timestamp`, which is not among its fields"));
        let replays = r#"{"dataset":"replays","query":"","fields":["id"],"sort":"-count_errors"}"#;
        assert!(read(replays, Search::Events).is_ok());
        let defaults = r#"{"dataset":"errors","query":"","sort":"-timestamp"}"#;
        assert!(read(defaults, Search::Events).is_ok());
        let issues = read(r#"{"query":"is:unresolved","sort":"freq"}"#, Search::Issues).unwrap();
        assert_eq!((issues.sort.as_deref(), issues.dataset), (Some("freq"), None));
    }

    #[test]
    fn a_time_that_is_none_is_a_wrong_form() {
        let with = |time: &str| {
            let text = format!(r#"{{"query":"","fields":["timestamp"],"timeRange":{time}}}"#);
            read(&text, Search::IssueEvents)
        };
        assert_eq!(with("null").unwrap().time, None);
        assert_eq!(with("{}").unwrap().time, None);
        assert!(with(r#"{"start":"2026-01-01T00:00:00Z"}"#).is_err());
        assert!(with(r#"{"statsPeriod":"soon"}"#).is_err());
    }
}
