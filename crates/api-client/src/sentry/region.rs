//! Which host serves an organization, and whether it may be given the credential.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use url::Url;

use super::Client;
use super::error::Error;

/// The hosted service: the control plane and, below it, the regions.
const HOSTED: &str = "sentry.io";
/// The regions that a caller may name; Sentry itself may name any other below its domain.
const NAMED: &[&str] = &["sentry.io", "us.sentry.io", "de.sentry.io"];

/// Why a host is not trusted with the credential.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegionError {
    /// The text is no URL of a host.
    #[error("`{0}` is no region: give a URL such as `https://us.sentry.io`")]
    NotAUrl(String),
    /// The host belongs to someone else.
    #[error("the region `{region}` does not belong to `{configured}`")]
    Foreign {
        /// The origin that was named.
        region: String,
        /// The host that the operator named.
        configured: String,
    },
}

/// Checks a region that a caller names: the configured host or a known region of the hosted service.
///
/// # Errors
/// No URL, or a host of someone else.
pub fn named(configured: &Url, region: &str) -> Result<Url, RegionError> {
    let region = parsed(region)?;
    let known = is_hosted(configured)
        && is_plain_https(&region)
        && region.host_str().is_some_and(|host| NAMED.contains(&host));
    if known || region.origin() == configured.origin() {
        return Ok(region);
    }
    Err(foreign(configured, &region))
}

/// Checks a region that Sentry names: the configured origin, or a host of the same domain.
///
/// # Errors
/// No URL, or a host of someone else.
pub fn answered(configured: &Url, region: &str) -> Result<Url, RegionError> {
    let region = parsed(region)?;
    let host = configured.host_str().unwrap_or_default();
    let domain = if is_hosted(configured) { HOSTED } else { host };
    let same_domain = is_below(region.host_str().unwrap_or_default(), domain)
        && region.scheme() == configured.scheme()
        && region.port_or_known_default() == configured.port_or_known_default();
    if region.origin() == configured.origin() || same_domain {
        return Ok(region);
    }
    Err(foreign(configured, &region))
}

/// Whether this is the hosted service rather than somebody's own installation.
#[must_use]
pub fn is_hosted(host: &Url) -> bool {
    is_plain_https(host) && host.host_str().is_some_and(|host| is_below(host, HOSTED))
}

/// The host that knows users and regions, which regions do not.
pub(super) fn control(host: &Url) -> Option<Url> {
    if !is_hosted(host) || host.host_str() == Some(HOSTED) {
        return None;
    }
    let mut control = host.clone();
    control.set_host(Some(HOSTED)).ok()?;
    Some(control)
}

fn is_below(host: &str, domain: &str) -> bool {
    let below = host.strip_suffix(domain);
    !domain.is_empty() && below.is_some_and(|label| label.is_empty() || label.ends_with('.'))
}

fn is_plain_https(url: &Url) -> bool {
    url.scheme() == "https" && url.port().is_none()
}

/// The bare origin of a region's URL.
fn parsed(region: &str) -> Result<Url, RegionError> {
    let refuse = || RegionError::NotAUrl(region.chars().take(100).collect());
    let url = Url::parse(region.trim()).map_err(|_| refuse())?;
    let is_bare = url.username().is_empty() && url.password().is_none();
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() || !is_bare {
        return Err(refuse());
    }
    Url::parse(&url.origin().ascii_serialization()).map_err(|_| refuse())
}

fn foreign(configured: &Url, region: &Url) -> RegionError {
    RegionError::Foreign {
        region: region.origin().ascii_serialization(),
        configured: configured.host_str().unwrap_or_default().to_owned(),
    }
}

/// The regions that were looked up, by organization. To be shared by whoever uses one credential.
#[derive(Debug, Default)]
pub struct Regions(Mutex<HashMap<String, Option<Url>>>);

impl Regions {
    /// Returns the host of an organization, asking Sentry the first time; `None` is the configured
    /// one. A failed look-up is not remembered.
    ///
    /// # Errors
    /// No organization of that name, no answer, or a host of someone else.
    pub async fn of(&self, client: &Client, organization: &str) -> Result<Option<Url>, Error> {
        if let Some(known) = self.known(organization) {
            return Ok(known);
        }
        let found = client.organization(organization).await?;
        let region = match found.region_url() {
            Some(region) => Some(answered(client.base_url(), region)?),
            None => None,
        };
        let region = region.filter(|region| region.origin() != client.base_url().origin());
        self.lock().insert(organization.to_owned(), region.clone());
        Ok(region)
    }

    fn known(&self, organization: &str) -> Option<Option<Url>> {
        self.lock().get(organization).cloned()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Option<Url>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Server, json};
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn a_caller_may_name_the_configured_host_and_known_regions() {
        let hosted = url("https://sentry.io");
        for region in ["https://us.sentry.io", "https://de.sentry.io/", "https://sentry.io/api/0/"]
        {
            assert!(named(&hosted, region).is_ok(), "{region}");
        }
        for region in [
            "https://status.sentry.io",
            "https://us.sentry.io.evil.test",
            "https://evilsentry.io",
            "http://us.sentry.io",
            "https://us.sentry.io:8443",
            "https://user:pw@us.sentry.io",
            "us.sentry.io",
            "ftp://us.sentry.io",
            "",
        ] {
            assert!(named(&hosted, region).is_err(), "{region}");
        }
        let own = url("http://127.0.0.1:9000/sentry");
        assert_eq!(named(&own, "http://127.0.0.1:9000"), Ok(url("http://127.0.0.1:9000")));
        assert!(named(&own, "https://us.sentry.io").is_err());
        assert!(named(&own, "http://127.0.0.1:9001").is_err());
    }

    #[test]
    fn sentry_may_name_any_host_of_the_configured_domain() {
        for (configured, region) in [
            ("https://sentry.io", "https://us2.sentry.io"),
            ("https://us.sentry.io", "https://de.sentry.io"),
            ("https://sentry.example.com", "https://eu.sentry.example.com"),
            ("http://127.0.0.1:9000", "http://127.0.0.1:9000"),
        ] {
            assert_eq!(answered(&url(configured), region), Ok(url(region)), "{region}");
        }
        for (configured, region) in [
            ("https://sentry.io", "https://notsentry.io"),
            ("https://sentry.io", "http://us.sentry.io"),
            ("https://sentry.example.com", "https://example.com"),
            ("http://127.0.0.1:9000", "http://127.0.0.1:9001"),
        ] {
            assert!(answered(&url(configured), region).is_err(), "{region}");
        }
    }

    #[test]
    fn users_are_known_to_the_control_host_alone() {
        assert_eq!(control(&url("https://us.sentry.io")), Some(url("https://sentry.io")));
        assert_eq!(control(&url("https://sentry.io")), None);
        assert_eq!(control(&url("https://sentry.example.com")), None);
    }

    #[tokio::test]
    async fn a_region_is_asked_for_once_and_a_foreign_one_is_refused() {
        let server = Server::start(vec![
            json(200, r#"{"slug":"far","links":{"regionUrl":"https://elsewhere.test"}}"#),
            json(200, r#"{"slug":"near","links":{}}"#),
        ])
        .await;
        let regions = Regions::default();
        let error = regions.of(&server.client(), "far").await.unwrap_err();
        assert!(error.to_string().contains("https://elsewhere.test"), "{error}");
        for _ in 0..2 {
            assert_eq!(regions.of(&server.client(), "near").await.unwrap(), None);
        }
        assert_eq!(
            server.lines(),
            ["GET /api/0/organizations/far/", "GET /api/0/organizations/near/"]
        );
    }
}
