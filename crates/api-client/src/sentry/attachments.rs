//! Files that came with an event.

use bytes::Bytes;
use serde::Deserialize;

use super::error::Error;
use super::lenient::{field, id};
use super::{Client, Page};

/// A file that came with an event.
#[derive(Debug, Clone, Deserialize)]
pub struct Attachment {
    /// The numeric id, as text.
    #[serde(deserialize_with = "id")]
    pub id: String,
    /// The file's name, chosen by whoever sent it.
    #[serde(default, deserialize_with = "field")]
    pub name: Option<String>,
    /// The kind, as in `event.attachment` or `event.view_hierarchy`.
    #[serde(default, rename = "type", deserialize_with = "field")]
    pub kind: Option<String>,
    /// The MIME type it was sent with.
    #[serde(default, deserialize_with = "field")]
    pub mimetype: Option<String>,
    /// Bytes.
    #[serde(default, deserialize_with = "field")]
    pub size: Option<u64>,
    /// The hash of its content.
    #[serde(default, deserialize_with = "field")]
    pub sha1: Option<String>,
    /// When it came.
    #[serde(default, rename = "dateCreated", deserialize_with = "field")]
    pub date_created: Option<String>,
}

/// Content as it was downloaded.
#[derive(Debug, Clone)]
pub struct Download {
    /// The content.
    pub bytes: Bytes,
    /// The `Content-Type` header.
    pub content_type: Option<String>,
}

impl Client {
    /// Lists the first hundred attachments of an event.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn list_attachments(
        &self,
        organization: &str,
        project: &str,
        event: &str,
    ) -> Result<Page<Attachment>, Error> {
        self.get("/api/0/projects/{organization}/{project}/events/{event}/attachments/")
            .path("organization", organization)
            .path("project", project)
            .path("event", event)
            .page()
            .await
    }

    /// Downloads an attachment.
    ///
    /// # Errors
    /// A refusal, or no usable answer; also content beyond the transport's limit.
    pub async fn attachment(
        &self,
        organization: &str,
        project: &str,
        event: &str,
        attachment: &str,
    ) -> Result<Download, Error> {
        let response = self
            .get(
                "/api/0/projects/{organization}/{project}/events/{event}/attachments/{attachment}/",
            )
            .path("organization", organization)
            .path("project", project)
            .path("event", event)
            .path("attachment", attachment)
            .query("download", 1)
            .send()
            .await?;
        let content_type = response.header("content-type").map(str::to_owned);
        Ok(Download { bytes: response.body, content_type })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Server, page, with_headers};

    #[tokio::test]
    async fn bytes_come_as_they_are_with_their_type() {
        let list = r#"[{"id":"9","name":"log.txt","mimetype":"text/plain","size":"big"}]"#;
        let server = Server::start(vec![
            page(list, None),
            with_headers(200, "content-type: image/png\r\n", &[0x89, 0, 0xff]),
        ])
        .await;
        let client = server.client();
        let list = client.list_attachments("acme", "web", "e1").await.unwrap().items;
        assert_eq!((list[0].name.as_deref(), list[0].size), (Some("log.txt"), None));
        let file = client.attachment("acme", "web", "e1", "9").await.unwrap();
        assert_eq!(
            (&file.bytes[..], file.content_type.as_deref()),
            (&[0x89, 0, 0xff][..], Some("image/png"))
        );
        assert_eq!(
            server.lines(),
            [
                "GET /api/0/projects/acme/web/events/e1/attachments/",
                "GET /api/0/projects/acme/web/events/e1/attachments/9/?download=1",
            ]
        );
    }
}
