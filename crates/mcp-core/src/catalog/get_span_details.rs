//! `get_span_details`: one span of a trace, with what is around it and all its attributes.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    constraints::Capability,
    error::ToolError,
    params::{OrganizationSlug, RegionUrl, TraceId},
    skill::Skill,
    tool::{Call, CuratedTool, Markdown, Spec},
    trace::TraceTarget,
};

#[derive(Debug)]
pub(super) struct GetSpanDetails;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    organization_slug: OrganizationSlug,
    region_url: Option<RegionUrl>,
    trace_id: TraceId,
    /// as the trace shows it
    #[schemars(length(min = 1, max = 100))]
    span_id: String,
}

impl CuratedTool for GetSpanDetails {
    const SPEC: Spec = Spec {
        name: "get_span_details",
        title: "Get span details",
        description: "Show one span of a trace of the last 14 days: what it did, how long, what is above and below it, its errors and every attribute. The trace itself shows the ids: `get_trace_details`.",
        skills: &[Skill::Inspect],
        scopes: &["event:read"],
        requires: &[Capability::Traces],
        ..Spec::READ
    };
    type Params = Params;
    type Output = Markdown;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Markdown, ToolError> {
        let target = TraceTarget {
            organization: &params.organization_slug,
            region: params.region_url.as_deref(),
            trace: &params.trace_id,
            span: Some(&params.span_id),
        };
        target.show(cx).await
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::{Value, json};

    use crate::test_support::{Sentry, fault};

    const META: &str = "/api/0/organizations/{o}/trace-meta/{t}/";
    const TRACE: &str = "/api/0/organizations/{o}/trace/{t}/";
    const ID: &str = "0123456789abcdef0123456789abcdef";

    fn named(span: &str) -> Value {
        json!({"organizationSlug": "harbor-lantern", "traceId": ID.to_uppercase(), "spanId": span})
    }

    fn sentry(spans: u32) -> Sentry {
        let trace = json!([{
            "event_id": "aaaaaaaaaaaaaaaa", "event_type": "span", "op": "http.server", "is_transaction": true,
            "description": "POST /api/pay", "transaction": "/api/pay", "project_slug": "quay-api",
            "start_timestamp": 1_777_883_460.0, "end_timestamp": 1_777_883_462.5, "duration": 2_500,
            "children": [{
                "event_id": "bbbbbbbbbbbbbbbb", "op": "db", "description": "SELECT * FROM cards WHERE number = '4111'",
                "project_slug": "quay-api", "start_timestamp": 1_777_883_460.2, "duration": 40.25,
                "errors": [{"event_id": "e1", "issue_id": 650, "level": "error", "title": "Deadlock"}],
                "additional_attributes": {"db.system": "postgresql", "server.address": "db-1", "db.rows": 12},
                "tags": {"region": "eu"},
                "children": [{"event_id": "cccccccccccccccc", "op": "db.connect", "duration": 9.5}],
            }],
        }]);
        Sentry::with_faults(vec![
            fault(
                "GET",
                META,
                200,
                &json!({"span_count": spans, "errors": 1, "logs": 4}).to_string(),
            ),
            fault("GET", TRACE, 200, &trace.to_string()),
        ])
    }

    #[tokio::test]
    async fn a_span_comes_with_its_surroundings_and_attributes() {
        assert_snapshot!(sentry(3).call("get_span_details", named("bbbbbbbbbbbbbbbb")).await);
    }

    #[tokio::test]
    async fn an_unknown_span_is_told_apart_from_one_that_was_not_read() {
        assert_snapshot!(sentry(3).call("get_span_details", named("feedfacefeedface")).await);
        let text = sentry(40_000).call_failing("get_span_details", named("feedfacefeedface")).await;
        assert!(text.contains("among the 3 of 40000 spans that could be read"), "{text}");
    }

    #[tokio::test]
    async fn a_span_is_looked_for_among_ten_thousand() {
        let sentry = sentry(40_000);
        sentry.call("get_span_details", named("AAAAAAAAAAAAAAAA")).await;
        assert!(sentry.requests()[1].contains("limit=10000"), "{:?}", sentry.requests());
    }

    #[tokio::test]
    async fn without_a_span_nothing_is_sent() {
        let sentry = Sentry::new();
        let arguments = json!({"organizationSlug": "harbor-lantern", "traceId": ID});
        let text = sentry.call_failing("get_span_details", arguments).await;
        assert!(text.contains("spanId"), "{text}");
        assert_eq!(sentry.requests(), Vec::<String>::new());
    }
}
