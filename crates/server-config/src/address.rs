//! Where the API is: from options and variables to one base URL.

use mcp_core::profile::{Kind, Profile};
use url::{Host, Url};

use crate::{
    cli::ApiOptions,
    given::{Environment, Given, SetupError},
};

/// The base URL of all requests, and what said so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    pub base_url: Url,
    /// The option or variable that won, in backticks, or `the default`.
    pub from: String,
}

impl Address {
    /// Finds the base URL: options, then variables, then the profile, then the document's place.
    pub fn resolve(
        profile: &Profile,
        options: &ApiOptions,
        env: Environment<'_>,
    ) -> Result<Self, SetupError> {
        let nothing: Environment<'_> = &|_| None;
        let flags = [
            Given::option("base-url", options.base_url.as_ref(), nothing)?,
            Given::option("host", options.host.as_ref(), nothing)?,
        ];
        if let Some(address) = Self::only(profile, &flags)? {
            return Ok(address);
        }
        let mut variables =
            vec![Given::option("base-url", None, env)?, Given::option("host", None, env)?];
        for name in variables_of(profile.kind) {
            variables.push(Given::variable(name, env)?);
        }
        if let Some(address) = Self::only(profile, &variables)? {
            return Ok(address);
        }
        Self::fallback(profile)
    }

    /// Takes the address that all given values agree on.
    fn only(profile: &Profile, given: &[Option<Given>]) -> Result<Option<Self>, SetupError> {
        let mut found: Option<Self> = None;
        for given in given.iter().flatten() {
            let base_url = profile.base_url(&parse(given, profile)?);
            match &found {
                None => found = Some(Self { base_url, from: given.from.clone() }),
                Some(first) if first.base_url == base_url => {}
                Some(first) => {
                    return Err(SetupError::new(
                        format!("{} and {} name different addresses", first.from, given.from),
                        "keep one of the two",
                    ));
                }
            }
        }
        Ok(found)
    }

    fn fallback(profile: &Profile) -> Result<Self, SetupError> {
        let default = profile.default_base.and_then(|base| Url::parse(base).ok());
        if let Some(base) = default {
            let base_url = profile.base_url(&base);
            return Ok(Self { base_url, from: "the default".to_owned() });
        }
        if let Some(document) = profile.document.url() {
            let mut base_url = document.clone();
            base_url.set_path("");
            base_url.set_query(None);
            base_url.set_fragment(None);
            refuse_plain_http(&base_url, "`--openapi`", profile)?;
            return Ok(Self { base_url, from: "the origin of `--openapi`".to_owned() });
        }
        Err(match profile.kind {
            Kind::Authentik => SetupError::new(
                "`AUTHENTIK_URL` is not set",
                "set it to the address of the instance, such as https://id.example.com",
            ),
            Kind::Sentry | Kind::Custom => SetupError::new(
                "`--base-url` is not set",
                "set it to the address of the API, such as https://api.example.com/v1",
            ),
        })
    }

    /// Tells whether what is sent can be read on its way.
    pub fn is_exposed(&self) -> bool {
        is_exposed(&self.base_url)
    }
}

/// Tells whether what is sent to a URL can be read on its way.
pub fn is_exposed(url: &Url) -> bool {
    url.scheme() == "http"
        && match url.host() {
            Some(Host::Domain(name)) => name != "localhost" && !name.ends_with(".localhost"),
            Some(Host::Ipv4(ip)) => !ip.is_loopback(),
            Some(Host::Ipv6(ip)) => !ip.is_loopback(),
            None => true,
        }
}

/// Variables that hold the address of a known API.
pub fn variables_of(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Authentik => &["AUTHENTIK_URL"],
        Kind::Sentry => &["SENTRY_URL", "SENTRY_HOST"],
        Kind::Custom => &[],
    }
}

/// Reads an address: a whole URL, or a host with or without a port.
fn parse(given: &Given, profile: &Profile) -> Result<Url, SetupError> {
    let url = parse_url(given)?;
    refuse_plain_http(&url, &given.from, profile)?;
    Ok(url)
}

/// Reads an address of any server.
pub fn parse_url(given: &Given) -> Result<Url, SetupError> {
    let hint = "use an address such as https://api.example.com";
    if given.text.contains('@') {
        return Err(SetupError::new(
            format!("{} holds a user name or password", given.from),
            "give the address alone, and the credential with `--token-env` or `--token-file`",
        ));
    }
    let text = match given.text.split_once("://") {
        Some(_) => given.text.clone(),
        None => format!("https://{}", given.text),
    };
    let url = Url::parse(&text).map_err(|error| given.is_not(&format!("a URL ({error})"), hint))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(given.is_not("an http or https URL", hint));
    }
    let host = url.host_str().unwrap_or_default();
    let is_service = PUBLIC_SERVICES.iter().any(|service| {
        host.strip_suffix(service).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    });
    match url.scheme() == "http" && is_service {
        true => Err(plain_http(&given.from, host)),
        false => Ok(url),
    }
}

/// Public services that take tokens over https alone: for them, plain http can only be a slip.
const PUBLIC_SERVICES: &[&str] = &[
    "atlassian.net",
    "auth0.com",
    "github.com",
    "gitlab.com",
    "googleapis.com",
    "microsoft.com",
    "microsoftonline.com",
    "okta.com",
    "slack.com",
    "stripe.com",
];

fn refuse_plain_http(url: &Url, from: &str, profile: &Profile) -> Result<(), SetupError> {
    let host = url.host_str().unwrap_or_default();
    match url.scheme() == "http" && profile.is_public_host(host) {
        true => Err(plain_http(from, host)),
        false => Ok(()),
    }
}

fn plain_http(from: &str, host: &str) -> SetupError {
    SetupError::new(
        format!("{from} would send the token to `{host}` over plain http"),
        "write https:// in place of http://",
    )
}

#[cfg(test)]
mod tests {
    use mcp_core::openapi::source::DocumentLocation;

    use super::*;

    type Variables<'a> = &'a [(&'a str, &'a str)];

    fn options(base_url: &str, host: &str) -> ApiOptions {
        let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        ApiOptions {
            api: None,
            base_url: given(base_url),
            host: given(host),
            openapi: None,
            name: None,
            spec_cache: None,
            no_spec_cache: false,
        }
    }

    fn resolve(
        profile: &Profile,
        flags: (&str, &str),
        variables: Variables<'_>,
    ) -> Result<String, String> {
        let env = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into())
        };
        Address::resolve(profile, &options(flags.0, flags.1), &env)
            .map(|address| format!("{} from {}", address.base_url, address.from))
            .map_err(|error| error.to_string())
    }

    fn custom(document: &str) -> Profile {
        Profile::custom(None, DocumentLocation::parse(document).unwrap()).unwrap()
    }

    /// P40.
    #[test]
    fn each_spelling_of_a_sentry_address_gives_the_same_base() {
        let sentry = Profile::sentry();
        for name in ["SENTRY_URL", "SENTRY_HOST"] {
            for text in [
                "sentry.test:9443",
                "https://sentry.test:9443",
                "https://sentry.test:9443/",
                "https://sentry.test:9443/api/0/",
            ] {
                assert_eq!(
                    resolve(&sentry, ("", ""), &[(name, text)]),
                    Ok(format!("https://sentry.test:9443/ from `{name}`")),
                    "{text}"
                );
            }
        }
    }

    #[test]
    fn the_first_source_that_says_anything_decides() {
        let both = [("SENTRY_URL", "https://a.test/"), ("SENTRY_HOST", "a.test")];
        let cases: &[(Profile, (&str, &str), Variables<'_>, &str)] = &[
            (Profile::sentry(), ("", ""), &[], "https://sentry.io/ from the default"),
            (Profile::sentry(), ("", ""), &both, "https://a.test/ from `SENTRY_URL`"),
            (Profile::sentry(), ("b.test", ""), &both, "https://b.test/ from `--base-url`"),
            (Profile::sentry(), ("", "b.test"), &both, "https://b.test/ from `--host`"),
            (
                Profile::authentik(),
                ("", ""),
                &[("AUTHENTIK_URL", "http://127.0.0.1:9000")],
                "http://127.0.0.1:9000/api/v3 from `AUTHENTIK_URL`",
            ),
            (
                custom("https://api.test/v1/openapi.json?x=1"),
                ("", ""),
                &[],
                "https://api.test/ from the origin of `--openapi`",
            ),
            (
                custom("openapi.json"),
                ("", ""),
                &[("MCP_BASE_URL", "https://api.test/v2/")],
                "https://api.test/v2 from `MCP_BASE_URL`",
            ),
        ];
        for (profile, flags, variables, expected) in cases {
            assert_eq!(resolve(profile, *flags, variables).as_deref(), Ok(*expected));
        }
    }

    /// P40 and P41.
    #[test]
    fn an_address_that_cannot_be_right_is_named() {
        let sentry = Profile::sentry();
        let cases: &[(&Profile, Variables<'_>, &str)] = &[
            (
                &sentry,
                &[("SENTRY_URL", "https://a.test"), ("SENTRY_HOST", "b.test")],
                "`SENTRY_URL` and `SENTRY_HOST` name different addresses",
            ),
            (
                &sentry,
                &[("SENTRY_URL", "http://sentry.io")],
                "`SENTRY_URL` would send the token to `sentry.io` over plain http",
            ),
            (
                &sentry,
                &[("SENTRY_HOST", "http://us.sentry.io/")],
                "`SENTRY_HOST` would send the token to `us.sentry.io` over plain http",
            ),
            (
                &sentry,
                &[("SENTRY_URL", "ftp://sentry.test")],
                "`SENTRY_URL` is `ftp://sentry.test`, which is not an http or https URL",
            ),
            (
                &sentry,
                &[("SENTRY_URL", "https://user:pass@sentry.test")],
                "`SENTRY_URL` holds a user name or password",
            ),
            (
                &sentry,
                &[("SENTRY_URL", "https://a b")],
                "`SENTRY_URL` is `https://a b`, which is not a URL (invalid",
            ),
            (
                &custom("openapi.json"),
                &[("MCP_BASE_URL", "http://api.github.com")],
                "`MCP_BASE_URL` would send the token to `api.github.com` over plain http",
            ),
            (&Profile::authentik(), &[], "`AUTHENTIK_URL` is not set"),
            (&custom("openapi.json"), &[], "`--base-url` is not set"),
        ];
        for (profile, variables, expected) in cases {
            let error = resolve(profile, ("", ""), variables).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
            assert!(error.contains("\n  hint: "), "{error}");
        }
        let error = resolve(&sentry, ("https://a.test", "b.test"), &[]).unwrap_err();
        assert!(error.starts_with("`--base-url` and `--host` name different addresses"));
    }

    #[test]
    fn plain_http_is_exposed_except_on_this_machine() {
        let exposed = |url: &str| {
            Address { base_url: Url::parse(url).unwrap(), from: String::new() }.is_exposed()
        };
        assert!(exposed("http://10.0.0.1"));
        assert!(exposed("http://sentry.lan"));
        for url in ["https://a.test", "http://127.0.0.1:1", "http://[::1]", "http://localhost:9"] {
            assert!(!exposed(url), "{url}");
        }
    }
}
