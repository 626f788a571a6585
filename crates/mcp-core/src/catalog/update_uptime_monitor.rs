//! `update_uptime_monitor`: changes what is given of an uptime monitor.

use api_client::sentry::uptime::UptimeSettings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    error::ToolError,
    params::{Address, Change, OrganizationSlug, Owner, ProjectSlug, RegionUrl, ResourceId},
    render::uptime::{Interval, Method, State, UptimeView},
    skill::Skill,
    tool::{Call, CuratedTool, Effect, Spec, Structured},
};

#[derive(Debug)]
pub(super) struct UpdateUptimeMonitor;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    organization_slug: OrganizationSlug,
    region_url: Option<RegionUrl>,
    project_slug: ProjectSlug,
    /// the numeric id that `find_uptime_monitors` gives
    uptime_monitor_id: ResourceId,
    #[schemars(length(min = 1, max = 128))]
    name: Option<String>,
    /// what to probe
    url: Option<Address>,
    interval_seconds: Option<Interval>,
    /// how long an answer may take
    #[schemars(range(min = 1000, max = 60000))]
    timeout_ms: Option<u64>,
    method: Option<Method>,
    /// pairs of name and value, in place of all there are
    headers: Option<Vec<[String; 2]>>,
    /// null takes it away
    #[serde(default)]
    body: Change<String>,
    status: Option<State>,
    /// `user:ID` or `team:ID`; null takes it away
    #[serde(default)]
    owner: Change<Owner>,
    /// null takes it away
    #[serde(default)]
    #[schemars(length(min = 1, max = 64))]
    environment: Change<String>,
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

impl CuratedTool for UpdateUptimeMonitor {
    const SPEC: Spec = Spec {
        name: "update_uptime_monitor",
        title: "Update uptime monitor",
        description: "Change settings of an uptime monitor; what is not given stays as it is. `get_uptime_monitor_details` shows the present ones.",
        effect: Effect::Replace,
        skills: &[Skill::ProjectManagement],
        scopes: &["project:write"],
        ..Spec::READ
    };
    type Params = Params;
    type Output = Structured<Answer>;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Self::Output, ToolError> {
        let headers =
            params.headers.map(|it| it.into_iter().map(|[name, value]| (name, value)).collect());
        let settings = UptimeSettings {
            name: params.name,
            url: params.url.map(|it| it.to_string()),
            interval_seconds: params.interval_seconds.map(Interval::get),
            timeout_ms: params.timeout_ms,
            method: params.method.map(|it| it.as_str().to_owned()),
            headers,
            body: cleared(params.body),
            status: params.status.map(|it| it.as_str().to_owned()),
            owner: cleared(params.owner),
            environment: cleared(params.environment),
            trace_sampling: params.trace_sampling,
            response_capture_enabled: params.response_capture_enabled,
            recovery_threshold: params.recovery_threshold,
            downtime_threshold: params.downtime_threshold,
        };
        if settings.is_empty() {
            return Err(ToolError::user("nothing is to be changed")
                .hint("give at least one setting, such as `name`, `url` or `status`"));
        }
        let sentry = cx.sentry_in(params.region_url.as_deref())?;
        let organization = &params.organization_slug;
        let (project, id) = (&params.project_slug, &params.uptime_monitor_id);
        let changed = sentry.update_uptime_monitor(organization, project, id, &settings).await?;
        Ok(Structured(Answer { monitor: UptimeView::whole(cx, organization, changed) }))
    }
}

fn cleared<T: ToString>(change: Change<T>) -> Option<Option<String>> {
    match change {
        Change::Keep => None,
        Change::Clear => Some(None),
        Change::Set(value) => Some(Some(value.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::{Value, json};

    use crate::test_support::Sentry;

    async fn checkout(sentry: &Sentry) -> Value {
        let list = json!({"organizationSlug": "harbor-lantern", "query": "Checkout"});
        let found = sentry.call_structured("find_uptime_monitors", list).await;
        sentry.mock.reset();
        json!({
            "organizationSlug": "harbor-lantern", "projectSlug": "quay-web",
            "uptimeMonitorId": found["monitors"][0]["id"],
        })
    }

    #[tokio::test]
    async fn only_what_is_given_is_sent_and_null_takes_away() {
        let sentry = Sentry::new();
        let mut arguments = checkout(&sentry).await;
        arguments["status"] = json!("disabled");
        arguments["environment"] = json!(null);
        assert_snapshot!(sentry.call("update_uptime_monitor", arguments).await);
    }

    #[tokio::test]
    async fn a_call_that_changes_nothing_is_refused_before_anything_is_sent() {
        let sentry = Sentry::new();
        let arguments = checkout(&sentry).await;
        let text = sentry.call_failing("update_uptime_monitor", arguments).await;
        assert!(text.contains("Nothing is to be changed"), "{text}");
        assert_eq!(sentry.requests(), Vec::<String>::new());
    }

    #[tokio::test]
    async fn an_unknown_monitor_is_the_callers_to_fix() {
        let arguments = json!({
            "organizationSlug": "harbor-lantern", "projectSlug": "quay-web",
            "uptimeMonitorId": "1", "name": "x",
        });
        let text = Sentry::new().call_failing("update_uptime_monitor", arguments).await;
        assert!(text.contains("`uptimeMonitorId` `1`"), "{text}");
    }

    #[tokio::test]
    async fn what_cannot_be_a_setting_is_refused() {
        for (name, value) in [
            ("intervalSeconds", json!(90)),
            ("recoveryThreshold", json!(0)),
            ("owner", json!("me")),
        ] {
            let arguments = json!({
                "organizationSlug": "a", "projectSlug": "b", "uptimeMonitorId": "1", name: value,
            });
            let text = Sentry::new().call_failing("update_uptime_monitor", arguments).await;
            assert!(text.contains(name), "{text}");
        }
    }
}
