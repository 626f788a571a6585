//! `create_project`: makes a project, with its DSN and perhaps its repository.

use api_client::sentry::{Client, projects::NewProject, repositories::Repository};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    error::ToolError,
    params::{OrganizationSlug, Platform, RegionUrl, ResourceId, TeamSlug},
    render::Page,
    skill::Skill,
    tool::{Call, CuratedTool, Effect, Hidden, Markdown, Spec},
};

/// The most candidates that are named.
const CANDIDATES: usize = 5;

#[derive(Debug)]
pub(super) struct CreateProject;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    organization_slug: OrganizationSlug,
    region_url: Option<RegionUrl>,
    team_slug: TeamSlug,
    #[schemars(length(min = 1, max = 50))]
    name: String,
    /// made of the name when left out
    slug: Option<ResourceId>,
    platform: Option<Platform>,
    /// a repository connected to Sentry, as owner/name or name, to link to the project
    repository: Option<String>,
}

impl CuratedTool for CreateProject {
    const SPEC: Spec = Spec {
        name: "create_project",
        title: "Create project",
        description: "Make a project for a team and get the DSN to configure its SDK with; can link a repository that Sentry is connected to. `find_projects` tells whether there is one already.",
        effect: Effect::Create,
        skills: &[Skill::ProjectManagement],
        scopes: &["project:write", "team:read", "org:read"],
        hidden: Hidden::InProject,
        ..Spec::READ
    };
    type Params = Params;
    type Output = Markdown;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Markdown, ToolError> {
        let sentry = cx.sentry_in(params.region_url.as_deref())?;
        let organization = &*params.organization_slug;
        // Looked up first: a misspelt repository must not leave a project behind.
        let repository = match params.repository.as_deref() {
            Some(name) => Some(repository(&sentry, organization, name).await?),
            None => None,
        };
        let new = NewProject {
            name: &params.name,
            slug: params.slug.as_deref(),
            platform: params.platform.as_deref(),
        };
        let project = sentry.create_project(organization, &params.team_slug, &new).await?;
        let linked = match &repository {
            Some(repository) => {
                Some(sentry.link_repository(organization, &project.slug, repository).await)
            }
            None => None,
        };
        let dsn = dsn(&sentry, organization, &project.slug).await;

        let mut page = Page::new(format_args!("Project created: {}", project.slug));
        page.fact("ID", &project.id).fact("Slug", &project.slug);
        page.fact("Name", project.name.as_deref().unwrap_or(&params.name));
        page.maybe("Platform", project.platform.as_deref());
        page.fact("Team", &params.team_slug);
        page.fact("DSN", dsn.as_deref().unwrap_or("unavailable"));
        if let (Some(repository), Some(linked)) = (&repository, linked) {
            let name = &repository.name;
            match linked {
                Ok(()) => page.fact("Repository", format_args!("{name}, linked")),
                Err(error) => page.fact("Repository", format_args!("{name}, not linked: {error}")),
            };
        }
        let hints = match dsn {
            Some(_) => None,
            None => cx.hint("find_dsns", "get the DSN, which could not be read just now"),
        };
        page.next_steps([
            Some("put the DSN into the SDK's configuration; it may be public".to_owned()),
            hints,
        ]);
        Ok(page.finish())
    }
}

/// The only repository of that name; without an owner, the only one that ends with it.
async fn repository(
    sentry: &Client,
    organization: &str,
    name: &str,
) -> Result<Repository, ToolError> {
    let name = name.trim();
    let (all, _) = sentry.repositories(organization, name).await?;
    let wanted = name.to_lowercase();
    let ends_with = |it: &Repository| {
        it.name.to_lowercase().rsplit_once('/').is_some_and(|(_, last)| last == wanted)
    };
    let mut exact: Vec<&Repository> =
        all.iter().filter(|it| it.name.to_lowercase() == wanted).collect();
    if exact.is_empty() && !name.contains('/') {
        exact = all.iter().filter(|it| ends_with(it)).collect();
    }
    match exact.as_slice() {
        [one] => Ok((*one).clone()),
        [] => {
            let message = format!("Sentry is connected to no repository `{name}`");
            let hint = match names(&all.iter().collect::<Vec<_>>()) {
                Some(names) => format!("similar ones: {names}"),
                None => "leave `repository` out, or connect it to Sentry first".to_owned(),
            };
            Err(ToolError::user(message).hint(hint))
        }
        several => {
            let message = format!("{} repositories are called `{name}`", several.len());
            let names = names(several).unwrap_or_default();
            Err(ToolError::user(message).hint(format!("give owner and name, one of: {names}")))
        }
    }
}

fn names(repositories: &[&Repository]) -> Option<String> {
    let shown = repositories.iter().take(CANDIDATES).map(|it| format!("`{}`", it.name));
    let mut names: Vec<String> = shown.collect();
    if repositories.len() > CANDIDATES {
        names.push(format!("and {} more", repositories.len() - CANDIDATES));
    }
    Some(names.join(", ")).filter(|it| !it.is_empty())
}

/// The DSN of the default key, of any active one, or of a new one. The project is there without it.
async fn dsn(sentry: &Client, organization: &str, project: &str) -> Option<String> {
    let keys = sentry.list_keys(organization, project).await.ok()?.items;
    let active = || keys.iter().filter(|it| it.is_active == Some(true));
    let default = active().find(|it| it.name.as_deref() == Some("Default"));
    match default.or_else(|| active().next()) {
        Some(key) => key.dsn.public.clone(),
        None => sentry.create_key(organization, project, "Default").await.ok()?.dsn.public,
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::{Value, json};

    use crate::test_support::{Sentry, fault};

    fn asked(more: Value) -> Value {
        let mut arguments = json!({
            "organizationSlug": "harbor-lantern", "teamSlug": "dock-oncall", "name": "Fog Horn",
        });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    }

    #[tokio::test]
    async fn a_project_comes_with_its_dsn_and_its_repository() {
        let arguments = asked(json!({"platform": "Rust", "repository": "tide-gate"}));
        assert_snapshot!(Sentry::new().call("create_project", arguments).await);
    }

    #[tokio::test]
    async fn a_repository_that_is_not_linked_does_not_undo_the_project() {
        let route = "/api/0/organizations/{o}/code-mappings/bulk/";
        let sentry = Sentry::with_faults(vec![
            fault("POST", route, 403, r#"{"detail":"You may not."}"#),
            fault("GET", "/api/0/projects/{o}/{p}/keys/", 500, "{}"),
        ]);
        let arguments = asked(json!({"repository": "zephyr-freight/tide-gate"}));
        let answer = sentry.content("create_project", arguments).await;
        assert!(!answer.is_error, "{}", answer.text);
        assert!(
            answer.text.contains("not linked") && answer.text.contains("You may not."),
            "{}",
            answer.text
        );
        assert!(answer.text.contains("**DSN**: unavailable"), "{}", answer.text);
    }

    #[tokio::test]
    async fn a_repository_that_is_not_the_only_one_leaves_no_project_behind() {
        let rows = r#"[{"id":"1","name":"a/web"},{"id":"2","name":"b/web"}]"#;
        let route = "/api/0/organizations/{o}/repos/";
        let sentry = Sentry::with_fault(fault("GET", route, 200, rows));
        let text = sentry.call_failing("create_project", asked(json!({"repository": "web"}))).await;
        assert!(text.contains("`a/web`, `b/web`"), "{text}");
        let sentry = Sentry::new();
        let text =
            sentry.call_failing("create_project", asked(json!({"repository": "tide-"}))).await;
        assert!(text.contains("`harbor-lantern/tide-tables`"), "{text}");
        assert!(sentry.mock.writes().is_empty());
    }

    #[tokio::test]
    async fn an_unknown_team_is_the_callers_to_fix() {
        let text = Sentry::new()
            .call_failing("create_project", asked(json!({"teamSlug": "nobody"})))
            .await;
        assert!(text.contains("`teamSlug` `nobody`"), "{text}");
    }

    #[tokio::test]
    async fn a_session_of_one_project_makes_no_other() {
        let sentry = Sentry::new().pinned("harbor-lantern", Some("quay-web"));
        let text = sentry.call_failing("create_project", asked(json!({}))).await;
        assert!(text.contains("is not a tool of this session"), "{text}");
    }

    #[tokio::test]
    async fn a_name_too_long_is_refused_before_anything_is_sent() {
        let sentry = Sentry::new();
        let text =
            sentry.call_failing("create_project", asked(json!({"name": "x".repeat(51)}))).await;
        assert!(text.contains("`name`"), "{text}");
        assert_eq!(sentry.requests(), Vec::<String>::new());
    }
}
