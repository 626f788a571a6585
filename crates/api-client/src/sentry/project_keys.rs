//! Client keys of a project: what an SDK sends its events with (DSN).

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Client;
use super::error::Error;
use super::lenient::{field, id};

/// A client key.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProjectKey {
    /// The id: 32 hexadecimal digits.
    #[serde(deserialize_with = "id")]
    pub id: String,
    /// The name for people.
    #[serde(default, deserialize_with = "field")]
    pub name: Option<String>,
    /// Whether events sent with it are taken.
    #[serde(default, deserialize_with = "field")]
    pub is_active: Option<bool>,
    /// The addresses events go to.
    #[serde(default, deserialize_with = "field")]
    pub dsn: Dsn,
    /// How many events are taken in a time.
    #[serde(default, deserialize_with = "field")]
    pub rate_limit: Option<RateLimit>,
    /// The version of the browser SDK the loader hands out.
    #[serde(default, deserialize_with = "field")]
    pub browser_sdk_version: Option<String>,
    /// What the loader switches on.
    #[serde(default, deserialize_with = "field")]
    pub dynamic_sdk_loader_options: LoaderOptions,
}

/// The addresses of a key. The deprecated secret one is not read.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Dsn {
    /// What goes into an SDK's configuration.
    #[serde(default, deserialize_with = "field")]
    pub public: Option<String>,
}

/// At most `count` events in `window` seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RateLimit {
    /// Seconds.
    pub window: u64,
    /// Events.
    pub count: u64,
}

/// What the loader of the browser SDK switches on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LoaderOptions {
    /// Session replay.
    #[serde(deserialize_with = "field", skip_serializing_if = "Option::is_none")]
    pub has_replay: Option<bool>,
    /// Tracing.
    #[serde(deserialize_with = "field", skip_serializing_if = "Option::is_none")]
    pub has_performance: Option<bool>,
    /// The unminified bundle.
    #[serde(deserialize_with = "field", skip_serializing_if = "Option::is_none")]
    pub has_debug: Option<bool>,
    /// The feedback form.
    #[serde(deserialize_with = "field", skip_serializing_if = "Option::is_none")]
    pub has_feedback: Option<bool>,
    /// Logs and metrics.
    #[serde(deserialize_with = "field", skip_serializing_if = "Option::is_none")]
    pub has_logs_and_metrics: Option<bool>,
}

/// What changes of a key; what is absent stays.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyChanges<'a> {
    /// The name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<&'a str>,
    /// Whether events sent with it are taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_active: Option<bool>,
    /// `Some(None)` lifts the limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_limit: Option<Option<RateLimit>>,
    /// The version of the browser SDK.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub browser_sdk_version: Option<&'a str>,
    /// What the loader switches on or off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dynamic_sdk_loader_options: Option<LoaderOptions>,
}

impl Client {
    /// Lists the first keys of a project, up to a hundred.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn list_keys(
        &self,
        organization: &str,
        project: &str,
    ) -> Result<super::Page<ProjectKey>, Error> {
        let call = self.get(KEYS).path("organization", organization).path("project", project);
        call.page().await
    }

    /// Makes a key.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn create_key(
        &self,
        organization: &str,
        project: &str,
        name: &str,
    ) -> Result<ProjectKey, Error> {
        let call = self.post(KEYS).path("organization", organization).path("project", project);
        call.json(&json!({ "name": name })).entity().await
    }

    /// Changes a key.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn update_key(
        &self,
        organization: &str,
        project: &str,
        key: &str,
        changes: &KeyChanges<'_>,
    ) -> Result<ProjectKey, Error> {
        self.put("/api/0/projects/{organization}/{project}/keys/{key}/")
            .path("organization", organization)
            .path("project", project)
            .path("key", key)
            .json(changes)
            .entity()
            .await
    }
}

const KEYS: &str = "/api/0/projects/{organization}/{project}/keys/";

#[cfg(test)]
mod tests {
    use super::super::testing::{Server, json};
    use super::*;

    const KEY: &str = r#"{"id":"60120449b6b1d5e45f75561e6dabd80b","name":"Default","isActive":true,
        "rateLimit":null,"dsn":{"public":"https://a@o1.ingest.sentry.test/1","secret":"https://a:b@c"},
        "dynamicSdkLoaderOptions":{"hasReplay":true,"hasDebug":"no"}}"#;

    #[tokio::test]
    async fn keys_are_read_without_their_secret() {
        let server =
            Server::start(vec![json(200, &format!("[{KEY},{{\"id\":\"b\",\"dsn\":null}}]"))]).await;
        let keys = server.client().list_keys("acme", "web").await.unwrap().items;
        assert_eq!(keys[0].dsn.public.as_deref(), Some("https://a@o1.ingest.sentry.test/1"));
        assert!(!format!("{keys:?}").contains("a:b@c"));
        assert_eq!(keys[0].dynamic_sdk_loader_options.has_replay, Some(true));
        assert_eq!(keys[0].dynamic_sdk_loader_options.has_debug, None);
        assert_eq!((keys[1].dsn.public.as_deref(), keys[1].is_active), (None, None));
    }

    #[tokio::test]
    async fn a_limit_can_be_set_and_lifted() {
        let server = Server::start(vec![json(200, KEY)]).await;
        let client = server.client();
        for rate_limit in [Some(RateLimit { window: 60, count: 10 }), None] {
            let changes = KeyChanges { rate_limit: Some(rate_limit), ..KeyChanges::default() };
            client.update_key("acme", "web", "k", &changes).await.unwrap();
        }
        let options = LoaderOptions { has_replay: Some(false), ..LoaderOptions::default() };
        let changes =
            KeyChanges { dynamic_sdk_loader_options: Some(options), ..KeyChanges::default() };
        client.update_key("acme", "web", "k", &changes).await.unwrap();
        let line = "PUT /api/0/projects/acme/web/keys/k/";
        assert_eq!(
            server.lines(),
            [
                format!(r#"{line} {{"rateLimit":{{"window":60,"count":10}}}}"#),
                format!(r#"{line} {{"rateLimit":null}}"#),
                format!(r#"{line} {{"dynamicSdkLoaderOptions":{{"hasReplay":false}}}}"#),
            ]
        );
    }
}
