//! `get_issue_user_reports`: what users wrote when an error met them.

use api_client::sentry::activities::UserReport;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    error::ToolError,
    issue::IssueRef,
    params::Limit,
    render::{
        Page,
        event::{Sheet, shorten},
    },
    skill::Skill,
    tool::{Call, CuratedTool, Markdown, Spec},
};

/// Bytes of the list, and lines of a report.
const ROOM: usize = 60_000;
const MOST_LINES: usize = 20;

#[derive(Debug)]
pub(super) struct GetIssueUserReports;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    #[serde(flatten)]
    issue: IssueRef,
    /// where the last answer ended
    cursor: Option<String>,
    #[serde(default)]
    limit: Limit<25, 100>,
}

impl CuratedTool for GetIssueUserReports {
    const SPEC: Spec = Spec {
        name: "get_issue_user_reports",
        title: "Get issue user reports",
        description: "List what users wrote in the crash report dialog about an issue, newest first, with who they are and the event each is about.",
        skills: &[Skill::Inspect, Skill::Triage],
        scopes: &["event:read"],
        ..Spec::READ
    };
    type Params = Params;
    type Output = Markdown;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Markdown, ToolError> {
        let target = params.issue.resolve(cx)?;
        target.check_project(cx).await?;
        let (organization, issue) = (target.organization.as_str(), target.issue.as_str());
        let limit = params.limit.get();
        let cursor = params.cursor.as_deref();
        let reports =
            target.sentry.issue_user_reports(organization, issue, cursor, limit as u32).await?;
        let mut page = Page::new(format!("User reports of {issue} in {organization}"));
        if reports.items.is_empty() {
            page.paragraph(match cursor {
                None => "No user has written about this issue.",
                Some(_) => "There are no more.",
            });
            return Ok(page.finish());
        }
        let mut sheet = Sheet::new(ROOM);
        for report in reports.items.iter().take(limit) {
            lines(&mut sheet, report);
        }
        page.untrusted(&sheet.finish());
        if let Some(next) = &reports.next_cursor {
            page.paragraph(format!("There are more: pass `cursor` `{}`.", shorten(next, 100)));
        }
        Ok(page.finish())
    }
}

fn lines(sheet: &mut Sheet, report: &UserReport) {
    let event = report.event_id.as_deref().unwrap_or("unknown");
    let date = report.date_created.as_deref().unwrap_or("-");
    let (date, event) = (shorten(date, 40), shorten(event, 40));
    sheet.line(format!("{date} {} (event {event})", reporter(report)));
    let text = report.comments.as_deref().filter(|it| !it.trim().is_empty());
    for line in text.unwrap_or("(no words)").lines().take(MOST_LINES) {
        sheet.line(format!("  {line}"));
    }
}

/// Name and address, the event's user where the report lacks them; `none` and the like are nobody.
fn reporter(report: &UserReport) -> String {
    let user = report.user.as_ref();
    let of_user =
        |field: fn(&api_client::sentry::users::Actor) -> Option<&String>| user.and_then(field);
    let known = |it: &&String| {
        let it = it.trim();
        !it.is_empty() && !it.eq_ignore_ascii_case("none") && !it.eq_ignore_ascii_case("null")
    };
    let first = |fields: [Option<&String>; 3]| fields.into_iter().flatten().find(known).cloned();
    let name = first([
        report.name.as_ref(),
        of_user(|it| it.name.as_ref()),
        of_user(|it| it.username.as_ref()),
    ]);
    let email = first([report.email.as_ref(), of_user(|it| it.email.as_ref()), None]);
    let id = first([of_user(|it| it.id.as_ref()), None, None]);
    match (name, email, id) {
        (Some(name), Some(email), _) if name != email => shorten(&format!("{name} <{email}>"), 160),
        (Some(one), _, _) | (None, Some(one), _) => shorten(&one, 160),
        (None, None, Some(id)) => format!("user {}", shorten(&id, 80)),
        (None, None, None) => "somebody".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::{Value, json};

    use crate::test_support::{Sentry, fault, rows};

    const REPORTS: &str = "/api/0/organizations/{o}/issues/{i}/user-reports/";

    fn named(issue: &str) -> Value {
        json!({"organizationSlug": "harbor-lantern", "issueId": issue})
    }

    /// P36.
    #[tokio::test]
    async fn reports_come_with_who_wrote_them_and_the_event() {
        assert_snapshot!(Sentry::new().call("get_issue_user_reports", named("QUAY-WEB-3")).await);
    }

    #[tokio::test]
    async fn an_issue_without_reports_says_so() {
        assert_snapshot!(Sentry::new().call("get_issue_user_reports", named("QUAY-API-2")).await);
    }

    #[tokio::test]
    async fn the_next_page_is_reached_by_its_cursor() {
        let sentry = Sentry::new();
        let mut arguments = named("QUAY-WEB-3");
        arguments["limit"] = json!(1);
        let text = sentry.call("get_issue_user_reports", arguments.clone()).await;
        let cursor = text.rsplit_once("pass `cursor` `").unwrap().1.split('`').next().unwrap();
        arguments["cursor"] = json!(cursor);
        let text = sentry.call("get_issue_user_reports", arguments).await;
        assert!(text.contains("deck@boats.test") && !text.contains("There are more"), "{text}");
    }

    #[tokio::test]
    async fn more_rows_than_asked_for_are_not_shown() {
        let many = rows(100, |n| json!({"id": n, "comments": "broken"}));
        let sentry = Sentry::with_fault(fault("GET", REPORTS, 200, &many));
        let mut arguments = named("QUAY-WEB-3");
        arguments["limit"] = json!(3);
        let text = sentry.call("get_issue_user_reports", arguments).await;
        assert_eq!(text.matches("somebody").count(), 3, "{text}");
    }

    #[tokio::test]
    async fn an_unknown_issue_is_named() {
        assert_snapshot!(Sentry::new().call("get_issue_user_reports", named("NOPE-1")).await);
    }
}
