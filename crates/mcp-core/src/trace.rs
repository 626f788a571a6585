//! What the tools about traces share: a trace is looked up and shown, whole or from one of its spans.

use api_client::sentry::{Client, time::TimeRange, traces::TraceMeta};

use crate::{
    conversation::links,
    error::ToolError,
    render::{
        Page,
        event::milliseconds,
        inline, is_id, segment,
        trace::{self, Forest},
    },
    tool::{Call, Markdown},
};

/// How far back traces are looked for.
const WINDOW: &str = "14d";
/// The fewest spans that are asked for, and the most: of a whole trace, to find one span.
const LEAST_SPANS: u32 = 50;
const MOST_SPANS: u32 = 1_000;
const MOST_SPANS_TO_FIND_ONE: u32 = 10_000;
/// Projects that are named.
const MOST_PROJECTS: usize = 12;

/// A trace that a caller named.
#[derive(Debug)]
pub(crate) struct TraceTarget<'a> {
    pub(crate) organization: &'a str,
    pub(crate) region: Option<&'a str>,
    pub(crate) trace: &'a str,
    /// One of its spans.
    pub(crate) span: Option<&'a str>,
}

impl TraceTarget<'_> {
    /// Looks the trace up and shows it.
    pub(crate) async fn show(&self, cx: &Call<'_>) -> Result<Markdown, ToolError> {
        let sentry = cx.sentry_of(self.organization, self.region).await?;
        let id = self.trace.to_ascii_lowercase();
        let meta = sentry.trace_meta(self.organization, &id, WINDOW).await?;
        let limit = self.limit(&meta);
        let nodes = sentry.trace(self.organization, &id, WINDOW, limit).await?;
        let forest = Forest::of(nodes);
        match self.span {
            Some(span) => self.one_span(cx, &id, span, &forest, &meta),
            None => Ok(self.whole(cx, &sentry, &id, &forest, &meta).await),
        }
    }

    fn limit(&self, meta: &TraceMeta) -> u32 {
        let most = if self.span.is_some() { MOST_SPANS_TO_FIND_ONE } else { MOST_SPANS };
        let known = meta.span_count.map(|spans| spans + meta.errors.unwrap_or(0) as f64);
        // A cast of a number too large ends at the largest.
        known.map_or(most, |count| (count as u32).clamp(LEAST_SPANS, most))
    }

    async fn whole(
        &self,
        cx: &Call<'_>,
        sentry: &Client,
        id: &str,
        forest: &Forest,
        meta: &TraceMeta,
    ) -> Markdown {
        let mut page = Page::new(format!("Trace {id} in {}", self.organization));
        for (name, count) in counts(forest, meta) {
            page.fact(name, count);
        }
        let projects = trace::projects(forest, MOST_PROJECTS).join(", ");
        page.maybe("Duration", forest.duration().map(milliseconds))
            .maybe("Projects", Some(projects))
            .fact("Link", self.link(cx, id, None));
        if forest.nodes.is_empty() && forest.failures.is_empty() {
            page.paragraph(format!("Sentry has no spans of this trace within the last {WINDOW}: it may be older, of another organization, or without spans."));
        } else {
            page.untrusted(&trace::overview(forest));
        }
        self.add_conversations(&mut page, cx, sentry, id, forest).await;
        let root = forest.roots.first().and_then(|it| forest.node(*it)?.span.any_id());
        let root = root.filter(|it| is_id(it));
        let example = root.map(|it| format!("`spanId` such as `{it}`"));
        page.next_steps([
            example.and_then(|it| {
                cx.hint(
                    "get_span_details",
                    &format!("see one span with all its attributes, by {it}"),
                )
            }),
            cx.hint(
                "search_events",
                &format!(
                    "find its spans, errors or logs, each by `dataset`, with the query `trace:{id}`"
                ),
            ),
            (!forest.failures.is_empty())
                .then(|| {
                    cx.hint("get_issue_details", "look at an issue, by its id or by an event's")
                })
                .flatten(),
        ]);
        page.finish()
    }

    /// Conversations with a model, where this session can read them.
    async fn add_conversations(
        &self,
        page: &mut Page,
        cx: &Call<'_>,
        sentry: &Client,
        id: &str,
        forest: &Forest,
    ) {
        if !cx.reach.has(links::TOOL) || forest.nodes.is_empty() {
            return;
        }
        let mut found = trace::conversations(forest, links::MOST);
        if found.is_empty() {
            let time = TimeRange::Last(WINDOW.to_owned());
            found = links::of_trace(sentry, self.organization, id, &time).await;
        }
        links::add(page, cx, &found);
    }

    fn one_span(
        &self,
        cx: &Call<'_>,
        id: &str,
        span: &str,
        forest: &Forest,
        meta: &TraceMeta,
    ) -> Result<Markdown, ToolError> {
        let span = span.trim();
        let place = forest.find(span).ok_or_else(|| unknown_span(id, span, forest, meta))?;
        let mut page = Page::new(format!("Span {} in {}", inline(span), self.organization));
        let counts = counts(forest, meta).into_iter();
        let counts: Vec<_> = counts.map(|(name, count)| format!("{name} {count}")).collect();
        page.fact("Link", self.link(cx, id, Some(span)))
            .fact("Trace", id)
            .fact("The trace holds", counts.join(", "));
        page.untrusted(&trace::focus(forest, place));
        if let Some(attributes) = trace::attributes(forest, place) {
            page.heading("Attributes").untrusted(&attributes);
        }
        page.next_steps([
            cx.hint("get_trace_details", "see the whole trace"),
            cx.hint(
                "search_events",
                &format!("find what was logged meanwhile, in the dataset `logs` with the query `trace:{id}`"),
            ),
        ]);
        Ok(page.finish())
    }

    fn link(&self, cx: &Call<'_>, id: &str, span: Option<&str>) -> String {
        let node = span.map(|it| format!("?node=span-{}", segment(it))).unwrap_or_default();
        cx.web_url(self.organization, &format!("/explore/traces/trace/{}{node}", segment(id)))
    }
}

/// What Sentry counts; where fewer spans were read than there are, how many.
fn counts(forest: &Forest, meta: &TraceMeta) -> Vec<(&'static str, String)> {
    let read = forest.nodes.len();
    let spans = meta.span_count.filter(|it| it.is_finite() && *it >= 0.0);
    let spans = match spans {
        Some(count) if count > read as f64 => format!("{count:.0}, of which {read} were read"),
        Some(count) => format!("{count:.0}"),
        None => read.to_string(),
    };
    let rest = [
        ("Errors", meta.errors),
        ("Performance issues", meta.performance_issues),
        ("Logs", meta.logs),
    ];
    let rest = rest.into_iter().filter_map(|(name, count)| Some((name, count?.to_string())));
    std::iter::once(("Spans", spans)).chain(rest).collect()
}

fn unknown_span(id: &str, span: &str, forest: &Forest, meta: &TraceMeta) -> ToolError {
    let read = forest.nodes.len();
    let all = meta.span_count.filter(|it| *it > read as f64);
    let (span, among) = (
        inline(span),
        match all {
            Some(all) => format!("among the {read} of {all:.0} spans that could be read"),
            None => format!("among its {read} spans of the last {WINDOW}"),
        },
    );
    ToolError::user(format!("the trace `{id}` has no span `{span}` {among}"))
        .hint("take the span's id from the trace, or from a search for spans")
        .hint_tool("get_trace_details", "see the trace's spans with their ids")
        .hint_tool("search_events", "search the spans")
}
