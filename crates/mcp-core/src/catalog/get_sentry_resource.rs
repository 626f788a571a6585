//! `get_sentry_resource`: whatever a link to Sentry shows, by the tool that knows it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    context::Context,
    error::ToolError,
    output::Content,
    params::{Address, OrganizationSlug},
    render::{Page, inline, segment},
    sentry_url::{Resource, SentryUrl},
    skill::Skill,
    tool::{Call, CuratedTool, Form, Registered, Spec},
};

#[derive(Debug)]
pub(super) struct GetSentryResource;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    url: Option<Address>,
    /// with `resourceId` and `organizationSlug`, instead of `url`; `trace` also makes the whole trace of a span's `url`
    resource_type: Option<Kind>,
    /// such as an issue's short id, or 32 hexadecimal digits
    resource_id: Option<String>,
    organization_slug: Option<OrganizationSlug>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Issue,
    Event,
    Trace,
    AiConversation,
    Replay,
    Monitor,
    Snapshot,
}

impl Kind {
    fn id(self) -> &'static str {
        match self {
            Self::Issue => "issue",
            Self::Event => "event",
            Self::Trace => "trace",
            Self::AiConversation => "ai_conversation",
            Self::Replay => "replay",
            Self::Monitor => "monitor",
            Self::Snapshot => "snapshot",
        }
    }
}

/// What links show, in words, and the tool that knows it; releases are always told about.
const KINDS: [(&str, &str); 8] = [
    ("issue, event", "get_issue_details"),
    ("trace", "get_trace_details"),
    ("span", "get_span_details"),
    ("AI conversation", "get_ai_conversation_details"),
    ("replay", "get_replay_details"),
    ("cron monitor", "get_monitor_details"),
    ("profile", "get_profile_details"),
    ("snapshot", "get_snapshot"),
];
const FULL_PICTURE: &str = "get_snapshot_image";

/// The tool of that name, where the session may have what it shows.
fn granted(cx: &Context, name: &str) -> Option<&'static dyn Registered> {
    let tool = super::ALL.iter().find(|it| it.spec().name == name).copied();
    tool.filter(|it| it.spec().is_granted(cx))
}

/// The kinds that this session can look at.
fn kinds(cx: &Context) -> String {
    let known = KINDS.iter().filter(|(_, tool)| granted(cx, tool).is_some()).map(|(kind, _)| *kind);
    known.chain(["release"]).collect::<Vec<_>>().join(", ")
}

impl CuratedTool for GetSentryResource {
    const SPEC: Spec = Spec {
        name: "get_sentry_resource",
        title: "Get Sentry resource",
        description: "Look at what a Sentry link shows: issue, event, trace, span, AI conversation, replay, cron monitor, profile, snapshot, release. The first choice for any pasted `url`; without one, give type, id and organization.",
        skills: &[Skill::Inspect, Skill::Triage, Skill::Seer],
        scopes: &["event:read", "project:read"],
        ..Spec::READ
    };
    type Params = Params;
    type Output = Content;

    fn description(cx: &Context) -> Option<String> {
        let kinds = kinds(cx);
        let picture = match granted(cx, FULL_PICTURE) {
            Some(_) => format!(
                " Pictures of snapshots come small; only where that is not enough, `{FULL_PICTURE}` has them in full."
            ),
            None => String::new(),
        };
        Some(format!(
            "Look at what a Sentry link shows: {kinds}. The first choice for any pasted `url`; without one, give type, id and organization.{picture}"
        ))
    }

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Content, ToolError> {
        let (organization, resource) = match params.url.as_deref() {
            Some(url) => of_url(cx, &params, url)?,
            None => of_id(&params)?,
        };
        match plan(cx, &organization, resource)? {
            Plan::Forward { tool, arguments } => forward(cx, tool, arguments).await,
            Plan::Say(content) => Ok(content),
        }
    }
}

/// What a link shows; a type may only turn a span into its whole trace.
fn of_url(cx: &Call<'_>, params: &Params, url: &str) -> Result<(String, Resource), ToolError> {
    let page = SentryUrl::parse(url, cx.sentry()?.base_url())?;
    let given = params.organization_slug.as_deref();
    let organization = match (page.organization, given) {
        (Some(of_page), Some(given)) if of_page != given => {
            let of_page = inline(&of_page);
            let message =
                format!("`url` belongs to the organization `{of_page}`, not to `{given}`");
            return Err(ToolError::user(message)
                .hint("leave `organizationSlug` out, or give a link of that organization"));
        }
        (Some(organization), _) => organization,
        (None, Some(given)) => given.to_owned(),
        (None, None) => {
            return Err(ToolError::user("`url` names no organization")
                .hint("give `organizationSlug` as well")
                .hint_tool("find_organizations", "list the organizations"));
        }
    };
    let resource = match (params.resource_type, page.resource) {
        (Some(Kind::Trace), Resource::Trace { id, span: Some(_) }) => {
            Resource::Trace { id, span: None }
        }
        (Some(kind), resource) if kind.id() != resource.kind() => {
            let message = format!("`url` shows: {}, not: {}", resource.kind(), kind.id());
            return Err(ToolError::user(message).hint("leave `resourceType` out"));
        }
        (_, resource) => resource,
    };
    Ok((organization, resource))
}

fn of_id(params: &Params) -> Result<(String, Resource), ToolError> {
    let id = params.resource_id.as_deref().map(str::trim).filter(|it| !it.is_empty());
    let (Some(kind), Some(id), Some(organization)) =
        (params.resource_type, id, params.organization_slug.as_deref())
    else {
        let missing = [
            ("resourceType", params.resource_type.is_none()),
            ("resourceId", id.is_none()),
            ("organizationSlug", params.organization_slug.is_none()),
        ];
        let missing: Vec<_> =
            missing.into_iter().filter(|it| it.1).map(|it| format!("`{}`", it.0)).collect();
        let message = format!("without `url`, {} must be given", missing.join(" and "));
        return Err(ToolError::user(message).hint("a link as `url` is enough by itself"));
    };
    let id = id.to_owned();
    let resource = match kind {
        Kind::Issue => Resource::Issue { id: id.to_ascii_uppercase(), event: None },
        // An event alone names its issue.
        Kind::Event => Resource::Issue { id: String::new(), event: Some(id) },
        Kind::Trace => Resource::Trace { id, span: None },
        Kind::AiConversation => {
            Resource::Conversation { id, project: None, start: None, end: None }
        }
        Kind::Replay => Resource::Replay { id },
        Kind::Monitor => Resource::Monitor { slug: id, project: None },
        Kind::Snapshot => Resource::Snapshot { id, image: None },
    };
    Ok((organization.to_owned(), resource))
}

/// What is to be done.
enum Plan {
    Forward { tool: &'static str, arguments: Value },
    Say(Content),
}

fn plan(cx: &Call<'_>, organization: &str, resource: Resource) -> Result<Plan, ToolError> {
    let (tool, arguments) = match resource {
        Resource::Issue { id, event } => {
            let issue = Some(id).filter(|it| !it.is_empty());
            let issue = issue.map(|it| checked(Form::IssueId, "issue", &it)).transpose()?;
            let event = event.map(|it| checked(Form::HexId, "event", &it)).transpose()?;
            ("get_issue_details", json!({ "issueId": issue, "eventId": event }))
        }
        Resource::Trace { id, span } => {
            let trace = checked(Form::HexId, "trace", &id)?;
            match span {
                Some(span) => ("get_span_details", json!({ "traceId": trace, "spanId": span })),
                None => ("get_trace_details", json!({ "traceId": trace })),
            }
        }
        Resource::Conversation { id, project, start, end } => (
            "get_ai_conversation_details",
            json!({
                "conversationId": id,
                // `-1` is every project.
                "project": project.filter(|it| it != "-1"),
                "start": start,
                "end": end,
            }),
        ),
        Resource::Replay { id } => {
            ("get_replay_details", json!({ "replayId": checked(Form::Slug, "replay", &id)? }))
        }
        Resource::Monitor { slug, project } => (
            "get_monitor_details",
            json!({
                "monitorSlug": checked(Form::Slug, "monitor", &slug)?,
                "projectSlugOrId": project,
                "period": "24h",
                "checkInLimit": 10,
                "includeStats": true,
            }),
        ),
        Resource::Profile { project, id, profiler, start, end } => (
            "get_profile_details",
            json!({
                "projectSlugOrId": project,
                "profileId": id,
                "profilerId": profiler,
                "start": start,
                "end": end,
            }),
        ),
        Resource::Snapshot { id, image: None } => {
            ("get_snapshot", json!({ "snapshotId": checked(Form::Slug, "snapshot", &id)? }))
        }
        Resource::Snapshot { id, image: Some(image) } => (
            "get_snapshot_image",
            json!({
                "snapshotId": checked(Form::Slug, "snapshot", &id)?,
                "imageIdentifier": image,
                "imageResolution": "preview",
            }),
        ),
        Resource::Release { version } => {
            return Ok(Plan::Say(release(cx, organization, &version)));
        }
        Resource::Transaction { name } => {
            let name = inline(&name);
            let message = format!(
                "`url` is the summary of the transaction `{name}`, which has no tool of its own"
            );
            return Err(ToolError::user(message)
                .hint(format!("search its spans with the query `transaction:\"{name}\"`"))
                .hint_tool("search_events", "search spans, errors and profiles"));
        }
        Resource::Unknown => {
            return Err(ToolError::user("`url` shows nothing that can be looked at here")
                .hint(format!("what can: {}", kinds(cx))));
        }
    };
    let mut arguments = arguments;
    arguments["organizationSlug"] = organization.into();
    Ok(Plan::Forward { tool, arguments })
}

fn checked(form: Form, what: &str, text: &str) -> Result<String, ToolError> {
    form.check(text).ok_or_else(|| {
        let message = format!("`{}` is no id of: {what}", inline(text));
        ToolError::user(message).hint(format!("it is {}", form.wanted()))
    })
}

/// Answers as the tool that knows the resource, where this session has it.
async fn forward(
    cx: &Call<'_>,
    name: &'static str,
    arguments: Value,
) -> Result<Content, ToolError> {
    let Some(tool) = granted(cx, name) else {
        return Err(ToolError::user(format!(
            "this session has no tool for it: `{name}` is missing"
        ))
        .hint("it may need the skill `inspect`, or data that the session's project does not send")
        .hint_tool("search", "find an operation of the API that reads it"));
    };
    let Value::Object(arguments) = arguments else { return Err(ToolError::system("no object")) };
    let arguments: Map<String, Value> =
        arguments.into_iter().filter(|(_, value)| !value.is_null()).collect();
    tool.answer(cx, &arguments).await
}

fn release(cx: &Call<'_>, organization: &str, version: &str) -> Content {
    let mut page = Page::new(format!("Release {} in {organization}", inline(version)));
    page.fact("Link", cx.web_url(organization, &format!("/releases/{}/", segment(version))));
    page.next_steps([
        cx.hint("get_release_details", "see its dates, deploys and commits, by this very version"),
        cx.hint("find_releases", "find releases near it"),
        cx.hint(
            "search_issues",
            &format!("find its issues with the query `release:{}`", inline(version)),
        ),
    ]);
    Content::text(page.into_text())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::{Value, json};

    use crate::test_support::Sentry;

    fn link(path: &str) -> Value {
        json!({ "url": format!("https://harbor-lantern.sentry.io/{path}") })
    }

    async fn requests(arguments: Value) -> Vec<String> {
        let sentry = Sentry::new();
        sentry.call("get_sentry_resource", arguments).await;
        sentry.requests()
    }

    #[tokio::test]
    async fn a_link_to_an_issue_is_that_issue() {
        let text = Sentry::new().call("get_sentry_resource", link("issues/QUAY-API-2/")).await;
        assert!(text.contains("# Issue QUAY-API-2 in harbor-lantern"), "{text}");
    }

    #[tokio::test]
    async fn a_link_to_an_event_asks_for_that_event() {
        let id = "0123456789abcdef0123456789abcdef";
        let sent = requests(link(&format!("issues/QUAY-API-2/events/{id}/"))).await;
        assert!(sent.iter().any(|it| it.contains(&format!("/events/{id}/"))), "{sent:?}");
    }

    #[tokio::test]
    async fn a_type_and_an_id_do_as_well() {
        let arguments = json!({"resourceType": "issue", "resourceId": "quay-api-2", "organizationSlug": "harbor-lantern"});
        let text = Sentry::new().call("get_sentry_resource", arguments).await;
        assert!(text.contains("# Issue QUAY-API-2"), "{text}");
    }

    #[tokio::test]
    async fn a_snapshot_is_read_by_its_own_tool() {
        let sent = requests(link("preprod/snapshots/41/")).await;
        assert!(sent[0].contains("/preprodartifacts/snapshots/41/"), "{sent:?}");
    }

    #[tokio::test]
    async fn a_conversation_is_read_by_its_own_tool() {
        let text = Sentry::new()
            .call("get_sentry_resource", link("explore/conversations/conv-berth-17/?project=-1"))
            .await;
        assert!(text.contains(r#""conversationId": "conv-berth-17""#), "{text}");
        let arguments = json!({"resourceType": "ai_conversation", "resourceId": "conv-refund-4", "organizationSlug": "harbor-lantern"});
        let sent = requests(arguments).await;
        assert!(sent[0].contains("/ai-conversations/conv-refund-4/"), "{sent:?}");
    }

    #[tokio::test]
    async fn a_monitor_comes_with_a_day_of_check_ins() {
        let sent = requests(link("crons/quay-api/nightly-tide-table/")).await;
        assert!(sent.iter().any(|it| it.contains("/monitors/nightly-tide-table/")), "{sent:?}");
    }

    #[test]
    fn the_description_names_what_the_session_can_look_at() {
        let describe = |sentry: &Sentry| {
            let session = sentry.session();
            let mut shown = session.shown().iter();
            let tool = shown.find(|it| it.definition.name == "get_sentry_resource").unwrap();
            tool.definition.description.clone()
        };
        let whole = Sentry::new();
        let text = describe(&whole);
        for (kind, tool) in super::KINDS {
            let exists = super::super::ALL.iter().any(|it| it.spec().name == tool);
            assert_eq!(text.contains(kind), exists, "{kind}: {text}");
        }
        assert!(text.contains("get_snapshot_image"), "{text}");
        let text = describe(&Sentry::new().skills("triage"));
        assert!(text.contains("issue, event") && text.contains("release"), "{text}");
        for kind in ["monitor", "snapshot", "Pictures"] {
            assert!(!text.contains(kind), "{kind}: {text}");
        }
    }

    #[tokio::test]
    async fn a_release_comes_with_what_to_ask_next() {
        assert_snapshot!(
            Sentry::new().call("get_sentry_resource", link("releases/quay%405.1.9/")).await
        );
    }

    #[tokio::test]
    async fn what_has_no_tool_says_what_does() {
        assert_snapshot!(
            Sentry::new()
                .call("get_sentry_resource", link("performance/summary/?transaction=%2Fpay"))
                .await
        );
        assert_snapshot!(Sentry::new().call("get_sentry_resource", link("settings/")).await);
    }

    #[tokio::test]
    async fn a_tool_that_the_session_lacks_is_named() {
        let sentry = Sentry::new().skills("triage");
        let text = sentry.call_failing("get_sentry_resource", link("preprod/snapshots/41/")).await;
        assert!(text.contains("`get_snapshot` is missing"), "{text}");
    }

    #[tokio::test]
    async fn a_type_that_is_not_the_links_is_refused() {
        let mut arguments = link("issues/QUAY-API-2/");
        arguments["resourceType"] = json!("replay");
        assert_snapshot!(Sentry::new().call("get_sentry_resource", arguments).await);
    }

    #[tokio::test]
    async fn without_a_link_all_three_must_be_there() {
        assert_snapshot!(
            Sentry::new().call("get_sentry_resource", json!({"resourceId": "A-1"})).await
        );
    }

    #[tokio::test]
    async fn a_link_of_another_organization_is_refused_in_a_pinned_session() {
        let sentry = Sentry::new().pinned("harbor-lantern", None);
        let arguments = json!({"url": "https://other.sentry.io/issues/A-1/"});
        assert_snapshot!(sentry.call("get_sentry_resource", arguments).await);
        assert_eq!(sentry.requests(), Vec::<String>::new());
    }

    #[tokio::test]
    async fn an_id_that_leaves_its_path_is_refused() {
        for path in ["explore/traces/trace/..%2F..%2Fx/", "replays/..%2Fx/", "crons/a%2Fb/"] {
            let sentry = Sentry::new();
            let text = sentry.call_failing("get_sentry_resource", link(path)).await;
            assert!(text.contains("is no id of"), "{path}: {text}");
            assert_eq!(sentry.requests(), Vec::<String>::new(), "{path}");
        }
    }
}
