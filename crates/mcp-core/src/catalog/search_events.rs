//! `search_events`: events of every data set, and numbers about them, by Sentry's search syntax.

use api_client::sentry::{Client, events::EventSearch, replays::ReplayList, time::TimeRange};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    agents::Search,
    error::ToolError,
    event_search::{self, Asked, Asker, Dataset, FAILED, Plan, Wish},
    params::{DateTime, Limit, OrganizationSlug, Period, ProjectSlug, RegionUrl},
    render::{Page, inline, rows},
    skill::Skill,
    tool::{Call, CuratedTool, Markdown, Spec},
};

#[derive(Debug)]
pub(super) struct SearchEvents;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    organization_slug: OrganizationSlug,
    /// default errors
    dataset: Option<Dataset>,
    query: Option<String>,
    /// columns or functions, as in `count()`, `p95(span.duration)`
    fields: Option<Vec<String>>,
    /// as in `-timestamp` or `-count()`
    sort: Option<String>,
    project_slug: Option<ProjectSlug>,
    environment: Option<Vec<String>>,
    /// default 14d
    period: Option<Period>,
    start: Option<DateTime>,
    end: Option<DateTime>,
    region_url: Option<RegionUrl>,
    #[serde(default)]
    limit: Limit<10, 100>,
    #[serde(default)]
    include_explanation: bool,
}

impl CuratedTool for SearchEvents {
    const SPEC: Spec = Spec {
        name: "search_events",
        title: "Search events",
        description: "Search single events, or count and measure them, in one of the data sets: `errors`, `logs` (when logs are asked for), `spans`, `metrics`, `profiles`, `replays`. `query` takes Sentry's syntax: `level:error`, `severity:warn`, `span.duration:>1s`, `(a:x OR b:y)`. A function in `fields` groups by the others; not for replays. For lists of issues use `search_issues`.",
        skills: &[Skill::Inspect, Skill::Triage, Skill::Seer],
        scopes: &["event:read"],
        formerly: &["find_errors", "find_transactions"],
        ..Spec::READ
    };
    type Params = Params;
    type Output = Markdown;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Markdown, ToolError> {
        let sentry = cx.sentry_in(params.region_url.as_deref())?;
        let organization: &str = &params.organization_slug;
        let wish = wish(&params)?;
        let project = match params.project_slug.as_deref() {
            Some(project) => {
                Some(event_search::project_number(&sentry, organization, project).await?)
            }
            None => None,
        };
        let project = project.as_deref();
        let asker = Asker { search: Search::Events, organization, project, sentry: &sentry };
        let asked_for = wish.query.clone();
        let (plan, failed) = match asker.about(cx, &wish).await? {
            Asked::Nobody => (wish.alone()?, false),
            Asked::Answered(translated) => (wish.with(translated)?, false),
            Asked::Failed => (wish.alone()?, true),
        };
        let found = run(&sentry, organization, project, &plan, params.limit.get(), cx).await?;
        let mut page = header(cx, &params, &plan, project);
        if plan.query != asked_for && !asked_for.trim().is_empty() {
            page.code_fact("Asked for", [asked_for.as_str()]);
        }
        if let Some(why) = plan.explanation.as_deref().filter(|_| params.include_explanation) {
            page.fact("Explanation", why);
        }
        if failed {
            page.paragraph(FAILED);
        }
        found.show(&mut page, &plan);
        if found.shown > 0 {
            page.next_steps(next_steps(cx, &plan));
        }
        Ok(page.finish())
    }
}

fn wish(params: &Params) -> Result<Wish, ToolError> {
    let (period, start, end) =
        (params.period.as_deref(), params.start.as_deref(), params.end.as_deref());
    let time = match (period, start, end) {
        (None, None, None) => None,
        _ => Some(
            TimeRange::of(period, start, end, event_search::DEFAULT_PERIOD)
                .map_err(|error| ToolError::user(error.to_string()))?,
        ),
    };
    let sort = params.sort.as_deref().map(event_search::normal_sort);
    Ok(Wish {
        dataset: params.dataset,
        query: params.query.clone().unwrap_or_default(),
        fields: params.fields.clone().unwrap_or_default(),
        sort: sort.filter(|it| !it.is_empty()),
        environments: params.environment.clone().unwrap_or_default(),
        time,
    })
}

/// What a search found, as text.
struct Found {
    text: String,
    shown: usize,
    /// Groups that did not fit into the text.
    left_out: usize,
    more: bool,
}

/// Runs a search; one over events only where Sentry thinks that it can be run.
async fn run(
    sentry: &Client,
    organization: &str,
    project: Option<&str>,
    plan: &Plan,
    limit: usize,
    cx: &Call<'_>,
) -> Result<Found, ToolError> {
    let link = |path: &str| cx.web_url(organization, path);
    if plan.dataset == Dataset::Replays {
        let list = ReplayList {
            query: &plan.query,
            sort: Some(&plan.sort),
            project,
            environments: &plan.environments,
            fields: &plan.fields,
            time: &plan.time,
            per_page: limit as u32,
        };
        let mut page = sentry.search_replays(organization, &list).await?;
        let more = page.next_cursor.is_some() || page.items.len() > limit;
        page.items.truncate(limit);
        let text = rows::replays(&page.items, &link);
        return Ok(Found { text, shown: page.items.len(), left_out: 0, more });
    }
    let search = EventSearch {
        dataset: plan.dataset.api_id(),
        query: &plan.query,
        fields: &plan.fields,
        sort: Some(&plan.sort),
        project,
        environments: &[],
        time: &plan.time,
        per_page: limit as u32,
    };
    event_search::check(sentry, organization, &search).await?;
    let mut found = sentry.search_events(organization, &search).await?;
    let more = found.next_cursor.is_some() || found.data.len() > limit;
    found.data.truncate(limit);
    let shown = found.data.len();
    if plan.is_grouped() {
        let (text, left_out) = rows::grouped(&found.data);
        return Ok(Found { text, shown, left_out, more });
    }
    let text = rows::table(plan.dataset, &plan.fields, &found.data, &link);
    Ok(Found { text, shown, left_out: 0, more })
}

impl Found {
    fn show(&self, page: &mut Page, plan: &Plan) {
        if self.shown == 0 {
            page.paragraph(plan.dataset.advice(&plan.query));
            return;
        }
        let what = if plan.is_grouped() { "groups" } else { plan.dataset.id() };
        let more = if self.more { ", there are more" } else { "" };
        page.heading(format!("Found: {} {what}{more}", self.shown)).untrusted(&self.text);
        if self.left_out > 0 {
            page.paragraph(format!("{} groups did not fit: ask for fewer.", self.left_out));
        }
        if self.more {
            page.paragraph(
                "There are more: narrow the query or the time, or raise `limit` up to 100.",
            );
        }
    }
}

/// What was searched, defaults included, and the same search in Sentry.
fn header(cx: &Call<'_>, params: &Params, plan: &Plan, project: Option<&str>) -> Page {
    let organization = &params.organization_slug;
    let mut page = Page::new(format!("Search in {organization}: {}", plan.dataset.id()));
    page.fact("Data set", plan.dataset.id());
    if plan.query.is_empty() {
        page.fact("Query", "(everything)");
    } else {
        page.code_fact("Query", [plan.query.as_str()]);
    }
    if !plan.fields.is_empty() {
        page.code_fact("Fields", plan.fields.iter().map(String::as_str));
    }
    page.code_fact("Sort", [plan.sort.as_str()])
        .fact("Period", event_search::told(&plan.time))
        .maybe("Project", params.project_slug.as_deref().map(inline));
    if !plan.environments.is_empty() {
        page.fact("Environments", plan.environments.join(", "));
    }
    page.link("In Sentry", &cx.web_url(organization, &event_search::page(plan, project)));
    page
}

fn next_steps(cx: &Call<'_>, plan: &Plan) -> Vec<Option<String>> {
    let trace = cx.hint("get_trace_details", "look at a whole trace, by its id");
    match plan.dataset {
        _ if plan.is_grouped() => {
            let purpose = "look at single events of a group: the same search without functions";
            vec![cx.hint("search_events", purpose)]
        }
        Dataset::Errors => vec![
            cx.hint("get_sentry_resource", "look at the issue of an error, by its link"),
            cx.hint("search_issues", "list the issues that errors belong to"),
        ],
        Dataset::Spans | Dataset::Logs | Dataset::Metrics => vec![trace],
        Dataset::Profiles => {
            vec![cx.hint("get_sentry_resource", "look at a profile, by its link"), trace]
        }
        Dataset::Replays => {
            vec![cx.hint("get_sentry_resource", "look at a replay, by its link")]
        }
    }
}

#[cfg(test)]
mod tests;
