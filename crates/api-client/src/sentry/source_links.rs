//! Where a stack frame is in a repository.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::Client;
use super::error::Error;
use super::lenient::field;

/// What is known of a frame.
#[derive(Debug, Clone, Copy, Default)]
pub struct FramePlace<'a> {
    /// The file, as the SDK names it.
    pub file: &'a str,
    /// The SDK's platform.
    pub platform: Option<&'a str>,
    /// The line.
    pub line: Option<u64>,
    /// The file on the machine it ran on.
    pub abs_path: Option<&'a str>,
    /// The module.
    pub module: Option<&'a str>,
    /// The package.
    pub package: Option<&'a str>,
    /// The commit that was built.
    pub commit: Option<&'a str>,
    /// The issue.
    pub group: Option<&'a str>,
    /// The SDK.
    pub sdk: Option<&'a str>,
}

/// A place in a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLink {
    /// Where people read it.
    pub url: String,
    /// The repository.
    pub repository: String,
    /// The file in it.
    pub path: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    #[serde(default, deserialize_with = "field")]
    source_url: Option<String>,
    #[serde(default, deserialize_with = "field")]
    source_path: Option<String>,
    #[serde(default, deserialize_with = "field")]
    config: Map<String, Value>,
}

impl Answer {
    fn link(self) -> Option<SourceLink> {
        let of_config = |key: &str| self.config.get(key).and_then(Value::as_str).map(str::to_owned);
        let path = self.source_path.or_else(|| of_config("sourcePath"))?;
        Some(SourceLink { url: self.source_url?, repository: of_config("repoName")?, path })
    }
}

impl Client {
    /// Finds a frame in the repositories that are linked to a project; nothing where it is in none.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn source_link(
        &self,
        organization: &str,
        project: &str,
        place: &FramePlace<'_>,
    ) -> Result<Option<SourceLink>, Error> {
        let answer: Answer = self
            .get("/api/0/projects/{organization}/{project}/stacktrace-link/")
            .path("organization", organization)
            .path("project", project)
            .query("file", place.file)
            .query("platform", place.platform)
            .query("lineNo", place.line)
            .query("absPath", place.abs_path)
            .query("module", place.module)
            .query("package", place.package)
            .query("commitId", place.commit)
            .query("groupId", place.group)
            .query("sdkName", place.sdk)
            .entity()
            .await?;
        Ok(answer.link())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Server, json};
    use super::*;

    #[tokio::test]
    async fn a_link_needs_an_address_a_repository_and_a_path() {
        let whole = r#"{"sourceUrl":"https://git.test/a/b/x.py#L4","sourcePath":"b/x.py","config":{"repoName":"a/b"}}"#;
        let server = Server::start(vec![
            json(200, whole),
            json(200, r#"{"sourceUrl":null,"config":null,"error":"file_not_found"}"#),
        ])
        .await;
        let client = server.client();
        let place = FramePlace { file: "b/x.py", line: Some(4), ..FramePlace::default() };
        let link = client.source_link("acme", "web", &place).await.unwrap().unwrap();
        assert_eq!((link.repository.as_str(), link.path.as_str()), ("a/b", "b/x.py"));
        assert_eq!(client.source_link("acme", "web", &place).await.unwrap(), None);
        let line = "GET /api/0/projects/acme/web/stacktrace-link/?file=b%2Fx.py&lineNo=4";
        assert_eq!(server.lines(), [line, line]);
    }
}
