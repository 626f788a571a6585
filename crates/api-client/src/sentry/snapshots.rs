//! Visual snapshots of an app: what a build looks like, and how it differs from the one before.

use serde::Deserialize;

use super::Client;
use super::attachments::Download;
use super::error::Error;
use super::lenient::{field, id, list, optional_id};

/// A snapshot and its comparison.
#[derive(Debug, Clone, Deserialize)]
pub struct Snapshot {
    /// The id of the build that is looked at.
    #[serde(deserialize_with = "id")]
    pub head_artifact_id: String,
    /// The id of the build it is compared with.
    #[serde(default, deserialize_with = "optional_id")]
    pub base_artifact_id: Option<String>,
    /// The project's numeric id, as text.
    #[serde(default, deserialize_with = "optional_id")]
    pub project_id: Option<String>,
    /// The app, as in `com.example.app`.
    #[serde(default, deserialize_with = "field")]
    pub app_id: Option<String>,
    /// `solo` or `diff`.
    #[serde(default, deserialize_with = "field")]
    pub comparison_type: Option<String>,
    /// How far the build is processed.
    #[serde(default, deserialize_with = "field")]
    pub state: Option<String>,
    /// How far the comparison is.
    #[serde(default, deserialize_with = "field")]
    pub comparison_state: Option<String>,
    /// Whether somebody has accepted the differences.
    #[serde(default, deserialize_with = "field")]
    pub approval_status: Option<String>,
    /// Where the build comes from.
    #[serde(default, deserialize_with = "field")]
    pub vcs_info: VcsInfo,
    /// All images; given for a snapshot that is compared with nothing.
    #[serde(default, deserialize_with = "list")]
    pub images: Vec<Image>,
    /// How many images there are.
    #[serde(default, deserialize_with = "field")]
    pub image_count: Option<u64>,
    /// Images that look different.
    #[serde(default, deserialize_with = "list")]
    pub changed: Vec<ImagePair>,
    /// How many look different.
    #[serde(default, deserialize_with = "field")]
    pub changed_count: Option<u64>,
    /// Images that are new.
    #[serde(default, deserialize_with = "list")]
    pub added: Vec<Image>,
    /// How many are new.
    #[serde(default, deserialize_with = "field")]
    pub added_count: Option<u64>,
    /// Images that are gone.
    #[serde(default, deserialize_with = "list")]
    pub removed: Vec<Image>,
    /// How many are gone.
    #[serde(default, deserialize_with = "field")]
    pub removed_count: Option<u64>,
    /// Images with another name.
    #[serde(default, deserialize_with = "list")]
    pub renamed: Vec<ImagePair>,
    /// How many have another name.
    #[serde(default, deserialize_with = "field")]
    pub renamed_count: Option<u64>,
    /// Images that could not be compared.
    #[serde(default, deserialize_with = "list")]
    pub errored: Vec<ImagePair>,
    /// How many could not be compared.
    #[serde(default, deserialize_with = "field")]
    pub errored_count: Option<u64>,
    /// Images that look the same.
    #[serde(default, deserialize_with = "list")]
    pub unchanged: Vec<Image>,
    /// How many look the same.
    #[serde(default, deserialize_with = "field")]
    pub unchanged_count: Option<u64>,
    /// Images that were left out.
    #[serde(default, deserialize_with = "list")]
    pub skipped: Vec<Image>,
    /// How many were left out.
    #[serde(default, deserialize_with = "field")]
    pub skipped_count: Option<u64>,
}

/// Where a build comes from.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct VcsInfo {
    /// The commit.
    #[serde(deserialize_with = "field")]
    pub head_sha: Option<String>,
    /// The commit it is compared with.
    #[serde(deserialize_with = "field")]
    pub base_sha: Option<String>,
    /// The repository.
    #[serde(deserialize_with = "field")]
    pub head_repo_name: Option<String>,
    /// The branch.
    #[serde(deserialize_with = "field")]
    pub head_ref: Option<String>,
    /// The branch it is compared with.
    #[serde(deserialize_with = "field")]
    pub base_ref: Option<String>,
    /// The pull request.
    #[serde(deserialize_with = "field")]
    pub pr_number: Option<u64>,
}

/// An image of a snapshot.
#[derive(Debug, Clone, Deserialize)]
pub struct Image {
    /// The path that names it.
    pub image_file_name: String,
    /// The name for people.
    #[serde(default, deserialize_with = "field")]
    pub display_name: Option<String>,
    /// Pixels.
    #[serde(default, deserialize_with = "field")]
    pub width: Option<u64>,
    /// Pixels.
    #[serde(default, deserialize_with = "field")]
    pub height: Option<u64>,
    /// What is said about it.
    #[serde(default, deserialize_with = "field")]
    pub description: Option<String>,
    /// Where its bytes are.
    #[serde(default, deserialize_with = "field")]
    pub image_url: Option<String>,
}

/// An image before and after.
#[derive(Debug, Clone, Deserialize)]
pub struct ImagePair {
    /// Before.
    pub base_image: Image,
    /// After.
    pub head_image: Image,
    /// How much of it differs, from 0 to 1.
    #[serde(default, deserialize_with = "field")]
    pub diff: Option<f64>,
}

/// One image with everything that belongs to it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct ImageDetail {
    /// The path that names it.
    #[serde(deserialize_with = "field")]
    pub image_file_name: Option<String>,
    /// `changed`, `added`, …
    #[serde(deserialize_with = "field")]
    pub comparison_status: Option<String>,
    /// After.
    #[serde(deserialize_with = "field")]
    pub head_image: Option<Image>,
    /// Before.
    #[serde(deserialize_with = "field")]
    pub base_image: Option<Image>,
    /// Where the mask of the differences is.
    #[serde(deserialize_with = "field")]
    pub diff_image_url: Option<String>,
    /// How much of it differs, from 0 to 1.
    #[serde(deserialize_with = "field")]
    pub diff_percentage: Option<f64>,
    /// The path that named it before.
    #[serde(deserialize_with = "field")]
    pub previous_image_file_name: Option<String>,
}

/// The newest snapshot of a branch that others are compared with.
#[derive(Debug, Clone, Deserialize)]
pub struct BaseSnapshot {
    /// The id of the build.
    #[serde(deserialize_with = "id")]
    pub head_artifact_id: String,
    /// The slug of its project.
    #[serde(default, deserialize_with = "field")]
    pub project_slug: Option<String>,
    /// The app.
    #[serde(default, deserialize_with = "field")]
    pub app_id: Option<String>,
    /// The platform the app runs on.
    #[serde(default, deserialize_with = "field")]
    pub platform: Option<String>,
    /// How many images there are.
    #[serde(default, deserialize_with = "field")]
    pub image_count: Option<u64>,
    /// The images.
    #[serde(default, deserialize_with = "list")]
    pub images: Vec<Image>,
    /// When it was taken.
    #[serde(default, deserialize_with = "field")]
    pub date_added: Option<String>,
    /// Where the build comes from.
    #[serde(default, deserialize_with = "field")]
    pub vcs_info: VcsInfo,
}

impl Client {
    /// Returns a snapshot and its comparison.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn snapshot(&self, organization: &str, snapshot: &str) -> Result<Snapshot, Error> {
        self.get("/api/0/organizations/{organization}/preprodartifacts/snapshots/{snapshot}/")
            .path("organization", organization)
            .path("snapshot", snapshot)
            .query("compact_metadata", true)
            .entity()
            .await
    }

    /// Returns one image of a snapshot; its path may have several segments.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn snapshot_image(
        &self,
        organization: &str,
        snapshot: &str,
        image: &str,
    ) -> Result<ImageDetail, Error> {
        self.get(
            "/api/0/organizations/{organization}/preprodartifacts/snapshots/{snapshot}/images/{image}/",
        )
        .path("organization", organization)
        .path("snapshot", snapshot)
        .segments("image", image)
        .entity()
        .await
    }

    /// Returns the newest snapshot of an app that others are compared with.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn latest_base_snapshot(
        &self,
        organization: &str,
        app: &str,
        branch: Option<&str>,
        project: Option<&str>,
    ) -> Result<BaseSnapshot, Error> {
        let is_id = project.is_some_and(|it| it.bytes().all(|byte| byte.is_ascii_digit()));
        self.get("/api/0/organizations/{organization}/preprodartifacts/snapshots/latest-base/")
            .path("organization", organization)
            .query("app_id", app)
            .query("branch", branch)
            .query(if is_id { "project" } else { "projectSlug" }, project)
            .query("compact_metadata", true)
            .entity()
            .await
    }

    /// Downloads an image from the project's files, by the key that its address ends with.
    ///
    /// # Errors
    /// A refusal, or no usable answer; also content beyond the transport's limit.
    pub async fn image_file(
        &self,
        organization: &str,
        project: &str,
        key: &str,
    ) -> Result<Download, Error> {
        let response = self
            .get("/api/0/projects/{organization}/{project}/files/images/{key}/")
            .path("organization", organization)
            .path("project", project)
            .path("key", key)
            .send()
            .await?;
        let content_type = response.header("content-type").map(str::to_owned);
        Ok(Download { bytes: response.body, content_type })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Server, json};

    #[tokio::test]
    async fn a_comparison_is_read_without_the_images_that_cannot_be() {
        let body = r#"{"head_artifact_id":7,"vcs_info":null,"changed":[
            {"base_image":{"image_file_name":"a.png"},"head_image":{"image_file_name":"a.png"},"diff":0.5},
            {"base_image":null}],"changed_count":2,"added":"none"}"#;
        let server = Server::start(vec![json(200, body)]).await;
        let snapshot = server.client().snapshot("acme", "7").await.unwrap();
        assert_eq!((snapshot.changed.len(), snapshot.changed_count), (1, Some(2)));
        assert_eq!(snapshot.changed[0].diff, Some(0.5));
        assert!(snapshot.added.is_empty() && snapshot.vcs_info.head_sha.is_none());
    }

    #[tokio::test]
    async fn an_images_path_may_have_several_segments_but_leads_nowhere_else() {
        let server = Server::start(vec![json(200, "{}")]).await;
        let client = server.client();
        client.snapshot_image("acme", "7", "screens/home page.png").await.unwrap();
        assert!(client.snapshot_image("acme", "7", "../8").await.is_err());
        client.latest_base_snapshot("acme", "app", None, Some("web")).await.unwrap_err();
        let base = "GET /api/0/organizations/acme/preprodartifacts/snapshots";
        assert_eq!(
            server.lines(),
            [
                format!("{base}/7/images/screens/home%20page.png/"),
                format!("{base}/latest-base/?app_id=app&projectSlug=web&compact_metadata=true"),
            ]
        );
    }
}
