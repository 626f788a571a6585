//! `analyze_issue_with_seer`: lets Seer look for the cause of an issue, and waits for what it finds.

use std::time::{Duration, Instant};

use api_client::sentry::{
    autofix::{Autofix, AutofixRequest},
    issues::Issue,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    error::ToolError,
    issue::{IssueRef, IssueTarget},
    render::{Page, inline, is_about_metric, issue_name, seer_findings, seer_progress},
    skill::Skill,
    tool::{Call, CuratedTool, Effect, Markdown, Spec},
};

/// Between two looks at a run.
const PAUSE: Duration = Duration::from_millis(if cfg!(test) { 5 } else { 5_000 });
/// Between starting a run and the first look.
const FIRST_PAUSE: Duration = Duration::from_millis(if cfg!(test) { 1 } else { 1_000 });
/// Time that is left for the answer.
const MARGIN: Duration = Duration::from_secs(3);
/// Looks that may fail one after the other.
const MOST_FAILURES: u32 = 3;

#[derive(Debug)]
pub(super) struct AnalyzeIssueWithSeer;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    #[serde(flatten)]
    issue: IssueRef,
    /// what to pay attention to
    instruction: Option<String>,
}

impl CuratedTool for AnalyzeIssueWithSeer {
    const SPEC: Spec = Spec {
        name: "analyze_issue_with_seer",
        title: "Analyze issue with Seer",
        description: "Let Sentry's agent Seer find the root cause of an issue and a solution. Only when the user asks, or the cause stays unclear. Takes minutes: call again with the same arguments to go on waiting; finished runs answer at once. Not for metric issues.",
        skills: &[Skill::Seer],
        scopes: &["event:read"],
        effect: Effect::Add,
        ..Spec::READ
    };
    type Params = Params;
    type Output = Markdown;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Markdown, ToolError> {
        let target = params.issue.resolve(cx)?;
        let issue = target.fetch(cx).await?;
        if is_about_metric(&issue) {
            return Ok(unsupported(cx, &issue));
        }
        let (organization, id) = (target.organization.as_str(), issue.id.as_str());
        let mut run = target.sentry.autofix(organization, id).await?;
        if run.is_none() {
            let request = AutofixRequest {
                event: target.event.as_deref(),
                instruction: params.instruction.as_deref(),
            };
            target.sentry.start_autofix(organization, id, request).await?;
            tokio::time::sleep(FIRST_PAUSE).await;
            run = target.sentry.autofix(organization, id).await.ok().flatten();
        }
        let (run, end) = wait(&target, &issue, run, cx.deadline()).await;
        Ok(render(cx, &target, &issue, run.as_ref(), end))
    }
}

/// How the waiting ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Over,
    TimeIsUp,
    Unreachable,
}

/// Looks at the run until it is over, the time is up, or Seer cannot be reached.
async fn wait(
    target: &IssueTarget,
    issue: &Issue,
    mut run: Option<Autofix>,
    deadline: Instant,
) -> (Option<Autofix>, End) {
    let mut failures = 0;
    loop {
        if run.as_ref().is_some_and(Autofix::is_over) {
            return (run, End::Over);
        }
        if Instant::now() + PAUSE + MARGIN > deadline {
            return (run, End::TimeIsUp);
        }
        tokio::time::sleep(PAUSE).await;
        match target.sentry.autofix(&target.organization, &issue.id).await {
            Ok(found) => {
                failures = 0;
                run = found.or(run);
            }
            Err(error) => {
                failures += 1;
                tracing::info!(%error, failures, "a look at a run of Seer failed");
                if failures == MOST_FAILURES {
                    return (run, End::Unreachable);
                }
            }
        }
    }
}

fn unsupported(cx: &Call<'_>, issue: &Issue) -> Markdown {
    let name = inline(issue_name(issue));
    let mut page = Page::new(format!("Seer does not analyse {name}"));
    page.paragraph("It is about a metric, which has no stack and no trace that Seer could read.");
    page.next_steps([
        cx.hint("get_issue_details", "see the metric, its value and its threshold"),
        cx.hint("search_events", "look at the events behind the metric"),
        cx.hint("get_alert_rule", "see the rule that raised it"),
    ]);
    page.finish()
}

fn render(
    cx: &Call<'_>,
    target: &IssueTarget,
    issue: &Issue,
    run: Option<&Autofix>,
    end: End,
) -> Markdown {
    let name = inline(issue_name(issue));
    let mut page = Page::new(format!("Seer on {name} in {}", target.organization));
    page.maybe("Run", run.and_then(|it| it.run_id.as_ref()))
        .maybe("State", run.and_then(|it| it.status.as_ref()))
        .fact("Link", target.web_url(cx, issue));
    if let Some(step) = run.and_then(seer_progress).filter(|_| end != End::Over) {
        page.heading("At work on").untrusted(&step);
    }
    let found = run.is_some_and(|it| seer_findings(&mut page, it));
    let again = format!(
        "call `analyze_issue_with_seer` again with `organizationSlug` `{}` and `issueId` `{name}`",
        target.organization
    );
    let state = run.and_then(|it| it.status.as_deref()).unwrap_or_default().to_ascii_lowercase();
    let what_now = match end {
        End::TimeIsUp => Some(format!("The run goes on. To wait for it, {again}.")),
        End::Unreachable => {
            Some(format!("Seer could not be asked three times in a row. Later, {again}."))
        }
        End::Over if state == "error" => {
            Some("The run failed; its page in Sentry can start another one.".to_owned())
        }
        End::Over if state == "awaiting_user_input" || state == "need_more_information" => Some(
            "Seer waits for an answer, which can be given on the issue's page in Sentry."
                .to_owned(),
        ),
        End::Over if !found => Some("The run is over and has found nothing.".to_owned()),
        End::Over => None,
    };
    if let Some(what_now) = what_now {
        page.paragraph(what_now);
    }
    page.finish()
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use mocks::Fault;
    use serde_json::{Value, json};

    use crate::test_support::{Sentry, fault};

    const AUTOFIX: &str = "/api/0/organizations/{o}/issues/{i}/autofix/";

    fn named(issue: &str) -> Value {
        json!({"organizationSlug": "harbor-lantern", "issueId": issue})
    }

    fn nth(nth: u32, status: u16, body: &str) -> Fault {
        Fault { nth: Some(nth), ..fault("GET", AUTOFIX, status, body) }
    }

    #[tokio::test]
    async fn a_finished_run_is_shown_at_once() {
        assert_snapshot!(Sentry::new().call("analyze_issue_with_seer", named("QUAY-API-2")).await);
    }

    #[tokio::test]
    async fn a_run_is_started_and_waited_for() {
        let running = r#"{"autofix":{"run_id":7,"status":"processing","blocks":[]}}"#;
        let sentry = Sentry::with_faults(vec![nth(2, 200, running), nth(3, 502, "{}")]);
        let mut arguments = named("TIDE-WORKER-2");
        arguments["instruction"] = json!("look at the loader");
        let text = sentry.call("analyze_issue_with_seer", arguments).await;
        assert!(text.contains("leaves a case out") && text.contains("Handle the case."), "{text}");
        let requests = sentry.requests();
        assert_eq!(requests.iter().filter(|it| it.starts_with("POST ")).count(), 1, "{requests:?}");
        assert!(requests.iter().any(|it| it.contains("look at the loader")), "{requests:?}");
    }

    #[tokio::test]
    async fn a_run_that_goes_on_says_how_to_wait_longer() {
        let running = r#"{"autofix":{"run_id":7,"status":"processing","blocks":[{"todos":[{"content":"Read the loader","status":"in_progress"}]}]}}"#;
        let sentry = Sentry::with_fault(fault("GET", AUTOFIX, 200, running))
            .with(|cx| cx.limits.wall = super::MARGIN + super::PAUSE * 2);
        let text = sentry.call("analyze_issue_with_seer", named("TIDE-WORKER-2")).await;
        assert!(text.contains("The run goes on") && text.contains("Read the loader"), "{text}");
        assert!(text.contains("`issueId` `TIDE-WORKER-2`"), "{text}");
    }

    #[tokio::test]
    async fn three_failures_in_a_row_end_the_waiting() {
        let running = r#"{"autofix":{"run_id":7,"status":"processing"}}"#;
        let faults =
            [nth(1, 200, running), nth(2, 500, "{}"), nth(3, 500, "{}"), nth(4, 500, "{}")];
        let sentry = Sentry::with_faults(faults.to_vec());
        let text = sentry.call("analyze_issue_with_seer", named("TIDE-WORKER-2")).await;
        assert!(text.contains("could not be asked three times"), "{text}");
    }

    #[tokio::test]
    async fn a_metric_issue_is_explained_and_not_analysed() {
        assert_snapshot!(Sentry::new().call("analyze_issue_with_seer", named("QUAY-API-7")).await);
    }

    #[tokio::test]
    async fn an_unknown_issue_is_named() {
        assert_snapshot!(Sentry::new().call("analyze_issue_with_seer", named("NOPE-1")).await);
    }

    #[tokio::test]
    async fn what_sentry_says_of_missing_consent_is_passed_on() {
        let sentry =
            Sentry::with_fault(fault("GET", AUTOFIX, 403, r#"{"detail":"Seer is not enabled"}"#));
        let text = sentry.call_failing("analyze_issue_with_seer", named("QUAY-API-2")).await;
        assert!(text.contains("Seer is not enabled"), "{text}");
    }
}
