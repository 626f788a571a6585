//! `get_snapshot`: how a build of an app looks, compared with the one before.

use api_client::sentry::snapshots::{Image, ImagePair, Snapshot};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    error::ToolError,
    params::{OrganizationSlug, RegionUrl},
    render::{Page, branch_line, head_line, image_tree, segment},
    skill::Skill,
    tool::{Call, CuratedTool, Markdown, Spec},
};

#[derive(Debug)]
pub(super) struct GetSnapshot;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    organization_slug: OrganizationSlug,
    /// the number in a snapshot's address
    #[schemars(length(min = 1, max = 100))]
    snapshot_id: String,
    /// list the images that look the same, too
    #[serde(default)]
    show_unmodified: bool,
    region_url: Option<RegionUrl>,
}

impl CuratedTool for GetSnapshot {
    const SPEC: Spec = Spec {
        name: "get_snapshot",
        title: "Get snapshot",
        description: "Show a visual snapshot of a build: which images changed, were added, removed, renamed or failed, where the build comes from, whether it is approved. Look at single images with `get_snapshot_image`.",
        skills: &[Skill::Inspect],
        scopes: &["project:read"],
        ..Spec::READ
    };
    type Params = Params;
    type Output = Markdown;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Markdown, ToolError> {
        let sentry = cx.sentry_in(params.region_url.as_deref())?;
        let organization = &*params.organization_slug;
        let snapshot = sentry.snapshot(organization, &params.snapshot_id).await?;
        if let Some(pinned) = cx.constraints.project.as_deref() {
            let project = sentry.project(organization, pinned).await?;
            let own = (snapshot.project_id.as_deref() == Some(&project.id)).then_some(pinned);
            let what = format!("the snapshot `{}`", params.snapshot_id);
            cx.constraints.check_project(&what, own)?;
        }
        Ok(render(cx, &params, &snapshot))
    }
}

fn render(cx: &Call<'_>, params: &Params, snapshot: &Snapshot) -> Markdown {
    let organization = &params.organization_slug;
    let link = format!("/preprod/snapshots/{}/", segment(&params.snapshot_id));
    let vcs = &snapshot.vcs_info;
    let mut page = Page::new(format!("Snapshot {} in {organization}", params.snapshot_id));
    page.fact("Link", cx.web_url(organization, &link))
        .maybe("App", snapshot.app_id.as_ref())
        .maybe("Comparison", snapshot.comparison_type.as_ref())
        .maybe("State", snapshot.comparison_state.as_ref().or(snapshot.state.as_ref()))
        .maybe("Project ID", snapshot.project_id.as_ref())
        .maybe("Compared with", snapshot.base_artifact_id.as_ref())
        .maybe("Images", snapshot.image_count)
        .maybe("Approval", snapshot.approval_status.as_ref())
        .maybe("Repository", vcs.head_repo_name.as_ref())
        .maybe("Head", head_line(vcs))
        .maybe("Base", branch_line(vcs.base_ref.as_deref(), vcs.base_sha.as_deref()))
        .maybe("Pull request", vcs.pr_number);
    let mut changed: Vec<&ImagePair> = snapshot.changed.iter().collect();
    changed.sort_by(|a, b| b.diff.unwrap_or(0.0).total_cmp(&a.diff.unwrap_or(0.0)));
    section(&mut page, "Changed", snapshot.changed_count, changed.iter().map(|it| pair(it)));
    section(&mut page, "Added", snapshot.added_count, snapshot.added.iter().map(image));
    section(&mut page, "Removed", snapshot.removed_count, snapshot.removed.iter().map(image));
    section(&mut page, "Renamed", snapshot.renamed_count, snapshot.renamed.iter().map(renamed));
    section(&mut page, "Errored", snapshot.errored_count, snapshot.errored.iter().map(pair));
    if params.show_unmodified {
        let unchanged = snapshot.unchanged.iter().map(image);
        section(&mut page, "Unchanged", snapshot.unchanged_count, unchanged);
        section(&mut page, "Skipped", snapshot.skipped_count, snapshot.skipped.iter().map(image));
    } else {
        page.maybe_count("Unchanged", snapshot.unchanged_count);
        page.maybe_count("Skipped", snapshot.skipped_count);
    }
    let is_solo = snapshot.comparison_type.as_deref() == Some("solo");
    if is_solo || params.show_unmodified {
        section(&mut page, "Images", snapshot.image_count, snapshot.images.iter().map(image));
    }
    page.next_steps([cx.hint(
        "get_snapshot_image",
        "look at an image: its path, with the folder, is `imageIdentifier`",
    )]);
    page.finish()
}

fn section<'a>(
    page: &mut Page,
    title: &str,
    count: Option<u64>,
    images: impl ExactSizeIterator<Item = (&'a str, String)>,
) {
    let listed = images.len();
    let count = count.unwrap_or(0).max(listed as u64);
    if count == 0 {
        return;
    }
    page.heading(format!("{title} ({count})"));
    if listed == 0 {
        page.paragraph("Sentry does not list them.");
    } else {
        page.block("text", &image_tree(images));
    }
}

fn image(image: &Image) -> (&str, String) {
    let size = image.width.zip(image.height).map(|(width, height)| format!("{width}×{height}"));
    (&image.image_file_name, size.unwrap_or_default())
}

fn pair(pair: &ImagePair) -> (&str, String) {
    let note = pair.diff.map(|share| format!("{:.2} % differ", share * 100.0));
    (&pair.head_image.image_file_name, note.unwrap_or_default())
}

fn renamed(pair: &ImagePair) -> (&str, String) {
    (&pair.head_image.image_file_name, format!("was {}", pair.base_image.image_file_name))
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::json;

    use crate::test_support::{Sentry, fault};

    const ROUTE: &str = "/api/0/organizations/{o}/preprodartifacts/snapshots/{s}/";
    const BODY: &str = r#"{
        "head_artifact_id": "77", "base_artifact_id": "70", "project_id": "12", "comparison_type": "diff",
        "comparison_state": "success", "approval_status": "pending", "image_count": 5,
        "vcs_info": {"head_repo_name": "harbor/app", "head_ref": "sails", "head_sha": "0123456789abcdef", "base_ref": "main", "base_sha": "fedcba9876543210", "pr_number": 8},
        "changed_count": 2, "changed": [
            {"base_image": {"image_file_name": "home/a.png"}, "head_image": {"image_file_name": "home/a.png"}, "diff": 0.01},
            {"base_image": {"image_file_name": "home/b.png"}, "head_image": {"image_file_name": "home/b.png"}, "diff": 0.3}
        ],
        "added_count": 1, "added": [{"image_file_name": "new.png", "width": 100, "height": 50}],
        "renamed": [{"base_image": {"image_file_name": "old.png"}, "head_image": {"image_file_name": "other.png"}}],
        "unchanged_count": 1, "unchanged": [{"image_file_name": "same.png"}]
    }"#;

    fn arguments() -> serde_json::Value {
        json!({"organizationSlug": "harbor-lantern", "snapshotId": "77"})
    }

    #[tokio::test]
    async fn what_differs_comes_first_and_the_most_first() {
        let sentry = Sentry::with_fault(fault("GET", ROUTE, 200, BODY));
        assert_snapshot!(sentry.call("get_snapshot", arguments()).await);
    }

    #[tokio::test]
    async fn images_that_look_the_same_are_listed_when_asked_for() {
        let sentry = Sentry::with_fault(fault("GET", ROUTE, 200, BODY));
        let arguments = json!({
            "organizationSlug": "harbor-lantern", "snapshotId": 77, "showUnmodified": true
        });
        let text = sentry.call("get_snapshot", arguments).await;
        assert!(text.contains("## Unchanged (1)\n\n```text\n./\n  same.png\n```"), "{text}");
    }

    #[tokio::test]
    async fn a_snapshot_of_another_project_than_the_pinned_one_is_refused_by_name() {
        let sentry = Sentry::with_fault(fault("GET", ROUTE, 200, BODY))
            .pinned("harbor-lantern", Some("quay-api"));
        let text = sentry.call_failing("get_snapshot", json!({"snapshotId": "77"})).await;
        assert!(text.contains("`quay-api`"), "{text}");
    }

    #[tokio::test]
    async fn an_unknown_snapshot_is_named() {
        let sentry = Sentry::with_fault(fault("GET", ROUTE, 404, r#"{"detail": "Not found"}"#));
        assert_snapshot!(sentry.call("get_snapshot", arguments()).await);
    }

    #[tokio::test]
    async fn an_empty_id_is_refused_before_anything_is_sent() {
        let sentry = Sentry::new();
        let arguments = json!({"organizationSlug": "harbor-lantern", "snapshotId": ""});
        let text = sentry.call_failing("get_snapshot", arguments).await;
        assert!(text.contains("`snapshotId`"), "{text}");
        assert!(sentry.requests().is_empty());
    }
}
