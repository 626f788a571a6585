//! `get_release_details`: one release with its health, deploys and commits.

use api_client::sentry::{
    Client,
    releases::{Commit, Deploy, Release},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::{
    error::ToolError,
    params::{Limit, OrganizationSlug, ProjectSlugOrId, RegionUrl, yes},
    render::{Page, inline, segment},
    skill::Skill,
    tool::{Call, CuratedTool, Markdown, Spec},
};

/// Letters of a commit's id that are shown.
const SHORT_ID: usize = 8;

#[derive(Debug)]
pub(super) struct GetReleaseDetails;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    organization_slug: OrganizationSlug,
    region_url: Option<RegionUrl>,
    /// the whole version, as in `shop@1.2.0`
    #[schemars(length(min = 1, max = 250))]
    release_version: String,
    project_slug_or_id: Option<ProjectSlugOrId>,
    /// adoption and crash-free rates; needs `projectSlugOrId`
    #[serde(default)]
    include_health: bool,
    #[serde(default = "yes")]
    include_deploys: bool,
    #[serde(default = "yes")]
    include_commits: bool,
    /// most deploys and commits
    #[serde(default)]
    limit: Limit<10, 50>,
}

impl CuratedTool for GetReleaseDetails {
    const SPEC: Spec = Spec {
        name: "get_release_details",
        title: "Get release details",
        description: "Show one release by its exact version: dates, new issues, projects, deploys, commits and, for a project, its health. Find the version with `find_releases`.",
        skills: &[Skill::Inspect],
        scopes: &["project:read"],
        ..Spec::READ
    };
    type Params = Params;
    type Output = Markdown;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Markdown, ToolError> {
        let project = params.project_slug_or_id.as_deref();
        if params.include_health && project.is_none() {
            return Err(ToolError::user("`includeHealth` needs `projectSlugOrId`")
                .hint("health is kept by project: name the project, or leave `includeHealth` out")
                .hint_tool("find_projects", "list the projects"));
        }
        let sentry = cx.sentry_in(params.region_url.as_deref())?;
        let organization = &*params.organization_slug;
        let version = params.release_version.as_str();
        let release = sentry.release(organization, project, version, params.include_health).await?;
        check_project(cx, &release)?;
        let (deploys, commits) = tokio::try_join!(
            deploys(&sentry, &params, project),
            commits(&sentry, &params, project),
        )?;
        Ok(render(cx, &params, &release, &deploys, &commits))
    }
}

/// A pinned project must be one of the release's own.
fn check_project(cx: &Call<'_>, release: &Release) -> Result<(), ToolError> {
    let slugs = release.projects.iter().map(|it| it.slug.as_str());
    let own = slugs.into_iter().find(|slug| Some(*slug) == cx.constraints.project.as_deref());
    cx.constraints.check_project(&format!("the release `{}`", inline(&release.version)), own)
}

async fn deploys(
    sentry: &Client,
    params: &Params,
    project: Option<&str>,
) -> Result<Vec<Deploy>, ToolError> {
    if !params.include_deploys {
        return Ok(Vec::new());
    }
    let limit = params.limit.get() as u32;
    let organization = &params.organization_slug;
    let version = &params.release_version;
    Ok(sentry.release_deploys(organization, project, version, limit).await?.items)
}

async fn commits(
    sentry: &Client,
    params: &Params,
    project: Option<&str>,
) -> Result<Vec<Commit>, ToolError> {
    if !params.include_commits {
        return Ok(Vec::new());
    }
    let limit = params.limit.get() as u32;
    let organization = &params.organization_slug;
    let version = &params.release_version;
    Ok(sentry.release_commits(organization, project, version, limit).await?.items)
}

fn render(
    cx: &Call<'_>,
    params: &Params,
    release: &Release,
    deploys: &[Deploy],
    commits: &[Commit],
) -> Markdown {
    let organization = &params.organization_slug;
    let mut page = Page::new(format!("Release {} in {organization}", inline(&release.version)));
    let projects: Vec<_> = release.projects.iter().map(|it| it.slug.as_str()).collect();
    page.maybe("ID", release.id.as_ref())
        .maybe("Short version", release.short_version.as_ref())
        .maybe("Status", release.status.as_ref())
        .maybe("Ref", release.git_ref.as_ref())
        .maybe("Notes", release.url.as_ref())
        .maybe("Created", release.date_created.as_ref())
        .maybe("Released", release.date_released.as_ref())
        .maybe("First event", release.first_event.as_ref())
        .maybe("Last event", release.last_event.as_ref())
        .maybe("New issues", release.new_groups)
        .maybe("Projects", Some(projects.join(", ")))
        .maybe("Commits", release.commit_count)
        .maybe("Deploys", release.deploy_count)
        .fact(
            "Link",
            cx.web_url(organization, &format!("/releases/{}/", segment(&release.version))),
        );
    if let Some(commit) = &release.last_commit {
        page.heading("Last commit").item(commit_line(commit));
    }
    if params.include_health {
        health(&mut page, params, release);
    }
    if params.include_deploys {
        page.heading("Deploys");
        if deploys.is_empty() {
            page.paragraph("None.");
        }
        for deploy in deploys {
            page.subheading(inline(deploy.environment.as_deref().unwrap_or("unknown environment")))
                .maybe("Name", deploy.name.as_ref())
                .maybe("URL", deploy.url.as_ref())
                .maybe("Started", deploy.date_started.as_ref())
                .maybe("Finished", deploy.date_finished.as_ref());
        }
    }
    if params.include_commits {
        page.heading("Commits");
        if commits.is_empty() {
            page.paragraph("None.");
        }
        for commit in commits {
            page.item(commit_line(commit));
        }
    }
    let query = format!("find its issues with the query `release:{}`", inline(&release.version));
    page.next_steps([cx.hint("search_issues", &query)]);
    page.finish()
}

fn commit_line(commit: &Commit) -> String {
    let id: String = commit.id.chars().take(SHORT_ID).collect();
    let author = commit.author.as_ref().and_then(|it| it.label());
    let subject = commit.message.as_deref().and_then(|it| it.lines().next());
    let facts = [subject, author, commit.date_created.as_deref()];
    let facts: Vec<_> = facts.into_iter().flatten().filter(|it| !it.is_empty()).collect();
    if facts.is_empty() { id } else { format!("{id}: {}", facts.join(" – ")) }
}

/// Adoption and sessions, name by name as Sentry has them.
fn health(page: &mut Page, params: &Params, release: &Release) {
    page.heading("Health");
    let wanted = params.project_slug_or_id.as_deref();
    let project = release
        .projects
        .iter()
        .find(|it| Some(it.slug.as_str()) == wanted || it.id.as_deref() == wanted);
    let sources = [
        project.and_then(|it| it.health_data.as_ref()),
        release.adoption_stages.as_ref(),
        release.current_project_meta.as_ref(),
    ];
    let mut known = false;
    for fields in sources.into_iter().flatten().filter_map(Value::as_object) {
        for (name, value) in fields {
            known |= add(page, name, value);
        }
    }
    if !known {
        page.paragraph("Sentry has no health data of this release.");
    }
}

/// Adds a plain value, or the plain values of an object; whether there was one.
fn add(page: &mut Page, name: &str, value: &Value) -> bool {
    let name = inline(name);
    match value {
        Value::Bool(_) | Value::Number(_) => page.fact(&name, value),
        Value::String(text) if !text.is_empty() => page.fact(&name, text),
        Value::Object(fields) => {
            let plain = fields.iter().filter(|(_, it)| it.is_string() || it.is_number());
            let parts: Vec<_> = plain
                .map(|(key, it)| {
                    format!("{key} {}", it.as_str().map_or(it.to_string(), str::to_owned))
                })
                .collect();
            if parts.is_empty() {
                return false;
            }
            page.fact(&name, parts.join(", "))
        }
        Value::Null | Value::String(_) | Value::Array(_) => return false,
    };
    true
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::json;

    use crate::test_support::{Sentry, fault};

    const RELEASE: &str = r#"{
        "id": 41, "version": "quay@1.4.0", "shortVersion": "1.4.0", "status": "open",
        "dateCreated": "2026-05-01T08:00:00Z", "newGroups": 3, "commitCount": 2, "deployCount": 1,
        "projects": [{"id": 7, "slug": "quay-web", "healthData": {"adoption": 81.5, "crashFreeUsers": 99.2, "hasHealthData": true}}],
        "lastCommit": {"id": "0123456789abcdef", "message": "fix: sails\n\nlong story", "author": {"name": "Mira"}},
        "adoptionStages": {"quay-web": {"stage": "adopted", "adopted": "2026-05-02T00:00:00Z"}}
    }"#;

    fn world() -> Sentry {
        let under = "/api/0/projects/{o}/{p}/releases/{v}/";
        Sentry::with_faults(vec![
            fault("GET", "/api/0/organizations/{o}/releases/{v}/", 200, RELEASE),
            fault("GET", under, 200, RELEASE),
            fault(
                "GET",
                "/api/0/organizations/{o}/releases/{v}/deploys/",
                200,
                r#"[{"id": 1, "environment": "production", "name": "night", "dateFinished": "2026-05-02T00:00:00Z"}]"#,
            ),
            fault(
                "GET",
                "/api/0/organizations/{o}/releases/{v}/commits/",
                200,
                r#"[{"id": "0123456789abcdef", "message": "fix: sails", "author": {"email": "mira@example.com"}, "dateCreated": "2026-04-30T10:00:00Z"}]"#,
            ),
            fault("GET", &format!("{under}commits/"), 200, "[]"),
        ])
    }

    #[tokio::test]
    async fn a_release_is_shown_with_its_deploys_and_commits() {
        let arguments =
            json!({"organizationSlug": "harbor-lantern", "releaseVersion": "quay@1.4.0"});
        assert_snapshot!(world().call("get_release_details", arguments).await);
    }

    #[tokio::test]
    async fn health_is_that_of_the_named_project() {
        let arguments = json!({
            "organizationSlug": "harbor-lantern", "releaseVersion": "quay@1.4.0", "projectSlugOrId": "quay-web",
            "includeHealth": "true", "includeDeploys": false, "limit": 5
        });
        assert_snapshot!(world().call("get_release_details", arguments).await);
    }

    #[tokio::test]
    async fn health_without_a_project_is_refused_before_anything_is_sent() {
        let arguments = json!({
            "organizationSlug": "harbor-lantern", "releaseVersion": "1", "includeHealth": true
        });
        assert_snapshot!(Sentry::new().call("get_release_details", arguments).await);
    }

    #[tokio::test]
    async fn a_release_of_another_project_than_the_pinned_one_is_refused_by_name() {
        let sentry = world().pinned("harbor-lantern", Some("quay-api"));
        let text = sentry
            .call_failing("get_release_details", json!({"releaseVersion": "quay@1.4.0"}))
            .await;
        assert!(text.contains("`quay-api`"), "{text}");
    }

    #[tokio::test]
    async fn an_unknown_version_is_named_with_the_tool_that_lists_them() {
        let sentry = Sentry::with_fault(fault(
            "GET",
            "/api/0/organizations/{o}/releases/{v}/",
            404,
            r#"{"detail": "The requested resource does not exist"}"#,
        ));
        let arguments = json!({"organizationSlug": "harbor-lantern", "releaseVersion": "9.9"});
        assert_snapshot!(sentry.call("get_release_details", arguments).await);
    }
}
