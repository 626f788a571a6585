//! `get_monitor_details`: one cron monitor, its check-ins and counts.

use api_client::sentry::{monitors::MonitorPath, time::TimeRange};
use futures::future::try_join;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    error::ToolError,
    params::{
        DateTime, Limit, OrganizationSlug, Period, ProjectSlugOrId, RegionUrl, ResourceId, yes,
    },
    render::monitor,
    skill::Skill,
    tool::{Call, CuratedTool, Markdown, Spec},
};

const WINDOW: &str = "24h";

#[derive(Debug)]
pub(super) struct GetMonitorDetails;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    organization_slug: OrganizationSlug,
    region_url: Option<RegionUrl>,
    project_slug_or_id: Option<ProjectSlugOrId>,
    /// the monitor's slug or id
    monitor_slug: ResourceId,
    /// an environment it runs in
    environment: Option<String>,
    /// how far back, as in `24h`, `7d`, `2w`; 24h unless `start` and `end` are given
    period: Option<Period>,
    start: Option<DateTime>,
    end: Option<DateTime>,
    #[serde(default)]
    check_in_limit: Limit<10, 50>,
    #[serde(default = "yes")]
    include_stats: bool,
    /// width of one step of the counts
    #[schemars(range(min = 1))]
    rollup_seconds: Option<u32>,
}

impl CuratedTool for GetMonitorDetails {
    const SPEC: Spec = Spec {
        name: "get_monitor_details",
        title: "Get cron monitor details",
        description: "Show one cron monitor: schedule, tolerances, state by environment, recent check-ins and counts of good, failed and missed ones.",
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
        let organization = &params.organization_slug;
        let path = MonitorPath {
            organization,
            project: params.project_slug_or_id.as_deref(),
            monitor: &params.monitor_slug,
        };
        let environment = params.environment.as_deref();
        let found = sentry.monitor(&path, environment).await?;

        let limit = params.check_in_limit.get();
        let check_ins = sentry.monitor_check_ins(&path, environment, &time, limit as u32 + 1);
        let stats = async {
            if !params.include_stats {
                return Ok(None);
            }
            let window = time.seconds(cx.clock.now());
            let rollup = params.rollup_seconds;
            sentry.monitor_stats(&path, environment, window, rollup).await.map(Some)
        };
        let (check_ins, stats) = try_join(check_ins, stats).await?;

        let mut page = monitor::page(&found, &monitor::url(cx, organization, &found));
        let shown = check_ins.items.get(..limit).unwrap_or(&check_ins.items);
        monitor::add_check_ins(&mut page, shown, check_ins.items.len() > limit);
        if let Some(stats) = stats {
            monitor::add_stats(&mut page, &stats);
        }
        let purpose = format!("find its issues with the query `monitor.slug:{}`", found.slug);
        page.next_steps([cx.hint("search_issues", &purpose)]);
        Ok(page.finish())
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::{Value, json};

    use crate::test_support::{Sentry, fault};

    fn asked(monitor: &str) -> Value {
        json!({
            "organizationSlug": "harbor-lantern", "monitorSlug": monitor,
            "start": "2026-05-03T09:00:00Z", "end": "2026-05-04T09:00:00Z",
        })
    }

    /// The answer and the requests, sorted: two of them are sent at once.
    async fn shown(sentry: &Sentry, arguments: Value) -> String {
        let text = sentry.content("get_monitor_details", arguments).await.text;
        let mut requests = sentry.requests();
        requests.sort();
        format!("{}\n---\n{text}", requests.join("\n"))
            .replace(&sentry.mock.base_url, "http://sentry.test")
    }

    #[tokio::test]
    async fn a_monitor_is_shown_with_its_check_ins_and_counts() {
        let mut arguments = asked("nightly-ledger-close");
        arguments["checkInLimit"] = json!(3);
        arguments["rollupSeconds"] = json!(7200);
        assert_snapshot!(shown(&Sentry::new(), arguments).await);
    }

    #[tokio::test]
    async fn a_monitor_that_never_reported_says_so() {
        let route = "/api/0/organizations/{o}/monitors/{m}/";
        let sentry = Sentry::with_faults(vec![
            fault("GET", route, 200, r#"{"slug":"quiet"}"#),
            fault("GET", &format!("{route}checkins/"), 200, "[]"),
            fault("GET", &format!("{route}stats/"), 200, "[]"),
        ]);
        assert_snapshot!(shown(&sentry, asked("quiet")).await);
    }

    #[tokio::test]
    async fn counts_are_left_out_on_request() {
        let sentry = Sentry::new();
        let mut arguments = asked("index-rebuild");
        arguments["includeStats"] = json!(false);
        arguments["projectSlugOrId"] = json!("quay-api");
        sentry.call("get_monitor_details", arguments).await;
        let requests = sentry.requests();
        assert!(
            requests[0]
                .starts_with("GET /api/0/projects/harbor-lantern/quay-api/monitors/index-rebuild/")
        );
        assert_eq!(requests.len(), 2);
    }

    #[tokio::test]
    async fn a_monitor_of_another_project_is_not_there_for_a_pinned_one() {
        let sentry = Sentry::new().pinned("harbor-lantern", Some("quay-web"));
        let mut arguments = asked("nightly-ledger-close");
        arguments["projectSlugOrId"] = json!("tide-worker");
        assert_snapshot!(sentry.call("get_monitor_details", arguments).await);
    }

    #[tokio::test]
    async fn a_stretch_of_time_that_is_none_is_refused_before_anything_is_sent() {
        for (more, words) in [
            (json!({"end": null}), "together"),
            (json!({"period": "7d"}), "not both"),
            (json!({"start": "2026-05-05T00:00:00Z"}), "before"),
        ] {
            let sentry = Sentry::new();
            let mut arguments = asked("index-rebuild");
            arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let text = sentry.call_failing("get_monitor_details", arguments).await;
            assert!(text.contains(words), "{text}");
            assert_eq!(sentry.requests(), Vec::<String>::new());
        }
    }
}
