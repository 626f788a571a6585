//! `get_issue_details`: an issue with its newest event, or with the one that is named.

use api_client::{
    error::ErrorKind,
    sentry::{
        error::Error,
        events::{Event, LATEST},
        issues::{Issue, IssueList},
        source_links::SourceLink,
        time::TimeRange,
    },
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    conversation::links,
    error::ToolError,
    issue::{IssueRef, IssueTarget, Surroundings},
    params::EventId,
    render::{
        Page,
        event::{self, FEW_BREADCRUMBS, Sheet},
        inline, issue_facts, issue_name, issue_words, seer_summary, segment,
    },
    skill::Skill,
    tool::{Call, CuratedTool, Markdown, Spec},
};

/// Replays that are linked.
const MOST_REPLAYS: usize = 5;
/// Issues of other trackers that are linked.
const MOST_EXTERNAL: usize = 10;

#[derive(Debug)]
pub(super) struct GetIssueDetails;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    #[serde(flatten)]
    issue: IssueRef,
    /// this event instead of the newest one, 32 hexadecimal digits; with `organizationSlug` it also finds its issue
    event_id: Option<EventId>,
}

impl CuratedTool for GetIssueDetails {
    const SPEC: Spec = Spec {
        name: "get_issue_details",
        title: "Get issue details",
        description: "Show one issue and its newest event, or another by `eventId`: exception with stack and code, threads, request, performance or metric evidence, user, tags, contexts, replays, Seer's findings. Name it by `issueUrl`, or by `organizationSlug` and `issueId` as in `SHOP-42`.",
        skills: &[Skill::Inspect, Skill::Triage, Skill::Seer],
        scopes: &["event:read"],
        ..Spec::READ
    };
    type Params = Params;
    type Output = Markdown;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Markdown, ToolError> {
        let target = if params.issue.names_issue() {
            params.issue.resolve(cx)?
        } else {
            match by_event(cx, &params).await? {
                Ok(target) => target,
                Err(unknown) => return Ok(unknown),
            }
        };
        let wanted = params.event_id.as_deref().or(target.event.as_deref()).unwrap_or(LATEST);
        let (issue, event) = tokio::join!(
            target.fetch(cx),
            target.sentry.issue_event(&target.organization, &target.issue, wanted)
        );
        let issue = issue?;
        let event = Reading::of(event)?;
        let surroundings = Surroundings::of(cx, &target, &issue, event.event()).await;
        Ok(render(cx, &target, &issue, &event, &surroundings))
    }
}

/// The issue of an event; an event that nobody knows is told as such.
async fn by_event(
    cx: &Call<'_>,
    params: &Params,
) -> Result<Result<IssueTarget, Markdown>, ToolError> {
    let Some(event) = params.event_id.as_deref() else {
        return params.issue.resolve(cx).map(Ok);
    };
    let Some(organization) = params.issue.organization() else {
        return Err(ToolError::user(format!("`eventId` `{event}` needs `organizationSlug`"))
            .hint_tool("find_organizations", "list the organizations"));
    };
    let sentry = params.issue.sentry(cx)?;
    let list = IssueList {
        query: event,
        sort: None,
        time: &TimeRange::Last("90d".to_owned()),
        project: None,
        limit: 1,
        cursor: None,
    };
    let found = sentry.list_issues(organization, &list).await?.items.into_iter().next();
    let Some(issue) = found else {
        let mut page = Page::new(format!("No event {event} in {organization}"));
        page.paragraph("No issue of the last 90 days has an event of this id. It may be older, of another organization, or one the token may not see.")
            .next_steps([cx.hint("search_issues", "search the issues instead")]);
        return Ok(Err(page.finish()));
    };
    let organization = organization.to_owned();
    Ok(Ok(IssueTarget { organization, issue: issue.id, event: None, sentry }))
}

/// The event, or why there is none to show although the issue is there.
enum Reading {
    Event(Box<Event>),
    Missing,
    TooLarge,
}

impl Reading {
    fn of(event: Result<Event, Error>) -> Result<Self, ToolError> {
        match event {
            Ok(event) => Ok(Self::Event(Box::new(event))),
            Err(error) if error.is_not_found() => Ok(Self::Missing),
            Err(Error::Transport(error)) if matches!(error.kind(), ErrorKind::TooLarge { .. }) => {
                Ok(Self::TooLarge)
            }
            Err(error) => Err(error.into()),
        }
    }

    fn event(&self) -> Option<&Event> {
        match self {
            Self::Event(event) => Some(event),
            Self::Missing | Self::TooLarge => None,
        }
    }
}

fn render(
    cx: &Call<'_>,
    target: &IssueTarget,
    issue: &Issue,
    reading: &Reading,
    surroundings: &Surroundings,
) -> Markdown {
    let organization = &target.organization;
    let name = inline(issue_name(issue));
    let mut page = Page::new(format!("Issue {name} in {organization}"));
    issue_facts(&mut page, issue, &target.web_url(cx, issue));
    let mut words = Sheet::new(4_000);
    issue_words(&mut words, issue);
    match reading {
        Reading::Event(event) => {
            page.heading(format!("Event {}", inline(&event.id)))
                .maybe("Occurred", event.date_created.as_ref())
                .maybe("Type", event.kind.as_ref())
                .maybe("Platform", event.platform.as_ref())
                .maybe("Code location", surroundings.source.as_ref().map(code_location));
            let text = format!("{}\n{}", words.finish(), event::body(event, &surroundings.spans));
            page.untrusted(&text);
        }
        Reading::Missing => {
            page.heading("Event")
                .paragraph("Sentry has no such event of this issue, or no longer.")
                .untrusted(&words.finish());
        }
        Reading::TooLarge => {
            page.heading("Event")
                .paragraph("The event is too large to be read here; its page in Sentry shows it.")
                .untrusted(&words.finish());
        }
    }
    beyond_the_event(&mut page, cx, target, surroundings);
    notes(&mut page, cx, &name, reading.event());
    page.finish()
}

fn code_location(source: &SourceLink) -> String {
    format!("{} in {}: {}", source.path, source.repository, source.url)
}

/// Replays, Seer, other trackers.
fn beyond_the_event(
    page: &mut Page,
    cx: &Call<'_>,
    target: &IssueTarget,
    surroundings: &Surroundings,
) {
    if !surroundings.replays.is_empty() {
        page.heading(format!("Replays ({})", surroundings.replays.len()));
        for id in surroundings.replays.iter().take(MOST_REPLAYS) {
            page.item(cx.web_url(&target.organization, &format!("/explore/replays/{id}/")));
        }
    }
    if let Some(run) = &surroundings.autofix {
        page.heading("Seer").maybe("Run", run.run_id.as_ref()).maybe("State", run.status.as_ref());
        let summary = seer_summary(run);
        if !summary.is_empty() {
            page.untrusted(&summary);
        }
    }
    if !surroundings.external.is_empty() {
        page.heading("Issues of other trackers");
        for link in surroundings.external.iter().take(MOST_EXTERNAL) {
            let parts = [&link.service_type, &link.display_name, &link.web_url];
            let parts: Vec<_> = parts.into_iter().flatten().map(String::as_str).collect();
            page.item(parts.join(" "));
        }
    }
    links::add(page, cx, &surroundings.conversations);
}

fn notes(page: &mut Page, cx: &Call<'_>, name: &str, event: Option<&Event>) {
    let crumbs = event.map_or(0, |it| event::breadcrumbs(it).len());
    let threads = event.map_or(0, |it| event::threads(it).len());
    let trace = event.and_then(event::trace_id).map(segment);
    page.next_steps([
        Some(format!("a commit whose message holds `Fixes {name}` resolves the issue")),
        cx.hint("search_issue_events", "look at other events of the issue, with filters"),
        (crumbs > FEW_BREADCRUMBS)
            .then(|| cx.hint("get_issue_breadcrumbs", &format!("see all {crumbs} breadcrumbs")))
            .flatten(),
        (threads > 1)
            .then(|| cx.hint("get_event_stacktrace", "see the stack of another thread"))
            .flatten(),
        trace.as_ref().and_then(|id| {
            cx.hint("get_trace_details", &format!("see what else happened in the trace `{id}`"))
        }),
        trace.as_ref().and_then(|id| {
            let purpose = format!("find its spans and logs with the query `trace:{id}`");
            cx.hint("search_events", &purpose)
        }),
    ]);
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::{Value, json};

    use crate::test_support::{Sentry, fault};

    const ISSUE: &str = "/api/0/organizations/{o}/issues/{i}/";
    const EVENT: &str = "/api/0/organizations/{o}/issues/{i}/events/{e}/";

    fn named(issue: &str) -> Value {
        json!({"organizationSlug": "harbor-lantern", "issueId": issue})
    }

    async fn shown(issue: &str) -> String {
        Sentry::new().call("get_issue_details", named(issue)).await
    }

    /// Without the requests: some are sent at once, in any order.
    async fn answer(issue: &str) -> String {
        let shown = shown(issue).await;
        shown.split_once("\n--- ").unwrap().1.to_owned()
    }

    #[tokio::test]
    async fn an_exception_comes_with_all_that_is_around_it() {
        assert_snapshot!(answer("QUAY-API-2").await);
    }

    #[tokio::test]
    async fn a_javascript_error_comes_with_its_replays_and_the_last_breadcrumbs() {
        assert_snapshot!(answer("QUAY-WEB-3").await);
    }

    #[tokio::test]
    async fn every_other_kind_of_issue_says_what_it_is_about() {
        for (issue, words) in [
            ("LAMP-MOBILE-1", &["java.lang.RuntimeException: Unable to resume", "Caused by:"][..]),
            (
                "LAMP-MOBILE-2",
                &["Stack of thread 1: main (BLOCKED, crashed, current)", "Threads (3)"],
            ),
            ("TIDE-WORKER-2", &["main.(*Forecaster).Next(...)"]),
            ("TIDE-WORKER-3", &["tide_worker::gauge::read\n      at src/gauge.rs:57"]),
            ("QUAY-API-3", &["/src/Mail/Sender.php(63): App\\Mail\\Sender::deliver()"]),
            (
                "QUAY-API-4",
                &[
                    "at Harbor.Billing.InvoiceService.Latest() in Harbor.Billing/InvoiceService.cs:line 52",
                ],
            ),
            ("QUAY-API-5", &["GET https://tides.harbor-lantern.test/tides/today", "port = bergen"]),
            ("QUAY-WEB-4", &["Blocked: https://cdn.evil.test/x.js", "Directive: script-src-elem"]),
            ("QUAY-API-6", &["14 × SELECT * FROM boats WHERE id = %s", "… 6 more spans"]),
            (
                "QUAY-API-7",
                &["Aggregate: count()", "Threshold: > 50", "Value: 83", "Interval: 5 min"],
            ),
            ("QUAY-API-8", &["Before: 120 ms", "After: 311 ms", "Since: 2026-05-01T00:00:00Z"]),
            ("QUAY-WEB-5", &["I cannot find the invoices.", "Email: skipper@boats.test"]),
        ] {
            let text = shown(issue).await;
            for word in words {
                assert!(text.contains(word), "{issue}: `{word}` in\n{text}");
            }
        }
    }

    /// P34.
    #[tokio::test]
    async fn another_event_than_the_newest_is_asked_for_by_its_id() {
        let sentry = Sentry::new();
        let list = json!({"organizationSlug": "harbor-lantern", "issueId": "QUAY-API-2"});
        let events = sentry.call("search_issue_events", list).await;
        let id = events.lines().rev().find_map(|it| it.trim().strip_prefix("eventID: ")).unwrap();
        let mut arguments = named("QUAY-API-2");
        arguments["eventId"] = json!(id);
        let text = sentry.call("get_issue_details", arguments).await;
        let path = format!("/api/0/organizations/harbor-lantern/issues/QUAY-API-2/events/{id}/");
        assert!(text.contains(&format!("GET {path}")), "{text}");
        assert!(text.contains(&format!("## Event {id}")), "{text}");
        let alone = json!({"organizationSlug": "harbor-lantern", "eventId": id});
        let text = sentry.call("get_issue_details", alone).await;
        assert!(text.contains("# Issue QUAY-API-2 in"), "{text}");
    }

    /// P35.
    #[tokio::test]
    async fn a_hundred_breadcrumbs_are_five_with_a_hint_to_the_rest() {
        let crumbs: Vec<Value> =
            (0..100).map(|n| json!({"category": "c", "message": format!("step {n}.")})).collect();
        let event =
            json!({"id": "e", "entries": [{"type": "breadcrumbs", "data": {"values": crumbs}}]});
        let sentry = Sentry::with_fault(fault("GET", EVENT, 200, &event.to_string()));
        let text = sentry.call("get_issue_details", named("QUAY-WEB-3")).await;
        assert_eq!(text.matches("[c] step").count(), 5, "{text}");
        assert!(text.contains("step 99.") && text.contains("see all 100 breadcrumbs"), "{text}");
    }

    #[tokio::test]
    async fn an_event_nobody_knows_is_told_and_no_failure() {
        let arguments = json!({"organizationSlug": "harbor-lantern", "eventId": "0".repeat(32)});
        assert_snapshot!(Sentry::new().call("get_issue_details", arguments).await);
    }

    #[tokio::test]
    async fn an_issue_whose_events_are_gone_is_still_shown() {
        let sentry =
            Sentry::with_fault(fault("GET", EVENT, 404, r#"{"detail":"No matching event"}"#));
        let text = sentry.call("get_issue_details", named("QUAY-API-4")).await;
        assert!(text.contains("has no such event") && text.contains("--- text"), "{text}");
    }

    #[tokio::test]
    async fn an_event_of_five_megabytes_is_cut_and_says_so() {
        let frame = json!({"function": "f", "filename": "a.py", "inApp": true, "vars": {"x": "v".repeat(4_000)}});
        let values = json!([{"type": "E", "value": "x".repeat(900_000), "stacktrace": {"frames": vec![frame; 1_000]}}]);
        let crumbs = vec![json!({"category": "c", "message": "m".repeat(2_000)}); 200];
        let event = json!({
            "id": "e", "platform": "python", "message": "long\n".repeat(20_000),
            "entries": [{"type": "exception", "data": {"values": values}}, {"type": "breadcrumbs", "data": {"values": crumbs}}],
        });
        assert!(event.to_string().len() > 5_000_000);
        let sentry = Sentry::with_fault(fault("GET", EVENT, 200, &event.to_string()));
        let text = sentry.call("get_issue_details", named("QUAY-API-2")).await;
        assert!(text.len() < 45_000, "{} bytes", text.len());
        assert!(
            text.contains("… 19960 more lines") && text.contains("… 960 frames are not shown"),
            "{text}"
        );
        assert!(text.contains("## Seer"), "{text}");
    }

    #[tokio::test]
    async fn an_event_that_is_too_large_to_be_read_costs_only_itself() {
        let event = json!({"id": "e", "message": "x".repeat(17 << 20)}).to_string();
        let sentry = Sentry::with_fault(fault("GET", EVENT, 200, &event));
        let text = sentry.call("get_issue_details", named("QUAY-API-2")).await;
        assert!(text.contains("too large to be read") && text.contains("Seer"), "{text}");
    }

    #[tokio::test]
    async fn an_unknown_issue_is_named_with_the_tool_that_finds_it() {
        assert_snapshot!(answer("QUAY-API-99").await);
    }

    #[tokio::test]
    async fn an_id_alone_is_not_enough() {
        let arguments = json!({"issueId": "QUAY-API-2"});
        assert_snapshot!(Sentry::new().call("get_issue_details", arguments).await);
    }

    #[tokio::test]
    async fn an_issue_of_another_project_is_refused() {
        let sentry = Sentry::new().pinned("harbor-lantern", Some("quay-web"));
        let text = sentry.call_failing("get_issue_details", json!({"issueId": "QUAY-API-2"})).await;
        assert!(text.contains("does not belong to the project `quay-web`"), "{text}");
    }

    /// P39.
    #[tokio::test]
    async fn an_old_installation_that_lacks_fields_costs_nothing_else() {
        let sentry = Sentry::with_faults(vec![
            fault("GET", ISSUE, 200, r#"{"id":7,"project":null,"metadata":[]}"#),
            fault("GET", EVENT, 200, r#"{"id":"e","entries":null,"tags":[{"key":null}]}"#),
        ]);
        let text = sentry.call("get_issue_details", named("7")).await;
        assert!(
            text.contains("# Issue 7 in harbor-lantern") && text.contains("## Event e"),
            "{text}"
        );
    }
}
