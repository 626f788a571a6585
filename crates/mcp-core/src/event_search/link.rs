//! The same search on Sentry's pages for people.

use api_client::sentry::time::TimeRange;
use serde_json::json;
use url::form_urlencoded::Serializer;

use crate::render::segment;

use super::{Dataset, Plan, columns, syntax};

/// Path and query of the page that shows a search, as in `/explore/logs/?…`.
pub(crate) fn page(plan: &Plan, project: Option<&str>) -> String {
    if let Some(conversation) = syntax::conversation(&plan.query) {
        return format!("/explore/conversations/{}/", segment(conversation));
    }
    let (path, mut query) = match plan.dataset {
        Dataset::Errors => ("/explore/discover/homepage/", errors(plan, project)),
        Dataset::Spans => ("/explore/traces/", spans(plan, project)),
        Dataset::Logs => ("/explore/logs/", logs(plan, project)),
        Dataset::Metrics => ("/explore/metrics/", metrics(plan, project)),
        Dataset::Profiles => ("/explore/profiling/", plain(plan, project)),
        Dataset::Replays => ("/explore/replays/", plain(plan, project)),
    };
    format!("{path}?{}", query.finish())
}

type Query = Serializer<'static, String>;

/// Adds the time as Sentry's pages read it.
pub(crate) fn append_time(query: &mut Query, time: &TimeRange) {
    match time {
        TimeRange::Last(period) => query.append_pair("statsPeriod", period),
        TimeRange::Between { start, end } => {
            query.append_pair("start", start).append_pair("end", end)
        }
    };
}

fn start(project: Option<&str>) -> Query {
    let mut query = Serializer::new(String::new());
    if let Some(project) = project {
        query.append_pair("project", project);
    }
    query
}

fn mode(plan: &Plan) -> &'static str {
    if plan.is_grouped() { "aggregate" } else { "samples" }
}

fn functions(plan: &Plan) -> Vec<&String> {
    plan.fields.iter().filter(|it| columns::is_aggregate(it)).collect()
}

/// What rows are grouped by and what is computed of them, one JSON text each.
fn aggregate_fields(plan: &Plan) -> Vec<String> {
    let groups = plan.fields.iter().filter(|it| !columns::is_aggregate(it));
    let groups = groups.map(|it| json!({ "groupBy": it }).to_string());
    groups.chain([json!({ "yAxes": functions(plan) }).to_string()]).collect()
}

fn errors(plan: &Plan, project: Option<&str>) -> Query {
    let mut query = start(project);
    query
        .append_pair("dataset", "errors")
        .append_pair("queryDataset", "error-events")
        .append_pair("query", &plan.query);
    for field in &plan.fields {
        query.append_pair("field", field);
    }
    query.append_pair("sort", &plan.sort);
    if let Some(first) = functions(plan).first() {
        query.append_pair("mode", "aggregate").append_pair("yAxis", first);
    }
    append_time(&mut query, &plan.time);
    query
}

fn spans(plan: &Plan, project: Option<&str>) -> Query {
    let mut query = start(project);
    query.append_pair("query", &plan.query).append_pair("mode", mode(plan));
    if plan.is_grouped() {
        for field in aggregate_fields(plan) {
            query.append_pair("aggregateField", &field);
        }
    } else {
        for field in &plan.fields {
            query.append_pair("field", field);
        }
    }
    query.append_pair("sort", &plan.sort).append_pair("table", "span");
    append_time(&mut query, &plan.time);
    query
}

fn logs(plan: &Plan, project: Option<&str>) -> Query {
    let mut query = start(Some(project.unwrap_or("-1")));
    query.append_pair("logsQuery", &plan.query).append_pair("mode", mode(plan));
    if plan.is_grouped() {
        for field in aggregate_fields(plan) {
            query.append_pair("aggregateField", &field);
        }
        query.append_pair("logsAggregateSortBys", &plan.sort);
    } else {
        for field in &plan.fields {
            query.append_pair("logsFields", field);
        }
        query.append_pair("logsSortBys", &plan.sort);
    }
    append_time(&mut query, &plan.time);
    query
}

/// The page shows a metric, so the link names the one that the query is about.
fn metrics(plan: &Plan, project: Option<&str>) -> Query {
    let mut query = start(project);
    let filters = syntax::filters(&plan.query);
    let named = |key: &str| {
        let own = filters.iter().find(|it| it.key == key && !it.negated);
        own.map(|it| it.value.trim_matches('"'))
    };
    if let Some(name) = named("metric.name") {
        let sort = json!({
            "field": columns::column(&plan.sort),
            "kind": if plan.sort.starts_with('-') { "desc" } else { "asc" },
        });
        let fields = if plan.is_grouped() { aggregate_fields(plan) } else { Vec::new() };
        let fields: Vec<serde_json::Value> =
            fields.iter().filter_map(|it| serde_json::from_str(it).ok()).collect();
        let metric = json!({
            "metric": {
                "name": name,
                "type": named("metric.type").unwrap_or_default(),
                "unit": named("metric.unit"),
            },
            "query": plan.query,
            "aggregateFields": fields,
            "aggregateSortBys": [sort],
            "mode": mode(plan),
        });
        query.append_pair("metric", &metric.to_string());
    }
    append_time(&mut query, &plan.time);
    query
}

fn plain(plan: &Plan, project: Option<&str>) -> Query {
    let mut query = start(project);
    query.append_pair("query", &plan.query).append_pair("sort", &plan.sort);
    for environment in &plan.environments {
        query.append_pair("environment", environment);
    }
    append_time(&mut query, &plan.time);
    query
}

#[cfg(test)]
mod tests {
    use super::super::Wish;
    use super::*;

    fn link(dataset: Dataset, query: &str, fields: &[&str]) -> String {
        let fields = fields.iter().map(|it| (*it).to_owned()).collect();
        let wish =
            Wish { dataset: Some(dataset), query: query.to_owned(), fields, ..Wish::default() };
        let link = page(&wish.alone().unwrap(), Some("7"));
        percent_encoding::percent_decode_str(&link).decode_utf8().unwrap().into_owned()
    }

    #[test]
    fn each_data_set_has_its_page() {
        for (dataset, fields, expected) in [
            (
                Dataset::Errors,
                &["title"][..],
                "/explore/discover/homepage/?project=7&dataset=errors&queryDataset=error-events&query=level:error&field=title&field=timestamp&sort=-timestamp&statsPeriod=14d",
            ),
            (
                Dataset::Errors,
                &["title", "count()"],
                "/explore/discover/homepage/?project=7&dataset=errors&queryDataset=error-events&query=level:error&field=title&field=count()&sort=-count()&mode=aggregate&yAxis=count()&statsPeriod=14d",
            ),
            (
                Dataset::Spans,
                &["id"],
                "/explore/traces/?project=7&query=level:error&mode=samples&field=id&field=timestamp&sort=-timestamp&table=span&statsPeriod=14d",
            ),
            (
                Dataset::Spans,
                &["span.op", "count()"],
                r#"/explore/traces/?project=7&query=level:error&mode=aggregate&aggregateField={"groupBy":"span.op"}&aggregateField={"yAxes":["count()"]}&sort=-count()&table=span&statsPeriod=14d"#,
            ),
            (
                Dataset::Logs,
                &["message"],
                "/explore/logs/?project=7&logsQuery=level:error&mode=samples&logsFields=message&logsFields=timestamp&logsSortBys=-timestamp&statsPeriod=14d",
            ),
            (
                Dataset::Profiles,
                &["profile.id"],
                "/explore/profiling/?project=7&query=level:error&sort=-timestamp&statsPeriod=14d",
            ),
            (
                Dataset::Replays,
                &[],
                "/explore/replays/?project=7&query=level:error&sort=-started_at&statsPeriod=14d",
            ),
        ] {
            assert_eq!(link(dataset, "level:error", fields), expected);
        }
    }

    #[test]
    fn a_metric_is_named_where_the_query_names_it() {
        let page = link(Dataset::Metrics, "metric.name:basket.size", &["sum(value)"]);
        assert!(page.contains(r#""name":"basket.size""#), "{page}");
        assert!(page.contains(r#""aggregateFields":[{"yAxes":["sum(value)"]}]"#), "{page}");
        let page = link(Dataset::Metrics, "project:web", &[]);
        assert_eq!(page, "/explore/metrics/?project=7&statsPeriod=14d");
    }

    #[test]
    fn one_conversation_has_a_page_of_its_own() {
        let page = link(Dataset::Spans, "gen_ai.conversation.id:a/b", &[]);
        assert_eq!(page, "/explore/conversations/a/b/");
    }
}
