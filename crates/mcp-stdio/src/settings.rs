//! What the options and variables amount to, before anything is built or read from disk.

use std::{path::PathBuf, time::Duration};

use mcp_core::{
    openapi::source::{DocumentLocation, file_path},
    profile::{Kind, Profile, Trust},
};

use crate::{
    address::{self, Address},
    cli::{AccessOptions, ApiOptions, Cli, LimitOptions, NetworkOptions},
    credential::{self, CredentialSettings},
    given::{Environment, Given, SetupError},
    tools::{self, ToolSettings},
};

/// A complete, consistent set-up.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) profile: Profile,
    pub(crate) address: Address,
    pub(crate) credential: CredentialSettings,
    pub(crate) access: AccessSettings,
    pub(crate) tools: ToolSettings,
    pub(crate) confirm: Confirm,
    pub(crate) cache: CacheSettings,
    pub(crate) network: NetworkSettings,
    pub(crate) limits: LimitSettings,
}

/// What the agent may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AccessSettings {
    pub(crate) read_only: bool,
    pub(crate) allow: Vec<Given>,
    pub(crate) deny: Vec<Given>,
}

/// What is shown before a script writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Confirm {
    Code,
    Off,
}

/// Where compiled documents are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CacheSettings {
    /// The user's own cache directory.
    User,
    Directory(PathBuf),
    Off,
}

/// How requests get to the API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NetworkSettings {
    pub(crate) timeout: Duration,
    pub(crate) retries: bool,
    /// May hold a password.
    pub(crate) proxy: Option<Given>,
    pub(crate) ca_certs: Vec<PathBuf>,
    pub(crate) insecure_tls: bool,
}

/// Limits that differ from the defaults.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct LimitSettings {
    pub(crate) wall: Option<Duration>,
    pub(crate) cpu: Option<Duration>,
    pub(crate) heap_bytes: Option<usize>,
    pub(crate) max_requests: Option<usize>,
    pub(crate) concurrency: Option<usize>,
    pub(crate) response_bytes: Option<usize>,
    pub(crate) result_bytes: Option<usize>,
    pub(crate) scripts: Option<usize>,
}

impl Settings {
    /// Settles everything that options and variables say.
    pub(crate) fn resolve(cli: &Cli, env: Environment<'_>) -> Result<Self, SetupError> {
        let mut profile = profile(cli, env)?;
        let address = Address::resolve(&profile, &cli.api, env)?;
        let credential = CredentialSettings::resolve(profile.kind, &cli.credential, env)?;
        profile.credential_setting = credential.setting();
        trust(&mut profile, &cli.access, env)?;
        Ok(Self {
            address,
            credential,
            access: AccessSettings {
                read_only: Given::switch("read-only", cli.access.read_only, env)?,
                allow: Given::options("allow", &cli.access.allow, env)?,
                deny: Given::options("deny", &cli.access.deny, env)?,
            },
            tools: ToolSettings::resolve(
                &cli.access,
                &cli.sentry,
                tools::has_sentry([&profile.kind].into_iter()),
                env,
            )?,
            confirm: confirm(&cli.access, env)?,
            cache: cache(&cli.api, env)?,
            network: network(&cli.network, env)?,
            limits: limits(&cli.limits, env)?,
            profile,
        })
    }

    /// What deserves a word at start although it works.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut warnings = self.tools.warnings();
        if self.address.is_exposed() {
            warnings.push(format!(
                "{} is plain http: the credential can be read on its way",
                self.address.from
            ));
        }
        if self.network.insecure_tls {
            warnings.push("`--insecure-tls`: anyone on the way can read the credential".to_owned());
        }
        if self.limits.wall.is_some_and(|wall| wall >= Duration::from_secs(60)) {
            warnings.push("`--wall` is 60 s or more: most clients give up earlier".to_owned());
        }
        warnings
    }
}

/// Finds out which API is meant and what is known about it.
fn profile(cli: &Cli, env: Environment<'_>) -> Result<Profile, SetupError> {
    let document = Given::option("openapi", cli.api.openapi.as_ref(), env)?;
    let location = document.as_ref().map(location).transpose()?;
    let name = Given::option("name", cli.api.name.as_ref(), env)?;
    let kind = match Given::option("api", cli.api.api.as_ref(), env)? {
        Some(given) => match given.text.to_ascii_lowercase().as_str() {
            "authentik" => Kind::Authentik,
            "sentry" => Kind::Sentry,
            "custom" => Kind::Custom,
            _ => return Err(given.is_not("an API", "use authentik, sentry or custom")),
        },
        None => infer(cli, document.is_some(), env)?,
    };
    let mut profile = match kind {
        Kind::Authentik => Profile::authentik(),
        Kind::Sentry => Profile::sentry(),
        Kind::Custom => {
            let Some(location) = location else {
                return Err(SetupError::new(
                    "`--openapi` is not set",
                    "say where the API's OpenAPI document is, a file or a URL",
                ));
            };
            let invalid = |error: mcp_core::profile::InvalidName| {
                let from = name.as_ref().map_or("`--name`", |given| &given.from);
                SetupError::new(format!("{from} cannot be used: {error}"), "choose another name")
            };
            return Profile::custom(name.as_ref().map(|given| given.text.as_str()), location)
                .map_err(invalid);
        }
    };
    if let Some(name) = name {
        return Err(SetupError::new(
            format!("{} is for custom APIs, and this one is {}", name.from, profile.title),
            format!("leave it out; scripts call it `{}`", profile.binding),
        ));
    }
    profile.document = location.unwrap_or(profile.document);
    Ok(profile)
}

/// Tells which API is meant from what is set, and asks rather than guess.
fn infer(cli: &Cli, has_document: bool, env: Environment<'_>) -> Result<Kind, SetupError> {
    let is_set = |names: &[&'static str]| names.iter().copied().find(|name| env(name).is_some());
    let of = |kind| is_set(address::variables_of(kind)).or(is_set(credential::variables_of(kind)));
    let own_base = cli.api.base_url.is_some() || env("MCP_BASE_URL").is_some();

    let mut found = Vec::new();
    if let Some(name) = of(Kind::Authentik) {
        found.push((Kind::Authentik, format!("`{name}`")));
    }
    if let Some(name) = of(Kind::Sentry) {
        found.push((Kind::Sentry, format!("`{name}`")));
    }
    if has_document && (own_base || found.is_empty()) {
        found.push((Kind::Custom, "`--openapi`".to_owned()));
    }
    match found.as_slice() {
        [(kind, _)] => Ok(*kind),
        [(_, one), (_, two), ..] => Err(SetupError::new(
            format!("{one} and {two} are both set, and each stands for another API"),
            "say which one with `--api authentik`, `--api sentry` or `--api custom`",
        )),
        [] if cli.credential.access_token.is_some() || cli.api.host.is_some() => Ok(Kind::Sentry),
        [] => Err(SetupError::new(
            "no API is named",
            "set AUTHENTIK_URL and AUTHENTIK_TOKEN, or SENTRY_ACCESS_TOKEN, or use `--openapi` \
             and `--base-url`; `--help` has examples",
        )),
    }
}

fn location(given: &Given) -> Result<DocumentLocation, SetupError> {
    DocumentLocation::parse(&given.text).map_err(|problem| {
        SetupError::new(
            format!("{} cannot be used: {problem}", given.from),
            "give a file, a file:// URL, or an http or https URL",
        )
    })
}

/// Applies what the operator says about reads and about who writes the API's texts.
fn trust(
    profile: &mut Profile,
    options: &AccessOptions,
    env: Environment<'_>,
) -> Result<(), SetupError> {
    for mark in Given::options("mark-read", &options.mark_read, env)? {
        match mark.text.split_once(' ').map(|(method, path)| (method, path.trim())) {
            Some((method, path))
                if method.chars().all(|it| it.is_ascii_alphabetic()) && path.starts_with('/') =>
            {
                profile.reads.push(format!("{} {path}", method.to_ascii_uppercase()));
            }
            _ => return Err(mark.is_not("an operation", "write it as 'POST /path/{template}'")),
        }
    }
    if Given::switch("trusted", options.trusted, env)? {
        if profile.kind != Kind::Custom {
            return Err(SetupError::new(
                format!("`--trusted` is for custom APIs, and this one is {}", profile.title),
                "leave it out: which of its operations outsiders can write to is known",
            ));
        }
        profile.trust = Trust::Trusted;
    }
    Ok(())
}

fn confirm(options: &AccessOptions, env: Environment<'_>) -> Result<Confirm, SetupError> {
    let Some(given) = Given::option("confirm", options.confirm.as_ref(), env)? else {
        return Ok(Confirm::Code);
    };
    match given.text.as_str() {
        "code" => Ok(Confirm::Code),
        "off" => Ok(Confirm::Off),
        "plan" => Err(given.is_not("available in this version", "use code or off")),
        _ => Err(given.is_not("a way to confirm", "use code or off")),
    }
}

fn cache(options: &ApiOptions, env: Environment<'_>) -> Result<CacheSettings, SetupError> {
    let directory = Given::option("spec-cache", options.spec_cache.as_ref(), env)?;
    let off = Given::switch("no-spec-cache", options.no_spec_cache, env)?;
    match (directory, off) {
        (Some(directory), true) => Err(SetupError::new(
            format!("{} and `--no-spec-cache` contradict each other", directory.from),
            "keep one of the two",
        )),
        (Some(directory), false) => Ok(CacheSettings::Directory(file_path(&directory.text))),
        (None, true) => Ok(CacheSettings::Off),
        (None, false) => Ok(CacheSettings::User),
    }
}

fn network(options: &NetworkOptions, env: Environment<'_>) -> Result<NetworkSettings, SetupError> {
    let ca_certs = Given::options("ca-cert", &options.ca_cert, env)?;
    Ok(NetworkSettings {
        timeout: match Given::option("timeout", options.timeout.as_ref(), env)? {
            Some(given) => Duration::from_secs_f64(given.number(0.1, 600.0)?),
            None => Duration::from_secs(30),
        },
        retries: !Given::switch("no-retries", options.no_retries, env)?,
        proxy: Given::option("proxy", options.proxy.as_ref(), env)?,
        ca_certs: ca_certs.iter().map(|given| file_path(&given.text)).collect(),
        insecure_tls: Given::switch("insecure-tls", options.insecure_tls, env)?,
    })
}

fn limits(options: &LimitOptions, env: Environment<'_>) -> Result<LimitSettings, SetupError> {
    let seconds = |name, flag: &Option<String>, most| -> Result<_, SetupError> {
        let given = Given::option(name, flag.as_ref(), env)?;
        given.map(|given| given.number(0.1, most).map(Duration::from_secs_f64)).transpose()
    };
    let count = |name, flag: &Option<String>, least: usize, most: usize| -> Result<_, SetupError> {
        let given = Given::option(name, flag.as_ref(), env)?;
        given.map(|given| given.number(least, most)).transpose()
    };
    Ok(LimitSettings {
        wall: seconds("wall", &options.wall, 3600.0)?,
        cpu: seconds("cpu", &options.cpu, 600.0)?,
        heap_bytes: count("heap", &options.heap, 8, 2048)?.map(|megabytes| megabytes << 20),
        max_requests: count("max-requests", &options.max_requests, 1, 100_000)?,
        concurrency: count("concurrency", &options.concurrency, 1, 64)?,
        response_bytes: count("response-bytes", &options.response_bytes, 1_000, 64_000_000)?,
        result_bytes: count("result-bytes", &options.result_bytes, 1_000, 4_000_000)?,
        scripts: count("scripts", &options.scripts, 1, 256)?,
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    type Variables<'a> = &'a [(&'a str, &'a str)];

    const AUTHENTIK: [(&str, &str); 2] =
        [("AUTHENTIK_URL", "https://id.test"), ("AUTHENTIK_TOKEN", "SECRET-1")];
    const SENTRY: [(&str, &str); 1] = [("SENTRY_AUTH_TOKEN", "SECRET-2")];

    fn resolve(arguments: &[&str], variables: Variables<'_>) -> Result<Settings, String> {
        let arguments = ["mcp-stdio"].iter().chain(arguments);
        let cli = Cli::try_parse_from(arguments).map_err(|error| error.to_string())?;
        let env = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into())
        };
        Settings::resolve(&cli, &env).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_set_says_which_api_is_meant() {
        let custom = ["--openapi", "a.json", "--base-url", "https://api.test"];
        let both: Vec<_> = AUTHENTIK.into_iter().chain(SENTRY).collect();
        let cases: &[(&[&str], Variables<'_>, Kind)] = &[
            (&[], &AUTHENTIK, Kind::Authentik),
            (&[], &SENTRY, Kind::Sentry),
            (&["--api", "sentry"], &both, Kind::Sentry),
            (&["--api", "AUTHENTIK"], &both, Kind::Authentik),
            (&[], &[both.as_slice(), &[("MCP_API", "sentry")]].concat(), Kind::Sentry),
            (&["--access-token", "x"], &[], Kind::Sentry),
            (&custom, &[], Kind::Custom),
            (&["--openapi", "https://api.test/openapi.json"], &[], Kind::Custom),
            (&["--openapi", "sentry.json"], &SENTRY, Kind::Sentry),
            (&["--openapi", "a.yaml"], &AUTHENTIK, Kind::Authentik),
        ];
        for (arguments, variables, kind) in cases {
            let settings = resolve(arguments, variables).unwrap();
            assert_eq!(settings.profile.kind, *kind, "{arguments:?} {variables:?}");
        }
    }

    #[test]
    fn a_set_up_that_cannot_be_meant_says_what_to_change() {
        let both: Vec<_> = AUTHENTIK.into_iter().chain(SENTRY).collect();
        let custom = ["--openapi", "a.json", "--base-url", "https://api.test"];
        let with = |more: &[&'static str]| [custom.as_slice(), more].concat();
        let cases: &[(Vec<&str>, Variables<'_>, &str)] = &[
            (vec![], &[], "no API is named"),
            (vec![], &both, "`AUTHENTIK_URL` and `SENTRY_AUTH_TOKEN` are both set"),
            (with(&[]), &SENTRY, "`SENTRY_AUTH_TOKEN` and `--openapi` are both set"),
            (vec!["--api", "jira"], &[], "`--api` is `jira`, which is not an API"),
            (vec!["--api", "custom"], &[], "`--openapi` is not set"),
            (vec!["--openapi", "ftp://a/b"], &[], "`--openapi` cannot be used: `ftp:`"),
            (with(&["--name", "my-api"]), &[], "`--name` cannot be used: `my-api`"),
            (vec!["--name", "x"], &SENTRY, "`--name` is for custom APIs, and this one is Sentry"),
            (vec!["--trusted"], &SENTRY, "`--trusted` is for custom APIs"),
            (vec!["--surface", "plain"], &SENTRY, "`--surface` is `plain`, which is not available"),
            (vec!["--surface", "all"], &SENTRY, "`--surface` is `all`, which is not a surface"),
            (vec!["--confirm", "plan"], &SENTRY, "`--confirm` is `plan`, which is not available"),
            (vec!["--timeout", "0"], &SENTRY, "`--timeout` is `0`, which is not within bounds"),
            (vec!["--heap", "1e3"], &SENTRY, "`--heap` is `1e3`, which is not within bounds"),
            (vec!["--mark-read", "search"], &SENTRY, "`--mark-read` is `search`"),
            (
                vec!["--spec-cache", "/tmp/x", "--no-spec-cache"],
                &SENTRY,
                "`--spec-cache` and `--no-spec-cache` contradict each other",
            ),
            (
                vec![],
                &[("AUTHENTIK_URL", "https://id.test"), ("AUTHENTIK_TOKEN", "${AUTHENTIK_TOKEN}")],
                "`AUTHENTIK_TOKEN` holds a placeholder",
            ),
            (vec![], &[("SENTRY_AUTH_TOKEN", "")], "`SENTRY_AUTH_TOKEN` is empty"),
        ];
        for (arguments, variables, expected) in cases {
            let error = resolve(arguments, variables).unwrap_err();
            assert!(error.starts_with(expected), "{arguments:?}: {error}");
            assert!(error.contains("\n  hint: "), "{error}");
            assert!(!error.contains("SECRET"), "{error}");
        }
    }

    #[test]
    fn without_options_the_defaults_hold() {
        let settings = resolve(&[], &AUTHENTIK).unwrap();
        assert_eq!(settings.address.base_url.as_str(), "https://id.test/api/v3");
        assert_eq!(settings.confirm, Confirm::Code);
        assert_eq!(settings.cache, CacheSettings::User);
        assert_eq!(settings.network.timeout, Duration::from_secs(30));
        assert!(settings.network.retries);
        assert!(!settings.network.insecure_tls);
        assert!(!settings.access.read_only);
        assert_eq!(settings.limits, LimitSettings::default());
        let setting = settings.profile.credential_setting.as_deref();
        assert_eq!(setting, Some("`AUTHENTIK_TOKEN`"));
        assert_eq!(settings.warnings(), Vec::<String>::new());
        assert!(!format!("{settings:?}").contains("SECRET"));
    }

    #[test]
    fn every_option_works_as_a_variable_too() {
        let variables = [
            ("MCP_OPENAPI", "file:///tmp/a%20b/spec.json"),
            ("MCP_BASE_URL", "http://api.test/v1/"),
            ("MCP_NAME", "gitlab"),
            ("MCP_ACCESS_TOKEN", "SECRET"),
            ("MCP_AUTH", "header:PRIVATE-TOKEN"),
            ("MCP_HEADER", "X-A: 1\nX-B: 2"),
            ("MCP_READ_ONLY", "true"),
            ("MCP_ALLOW", "GET /a/*"),
            ("MCP_DENY", "users\nDELETE /*"),
            ("MCP_MARK_READ", "post /search"),
            ("MCP_TRUSTED", "1"),
            ("MCP_CONFIRM", "off"),
            ("MCP_SURFACE", "code-mode"),
            ("MCP_SKILLS", "api-read"),
            ("MCP_DISABLE_SKILLS", "api-write"),
            ("MCP_NO_RETRIES", "yes"),
            ("MCP_PROXY", "http://u:SECRET@proxy.test"),
            ("MCP_CA_CERT", "/tmp/a.pem\nfile:///tmp/b.pem"),
            ("MCP_INSECURE_TLS", "on"),
            ("MCP_SPEC_CACHE", "/tmp/c d"),
            ("MCP_TIMEOUT", "2.5"),
            ("MCP_WALL", "90"),
            ("MCP_CPU", "0.5"),
            ("MCP_HEAP", "128"),
            ("MCP_MAX_REQUESTS", "1_000"),
            ("MCP_CONCURRENCY", "4"),
            ("MCP_RESPONSE_BYTES", "100000"),
            ("MCP_RESULT_BYTES", "20000"),
            ("MCP_SCRIPTS", "3"),
        ];
        let settings = resolve(&[], &variables).unwrap();
        let profile = &settings.profile;
        assert_eq!(profile.document, DocumentLocation::File("/tmp/a b/spec.json".into()));
        assert_eq!(profile.binding, "gitlab");
        assert_eq!(profile.trust, Trust::Trusted);
        assert_eq!(profile.reads, ["POST /search"]);
        assert_eq!(settings.address.base_url.as_str(), "http://api.test/v1");
        assert_eq!(settings.credential.headers.len(), 2);
        assert!(settings.access.read_only);
        let deny: Vec<_> = settings.access.deny.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(deny, ["users", "DELETE /*"]);
        assert_eq!(settings.access.allow.len(), 1);
        assert_eq!(settings.confirm, Confirm::Off);
        let network = NetworkSettings {
            timeout: Duration::from_millis(2500),
            retries: false,
            proxy: settings.network.proxy.clone(),
            ca_certs: vec!["/tmp/a.pem".into(), "/tmp/b.pem".into()],
            insecure_tls: true,
        };
        assert_eq!(settings.network, network);
        assert_eq!(network.proxy.unwrap().text, "http://u:SECRET@proxy.test");
        assert_eq!(settings.cache, CacheSettings::Directory("/tmp/c d".into()));
        let limits = LimitSettings {
            wall: Some(Duration::from_secs(90)),
            cpu: Some(Duration::from_millis(500)),
            heap_bytes: Some(128 << 20),
            max_requests: Some(1000),
            concurrency: Some(4),
            response_bytes: Some(100_000),
            result_bytes: Some(20_000),
            scripts: Some(3),
        };
        assert_eq!(settings.limits, limits);
        assert_eq!(settings.warnings().len(), 3);
    }
}
