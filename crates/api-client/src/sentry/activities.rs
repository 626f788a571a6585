//! What happened to an issue, comments among it, and what users wrote about it.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::error::Error;
use super::lenient::{field, id, list};
use super::users::Actor;
use super::{Client, Page};

/// Something that happened to an issue.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Activity {
    /// The numeric id, as text.
    #[serde(deserialize_with = "id")]
    pub id: String,
    /// The kind, as in `set_resolved`.
    #[serde(default, rename = "type", deserialize_with = "field")]
    pub kind: Option<String>,
    /// Who did it; nobody for what Sentry does by itself.
    #[serde(default, deserialize_with = "field")]
    pub user: Option<Actor>,
    /// When.
    #[serde(default, deserialize_with = "field")]
    pub date_created: Option<String>,
    /// What belongs to it; the text of a comment is under `text`.
    #[serde(default, deserialize_with = "field")]
    pub data: Map<String, Value>,
}

#[derive(Debug, Default, Deserialize)]
struct Activities {
    #[serde(default, deserialize_with = "list")]
    activity: Vec<Activity>,
}

/// What a user wrote about an error.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UserReport {
    /// The numeric id, as text.
    #[serde(deserialize_with = "id")]
    pub id: String,
    /// The event it is about.
    #[serde(default, rename = "eventID", deserialize_with = "field")]
    pub event_id: Option<String>,
    /// The user's name.
    #[serde(default, deserialize_with = "field")]
    pub name: Option<String>,
    /// The user's address.
    #[serde(default, deserialize_with = "field")]
    pub email: Option<String>,
    /// The text.
    #[serde(default, deserialize_with = "field")]
    pub comments: Option<String>,
    /// When.
    #[serde(default, deserialize_with = "field")]
    pub date_created: Option<String>,
}

impl Client {
    /// Returns what happened to an issue, newest first.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn issue_activity(
        &self,
        organization: &str,
        issue: &str,
    ) -> Result<Vec<Activity>, Error> {
        let found: Activities = self
            .get("/api/0/organizations/{organization}/issues/{issue}/activities/")
            .path("organization", organization)
            .path("issue", issue)
            .entity()
            .await?;
        Ok(found.activity)
    }

    /// Lists the newest comments on an issue.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn issue_notes(
        &self,
        organization: &str,
        issue: &str,
        per_page: u32,
    ) -> Result<Page<Activity>, Error> {
        let call = self.get(NOTES).path("organization", organization).path("issue", issue);
        call.query("per_page", per_page).page().await
    }

    /// Comments on an issue.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn add_issue_note(
        &self,
        organization: &str,
        issue: &str,
        text: &str,
    ) -> Result<Activity, Error> {
        let call = self.post(NOTES).path("organization", organization).path("issue", issue);
        call.json(&json!({ "text": text })).entity().await
    }

    /// Lists what users wrote about an issue.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn issue_user_reports(
        &self,
        organization: &str,
        issue: &str,
        cursor: Option<&str>,
        per_page: u32,
    ) -> Result<Page<UserReport>, Error> {
        self.get("/api/0/organizations/{organization}/issues/{issue}/user-reports/")
            .path("organization", organization)
            .path("issue", issue)
            .query("cursor", cursor)
            .query("per_page", per_page)
            .page()
            .await
    }
}

const NOTES: &str = "/api/0/organizations/{organization}/issues/{issue}/notes/";

#[cfg(test)]
mod tests {
    use super::super::testing::{Server, json, page};

    #[tokio::test]
    async fn comments_are_added_and_read_among_what_happened() {
        let server = Server::start(vec![
            json(201, r#"{"id":"1","type":"note","data":{"text":"seen"}}"#),
            json(200, r#"{"activity":[{"id":"1","type":"first_seen","user":null},{"type":"x"}]}"#),
            page(r#"[{"id":9,"eventID":"e1","comments":"white","email":null}]"#, Some("1:1:0")),
        ])
        .await;
        let client = server.client();
        let note = client.add_issue_note("acme", "SHOP-7", "seen").await.unwrap();
        assert_eq!(note.data["text"], "seen");
        assert_eq!(client.issue_activity("acme", "SHOP-7").await.unwrap().len(), 1);
        let reports = client.issue_user_reports("acme", "SHOP-7", None, 1).await.unwrap();
        assert_eq!(reports.items[0].event_id.as_deref(), Some("e1"));
        let issue = "/api/0/organizations/acme/issues/SHOP-7/";
        assert_eq!(
            server.lines(),
            [
                format!(r#"POST {issue}notes/ {{"text":"seen"}}"#),
                format!("GET {issue}activities/"),
                format!("GET {issue}user-reports/?per_page=1"),
            ]
        );
    }
}
