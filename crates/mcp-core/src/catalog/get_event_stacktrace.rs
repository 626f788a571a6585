//! `get_event_stacktrace`: the whole stack of one thread, or of an event's exceptions.

use api_client::sentry::events::Event;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    error::ToolError,
    issue::IssueTarget,
    params::{EventRef, IssueId, OrganizationSlug, RegionUrl},
    render::{
        Page,
        event::{self, Sheet, StackView, Thread},
        inline,
    },
    skill::Skill,
    tool::{Call, CuratedTool, Markdown, Spec},
};

/// Bytes of the stack.
const ROOM: usize = 60_000;

#[derive(Debug)]
pub(super) struct GetEventStacktrace;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    organization_slug: OrganizationSlug,
    region_url: Option<RegionUrl>,
    issue_id: IssueId,
    #[serde(default)]
    event_id: EventRef,
    /// name or id of a thread; by default the one that crashed
    thread: Option<String>,
}

impl CuratedTool for GetEventStacktrace {
    const SPEC: Spec = Spec {
        name: "get_event_stacktrace",
        title: "Get event stack trace",
        description: "Show the whole stack of one thread of an event, libraries included, with code and variables of the most relevant frame. For the first look at an issue use `get_issue_details`.",
        skills: &[Skill::Inspect, Skill::Triage, Skill::Seer],
        scopes: &["event:read"],
        ..Spec::READ
    };
    type Params = Params;
    type Output = Markdown;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Markdown, ToolError> {
        let target = IssueTarget {
            organization: params.organization_slug.to_string(),
            issue: params.issue_id.to_string(),
            event: None,
            sentry: cx.sentry_in(params.region_url.as_deref())?,
        };
        target.check_project(cx).await?;
        let event =
            target.sentry.issue_event(&target.organization, &target.issue, &params.event_id);
        let event = event.await?;
        let threads = event::threads(&event);
        let mut page = Page::new(format!("Stack of event {}", inline(&event.id)));
        page.fact("Issue", &target.issue).maybe("Occurred", event.date_created.as_ref());
        match chosen(&threads, params.thread.as_deref()) {
            Choice::Thread(thread, why) => of_thread(&mut page, &event, &threads, thread, &why),
            Choice::Unclear(why) => {
                let mut sheet = Sheet::new(ROOM);
                event::table(&mut sheet, &threads);
                page.paragraph(why).untrusted(&sheet.finish());
                page.paragraph(
                    "Name one of these as `thread`, by name or by the id before the colon.",
                );
            }
            Choice::NoThreads => of_exceptions(&mut page, &event),
        }
        Ok(page.finish())
    }
}

/// Which thread is meant.
enum Choice<'e> {
    Thread(Thread<'e>, String),
    Unclear(String),
    NoThreads,
}

/// A name first, then an id; without either the thread that matters.
fn chosen<'e>(threads: &[Thread<'e>], wanted: Option<&str>) -> Choice<'e> {
    let Some(wanted) = wanted.map(str::trim).filter(|it| !it.is_empty()) else {
        return match event::default_thread(threads) {
            Some((thread, why)) => Choice::Thread(thread, why.to_owned()),
            None => Choice::NoThreads,
        };
    };
    let by_name: Vec<_> = threads.iter().filter(|it| it.name() == Some(wanted)).collect();
    let by_id: Vec<_> = threads.iter().filter(|it| it.id().as_deref() == Some(wanted)).collect();
    match (by_name.as_slice(), by_id.as_slice()) {
        ([thread], _) => Choice::Thread(**thread, "it has the name asked for".to_owned()),
        ([], [thread]) => Choice::Thread(**thread, "it has the id asked for".to_owned()),
        ([], []) if threads.is_empty() => Choice::NoThreads,
        ([], []) => Choice::Unclear(format!("The event has no thread `{}`.", inline(wanted))),
        (several, _) => Choice::Unclear(format!(
            "{} threads are called `{}`; an id is clear.",
            several.len(),
            inline(wanted)
        )),
    }
}

fn of_thread(
    page: &mut Page,
    event: &Event,
    threads: &[Thread<'_>],
    thread: Thread<'_>,
    why: &str,
) {
    page.fact("Threads", threads.len()).fact("Shown because", why);
    let platform = event.platform.as_deref();
    let mut sheet = Sheet::new(ROOM);
    sheet.section(format!("Thread {}", thread.label()));
    if let Some(stack) = thread.stack() {
        if let Some(frame) = stack.relevant() {
            event::relevant_frame(&mut sheet, frame, platform);
        }
        sheet.section(format!("Stack of thread {}", thread.label()));
        event::frames(&mut sheet, &stack, platform, StackView::WHOLE);
    } else if !event::exception_stacks(&mut sheet, event) {
        sheet.line("This thread was sent without frames.");
    }
    page.untrusted(&sheet.finish());
}

fn of_exceptions(page: &mut Page, event: &Event) {
    let mut sheet = Sheet::new(ROOM);
    if let Some(frame) = event::relevant(event) {
        event::relevant_frame(&mut sheet, frame, event.platform.as_deref());
    }
    if event::exception_stacks(&mut sheet, event) {
        page.paragraph("The event has no threads; this is the stack of its exceptions.")
            .untrusted(&sheet.finish());
    } else {
        page.paragraph("The event has neither threads nor exceptions.");
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::{Value, json};

    use crate::test_support::{Sentry, fault};

    const EVENT: &str = "/api/0/organizations/{o}/issues/{i}/events/{e}/";

    fn arguments(issue: &str, thread: Value) -> Value {
        json!({"organizationSlug": "harbor-lantern", "issueId": issue, "thread": thread})
    }

    async fn shown(issue: &str, thread: Value) -> String {
        Sentry::new().call("get_event_stacktrace", arguments(issue, thread)).await
    }

    #[tokio::test]
    async fn the_thread_that_crashed_is_shown_whole() {
        assert_snapshot!(shown("LAMP-MOBILE-2", json!(null)).await);
    }

    #[tokio::test]
    async fn a_thread_is_found_by_name_and_by_number() {
        for thread in [json!("upload"), json!(7), json!("7")] {
            let text = shown("LAMP-MOBILE-2", thread).await;
            assert!(
                text.contains("Stack of thread 7: upload") && text.contains("Uploader.run"),
                "{text}"
            );
        }
    }

    #[tokio::test]
    async fn an_unknown_thread_is_answered_with_those_there_are() {
        assert_snapshot!(shown("LAMP-MOBILE-2", json!("render")).await);
    }

    #[tokio::test]
    async fn an_event_without_threads_shows_its_exceptions_unfolded() {
        let text = shown("QUAY-API-2", json!(null)).await;
        assert!(text.contains("in dispatch") && !text.contains("frames of libraries"), "{text}");
    }

    #[tokio::test]
    async fn an_event_of_nothing_says_so() {
        let sentry = Sentry::with_fault(fault("GET", EVENT, 200, r#"{"id":"e"}"#));
        let text = sentry.call("get_event_stacktrace", arguments("QUAY-API-2", json!(null))).await;
        assert!(text.contains("neither threads nor exceptions"), "{text}");
    }

    #[tokio::test]
    async fn ten_thousand_frames_stay_within_bounds() {
        let frames: Vec<Value> = (0..10_000)
            .map(|n| json!({"function": format!("f{n}"), "filename": "a.c", "inApp": true}))
            .collect();
        let event = json!({"id": "e", "entries": [{"type": "threads", "data": {"values": [{"id": 1, "stacktrace": {"frames": frames}}]}}]});
        let sentry = Sentry::with_fault(fault("GET", EVENT, 200, &event.to_string()));
        let text = sentry.call("get_event_stacktrace", arguments("QUAY-API-2", json!(null))).await;
        assert!(
            text.len() < 40_000 && text.contains("9600 frames are not shown"),
            "{}",
            text.len()
        );
    }

    #[tokio::test]
    async fn an_unknown_issue_is_named() {
        assert_snapshot!(shown("QUAY-API-99", json!(null)).await);
    }
}
