//! `add_issue_note`: a comment on an issue.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    error::ToolError,
    issue::IssueRef,
    render::{Page, event::Sheet, inline, segment},
    skill::Skill,
    tool::{Call, CuratedTool, Effect, Markdown, Spec},
};

#[derive(Debug)]
pub(super) struct AddIssueNote;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    #[serde(flatten)]
    issue: IssueRef,
    /// markdown; people see it under the issue
    #[schemars(length(min = 1, max = 4096))]
    text: String,
}

impl CuratedTool for AddIssueNote {
    const SPEC: Spec = Spec {
        name: "add_issue_note",
        title: "Add issue note",
        description: "Comment on an issue, for the people who work on it. Calling it twice leaves two comments.",
        skills: &[Skill::Triage],
        scopes: &["event:write"],
        effect: Effect::Create,
        ..Spec::READ
    };
    type Params = Params;
    type Output = Markdown;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Markdown, ToolError> {
        let target = params.issue.resolve(cx)?;
        target.check_project(cx).await?;
        let (organization, issue) = (target.organization.as_str(), target.issue.as_str());
        let note = target.sentry.add_issue_note(organization, issue, &params.text).await?;
        let author = note.user.as_ref().and_then(|it| it.label());
        let mut page = Page::new(format!("Commented on {issue} in {organization}"));
        page.fact("Note", inline(&note.id))
            .maybe("Author", author)
            .maybe("Created", note.date_created.as_ref())
            .fact("Link", cx.web_url(organization, &format!("/issues/{}", segment(issue))));
        let mut sheet = Sheet::new(6_000);
        sheet.paragraph(&params.text, 40);
        page.block("text", &sheet.finish());
        page.next_steps([cx.hint("get_issue_activity", "see the whole history of the issue")]);
        Ok(page.finish())
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::{Value, json};

    use crate::test_support::Sentry;

    fn with(issue: &str, text: &str) -> Value {
        json!({"organizationSlug": "harbor-lantern", "issueId": issue, "text": text})
    }

    /// P36.
    #[tokio::test]
    async fn a_note_is_left_and_confirmed() {
        let sentry = Sentry::new();
        assert_snapshot!(
            sentry.call("add_issue_note", with("QUAY-API-2", "Seen on staging too.")).await
        );
    }

    #[tokio::test]
    async fn an_empty_note_is_refused() {
        let sentry = Sentry::new();
        let text = sentry.call("add_issue_note", with("QUAY-API-2", "")).await;
        assert!(text.starts_with("--- error"), "nothing was sent: {text}");
    }

    #[tokio::test]
    async fn a_note_that_is_too_long_is_refused() {
        let sentry = Sentry::new();
        let text = sentry.call("add_issue_note", with("QUAY-API-2", &"x".repeat(4_097))).await;
        assert!(text.starts_with("--- error") && text.contains("4096"), "{text}");
    }

    #[tokio::test]
    async fn an_unknown_issue_is_named() {
        assert_snapshot!(Sentry::new().call("add_issue_note", with("NOPE-1", "x")).await);
    }

    #[tokio::test]
    async fn an_issue_of_another_project_gets_no_note() {
        let sentry = Sentry::new().pinned("harbor-lantern", Some("quay-web"));
        sentry.call_failing("add_issue_note", json!({"issueId": "QUAY-API-2", "text": "x"})).await;
        assert!(
            sentry.requests().iter().all(|it| it.starts_with("GET ")),
            "{:?}",
            sentry.requests()
        );
    }
}
