//! What the options and variables amount to, before anything is built or read from disk.

use std::{path::PathBuf, time::Duration};

use mcp_core::{
    openapi::source::{DocumentLocation, file_path},
    profile::{Kind, Profile, Trust},
};

use url::Url;

use crate::{
    address::{self, Address},
    cli::{AccessOptions, ApiOptions, Cli, NetworkOptions},
    config_file::ConfigFile,
    credential::{self, CredentialSettings},
    given::{Environment, Given, SetupError},
    models::ModelSettings,
    scheme::Scheme,
    script_limits::LimitSettings,
    tools::{self, ToolSettings},
};

/// A complete, consistent set-up.
#[derive(Debug)]
pub struct Settings {
    /// Never empty.
    pub apis: Vec<ApiSettings>,
    /// Pairs of names: what was read from the first may be sent to the second.
    pub flows: Vec<(String, String)>,
    /// What holds for every API.
    pub access: AccessSettings,
    pub tools: ToolSettings,
    /// The model behind the search tools.
    pub models: ModelSettings,
    pub files: Vec<FilesSettings>,
    pub confirm: Confirm,
    pub cache: CacheSettings,
    pub limits: LimitSettings,
    /// Each limit that was set, and where.
    pub limits_from: Vec<String>,
    /// The configuration file that was read, if any.
    pub file: Option<PathBuf>,
    warnings: Vec<String>,
}

/// One API of the set-up.
#[derive(Debug)]
pub struct ApiSettings {
    pub profile: Profile,
    /// What said where the document is; the profile, where nothing did.
    pub document_from: Option<String>,
    pub address: Address,
    pub credential: CredentialSettings,
    /// What holds for this API alone, beside [`Settings::access`].
    pub access: AccessSettings,
    pub network: NetworkSettings,
}

/// What the agent may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessSettings {
    pub read_only: bool,
    pub allow: Vec<Given>,
    pub deny: Vec<Given>,
}

/// A directory for scripts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilesSettings {
    /// What names of its files begin with; may be empty where it is the only one.
    pub name: String,
    pub directory: PathBuf,
    pub from: String,
}

/// What is shown before a script writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confirm {
    Plan,
    Code,
    Off,
}

/// Where compiled documents are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CacheSettings {
    /// The user's own cache directory.
    User,
    Directory(PathBuf),
    Off,
}

/// How requests get to the API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkSettings {
    pub timeout: Duration,
    pub connect_timeout: Duration,
    pub retries: bool,
    /// Other origins to which redirects of reads may lead.
    pub redirects: Vec<Url>,
    /// May hold a password.
    pub proxy: Option<Given>,
    pub ca_certs: Vec<PathBuf>,
    /// The client certificate, and its key where that is in a file of its own.
    pub identity: Option<(PathBuf, Option<PathBuf>)>,
    pub insecure_tls: bool,
}

impl Settings {
    /// Settles everything that options, file and variables say.
    pub fn resolve(
        cli: &Cli,
        file: Option<&ConfigFile>,
        env: Environment<'_>,
    ) -> Result<Self, SetupError> {
        let server = |name: &str| match file {
            Some(file) => file.server_value(name, env),
            None => env(name),
        };
        let tables = file.filter(|file| file.apis() > 0 && !is_set_aside(cli, file));
        let apis = match tables {
            Some(file) => apis_of(cli, file, env)?,
            None => vec![ApiSettings::resolve(cli, &server, &|_| None)?],
        };
        let kinds: Vec<_> = apis.iter().map(|api| api.profile.kind).collect();
        let flows = tables.map_or_else(|| Ok(Vec::new()), |file| flows(file, &apis))?;
        let mut warnings = Vec::new();
        if let Some(file) = file.filter(|file| file.apis() > 0 && tables.is_none()) {
            warnings.push(format!(
                "the command line names the API: those of {} are left out",
                file.path.display()
            ));
        }
        for name in tables.map(|file| file.unused(env)).unwrap_or_default() {
            warnings.push(format!("`{name}` is not used: it is for no API of the configuration"));
        }
        let (limits, limits_from) = LimitSettings::resolve(&cli.limits, &server)?;
        Ok(Self {
            apis,
            flows,
            access: AccessSettings {
                read_only: Given::switch("read-only", cli.access.read_only, &server)?,
                allow: Given::options("allow", &cli.access.allow, &server)?,
                deny: Given::options("deny", &cli.access.deny, &server)?,
            },
            tools: ToolSettings::resolve(
                &cli.access,
                &cli.sentry,
                tools::has_sentry(kinds.iter()),
                &server,
            )?,
            models: ModelSettings::resolve(&cli.models, tools::has_sentry(kinds.iter()), &server)?,
            files: files(&cli.access, &server)?,
            confirm: confirm(&cli.access, &server)?,
            cache: cache(&cli.api, &server)?,
            limits,
            limits_from,
            file: file.map(|file| file.path.clone()),
            warnings,
        })
    }

    /// What deserves a word at start although it works.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = self.warnings.clone();
        warnings.extend(self.tools.warnings());
        warnings.extend(self.models.warning.clone());
        for api in &self.apis {
            if api.address.is_exposed() {
                warnings.push(format!(
                    "{} is plain http: the credential can be read on its way",
                    api.address.from
                ));
            }
            if let Scheme::OAuth(grant) = &api.credential.scheme
                && address::is_exposed(&grant.token_url)
            {
                warnings.push(format!(
                    "{} is plain http: the client's secret can be read on its way",
                    grant.from
                ));
            }
        }
        if self.apis.iter().any(|api| api.network.insecure_tls) {
            warnings.push("`--insecure-tls`: anyone on the way can read the credential".to_owned());
        }
        if self.limits.wall.is_some_and(|wall| wall >= Duration::from_secs(60)) {
            warnings.push("`--wall` is 60 s or more: most clients give up earlier".to_owned());
        }
        warnings
    }
}

impl ApiSettings {
    /// Settles one API from the command line and `env`; `own` is what its table says, if it has one.
    fn resolve(cli: &Cli, env: Environment<'_>, own: Environment<'_>) -> Result<Self, SetupError> {
        let (mut profile, document_from) = profile(cli, env)?;
        let address = Address::resolve(&profile, &cli.api, env)?;
        let credential = CredentialSettings::resolve(profile.kind, &cli.credential, env)?;
        profile.credential_setting = credential.setting();
        trust(&mut profile, &cli.access, env)?;
        Ok(Self {
            profile,
            document_from,
            address,
            credential,
            access: AccessSettings {
                read_only: Given::switch("read-only", false, own)?,
                allow: Given::options("allow", &[], own)?,
                deny: Given::options("deny", &[], own)?,
            },
            network: network(&cli.network, env)?,
        })
    }
}

/// A file that nobody named does not mix with an API that the command line names.
fn is_set_aside(cli: &Cli, file: &ConfigFile) -> bool {
    let names_api = |id: &String| matches!(id.as_str(), "api" | "base_url" | "host" | "openapi");
    file.is_default && cli.given.iter().any(names_api)
}

/// Settles the APIs of a file, which scripts must be able to tell apart.
fn apis_of(
    cli: &Cli,
    file: &ConfigFile,
    env: Environment<'_>,
) -> Result<Vec<ApiSettings>, SetupError> {
    if file.apis() > 1
        && let Some(option) = cli.given.iter().find(|option| file.is_of_one_api(option))
    {
        return Err(SetupError::new(
            format!(
                "`--{}` belongs to one API, and {} names several",
                option.replace('_', "-"),
                file.path.display()
            ),
            "put it under the `[[api]]` it is for",
        ));
    }
    let resolve = |index| {
        let values = |name: &str| file.api_value(index, name, env);
        ApiSettings::resolve(cli, &values, &|name| file.own_value(index, name))
    };
    let apis = (0..file.apis()).map(resolve).collect::<Result<Vec<_>, _>>()?;
    for (index, api) in apis.iter().enumerate() {
        let name = &api.profile.binding;
        let is_taken = apis.iter().take(index).any(|other| other.profile.binding == *name);
        if is_taken || (apis.len() > 1 && name == "api") {
            return Err(SetupError::new(
                match is_taken {
                    true => format!("two APIs of {} are called `{name}`", file.path.display()),
                    false => format!("an API of {} has no name", file.path.display()),
                },
                "give each its own `name`, which is what scripts call it",
            ));
        }
    }
    Ok(apis)
}

/// The flows of a file; each end is one of its APIs.
fn flows(file: &ConfigFile, apis: &[ApiSettings]) -> Result<Vec<(String, String)>, SetupError> {
    let name = |given: &Given| {
        let names: Vec<_> = apis.iter().map(|api| api.profile.binding.as_str()).collect();
        match names.contains(&given.text.as_str()) {
            true => Ok(given.text.clone()),
            false => {
                let known: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
                let hint = format!("the APIs are {}", known.join(", "));
                Err(given.is_not("an API of this file", &hint))
            }
        }
    };
    file.flows().iter().map(|flow| Ok((name(&flow.from)?, name(&flow.to)?))).collect()
}

/// Finds out which API is meant and what is known about it, and what names its document.
fn profile(cli: &Cli, env: Environment<'_>) -> Result<(Profile, Option<String>), SetupError> {
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
    let invalid = |error: mcp_core::profile::InvalidName| {
        let from = name.as_ref().map_or("`--name`", |given| &given.from);
        SetupError::new(format!("{from} cannot be used: {error}"), "choose another name")
    };
    let called = name.as_ref().map(|given| given.text.as_str());
    let document_from = document.map(|given| given.from);
    let known = match kind {
        Kind::Authentik => Profile::authentik(),
        Kind::Sentry => Profile::sentry(),
        Kind::Custom => {
            let Some(location) = location else {
                return Err(SetupError::new(
                    "`--openapi` is not set",
                    "say where the API's OpenAPI document is, a file or a URL",
                ));
            };
            return Profile::custom(called, location)
                .map(|profile| (profile, document_from))
                .map_err(invalid);
        }
    };
    let mut profile = match called {
        Some(name) => known.named(name).map_err(invalid)?,
        None => known,
    };
    profile.document = location.unwrap_or(profile.document);
    Ok((profile, document_from))
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
    for path in Given::options("untrusted", &options.untrusted, env)? {
        if !path.text.starts_with('/') {
            return Err(path.is_not("a path", "write it as '/path/*'; `*` stands for anything"));
        }
        profile.untrusted.push(path.text);
    }
    Ok(())
}

/// Splits `NAME=DIR`; several directories need names.
fn files(options: &AccessOptions, env: Environment<'_>) -> Result<Vec<FilesSettings>, SetupError> {
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|it| it.is_ascii_alphanumeric() || "_-".contains(it))
    };
    let split = |given: Given| {
        let named = given.text.split_once('=').filter(|(name, _)| is_name(name));
        let (name, directory) = named.unwrap_or(("", given.text.as_str()));
        let directory = file_path(directory);
        FilesSettings { name: name.to_owned(), directory, from: given.from }
    };
    let given = Given::options("files", &options.files, env)?;
    let files: Vec<_> = given.into_iter().map(split).collect();
    for (index, one) in files.iter().enumerate() {
        let is_taken = files.iter().take(index).any(|other| other.name == one.name);
        if is_taken || (files.len() > 1 && one.name.is_empty()) {
            return Err(SetupError::new(
                format!("{} names several directories that scripts cannot tell apart", one.from),
                "give each a name of its own, as in `--files in=/data/in --files out=/data/out`",
            ));
        }
    }
    Ok(files)
}

fn confirm(options: &AccessOptions, env: Environment<'_>) -> Result<Confirm, SetupError> {
    let Some(given) = Given::option("confirm", options.confirm.as_ref(), env)? else {
        return Ok(Confirm::Plan);
    };
    match given.text.as_str() {
        "code" => Ok(Confirm::Code),
        "off" => Ok(Confirm::Off),
        "plan" => Ok(Confirm::Plan),
        _ => Err(given.is_not("a way to confirm", "use plan, code or off")),
    }
}

fn cache(options: &ApiOptions, env: Environment<'_>) -> Result<CacheSettings, SetupError> {
    let nothing: Environment<'_> = &|_| None;
    // One said on the command line is not contradicted by the other from elsewhere.
    let env = if options.spec_cache.is_some() || options.no_spec_cache { nothing } else { env };
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
    let redirects = Given::options("allow-redirect", &options.allow_redirect, env)?;
    let seconds = |name, flag: &Option<String>, standard| -> Result<Duration, SetupError> {
        let given = Given::option(name, flag.as_ref(), env)?;
        Ok(Duration::from_secs_f64(given.map_or(Ok(standard), |it| it.number(0.1, 600.0))?))
    };
    Ok(NetworkSettings {
        timeout: seconds("timeout", &options.timeout, 30.0)?,
        connect_timeout: seconds("connect-timeout", &options.connect_timeout, 10.0)?,
        retries: !Given::switch("no-retries", options.no_retries, env)?,
        redirects: redirects.iter().map(address::parse_url).collect::<Result<_, _>>()?,
        proxy: Given::option("proxy", options.proxy.as_ref(), env)?,
        ca_certs: ca_certs.iter().map(|given| file_path(&given.text)).collect(),
        identity: identity(options, env)?,
        insecure_tls: Given::switch("insecure-tls", options.insecure_tls, env)?,
    })
}

/// The files of a client certificate.
fn identity(
    options: &NetworkOptions,
    env: Environment<'_>,
) -> Result<Option<(PathBuf, Option<PathBuf>)>, SetupError> {
    let certificate = Given::option("client-cert", options.client_cert.as_ref(), env)?;
    let key = Given::option("client-key", options.client_key.as_ref(), env)?;
    match (certificate, key) {
        (Some(certificate), key) => {
            Ok(Some((file_path(&certificate.text), key.map(|it| file_path(&it.text)))))
        }
        (None, Some(key)) => Err(SetupError::new(
            format!("{} has no effect without `--client-cert`", key.from),
            "name the certificate too",
        )),
        (None, None) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    type Variables<'a> = &'a [(&'a str, &'a str)];

    const AUTHENTIK: [(&str, &str); 2] =
        [("AUTHENTIK_URL", "https://id.test"), ("AUTHENTIK_TOKEN", "SECRET-1")];
    const SENTRY: [(&str, &str); 1] = [("SENTRY_AUTH_TOKEN", "SECRET-2")];

    fn resolve(arguments: &[&str], variables: Variables<'_>) -> Result<Settings, String> {
        let arguments = ["mcp-stdio"].iter().chain(arguments);
        let cli = Cli::parse_these(arguments).map_err(|error| error.to_string())?;
        let env = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into())
        };
        Settings::resolve(&cli, None, &env).map_err(|error| error.to_string())
    }

    fn with_file(
        arguments: &[&str],
        text: &str,
        variables: Variables<'_>,
    ) -> Result<Settings, String> {
        with_file_of(arguments, text, variables, false)
    }

    fn with_file_of(
        arguments: &[&str],
        text: &str,
        variables: Variables<'_>,
        is_default: bool,
    ) -> Result<Settings, String> {
        let arguments = ["mcp-stdio"].iter().chain(arguments);
        let cli = Cli::parse_these(arguments).map_err(|error| error.to_string())?;
        let env = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into())
        };
        let file = ConfigFile::parse(Path::new("c.toml"), text, is_default);
        let file = file.map_err(|error| error.to_string())?;
        Settings::resolve(&cli, Some(&file), &env).map_err(|error| error.to_string())
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
            assert_eq!(settings.apis[0].profile.kind, *kind, "{arguments:?} {variables:?}");
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
            (vec!["--name", "for"], &SENTRY, "`--name` cannot be used: `for`"),
            (vec!["--untrusted", "x"], &SENTRY, "`--untrusted` is `x`, which is not a path"),
            (vec!["--trusted"], &SENTRY, "`--trusted` is for custom APIs"),
            (vec!["--surface", "all"], &SENTRY, "`--surface` is `all`, which is not a surface"),
            (vec!["--client-key", "/k"], &SENTRY, "`--client-key` has no effect without"),
            (vec!["--allow-redirect", "ftp://a"], &SENTRY, "`--allow-redirect` is `ftp://a`"),
            (vec!["--token-url", "https://a"], &SENTRY, "`--token-url` has no effect without"),
            (vec!["--auth", "oauth:me"], &SENTRY, "`--token-url` is not set"),
            (
                vec!["--auth", "oauth:me", "--token-url", "http://x.okta.com/token"],
                &SENTRY,
                "`--token-url` would send the token to `x.okta.com` over plain http",
            ),
            (
                with(&["--auth", "oauth:me", "--token-url", "https://a/token"]),
                &[],
                "the secret of the client `me` is missing",
            ),
            (vec!["--files", "a", "--files", "b=/b"], &SENTRY, "`--files` names several"),
            (vec!["--files", "a=/a", "--files", "a=/b"], &SENTRY, "`--files` names several"),
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
        let api = &settings.apis[0];
        assert_eq!(api.address.base_url.as_str(), "https://id.test/api/v3");
        assert_eq!(settings.confirm, Confirm::Plan);
        assert_eq!(settings.cache, CacheSettings::User);
        assert_eq!(api.network.timeout, Duration::from_secs(30));
        assert!(api.network.retries);
        assert!(!api.network.insecure_tls);
        assert!(!settings.access.read_only);
        assert_eq!(settings.limits, LimitSettings::default());
        let setting = api.profile.credential_setting.as_deref();
        assert_eq!(setting, Some("`AUTHENTIK_TOKEN`"));
        assert_eq!(settings.warnings(), Vec::<String>::new());
        assert!(!format!("{settings:?}").contains("SECRET"));
    }

    /// P58 and P74.
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
            ("MCP_UNTRUSTED", "/comments/*"),
            ("MCP_CONFIRM", "off"),
            ("MCP_FILES", "in=/data/in\nout=/a=b"),
            ("MCP_SURFACE", "code-mode"),
            ("MCP_SKILLS", "api-read"),
            ("MCP_DISABLE_SKILLS", "api-write"),
            ("MCP_NO_RETRIES", "yes"),
            ("MCP_PROXY", "http://u:SECRET@proxy.test"),
            ("MCP_CA_CERT", "/tmp/a.pem\nfile:///tmp/b.pem"),
            ("MCP_CLIENT_CERT", "/tmp/c d.pem"),
            ("MCP_CLIENT_KEY", "file:///tmp/c%20d.key"),
            ("MCP_CONNECT_TIMEOUT", "1.5"),
            ("MCP_ALLOW_REDIRECT", "https://files.test\ncdn.test:8443"),
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
            ("MCP_SCRIPT_BYTES", "100000"),
            ("MCP_STACK", "256"),
            ("MCP_RESPONSES_BYTES", "2000000"),
            ("MCP_LOGS_BYTES", "1000"),
            ("MCP_SCRIPTS", "3"),
        ];
        let settings = resolve(&[], &variables).unwrap();
        let api = &settings.apis[0];
        let profile = &api.profile;
        assert_eq!(profile.document, DocumentLocation::File("/tmp/a b/spec.json".into()));
        assert_eq!(profile.binding, "gitlab");
        assert_eq!(profile.trust, Trust::Trusted);
        assert_eq!(profile.reads, ["POST /search"]);
        assert_eq!(profile.untrusted, ["/comments/*"]);
        assert_eq!(api.address.base_url.as_str(), "http://api.test/v1");
        assert_eq!(api.credential.headers.len(), 2);
        assert!(settings.access.read_only);
        let deny: Vec<_> = settings.access.deny.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(deny, ["users", "DELETE /*"]);
        assert_eq!(settings.access.allow.len(), 1);
        assert_eq!(settings.confirm, Confirm::Off);
        let files: Vec<_> =
            settings.files.iter().map(|it| (it.name.as_str(), it.directory.as_path())).collect();
        assert_eq!(files, [("in", Path::new("/data/in")), ("out", Path::new("/a=b"))]);
        let network = NetworkSettings {
            timeout: Duration::from_millis(2500),
            connect_timeout: Duration::from_millis(1500),
            retries: false,
            redirects: ["https://files.test", "https://cdn.test:8443"]
                .iter()
                .map(|it| Url::parse(it).unwrap())
                .collect(),
            proxy: api.network.proxy.clone(),
            ca_certs: vec!["/tmp/a.pem".into(), "/tmp/b.pem".into()],
            identity: Some(("/tmp/c d.pem".into(), Some("/tmp/c d.key".into()))),
            insecure_tls: true,
        };
        assert_eq!(api.network, network);
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
            script_bytes: Some(100_000),
            stack_bytes: Some(256 << 10),
            responses_bytes: Some(2_000_000),
            logs_bytes: Some(1_000),
            scripts: Some(3),
        };
        assert_eq!(settings.limits, limits);
        assert_eq!(settings.limits_from.len(), 12);
        assert_eq!(settings.limits_from[0], "wall 90, from `MCP_WALL`");
        assert_eq!(settings.warnings().len(), 3);
    }

    const TWO: &str = "deny = [\"DELETE /*\"]\n\
        [[api]]\nprofile = \"authentik\"\nbase_url = \"https://id.test\"\ntoken_env = \"A_TOKEN\"\n\
        read_only = true\n\
        [[api]]\nname = \"gitea\"\ndocument = \"https://git.test/swagger.json\"\n\
        token_env = \"B_TOKEN\"\nauth = \"header:X-Key\"\nreads = [\"POST /search\"]\ntimeout = 3\n\
        [[flow]]\nfrom = \"ak\"\nto = \"gitea\"\n";

    const TOKENS: [(&str, &str); 2] = [("A_TOKEN", "SECRET-A"), ("B_TOKEN", "SECRET-B")];

    #[test]
    fn a_file_with_two_apis_gives_each_its_own() {
        let settings = with_file(&[], TWO, &TOKENS).unwrap();
        let names: Vec<_> = settings.apis.iter().map(|it| it.profile.binding.as_str()).collect();
        assert_eq!(names, ["ak", "gitea"]);
        let [ak, gitea] = settings.apis.as_slice() else { panic!("two APIs") };
        assert_eq!(ak.credential.setting().as_deref(), Some("`A_TOKEN`"));
        assert_eq!(gitea.credential.setting().as_deref(), Some("`B_TOKEN`"));
        assert!(ak.access.read_only && !gitea.access.read_only && !settings.access.read_only);
        assert_eq!(gitea.profile.reads, ["POST /search"]);
        assert_eq!(gitea.network.timeout, Duration::from_secs(3));
        assert_eq!(ak.network.timeout, Duration::from_secs(30));
        assert_eq!(settings.access.deny[0].from, "`deny` (c.toml:1)");
        assert!(ak.access.deny.is_empty());
        assert_eq!(settings.flows, [("ak".to_owned(), "gitea".to_owned())]);
        assert!(!format!("{settings:?}").contains("SECRET"));
    }

    /// The documented order: command line, file, environment.
    #[test]
    fn the_command_line_wins_over_the_file_and_the_file_over_the_environment() {
        let file = "confirm = \"off\"\n[limits]\nwall = 20\n[[api]]\nprofile = \"sentry\"\n\
                    base_url = \"https://file.test\"\ntoken = \"SECRET-F\"\n";
        let env = [
            ("SENTRY_HOST", "env.test"),
            ("SENTRY_AUTH_TOKEN", "SECRET-E"),
            ("MCP_WALL", "30"),
            ("MCP_CPU", "3"),
        ];
        let settings = with_file(&[], file, &env).unwrap();
        let api = &settings.apis[0];
        assert_eq!(api.address.base_url.as_str(), "https://file.test/");
        assert_eq!(api.address.from, "`base_url` (c.toml:6)");
        assert_eq!(api.credential.setting().as_deref(), Some("`token` (c.toml:7)"));
        assert_eq!(settings.limits.wall, Some(Duration::from_secs(20)));
        assert_eq!(
            settings.limits.cpu,
            Some(Duration::from_secs(3)),
            "only the environment has it"
        );
        assert_eq!(settings.confirm, Confirm::Off);

        let flags =
            ["--wall", "10", "--confirm", "code", "--access-token", "SECRET-C", "--host", "c.test"];
        let settings = with_file(&flags, file, &env).unwrap();
        let api = &settings.apis[0];
        assert_eq!(api.address.base_url.as_str(), "https://c.test/");
        assert_eq!(api.credential.setting().as_deref(), Some("`--access-token`"));
        assert_eq!(settings.limits.wall, Some(Duration::from_secs(10)));
        assert_eq!(settings.confirm, Confirm::Code);
    }

    #[test]
    fn a_file_that_nobody_named_does_not_mix_with_an_api_on_the_command_line() {
        let file = "[limits]\nwall = 20\n[[api]]\nprofile = \"sentry\"\ntoken = \"SECRET-F\"\n";
        let flags = ["--openapi", "a.json", "--base-url", "https://other.test"];
        let settings = with_file_of(&flags, file, &[], true).unwrap();
        assert_eq!(settings.apis[0].profile.kind, Kind::Custom);
        assert_eq!(settings.apis[0].credential.token, None);
        assert_eq!(settings.limits.wall, Some(Duration::from_secs(20)));
        assert!(settings.warnings()[0].contains("those of c.toml are left out"));
    }

    #[test]
    fn a_file_that_cannot_be_meant_says_what_to_change() {
        let unnamed = TWO.replace("name = \"gitea\"\n", "");
        let twice = TWO.replace("\"gitea\"", "\"ak\"");
        let nobody = TWO.replace("to = \"gitea\"", "to = \"gitlab\"");
        let cases: &[(&[&str], &str, &str)] = &[
            (&[], &unnamed, "an API of c.toml has no name"),
            (&[], &twice, "two APIs of c.toml are called `ak`"),
            (
                &[],
                &nobody,
                "`to` (c.toml:16) is `gitlab`, which is not an API of this file\n  hint: the APIs are `ak`, `gitea`",
            ),
            (
                &["--base-url", "x.test"],
                TWO,
                "`--base-url` belongs to one API, and c.toml names several",
            ),
            (&["--token-env", "A_TOKEN"], TWO, "`--token-env` belongs to one API"),
        ];
        for (flags, text, expected) in cases {
            let error = with_file(flags, text, &TOKENS).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
        let error = with_file(&[], TWO, &TOKENS[..1]).unwrap_err();
        assert!(
            error.starts_with("`token_env` (c.toml:10) names `B_TOKEN`, which is not set"),
            "{error}"
        );
    }
}
