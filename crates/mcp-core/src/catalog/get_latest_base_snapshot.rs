//! `get_latest_base_snapshot`: the newest snapshot of a branch that others are compared with.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    error::ToolError,
    params::{OrganizationSlug, ProjectSlugOrId, RegionUrl},
    render::{Page, head_line, image_tree, inline, segment},
    skill::Skill,
    tool::{Call, CuratedTool, Markdown, Spec},
};

#[derive(Debug)]
pub(super) struct GetLatestBaseSnapshot;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    organization_slug: OrganizationSlug,
    /// the app, as in `com.example.app`
    #[schemars(length(min = 1, max = 250))]
    app_id: String,
    /// left out, the default branch
    branch: Option<String>,
    project: Option<ProjectSlugOrId>,
    region_url: Option<RegionUrl>,
}

impl CuratedTool for GetLatestBaseSnapshot {
    const SPEC: Spec = Spec {
        name: "get_latest_base_snapshot",
        title: "Get latest base snapshot",
        description: "Find the newest visual snapshot of an app on a branch, which later builds are compared with: its id, commit and images. Look at single images with `get_snapshot_image`.",
        skills: &[Skill::Inspect],
        scopes: &["project:read"],
        ..Spec::READ
    };
    type Params = Params;
    type Output = Markdown;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Markdown, ToolError> {
        let sentry = cx.sentry_in(params.region_url.as_deref())?;
        let organization = &*params.organization_slug;
        let pinned = cx.constraints.project.as_deref();
        let project = pinned.or(params.project.as_deref());
        let branch = params.branch.as_deref();
        let snapshot =
            sentry.latest_base_snapshot(organization, &params.app_id, branch, project).await?;
        if let Some(slug) = snapshot.project_slug.as_deref() {
            let what = format!("the newest snapshot of `{}`", inline(&params.app_id));
            cx.constraints.check_project(&what, Some(slug))?;
        }
        let id = &snapshot.head_artifact_id;
        let mut page = Page::new(format!("Base snapshot of {}", inline(&params.app_id)));
        let link = format!("/preprod/snapshots/{}/", segment(id));
        page.fact("ID", id)
            .fact("Link", cx.web_url(organization, &link))
            .maybe("App", snapshot.app_id.as_ref())
            .maybe("Project", snapshot.project_slug.as_ref())
            .maybe("Platform", snapshot.platform.as_ref())
            .maybe("Branch", head_line(&snapshot.vcs_info))
            .maybe("Taken", snapshot.date_added.as_ref())
            .maybe("Images", snapshot.image_count);
        if !snapshot.images.is_empty() {
            let images = snapshot.images.iter().map(|it| {
                let size =
                    it.width.zip(it.height).map(|(width, height)| format!("{width}×{height}"));
                (it.image_file_name.as_str(), size.unwrap_or_default())
            });
            page.heading("Images").block("text", &image_tree(images));
        }
        page.next_steps([cx.hint(
            "get_snapshot_image",
            "look at an image: its path, with the folder, is `imageIdentifier`",
        )]);
        Ok(page.finish())
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::json;

    use crate::test_support::{Sentry, fault};

    const ROUTE: &str = "/api/0/organizations/{o}/preprodartifacts/snapshots/latest-base/";
    const BODY: &str = r#"{
        "head_artifact_id": 77, "project_slug": "lamp-mobile", "app_id": "com.harbor.lamp", "platform": "android",
        "image_count": 2, "date_added": "2026-05-01T08:00:00Z",
        "vcs_info": {"head_ref": "main", "head_sha": "0123456789abcdef"},
        "images": [{"image_file_name": "home/a.png", "width": 100, "height": 200}, {"image_file_name": "home/b.png"}]
    }"#;

    #[tokio::test]
    async fn the_newest_snapshot_comes_with_its_images() {
        let sentry = Sentry::with_fault(fault("GET", ROUTE, 200, BODY));
        let arguments = json!({
            "organizationSlug": "harbor-lantern", "appId": "com.harbor.lamp", "branch": "main", "project": 12
        });
        assert_snapshot!(sentry.call("get_latest_base_snapshot", arguments).await);
    }

    #[tokio::test]
    async fn a_pinned_project_is_asked_for_and_checked() {
        let sentry = Sentry::with_fault(fault("GET", ROUTE, 200, BODY))
            .pinned("harbor-lantern", Some("quay-web"));
        let arguments = json!({"appId": "com.harbor.lamp", "project": "lamp-mobile"});
        let text = sentry.call_failing("get_latest_base_snapshot", arguments).await;
        assert!(text.contains("`quay-web`"), "{text}");
        assert!(sentry.requests()[0].contains("projectSlug=quay-web"), "{:?}", sentry.requests());
    }

    #[tokio::test]
    async fn an_unknown_app_is_told_as_such() {
        let sentry =
            Sentry::with_fault(fault("GET", ROUTE, 404, r#"{"detail": "No base snapshot"}"#));
        let arguments = json!({"organizationSlug": "harbor-lantern", "appId": "com.nobody"});
        assert_snapshot!(sentry.call("get_latest_base_snapshot", arguments).await);
    }
}
