//! What the tools about profiles share: how a caller names a project and one of its profiles.

use api_client::sentry::Client;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    error::ToolError,
    params::{Address, OrganizationSlug, ProjectSlugOrId, RegionUrl},
    render::inline,
    sentry_url::{Resource, SentryUrl},
    tool::Call,
};

/// The parameters that name a project; to be flattened into a tool's own.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProfileRef {
    /// its page in Sentry; names organization, project and profile
    profile_url: Option<Address>,
    organization_slug: Option<OrganizationSlug>,
    region_url: Option<RegionUrl>,
    project_slug_or_id: Option<ProjectSlugOrId>,
}

/// A project whose profiles are asked for.
#[derive(Debug)]
pub(crate) struct ProfileTarget {
    pub(crate) organization: String,
    /// As it was named.
    pub(crate) project: String,
    /// The numeric id.
    pub(crate) project_id: String,
    pub(crate) sentry: Client,
}

/// The profile that an address names: of a transaction, or a stretch of a continuous one.
#[derive(Debug, Default)]
pub(crate) struct Page {
    pub(crate) id: Option<String>,
    pub(crate) profiler: Option<String>,
    pub(crate) start: Option<String>,
    pub(crate) end: Option<String>,
}

impl ProfileRef {
    /// Whether the arguments name organization and project; nothing is asked of Sentry. The rest is
    /// to be checked before [`Named::look_up`].
    pub(crate) fn named(&self, cx: &Call<'_>) -> Result<Named, ToolError> {
        let given = self.organization_slug.as_deref();
        let project = self.project_slug_or_id.as_deref();
        let region = self.region_url.as_deref().map(str::to_owned);
        let Some(url) = self.profile_url.as_deref() else {
            let (Some(organization), Some(project)) = (given, project) else {
                return Err(ToolError::user("no project is named whose profiles to look at")
                    .hint("give `organizationSlug` and `projectSlugOrId`, or a profile's address as `profileUrl`")
                    .hint_tool("find_projects", "list the projects"));
            };
            return Ok(Named {
                organization: organization.to_owned(),
                project: project.to_owned(),
                of_page: None,
                region,
                page: Page::default(),
            });
        };
        let found = SentryUrl::parse(url, cx.sentry()?.base_url())?;
        let organization = found.organization_beside(given, "profileUrl")?;
        let Resource::Profile { project: of_page, id, profiler, start, end } = found.resource
        else {
            let kind = found.resource.kind();
            return Err(ToolError::user(format!(
                "`profileUrl` is no address of a profile, but of: {kind}"
            ))
            .hint("a profile's address holds `/profiling/profile/` and ends with `/flamegraph/`")
            .hint_tool("get_sentry_resource", "look at any page of Sentry"));
        };
        Ok(Named {
            organization,
            project: project.unwrap_or(&of_page).to_owned(),
            of_page: Some(of_page).filter(|it| project.is_some_and(|given| given != it)),
            region,
            page: Page { id, profiler, start, end },
        })
    }
}

/// A project that was named, but not looked up yet.
#[derive(Debug)]
pub(crate) struct Named {
    organization: String,
    project: String,
    /// The project of the address, where it is called otherwise.
    of_page: Option<String>,
    region: Option<String>,
    pub(crate) page: Page,
}

impl Named {
    /// Finds the numbers out that Sentry goes by.
    pub(crate) async fn look_up(self, cx: &Call<'_>) -> Result<ProfileTarget, ToolError> {
        let Self { organization, project, of_page, region, page: _ } = self;
        let sentry = cx.sentry_of(&organization, region.as_deref()).await?;
        let project_id = number_of(&sentry, &organization, &project).await?;
        if let Some(of_page) = of_page
            && number_of(&sentry, &organization, &of_page).await? != project_id
        {
            let of_page = inline(&of_page);
            let message =
                format!("`profileUrl` belongs to the project `{of_page}`, not to `{project}`");
            return Err(ToolError::user(message).hint("give a profile of that project"));
        }
        Ok(ProfileTarget { organization, project, project_id, sentry })
    }
}

async fn number_of(
    sentry: &Client,
    organization: &str,
    project: &str,
) -> Result<String, ToolError> {
    if project.bytes().all(|it| it.is_ascii_digit()) {
        return Ok(project.to_owned());
    }
    Ok(sentry.project(organization, project).await?.id)
}
