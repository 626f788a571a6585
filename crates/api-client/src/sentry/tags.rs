//! What events can be searched by: tags, and attributes of spans, logs and metrics.

use serde::Deserialize;

use super::error::Error;
use super::lenient::field;
use super::time::TimeRange;
use super::{Client, Page};

/// A tag of an organization's events.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TagKey {
    /// The key in queries.
    pub key: String,
    /// The name for people.
    #[serde(default, deserialize_with = "field")]
    pub name: Option<String>,
    /// How many events have it.
    #[serde(default, deserialize_with = "field")]
    pub total_values: Option<u64>,
}

/// An attribute of spans, logs or metrics.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attribute {
    /// The key in queries.
    pub key: String,
    /// The name for people.
    #[serde(default, deserialize_with = "field")]
    pub name: Option<String>,
    /// `string`, `number` or `boolean`, where Sentry says so.
    #[serde(default, deserialize_with = "field")]
    pub attribute_type: Option<String>,
}

/// Which attributes.
#[derive(Debug, Clone, Copy)]
pub struct AttributeList<'a> {
    /// `spans`, `logs` or `tracemetrics`.
    pub item_type: &'a str,
    /// Text that the key holds.
    pub substring: Option<&'a str>,
    /// The project's numeric id.
    pub project: Option<&'a str>,
    /// The time they were seen in.
    pub time: &'a TimeRange,
}

impl Client {
    /// Lists the tags of a data set: `events` for errors, `search_issues` for issues.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn list_tags(
        &self,
        organization: &str,
        dataset: &str,
        project: Option<&str>,
        time: &TimeRange,
    ) -> Result<Page<TagKey>, Error> {
        let call = self
            .get("/api/0/organizations/{organization}/tags/")
            .path("organization", organization)
            .query("dataset", dataset)
            .query("project", project)
            .query("useCache", 1)
            .query("useFlagsBackend", 1);
        time.apply(call).page().await
    }

    /// Lists attributes of spans, logs or metrics.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn list_attributes(
        &self,
        organization: &str,
        list: &AttributeList<'_>,
    ) -> Result<Page<Attribute>, Error> {
        let call = self
            .get("/api/0/organizations/{organization}/trace-items/attributes/")
            .path("organization", organization)
            .query("itemType", list.item_type)
            .query("substringMatch", list.substring)
            .query("project", list.project);
        list.time.apply(call).page().await
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Server, page};
    use super::*;

    #[tokio::test]
    async fn tags_and_attributes_are_listed() {
        let server = Server::start(vec![
            page(r#"[{"key":"url","totalValues":"x"}]"#, None),
            page(r#"[{"key":"span.op","name":"span.op","attributeType":"string"}]"#, None),
        ])
        .await;
        let client = server.client();
        let time = TimeRange::Last("14d".to_owned());
        let tags = client.list_tags("acme", "events", None, &time).await.unwrap().items;
        assert_eq!((tags[0].key.as_str(), tags[0].total_values), ("url", None));
        let list =
            AttributeList { item_type: "spans", substring: None, project: Some("7"), time: &time };
        let found = client.list_attributes("acme", &list).await.unwrap().items;
        assert_eq!(found[0].attribute_type.as_deref(), Some("string"));
        assert_eq!(
            server.lines(),
            [
                "GET /api/0/organizations/acme/tags/\
                 ?dataset=events&useCache=1&useFlagsBackend=1&statsPeriod=14d",
                "GET /api/0/organizations/acme/trace-items/attributes/\
                 ?itemType=spans&project=7&statsPeriod=14d",
            ]
        );
    }
}
