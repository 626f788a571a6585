//! `onboarding_status_update`: tells Sentry how a guided setup goes.

use api_client::sentry::onboarding::StatusUpdate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    error::ToolError,
    params::{OrganizationSlug, RegionUrl, RunToken},
    skill::Skill,
    tool::{Call, CuratedTool, Effect, Markdown, Spec},
};

#[derive(Debug)]
pub(super) struct OnboardingStatusUpdate;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    organization_slug: OrganizationSlug,
    region_url: Option<RegionUrl>,
    run_token: RunToken,
    stage: Stage,
    status: Status,
    /// only when the whole run has ended
    run_status: Option<RunStatus>,
    /// a sentence for the person who watches; expected with the status failed
    #[schemars(length(min = 1, max = 256))]
    event_note: Option<String>,
    /// slugs of projects made, with the stage create_project; they add up
    #[schemars(length(min = 1, max = 100))]
    project_slugs: Option<Vec<String>>,
    /// issues received, with the stage receive_verification_error; they add up
    #[schemars(length(min = 1, max = 100))]
    issue_ids: Option<Vec<String>>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Stage {
    ConnectMcp,
    AnalyzeProject,
    CreateProject,
    InstrumentApp,
    PlanTestError,
    SendVerificationError,
    ReceiveVerificationError,
    PrepareProduction,
    CheckStackTraceQuality,
}

impl Stage {
    fn as_str(self) -> &'static str {
        match self {
            Self::ConnectMcp => "connect_mcp",
            Self::AnalyzeProject => "analyze_project",
            Self::CreateProject => "create_project",
            Self::InstrumentApp => "instrument_app",
            Self::PlanTestError => "plan_test_error",
            Self::SendVerificationError => "send_verification_error",
            Self::ReceiveVerificationError => "receive_verification_error",
            Self::PrepareProduction => "prepare_production",
            Self::CheckStackTraceQuality => "check_stack_trace_quality",
        }
    }
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Status {
    Active,
    Waiting,
    Completed,
    Skipped,
    Failed,
}

impl Status {
    fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Waiting => "waiting",
            Self::Completed => "completed",
            Self::Skipped => "skipped",
            Self::Failed => "failed",
        }
    }
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum RunStatus {
    Completed,
    Failed,
}

impl RunStatus {
    fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
        }
    }
}

impl CuratedTool for OnboardingStatusUpdate {
    const SPEC: Spec = Spec {
        name: "onboarding_status_update",
        title: "Report setup progress",
        description: "Report progress of a setup that Sentry guides and whose prompt gave you a `runToken`; of no use otherwise. Go on reporting each stage until the answer says to stop.",
        effect: Effect::Add,
        skills: Skill::ALL,
        scopes: &["org:read"],
        ..Spec::READ
    };
    type Params = Params;
    type Output = Markdown;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Markdown, ToolError> {
        let sentry = cx.sentry_in(params.region_url.as_deref())?;
        let update = StatusUpdate {
            run_token: &params.run_token,
            stage: params.stage.as_str(),
            status: params.status.as_str(),
            run_status: params.run_status.map(RunStatus::as_str),
            event_note: params.event_note.as_deref(),
            project_slugs: params.project_slugs.as_deref().unwrap_or_default(),
            issue_ids: params.issue_ids.as_deref().unwrap_or_default(),
        };
        let reply = sentry.update_onboarding_status(&params.organization_slug, &update).await?;
        let then = match reply.continue_updates {
            Some(false) => "Send no more updates for this run.",
            Some(true) | None => "Go on with the next stage and report it.",
        };
        let (stage, status) = (update.stage, update.status);
        Ok(Markdown(format!("Recorded `{stage}` as {status}. {then}")))
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::{Value, json};

    use crate::test_support::{Sentry, fault};

    fn asked(more: Value) -> Value {
        let mut arguments = json!({
            "organizationSlug": "harbor-lantern", "runToken": "aB3dE5gH7j",
            "stage": "create_project", "status": "completed",
        });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    }

    #[tokio::test]
    async fn a_report_is_recorded_and_more_are_wanted() {
        let arguments = asked(json!({"projectSlugs": ["fog-horn"], "eventNote": "made it"}));
        assert_snapshot!(Sentry::new().call("onboarding_status_update", arguments).await);
    }

    #[tokio::test]
    async fn the_last_report_is_answered_with_a_stop() {
        let arguments = asked(json!({"stage": "prepare_production", "runStatus": "completed"}));
        assert_snapshot!(Sentry::new().call("onboarding_status_update", arguments).await);
    }

    #[tokio::test]
    async fn a_run_that_sentry_does_not_know_is_the_callers_to_fix() {
        let route = "/api/0/organizations/{o}/onboarding/agent/status/";
        let sentry = Sentry::with_fault(fault("POST", route, 404, r#"{"detail":"Run not found"}"#));
        let text = sentry.call_failing("onboarding_status_update", asked(json!({}))).await;
        assert!(text.contains("Run not found"), "{text}");
    }

    #[tokio::test]
    async fn what_is_no_report_is_refused_before_anything_is_sent() {
        for (more, words) in [
            (json!({"runToken": "short"}), "`runToken`"),
            (json!({"stage": "celebrate"}), "`stage`"),
            (json!({"eventNote": "x".repeat(257)}), "`eventNote`"),
            (json!({"issueIds": vec!["1"; 101]}), "`issueIds`"),
        ] {
            let sentry = Sentry::new();
            let text = sentry.call_failing("onboarding_status_update", asked(more)).await;
            assert!(text.contains(words), "{text}");
            assert_eq!(sentry.requests(), Vec::<String>::new());
        }
    }
}
