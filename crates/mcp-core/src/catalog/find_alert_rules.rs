//! `find_alert_rules`: issue and metric alert rules.

use api_client::sentry::{
    Client, Page,
    alert_rules::{AlertRule, AlertRuleList},
    workflows::{Workflow, WorkflowList},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    error::ToolError,
    params::{Limit, OrganizationSlug, ProjectOrAll, RegionUrl},
    render::alert_rule::{self, RuleKind},
    skill::Skill,
    tool::{Call, CuratedTool, Spec, Structured},
};

#[derive(Debug)]
pub(super) struct FindAlertRules;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    organization_slug: OrganizationSlug,
    region_url: Option<RegionUrl>,
    #[serde(default)]
    kind: RuleKind,
    /// the project's slug, or `all`; issue rules are listed for one project only
    project_slug: Option<ProjectOrAll>,
    /// words in the name
    query: Option<String>,
    /// `nextCursor` of the last answer, together with its `kind`
    cursor: Option<String>,
    #[serde(default)]
    limit: Limit<10, 100>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Answer {
    issue_rules: Vec<IssueRule>,
    metric_rules: Vec<MetricRule>,
    pagination: Pagination,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct IssueRule {
    id: String,
    name: String,
    status: &'static str,
    /// How the triggers count together.
    #[serde(skip_serializing_if = "Option::is_none")]
    action_match: Option<String>,
    /// How the first filter's conditions count together.
    #[serde(skip_serializing_if = "Option::is_none")]
    filter_match: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frequency_minutes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    environment: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    date_created: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    date_updated: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_triggered: Option<String>,
    web_url: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct MetricRule {
    id: String,
    name: String,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    dataset: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    aggregate: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    query: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time_window_minutes: Option<u64>,
    projects: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    environment: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    date_created: Option<String>,
    web_url: String,
}

/// A family that was not listed is left out.
#[derive(Debug, Serialize, JsonSchema)]
struct Pagination {
    #[serde(skip_serializing_if = "Option::is_none")]
    issue: Option<Next>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metric: Option<Next>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Next {
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl CuratedTool for FindAlertRules {
    const SPEC: Spec = Spec {
        name: "find_alert_rules",
        title: "Find alert rules",
        description: "List alert rules. Issue rules act when an issue changes and belong to one project, so they need `projectSlug`; metric rules watch a number. The two families have ids and cursors of their own.",
        skills: &[Skill::Inspect],
        scopes: &["org:read", "project:read"],
        ..Spec::READ
    };
    type Params = Params;
    type Output = Structured<Answer>;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Self::Output, ToolError> {
        let project = params.project_slug.as_ref().and_then(ProjectOrAll::project);
        let with_issue = params.kind.has_issue() && project.is_some();
        if params.kind == RuleKind::Issue && project.is_none() {
            return Err(alert_rule::project_needed());
        }
        if with_issue && params.kind.has_metric() && params.cursor.is_some() {
            return Err(ToolError::user("a `cursor` belongs to one family of rules")
                .hint("give it together with `kind` set to issue or metric"));
        }
        let sentry = cx.sentry_in(params.region_url.as_deref())?;
        let issue = match project.filter(|_| with_issue) {
            Some(project) => Some(issue_rules(&sentry, &params, project).await?),
            None => None,
        };
        let metric = match params.kind.has_metric() {
            true => Some(metric_rules(&sentry, &params, project).await?),
            false => None,
        };
        let pagination = Pagination {
            issue: issue.as_ref().map(|it| Next { next_cursor: it.next_cursor.clone() }),
            metric: metric.as_ref().map(|it| Next { next_cursor: it.next_cursor.clone() }),
        };
        let organization = &params.organization_slug;
        let issue_rules = issue.into_iter().flat_map(|it| it.items);
        let metric_rules = metric.into_iter().flat_map(|it| it.items);
        Ok(Structured(Answer {
            issue_rules: issue_rules.map(|it| issue_rule(cx, organization, it)).collect(),
            metric_rules: metric_rules.map(|it| metric_rule(cx, organization, it)).collect(),
            pagination,
        }))
    }
}

async fn issue_rules(
    sentry: &Client,
    params: &Params,
    project: &str,
) -> Result<Page<Workflow>, ToolError> {
    let list = WorkflowList {
        project,
        query: params.query.as_deref(),
        cursor: params.cursor.as_deref(),
        limit: params.limit.get() as u32,
    };
    Ok(sentry.list_workflows(&params.organization_slug, &list).await?)
}

async fn metric_rules(
    sentry: &Client,
    params: &Params,
    project: Option<&str>,
) -> Result<Page<AlertRule>, ToolError> {
    let id = match project {
        Some(slug) => Some(sentry.project(&params.organization_slug, slug).await?.id),
        None => None,
    };
    let list = AlertRuleList {
        project: id.as_deref(),
        query: params.query.as_deref(),
        cursor: params.cursor.as_deref(),
        limit: params.limit.get() as u32,
    };
    Ok(sentry.list_alert_rules(&params.organization_slug, &list).await?)
}

fn issue_rule(cx: &Call<'_>, organization: &str, rule: Workflow) -> IssueRule {
    IssueRule {
        web_url: alert_rule::issue_url(cx, organization, &rule.id),
        status: alert_rule::issue_status(&rule),
        action_match: rule.triggers.and_then(|it| it.logic_type),
        filter_match: rule.action_filters.into_iter().next().and_then(|it| it.logic_type),
        frequency_minutes: rule.config.frequency,
        environment: rule.environment,
        owner: rule.owner.and_then(|it| it.label()),
        date_created: rule.date_created,
        date_updated: rule.date_updated,
        last_triggered: rule.last_triggered,
        id: rule.id,
        name: rule.name,
    }
}

fn metric_rule(cx: &Call<'_>, organization: &str, rule: AlertRule) -> MetricRule {
    MetricRule {
        web_url: alert_rule::metric_url(cx, organization, &rule.id),
        status: rule.status_text(),
        dataset: rule.dataset,
        aggregate: rule.aggregate,
        query: rule.query,
        time_window_minutes: rule.time_window.map(|it| it as u64),
        projects: rule.projects,
        environment: rule.environment,
        owner: rule.owner.and_then(|it| it.label()),
        date_created: rule.date_created,
        id: rule.id,
        name: rule.name,
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::json;

    use crate::test_support::Sentry;

    #[tokio::test]
    async fn both_families_are_listed_for_a_project() {
        let arguments = json!({
            "organizationSlug": "harbor-lantern", "projectSlug": "quay-api", "query": "checkout",
        });
        assert_snapshot!(Sentry::new().call("find_alert_rules", arguments).await);
    }

    #[tokio::test]
    async fn without_a_project_there_are_metric_rules_alone() {
        let sentry = Sentry::new();
        let arguments = json!({"organizationSlug": "harbor-lantern", "projectSlug": "all"});
        let answer = sentry.call_structured("find_alert_rules", arguments).await;
        assert_eq!(answer["metricRules"].as_array().unwrap().len(), 3);
        assert_eq!((&answer["issueRules"], answer["pagination"].get("issue")), (&json!([]), None));
    }

    #[tokio::test]
    async fn nothing_found_is_two_empty_lists() {
        let arguments = json!({
            "organizationSlug": "harbor-lantern", "projectSlug": "quay-api", "query": "zzz",
        });
        assert_snapshot!(Sentry::new().call("find_alert_rules", arguments).await);
    }

    #[tokio::test]
    async fn a_family_goes_on_at_its_own_cursor() {
        let sentry = Sentry::new();
        let mut arguments = json!({
            "organizationSlug": "harbor-lantern", "projectSlug": "quay-web", "kind": "issue", "limit": 1,
        });
        let first = sentry.call_structured("find_alert_rules", arguments.clone()).await;
        assert_eq!(first["issueRules"][0]["name"], "Checkout error surge (canary)");
        arguments["cursor"] = first["pagination"]["issue"]["nextCursor"].clone();
        let second = sentry.call_structured("find_alert_rules", arguments).await;
        assert_eq!(second["issueRules"][0]["name"], "Checkout error surge");
        assert_eq!(second["pagination"]["issue"].get("nextCursor"), None);
    }

    #[tokio::test]
    async fn what_cannot_be_listed_is_refused_before_anything_is_sent() {
        for (arguments, words) in [
            (json!({"kind": "issue"}), "`projectSlug`"),
            (json!({"kind": "issue", "projectSlug": "all"}), "`projectSlug`"),
            (json!({"projectSlug": "quay-web", "cursor": "1:1:0"}), "`kind`"),
            (json!({"limit": 101}), "1 to 100"),
        ] {
            let sentry = Sentry::new();
            let mut all = arguments.clone();
            all["organizationSlug"] = json!("harbor-lantern");
            let text = sentry.call_failing("find_alert_rules", all).await;
            assert!(text.contains(words), "{arguments}: {text}");
            assert_eq!(sentry.requests(), Vec::<String>::new());
        }
    }

    #[tokio::test]
    async fn an_unknown_project_is_the_callers_to_fix() {
        let arguments = json!({
            "organizationSlug": "harbor-lantern", "projectSlug": "nothing", "kind": "metric",
        });
        let text = Sentry::new().call_failing("find_alert_rules", arguments).await;
        assert!(text.contains("`projectSlug` `nothing`"), "{text}");
    }
}
