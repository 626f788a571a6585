//! `get_alert_rule`: one alert rule, by id or by name.

use api_client::sentry::{
    Client, MAX_PER_PAGE,
    alert_rules::{AlertRule, AlertRuleList},
    workflows::{Workflow, WorkflowList},
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    error::ToolError,
    params::{OrganizationSlug, ProjectOrAll, RegionUrl},
    render::alert_rule::{self, RuleKind},
    skill::Skill,
    tool::{Call, CuratedTool, Markdown, Spec},
};

#[derive(Debug)]
pub(super) struct GetAlertRule;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    organization_slug: OrganizationSlug,
    region_url: Option<RegionUrl>,
    /// an id needs issue or metric here; all looks for the name in both families
    #[serde(default)]
    kind: RuleKind,
    /// the project's slug, or `all`; issue rules are found in one project only
    project_slug: Option<ProjectOrAll>,
    /// the numeric id, or the whole name in any case
    #[schemars(length(min = 1))]
    rule_id_or_name: String,
}

/// A rule of either family.
enum Rule {
    Issue { rule: Workflow, project: String },
    Metric(AlertRule),
}

/// What is looked for, and where.
struct Search<'a> {
    sentry: &'a Client,
    organization: &'a str,
    project: Option<&'a str>,
    wanted: &'a str,
}

impl CuratedTool for GetAlertRule {
    const SPEC: Spec = Spec {
        name: "get_alert_rule",
        title: "Get alert rule",
        description: "Show one alert rule: what starts it, under which conditions, what it does and how often. `find_alert_rules` lists ids; an id counts within its family, so give `kind` with it.",
        skills: &[Skill::Inspect],
        scopes: &["org:read", "project:read"],
        ..Spec::READ
    };
    type Params = Params;
    type Output = Markdown;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Markdown, ToolError> {
        let sentry = cx.sentry_in(params.region_url.as_deref())?;
        let search = Search {
            sentry: &sentry,
            organization: &params.organization_slug,
            project: params.project_slug.as_ref().and_then(ProjectOrAll::project),
            wanted: params.rule_id_or_name.trim(),
        };
        let found = match params.kind {
            RuleKind::Issue => search.issue().await?,
            RuleKind::Metric => search.metric().await?,
            RuleKind::All => {
                let mut found = match search.project {
                    Some(project) => search.issue_by_name(project).await?,
                    None => Vec::new(),
                };
                found.extend(search.metric_by_name().await?);
                found
            }
        };
        let [rule] =
            <[Rule; 1]>::try_from(found).map_err(|found| search.undecided(params.kind, &found))?;
        Ok(match rule {
            Rule::Issue { rule, project } => {
                let url = alert_rule::issue_url(cx, search.organization, &rule.id);
                alert_rule::issue_page(&rule, &project, &url).finish()
            }
            Rule::Metric(rule) => {
                let url = alert_rule::metric_url(cx, search.organization, &rule.id);
                alert_rule::metric_page(&rule, &url).finish()
            }
        })
    }
}

impl Search<'_> {
    fn is_id(&self) -> bool {
        self.wanted.bytes().all(|byte| byte.is_ascii_digit())
    }

    fn is_named(&self, name: &str) -> bool {
        name.trim().to_lowercase() == self.wanted.to_lowercase()
    }

    /// An id that is none may still be a name.
    async fn issue(&self) -> Result<Vec<Rule>, ToolError> {
        let project = self.project.ok_or_else(alert_rule::project_needed)?;
        if self.is_id() {
            match self.sentry.workflow(self.organization, project, self.wanted).await {
                Ok(Some(rule)) => {
                    return Ok(vec![Rule::Issue { rule, project: project.to_owned() }]);
                }
                Err(error) if !error.is_not_found() => return Err(error.into()),
                Ok(None) | Err(_) => {}
            }
        }
        self.issue_by_name(project).await
    }

    async fn issue_by_name(&self, project: &str) -> Result<Vec<Rule>, ToolError> {
        let query = Some(self.wanted);
        let list = WorkflowList { project, query, cursor: None, limit: MAX_PER_PAGE };
        let found = self.sentry.list_workflows(self.organization, &list).await?.items;
        let named = found.into_iter().filter(|it| self.is_named(&it.name));
        Ok(named.map(|rule| Rule::Issue { rule, project: project.to_owned() }).collect())
    }

    /// An id that is none may still be a name.
    async fn metric(&self) -> Result<Vec<Rule>, ToolError> {
        if self.is_id() {
            match self.sentry.alert_rule(self.organization, self.wanted).await {
                Ok(rule)
                    if self.project.is_none_or(|it| rule.projects.iter().any(|own| own == it)) =>
                {
                    return Ok(vec![Rule::Metric(rule)]);
                }
                Ok(rule) => {
                    let message = format!(
                        "the metric rule `{}` belongs to {}, not to `{}`",
                        rule.id,
                        rule.projects.join(", "),
                        self.project.unwrap_or_default()
                    );
                    return Err(ToolError::user(message)
                        .hint_tool("find_alert_rules", "list the rules of a project"));
                }
                Err(error) if !error.is_not_found() => return Err(error.into()),
                Err(_) => {}
            }
        }
        self.metric_by_name().await
    }

    async fn metric_by_name(&self) -> Result<Vec<Rule>, ToolError> {
        let id = match self.project {
            Some(slug) => Some(self.sentry.project(self.organization, slug).await?.id),
            None => None,
        };
        let list = AlertRuleList {
            project: id.as_deref(),
            query: Some(self.wanted),
            cursor: None,
            limit: MAX_PER_PAGE,
        };
        let found = self.sentry.list_alert_rules(self.organization, &list).await?.items;
        Ok(found.into_iter().filter(|it| self.is_named(&it.name)).map(Rule::Metric).collect())
    }

    /// None, or more than one.
    fn undecided(&self, kind: RuleKind, found: &[Rule]) -> ToolError {
        if found.is_empty() {
            let message = format!("no alert rule is called `{}`", self.wanted);
            let error = ToolError::user(message);
            let error = match (kind, self.project) {
                (RuleKind::All, None) => error
                    .hint("only metric rules were looked at: give `projectSlug` for issue rules"),
                _ => error,
            };
            let error = match kind {
                RuleKind::All if self.is_id() => {
                    error.hint("for an id, give `kind` set to issue or metric")
                }
                RuleKind::All | RuleKind::Issue | RuleKind::Metric => error,
            };
            return error.hint_tool("find_alert_rules", "list the rules");
        }
        let rows: Vec<String> = found
            .iter()
            .map(|it| match it {
                Rule::Issue { rule, project } => {
                    format!("issue rule {} `{}` of {project}", rule.id, rule.name)
                }
                Rule::Metric(rule) => {
                    format!(
                        "metric rule {} `{}` of {}",
                        rule.id,
                        rule.name,
                        rule.projects.join(", ")
                    )
                }
            })
            .collect();
        ToolError::user(format!("{} alert rules are called `{}`", found.len(), self.wanted))
            .hint(format!("give the id and its `kind`: {}", rows.join("; ")))
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::{Value, json};

    use crate::test_support::Sentry;

    fn asked(rule: &str, more: Value) -> Value {
        let mut arguments = json!({"organizationSlug": "harbor-lantern", "ruleIdOrName": rule});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    }

    #[tokio::test]
    async fn an_issue_rule_is_shown_by_its_name_in_any_case() {
        let arguments = asked("checkout ERROR surge", json!({"projectSlug": "quay-api"}));
        assert_snapshot!(Sentry::new().call("get_alert_rule", arguments).await);
    }

    #[tokio::test]
    async fn a_metric_rule_is_shown_by_its_id() {
        let sentry = Sentry::new();
        let list = json!({"organizationSlug": "harbor-lantern", "query": "orders"});
        let found = sentry.call_structured("find_alert_rules", list).await;
        sentry.mock.reset();
        let id = found["metricRules"][0]["id"].as_str().unwrap();
        assert_snapshot!(sentry.call("get_alert_rule", asked(id, json!({"kind": "metric"}))).await);
    }

    #[tokio::test]
    async fn an_id_is_tied_to_its_family_and_project() {
        let sentry = Sentry::new();
        let list = json!({"organizationSlug": "harbor-lantern", "projectSlug": "quay-web"});
        let found = sentry.call_structured("find_alert_rules", list).await;
        let issue = found["issueRules"][0]["id"].as_str().unwrap();
        let metric = found["metricRules"][0]["id"].as_str().unwrap();
        let text = sentry
            .content(
                "get_alert_rule",
                asked(issue, json!({"kind": "issue", "projectSlug": "quay-web"})),
            )
            .await
            .text;
        assert!(text.contains("(canary)"), "{text}");
        let other = asked(metric, json!({"kind": "metric", "projectSlug": "quay-api"}));
        let text = sentry.call_failing("get_alert_rule", other).await;
        assert!(text.contains("belongs to quay-web, not to `quay-api`"), "{text}");
        let text = sentry.call_failing("get_alert_rule", asked(metric, json!({}))).await;
        assert!(text.contains("give `kind` set to issue or metric"), "{text}");
    }

    #[tokio::test]
    async fn several_rules_of_one_name_are_answered_with_their_ids() {
        assert_snapshot!(
            Sentry::new().call("get_alert_rule", asked("Checkout latency", json!({}))).await
        );
    }

    #[tokio::test]
    async fn a_name_that_nothing_has_is_not_found() {
        assert_snapshot!(
            Sentry::new()
                .call("get_alert_rule", asked("zzz", json!({"projectSlug": "quay-web"})))
                .await
        );
    }

    #[tokio::test]
    async fn an_issue_rule_needs_its_project() {
        let sentry = Sentry::new();
        let text =
            sentry.call_failing("get_alert_rule", asked("a", json!({"kind": "issue"}))).await;
        assert!(text.contains("`projectSlug` is needed"), "{text}");
        assert_eq!(sentry.requests(), Vec::<String>::new());
    }
}
