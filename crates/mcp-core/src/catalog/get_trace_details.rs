//! `get_trace_details`: a trace in short, or one of its spans.

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
pub(super) struct GetTraceDetails;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    organization_slug: OrganizationSlug,
    region_url: Option<RegionUrl>,
    trace_id: TraceId,
    /// one of its spans, to look at that alone
    #[schemars(length(min = 1, max = 100))]
    span_id: Option<String>,
}

impl CuratedTool for GetTraceDetails {
    const SPEC: Spec = Spec {
        name: "get_trace_details",
        title: "Get trace details",
        description: "Show a trace of the last 14 days in short: counts, where the time went by operation, its most telling spans as a tree, errors. With `spanId` that span alone. For rows, aggregates or all of its spans search events with the query `trace:ID`.",
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
            span: params.span_id.as_deref(),
        };
        target.show(cx).await
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::{Value, json};

    use crate::{
        constraints::{Capabilities, Constraints},
        test_support::{Sentry, fault},
    };

    const META: &str = "/api/0/organizations/{o}/trace-meta/{t}/";
    const TRACE: &str = "/api/0/organizations/{o}/trace/{t}/";
    const ID: &str = "0123456789abcdef0123456789abcdef";

    /// The trace of an error of the mock.
    async fn known(sentry: &Sentry) -> String {
        let arguments = json!({"organizationSlug": "harbor-lantern", "issueId": "QUAY-WEB-1"});
        let text = sentry.content("get_issue_details", arguments).await.text;
        let line = text.lines().find_map(|it| it.trim().strip_prefix("trace_id: ")).unwrap();
        line.to_owned()
    }

    fn named(trace: &str) -> Value {
        json!({"organizationSlug": "harbor-lantern", "traceId": trace})
    }

    fn made(meta: Value, trace: Value) -> Sentry {
        Sentry::with_faults(vec![
            fault("GET", META, 200, &meta.to_string()),
            fault("GET", TRACE, 200, &trace.to_string()),
        ])
    }

    #[tokio::test]
    async fn a_trace_is_a_tree_with_its_operations_and_errors() {
        let trace = known(&Sentry::new()).await;
        assert_snapshot!(Sentry::new().call("get_trace_details", named(&trace)).await);
    }

    #[tokio::test]
    async fn as_many_spans_are_asked_for_as_there_are_within_bounds() {
        for (spans, limit) in
            [(json!(3), 50), (json!(400), 402), (json!(90_000), 1_000), (json!(null), 1_000)]
        {
            let sentry = made(json!({"span_count": spans, "errors": 2}), json!([]));
            let text = sentry.call("get_trace_details", named(ID)).await;
            assert!(text.contains(&format!("limit={limit}&project=-1&statsPeriod=14d")), "{text}");
        }
    }

    #[tokio::test]
    async fn a_trace_without_spans_says_so() {
        let sentry = made(json!({"errors": 0, "spanCount": 0}), json!([]));
        assert_snapshot!(sentry.call("get_trace_details", named(ID)).await);
    }

    #[tokio::test]
    async fn ten_thousand_spans_are_bounded_and_say_what_was_left_out() {
        let leaf = |n: usize| {
            json!({
                "event_id": format!("{n:016x}"), "event_type": "span", "op": "db", "duration": n % 97,
                "description": "SELECT * FROM boats WHERE id = %s", "project_slug": "quay-api",
                "additional_attributes": {"db.system": "postgresql", "note": "x".repeat(200)},
            })
        };
        let branches: Vec<Value> = (0..100)
            .map(|n| json!({"event_id": format!("b{n}"), "op": "task", "children": (0..99).map(|it| leaf(n * 100 + it)).collect::<Vec<_>>()}))
            .collect();
        let sentry = made(
            json!({"span_count": 12_000}),
            json!([{"event_id": "r", "op": "http.server", "children": branches}]),
        );
        let text = sentry.call("get_trace_details", named(ID)).await;
        assert!(text.len() < 32_000, "{} bytes", text.len());
        assert!(text.contains("12000, of which 10001 were read"), "{text}");
        assert!(text.contains("Spans (the 96 most telling of 10001)"), "{text}");
        let left_out: usize = text
            .lines()
            .filter_map(|it| {
                it.trim().strip_prefix("… ")?.split_once(" more span")?.0.parse::<usize>().ok()
            })
            .sum();
        assert_eq!(left_out, 10_001 - 96);
    }

    #[tokio::test]
    async fn a_span_is_shown_alone() {
        let trace = known(&Sentry::new()).await;
        let sentry = Sentry::new();
        let whole = sentry.content("get_trace_details", named(&trace)).await.text;
        let line = whole.lines().find(|it| it.contains("http.server POST")).unwrap();
        let span = line.rsplit(" · ").next().unwrap();
        let mut arguments = named(&trace);
        arguments["spanId"] = json!(span);
        let text = sentry.call("get_trace_details", arguments).await;
        assert!(text.contains(&format!("# Span {span} in harbor-lantern")), "{text}");
    }

    #[tokio::test]
    async fn an_unknown_trace_is_named() {
        assert_snapshot!(Sentry::new().call("get_trace_details", named(ID)).await);
    }

    #[tokio::test]
    async fn a_trace_id_of_another_form_sends_nothing() {
        let sentry = Sentry::new();
        let text = sentry.call_failing("get_trace_details", named("a1b2")).await;
        assert!(text.contains("32 hexadecimal digits"), "{text}");
        assert_eq!(sentry.requests(), Vec::<String>::new());
    }

    #[tokio::test]
    async fn a_project_that_sends_no_traces_has_no_such_tool() {
        for (traces, shown) in [(false, false), (true, true)] {
            let constraints = Constraints {
                organization: Some("harbor-lantern".to_owned()),
                project: Some("quay-api".to_owned()),
                capabilities: Some(Capabilities { traces, ..Capabilities::default() }),
                ..Constraints::default()
            };
            let sentry = Sentry::new().constrained(constraints);
            let text = sentry.call("get_trace_details", named(ID)).await;
            assert_eq!(text.contains("GET "), shown, "{text}");
        }
    }
}
