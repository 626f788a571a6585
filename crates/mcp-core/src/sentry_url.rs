//! Addresses of Sentry's pages for people: whose they are, and what they show.

use percent_encoding::percent_decode_str;
use url::Url;

use crate::{error::ToolError, render::inline, tool::Form};

/// Sections of Sentry's pages; none of them is an organization.
const SECTIONS: [&str; 15] = [
    "issues",
    "explore",
    "performance",
    "projects",
    "settings",
    "replays",
    "releases",
    "crons",
    "monitors",
    "alerts",
    "feedback",
    "dashboards",
    "discover",
    "insights",
    "preprod",
];
/// First labels of hosts that are no organization.
const HOSTS: [&str; 4] = ["us", "eu", "de", "www"];

/// What a page shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Resource {
    /// An issue, or one event of it.
    Issue { id: String, event: Option<String> },
    /// A trace, or one span of it.
    Trace { id: String, span: Option<String> },
    /// A conversation with a model.
    Conversation { id: String, project: Option<String>, start: Option<String>, end: Option<String> },
    /// A session replay.
    Replay { id: String },
    /// A cron monitor.
    Monitor { slug: String, project: Option<String> },
    /// A profile: one of a transaction by `id`, or a stretch of a continuous one by `profiler`.
    Profile {
        project: String,
        id: Option<String>,
        profiler: Option<String>,
        start: Option<String>,
        end: Option<String>,
    },
    /// A release.
    Release { version: String },
    /// The summary of a transaction's performance.
    Transaction { name: String },
    /// Visual snapshots of a build, or one image of them.
    Snapshot { id: String, image: Option<String> },
    /// Something else.
    Unknown,
}

impl Resource {
    /// The name of its kind, as in the tool's `resourceType`.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Issue { event: None, .. } => "issue",
            Self::Issue { event: Some(_), .. } => "event",
            Self::Trace { span: None, .. } => "trace",
            Self::Trace { span: Some(_), .. } => "span",
            Self::Conversation { .. } => "ai_conversation",
            Self::Replay { .. } => "replay",
            Self::Monitor { .. } => "monitor",
            Self::Profile { .. } => "profile",
            Self::Release { .. } => "release",
            Self::Transaction { .. } => "transaction summary",
            Self::Snapshot { .. } => "snapshot",
            Self::Unknown => "unknown",
        }
    }
}

/// A page, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SentryUrl {
    /// The organization, where the address names one.
    pub(crate) organization: Option<String>,
    /// What is shown.
    pub(crate) resource: Resource,
}

impl SentryUrl {
    /// Takes an address apart; `base` is the configured Sentry, whose own name is no organization.
    pub(crate) fn parse(text: &str, base: &Url) -> Result<Self, ToolError> {
        let url = Url::parse(text.trim()).ok();
        let url = url.filter(|it| matches!(it.scheme(), "http" | "https") && it.has_host());
        let url = url.ok_or_else(|| {
            ToolError::user(format!("`{}` is no address of a page in Sentry", inline(text)))
                .hint("give the whole address, beginning with `https://`")
        })?;
        let segments: Vec<String> = url
            .path_segments()
            .into_iter()
            .flatten()
            .filter(|it| !it.is_empty())
            .map(|it| percent_decode_str(it).decode_utf8_lossy().into_owned())
            .collect();
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        let organization = organization(&url, &segments, base);
        let organization = organization.and_then(|it| Form::Slug.check(it));
        Ok(Self { organization, resource: resource(&url, &segments) })
    }

    /// The organization: the page's, or the one that was given beside it as `organizationSlug`;
    /// `parameter` is what the address was given as.
    pub(crate) fn organization_beside(
        &self,
        given: Option<&str>,
        parameter: &str,
    ) -> Result<String, ToolError> {
        match (self.organization.as_deref(), given) {
            (Some(of_page), Some(given)) if of_page != given => {
                let of_page = inline(of_page);
                let message = format!(
                    "`{parameter}` belongs to the organization `{of_page}`, not to `{given}`"
                );
                Err(ToolError::user(message)
                    .hint("leave `organizationSlug` out, or give a link of that organization"))
            }
            (Some(organization), _) | (None, Some(organization)) => Ok(organization.to_owned()),
            (None, None) => Err(ToolError::user(format!("`{parameter}` names no organization"))
                .hint("give `organizationSlug` as well")
                .hint_tool("find_organizations", "list the organizations")),
        }
    }
}

/// From `/organizations/{o}/`, from a segment before a section, or from the host.
fn organization<'u>(url: &'u Url, segments: &[&'u str], base: &Url) -> Option<&'u str> {
    if let Some(named) = after(segments, "organizations") {
        return Some(named);
    }
    if let [first, second, ..] = segments
        && SECTIONS.contains(second)
        && !SECTIONS.contains(first)
    {
        return Some(*first);
    }
    let host = url.host_str()?;
    let (label, rest) = host.split_once('.')?;
    let is_name = url.domain().is_some() && rest.contains('.');
    (is_name && Some(host) != base.host_str() && !HOSTS.contains(&label)).then_some(label)
}

/// The segment that follows a name.
fn after<'u>(segments: &[&'u str], name: &str) -> Option<&'u str> {
    let at = segments.iter().position(|it| *it == name)?;
    segments.get(at + 1).copied()
}

/// The segments that follow two names.
fn below<'s, 'u>(segments: &'s [&'u str], names: [&str; 2]) -> Option<&'s [&'u str]> {
    let at = segments.windows(2).position(|it| it == names)?;
    segments.get(at + 2..).filter(|it| !it.is_empty())
}

/// The first kind that matches.
fn resource(url: &Url, segments: &[&str]) -> Resource {
    let query = |name: &str| {
        let mut pairs = url.query_pairs();
        let value = pairs.find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
        value.filter(|it| !it.is_empty())
    };
    if let Some([project, rest @ ..]) = below(segments, ["profiling", "profile"])
        && matches!(rest, ["flamegraph", ..] | [_, "flamegraph", ..])
    {
        return Resource::Profile {
            project: (*project).to_owned(),
            id: rest.first().filter(|it| **it != "flamegraph").map(|it| (*it).to_owned()),
            profiler: query("profilerId"),
            start: query("start"),
            end: query("end"),
        };
    }
    if let Some([id]) = below(segments, ["explore", "conversations"]) {
        let (project, start, end) = (query("project"), query("start"), query("end"));
        return Resource::Conversation { id: (*id).to_owned(), project, start, end };
    }
    if let Some(id) = after(segments, "replays").filter(|it| *it != "selectors") {
        return Resource::Replay { id: id.to_owned() };
    }
    if let Some(monitor) = monitor(segments) {
        return monitor;
    }
    if let Some(version) =
        after(segments, "releases").filter(|it| !matches!(*it, "new-events" | "all-events"))
    {
        return Resource::Release { version: version.to_owned() };
    }
    if let Some(id) = after(segments, "trace") {
        let node = query("node").and_then(|it| it.strip_prefix("span-").map(str::to_owned));
        return Resource::Trace { id: id.to_owned(), span: node };
    }
    if let (Some(_), Some(name)) =
        (segments.windows(2).find(|it| *it == ["performance", "summary"]), query("transaction"))
    {
        return Resource::Transaction { name };
    }
    if let Some(id) = after(segments, "issues").and_then(issue_id) {
        let event = after(segments, "events").and_then(|it| Form::LatestOrHexId.check(it));
        return Resource::Issue { id, event: event.filter(|it| it != "latest") };
    }
    if let Some([id, ..]) = below(segments, ["preprod", "snapshots"]) {
        return Resource::Snapshot { id: (*id).to_owned(), image: query("selectedSnapshot") };
    }
    Resource::Unknown
}

/// `crons/{slug}` or `monitors/{project}/{slug}`, perhaps with `details` after it.
fn monitor(segments: &[&str]) -> Option<Resource> {
    let at = segments.iter().position(|it| matches!(*it, "crons" | "monitors"))?;
    let mut rest = segments.get(at + 1..)?;
    if let [before @ .., "details"] = rest {
        rest = before;
    }
    let owned = |it: &&str| (*it).to_owned();
    match rest {
        ["new" | "alerts", ..] => None,
        [slug] => Some(Resource::Monitor { slug: owned(slug), project: None }),
        [project, slug] => {
            Some(Resource::Monitor { slug: owned(slug), project: Some(owned(project)) })
        }
        _ => None,
    }
}

/// An issue's id, without what text around an address leaves on it.
fn issue_id(text: &str) -> Option<String> {
    let kept = |it: &char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-');
    let clean: String = text.chars().filter(kept).collect();
    Form::IssueId.check(&clean)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> SentryUrl {
        let base = Url::parse("https://sentry.io").unwrap();
        SentryUrl::parse(text, &base).unwrap()
    }

    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn the_organization_is_found_where_each_kind_of_address_has_it() {
        for (text, expected) in [
            ("https://acme.sentry.io/issues/1/", some("acme")),
            ("https://sentry.io/organizations/Acme/issues/1/", some("Acme")),
            ("https://sentry.io/acme/issues/1/", some("acme")),
            ("http://127.0.0.1:9000/organizations/acme/issues/1/", some("acme")),
            ("https://sentry.io/issues/1/", None),
            ("https://us.sentry.io/issues/1/", None),
            ("http://127.0.0.1:9000/issues/1/", None),
        ] {
            assert_eq!(parse(text).organization, expected, "{text}");
        }
        let own = Url::parse("https://sentry.example.com").unwrap();
        let found = SentryUrl::parse("https://sentry.example.com/issues/1/", &own).unwrap();
        assert_eq!(found.organization, None);
    }

    #[test]
    fn every_kind_of_page_is_told_apart() {
        let id = |text: &str| text.to_owned();
        let trace = "a4d1aae7216b47ff8117cf4e09ce9d0a";
        for (path, expected) in [
            ("issues/SHOP-7/?query=x", Resource::Issue { id: id("SHOP-7"), event: None }),
            ("issues/shop-7)/", Resource::Issue { id: id("SHOP-7"), event: None }),
            (
                format!("issues/7/events/{trace}/").as_str(),
                Resource::Issue { id: id("7"), event: some(trace) },
            ),
            ("issues/7/events/latest/", Resource::Issue { id: id("7"), event: None }),
            (
                format!("explore/traces/trace/{trace}/?node=span-b1").as_str(),
                Resource::Trace { id: id(trace), span: some("b1") },
            ),
            (
                "explore/conversations/a%2Fb/?project=4",
                Resource::Conversation {
                    id: id("a/b"),
                    project: some("4"),
                    start: None,
                    end: None,
                },
            ),
            ("explore/replays/7e07/", Resource::Replay { id: id("7e07") }),
            ("crons/nightly/", Resource::Monitor { slug: id("nightly"), project: None }),
            (
                "monitors/web/nightly/details/",
                Resource::Monitor { slug: id("nightly"), project: some("web") },
            ),
            ("monitors/new/", Resource::Unknown),
            ("releases/shop%401.0/", Resource::Release { version: id("shop@1.0") }),
            ("performance/summary/?transaction=%2Fpay", Resource::Transaction { name: id("/pay") }),
            (
                "explore/profiling/profile/web/ab12/flamegraph/",
                Resource::Profile {
                    project: id("web"),
                    id: some("ab12"),
                    profiler: None,
                    start: None,
                    end: None,
                },
            ),
            (
                "explore/profiling/profile/web/flamegraph/?profilerId=p&start=1&end=2",
                Resource::Profile {
                    project: id("web"),
                    id: None,
                    profiler: some("p"),
                    start: some("1"),
                    end: some("2"),
                },
            ),
            (
                "preprod/snapshots/41/?selectedSnapshot=a%2Fb.png",
                Resource::Snapshot { id: id("41"), image: some("a/b.png") },
            ),
            ("replays/selectors/", Resource::Unknown),
            ("settings/projects/", Resource::Unknown),
        ] {
            let found = parse(&format!("https://acme.sentry.io/{path}"));
            assert_eq!(found.resource, expected, "{path}");
            assert_eq!(found.organization.as_deref(), Some("acme"), "{path}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_an_address_or_a_refusal(text in proptest::prelude::any::<String>()) {
            let base = Url::parse("https://sentry.io").unwrap();
            SentryUrl::parse(&text, &base).ok();
            let page = SentryUrl::parse(&format!("https://acme.sentry.io/{text}"), &base);
            let organization = page.ok().and_then(|it| it.organization);
            assert!(organization.is_none_or(|it| Form::Slug.check(&it).is_some()), "{text}");
        }
    }

    #[test]
    fn what_is_no_page_is_refused() {
        let base = Url::parse("https://sentry.io").unwrap();
        for text in ["", "SHOP-7", "ftp://acme.sentry.io/issues/1", "javascript:alert(1)"] {
            assert!(SentryUrl::parse(text, &base).is_err(), "{text}");
        }
    }
}
