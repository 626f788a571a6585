//! `get_snapshot_image`: one image of a visual snapshot, before and after.

use api_client::sentry::{
    Client,
    attachments::Download,
    region,
    snapshots::{Image, ImageDetail},
};
use schemars::JsonSchema;
use serde::Deserialize;
use url::Url;

use crate::{
    error::ToolError,
    output::{Content, Part},
    params::{OrganizationSlug, RegionUrl},
    render::{Page, dimensions, file_part, inline, picture_type},
    skill::Skill,
    tool::{Call, CuratedTool, Spec},
};

/// The longest side of a preview, in pixels.
const PREVIEW_SIDE: u32 = 1024;
/// The largest preview, in bytes.
const PREVIEW_BYTES: usize = 1_000_000;

#[derive(Debug)]
pub(super) struct GetSnapshotImage;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    organization_slug: OrganizationSlug,
    /// the number in a snapshot's address
    #[schemars(length(min = 1, max = 100))]
    snapshot_id: String,
    /// the image's path, with its folder
    #[schemars(length(min = 1, max = 500))]
    image_identifier: String,
    /// `preview` shows what is small enough, `full` everything
    #[serde(default)]
    image_resolution: Resolution,
    region_url: Option<RegionUrl>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Resolution {
    #[default]
    Preview,
    Full,
}

impl CuratedTool for GetSnapshotImage {
    const SPEC: Spec = Spec {
        name: "get_snapshot_image",
        title: "Get snapshot image",
        description: "Look at one image of a visual snapshot: after, before, and the mask of what differs. List the images with `get_snapshot`. Full resolution costs many tokens.",
        skills: &[Skill::Inspect],
        scopes: &["project:read"],
        ..Spec::READ
    };
    type Params = Params;
    type Output = Content;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Content, ToolError> {
        let sentry = cx.sentry_in(params.region_url.as_deref())?;
        let organization = &*params.organization_slug;
        let image = &params.image_identifier;
        let detail = sentry.snapshot_image(organization, &params.snapshot_id, image).await?;
        let places = places(&detail);
        if places.is_empty() {
            let message = format!("the snapshot has no picture of `{}`", inline(image));
            return Err(
                ToolError::user(message).hint_tool("get_snapshot", "list the snapshot's images")
            );
        }
        check_project(cx, &params, &places)?;
        let mut content = Content::text(facts(&params, &detail).into_text());
        for (label, address) in places {
            match picture(&sentry, organization, address, params.image_resolution).await? {
                Ok(part) => {
                    content = content.with(Part::Text(label.to_owned())).with(part);
                }
                Err(why) => content = content.with(Part::Text(format!("{label}: {why}"))),
            }
        }
        Ok(content)
    }
}

/// The pictures there are, with a label each; before and after only once where they are one.
fn places(detail: &ImageDetail) -> Vec<(&'static str, &str)> {
    fn address(image: Option<&Image>) -> Option<&str> {
        image.and_then(|it| it.image_url.as_deref()).filter(|it| !it.is_empty())
    }
    let head = address(detail.head_image.as_ref());
    let base = address(detail.base_image.as_ref()).filter(|it| Some(*it) != head);
    let mask = detail.diff_image_url.as_deref().filter(|it| !it.is_empty());
    [("After (head)", head), ("Before (base)", base), ("What differs (mask)", mask)]
        .into_iter()
        .filter_map(|(label, address)| Some((label, address?)))
        .collect()
}

/// A pinned project must be the one the pictures belong to.
fn check_project(
    cx: &Call<'_>,
    params: &Params,
    places: &[(&'static str, &str)],
) -> Result<(), ToolError> {
    let pinned = cx.constraints.project.as_deref();
    let others = places.iter().filter_map(|(_, address)| Key::of(address));
    let other = others.map(|it| it.project).find(|it| Some(it.as_str()) != pinned);
    let what = format!("the image `{}`", inline(&params.image_identifier));
    match other {
        Some(project) => cx.constraints.check_project(&what, Some(&project)),
        None => Ok(()),
    }
}

fn facts(params: &Params, detail: &ImageDetail) -> Page {
    let name = detail.image_file_name.as_deref().unwrap_or(&params.image_identifier);
    let mut page = Page::new(inline(name));
    let shown = detail.head_image.as_ref().or(detail.base_image.as_ref());
    let size = shown.and_then(|it| it.width.zip(it.height));
    page.fact("Snapshot", &params.snapshot_id)
        .maybe("Status", detail.comparison_status.as_ref())
        .maybe("Differs", detail.diff_percentage.map(|share| format!("{:.2} %", share * 100.0)))
        .maybe("Was called", detail.previous_image_file_name.as_ref())
        .maybe("Name", shown.and_then(|it| it.display_name.as_ref()))
        .maybe("Description", shown.and_then(|it| it.description.as_ref()))
        .maybe("Size", size.map(|(width, height)| format!("{width}×{height}")));
    page
}

/// The picture at an address, or why it is not shown.
async fn picture(
    sentry: &Client,
    organization: &str,
    address: &str,
    resolution: Resolution,
) -> Result<Result<Part, String>, ToolError> {
    let Some(key) = Key::of(address).filter(|it| it.organization == organization) else {
        return Ok(Err("it is kept where this server does not fetch from".to_owned()));
    };
    let here = match &key.host {
        Some(host) => match region::answered(sentry.base_url(), host.as_str()) {
            Ok(host) => sentry.at(&host).map_err(|error| ToolError::user(error.to_string()))?,
            Err(_) => return Ok(Err("it is kept on the host of someone else".to_owned())),
        },
        None => sentry.clone(),
    };
    let Download { bytes, content_type } =
        here.image_file(organization, &key.project, &key.key).await?;
    if resolution == Resolution::Preview && !is_small(&bytes) {
        return Ok(Err(format!(
            "its {} bytes are too large for a preview; call again with `imageResolution` `full`",
            bytes.len()
        )));
    }
    let mime = picture_type(&bytes).or(content_type.as_deref()).unwrap_or("image/unknown");
    if !mime.starts_with("image/") {
        return Ok(Err(format!("it is no picture but `{}`", inline(mime))));
    }
    Ok(file_part(&key.key, mime, &bytes))
}

fn is_small(bytes: &[u8]) -> bool {
    let fits = dimensions(bytes).is_none_or(|(width, height)| width.max(height) <= PREVIEW_SIDE);
    fits && bytes.len() <= PREVIEW_BYTES
}

/// What the address of a picture names.
struct Key {
    /// Where it names a host of its own.
    host: Option<Url>,
    organization: String,
    project: String,
    key: String,
}

impl Key {
    fn of(address: &str) -> Option<Self> {
        let whole = Url::parse(address).ok().filter(Url::has_host);
        let path = whole.as_ref().map_or(address, |url| url.path());
        let segments: Vec<_> = path.trim_matches('/').split('/').collect();
        let ["api", "0", "projects", organization, project, "files", "images", key] =
            segments.as_slice()
        else {
            return None;
        };
        Some(Self {
            organization: (*organization).to_owned(),
            project: (*project).to_owned(),
            key: (*key).to_owned(),
            host: whole,
        })
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::{Value, json};

    use crate::test_support::{Sentry, fault, fault_with};

    const DETAIL: &str = "/api/0/organizations/{o}/preprodartifacts/snapshots/{s}/images/{i}/";
    const FILE: &str = "/api/0/projects/{o}/{p}/files/images/{k}/";
    const GIF: &str = "GIF89a and so on";

    fn arguments(resolution: &str) -> Value {
        json!({
            "organizationSlug": "harbor-lantern", "snapshotId": "77", "imageIdentifier": "home.png",
            "imageResolution": resolution
        })
    }

    fn detail(head: &str) -> String {
        json!({
            "image_file_name": "home.png", "comparison_status": "changed", "diff_percentage": 0.25,
            "head_image": {"image_file_name": "home.png", "image_url": head, "width": 10, "height": 20},
            "base_image": {"image_file_name": "home.png", "image_url": "/api/0/projects/harbor-lantern/lamp-mobile/files/images/b/"},
        })
        .to_string()
    }

    fn world(head: &str, content_type: &str, body: &str) -> Sentry {
        Sentry::with_faults(vec![
            fault("GET", DETAIL, 200, &detail(head)),
            fault_with("GET", FILE, 200, content_type, body),
        ])
    }

    const HERE: &str = "/api/0/projects/harbor-lantern/lamp-mobile/files/images/a/";

    #[tokio::test]
    async fn before_and_after_come_as_labelled_pictures() {
        let sentry = world(HERE, "image/gif", GIF);
        assert_snapshot!(sentry.call("get_snapshot_image", arguments("preview")).await);
    }

    #[tokio::test]
    async fn what_is_too_large_for_a_preview_says_how_to_see_it() {
        let large = format!("{GIF}{}", "x".repeat(1_000_000));
        let text =
            world(HERE, "image/gif", &large).call("get_snapshot_image", arguments("preview")).await;
        assert!(text.contains("`imageResolution` `full`") && !text.contains("[image"), "{text}");
        let text =
            world(HERE, "image/gif", &large).call("get_snapshot_image", arguments("full")).await;
        assert!(text.contains("[image image/gif"), "{text}");
    }

    #[tokio::test]
    async fn a_picture_on_the_host_of_someone_else_is_not_fetched() {
        let sentry = world(&format!("https://evil.example.com{HERE}"), "image/gif", GIF);
        let text = sentry.call("get_snapshot_image", arguments("full")).await;
        assert!(text.contains("After (head): it is kept on the host of someone else"), "{text}");
        assert!(text.contains("Before (base)\n[image image/gif"), "{text}");
    }

    /// P38.
    #[tokio::test]
    async fn what_is_no_picture_is_said_in_words() {
        let sentry = world(HERE, "text/html", "<p>login</p>");
        let text = sentry.call("get_snapshot_image", arguments("preview")).await;
        assert!(text.contains("it is no picture but `text/html`"), "{text}");
    }

    #[tokio::test]
    async fn an_image_without_a_picture_names_the_tool_that_lists_them() {
        let sentry = Sentry::with_fault(fault("GET", DETAIL, 200, "{}"));
        assert_snapshot!(sentry.call("get_snapshot_image", arguments("preview")).await);
    }

    #[tokio::test]
    async fn an_image_of_another_project_than_the_pinned_one_is_refused_by_name() {
        let sentry = world(HERE, "image/gif", GIF).pinned("harbor-lantern", Some("quay-web"));
        let text = sentry.call_failing("get_snapshot_image", arguments("preview")).await;
        assert!(text.contains("`quay-web`"), "{text}");
    }
}
