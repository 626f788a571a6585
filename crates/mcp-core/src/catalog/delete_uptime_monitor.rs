//! `delete_uptime_monitor`: removes an uptime monitor.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    error::ToolError,
    params::{OrganizationSlug, ProjectSlug, RegionUrl, ResourceId},
    skill::Skill,
    tool::{Call, CuratedTool, Effect, Spec, Structured},
};

#[derive(Debug)]
pub(super) struct DeleteUptimeMonitor;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    organization_slug: OrganizationSlug,
    region_url: Option<RegionUrl>,
    project_slug: ProjectSlug,
    /// the numeric id that `find_uptime_monitors` gives
    uptime_monitor_id: ResourceId,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Answer {
    success: bool,
    uptime_monitor_id: String,
    project_slug: String,
}

impl CuratedTool for DeleteUptimeMonitor {
    const SPEC: Spec = Spec {
        name: "delete_uptime_monitor",
        title: "Delete uptime monitor",
        description: "Remove an uptime monitor for good; one that is gone already counts as removed. `update_uptime_monitor` can pause it instead.",
        effect: Effect::Replace,
        skills: &[Skill::ProjectManagement],
        scopes: &["project:write"],
        ..Spec::READ
    };
    type Params = Params;
    type Output = Structured<Answer>;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Self::Output, ToolError> {
        let sentry = cx.sentry_in(params.region_url.as_deref())?;
        let (project, id) = (&params.project_slug, &params.uptime_monitor_id);
        let outcome = sentry.delete_uptime_monitor(&params.organization_slug, project, id).await;
        match outcome {
            Err(error) if !error.is_not_found() => return Err(error.into()),
            Ok(()) | Err(_) => {}
        }
        Ok(Structured(Answer {
            success: true,
            uptime_monitor_id: id.to_string(),
            project_slug: project.to_string(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::json;

    use crate::test_support::{Sentry, fault};

    #[tokio::test]
    async fn a_second_removal_is_as_good_as_the_first() {
        let sentry = Sentry::new();
        let list = json!({"organizationSlug": "harbor-lantern", "query": "Checkout"});
        let found = sentry.call_structured("find_uptime_monitors", list.clone()).await;
        let arguments = json!({
            "organizationSlug": "harbor-lantern", "projectSlug": "quay-web",
            "uptimeMonitorId": found["monitors"][0]["id"],
        });
        let first = sentry.call_structured("delete_uptime_monitor", arguments.clone()).await;
        assert_eq!(sentry.call_structured("delete_uptime_monitor", arguments).await, first);
        let left = sentry.call_structured("find_uptime_monitors", list).await;
        assert_eq!(left["monitors"], json!([]));
    }

    #[tokio::test]
    async fn a_refusal_is_no_success() {
        let route = "/api/0/projects/{o}/{p}/uptime/{u}/";
        let sentry =
            Sentry::with_fault(fault("DELETE", route, 403, r#"{"detail":"You may not."}"#));
        let arguments =
            json!({"organizationSlug": "a", "projectSlug": "b", "uptimeMonitorId": "1"});
        assert_snapshot!(sentry.call("delete_uptime_monitor", arguments).await);
    }

    #[tokio::test]
    async fn a_grant_that_cannot_write_does_not_have_it() {
        let arguments =
            json!({"organizationSlug": "a", "projectSlug": "b", "uptimeMonitorId": "1"});
        for sentry in [Sentry::new().read_only(), Sentry::new().skills("inspect")] {
            let text = sentry.call_failing("delete_uptime_monitor", arguments.clone()).await;
            assert!(text.contains("is not a tool of this session"), "{text}");
            assert_eq!(sentry.requests(), Vec::<String>::new());
        }
    }

    #[tokio::test]
    async fn the_monitor_must_be_named() {
        let arguments = json!({"organizationSlug": "a", "projectSlug": "b"});
        let text = Sentry::new().call_failing("delete_uptime_monitor", arguments).await;
        assert!(text.contains("`uptimeMonitorId`"), "{text}");
    }
}
