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
    secret::Secret,
    sentry::docs::Docs,
    transport::{ProxyOptions, TlsOptions, Transport, TransportOptions},
};
use mcp_core::{
    Context,
    code_mode::{
        confirm::ConfirmMode,
        policy::{Access, Pattern},
    },
    context::{Api, ContextBuilder, Identity},
    docs::DocsSource,
    openapi::{
        Document,
        cache::CacheDir,
        source::{DocumentSource, Objection, SourceOptions},
    },
    sandbox::{Limits, Pool, PoolOptions},
};

use crate::{
    credential::{CredentialSettings, Scheme, Token},
    given::{Given, SetupError},
    settings::{CacheSettings, Confirm, LimitSettings, NetworkSettings, Settings},
    tools::ToolSettings,
};

/// Chatty libraries, some of which would print headers.
const QUIETED: &str = "h2=warn,hyper=warn,hyper_util=warn,reqwest=warn,rustls=warn";
/// How long a misspelt pattern is worth waiting for.
const PATIENCE: Duration = Duration::from_secs(120);

/// Reads one environment variable.
pub(crate) fn variable(name: &str) -> Option<OsString> {
    env::var_os(name)
}

/// What to log, from `RUST_LOG`, or else from the level in `LOG_LEVEL`.
pub(crate) fn log_filter() -> String {
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

/// Builds the context; needs a runtime, in which the document starts to load.
pub(crate) fn context(settings: &Settings) -> Result<Context, SetupError> {
    let profile = settings.profile.clone();
    let limits = limits(&settings.limits, &settings.network);
    let transport = Arc::new(transport(settings, &limits)?);
    if let Some(path) = profile.document.file() {
        check_file("the OpenAPI document", path)?;
    }
    let access = Access {
        read_only: settings.access.read_only,
        allow: patterns(&settings.access.allow)?,
        deny: patterns(&settings.access.deny)?,
    };
    let document = Arc::new(DocumentSource::new(SourceOptions {
        title: profile.title.clone(),
        location: profile.document.clone(),
        transport: Arc::clone(&transport),
        credential_setting: profile.credential_setting.clone(),
        cache: cache(&settings.cache),
        objection: Some(objection(access.deny.clone())),
    }));
    drop(tokio::spawn(name_idle_patterns(Arc::clone(&document), access.clone())));
    let identity = Identity {
        name: profile.server_name.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let standard = PoolOptions::default();
    let pool = Arc::new(Pool::new(PoolOptions {
        at_once: settings.limits.scripts.unwrap_or(standard.at_once),
        ceiling: limits.clone(),
        ..standard
    }));
    let api = Api { profile, transport, document };
    let confirm = match settings.confirm {
        Confirm::Code => ConfirmMode::Code,
        Confirm::Off => ConfirmMode::Off,
    };
    let builder = Context::builder(identity, pool, api);
    let builder = builder.access(access).confirm(confirm).limits(limits);
    Ok(tools(builder, &settings.tools, &settings.network)?.build())
}

/// What is shown and granted.
fn tools(
    builder: ContextBuilder,
    settings: &ToolSettings,
    network: &NetworkSettings,
) -> Result<ContextBuilder, SetupError> {
    let builder = builder
        .skills(settings.skills)
        .constraints(settings.constraints.clone())
        .experimental(settings.experimental);
    let builder = match settings.surface {
        Some(surface) => builder.surface(surface),
        None => builder,
    };
    let Some(docs) = &settings.docs else { return Ok(builder) };
    // The documentation is public: no credential goes there.
    let mut options = TransportOptions::new(docs.clone());
    reach(&mut options, network)?;
    let transport = Transport::new(options).map_err(setup_error)?;
    Ok(builder.docs(DocsSource::new(Docs::new(transport))))
}

fn transport(settings: &Settings, limits: &Limits) -> Result<Transport, SetupError> {
    let mut options = TransportOptions::new(settings.address.base_url.clone());
    options.credential = credential(&settings.credential)?;
    options.headers = settings
        .credential
        .headers
        .iter()
        .map(|(name, value)| (name.clone(), Secret::new(value.text.as_str())))
        .collect();
    options.timeout = settings.network.timeout;
    options.connect_timeout = options.connect_timeout.min(settings.network.timeout);
    options.retries = settings.network.retries;
    options.user_agent = format!("{}/{}", settings.profile.server_name, env!("CARGO_PKG_VERSION"));
    options.max_response_bytes = limits.response as u64;
    let siblings = settings.profile.sibling_origins(&settings.address.base_url);
    options.allowed_origins = siblings.iter().map(url::Url::origin).collect();
    reach(&mut options, &settings.network)?;
    Transport::new(options).map_err(setup_error)
}

/// How requests get out, whatever they are for.
fn reach(options: &mut TransportOptions, network: &NetworkSettings) -> Result<(), SetupError> {
    options.tls = tls(network)?;
    options.proxy = network
        .proxy
        .as_ref()
        .map(|proxy| ProxyOptions { url: Secret::new(proxy.text.as_str()), no_proxy: no_proxy() });
    Ok(())
}

fn credential(settings: &CredentialSettings) -> Result<Credential, SetupError> {
    let Some(token) = &settings.token else {
        return Ok(Credential::None);
    };
    let source = match token {
        Token::Text(given) => SecretSource::literal(given.from.trim_matches('`'), &given.text),
        Token::File { path, .. } => SecretSource::file(path),
    };
    let secret = || source.clone().map_err(setup_error);
    Ok(match &settings.scheme {
        Scheme::Bearer => Credential::Bearer(secret()?),
        Scheme::Header(name) => Credential::Header { name: name.clone(), secret: secret()? },
        Scheme::Query(name) => Credential::Query { name: name.clone(), secret: secret()? },
        Scheme::Basic(Some(user)) => Credential::Basic { user: user.clone(), password: secret()? },
        Scheme::Basic(None) => basic(token)?,
    })
}

/// Splits a token of the form `USER:PASSWORD`.
fn basic(token: &Token) -> Result<Credential, SetupError> {
    let Token::Text(given) = token else {
        return Err(SetupError::new(
            "`--auth basic` needs a user name beside the token file",
            "write `--auth basic:USER` and keep the password alone in the file",
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

fn tls(settings: &NetworkSettings) -> Result<TlsOptions, SetupError> {
    let mut options = TlsOptions { insecure: settings.insecure_tls, ..TlsOptions::default() };
    for path in &settings.ca_certs {
        options.extra_ca_pem.push(std::fs::read_to_string(path).map_err(|error| {
            SetupError::new(
                format!("`--ca-cert` cannot be read from `{}`: {error}", path.display()),
                "name a PEM file",
            )
        })?);
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

/// A pattern that matches nothing is most likely misspelt.
async fn name_idle_patterns(document: Arc<DocumentSource>, access: Access) {
    if access.allow.is_empty() && access.deny.is_empty() {
        return;
    }
    let Ok(loaded) = document.get(Instant::now() + PATIENCE).await else {
        return;
    };
    let patterns = access.allow.iter().chain(&access.deny);
    for pattern in patterns.filter(|pattern| !matches_any(pattern, &loaded.document)) {
        tracing::warn!("the pattern `{pattern}` matches no operation of the document");
    }
}

fn matches_any(pattern: &Pattern, document: &Document) -> bool {
    document.summaries().iter().any(|operation| pattern.matches(operation))
}

fn limits(settings: &LimitSettings, network: &NetworkSettings) -> Limits {
    let standard = Limits::default();
    Limits {
        wall: settings.wall.unwrap_or(standard.wall),
        cpu: settings.cpu.unwrap_or(standard.cpu),
        heap: settings.heap_bytes.unwrap_or(standard.heap),
        request: network.timeout,
        requests: settings.max_requests.unwrap_or(standard.requests),
        concurrent_requests: settings.concurrency.unwrap_or(standard.concurrent_requests),
        response: settings.response_bytes.unwrap_or(standard.response),
        // A run must be able to take in the largest response at least once.
        responses: standard.responses.max(settings.response_bytes.unwrap_or_default()),
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
    let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = if cfg!(windows) {
        absolute("LOCALAPPDATA")?
    } else if cfg!(target_os = "macos") {
        absolute("HOME")?.join("Library/Caches")
    } else {
        absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?
    };
    Some(base.join("mcp-stdio"))
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
        let network = NetworkSettings {
            timeout: Limits::default().request,
            retries: true,
            proxy: None,
            ca_certs: Vec::new(),
            insecure_tls: false,
        };
        assert_eq!(limits(&LimitSettings::default(), &network), Limits::default());
        let larger = LimitSettings { response_bytes: Some(40 << 20), ..LimitSettings::default() };
        assert_eq!(limits(&larger, &network).responses, 40 << 20);
    }
}
