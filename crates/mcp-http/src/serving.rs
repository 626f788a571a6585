//! What the options say about serving: where, for whom, how much. Checked as a whole before anything is
//! built, so that a server that starts is one that was meant.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use mcp_core::profile::Kind;
use server_config::{
    config,
    given::{Environment, Given, SetupError},
    settings::Settings,
};
use url::Url;

use crate::{
    options::{CallerOptions, LoadOptions, Options, ServerOptions},
    playground::settings::PlaygroundSettings,
};

/// A complete, consistent way to serve.
#[derive(Debug)]
pub(crate) struct Serving {
    pub(crate) listen: SocketAddr,
    pub(crate) public_url: Option<Url>,
    /// Host names that requests may be for; empty when any may.
    pub(crate) hosts: Vec<String>,
    pub(crate) origins: Vec<String>,
    pub(crate) proxies: usize,
    pub(crate) sessions: bool,
    pub(crate) metrics: bool,
    pub(crate) playground: PlaygroundSettings,
    pub(crate) audit_log: Option<PathBuf>,
    pub(crate) may_lack_jail: bool,
    /// The store that instances share, and the key they seal with.
    pub(crate) shared: Option<(Given, PathBuf)>,
    pub(crate) doors: Doors,
    pub(crate) load: Load,
    /// Further certificate authorities, as PEM.
    pub(crate) extra_ca: Vec<String>,
}

/// Who may call.
#[derive(Debug, Clone, Default)]
pub(crate) struct Doors {
    pub(crate) callers: Option<PathBuf>,
    /// Sentry's own scheme.
    pub(crate) pass_through: bool,
    /// Lower-case names of headers that are passed on.
    pub(crate) forwarded: Vec<String>,
    pub(crate) shared_credential: bool,
    pub(crate) oauth: Option<OAuthSettings>,
}

/// The issuer whose tokens are let in.
#[derive(Debug, Clone)]
pub(crate) struct OAuthSettings {
    pub(crate) issuer: String,
    pub(crate) audience: String,
    pub(crate) jwks: Option<Url>,
    pub(crate) algorithms: Vec<String>,
    /// `SCOPE=SKILL,SKILL`.
    pub(crate) scopes: Vec<Given>,
}

/// How much of it at once.
#[derive(Debug, Clone)]
pub(crate) struct Load {
    pub(crate) body: usize,
    pub(crate) connections: usize,
    pub(crate) in_progress: usize,
    pub(crate) caller_in_progress: usize,
    /// Requests a minute; 0 is no limit.
    pub(crate) rate: u32,
    pub(crate) address_rate: u32,
    pub(crate) sessions: usize,
    pub(crate) patience: Duration,
    pub(crate) grace: Duration,
}

impl Doors {
    /// Whether nobody is asked who they are.
    pub(crate) fn is_open(&self) -> bool {
        self.callers.is_none() && self.oauth.is_none() && !self.brings_own()
    }

    /// Whether callers bring their own credential for the API.
    pub(crate) fn brings_own(&self) -> bool {
        self.pass_through || !self.forwarded.is_empty()
    }

    /// Whether callers prove to this server who they are.
    pub(crate) fn knows_callers(&self) -> bool {
        self.callers.is_some() || self.oauth.is_some()
    }
}

/// Whether callers bring a credential of their own, as far as options and variables say.
pub(crate) fn callers_bring_their_own(
    options: &Options,
    env: Environment<'_>,
) -> Result<bool, SetupError> {
    let forwarded = Given::options("forward-header", &options.callers.forward_header, env)?;
    Ok(!forwarded.is_empty() || Given::switch("pass-through", options.callers.pass_through, env)?)
}

impl Serving {
    /// Settles everything that options and variables say.
    pub(crate) fn resolve(
        options: &Options,
        settings: &Settings,
        env: Environment<'_>,
    ) -> Result<Self, SetupError> {
        let server = &options.server;
        let listen = listen(server, env)?;
        let public_url = public_url(server, env)?;
        let doors = doors(&options.callers, public_url.as_ref(), env)?;
        check_doors(&doors, listen, settings)?;
        let extra_ca = extra_ca(settings)?;
        Ok(Self {
            listen,
            hosts: hosts(server, listen, public_url.as_ref(), env)?,
            origins: origins(server, &doors, public_url.as_ref(), env)?,
            public_url,
            proxies: match Given::option("behind-proxies", server.behind_proxies.as_ref(), env)? {
                Some(given) => given.number(0, 10)?,
                None => 0,
            },
            sessions: Given::switch("sessions", server.sessions, env)?,
            metrics: Given::switch("metrics", server.metrics, env)?,
            audit_log: Given::option("audit-log", server.audit_log.as_ref(), env)?
                .map(|given| PathBuf::from(given.text)),
            may_lack_jail: Given::switch("unsafe-no-jail", server.unsafe_no_jail, env)?,
            shared: shared(server, env)?,
            doors,
            load: load(&options.load, env)?,
            playground: PlaygroundSettings::resolve(&options.playground, settings, &extra_ca, env)?,
            extra_ca,
        })
    }

    /// What deserves a word at start although it works.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.doors.is_open() {
            warnings.push("anybody on this machine can call: see `--callers`".to_owned());
        }
        if self.hosts.is_empty() {
            warnings.push("`--allowed-host *`: any name that leads here is served".to_owned());
        }
        if self.public_url.is_none() && !self.listen.ip().is_loopback() {
            warnings.push(
                "`--public-url` is not set: requests for other names than the address are refused"
                    .to_owned(),
            );
        }
        warnings
    }
}

pub(crate) fn listen(
    options: &ServerOptions,
    env: Environment<'_>,
) -> Result<SocketAddr, SetupError> {
    let Some(given) = Given::option("listen", options.listen.as_ref(), env)? else {
        return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)));
    };
    given.text.parse().map_err(|_| {
        given.is_not("an address with a port", "write it as 127.0.0.1:8080 or [::]:8080")
    })
}

fn shared(
    options: &ServerOptions,
    env: Environment<'_>,
) -> Result<Option<(Given, PathBuf)>, SetupError> {
    let redis = Given::option("redis", options.redis.as_ref(), env)?;
    match (redis, Given::option("state-key", options.state_key.as_ref(), env)?) {
        (Some(redis), Some(key)) => Ok(Some((redis, PathBuf::from(key.text)))),
        (None, None) => Ok(None),
        (Some(_), None) => Err(SetupError::new(
            "`--redis` needs `--state-key`: what is kept there is sealed",
            "make a file with `openssl rand -base64 48`, the same for every instance",
        )),
        (None, Some(_)) => {
            Err(SetupError::new("`--state-key` says nothing without `--redis`", "leave it out"))
        }
    }
}

fn public_url(options: &ServerOptions, env: Environment<'_>) -> Result<Option<Url>, SetupError> {
    let Some(given) = Given::option("public-url", options.public_url.as_ref(), env)? else {
        return Ok(None);
    };
    let hint = "give the origin alone, as in https://mcp.example.com";
    let url = Url::parse(&given.text).ok().filter(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.path() == "/"
            && url.query().is_none()
            && url.username().is_empty()
    });
    url.map(Some).ok_or_else(|| given.is_not("the URL of a server", hint))
}

fn doors(
    options: &CallerOptions,
    public_url: Option<&Url>,
    env: Environment<'_>,
) -> Result<Doors, SetupError> {
    let forwarded = Given::options("forward-header", &options.forward_header, env)?;
    let header = |given: Given| {
        let name = given.text.to_ascii_lowercase();
        let parses = http::HeaderName::from_bytes(name.as_bytes()).is_ok();
        if !parses || NEVER_FORWARDED.iter().any(|it| name.starts_with(it)) {
            return Err(given.is_not("a header that can be passed on", "for example X-Api-Key"));
        }
        Ok(name)
    };
    let doors = Doors {
        callers: Given::option("callers", options.callers.as_ref(), env)?
            .map(|given| PathBuf::from(given.text)),
        pass_through: Given::switch("pass-through", options.pass_through, env)?,
        forwarded: forwarded.into_iter().map(header).collect::<Result<_, _>>()?,
        shared_credential: Given::switch("shared-credential", options.shared_credential, env)?,
        oauth: oauth(options, public_url, env)?,
    };
    let takes_authorization =
        doors.pass_through || doors.forwarded.iter().any(|name| name == "authorization");
    if takes_authorization && doors.knows_callers() {
        return Err(SetupError::new(
            "`Authorization` cannot be both the caller's token and a credential to pass on",
            "let callers send the credential in a header of its own, with `--forward-header`",
        ));
    }
    if doors.pass_through && !doors.forwarded.is_empty() {
        return Err(SetupError::new(
            "`--pass-through` and `--forward-header` are two ways to bring one credential",
            "keep one of the two",
        ));
    }
    if doors.shared_credential && (doors.brings_own() || doors.is_open()) {
        return Err(SetupError::new(
            "`--shared-credential` is for callers that are known by `--callers` or an issuer",
            "leave it out",
        ));
    }
    Ok(doors)
}

/// Headers that mean something between client and server, or between hops.
const NEVER_FORWARDED: &[&str] = &[
    "accept",
    "connection",
    "content-",
    "cookie",
    "expect",
    "forwarded",
    "host",
    "keep-alive",
    "last-event-id",
    "mcp-",
    "origin",
    "proxy-",
    "te",
    "trailer",
    "transfer-",
    "upgrade",
    "via",
    "x-forwarded-",
];

fn oauth(
    options: &CallerOptions,
    public_url: Option<&Url>,
    env: Environment<'_>,
) -> Result<Option<OAuthSettings>, SetupError> {
    let issuer = Given::option("oauth-issuer", options.oauth_issuer.as_ref(), env)?;
    let audience = Given::option("oauth-audience", options.oauth_audience.as_ref(), env)?;
    let jwks = Given::option("oauth-jwks", options.oauth_jwks.as_ref(), env)?;
    let algorithms = Given::options("oauth-algorithm", &options.oauth_algorithm, env)?;
    let scopes = Given::options("oauth-scope", &options.oauth_scope, env)?;
    let Some(issuer) = issuer else {
        let stray = audience.or(jwks).or(algorithms.into_iter().next());
        return match stray.or(scopes.into_iter().next()) {
            Some(given) => Err(SetupError::new(
                format!("{} says nothing without an issuer", given.from),
                "name it with `--oauth-issuer`",
            )),
            None => Ok(None),
        };
    };
    secure(&issuer)?;
    let Some(public_url) = public_url else {
        return Err(SetupError::new(
            "`--oauth-issuer` needs `--public-url`: clients are told what a token must be for",
            "set it to where clients find this server",
        ));
    };
    Ok(Some(OAuthSettings {
        audience: audience.map_or_else(|| format!("{public_url}mcp"), |given| given.text),
        jwks: jwks.as_ref().map(secure).transpose()?,
        algorithms: match algorithms.as_slice() {
            [] => vec!["RS256".to_owned(), "ES256".to_owned()],
            given => given.iter().map(|it| it.text.clone()).collect(),
        },
        scopes,
        issuer: issuer.text,
    }))
}

/// An address whose answers decide who gets in.
fn secure(given: &Given) -> Result<Url, SetupError> {
    let url = Url::parse(&given.text).ok().filter(|url| {
        let is_local = match url.host() {
            Some(url::Host::Ipv4(address)) => address.is_loopback(),
            Some(url::Host::Ipv6(address)) => address.is_loopback(),
            Some(url::Host::Domain(name)) => name == "localhost",
            None => false,
        };
        url.scheme() == "https" || (url.scheme() == "http" && is_local)
    });
    url.ok_or_else(|| given.is_not("an https URL", "plain http is for loopback alone"))
}

/// Certificate authorities that the API is trusted by, as PEM; an issuer may have one of them.
fn extra_ca(settings: &Settings) -> Result<Vec<String>, SetupError> {
    let mut all = Vec::new();
    for api in &settings.apis {
        all.extend(config::tls(&api.network)?.extra_ca_pem);
    }
    Ok(all)
}

/// Refuses set-ups in which somebody would get more than anybody meant.
fn check_doors(doors: &Doors, listen: SocketAddr, settings: &Settings) -> Result<(), SetupError> {
    if doors.is_open() && !listen.ip().is_loopback() {
        return Err(SetupError::new(
            format!("`{listen}` can be reached from elsewhere, and nobody is asked who they are"),
            "use `--callers`, `--oauth-issuer`, `--pass-through` or `--forward-header`, or listen \
             on 127.0.0.1",
        ));
    }
    if doors.brings_own() && settings.apis.len() > 1 {
        return Err(SetupError::new(
            "callers bring one credential, and the configuration has several APIs",
            "run a server for each of them",
        ));
    }
    let other = settings.apis.iter().find(|api| api.profile.kind != Kind::Sentry);
    if let Some(other) = other.filter(|_| doors.pass_through) {
        return Err(SetupError::new(
            format!("`--pass-through` is for Sentry, and this API is {}", other.profile.title),
            "name the header that holds the credential with `--forward-header`",
        ));
    }
    match settings.apis.iter().find_map(|api| api.credential.setting()) {
        Some(setting)
            if doors.knows_callers() && !doors.brings_own() && !doors.shared_credential =>
        {
            Err(SetupError::new(
                format!("every caller would act with the credential in {setting}"),
                "say so with `--shared-credential`, or let each bring their own with \
                 `--forward-header`",
            ))
        }
        _ => Ok(()),
    }
}

/// The names requests may be for; empty when any may.
fn hosts(
    options: &ServerOptions,
    listen: SocketAddr,
    public_url: Option<&Url>,
    env: Environment<'_>,
) -> Result<Vec<String>, SetupError> {
    let given = Given::options("allowed-host", &options.allowed_host, env)?;
    if given.iter().any(|given| given.text == "*") {
        return Ok(Vec::new());
    }
    let mut hosts: Vec<String> = given.into_iter().map(|it| it.text.to_ascii_lowercase()).collect();
    if listen.ip().is_loopback() || listen.ip().is_unspecified() {
        hosts.extend(["localhost", "127.0.0.1", "[::1]"].map(str::to_owned));
    }
    if !listen.ip().is_unspecified() {
        hosts.push(match listen.ip() {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        });
    }
    hosts.extend(public_url.and_then(Url::host_str).map(str::to_owned));
    Ok(hosts)
}

/// The origins whose pages may call; loopback pages count where nobody is asked who they are.
fn origins(
    options: &ServerOptions,
    doors: &Doors,
    public_url: Option<&Url>,
    env: Environment<'_>,
) -> Result<Vec<String>, SetupError> {
    let mut origins = Vec::new();
    for given in Given::options("allowed-origin", &options.allowed_origin, env)? {
        let origin = Url::parse(&given.text).ok().map(|url| url.origin());
        match origin.filter(url::Origin::is_tuple) {
            Some(origin) => origins.push(origin.ascii_serialization()),
            None => return Err(given.is_not("an origin", "write it as https://app.example.com")),
        }
    }
    origins.extend(public_url.map(|url| url.origin().ascii_serialization()));
    if doors.is_open() || public_url.is_none() {
        origins.push(LOOPBACK.to_owned());
    }
    Ok(origins)
}

/// Stands for every origin on this machine, whatever its port.
pub(crate) const LOOPBACK: &str = "loopback";

fn load(options: &LoadOptions, env: Environment<'_>) -> Result<Load, SetupError> {
    let number = |name, flag: &Option<String>, default: usize, least, most| {
        let given = Given::option(name, flag.as_ref(), env)?;
        given.map_or(Ok(default), |given| given.number::<usize>(least, most))
    };
    let seconds = |name, flag: &Option<String>, default: f64| {
        let given = Given::option(name, flag.as_ref(), env)?;
        let number = given.map_or(Ok(default), |given| given.number(0.1, 600.0));
        number.map(Duration::from_secs_f64)
    };
    let most = 1 << 20;
    Ok(Load {
        body: number("max-body", &options.max_body, 1_000_000, 1_000, 64_000_000)?,
        connections: number("max-connections", &options.max_connections, 1024, 1, most)?,
        in_progress: number("max-in-progress", &options.max_in_progress, 256, 1, most)?,
        caller_in_progress: number("caller-in-progress", &options.caller_in_progress, 32, 1, most)?,
        rate: number("rate", &options.rate, 300, 0, most)? as u32,
        address_rate: number("address-rate", &options.address_rate, 1200, 0, most)? as u32,
        sessions: number("max-sessions", &options.max_sessions, 1000, 1, most)?,
        patience: seconds("patience", &options.patience, 15.0)?,
        grace: seconds("grace", &options.grace, 20.0)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(arguments: &[&str]) -> Result<Serving, String> {
        let arguments = ["mcp-http"].iter().chain(arguments);
        let mut options = Options::parse_these(arguments).map_err(|it| it.to_string())?;
        let env = |name: &str| match name {
            "AUTHENTIK_URL" => Some("https://id.test".into()),
            "AUTHENTIK_TOKEN" => Some("SECRET-1".into()),
            _ => None,
        };
        let own = callers_bring_their_own(&options, &env).map_err(|it| it.to_string())?;
        let settings = Settings::resolve(options.shared(own), None, &env);
        let settings = settings.map_err(|error| error.to_string())?;
        Serving::resolve(&options, &settings, &env).map_err(|error| error.to_string())
    }

    #[test]
    fn by_default_it_serves_this_machine_alone() {
        let serving = resolve(&[]).unwrap();
        assert_eq!(serving.listen.to_string(), "127.0.0.1:8080");
        assert!(serving.doors.is_open() && !serving.sessions);
        assert_eq!(serving.hosts, ["localhost", "127.0.0.1", "[::1]", "127.0.0.1"]);
        assert_eq!(serving.origins, [LOOPBACK]);
        assert_eq!((serving.load.rate, serving.load.body), (300, 1_000_000));
        assert_eq!(serving.warnings().len(), 1);
    }

    #[test]
    fn a_way_to_serve_that_cannot_be_meant_says_what_to_change() {
        let public = "https://mcp.test";
        let cases: &[(&[&str], &str)] = &[
            (&["--listen", "8080"], "`--listen` is `8080`, which is not an address"),
            (&["--listen", "0.0.0.0:1"], "`0.0.0.0:1` can be reached from elsewhere"),
            (&["--pass-through"], "`--pass-through` is for Sentry, and this API is authentik"),
            (
                &["--callers", "f"],
                "every caller would act with the credential in `AUTHENTIK_TOKEN`",
            ),
            (&["--shared-credential"], "`--shared-credential` is for callers that are known"),
            (&["--forward-header", "Host"], "`--forward-header` is `Host`, which is not a header"),
            (&["--forward-header", "mcp-x"], "`--forward-header` is `mcp-x`"),
            (
                &["--callers", "f", "--forward-header", "Authorization"],
                "`Authorization` cannot be both",
            ),
            (&["--oauth-issuer", "http://a.test"], "`--oauth-issuer` is `http://a.test`"),
            (&["--oauth-issuer", "https://a.test"], "`--oauth-issuer` needs `--public-url`"),
            (&["--oauth-audience", "x"], "`--oauth-audience` says nothing without an issuer"),
            (&["--public-url", "https://a.test/x"], "`--public-url` is `https://a.test/x`"),
            (&["--public-url", public, "--allowed-origin", "a"], "`--allowed-origin` is `a`"),
            (&["--playground-remote"], "`--playground-remote` says nothing without `--playground`"),
            (&["--playground", "--chat", "openai"], "the chat has no model: `openai` has no key"),
            (&["--playground", "--chat", "x"], "`x` is no provider of models"),
            (&["--chat-model", "x"], "`--chat-model` says nothing without `--chat`"),
            (&["--playground", "--confirm", "off"], "the playground shows a write before it is"),
            (&["--rate", "many"], "`--rate` is `many`, which is not within bounds"),
        ];
        for (arguments, expected) in cases {
            let error = resolve(arguments).unwrap_err();
            assert!(error.starts_with(expected), "{arguments:?}: {error}");
            assert!(error.contains("\n  hint: "), "{error}");
        }
    }

    #[test]
    fn an_issuer_stands_for_an_audience_and_two_algorithms() {
        let arguments =
            ["--oauth-issuer", "https://id.test/o/", "--public-url", "https://mcp.test"];
        let serving = resolve(&[&arguments[..], &["--shared-credential"]].concat()).unwrap();
        let oauth = serving.doors.oauth.unwrap();
        assert_eq!(oauth.audience, "https://mcp.test/mcp");
        assert_eq!(oauth.issuer, "https://id.test/o/");
        assert_eq!(oauth.algorithms, ["RS256", "ES256"]);
        assert_eq!(serving.origins, ["https://mcp.test"]);
    }
}
