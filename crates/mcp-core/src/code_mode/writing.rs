//! The way of a write: rehearse, show, ask, apply once. What `execute_write` and
//! `call_operation_write` have in common.

use std::time::{Duration, Instant, SystemTime};

use futures::future::join_all;
use serde_json::json;

use crate::{
    caller::{Answer, Caller},
    context::Context,
    error::ToolError,
    output::{self, Content},
};

use super::{
    confirm::{self, ConfirmMode, LIFETIME, Subject, Unconfirmed},
    journal::{CallOutcome, CallRecord},
    plan::{self, Apply, Done, Gate, MAX_SHOWN, MAX_WRITES, Plan, Rehearsal, Rehearsed, Replay},
    policy::Mode,
    report,
    run::{self, Finished, Moment, Task},
};

/// Runs the script with write access, its writes unseen.
async fn unplanned(cx: &Context, caller: &dyn Caller, task: Task) -> Result<Content, ToolError> {
    let moment = Moment::now(cx)?;
    let finished = run::launch(cx, caller, task, Mode::Write, Gate::Open, moment).await;
    let mut report = finished.report();
    if report.calls.iter().any(|it| it.write) {
        report.warnings.push(UNPLANNED.to_owned());
    }
    Ok(report.to_content(cx.limits.result))
}

const UNPLANNED: &str = "the writes of this run were not shown beforehand: this server runs without `--confirm plan`, so \"what is shown is what is sent\" does not hold";

/// What the code would run against: a confirmation for one API or document is none for another.
async fn target(cx: &Context) -> String {
    // Among several, one whose document does not come must not hold up the others.
    let patience = if cx.apis.len() > 1 { PATIENCE } else { cx.limits.request };
    let deadline = Instant::now() + patience;
    let documents = join_all(cx.apis.iter().map(|api| api.document.get(deadline))).await;
    let mut target = String::new();
    for (api, document) in cx.apis.iter().zip(documents) {
        target.push_str(api.transport.base_url().as_str());
        target.push(' ');
        if let Ok(loaded) = document {
            target.push_str(loaded.document.hash());
        }
        target.push('\n');
    }
    target
}

/// How long a server with several APIs waits for a document to bind a confirmation to.
const PATIENCE: Duration = Duration::from_secs(5);

/// A task that may write, and the way to its confirmation.
pub(crate) struct Writing<'a> {
    pub(crate) cx: &'a Context,
    pub(crate) caller: &'a dyn Caller,
    pub(crate) task: Task,
    /// The task as the agent wrote it: what a confirmation is bound to, to the letter.
    pub(crate) shown: &'a str,
}

impl Writing<'_> {
    /// Applies what `confirm` confirms; without it, or with a wrong one, asks.
    pub(crate) async fn run(&self, confirm: Option<&str>) -> Result<Content, ToolError> {
        let Self { cx, caller, .. } = *self;
        if cx.confirm == ConfirmMode::Off {
            return unplanned(cx, caller, self.task.clone()).await;
        }
        let subject = Subject::new(&cx.caller, self.shown, &target(cx).await);
        let confirmed = match confirm {
            None => Err(Unconfirmed::Missing),
            Some(line) => cx.confirmations.take(&subject, line.trim(), cx.clock.now()).await,
        };
        match (cx.confirm, confirmed) {
            (ConfirmMode::Plan, Ok(plan)) => {
                let plan = serde_json::from_str(&plan).map_err(ToolError::system)?;
                self.apply(&subject, plan).await
            }
            (ConfirmMode::Plan, Err(reason)) => {
                self.rehearse(&subject, Vec::new(), Some(reason)).await
            }
            (_, Ok(_)) => {
                self.confirmed(&[self.shown.to_owned()]);
                unplanned(cx, caller, self.task.clone()).await
            }
            (_, Err(reason)) => self.confirm_code(&subject, reason).await,
        }
    }

    /// Runs the script with its writes recorded, and asks for the plan that comes out.
    ///
    /// `done` is what the same script has already done under an earlier plan; `reason` is why the
    /// confirmation that was given does not count, if it is one.
    async fn rehearse(
        &self,
        subject: &Subject,
        done: Vec<Done>,
        reason: Option<Unconfirmed>,
    ) -> Result<Content, ToolError> {
        let cx = self.cx;
        let moment = Moment::now(cx)?;
        let rehearsal = Rehearsal::new(nonce(10)?, done);
        let finished = self.launch(Gate::Rehearsal(rehearsal), moment).await;
        let Gate::Rehearsal(rehearsal) = finished.host.gate() else {
            return Err(ToolError::user("the rehearsal is gone"));
        };
        let mut rehearsed = rehearsal.finish();
        let mut doubts = finished.outcome.observations.clone();
        doubts.append(&mut rehearsed.observations);
        doubts.dedup();
        let failed = finished.outcome.result.is_err();
        let excused = rehearsed.has_placeholders() || rehearsed.stale;
        if rehearsed.writes_nothing() || (failed && !excused) {
            return Ok(self.without_writes(&finished, failed));
        }
        if rehearsed.writes.len() > MAX_WRITES {
            return Ok(too_much(&format!("{} writes", rehearsed.writes.len())));
        }
        let mut writes = std::mem::take(&mut rehearsed.writes);
        let deadline = Instant::now() + BEFORE;
        plan::look_before(cx, &rehearsed, &mut writes, deadline).await;
        if rehearsed.has_placeholders() && !failed {
            let replay = Replay::new(&mut rehearsed);
            let replayed = self.launch(Gate::Replay(replay), moment).await;
            if let Gate::Replay(replay) = replayed.host.gate()
                && !replay.agrees()
            {
                doubts.push(
                    "the writes depend on values that only the real responses have".to_owned(),
                );
            }
        }
        if stored_too_large(&rehearsed) {
            return Ok(too_much("more to remember than can be kept"));
        }
        if let Err(error) = &finished.outcome.result {
            doubts.push(format!("the script did not come to its end: {error}"));
        }
        let plan = Plan {
            nonce: rehearsed.nonce,
            clock_ms: moment.clock_ms,
            seed: moment.seed,
            complete: doubts.is_empty(),
            writes,
            reads: rehearsed.reads,
            done: rehearsed.done,
            saves: rehearsed.saves,
            documents: finished.host.documents(),
        };
        let now = cx.apis.iter().map(|api| api.document.current());
        let unchanged = now.zip(&plan.documents).all(|(loaded, hash)| {
            hash.is_empty() || loaded.is_some_and(|it| it.document.hash() == hash)
        });
        let (true, Some(entries)) = (unchanged, plan.entries(cx)) else {
            return Err(ToolError::user(
                "the API's document has just changed; nothing was written",
            )
            .hint("call again with the same code"));
        };
        let shown = format!("[{}]", entries.join(","));
        if shown.len() > MAX_SHOWN {
            return Ok(too_much(&format!("{} bytes", shown.len())));
        }
        // A wrong confirmation is the model's mistake: it is told so, the person is not asked again.
        if reason == Some(Unconfirmed::Missing) {
            let question = format!(
                "Send these writes to {}?{}\n\n{}",
                hosts(cx),
                if plan.complete { "" } else { " More may follow, which you will be asked about." },
                entries.join("\n")
            );
            match self.ask(&question).await {
                Answer::Accepted => return self.apply(subject, plan).await,
                Answer::Declined => return Ok(declined()),
                Answer::Unavailable => {}
            }
        }
        let offer = Offer { plan, shown, doubts, reason };
        self.offer(subject, &finished, offer).await
    }

    /// What a rehearsal brought that has nothing to confirm.
    fn without_writes(&self, finished: &Finished, failed: bool) -> Content {
        let mut report = finished.report();
        if !failed {
            report.warnings.push(self.wording().needless.to_owned());
        }
        report.to_content(self.cx.limits.result)
    }

    async fn offer(
        &self,
        subject: &Subject,
        finished: &Finished,
        offer: Offer,
    ) -> Result<Content, ToolError> {
        let Offer { plan, shown, doubts, reason } = offer;
        let cx = self.cx;
        let token = confirm::random_token().map_err(ToolError::system)?;
        let line = format!("{} #{token}", plan.line(cx));
        let stored = serde_json::to_string(&plan).map_err(ToolError::system)?;
        let expires = self.keep(subject, line.clone(), stored).await?;
        let mut text = String::from("{");
        let mut push = |key: &str, json: String| {
            text.push_str(if text.len() > 1 { ",\"" } else { "\"" });
            text.push_str(key);
            text.push_str("\":");
            text.push_str(&json);
        };
        if finished.host.untrusted() {
            push("untrusted", json!(report::UNTRUSTED).to_string());
        }
        push("status", json!("needs_confirmation").to_string());
        push("confirm", json!(line).to_string());
        push("expires", json!(expires).to_string());
        if let Some(reason) = reason.filter(|it| *it != Unconfirmed::Missing) {
            push("reason", json!(format!("{reason}; nothing was written")).to_string());
        }
        push("plan", shown);
        push("complete", json!(plan.complete).to_string());
        let mut warnings = doubts;
        let report = finished.report();
        warnings.extend(report.outcome.warnings.iter().cloned());
        warnings.extend(report.warnings.iter().cloned());
        let bounded = |json: String| output::cut(&json, cx.limits.result / 8).unwrap_or(json);
        push("warnings", bounded(json!(warnings).to_string()));
        push("calls", bounded(json!(report.shown_calls(false)).to_string()));
        if !report.outcome.logs.is_empty() {
            let logs = json!(report.outcome.logs).to_string();
            push("logs", output::cut(&logs, cx.limits.result / 8).unwrap_or(logs));
        }
        push("preview", json!(plan::visible(self.shown)).to_string());
        let Wording { tool, same, .. } = self.wording();
        let message = if plan.complete {
            format!(
                "Nothing has been written. To send exactly these writes, call `{tool}` again with {same} and this `confirm`, once, within ten minutes; a write that would differ is not sent."
            )
        } else {
            format!(
                "Nothing has been written, and the plan may not be all: the warnings say why. With {same} and this `confirm` exactly these writes are sent; if the script then goes on to write more, it stops there and a new plan is shown."
            )
        };
        push("message", json!(message).to_string());
        text.push('}');
        Ok(Content::text(text))
    }

    /// Runs the script live, held to its plan.
    async fn apply(&self, subject: &Subject, plan: Plan) -> Result<Content, ToolError> {
        let cx = self.cx;
        let moment = Moment { clock_ms: plan.clock_ms, seed: plan.seed };
        let planned = plan.writes.len();
        self.confirmed(&plan.entries(cx).unwrap_or_default());
        let gate = Gate::Apply(Apply::new(plan));
        let finished = self.launch(gate, moment).await;
        let Gate::Apply(apply) = finished.host.gate() else {
            return Err(ToolError::user("the plan is gone"));
        };
        let mut report = finished.report();
        let rest = match apply.rest() {
            Ok(done) => Some(done),
            Err(false) => None,
            Err(true) => {
                report.warnings.push(
                    "the script goes on to write more than was planned, and cannot be continued, for a write has no answer or it has read too much: look at what is there, and write another script for the rest".to_owned(),
                );
                None
            }
        };
        let missing = apply.not_reached(cx);
        if !missing.is_empty() {
            report.incomplete =
                Some(format!("{} of {planned} planned writes were not sent", missing.len()));
            report.calls.extend(missing.into_iter().map(|(method, path)| CallRecord {
                method,
                path,
                write: true,
                ..CallRecord::new(CallOutcome::NotReached)
            }));
        }
        let Some(done) = rest else { return Ok(report.to_content(cx.limits.result)) };
        // The planned part is done; what the script goes on to write is a plan of its own.
        let applied: Vec<CallRecord> = report.calls.into_iter().filter(|it| it.write).collect();
        let next = Box::pin(self.rehearse(subject, done, None)).await?;
        Ok(with_applied(next, &applied))
    }

    async fn confirm_code(
        &self,
        subject: &Subject,
        reason: Unconfirmed,
    ) -> Result<Content, ToolError> {
        const SHOWN: usize = 4_000;
        if reason == Unconfirmed::Missing && self.shown.len() <= SHOWN {
            let question = format!(
                "Run this script with write access to {}? Its writes are not known beforehand.\n\n{}",
                hosts(self.cx),
                plan::visible(self.shown)
            );
            match self.ask(&question).await {
                Answer::Accepted => {
                    self.confirmed(&[self.shown.to_owned()]);
                    return unplanned(self.cx, self.caller, self.task.clone()).await;
                }
                Answer::Declined => return Ok(declined()),
                Answer::Unavailable => {}
            }
        }
        let token = confirm::random_token().map_err(ToolError::system)?;
        let lines = self.shown.lines().count();
        let line = format!(
            "{}: run {} with write access (code {}) #{token}",
            hosts(self.cx),
            if lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") },
            subject.fingerprint()
        );
        let expires = self.keep(subject, line.clone(), String::new()).await?;
        let mut answer = json!({
            "status": "needs_confirmation",
            "confirm": line,
            "expires": expires,
            "preview": plan::visible(self.shown),
        });
        if reason != Unconfirmed::Missing {
            answer["reason"] = json!(format!("{reason}; nothing ran"));
        }
        let Wording { tool, same, .. } = self.wording();
        answer["message"] = json!(format!(
            "Nothing has run yet. To run exactly this with write access, call `{tool}` again with {same} and this `confirm`, once, within ten minutes. Which requests it will send is not checked beforehand, so \"what is shown is what is sent\" does not hold."
        ));
        Ok(Content::text(answer.to_string()))
    }

    fn wording(&self) -> Wording {
        match self.task {
            Task::Script(_) => Wording {
                tool: "execute_write",
                same: "the identical `code`",
                needless: "the script writes nothing: use `execute`",
            },
            Task::Call { .. } => Wording {
                tool: "call_operation_write",
                same: "identical arguments",
                needless: "the operation only reads: use `call_operation`",
            },
        }
    }

    /// Tells the observer what is sent now, without saying it.
    fn confirmed(&self, shown: &[String]) {
        if let Some(observer) = &self.cx.observer {
            observer.confirmed(&confirm::digest(shown));
        }
    }

    async fn ask(&self, question: &str) -> Answer {
        self.caller.ask(question).await
    }

    /// Keeps a confirmation; returns when it expires.
    async fn keep(
        &self,
        subject: &Subject,
        line: String,
        plan: String,
    ) -> Result<String, ToolError> {
        let now = self.cx.clock.now();
        if self.cx.confirmations.issue(subject.clone(), line, plan, now).await {
            return Ok(rfc3339(now + LIFETIME));
        }
        Err(ToolError::user("no confirmation can be issued right now; nothing was written")
            .hint("try again in a moment"))
    }

    async fn launch(&self, gate: Gate, moment: Moment) -> Finished {
        run::launch(self.cx, self.caller, self.task.clone(), Mode::Write, gate, moment).await
    }
}

/// How the tool that is asked speaks of itself.
struct Wording {
    tool: &'static str,
    /// What the second call has to repeat.
    same: &'static str,
    /// For tasks that turn out to write nothing.
    needless: &'static str,
}

/// What is about to be offered for confirmation.
struct Offer {
    plan: Plan,
    shown: String,
    /// Why the plan may not be all.
    doubts: Vec<String>,
    reason: Option<Unconfirmed>,
}

/// Time to look up what a plan would change.
const BEFORE: Duration = Duration::from_secs(10);

/// Random hexadecimal digits: two for each byte.
fn nonce(bytes: usize) -> Result<String, ToolError> {
    let mut random = vec![0_u8; bytes];
    getrandom::fill(&mut random).map_err(ToolError::system)?;
    Ok(random.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}")))
}

fn declined() -> Content {
    let answer =
        json!({ "status": "declined", "message": "the person declined; nothing was written" });
    Content::error(answer.to_string())
}

/// Whether the reads and answers that go with a plan are more than is kept for ten minutes.
fn stored_too_large(rehearsed: &Rehearsed) -> bool {
    const MOST: usize = 8 << 20;
    let reads = serde_json::to_string(&rehearsed.reads).map_or(usize::MAX, |it| it.len());
    let done = serde_json::to_string(&rehearsed.done).map_or(usize::MAX, |it| it.len());
    reads.saturating_add(done) > MOST
}

/// The answer to a plan that nobody would read.
fn too_much(size: &str) -> Content {
    let message = format!(
        "the plan has {size}; at most {MAX_WRITES} writes in {} kB are shown and confirmed at once: nothing was written; split the work into several scripts",
        MAX_SHOWN / 1_000
    );
    Content::error(json!({ "status": "too_large", "message": message }).to_string())
}

/// The answer with what has been applied before it.
fn with_applied(next: Content, applied: &[CallRecord]) -> Content {
    let rest = next.text.strip_prefix('{').unwrap_or_default();
    let text = format!("{{\"applied\":{},{rest}", json!(applied));
    Content { text, ..next }
}

fn hosts(cx: &Context) -> String {
    cx.apis.iter().map(|api| api.host()).collect::<Vec<_>>().join(", ")
}

/// `2026-11-30T16:05:00Z`.
fn rfc3339(time: SystemTime) -> String {
    let seconds = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Civil date from days, counting years from March so that the leap day comes last.
    let era_day = days + 719_468;
    let era = era_day / 146_097;
    let day_of_era = era_day % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        rest / 3_600,
        rest % 3_600 / 60,
        rest % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_rfc_3339() {
        let at = |seconds| rfc3339(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(951_827_696), "2000-02-29T12:34:56Z");
        assert_eq!(at(1_796_054_400), "2026-11-30T16:00:00Z");
    }
}
