//! `get_uptime_monitor_details`: one uptime monitor and its recent checks.

use api_client::sentry::time::TimeRange;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    error::ToolError,
    params::{DateTime, Limit, OrganizationSlug, Period, ProjectSlug, RegionUrl, ResourceId},
    render::uptime,
    skill::Skill,
    tool::{Call, CuratedTool, Markdown, Spec},
};

const WINDOW: &str = "24h";

#[derive(Debug)]
pub(super) struct GetUptimeMonitorDetails;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    organization_slug: OrganizationSlug,
    region_url: Option<RegionUrl>,
    project_slug: ProjectSlug,
    /// the numeric id that `find_uptime_monitors` gives
    uptime_monitor_id: ResourceId,
    /// how far back, as in `24h`, `7d`, `2w`; 24h unless `start` and `end` are given
    period: Option<Period>,
    start: Option<DateTime>,
    end: Option<DateTime>,
    #[serde(default)]
    check_limit: Limit<10, 50>,
}

impl CuratedTool for GetUptimeMonitorDetails {
    const SPEC: Spec = Spec {
        name: "get_uptime_monitor_details",
        title: "Get uptime monitor details",
        description: "Show one uptime monitor: URL, thresholds, what is sent, and the recent checks with status, reason and duration.",
        skills: &[Skill::Inspect],
        scopes: &["project:read"],
        ..Spec::READ
    };
    type Params = Params;
    type Output = Markdown;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Markdown, ToolError> {
        let (period, start, end) =
            (params.period.as_deref(), params.start.as_deref(), params.end.as_deref());
        let time = TimeRange::of(period, start, end, WINDOW)
            .map_err(|error| ToolError::user(error.to_string()))?;
        let sentry = cx.sentry_in(params.region_url.as_deref())?;
        let (organization, project) = (&*params.organization_slug, &*params.project_slug);
        let id = &*params.uptime_monitor_id;
        let limit = params.check_limit.get();
        let found = sentry.uptime_monitor(organization, project, id).await?;
        let checks =
            sentry.uptime_checks(organization, project, id, &time, limit as u32 + 1).await?;

        let mut page = uptime::page(&found, &uptime::url(cx, organization, &found));
        let shown = checks.items.get(..limit).unwrap_or(&checks.items);
        uptime::add_checks(&mut page, shown, checks.items.len() > limit);
        let purpose = format!("find its issues with the query `uptime_rule:{}`", found.id);
        page.next_steps([cx.hint("search_issues", &purpose)]);
        Ok(page.finish())
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::{Value, json};

    use crate::test_support::{Sentry, fault};

    async fn asked(sentry: &Sentry, name: &str) -> Value {
        let list = json!({"organizationSlug": "harbor-lantern", "query": name});
        let found = sentry.call_structured("find_uptime_monitors", list).await;
        sentry.mock.reset();
        json!({
            "organizationSlug": "harbor-lantern",
            "projectSlug": found["monitors"][0]["projectSlug"],
            "uptimeMonitorId": found["monitors"][0]["id"],
            "start": "2026-05-04T08:00:00Z", "end": "2026-05-04T09:00:00Z",
        })
    }

    #[tokio::test]
    async fn a_monitor_is_shown_with_its_checks() {
        let sentry = Sentry::new();
        let mut arguments = asked(&sentry, "Orders API").await;
        arguments["checkLimit"] = json!(4);
        assert_snapshot!(sentry.call("get_uptime_monitor_details", arguments).await);
    }

    #[tokio::test]
    async fn a_header_that_lets_somebody_in_is_not_shown() {
        let sentry = Sentry::new();
        let arguments = asked(&sentry, "Checkout health").await;
        let answer = sentry.call("get_uptime_monitor_details", arguments).await;
        assert!(answer.contains("**Authorization**: [REDACTED]"), "{answer}");
        assert!(answer.contains("**Accept**: application/json"), "{answer}");
        assert!(!answer.contains("pier-7-lamp"), "{answer}");
    }

    #[tokio::test]
    async fn no_checks_and_no_settings_are_no_error() {
        let route = "/api/0/projects/{o}/{p}/uptime/{u}/";
        let body = r#"{"id":"7","body":"{\"pin\":1}","assertion":{"op":"and"}}"#;
        let sentry = Sentry::with_faults(vec![
            fault("GET", route, 200, body),
            fault("GET", &format!("{route}checks/"), 200, "[]"),
        ]);
        let arguments =
            json!({"organizationSlug": "acme", "projectSlug": "web", "uptimeMonitorId": "7"});
        let answer = sentry.content("get_uptime_monitor_details", arguments).await.text;
        assert_snapshot!(answer.replace(&sentry.mock.base_url, "http://sentry.test"));
    }

    #[tokio::test]
    async fn an_unknown_monitor_is_the_callers_to_fix() {
        let arguments = json!({
            "organizationSlug": "harbor-lantern", "projectSlug": "quay-web", "uptimeMonitorId": "1",
        });
        let text = Sentry::new().call_failing("get_uptime_monitor_details", arguments).await;
        assert!(text.contains("`uptimeMonitorId` `1`"), "{text}");
    }

    #[tokio::test]
    async fn half_a_stretch_of_time_is_refused() {
        let arguments = json!({
            "organizationSlug": "a", "projectSlug": "b", "uptimeMonitorId": "1",
            "start": "2026-05-04T08:00:00Z",
        });
        let text = Sentry::new().call_failing("get_uptime_monitor_details", arguments).await;
        assert!(text.contains("together"), "{text}");
    }
}
