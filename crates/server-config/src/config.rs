//! The one place that reads the environment and the disk, and builds what the settings describe.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use api_client::{
    auth::{Credential, SecretSource},
    error::ConfigError,
    oauth::{self, ClientCredentials},
    secret::Secret,
    sentry::docs::Docs,
    transport::{ProxyOptions, TlsOptions, Transport, TransportOptions},
};
use mcp_core::{
    Context,
    agents::Embedded,
    code_mode::{
        confirm::ConfirmMode,
        files::Files,
        policy::{Access, Pattern},
    },
    context::{Api, ContextBuilder, Identity},
    docs::DocsSource,
    openapi::{
        Document,
        cache::CacheDir,
        source::{DocumentSource, Objection, SourceOptions, file_path},
    },
    profile::Kind,
    sandbox::{Limits, Pool, PoolOptions},
};
use model_client::Model;

use crate::{
    cli::Cli,
    config_file::{ConfigFile, check_secret},
    credential::{CredentialSettings, Token},
    given::{Given, SetupError},
    models::ModelSettings,
    scheme::{Grant, Scheme},
    script_limits::LimitSettings,
    settings::{
        AccessSettings, ApiSettings, CacheSettings, Confirm, FilesSettings, NetworkSettings,
        Settings,
    },
    tools::ToolSettings,
};

/// Chatty libraries, some of which would print headers.
const QUIETED: &str = "h2=warn,hyper=warn,hyper_util=warn,reqwest=warn,rustls=warn";
/// What a server with several APIs calls itself.
const SEVERAL: &str = "openapi-code-mode";
/// How long a misspelt pattern is worth waiting for.
const PATIENCE: Duration = Duration::from_secs(120);

/// Reads one environment variable.
pub fn variable(name: &str) -> Option<OsString> {
    env::var_os(name)
}

/// What to log, from `RUST_LOG`, or else from the level in `LOG_LEVEL`.
pub fn log_filter() -> String {
    let text = |name| variable(name).and_then(|value| value.into_string().ok());
    filter(text("RUST_LOG"), text("LOG_LEVEL"))
}

fn filter(rust_log: Option<String>, level: Option<String>) -> String {
    match (rust_log, level.as_deref().map(str::to_ascii_lowercase).as_deref()) {
        // What an operator asks for by name wins, as it comes later.
        (Some(directives), _) if !directives.is_empty() => format!("{QUIETED},{directives}"),
        (_, Some(level @ ("off" | "error"))) => level.to_owned(),
        (_, Some(level @ ("warn" | "info" | "debug" | "trace"))) => {
            format!("{level},{QUIETED},rmcp=warn")
        }
        _ => format!("info,{QUIETED},rmcp=warn"),
    }
}

/// Reads the configuration file: the one that is named, or else the user's own, if there is one.
pub fn file(cli: &Cli) -> Result<Option<ConfigFile>, SetupError> {
    let env = |name: &str| variable(name).map(Into::into);
    if Given::switch("no-config", cli.setup.no_config, &env)? {
        return Ok(None);
    }
    if let Some(named) = Given::option("config", cli.setup.config.as_ref(), &env)? {
        return ConfigFile::read(&file_path(&named.text), false).map(Some);
    }
    match default_file().filter(|path| path.symlink_metadata().is_ok()) {
        Some(path) => ConfigFile::read(&path, true).map(Some),
        None => Ok(None),
    }
}

/// Where the user's own configuration file is, if the platform says so.
pub fn default_file() -> Option<PathBuf> {
    let base = if cfg!(windows) {
        absolute("APPDATA")?
    } else if cfg!(target_os = "macos") {
        absolute("HOME")?.join("Library/Application Support")
    } else {
        absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")))?
    };
    Some(base.join("mcp-stdio").join("config.toml"))
}

/// Builds the context; needs a runtime, in which the documents start to load.
pub fn context(settings: &Settings) -> Result<Context, SetupError> {
    let limits = limits(settings);
    let access = access(&settings.access)?;
    let build = |one: &ApiSettings| api(one, settings, &access, &limits);
    let apis = settings.apis.iter().map(build).collect::<Result<Vec<_>, _>>()?;
    let documents = apis.iter().map(|api| Arc::clone(&api.document)).collect();
    drop(tokio::spawn(name_idle_patterns(documents, access.clone())));
    let identity = Identity {
        name: match apis.as_slice() {
            [one] => one.profile.server_name.clone(),
            _ => SEVERAL.to_owned(),
        },
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let standard = PoolOptions::default();
    let pool = Arc::new(Pool::new(PoolOptions {
        at_once: settings.limits.scripts.unwrap_or(standard.at_once),
        ceiling: limits.clone(),
        ..standard
    }));
    let confirm = match settings.confirm {
        Confirm::Plan => ConfirmMode::Plan,
        Confirm::Code => ConfirmMode::Code,
        Confirm::Off => ConfirmMode::Off,
    };
    let mut apis = apis.into_iter();
    let Some(first) = apis.next() else {
        return Err(SetupError::new("no API is named", "`--help` has examples"));
    };
    let builder = apis.fold(Context::builder(identity, pool, first), ContextBuilder::api);
    let flows = settings.flows.iter().cloned().collect();
    let builder = builder.access(access).flows(flows).files(files(&settings.files)?);
    let builder = builder.confirm(confirm).limits(limits);
    let sentry = settings.apis.iter().find(|api| api.profile.kind == Kind::Sentry);
    let network = sentry.or(settings.apis.first()).map(|api| &api.network);
    let builder = tools(builder, &settings.tools, network)?;
    Ok(agent(builder, &settings.models, network)?.build())
}

/// The model behind the search tools, if one was named.
fn agent(
    builder: ContextBuilder,
    settings: &ModelSettings,
    network: Option<&NetworkSettings>,
) -> Result<ContextBuilder, SetupError> {
    let (Some(chosen), Some(network)) = (&settings.chosen, network) else { return Ok(builder) };
    let mut chosen = chosen.clone();
    // The caller waits: what does not answer at once is done without.
    chosen.attempts = 1;
    chosen.tls = tls(network)?;
    chosen.proxy = proxy(network);
    let model = Model::new(chosen).map_err(setup_error)?;
    Ok(builder.agent(Arc::new(Embedded::new(model))))
}

/// What is shown and granted.
fn tools(
    builder: ContextBuilder,
    settings: &ToolSettings,
    network: Option<&NetworkSettings>,
) -> Result<ContextBuilder, SetupError> {
    let builder = builder
        .skills(settings.skills)
        .constraints(settings.constraints.clone())
        .experimental(settings.experimental);
    let builder = match settings.surface {
        Some(surface) => builder.surface(surface),
        None => builder,
    };
    let (Some(docs), Some(network)) = (&settings.docs, network) else { return Ok(builder) };
    // The documentation is public: no credential goes there.
    let options = network_options(network, docs)?;
    let transport = Transport::new(options).map_err(setup_error)?;
    let source = DocsSource::new(Docs::new(transport));
    Ok(builder.docs(match &settings.docs_pages {
        Some(mirror) => source.mirrored_at(mirror.clone()),
        None => source,
    }))
}

fn files(settings: &[FilesSettings]) -> Result<Files, SetupError> {
    let named = settings.iter().map(|it| (it.name.clone(), it.directory.as_path()));
    Files::open(named).map_err(|(path, error)| {
        let from = settings.iter().find(|it| it.directory == path);
        SetupError::new(
            format!(
                "{}: the directory `{}` cannot be opened: {error}",
                from.map_or("`--files`", |it| &it.from),
                path.display()
            ),
            "name a directory that is there",
        )
    })
}

fn api(
    one: &ApiSettings,
    settings: &Settings,
    all: &Access,
    limits: &Limits,
) -> Result<Api, SetupError> {
    let profile = one.profile.clone();
    let transport = Arc::new(transport(one, limits)?);
    if let Some(path) = profile.document.file() {
        check_file("the OpenAPI document", path)?;
    }
    let own = access(&one.access)?;
    let document = Arc::new(DocumentSource::new(SourceOptions {
        title: profile.title.clone(),
        location: profile.document.clone(),
        transport: Arc::clone(&transport),
        credential_setting: profile.credential_setting.clone(),
        cache: cache(&settings.cache),
        objection: Some(objection(all.deny.iter().chain(&own.deny).cloned().collect())),
    }));
    drop(tokio::spawn(name_idle_patterns(vec![Arc::clone(&document)], own.clone())));
    let mut api = Api::new(profile, transport, document);
    api.access = own;
    Ok(api)
}

fn access(settings: &AccessSettings) -> Result<Access, SetupError> {
    Ok(Access {
        read_only: settings.read_only,
        allow: patterns(&settings.allow)?,
        deny: patterns(&settings.deny)?,
    })
}

fn transport(settings: &ApiSettings, limits: &Limits) -> Result<Transport, SetupError> {
    let mut options = network_options(&settings.network, &settings.address.base_url)?;
    options.user_agent = format!("{}/{}", settings.profile.server_name, env!("CARGO_PKG_VERSION"));
    options.credential = credential(settings)?;
    options.headers = settings
        .credential
        .headers
        .iter()
        .map(|(name, value)| (name.clone(), Secret::new(value.text.as_str())))
        .collect();
    options.max_response_bytes = limits.response as u64;
    let siblings = settings.profile.sibling_origins(&settings.address.base_url);
    let allowed = siblings.iter().chain(&settings.network.redirects);
    options.allowed_origins = allowed.map(url::Url::origin).collect();
    Transport::new(options).map_err(setup_error)
}

/// How any server is reached: time, certificates, proxy.
fn network_options(
    network: &NetworkSettings,
    base_url: &url::Url,
) -> Result<TransportOptions, SetupError> {
    let mut options = TransportOptions::new(base_url.clone());
    options.timeout = network.timeout;
    options.connect_timeout = network.connect_timeout.min(network.timeout);
    options.retries = network.retries;
    options.tls = tls(network)?;
    options.proxy = proxy(network);
    Ok(options)
}

/// The proxy that the operator named.
pub fn proxy(network: &NetworkSettings) -> Option<ProxyOptions> {
    let url = |given: &Given| Secret::new(given.text.as_str());
    network.proxy.as_ref().map(|it| ProxyOptions { url: url(it), no_proxy: no_proxy() })
}

fn credential(settings: &ApiSettings) -> Result<Credential, SetupError> {
    let CredentialSettings { token: Some(token), scheme, .. } = &settings.credential else {
        return Ok(Credential::None);
    };
    let source = match token {
        Token::Text(given) => SecretSource::literal(given.from.trim_matches('`'), &given.text),
        Token::File { path, from } => {
            if check_secret(path, from)? {
                tracing::warn!("{from}: others can read `{}`: chmod 600", path.display());
            }
            SecretSource::file(path)
        }
        Token::Command(command) => {
            Ok(SecretSource::supplied(command.from.trim_matches('`'), command.clone()))
        }
        Token::Keyring(entry) => {
            Ok(SecretSource::supplied(entry.from.trim_matches('`'), entry.clone()))
        }
    };
    let secret = || source.clone().map_err(setup_error);
    Ok(match scheme {
        Scheme::Bearer => Credential::Bearer(secret()?),
        Scheme::Header(name) => Credential::Header { name: name.clone(), secret: secret()? },
        Scheme::Query(name) => Credential::Query { name: name.clone(), secret: secret()? },
        Scheme::Basic(Some(user)) => Credential::Basic { user: user.clone(), password: secret()? },
        Scheme::Basic(None) => basic(token)?,
        Scheme::OAuth(grant) => Credential::Bearer(access_tokens(settings, grant, secret()?)?),
    })
}

fn access_tokens(
    settings: &ApiSettings,
    grant: &Grant,
    client_secret: SecretSource,
) -> Result<SecretSource, SetupError> {
    let request = oauth::Grant {
        token_url: grant.token_url.clone(),
        client_id: grant.client.clone(),
        client_secret,
        scope: grant.scope.clone(),
    };
    let client = ClientCredentials::new(
        network_options(&settings.network, &settings.address.base_url)?,
        request,
    );
    Ok(client.map_err(setup_error)?.into_source(grant.from.trim_matches('`')))
}

/// Splits a token of the form `USER:PASSWORD`.
fn basic(token: &Token) -> Result<Credential, SetupError> {
    let Token::Text(given) = token else {
        return Err(SetupError::new(
            "`--auth basic` needs a user name beside the token file or command",
            "write `--auth basic:USER` and let the file or command hold the password alone",
        ));
    };
    let Some((user, password)) = given.text.split_once(':') else {
        return Err(SetupError::new(
            format!("{} holds no `:` between user name and password", given.from),
            "write it as USER:PASSWORD, or use `--auth basic:USER`",
        ));
    };
    let password = SecretSource::literal(given.from.trim_matches('`'), password);
    Ok(Credential::Basic { user: user.to_owned(), password: password.map_err(setup_error)? })
}

pub fn tls(settings: &NetworkSettings) -> Result<TlsOptions, SetupError> {
    let read = |option: &str, path: &Path| {
        std::fs::read_to_string(path).map_err(|error| {
            SetupError::new(
                format!("`{option}` cannot be read from `{}`: {error}", path.display()),
                "name a PEM file",
            )
        })
    };
    let mut options = TlsOptions { insecure: settings.insecure_tls, ..TlsOptions::default() };
    for path in &settings.ca_certs {
        options.extra_ca_pem.push(read("--ca-cert", path)?);
    }
    if let Some((certificate, key)) = &settings.identity {
        let mut pem = read("--client-cert", certificate)?;
        if let Some(key) = key {
            pem.push('\n');
            pem.push_str(&read("--client-key", key)?);
        }
        options.client_identity_pem = Some(Secret::new(pem));
    }
    Ok(options)
}

fn no_proxy() -> String {
    let set = ["NO_PROXY", "no_proxy"].into_iter().find_map(variable);
    set.and_then(|value| value.into_string().ok()).unwrap_or_default()
}

fn patterns(given: &[Given]) -> Result<Vec<Pattern>, SetupError> {
    let parse = |given: &Given| {
        given.text.parse::<Pattern>().map_err(|error| {
            SetupError::new(
                format!("{} cannot be used: {error}", given.from),
                "for example 'core_users_*', 'admin' or 'GET /core/*'",
            )
        })
    };
    given.iter().map(parse).collect()
}

/// A new document in which a deny rule matches nothing any more would open what it closed.
fn objection(deny: Vec<Pattern>) -> Objection {
    Arc::new(move |old, new| {
        let emptied = deny.iter().find(|it| matches_any(it, old) && !matches_any(it, new))?;
        Some(format!("the deny rule `{emptied}` would match nothing in it"))
    })
}

/// A pattern that matches nothing in any of the documents is most likely misspelt.
async fn name_idle_patterns(documents: Vec<Arc<DocumentSource>>, access: Access) {
    if access.allow.is_empty() && access.deny.is_empty() {
        return;
    }
    let deadline = Instant::now() + PATIENCE;
    let mut loaded = Vec::new();
    for document in documents {
        match document.get(deadline).await {
            Ok(document) => loaded.push(document),
            Err(_) => return,
        }
    }
    for pattern in access.allow.iter().chain(&access.deny) {
        if !loaded.iter().any(|loaded| matches_any(pattern, &loaded.document)) {
            tracing::warn!("the pattern `{pattern}` matches no operation of the document");
        }
    }
}

fn matches_any(pattern: &Pattern, document: &Document) -> bool {
    document.summaries().iter().any(|operation| pattern.matches(operation))
}

fn limits(settings: &Settings) -> Limits {
    let longest = settings.apis.iter().map(|api| api.network.timeout).max();
    limits_with(&settings.limits, longest)
}

/// Each API's own transport keeps its own time; a run allows for the longest.
fn limits_with(settings: &LimitSettings, longest: Option<Duration>) -> Limits {
    let standard = Limits::default();
    Limits {
        wall: settings.wall.unwrap_or(standard.wall),
        cpu: settings.cpu.unwrap_or(standard.cpu),
        heap: settings.heap_bytes.unwrap_or(standard.heap),
        request: longest.unwrap_or(standard.request),
        requests: settings.max_requests.unwrap_or(standard.requests),
        concurrent_requests: settings.concurrency.unwrap_or(standard.concurrent_requests),
        response: settings.response_bytes.unwrap_or(standard.response),
        // A run must be able to take in the largest response at least once.
        responses: settings
            .responses_bytes
            .unwrap_or(standard.responses)
            .max(settings.response_bytes.unwrap_or_default()),
        script: settings.script_bytes.unwrap_or(standard.script),
        stack: settings.stack_bytes.unwrap_or(standard.stack),
        logs: settings.logs_bytes.unwrap_or(standard.logs),
        result: settings.result_bytes.unwrap_or(standard.result),
        ..standard
    }
}

fn cache(settings: &CacheSettings) -> Option<CacheDir> {
    match settings {
        CacheSettings::Off => None,
        CacheSettings::Directory(path) => Some(CacheDir::new(path)),
        CacheSettings::User => user_cache().map(CacheDir::new),
    }
}

/// The user's own directory for caches, if the platform says where that is.
fn user_cache() -> Option<PathBuf> {
    let base = if cfg!(windows) {
        absolute("LOCALAPPDATA")?
    } else if cfg!(target_os = "macos") {
        absolute("HOME")?.join("Library/Caches")
    } else {
        absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?
    };
    Some(base.join("mcp-stdio"))
}

/// A directory that a variable names; what is not absolute would depend on the working directory.
fn absolute(name: &str) -> Option<PathBuf> {
    variable(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

fn check_file(what: &str, path: &Path) -> Result<(), SetupError> {
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => Err(SetupError::new(
            format!("{what} `{}` is a directory", path.display()),
            "name the file itself",
        )),
        Ok(_) => Ok(()),
        Err(error) => Err(SetupError::new(
            format!("{what} `{}` cannot be opened: {error}", path.display()),
            "check the path; a relative one starts at the directory the client runs in",
        )),
    }
}

fn setup_error(error: ConfigError) -> SetupError {
    SetupError::new(error.message(), error.hint())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_level_is_the_operators_and_libraries_stay_quiet() {
        let some = |text: &str| Some(text.to_owned());
        let standard = "info,h2=warn,hyper=warn,hyper_util=warn,reqwest=warn,rustls=warn,\
                        rmcp=warn";
        assert_eq!(filter(None, None), standard);
        assert_eq!(filter(some(""), some("nonsense")), standard);
        assert_eq!(filter(None, some("ERROR")), "error");
        assert!(filter(None, some("debug")).starts_with("debug,h2=warn"));
        assert!(filter(some("trace"), some("error")).ends_with(",rustls=warn,trace"));
    }

    #[test]
    fn limits_that_nobody_set_are_the_standard_ones() {
        let standard = Limits::default();
        assert_eq!(limits_with(&LimitSettings::default(), None), standard);
        let larger = LimitSettings { response_bytes: Some(40 << 20), ..LimitSettings::default() };
        let limits = limits_with(&larger, Some(Duration::from_secs(3)));
        assert_eq!((limits.responses, limits.request), (40 << 20, Duration::from_secs(3)));
    }
}
