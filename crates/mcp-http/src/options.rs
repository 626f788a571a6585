//! The command line of the server; what concerns the API behind it is shared with `mcp-stdio`.

use std::ffi::OsString;

use clap::{Args, Command, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use server_config::cli::{
    AccessOptions, ApiOptions, Cli, CredentialOptions, LimitOptions, ModelOptions, NetworkOptions,
    SentryOptions, SetupOptions, documented, given,
};

const EXAMPLES: &str = "\
Examples:
  AUTHENTIK_URL=https://id.example.com AUTHENTIK_TOKEN=… mcp-http
      for one person, on http://127.0.0.1:8080/mcp
  mcp-http --listen 0.0.0.0:8080 --public-url https://mcp.example.com --pass-through
      Sentry for a team: each caller sends `Authorization: Sentry-Bearer …`
  mcp-http --listen 0.0.0.0:8080 --public-url https://mcp.example.com --callers callers.txt \\
           --shared-credential
      everybody with a token of the file acts with the server's own credential
  mcp-http token ann      makes a token and the line of the file that lets it in

Every option can be an environment variable instead; the command line wins. Options that may be
repeated take one value a line there. Logs go to stderr, as much as RUST_LOG or LOG_LEVEL says.
Exit status: 0 when told to end, 1 when it cannot listen, 2 when the set-up is wrong.";

/// Gives the agents of a team a whole HTTP API over MCP: they can search the operations, read with
/// scripts, and write only what a person has confirmed.
#[derive(Parser)]
#[command(name = "mcp-http", version, after_help = EXAMPLES, max_term_width = 100)]
struct Line {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    server: ServerOptions,
    #[command(flatten)]
    playground: PlaygroundOptions,
    #[command(flatten)]
    callers: CallerOptions,
    #[command(flatten)]
    load: LoadOptions,
    #[command(flatten)]
    setup: SetupOptions,
    #[command(flatten)]
    api: ApiOptions,
    #[command(flatten)]
    credential: CredentialOptions,
    #[command(flatten)]
    access: AccessOptions,
    #[command(flatten)]
    sentry: SentryOptions,
    #[command(flatten)]
    models: ModelOptions,
    #[command(flatten)]
    network: NetworkOptions,
    #[command(flatten)]
    limits: LimitOptions,
}

/// The options, those that `mcp-stdio` has too apart from the server's own.
pub(crate) struct Options {
    pub(crate) action: Option<Action>,
    pub(crate) server: ServerOptions,
    pub(crate) playground: PlaygroundOptions,
    pub(crate) callers: CallerOptions,
    pub(crate) load: LoadOptions,
    shared: Cli,
}

/// What to do instead of serving.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum Action {
    /// Make a token, and the line of the callers' file that lets it in
    Token {
        /// Who gets it; appears in logs
        name: String,
    },
    /// Ask the server on this machine whether it is ready; exit status 0 or 1
    Health,
}

#[derive(Args)]
#[command(next_help_heading = "Server")]
pub(crate) struct ServerOptions {
    /// Address and port to listen on [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<String>,

    /// Where clients find this server, such as https://mcp.example.com
    #[arg(long, value_name = "URL")]
    pub(crate) public_url: Option<String>,

    /// Accept this `Host` too, or any with `*`; may be repeated
    #[arg(long, value_name = "HOST")]
    pub(crate) allowed_host: Vec<String>,

    /// Accept web pages of this origin too; may be repeated
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) allowed_origin: Vec<String>,

    /// How many proxies stand in front: the caller's address is taken from X-Forwarded-For
    #[arg(long, value_name = "N")]
    pub(crate) behind_proxies: Option<String>,

    /// Keep sessions for clients of the revisions before 2026-07-28; without them nothing is lost on
    /// a restart, but a server cannot ask such a client's person
    #[arg(long)]
    pub(crate) sessions: bool,

    /// Answer GET /metrics, in Prometheus' text format
    #[arg(long)]
    pub(crate) metrics: bool,

    /// Append every write to this file, one line of JSON before it is sent and one after
    #[arg(long, value_name = "FILE")]
    pub(crate) audit_log: Option<String>,

    /// Share confirmations and rates with other instances through this Redis or Valkey
    #[arg(long, value_name = "redis://…")]
    pub(crate) redis: Option<String>,

    /// The file with the key that instances share, at least 32 bytes
    #[arg(long, value_name = "FILE")]
    pub(crate) state_key: Option<String>,

    /// Send traces to this OpenTelemetry collector, as OTLP over HTTP (needs the feature `otel`)
    #[arg(long, value_name = "URL")]
    pub(crate) otlp_endpoint: Option<String>,

    /// Report errors to this project of Sentry (needs the feature `sentry`)
    #[arg(long, value_name = "DSN")]
    pub(crate) sentry_dsn: Option<String>,

    /// How logs are written: json or text [default: json]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) log_format: Option<String>,

    /// Run scripts where the system has no seccomp, under resource limits alone
    #[arg(long)]
    pub(crate) unsafe_no_jail: bool,
}

#[derive(Args)]
#[command(next_help_heading = "Playground")]
pub(crate) struct PlaygroundOptions {
    /// Answer GET / with a page that tries the tools, for browsers on this machine
    #[arg(long)]
    pub(crate) playground: bool,

    /// Serve that page to other machines too
    #[arg(long)]
    pub(crate) playground_remote: bool,

    /// Give that page a chat with a model of this provider: openai, azure-openai, anthropic or
    /// openrouter; the key comes from OPENAI_API_KEY, ANTHROPIC_API_KEY or OPENROUTER_API_KEY
    #[arg(long, value_name = "PROVIDER")]
    pub(crate) chat: Option<String>,

    /// Which of the provider's models [default: gpt-5, claude-sonnet-4-5 or openai/gpt-5.6-luna]
    #[arg(long, value_name = "NAME")]
    pub(crate) chat_model: Option<String>,

    /// Where the provider's API is, or one like it; not read from the environment
    #[arg(long, value_name = "URL")]
    pub(crate) chat_base_url: Option<String>,
}

#[derive(Args)]
#[command(next_help_heading = "Who may call")]
pub(crate) struct CallerOptions {
    /// Let in the tokens of this file, and no others; read again when it changes
    #[arg(long, value_name = "FILE")]
    pub(crate) callers: Option<String>,

    /// Callers bring their own credential for Sentry: `Authorization: Sentry-Bearer …`
    #[arg(long)]
    pub(crate) pass_through: bool,

    /// Callers bring their own credential for the API in this header, which is passed on; may be
    /// repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) forward_header: Vec<String>,

    /// Callers of the file or of the issuer act with the server's own credential
    #[arg(long)]
    pub(crate) shared_credential: bool,

    /// Let in access tokens (JWT) of this OAuth 2 issuer
    #[arg(long, value_name = "URL")]
    pub(crate) oauth_issuer: Option<String>,

    /// The audience that tokens must name [default: the public URL with /mcp]
    #[arg(long, value_name = "URI")]
    pub(crate) oauth_audience: Option<String>,

    /// Where the issuer's keys are [default: as its metadata says]
    #[arg(long, value_name = "URL")]
    pub(crate) oauth_jwks: Option<String>,

    /// Signature algorithms to accept; may be repeated [default: RS256, ES256]
    #[arg(long, value_name = "NAME")]
    pub(crate) oauth_algorithm: Vec<String>,

    /// A scope of the issuer and the skills it stands for; may be repeated [default: a scope for
    /// each skill, by its name]
    #[arg(long, value_name = "SCOPE=SKILL[,SKILL]")]
    pub(crate) oauth_scope: Vec<String>,
}

#[derive(Args)]
#[command(next_help_heading = "Limits of the server")]
pub(crate) struct LoadOptions {
    /// Largest request body [default: 1000000]
    #[arg(long, value_name = "BYTES")]
    pub(crate) max_body: Option<String>,

    /// Most connections; further ones wait [default: 1024]
    #[arg(long, value_name = "N")]
    pub(crate) max_connections: Option<String>,

    /// Most requests in progress [default: 256]
    #[arg(long, value_name = "N")]
    pub(crate) max_in_progress: Option<String>,

    /// Most requests in progress of one caller [default: 32]
    #[arg(long, value_name = "N")]
    pub(crate) caller_in_progress: Option<String>,

    /// Most requests a minute of one caller; 0 for no limit [default: 300]
    #[arg(long, value_name = "N")]
    pub(crate) rate: Option<String>,

    /// Most requests a minute from one address; 0 for no limit [default: 1200]
    #[arg(long, value_name = "N")]
    pub(crate) address_rate: Option<String>,

    /// Most sessions at once [default: 1000]
    #[arg(long, value_name = "N")]
    pub(crate) max_sessions: Option<String>,

    /// Longest time for the head of a request, and for its body [default: 15]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) patience: Option<String>,

    /// Longest time for calls in progress when the server is told to end [default: 20]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) grace: Option<String>,
}

impl Options {
    /// Reads the command line; help, version and usage errors end the process as clap does.
    pub(crate) fn parse_arguments() -> Self {
        Self::parse_these(std::env::args_os()).unwrap_or_else(|error| error.exit())
    }

    /// Reads these arguments, the program's name first.
    pub(crate) fn parse_these<T: Into<OsString> + Clone>(
        arguments: impl IntoIterator<Item = T>,
    ) -> Result<Self, clap::Error> {
        let matches = command().try_get_matches_from(arguments)?;
        let Line {
            action,
            server,
            playground,
            callers,
            load,
            setup,
            api,
            credential,
            access,
            sentry,
            models,
            network,
            limits,
        } = Line::from_arg_matches(&matches)?;
        let given = given(&matches);
        let shared = Cli {
            action: None,
            setup,
            api,
            credential,
            access,
            sentry,
            models,
            network,
            limits,
            given,
        };
        Ok(Self { action, server, playground, callers, load, shared })
    }

    /// The options that `mcp-stdio` has too. Where callers bring a credential of their own, the
    /// server may go without.
    pub(crate) fn shared(&mut self, callers_bring_their_own: bool) -> &Cli {
        self.shared.credential.is_optional = callers_bring_their_own;
        &self.shared
    }
}

/// The command with every environment variable named.
fn command() -> Command {
    documented(Line::command())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_well_formed() {
        command().debug_assert();
    }
}
