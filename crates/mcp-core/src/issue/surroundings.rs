//! What is looked up around an issue and its event. Nothing of it is essential: what cannot be had
//! is left out.

use std::time::{Duration, Instant};

use api_client::sentry::{
    autofix::Autofix,
    events::Event,
    issues::{ExternalIssue, Issue},
    source_links::{FramePlace, SourceLink},
    time::{TimeRange, epoch, moment},
};
use futures::join;
use serde_json::Value;

use crate::{
    conversation::links,
    render::event::{self, Frame, Span},
    tool::Call,
};

use super::IssueTarget;

/// How long the look-up of a frame in the repositories may take.
const SOURCE_PATIENCE: Duration = Duration::from_secs(3);
/// How long all of it may take: the issue itself is worth more.
const PATIENCE: Duration = Duration::from_secs(15);
/// Seconds.
const DAY: i64 = 86_400;
/// How many spans of a trace are read.
const MOST_SPANS: u32 = 10_000;

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Surroundings {
    /// The newest run of Seer.
    pub(crate) autofix: Option<Autofix>,
    /// Issues of other trackers.
    pub(crate) external: Vec<ExternalIssue>,
    /// Ids of replays, without hyphens.
    pub(crate) replays: Vec<String>,
    /// Where the failing frame is in a repository.
    pub(crate) source: Option<SourceLink>,
    /// The spans of the trace, for an event that came without.
    pub(crate) spans: Vec<Span>,
    /// Conversations with a model during the trace, where the session can read them.
    pub(crate) conversations: Vec<String>,
}

impl Surroundings {
    /// Looks everything up at once.
    pub(crate) async fn of(
        cx: &Call<'_>,
        target: &IssueTarget,
        issue: &Issue,
        event: Option<&Event>,
    ) -> Self {
        let sentry = target.sentry.until(Instant::now() + PATIENCE);
        let organization = target.organization.as_str();
        let (autofix, external, replays, source, spans, conversations) = join!(
            sentry.autofix(organization, &issue.id),
            sentry.external_issues(organization, &issue.id),
            replays(target, issue, event),
            source(target, issue, event),
            spans(target, event),
            conversations(cx, target, event),
        );
        Self {
            autofix: autofix.ok().flatten(),
            external: external.map(|it| it.items).unwrap_or_default(),
            replays,
            source,
            spans,
            conversations,
        }
    }
}

/// The replay of the event first, then those of the issue's other events.
async fn replays(target: &IssueTarget, issue: &Issue, event: Option<&Event>) -> Vec<String> {
    let is_error = issue.issue_category.as_deref().is_none_or(|it| it == "error");
    let data_source = if is_error { "discover" } else { "search_issues" };
    let query = format!("issue.id:[{}]", issue.id);
    let found = target.sentry.until(Instant::now() + PATIENCE);
    let found = found.replay_ids(&target.organization, &query, data_source).await;
    let of_issue = found.ok().and_then(|mut it| it.remove(&issue.id)).unwrap_or_default();
    let of_event = event.and_then(replay_of);
    let mut ids: Vec<String> = Vec::new();
    for id in of_event.into_iter().chain(of_issue) {
        let id = id.replace('-', "").to_ascii_lowercase();
        let is_id = id.len() == 32 && id.bytes().all(|it| it.is_ascii_hexdigit());
        if is_id && !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}

fn replay_of(event: &Event) -> Option<String> {
    let of_context = event.contexts.get("replay").and_then(|it| it.get("replay_id"));
    let of_context = of_context.and_then(Value::as_str);
    event.tag("replayId").or(of_context).map(str::to_owned)
}

/// The failing frame on the web: as the SDK says, or as Sentry finds it in the linked repositories.
async fn source(target: &IssueTarget, issue: &Issue, event: Option<&Event>) -> Option<SourceLink> {
    let event = event?;
    let frame = event::relevant(event).filter(|it| it.is_in_app())?;
    if let Some(link) = frame.source_link().filter(|it| it.starts_with("https://github.com/")) {
        return link_of_sdk(link);
    }
    let place = place(&frame, event, issue)?;
    let project = &issue.project.as_ref()?.slug;
    let sentry = target.sentry.until(Instant::now() + SOURCE_PATIENCE);
    let found = sentry.source_link(&target.organization, project, &place).await.ok()??;
    let is_page = found.url.starts_with("https://") || found.url.starts_with("http://");
    is_page.then_some(found)
}

/// `https://github.com/{owner}/{repository}/blob/{branch}/{path}`.
fn link_of_sdk(link: &str) -> Option<SourceLink> {
    let mut parts = link.strip_prefix("https://github.com/")?.splitn(5, '/');
    let repository = format!("{}/{}", parts.next()?, parts.next()?);
    let path = parts.nth(2).unwrap_or_default().split(['#', '?']).next().unwrap_or_default();
    Some(SourceLink { url: link.to_owned(), repository, path: path.to_owned() })
}

fn place<'e>(frame: &Frame<'e>, event: &'e Event, issue: &'e Issue) -> Option<FramePlace<'e>> {
    let release = event.release.as_ref();
    let commit = release.and_then(|it| it.get("lastCommit")).and_then(|it| it.get("id"));
    Some(FramePlace {
        file: frame.file()?,
        platform: event.platform.as_deref(),
        line: frame.line(),
        abs_path: frame.abs_path(),
        module: frame.module(),
        package: frame.package(),
        commit: commit.and_then(Value::as_str),
        group: Some(&issue.id),
        sdk: event.sdk.get("name").and_then(Value::as_str),
    })
}

async fn spans(target: &IssueTarget, event: Option<&Event>) -> Vec<Span> {
    let Some(trace) = event.filter(|it| event::lacks_spans(it)).and_then(event::trace_id) else {
        return Vec::new();
    };
    let sentry = target.sentry.until(Instant::now() + PATIENCE);
    let found = sentry.trace(&target.organization, trace, "14d", MOST_SPANS).await;
    found.map(|it| Span::of_trace(&it)).unwrap_or_default()
}

/// Conversations a day around the event, or of the last two weeks.
async fn conversations(cx: &Call<'_>, target: &IssueTarget, event: Option<&Event>) -> Vec<String> {
    let Some(event) = event.filter(|_| cx.reach.has(links::TOOL)) else {
        return Vec::new();
    };
    let Some(trace) = event::trace_id(event) else { return Vec::new() };
    let time = match event.date_created.as_deref().and_then(epoch) {
        Some(at) => TimeRange::Between { start: moment(at - DAY), end: moment(at + DAY) },
        None => TimeRange::Last("14d".to_owned()),
    };
    let sentry = target.sentry.until(Instant::now() + PATIENCE);
    links::of_trace(&sentry, &target.organization, trace, &time).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_of_the_sdk_is_taken_apart() {
        let link = link_of_sdk("https://github.com/acme/shop/blob/main/src/pay.py#L4").unwrap();
        assert_eq!((link.repository.as_str(), link.path.as_str()), ("acme/shop", "src/pay.py"));
        assert_eq!(link_of_sdk("https://github.com/acme"), None);
    }
}
