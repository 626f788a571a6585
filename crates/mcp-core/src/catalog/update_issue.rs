//! `update_issue`: status, assignment, and every way of ignoring.

use api_client::sentry::issues::{Issue, IssueChanges};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    error::ToolError,
    issue::{IgnoreMode, IgnoreOptions, IssueRef, IssueTarget},
    render::{Page, assignee, inline, issue_name, issue_status},
    skill::Skill,
    tool::{Call, CuratedTool, Effect, Markdown, Spec},
};

#[derive(Debug)]
pub(super) struct UpdateIssue;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    #[serde(flatten)]
    issue: IssueRef,
    status: Option<Status>,
    /// `user:ID`, `team:ID` or `me`
    assigned_to: Option<String>,
    #[serde(flatten)]
    ignoring: IgnoreOptions,
    /// why; left as a comment
    #[schemars(length(min = 1, max = 4096))]
    reason: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum Status {
    Resolved,
    ResolvedInNextRelease,
    Unresolved,
    Ignored,
}

impl Status {
    fn id(self) -> &'static str {
        match self {
            Self::Resolved => "resolved",
            Self::ResolvedInNextRelease => "resolvedInNextRelease",
            Self::Unresolved => "unresolved",
            Self::Ignored => "ignored",
        }
    }
}

impl CuratedTool for UpdateIssue {
    const SPEC: Spec = Spec {
        name: "update_issue",
        title: "Update issue",
        description: "Resolve, reopen, ignore or assign an issue. To ignore it another way than it is ignored now, set it `unresolved` first.",
        skills: &[Skill::Triage],
        scopes: &["event:write"],
        effect: Effect::Destroy,
        ..Spec::READ
    };
    type Params = Params;
    type Output = Markdown;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Markdown, ToolError> {
        let mode = checked(&params)?;
        let target = params.issue.resolve(cx)?;
        let before = target.fetch(cx).await?;
        let assigned = match params.assigned_to.as_deref() {
            Some(wanted) => Some(actor(&target, wanted).await?),
            None => None,
        };
        let changes = changes(&params, mode, assigned.as_deref(), &before)?;
        let after = if changes == IssueChanges::default() {
            None
        } else {
            let (organization, issue) = (target.organization.as_str(), target.issue.as_str());
            Some(target.sentry.update_issue(organization, issue, &changes).await?)
        };
        let note = match params.reason.as_deref() {
            Some(reason) => Some(leave_note(&target, reason).await),
            None => None,
        };
        Ok(render(cx, &target, &before, after.as_ref(), mode, note))
    }
}

/// Whether the arguments go together; the mode, where the issue is to be ignored.
fn checked(params: &Params) -> Result<Option<IgnoreMode>, ToolError> {
    match params.status {
        None if params.assigned_to.is_none() => {
            Err(ToolError::user("nothing is to be changed").hint("give `status` or `assignedTo`"))
        }
        Some(Status::Ignored) => params.ignoring.mode().map(Some),
        None | Some(Status::Resolved | Status::ResolvedInNextRelease | Status::Unresolved) => {
            if params.ignoring.is_empty() {
                return Ok(None);
            }
            Err(ToolError::user("the `ignore…` arguments go with `status` `ignored` alone")
                .hint("set `status` to `ignored`, or leave them out"))
        }
    }
}

/// The actor as Sentry takes it; `me` is looked up.
async fn actor(target: &IssueTarget, wanted: &str) -> Result<String, ToolError> {
    let wanted = wanted.trim();
    if wanted.eq_ignore_ascii_case("me") || wanted.eq_ignore_ascii_case("user:me") {
        return Ok(format!("user:{}", target.sentry.authenticated_user().await?.id));
    }
    let is_actor = wanted
        .split_once(':')
        .is_some_and(|(kind, id)| matches!(kind, "user" | "team") && !id.trim().is_empty());
    if is_actor {
        return Ok(wanted.to_owned());
    }
    Err(ToolError::user(format!("`assignedTo` `{}` is neither a user nor a team", inline(wanted)))
        .hint("write `user:ID`, `team:ID` or `me`")
        .hint_tool("find_teams", "list the teams")
        .hint_tool("whoami", "learn your own id"))
}

/// What differs from what the issue already is.
fn changes<'p>(
    params: &'p Params,
    mode: Option<IgnoreMode>,
    assigned: Option<&'p str>,
    issue: &Issue,
) -> Result<IssueChanges<'p>, ToolError> {
    let mut changes = IssueChanges::default();
    match (params.status, mode) {
        (Some(Status::Ignored), Some(mode)) => {
            if params.ignoring.is_needed(mode, issue)? {
                params.ignoring.apply(mode, &mut changes);
            }
        }
        (Some(status), _) if issue_status(issue) != status.id() => {
            changes.status = Some(status.id());
        }
        (Some(_) | None, _) => {}
    }
    changes.assigned_to = assigned.filter(|it| !is_assigned(issue, it));
    Ok(changes)
}

fn is_assigned(issue: &Issue, wanted: &str) -> bool {
    let (Some(actor), Some((kind, id))) = (&issue.assigned_to, wanted.split_once(':')) else {
        return false;
    };
    let by_name = kind == "team" && actor.name.as_deref() == Some(id);
    actor.kind.as_deref() == Some(kind) && (actor.id.as_deref() == Some(id) || by_name)
}

/// Leaves the comment; the update stands whatever becomes of it.
async fn leave_note(target: &IssueTarget, reason: &str) -> Result<(), ToolError> {
    let note = target.sentry.add_issue_note(&target.organization, &target.issue, reason).await;
    note.map(drop).map_err(|error| {
        tracing::warn!(%error, "the reason of an update was not left as a comment");
        error.into()
    })
}

fn render(
    cx: &Call<'_>,
    target: &IssueTarget,
    before: &Issue,
    after: Option<&Issue>,
    mode: Option<IgnoreMode>,
    note: Option<Result<(), ToolError>>,
) -> Markdown {
    let name = inline(issue_name(before));
    let mut page = Page::new(match after {
        Some(_) => format!("Updated issue {name} in {}", target.organization),
        None => format!("Issue {name} in {} already is so", target.organization),
    });
    page.fact("Link", target.web_url(cx, before));
    if let Some(after) = after {
        page.heading("Changes");
        let pairs = [
            ("Status", issue_status(before), issue_status(after)),
            ("Assigned to", assignee(before), assignee(after)),
        ];
        for (what, old, new) in pairs {
            if old != new {
                page.fact(what, format!("{old} → {new}"));
            }
        }
        page.maybe("Ignored", mode.map(IgnoreMode::id));
    }
    let now = after.unwrap_or(before);
    page.heading("Now").fact("Status", issue_status(now)).fact("Assigned to", assignee(now));
    match note {
        Some(Ok(())) => {
            page.paragraph("The reason was left as a comment.");
        }
        Some(Err(_)) => {
            page.paragraph("The reason could not be left as a comment; the rest stands.");
            page.next_steps([cx.hint("add_issue_note", "try the comment again")]);
        }
        None => {}
    }
    page.finish()
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::{Value, json};

    use crate::test_support::{Sentry, fault};

    const ISSUE: &str = "/api/0/organizations/{o}/issues/{i}/";
    const NOTES: &str = "/api/0/organizations/{o}/issues/{i}/notes/";

    fn with(more: Value) -> Value {
        let mut arguments = json!({"organizationSlug": "harbor-lantern", "issueId": "QUAY-API-2"});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    }

    /// The body of the one PUT that was sent.
    fn sent(sentry: &Sentry) -> Value {
        let puts: Vec<_> =
            sentry.requests().into_iter().filter(|it| it.starts_with("PUT ")).collect();
        let [put] = puts.as_slice() else { panic!("one PUT: {puts:?}") };
        serde_json::from_str(&put[put.find('{').unwrap()..]).unwrap()
    }

    #[tokio::test]
    async fn an_issue_is_resolved_with_a_reason() {
        let arguments = with(json!({"status": "resolved", "reason": "Fixed by #311."}));
        assert_snapshot!(Sentry::new().call("update_issue", arguments).await);
    }

    #[tokio::test]
    async fn an_issue_is_resolved_in_the_next_release_and_given_to_somebody() {
        let arguments = with(json!({"status": "resolvedInNextRelease", "assignedTo": "me"}));
        assert_snapshot!(Sentry::new().call("update_issue", arguments).await);
    }

    #[tokio::test]
    async fn every_way_of_ignoring_is_sent_and_told() {
        for (options, body, told) in [
            (json!({}), json!({"substatus": "archived_until_escalating"}), "until it escalates"),
            (json!({"ignoreMode": "forever"}), json!({"substatus": "archived_forever"}), "forever"),
            (
                json!({"ignoreMode": "forDuration", "ignoreDurationMinutes": 90}),
                json!({"substatus": "archived_until_condition_met", "ignoreDuration": 90}),
                "until 2026-05-04T10:30:00Z",
            ),
            (
                json!({"ignoreCount": 10, "ignoreWindowMinutes": 60}),
                json!({"substatus": "archived_until_condition_met", "ignoreCount": 10, "ignoreWindow": 60}),
                "until 10 more events within 60 minutes",
            ),
            (
                json!({"ignoreUserCount": 3, "ignoreUserWindowMinutes": 30}),
                json!({"substatus": "archived_until_condition_met", "ignoreUserCount": 3, "ignoreUserWindow": 30}),
                "until 3 more users within 30 minutes",
            ),
        ] {
            let sentry = Sentry::new();
            let mut arguments = with(json!({"status": "ignored"}));
            arguments.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
            let text = sentry.call("update_issue", arguments).await;
            let mut expected = json!({"status": "ignored"});
            expected.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
            assert_eq!(sent(&sentry), expected);
            assert!(text.contains(&format!("unresolved → ignored, {told}")), "{text}");
        }
    }

    #[tokio::test]
    async fn what_already_holds_is_not_sent() {
        let sentry = Sentry::new();
        let arguments = with(json!({"status": "unresolved", "assignedTo": "team:api-crew"}));
        let text = sentry.call("update_issue", arguments).await;
        assert!(text.contains("already is so"), "{text}");
        assert_eq!(sentry.requests().len(), 1, "{:?}", sentry.requests());
    }

    #[tokio::test]
    async fn an_ignored_issue_does_not_change_its_kind_of_ignoring() {
        let sentry = Sentry::new();
        sentry.call("update_issue", with(json!({"status": "ignored"}))).await;
        let again = sentry.call("update_issue", with(json!({"status": "ignored"}))).await;
        assert!(again.contains("already is so"), "{again}");
        let other = with(json!({"status": "ignored", "ignoreMode": "forever"}));
        assert_snapshot!(sentry.call_failing("update_issue", other).await);
    }

    #[tokio::test]
    async fn a_comment_that_fails_does_not_undo_the_update() {
        let sentry = Sentry::with_fault(fault("POST", NOTES, 403, r#"{"detail":"no"}"#));
        let arguments = with(json!({"status": "resolved", "reason": "done"}));
        let text = sentry.call("update_issue", arguments).await;
        assert!(text.contains("could not be left") && text.contains("→ resolved"), "{text}");
    }

    #[tokio::test]
    async fn arguments_that_do_not_go_together_send_nothing() {
        for (arguments, words) in [
            (json!({}), "is to be changed"),
            (json!({"status": "resolved", "ignoreCount": 3}), "`status` `ignored` alone"),
            (json!({"assignedTo": "me", "ignoreMode": "forever"}), "`status` `ignored` alone"),
            (json!({"status": "ignored", "ignoreWindowMinutes": 3}), "needs `ignoreCount`"),
            (json!({"status": "ignored", "ignoreCount": 1, "ignoreWindowMinutes": 10081}), "10080"),
            (json!({"status": "ignored", "ignoreCount": 0}), "ignoreCount"),
            (json!({"status": "closed"}), "status"),
        ] {
            let sentry = Sentry::new();
            let text = sentry.call_failing("update_issue", with(arguments.clone())).await;
            assert!(text.contains(words), "{arguments}: {text}");
            assert_eq!(sentry.requests(), Vec::<String>::new());
        }
    }

    #[tokio::test]
    async fn an_assignee_of_another_form_is_told_the_forms() {
        let text =
            Sentry::new().call_failing("update_issue", with(json!({"assignedTo": "ada"}))).await;
        assert!(text.contains("`user:ID`, `team:ID` or `me`"), "{text}");
    }

    #[tokio::test]
    async fn an_unknown_issue_is_named() {
        let arguments = json!({"organizationSlug": "harbor-lantern", "issueId": "NOPE-1", "status": "resolved"});
        assert_snapshot!(Sentry::new().call("update_issue", arguments).await);
    }

    #[tokio::test]
    async fn an_issue_of_another_project_is_left_alone() {
        let sentry = Sentry::new().pinned("harbor-lantern", Some("quay-web"));
        let arguments = json!({"issueId": "QUAY-API-2", "status": "resolved"});
        sentry.call_failing("update_issue", arguments).await;
        assert!(
            sentry.requests().iter().all(|it| it.starts_with("GET ")),
            "{:?}",
            sentry.requests()
        );
    }

    #[tokio::test]
    async fn what_sentry_refuses_is_told_in_its_words() {
        let sentry = Sentry::with_fault(fault(
            "PUT",
            ISSUE,
            400,
            r#"{"assignedTo":["Unknown actor input"]}"#,
        ));
        let text =
            sentry.call_failing("update_issue", with(json!({"assignedTo": "team:nope"}))).await;
        assert!(text.contains("Unknown actor input"), "{text}");
    }
}
