//! `analyze_issue_with_seer`: lets Seer look for the cause of an issue, and waits for what it finds.

use std::time::{Duration, Instant, SystemTime};

use api_client::{
    error::ErrorKind,
    sentry::{
        autofix::{Autofix, AutofixRequest},
        error::Error,
        issues::Issue,
    },
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

/// How long a call waits: clients give up on one after a minute.
const PATIENCE: Duration = Duration::from_secs(45);
/// Between two looks at a run.
const PAUSE: Duration = Duration::from_secs(5);
/// Between starting a run and the first look.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// Time that is left for the answer.
const MARGIN: Duration = Duration::from_secs(3);
/// How often a look that failed is taken again, and how long to wait before: twice as long each time.
const RETRIES: u32 = 3;
const FIRST_BACKOFF: Duration = Duration::from_secs(1);
const LONGEST_BACKOFF: Duration = Duration::from_secs(30);
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
        let watch = Watch::new(cx, &target, &issue);
        let mut run = watch.look().await?;
        if run.is_none() {
            let request = AutofixRequest {
                event: target.event.as_deref(),
                instruction: params.instruction.as_deref(),
            };
            target.sentry.start_autofix(&target.organization, &issue.id, request).await?;
            cx.tell("Seer has begun");
            cx.clock.sleep(FIRST_PAUSE).await;
            run = watch.look().await.ok().flatten();
        }
        let (run, end) = watch.wait(run).await;
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

/// Looks at the newest run of an issue.
struct Watch<'a> {
    cx: &'a Call<'a>,
    target: &'a IssueTarget,
    issue: &'a Issue,
    until: SystemTime,
}

impl<'a> Watch<'a> {
    fn new(cx: &'a Call<'a>, target: &'a IssueTarget, issue: &'a Issue) -> Self {
        let left = cx.deadline().saturating_duration_since(Instant::now());
        let patience = PATIENCE.min(left.saturating_sub(MARGIN));
        Self { cx, target, issue, until: cx.clock.now() + patience }
    }

    /// Whether so much may still be waited.
    fn may_wait(&self, pause: Duration) -> bool {
        self.cx.clock.now() + pause <= self.until
            && Instant::now() + pause + MARGIN <= self.cx.deadline()
    }

    /// The run as it is now; what may pass by itself is tried again.
    async fn look(&self) -> Result<Option<Autofix>, Error> {
        let mut backoff = FIRST_BACKOFF;
        for _ in 0..RETRIES {
            match self.look_once().await {
                Err(error) if may_pass(&error) && self.may_wait(backoff) => {
                    tracing::info!(%error, "a look at a run of Seer failed");
                    self.cx.clock.sleep(backoff).await;
                    backoff = (backoff * 2).min(LONGEST_BACKOFF);
                }
                outcome => return outcome,
            }
        }
        self.look_once().await
    }

    async fn look_once(&self) -> Result<Option<Autofix>, Error> {
        self.target.sentry.autofix(&self.target.organization, &self.issue.id).await
    }

    /// Looks at the run until it is over, the time is up, or Seer cannot be reached.
    async fn wait(&self, mut run: Option<Autofix>) -> (Option<Autofix>, End) {
        let mut failures = 0;
        loop {
            if run.as_ref().is_some_and(Autofix::is_over) {
                return (run, End::Over);
            }
            if let Some(step) = run.as_ref().and_then(seer_progress) {
                self.cx.tell(format!("Seer: {step}"));
            }
            if !self.may_wait(PAUSE) {
                return (run, End::TimeIsUp);
            }
            self.cx.clock.sleep(PAUSE).await;
            match self.look().await {
                Ok(found) => {
                    failures = 0;
                    run = found.or(run);
                }
                Err(error) => {
                    failures += 1;
                    tracing::info!(%error, failures, "looks at a run of Seer failed");
                    if failures == MOST_FAILURES {
                        return (run, End::Unreachable);
                    }
                }
            }
        }
    }
}

/// Whether the same look may succeed a little later.
fn may_pass(error: &Error) -> bool {
    match error {
        Error::Refused(refusal) => refusal.status >= 500 || refusal.status == 429,
        Error::Transport(error) => !matches!(
            error.kind(),
            ErrorKind::TooLarge { .. }
                | ErrorKind::Decode { .. }
                | ErrorKind::Credential(_)
                | ErrorKind::Request { .. }
        ),
        Error::Region(_) | Error::Cursor => false,
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
        End::TimeIsUp => Some(format!("Seer is still running. To go on waiting, {again}.")),
        End::Unreachable => Some(format!(
            "Seer could not be asked {MOST_FAILURES} times in a row; the run itself may go on. Later, {again}."
        )),
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
    use std::sync::{Arc, Mutex};

    use async_trait::async_trait;
    use insta::assert_snapshot;
    use mocks::Fault;
    use serde_json::{Value, json};
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::{
        caller::{Answer, Caller},
        test_support::{Leap, Sentry, fault},
    };

    const AUTOFIX: &str = "/api/0/organizations/{o}/issues/{i}/autofix/";
    const RUNNING: &str = r#"{"autofix":{"run_id":7,"status":"processing","blocks":[{"todos":[{"content":"Read the loader","status":"in_progress"}]}]}}"#;

    fn named(issue: &str) -> Value {
        json!({"organizationSlug": "harbor-lantern", "issueId": issue})
    }

    fn nth(nth: u32, status: u16, body: &str) -> Fault {
        Fault { nth: Some(nth), ..fault("GET", AUTOFIX, status, body) }
    }

    /// A session in which waiting takes no time, and its clock.
    fn leaping(faults: Vec<Fault>) -> (Sentry, Arc<Leap>) {
        let clock = Leap::new();
        let sentry = Sentry::with_faults(faults).with(|cx| cx.clock = clock.clone());
        (sentry, clock)
    }

    fn looks(sentry: &Sentry) -> usize {
        sentry
            .requests()
            .iter()
            .filter(|it| it.starts_with("GET ") && it.contains("/autofix/"))
            .count()
    }

    #[tokio::test]
    async fn a_finished_run_is_shown_at_once() {
        let (sentry, clock) = leaping(Vec::new());
        assert_snapshot!(sentry.call("analyze_issue_with_seer", named("QUAY-API-2")).await);
        assert_eq!(clock.waited(), Duration::ZERO);
    }

    #[tokio::test]
    async fn a_run_is_started_and_waited_for() {
        let (sentry, clock) = leaping(vec![nth(2, 200, RUNNING), nth(3, 502, "{}")]);
        let mut arguments = named("TIDE-WORKER-2");
        arguments["instruction"] = json!("look at the loader");
        let text = sentry.call("analyze_issue_with_seer", arguments).await;
        assert!(text.contains("leaves a case out") && text.contains("Handle the case."), "{text}");
        let requests = sentry.requests();
        assert_eq!(requests.iter().filter(|it| it.starts_with("POST ")).count(), 1, "{requests:?}");
        assert!(requests.iter().any(|it| it.contains("look at the loader")), "{requests:?}");
        assert_eq!(clock.waited(), FIRST_PAUSE + PAUSE + FIRST_BACKOFF);
    }

    #[tokio::test]
    async fn after_45_seconds_a_run_that_goes_on_says_how_to_wait_longer() {
        let (sentry, clock) = leaping(vec![fault("GET", AUTOFIX, 200, RUNNING)]);
        let text = sentry.call("analyze_issue_with_seer", named("TIDE-WORKER-2")).await;
        assert!(
            text.contains("Seer is still running") && text.contains("Read the loader"),
            "{text}"
        );
        assert!(text.contains("call `analyze_issue_with_seer` again with `organizationSlug` `harbor-lantern` and `issueId` `TIDE-WORKER-2`"), "{text}");
        assert_eq!((clock.waited(), looks(&sentry)), (PATIENCE, 10));
    }

    #[tokio::test]
    async fn a_server_with_less_time_answers_earlier() {
        let (sentry, clock) = leaping(vec![fault("GET", AUTOFIX, 200, RUNNING)]);
        let sentry = sentry.with(|cx| cx.limits.wall = MARGIN + PAUSE * 3);
        let text = sentry.call("analyze_issue_with_seer", named("TIDE-WORKER-2")).await;
        assert!(text.contains("Seer is still running"), "{text}");
        assert_eq!(clock.waited(), PAUSE * 2);
    }

    #[tokio::test]
    async fn a_look_that_fails_is_taken_again_before_it_counts_as_failed() {
        let faults = [500, 502, 503].into_iter().zip(1..);
        let faults = faults.map(|(status, number)| nth(number, status, "{}")).collect();
        let (sentry, clock) = leaping(faults);
        let text = sentry.call("analyze_issue_with_seer", named("QUAY-API-2")).await;
        assert!(text.contains("## Root cause"), "{text}");
        assert_eq!((clock.waited(), looks(&sentry)), (Duration::from_secs(1 + 2 + 4), 4));
    }

    #[tokio::test]
    async fn three_failures_in_a_row_end_the_waiting() {
        let mut faults = vec![nth(1, 200, RUNNING)];
        faults.extend((2..14).map(|number| nth(number, 500, "{}")));
        let (sentry, _) = leaping(faults);
        let text = sentry.call("analyze_issue_with_seer", named("TIDE-WORKER-2")).await;
        assert!(text.contains("could not be asked 3 times in a row"), "{text}");
        assert!(text.contains("Read the loader") && looks(&sentry) == 13, "{text}");
    }

    #[tokio::test]
    async fn a_refusal_is_not_tried_again() {
        let (sentry, clock) =
            leaping(vec![fault("GET", AUTOFIX, 403, r#"{"detail":"Seer is not enabled"}"#)]);
        let text = sentry.call_failing("analyze_issue_with_seer", named("QUAY-API-2")).await;
        assert!(text.contains("Seer is not enabled"), "{text}");
        assert_eq!((clock.waited(), looks(&sentry)), (Duration::ZERO, 1));
    }

    /// A client that keeps what it is told, and may withdraw when it is told something.
    #[derive(Default)]
    struct Listener {
        told: Mutex<Vec<String>>,
        withdraws: bool,
        cancelled: CancellationToken,
    }

    #[async_trait]
    impl Caller for Listener {
        fn cancelled(&self) -> &CancellationToken {
            &self.cancelled
        }

        fn wants_progress(&self) -> bool {
            true
        }

        async fn progress(&self, _step: f64, message: &str) {
            self.told.lock().unwrap().push(message.to_owned());
            if self.withdraws {
                self.cancelled.cancel();
            }
        }

        async fn ask(&self, _question: &str) -> Answer {
            Answer::Unavailable
        }
    }

    async fn heard(sentry: &Sentry, listener: &Listener) -> String {
        let arguments = serde_json::from_value(named("TIDE-WORKER-2")).unwrap();
        let session = sentry.session();
        session.call("analyze_issue_with_seer", arguments, listener).await.unwrap().text
    }

    #[tokio::test]
    async fn the_client_hears_what_seer_is_at() {
        let next = RUNNING.replace("Read the loader", "Read the tests");
        let (sentry, _) =
            leaping(vec![nth(2, 200, RUNNING), nth(3, 200, RUNNING), nth(4, 200, &next)]);
        let listener = Listener::default();
        let text = heard(&sentry, &listener).await;
        assert!(text.contains("Handle the case."), "{text}");
        let told = listener.told.lock().unwrap().clone();
        assert_eq!(told, ["Seer has begun", "Seer: Read the loader", "Seer: Read the tests"]);
    }

    #[tokio::test]
    async fn a_client_that_withdraws_ends_the_waiting() {
        let clock_of_the_machine = Sentry::with_fault(fault("GET", AUTOFIX, 200, RUNNING));
        let listener = Listener { withdraws: true, ..Listener::default() };
        let begun = Instant::now();
        let text = heard(&clock_of_the_machine, &listener).await;
        assert!(text.contains("The call was cancelled"), "{text}");
        assert!(begun.elapsed() < PAUSE && looks(&clock_of_the_machine) == 1);
    }

    #[tokio::test]
    async fn a_metric_issue_is_explained_and_not_analysed() {
        assert_snapshot!(Sentry::new().call("analyze_issue_with_seer", named("QUAY-API-7")).await);
    }

    #[tokio::test]
    async fn an_unknown_issue_is_named() {
        assert_snapshot!(Sentry::new().call("analyze_issue_with_seer", named("NOPE-1")).await);
    }
}
