//! How a caller names an issue: by address, or by organization and id.

use api_client::sentry::{Client, issues::Issue};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    error::ToolError,
    params::{Address, IssueId, OrganizationSlug, RegionUrl},
    render::inline,
    sentry_url::{Resource, SentryUrl},
    tool::Call,
};

/// The parameters that name an issue; to be flattened into a tool's own.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IssueRef {
    organization_slug: Option<OrganizationSlug>,
    region_url: Option<RegionUrl>,
    issue_id: Option<IssueId>,
    /// its page in Sentry, instead of `organizationSlug` and `issueId`
    issue_url: Option<Address>,
}

/// An issue that was named, and the client to ask about it.
#[derive(Debug)]
pub(crate) struct IssueTarget {
    pub(crate) organization: String,
    pub(crate) issue: String,
    /// The event, where the address names one.
    pub(crate) event: Option<String>,
    pub(crate) sentry: Client,
}

impl IssueRef {
    /// The issue; an address wins over an id.
    pub(crate) fn resolve(&self, cx: &Call<'_>) -> Result<IssueTarget, ToolError> {
        let sentry = cx.sentry_in(self.region_url.as_deref())?;
        if let Some(url) = self.issue_url.as_deref() {
            return self.of_url(url, sentry);
        }
        match (self.organization_slug.as_deref(), self.issue_id.as_deref()) {
            (Some(organization), Some(issue)) => Ok(IssueTarget {
                organization: organization.to_owned(),
                issue: issue.to_owned(),
                event: None,
                sentry,
            }),
            (None, Some(issue)) => {
                Err(ToolError::user(format!("`issueId` `{issue}` needs `organizationSlug`"))
                    .hint("or give the issue's whole address as `issueUrl`")
                    .hint_tool("find_organizations", "list the organizations"))
            }
            (_, None) => Err(ToolError::user("no issue is named")
                .hint("give `issueUrl`, or `organizationSlug` and `issueId`")
                .hint_tool("search_issues", "search the issues")),
        }
    }

    /// The organization, where the caller or the session names one.
    pub(crate) fn organization(&self) -> Option<&str> {
        self.organization_slug.as_deref()
    }

    /// Whether an issue is named at all.
    pub(crate) fn names_issue(&self) -> bool {
        self.issue_id.is_some() || self.issue_url.is_some()
    }

    /// The client for the organization's region.
    pub(crate) fn sentry(&self, cx: &Call<'_>) -> Result<Client, ToolError> {
        cx.sentry_in(self.region_url.as_deref())
    }

    fn of_url(&self, url: &str, sentry: Client) -> Result<IssueTarget, ToolError> {
        let page = SentryUrl::parse(url, sentry.base_url())?;
        let Resource::Issue { id, event } = page.resource else {
            let kind = page.resource.kind();
            let message = format!("`issueUrl` is no address of an issue, but of: {kind}");
            return Err(ToolError::user(message)
                .hint("an issue's address holds `/issues/` and the issue's id")
                .hint_tool("get_sentry_resource", "look at any page of Sentry"));
        };
        let given = self.organization_slug.as_deref();
        let organization = match (page.organization, given) {
            (Some(of_page), Some(given)) if of_page != given => {
                let message = format!(
                    "`issueUrl` belongs to the organization `{}`, not to `{given}`",
                    inline(&of_page)
                );
                return Err(ToolError::user(message)
                    .hint("name the issue by its address alone, or by organization and id"));
            }
            (Some(organization), _) => organization,
            (None, Some(given)) => given.to_owned(),
            (None, None) => {
                return Err(ToolError::user("`issueUrl` names no organization")
                    .hint("give `organizationSlug` as well")
                    .hint_tool("find_organizations", "list the organizations"));
            }
        };
        Ok(IssueTarget { organization, issue: id, event, sentry })
    }
}

impl IssueTarget {
    /// Reads the issue, and refuses one of another project than the session's.
    pub(crate) async fn fetch(&self, cx: &Call<'_>) -> Result<Issue, ToolError> {
        let issue = self.sentry.issue(&self.organization, &self.issue).await?;
        let slug = issue.project.as_ref().map(|it| it.slug.as_str());
        cx.constraints.check_project(&format!("the issue `{}`", self.issue), slug)?;
        Ok(issue)
    }

    /// Refuses an issue of another project than the session's; costs nothing in other sessions.
    pub(crate) async fn check_project(&self, cx: &Call<'_>) -> Result<(), ToolError> {
        match cx.constraints.project {
            Some(_) => self.fetch(cx).await.map(drop),
            None => Ok(()),
        }
    }

    /// The page for people.
    pub(crate) fn web_url(&self, cx: &Call<'_>, issue: &Issue) -> String {
        cx.web_url(&self.organization, &format!("/issues/{}", crate::render::segment(&issue.id)))
    }
}
