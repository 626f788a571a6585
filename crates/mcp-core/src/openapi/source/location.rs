//! Where a document is: on the API's own instance, at a URL, or in a file.

use std::path::{Path, PathBuf};

use url::Url;

/// Where an OpenAPI document is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocumentLocation {
    /// On the API's own instance, at this path below its base URL; fetched with the credential.
    Instance {
        /// The path, starting with a slash.
        path: &'static str,
    },
    /// At a URL; the credential is sent along only if it is of the API's own origin.
    Url {
        /// The document's own URL.
        url: Url,
        /// SHA-256 that its bytes must have, in hex.
        sha256: Option<&'static str>,
    },
    /// In a file.
    File(PathBuf),
}

/// A text that is no place of a document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LocationError {
    /// The URL has a scheme that documents are not read from.
    #[error("`{0}:` is not a way to read a document")]
    Scheme(String),
    /// The URL cannot be read.
    #[error("`{0}` is not a URL")]
    Url(String),
    /// The URL holds a user name or password.
    #[error("the URL holds a user name or password")]
    UserInformation,
}

impl DocumentLocation {
    /// Reads a file name, a `file://` URL, or an http or https URL.
    ///
    /// # Errors
    ///
    /// [`LocationError`] for other URLs.
    pub fn parse(text: &str) -> Result<Self, LocationError> {
        let Some((scheme, _)) = text.split_once("://") else {
            return Ok(Self::File(PathBuf::from(text)));
        };
        match scheme.to_ascii_lowercase().as_str() {
            "file" => Ok(Self::File(file_path(text))),
            "http" | "https" => {
                if text.split(['/', '?', '#']).nth(2).is_some_and(|host| host.contains('@')) {
                    return Err(LocationError::UserInformation);
                }
                let url = Url::parse(text).map_err(|_| LocationError::Url(text.to_owned()))?;
                Ok(Self::Url { url, sha256: None })
            }
            _ => Err(LocationError::Scheme(scheme.to_owned())),
        }
    }

    /// A URL whose bytes are known; anything else there is refused.
    pub(crate) fn pinned(url: &str, sha256: &'static str) -> Self {
        match Url::parse(url) {
            Ok(url) => Self::Url { url, sha256: Some(sha256) },
            Err(_) => Self::File(PathBuf::from(url)),
        }
    }

    /// The URL, where the document has one of its own.
    pub fn url(&self) -> Option<&Url> {
        match self {
            Self::Url { url, .. } => Some(url),
            Self::Instance { .. } | Self::File(_) => None,
        }
    }

    /// The file, where the document is in one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Instance { .. } | Self::Url { .. } => None,
        }
    }
}

/// Reads a file name as people give it: plain, or as a `file://` URL.
pub fn file_path(text: &str) -> PathBuf {
    let is_url = text.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("file://"));
    let path = is_url.then(|| Url::parse(text).ok()?.to_file_path().ok()).flatten();
    path.unwrap_or_else(|| PathBuf::from(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_plainly_or_by_url() {
        for (text, path) in [
            ("/tmp/a b & c/spec.json", "/tmp/a b & c/spec.json"),
            ("file:///tmp/a%20b%20%26%20c/spec.json", "/tmp/a b & c/spec.json"),
            ("./spec.yaml", "./spec.yaml"),
            (r"C:\temp\x", r"C:\temp\x"),
        ] {
            let location = DocumentLocation::parse(text).unwrap();
            assert_eq!(location.file(), Some(Path::new(path)), "{text}");
        }
    }

    #[test]
    fn only_http_and_file_urls_are_places_of_documents() {
        let url = DocumentLocation::parse("HTTPS://api.test/openapi.json?v=1").unwrap();
        assert_eq!(url.url().unwrap().as_str(), "https://api.test/openapi.json?v=1");
        for (text, error) in [
            ("ftp://a.test/x", "`ftp:` is not a way to read a document"),
            ("https://u:p@a.test/x", "the URL holds a user name or password"),
            ("https://[::", "`https://[::` is not a URL"),
        ] {
            assert_eq!(DocumentLocation::parse(text).unwrap_err().to_string(), error);
        }
        assert!(DocumentLocation::parse("https://a.test/x?mail=a@b").is_ok());
    }
}
