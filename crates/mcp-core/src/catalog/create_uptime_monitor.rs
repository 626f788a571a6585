//! `create_uptime_monitor`: has Sentry probe a URL.

use api_client::sentry::uptime::UptimeSettings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    error::ToolError,
    params::{Address, OrganizationSlug, Owner, ProjectSlug, RegionUrl},
    render::uptime::{Interval, Method, State, UptimeView},
    skill::Skill,
    tool::{Call, CuratedTool, Effect, Spec, Structured},
};

#[derive(Debug)]
pub(super) struct CreateUptimeMonitor;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    organization_slug: OrganizationSlug,
    region_url: Option<RegionUrl>,
    project_slug: ProjectSlug,
    #[schemars(length(min = 1, max = 128))]
    name: String,
    /// what to probe
    url: Address,
    interval_seconds: Interval,
    /// how long an answer may take
    #[serde(default = "five_seconds")]
    #[schemars(range(min = 1000, max = 60000))]
    timeout_ms: u64,
    /// GET when left out
    method: Option<Method>,
    /// pairs of name and value
    headers: Option<Vec<[String; 2]>>,
    body: Option<String>,
    status: Option<State>,
    owner: Option<Owner>,
    /// the environment its issues are filed under
    #[schemars(length(min = 1, max = 64))]
    environment: Option<String>,
    trace_sampling: Option<bool>,
    response_capture_enabled: Option<bool>,
    /// successes in a row that make it good again
    #[schemars(range(min = 1))]
    recovery_threshold: Option<u64>,
    /// failures in a row that make an issue
    #[schemars(range(min = 1))]
    downtime_threshold: Option<u64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answer {
    monitor: UptimeView,
}

fn five_seconds() -> u64 {
    5_000
}

impl CuratedTool for CreateUptimeMonitor {
    const SPEC: Spec = Spec {
        name: "create_uptime_monitor",
        title: "Create uptime monitor",
        description: "Have Sentry probe a URL at an interval and file an issue when it stops answering. `find_uptime_monitors` tells whether it is probed already.",
        effect: Effect::Create,
        skills: &[Skill::ProjectManagement],
        scopes: &["project:write"],
        ..Spec::READ
    };
    type Params = Params;
    type Output = Structured<Answer>;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Self::Output, ToolError> {
        let sentry = cx.sentry_in(params.region_url.as_deref())?;
        let organization = &params.organization_slug;
        let settings = UptimeSettings {
            name: Some(params.name),
            url: Some(params.url.to_string()),
            interval_seconds: Some(params.interval_seconds.get()),
            timeout_ms: Some(params.timeout_ms),
            method: params.method.map(|it| it.as_str().to_owned()),
            headers: params.headers.map(pairs),
            body: params.body.map(Some),
            status: params.status.map(|it| it.as_str().to_owned()),
            owner: params.owner.map(|it| Some(it.to_string())),
            environment: params.environment.map(Some),
            trace_sampling: params.trace_sampling,
            response_capture_enabled: params.response_capture_enabled,
            recovery_threshold: params.recovery_threshold,
            downtime_threshold: params.downtime_threshold,
        };
        let made =
            sentry.create_uptime_monitor(organization, &params.project_slug, &settings).await?;
        Ok(Structured(Answer { monitor: UptimeView::whole(cx, organization, made) }))
    }
}

fn pairs(headers: Vec<[String; 2]>) -> Vec<(String, String)> {
    headers.into_iter().map(|[name, value]| (name, value)).collect()
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::{Value, json};

    use crate::test_support::Sentry;

    fn wanted() -> Value {
        json!({
            "organizationSlug": "harbor-lantern", "projectSlug": "quay-web", "name": "Basket",
            "url": "https://basket.test/health", "intervalSeconds": 300,
        })
    }

    #[tokio::test]
    async fn a_monitor_is_made_with_the_least_that_is_needed() {
        assert_snapshot!(Sentry::new().call("create_uptime_monitor", wanted()).await);
    }

    #[tokio::test]
    async fn everything_that_is_given_is_sent() {
        let sentry = Sentry::new();
        let mut arguments = wanted();
        let more = json!({
            "timeoutMs": 1000, "method": "POST", "headers": [["X-Probe", "1"]], "body": "{}",
            "status": "disabled", "environment": "staging", "traceSampling": true,
            "responseCaptureEnabled": false, "recoveryThreshold": 2, "downtimeThreshold": 4,
        });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        assert_snapshot!(sentry.call("create_uptime_monitor", arguments).await);
    }

    #[tokio::test]
    async fn an_owner_that_nobody_knows_is_told_in_sentrys_words() {
        let mut arguments = wanted();
        arguments["owner"] = json!("team:1");
        let text = Sentry::new().call_failing("create_uptime_monitor", arguments).await;
        assert!(text.contains("`owner`: Unknown actor input"), "{text}");
    }

    #[tokio::test]
    async fn what_cannot_be_a_monitor_is_refused_before_anything_is_sent() {
        for (name, value) in [
            ("intervalSeconds", json!(61)),
            ("timeoutMs", json!(999)),
            ("url", json!("basket")),
            ("method", json!("BREW")),
            ("headers", json!([["only-a-name"]])),
            ("name", json!("x".repeat(129))),
            ("owner", json!("nobody")),
        ] {
            let sentry = Sentry::new();
            let mut arguments = wanted();
            arguments[name] = value;
            let text = sentry.call_failing("create_uptime_monitor", arguments).await;
            assert!(text.contains(name) || name == "headers", "{name}: {text}");
            assert_eq!(sentry.requests(), Vec::<String>::new());
        }
    }

    #[tokio::test]
    async fn an_unknown_project_is_the_callers_to_fix() {
        let mut arguments = wanted();
        arguments["projectSlug"] = json!("nothing");
        let text = Sentry::new().call_failing("create_uptime_monitor", arguments).await;
        assert!(text.contains("`projectSlug` `nothing`"), "{text}");
    }
}
