//! `get_replay_details`: a session replay, what its user did, what went wrong meanwhile.

use api_client::sentry::{
    Client,
    issues::{Issue, IssueList},
    replays::Replay,
    time::TimeRange,
    traces::TraceMeta,
};
use futures::future::{join, join_all};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::{
    constraints::Capability,
    error::ToolError,
    params::{Address, OrganizationSlug, RegionUrl, ResourceId},
    render::{Page, event::Sheet, inline, is_id, issue_row, replay, segment},
    sentry_url::{Resource, SentryUrl},
    skill::Skill,
    tool::{Call, CuratedTool, Markdown, Spec},
};

/// Errors and traces that are looked up.
const MOST_ISSUES: usize = 3;
const MOST_TRACES: usize = 2;
const WINDOW: &str = "14d";
/// How far back the issue of an error is looked for.
const ISSUE_WINDOW: &str = "90d";

#[derive(Debug)]
pub(super) struct GetReplayDetails;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    /// its page in Sentry, instead of `organizationSlug` and `replayId`
    replay_url: Option<Address>,
    organization_slug: Option<OrganizationSlug>,
    /// 32 hexadecimal digits
    replay_id: Option<ResourceId>,
    region_url: Option<RegionUrl>,
}

impl CuratedTool for GetReplayDetails {
    const SPEC: Spec = Spec {
        name: "get_replay_details",
        title: "Get replay details",
        description: "Show one session replay: user, browser, pages, the most telling of what the user did, and the issues and traces of that time. Name it by `replayUrl`, or by `organizationSlug` and `replayId`.",
        skills: &[Skill::Inspect],
        scopes: &["org:read", "project:read", "event:read"],
        requires: &[Capability::Replays],
        ..Spec::READ
    };
    type Params = Params;
    type Output = Markdown;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Markdown, ToolError> {
        let (organization, id) = target(cx, &params)?;
        let sentry = cx.sentry_of(&organization, params.region_url.as_deref()).await?;
        let found = sentry.replay(&organization, &id.replace('-', "")).await?;
        check_project(cx, &sentry, &organization, &found).await?;
        let (recording, (issues, traces)) = join(
            recording(&sentry, &organization, &found),
            join(issues(&sentry, &organization, &found), traces(&sentry, &organization, &found)),
        )
        .await;
        let mut page = Page::new(format!("Replay {} in {organization}", inline(&found.id)));
        let path = format!("/explore/replays/{}/", segment(&found.id));
        replay::facts(&mut page, &found, &cx.web_url(&organization, &path));
        let segments = match &recording {
            Recording::Read(segments) => segments.as_slice(),
            Recording::None | Recording::Unreadable => &[],
        };
        page.untrusted(&replay::words(&found, segments));
        match recording {
            Recording::Read(_) => {}
            Recording::None => {
                page.paragraph("Its recording is gone, or there never was one: what the user did is not known.");
            }
            Recording::Unreadable => {
                page.paragraph("Its recording could not be read; the page in Sentry plays it.");
            }
        }
        add_issues(&mut page, cx, &organization, &found, &issues);
        add_traces(&mut page, cx, &organization, &found, &traces);
        page.next_steps([
            (!issues.is_empty())
                .then(|| cx.hint("get_issue_details", "look at an issue with its newest event"))
                .flatten(),
            (!found.trace_ids.is_empty())
                .then(|| cx.hint("get_trace_details", "see the spans of a trace"))
                .flatten(),
        ]);
        Ok(page.finish())
    }
}

/// Organization and id, from the address or from both.
fn target(cx: &Call<'_>, params: &Params) -> Result<(String, String), ToolError> {
    let given = params.organization_slug.as_deref();
    let Some(url) = params.replay_url.as_deref() else {
        return match (given, params.replay_id.as_deref()) {
            (Some(organization), Some(id)) => Ok((organization.to_owned(), id.to_owned())),
            (None, Some(id)) => {
                Err(ToolError::user(format!("`replayId` `{id}` needs `organizationSlug`"))
                    .hint("or give the replay's whole address as `replayUrl`")
                    .hint_tool("find_organizations", "list the organizations"))
            }
            (_, None) => Err(ToolError::user("no replay is named")
                .hint("give `replayUrl`, or `organizationSlug` and `replayId`")
                .hint_tool("search_events", "search the replays")),
        };
    };
    let page = SentryUrl::parse(url, cx.sentry()?.base_url())?;
    let Resource::Replay { id } = &page.resource else {
        let kind = page.resource.kind();
        return Err(ToolError::user(format!(
            "`replayUrl` is no address of a replay, but of: {kind}"
        ))
        .hint("a replay's address holds `/replays/` and the replay's id")
        .hint_tool("get_sentry_resource", "look at any page of Sentry"));
    };
    Ok((page.organization_beside(given, "replayUrl")?, id.clone()))
}

/// Refuses a replay of another project than the session's; a replay names its project by number.
async fn check_project(
    cx: &Call<'_>,
    sentry: &Client,
    organization: &str,
    replay: &Replay,
) -> Result<(), ToolError> {
    let Some(slug) = cx.constraints.project.as_deref() else { return Ok(()) };
    let own = sentry.project(organization, slug).await?;
    let is_own = replay.project_id.as_deref() == Some(own.id.as_str());
    let what = format!("the replay `{}`", inline(&replay.id));
    cx.constraints.check_project(&what, is_own.then_some(slug))
}

/// What was recorded.
enum Recording {
    Read(Vec<Vec<Value>>),
    None,
    Unreadable,
}

async fn recording(sentry: &Client, organization: &str, replay: &Replay) -> Recording {
    let is_gone = replay.is_archived == Some(true) || replay.count_segments == Some(0);
    let Some(project) = replay.project_id.as_deref().filter(|_| !is_gone) else {
        return Recording::None;
    };
    match sentry.replay_segments(organization, project, &replay.id).await {
        Ok(page) => Recording::Read(page.items),
        Err(error) => {
            tracing::info!(%error, "the recording of a replay could not be read");
            Recording::Unreadable
        }
    }
}

/// The issues of the first errors, each once; what cannot be had is left out.
async fn issues(sentry: &Client, organization: &str, replay: &Replay) -> Vec<Issue> {
    let time = TimeRange::Last(ISSUE_WINDOW.to_owned());
    let found = join_all(replay.error_ids.iter().take(MOST_ISSUES).map(|event| {
        let list = IssueList {
            query: event,
            sort: None,
            time: &time,
            project: None,
            limit: 1,
            cursor: None,
        };
        async move { sentry.list_issues(organization, &list).await }
    }))
    .await;
    let mut issues: Vec<Issue> = Vec::new();
    for issue in found.into_iter().flatten().flat_map(|it| it.items) {
        if !issues.iter().any(|it| it.id == issue.id) {
            issues.push(issue);
        }
    }
    issues
}

/// The first traces with what they hold, where that is known.
async fn traces(
    sentry: &Client,
    organization: &str,
    replay: &Replay,
) -> Vec<(String, Option<TraceMeta>)> {
    let ids = replay.trace_ids.iter().filter(|it| is_id(it));
    join_all(ids.take(MOST_TRACES).map(|trace| async move {
        let meta = sentry.trace_meta(organization, trace, WINDOW).await.ok();
        (trace.clone(), meta)
    }))
    .await
}

fn add_issues(
    page: &mut Page,
    cx: &Call<'_>,
    organization: &str,
    replay: &Replay,
    issues: &[Issue],
) {
    if issues.is_empty() {
        return;
    }
    let mut sheet = Sheet::new(4_000);
    for (index, issue) in issues.iter().enumerate() {
        let link = cx.web_url(organization, &format!("/issues/{}", segment(&issue.id)));
        issue_row(&mut sheet, index + 1, issue, &link, cx.clock.now());
    }
    page.heading("Issues").untrusted(&sheet.finish());
    let more = replay.error_ids.len().saturating_sub(MOST_ISSUES);
    if more > 0 {
        page.paragraph(format!(
            "{more} more errors happened; only the first {MOST_ISSUES} were looked up."
        ));
    }
}

fn add_traces(
    page: &mut Page,
    cx: &Call<'_>,
    organization: &str,
    replay: &Replay,
    traces: &[(String, Option<TraceMeta>)],
) {
    if traces.is_empty() {
        return;
    }
    page.heading(format!("Traces ({})", replay.trace_ids.len()));
    for (id, meta) in traces {
        let counts = meta.as_ref().map(|meta| {
            let spans = meta.span_count.map(|it| format!("{it:.0} spans"));
            let errors = meta.errors.map(|it| format!("{it} errors"));
            spans.into_iter().chain(errors).collect::<Vec<_>>().join(", ")
        });
        let counts = counts.filter(|it| !it.is_empty()).map(|it| format!(": {it}"));
        let path = format!("/explore/traces/trace/{}", segment(id));
        let link = cx.web_url(organization, &path);
        page.item(format!("{id}{}, {link}", counts.unwrap_or_default()));
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::{Value, json};

    use crate::test_support::{Leap, Sentry, fault};

    const REPLAY: &str = "/api/0/organizations/{o}/replays/{r}/";
    const SEGMENTS: &str = "/api/0/projects/{o}/{p}/replays/{r}/recording-segments/";

    /// The ids of the mock's replays: one with its recording, one that is archived.
    fn ids(sentry: &Sentry) -> (String, String) {
        let state = sentry.mock.state();
        let rows = state["replays"].as_object().unwrap();
        let of = |archived: bool| {
            let row = rows.values().find(|it| {
                it["is_archived"] == archived && (archived || !it["error_id"].is_null())
            });
            row.unwrap()["id"].as_str().unwrap().to_owned()
        };
        (of(false), of(true))
    }

    fn named(id: &str) -> Value {
        json!({"organizationSlug": "harbor-lantern", "replayId": id})
    }

    /// Without the requests: some are sent at once, in any order.
    async fn answer(sentry: &Sentry, arguments: Value) -> String {
        let shown = sentry.call("get_replay_details", arguments).await;
        shown.split_once("\n--- ").unwrap().1.to_owned()
    }

    #[tokio::test]
    async fn a_replay_is_a_timeline_with_its_issues_and_traces() {
        let sentry = Sentry::new().with(|cx| cx.clock = Leap::new());
        let id = ids(&sentry).0;
        assert_snapshot!(answer(&sentry, named(&id)).await);
    }

    #[tokio::test]
    async fn an_archived_replay_is_not_asked_for_its_recording() {
        let sentry = Sentry::new();
        let id = ids(&sentry).1;
        let text = answer(&sentry, named(&id)).await;
        assert!(text.contains("Its recording is gone"), "{text}");
        assert!(!sentry.requests().iter().any(|it| it.contains("recording-segments")));
    }

    #[tokio::test]
    async fn an_address_will_do_and_hyphens_do_not_matter() {
        let sentry = Sentry::new();
        let id = ids(&sentry).0;
        let hyphened =
            format!("{}-{}-{}-{}-{}", &id[..8], &id[8..12], &id[12..16], &id[16..20], &id[20..]);
        let url = format!("https://harbor-lantern.sentry.io/explore/replays/{hyphened}/?query=x");
        let text = answer(&sentry, json!({ "replayUrl": url })).await;
        assert!(text.contains(&format!("# Replay {id} in harbor-lantern")), "{text}");
    }

    #[tokio::test]
    async fn a_recording_that_cannot_be_read_costs_only_itself() {
        let sentry = Sentry::with_fault(fault("GET", SEGMENTS, 500, "{}"));
        let id = ids(&sentry).0;
        let text = answer(&sentry, named(&id)).await;
        assert!(
            text.contains("could not be read; the page") && text.contains("## Issues"),
            "{text}"
        );
    }

    #[tokio::test]
    async fn what_names_no_replay_is_refused_before_anything_is_sent() {
        for (arguments, words) in [
            (json!({}), "No replay is named"),
            (json!({"replayId": "7e07"}), "needs `organizationSlug`"),
            (json!({"replayUrl": "https://acme.sentry.io/issues/A-1/"}), "but of: issue"),
            (
                json!({"replayUrl": "https://acme.sentry.io/replays/7e07/", "organizationSlug": "other"}),
                "belongs to the organization `acme`",
            ),
            (json!({"replayUrl": "https://sentry.io/replays/7e07/"}), "names no organization"),
        ] {
            let sentry = Sentry::new();
            let text = sentry.call_failing("get_replay_details", arguments).await;
            assert!(text.contains(words), "{text}");
            assert_eq!(sentry.requests(), Vec::<String>::new());
        }
    }

    #[tokio::test]
    async fn an_unknown_replay_is_named() {
        assert_snapshot!(Sentry::new().call("get_replay_details", named("7e07")).await);
    }

    #[tokio::test]
    async fn a_replay_of_another_project_is_refused() {
        let sentry = Sentry::new().pinned("harbor-lantern", Some("quay-api"));
        let id = ids(&sentry).0;
        let text = sentry.call_failing("get_replay_details", json!({ "replayId": id })).await;
        assert!(text.contains("does not belong to the project `quay-api`"), "{text}");
        let own = Sentry::new().pinned("harbor-lantern", Some("quay-web"));
        let text = answer(&own, json!({ "replayId": id })).await;
        assert!(text.contains("# Replay"), "{text}");
    }

    #[tokio::test]
    async fn a_replay_of_which_little_is_known_is_still_shown() {
        let sentry = Sentry::with_fault(fault(
            "GET",
            REPLAY,
            200,
            r#"{"data":{"id":"7e07","user":[],"urls":7}}"#,
        ));
        assert_snapshot!(answer(&sentry, named("7e07")).await);
    }

    #[tokio::test]
    async fn a_hundred_thousand_recorded_events_are_six_lines() {
        let event = |n: usize| json!({"type": 5, "timestamp": n, "data": {"tag": "breadcrumb", "payload": {"category": "ui.click", "message": "x".repeat(20)}}});
        let recording = json!([(0..100_000).map(event).collect::<Vec<_>>()]);
        let sentry = Sentry::with_fault(fault("GET", SEGMENTS, 200, &recording.to_string()));
        let id = ids(&sentry).0;
        let text = answer(&sentry, named(&id)).await;
        assert!(text.contains("the 6 most telling of 100000 events"), "{text}");
        assert!(text.len() < 10_000, "{} bytes", text.len());
    }
}
