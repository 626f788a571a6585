//! `get_issue_breadcrumbs`: the whole trail that led to an event.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    error::ToolError,
    issue::IssueRef,
    params::EventRef,
    render::{
        Page,
        event::{self, Sheet},
        inline,
    },
    skill::Skill,
    tool::{Call, CuratedTool, Markdown, Spec},
};

/// Bytes of the trail.
const ROOM: usize = 60_000;

#[derive(Debug)]
pub(super) struct GetIssueBreadcrumbs;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    #[serde(flatten)]
    issue: IssueRef,
    #[serde(default)]
    event_id: EventRef,
}

impl CuratedTool for GetIssueBreadcrumbs {
    const SPEC: Spec = Spec {
        name: "get_issue_breadcrumbs",
        title: "Get issue breadcrumbs",
        description: "Show every breadcrumb of an event of an issue, oldest first: the clicks, requests, queries and log lines before it. `get_issue_details` shows the newest few.",
        skills: &[Skill::Inspect, Skill::Triage],
        scopes: &["event:read"],
        ..Spec::READ
    };
    type Params = Params;
    type Output = Markdown;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Markdown, ToolError> {
        let target = params.issue.resolve(cx)?;
        target.check_project(cx).await?;
        // An address may name an event; a parameter that is given wins.
        let of_url = target.event.as_deref().filter(|_| &*params.event_id == "latest");
        let wanted = of_url.unwrap_or(&params.event_id);
        let event = target.sentry.issue_event(&target.organization, &target.issue, wanted).await?;
        let crumbs = event::breadcrumbs(&event);
        let mut page = Page::new(format!("Breadcrumbs of event {}", inline(&event.id)));
        page.fact("Issue", &target.issue).fact("Breadcrumbs", crumbs.len());
        if crumbs.is_empty() {
            page.paragraph("The SDK recorded none with this event.");
            return Ok(page.finish());
        }
        let mut sheet = Sheet::new(ROOM);
        for crumb in crumbs {
            sheet.line(event::breadcrumb(crumb));
        }
        page.untrusted(&sheet.finish());
        Ok(page.finish())
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::{Value, json};

    use crate::test_support::{Sentry, fault};

    const EVENT: &str = "/api/0/organizations/{o}/issues/{i}/events/{e}/";

    fn named(issue: &str) -> Value {
        json!({"organizationSlug": "harbor-lantern", "issueId": issue})
    }

    #[tokio::test]
    async fn the_trail_is_listed_with_level_category_and_data() {
        assert_snapshot!(Sentry::new().call("get_issue_breadcrumbs", named("QUAY-API-2")).await);
    }

    #[tokio::test]
    async fn an_event_without_a_trail_says_so() {
        assert_snapshot!(Sentry::new().call("get_issue_breadcrumbs", named("TIDE-WORKER-2")).await);
    }

    /// P35.
    #[tokio::test]
    async fn all_of_a_hundred_are_shown_each_within_bounds() {
        let crumbs: Vec<Value> = (0..100)
            .map(|n| json!({"timestamp": 1_777_885_200 + n, "message": "m".repeat(5_000), "data": {"x": "d".repeat(5_000)}}))
            .collect();
        let event =
            json!({"id": "e", "entries": [{"type": "breadcrumbs", "data": {"values": crumbs}}]});
        let sentry = Sentry::with_fault(fault("GET", EVENT, 200, &event.to_string()));
        let text = sentry.call("get_issue_breadcrumbs", named("QUAY-API-2")).await;
        assert_eq!(text.matches("2026-05-04T09:").count(), 100);
        assert!(text.len() < 50_000, "{}", text.len());
    }

    #[tokio::test]
    async fn an_unknown_issue_is_named() {
        assert_snapshot!(Sentry::new().call("get_issue_breadcrumbs", named("NOPE-1")).await);
    }

    #[tokio::test]
    async fn an_address_of_something_else_is_refused() {
        let arguments = json!({"issueUrl": "https://acme.sentry.io/explore/replays/7e07/"});
        assert_snapshot!(Sentry::new().call("get_issue_breadcrumbs", arguments).await);
    }

    #[tokio::test]
    async fn an_address_of_another_organization_is_refused() {
        let arguments =
            json!({"organizationSlug": "a", "issueUrl": "https://b.sentry.io/issues/1/"});
        assert_snapshot!(Sentry::new().call("get_issue_breadcrumbs", arguments).await);
    }
}
