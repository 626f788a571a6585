//! Progress of a guided setup that an agent carries out.

use serde::{Deserialize, Serialize};

use super::Client;
use super::error::Error;
use super::lenient::field;

/// One report of progress; what is absent is not sent.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusUpdate<'a> {
    /// Which setup it is.
    pub run_token: &'a str,
    /// Which step of it.
    pub stage: &'a str,
    /// How the step goes.
    pub status: &'a str,
    /// How the whole ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_status: Option<&'a str>,
    /// A sentence for the person who watches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_note: Option<&'a str>,
    /// Projects that were made.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub project_slugs: &'a [String],
    /// Issues that were received.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub issue_ids: &'a [String],
}

/// What Sentry says to a report.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StatusReply {
    /// Whether more reports are wanted.
    #[serde(deserialize_with = "field")]
    pub continue_updates: Option<bool>,
}

impl Client {
    /// Reports progress.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn update_onboarding_status(
        &self,
        organization: &str,
        update: &StatusUpdate<'_>,
    ) -> Result<StatusReply, Error> {
        #[derive(Serialize)]
        struct Body<'a> {
            #[serde(rename = "schemaVersion")]
            schema_version: u32,
            #[serde(flatten)]
            update: &'a StatusUpdate<'a>,
        }
        self.post("/api/0/organizations/{organization}/onboarding/agent/status/")
            .path("organization", organization)
            .json(&Body { schema_version: 1, update })
            .entity()
            .await
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Server, json};
    use super::*;

    #[tokio::test]
    async fn empty_parts_of_a_report_are_left_out() {
        let server = Server::start(vec![json(200, r#"{"continueUpdates":false}"#)]).await;
        let update = StatusUpdate {
            run_token: "aB3dE5gH7j",
            stage: "create_project",
            status: "completed",
            run_status: None,
            event_note: None,
            project_slugs: &["web".to_owned()],
            issue_ids: &[],
        };
        let reply = server.client().update_onboarding_status("acme", &update).await.unwrap();
        assert_eq!(reply.continue_updates, Some(false));
        let sent = r#"{"schemaVersion":1,"runToken":"aB3dE5gH7j","stage":"create_project","status":"completed","projectSlugs":["web"]}"#;
        assert_eq!(
            server.lines(),
            [format!("POST /api/0/organizations/acme/onboarding/agent/status/ {sent}")]
        );
    }
}
