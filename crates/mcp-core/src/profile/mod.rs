//! What differs between APIs, as data: names, where the document is, what is a read, whom to trust.

mod authentik;
mod custom;
mod sentry;

use url::Url;

pub use self::custom::InvalidName;
use crate::{code_mode::policy::glob, openapi::source::DocumentLocation};

/// Everything the server knows about one API that its OpenAPI document does not say.
#[derive(Debug, Clone)]
pub struct Profile {
    /// Which of the known APIs this is.
    pub kind: Kind,
    /// What people call the API, used in descriptions and messages.
    pub title: String,
    /// The name the MCP server gives itself.
    pub server_name: String,
    /// The API's own name inside scripts, beside `api`.
    pub binding: String,
    /// The base URL when the operator names none.
    pub default_base: Option<&'static str>,
    /// The path that all requests start with; `None` when only the document knows it.
    pub base_path: Option<&'static str>,
    /// What people paste after the host although it is known already, the longest first.
    pub pasted_paths: &'static [&'static str],
    /// Where the OpenAPI document is.
    pub document: DocumentLocation,
    /// The setting that holds the credential, as messages about a refused one name it.
    pub credential_setting: Option<String>,
    /// Values for variables in the document's server URL, by name.
    pub server_variables: &'static [(&'static str, &'static str)],
    /// Operations that only read although their method or name says otherwise, as
    /// `METHOD /template`.
    pub reads: Vec<String>,
    /// Whose words the results may hold.
    pub trust: Trust,
    /// Paths, with `*` for anything, whose results outsiders can write whatever [`Self::trust`] says.
    pub untrusted: Vec<String>,
    /// Whether the API takes a body field in camelCase or snake_case alike.
    pub either_spelling: bool,
    /// Hosts of the public service: plain `http` to them is refused, and a credential for one of
    /// them may go to the others.
    pub public_hosts: &'static [&'static str],
    /// How requests find the part of the public service that keeps an organization's data.
    pub regions: Option<Regions>,
    /// One worked example for tool descriptions.
    pub example: Example,
}

/// A public service that keeps each organization's data in one region, on a host of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Regions {
    /// Path parameters that name an organization.
    pub parameters: &'static [&'static str],
    /// The operation that describes one; its one parameter is the organization.
    pub lookup: &'static str,
    /// Where its answer names the region's address, as a JSON pointer.
    pub pointer: &'static str,
}

/// The APIs the server knows something about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Sentry, hosted or self-hosted.
    Sentry,
    /// An authentik instance.
    Authentik,
    /// Any other API with an OpenAPI document.
    Custom,
}

/// Which results may hold text written by people the operator does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// Nobody said: every result may.
    Unknown,
    /// The operator vouches for everything the API returns.
    Trusted,
    /// Results of operations whose path holds one of these runs of segments, such as `/events/`.
    Outsiders(&'static [&'static str]),
}

/// A worked example for tool descriptions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// A script that reads a few things completely and returns little.
    pub code: String,
}

impl Profile {
    /// Returns the profile under another name, for scripts to tell two of a kind apart.
    ///
    /// # Errors
    ///
    /// [`InvalidName`] when the name is not usable as an identifier.
    pub fn named(mut self, name: &str) -> Result<Self, InvalidName> {
        custom::check_name(name)?;
        let call = format!("{}.", self.binding);
        self.example.code = self.example.code.replace(&call, &format!("{name}."));
        self.title = format!("{} {name}", self.title);
        name.clone_into(&mut self.binding);
        Ok(self)
    }

    /// Returns the base URL of requests for the URL that the operator gave.
    ///
    /// It has no trailing slash, query or fragment. A prefix that is there already is not added
    /// again, so `https://id.example.com` and `https://id.example.com/api/v3/` are the same base.
    /// Where only the document knows the prefix, see [`Self::prefix`].
    pub fn base_url(&self, given: &Url) -> Url {
        let path = given.path().trim_end_matches('/');
        let pasted = self.pasted_paths.iter().find_map(|pasted| path.strip_suffix(pasted));
        let root = pasted.unwrap_or(path);
        with_path(given, &format!("{root}{}", self.base_path.unwrap_or_default()))
    }

    /// Returns what stands between `base` and a path of the document, once the document's own
    /// server URL or path is known: empty, or a path such as `/api`.
    ///
    /// A base with a path is taken at its word; a bare host gets the path of the document's server.
    pub fn prefix(&self, base: &Url, server: &str) -> String {
        if self.base_path.is_some() || base.path() != "/" {
            return String::new();
        }
        base.join(server)
            .map(|server| server.path().trim_end_matches('/').to_owned())
            .unwrap_or_default()
    }

    /// Tells whether outsiders can write what an operation of this path template returns.
    pub fn outsiders_write(&self, template: &str) -> bool {
        if self.untrusted.iter().any(|path| glob(path, template)) {
            return true;
        }
        match &self.trust {
            Trust::Unknown => true,
            Trust::Trusted => false,
            Trust::Outsiders(runs) => {
                let path = format!("{}/", template.trim_end_matches('/'));
                runs.iter().any(|run| path.contains(run))
            }
        }
    }

    /// Tells whether `METHOD /template` is marked as a read.
    pub fn is_marked_read(&self, method: &str, template: &str) -> bool {
        self.reads.iter().any(|mark| {
            mark.split_once(' ')
                .is_some_and(|(m, path)| m.eq_ignore_ascii_case(method) && path == template)
        })
    }

    /// Tells whether a host belongs to the public service, where plain `http` is refused.
    pub fn is_public_host(&self, host: &str) -> bool {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        self.public_hosts.iter().any(|public| {
            host.strip_suffix(public).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        })
    }

    /// Returns the other origins that may see the credential of `base`: the public service's own.
    pub fn sibling_origins(&self, base: &Url) -> Vec<Url> {
        let Some(host) = base.host_str().filter(|host| self.public_hosts.contains(host)) else {
            return Vec::new();
        };
        let siblings = self.public_hosts.iter().filter(|public| **public != host);
        siblings.filter_map(|public| Url::parse(&format!("https://{public}")).ok()).collect()
    }
}

fn with_path(url: &Url, path: &str) -> Url {
    let mut url = url.clone();
    url.set_path(path);
    url.set_query(None);
    url.set_fragment(None);
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn custom() -> Profile {
        Profile::custom(None, DocumentLocation::parse("openapi.json").unwrap()).unwrap()
    }

    #[test]
    fn a_prefix_that_is_there_is_not_added_again() {
        let cases = [
            (Profile::authentik(), "https://id.test", "https://id.test/api/v3"),
            (Profile::authentik(), "https://id.test/", "https://id.test/api/v3"),
            (Profile::authentik(), "https://id.test/api", "https://id.test/api/v3"),
            (Profile::authentik(), "https://id.test/api/v3/", "https://id.test/api/v3"),
            (Profile::authentik(), "https://x.test/auth/?a=1#b", "https://x.test/auth/api/v3"),
            (Profile::sentry(), "https://sentry.test:9443/", "https://sentry.test:9443/"),
            (Profile::sentry(), "https://sentry.test:9443/api/0/", "https://sentry.test:9443/"),
            (Profile::sentry(), "https://x.test/sub/api/0", "https://x.test/sub"),
            (custom(), "https://x.test/v1/", "https://x.test/v1"),
        ];
        for (profile, given, expected) in cases {
            assert_eq!(profile.base_url(&url(given)).as_str(), expected, "{given}");
        }
    }

    #[test]
    fn a_bare_host_gets_the_path_of_the_documents_server_and_only_that() {
        let cases = [
            ("https://x.test", "/api", "/api"),
            ("https://x.test/api", "/api", ""),
            ("https://x.test/gateway", "/api", ""),
            ("https://x.test", "https://other.test/v1/", "/v1"),
            ("https://x.test", "/", ""),
            ("https://x.test", "https://[bad", ""),
        ];
        for (base, server, expected) in cases {
            assert_eq!(custom().prefix(&url(base), server), expected, "{base} with {server}");
        }
        let base = url("https://id.test");
        assert_eq!(Profile::authentik().prefix(&base, "/other"), "");
    }

    #[test]
    fn the_credential_of_the_public_service_may_go_to_its_regions_and_nowhere_else() {
        let sentry = Profile::sentry();
        let origins = sentry.sibling_origins(&url("https://sentry.io"));
        let origins: Vec<_> = origins.iter().map(Url::as_str).collect();
        assert_eq!(origins, ["https://us.sentry.io/", "https://de.sentry.io/"]);
        assert!(sentry.sibling_origins(&url("https://sentry.test")).is_empty());
        assert!(sentry.sibling_origins(&url("https://evil.sentry.io")).is_empty());
    }

    #[test]
    fn subdomains_of_a_public_host_are_public_and_lookalikes_are_not() {
        let sentry = Profile::sentry();
        for host in ["sentry.io", "SENTRY.IO", "sentry.io.", "acme.sentry.io", "us.sentry.io"] {
            assert!(sentry.is_public_host(host), "{host}");
        }
        for host in ["notsentry.io", "sentry.io.test", "localhost"] {
            assert!(!sentry.is_public_host(host), "{host}");
        }
    }

    #[test]
    fn results_of_an_unknown_api_are_marked_unless_the_operator_vouches() {
        let mut profile = custom();
        assert!(profile.outsiders_write("/anything"));
        profile.trust = Trust::Trusted;
        assert!(!profile.outsiders_write("/anything"));
        profile.untrusted = vec!["/comments/*".to_owned()];
        assert!(profile.outsiders_write("/comments/{id}"));
        assert!(!profile.outsiders_write("/anything"));
    }

    #[test]
    fn a_second_instance_has_a_name_of_its_own_in_its_example_too() {
        let test = Profile::authentik().named("ak_test").unwrap();
        assert_eq!((test.binding.as_str(), test.title.as_str()), ("ak_test", "authentik ak_test"));
        assert!(test.example.code.contains("await ak_test.paginate("), "{}", test.example.code);
        assert!(Profile::authentik().named("my-ak").is_err());
    }

    #[test]
    fn a_read_mark_is_a_method_and_a_whole_template() {
        let mut profile = custom();
        profile.reads = vec!["POST /search".to_owned()];
        assert!(profile.is_marked_read("post", "/search"));
        assert!(!profile.is_marked_read("PUT", "/search"));
        assert!(!profile.is_marked_read("POST", "/search/all"));
    }

    #[test]
    fn examples_cost_about_the_same_whatever_the_api() {
        let lengths = [Profile::sentry(), Profile::authentik(), custom()]
            .map(|profile| profile.example.code.len());
        let (least, most) = (lengths.iter().min().unwrap(), lengths.iter().max().unwrap());
        assert!(most - least <= 20, "{lengths:?}");
    }
}
