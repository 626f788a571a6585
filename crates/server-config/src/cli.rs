//! The command line: every option, its help, and the name of its environment variable.

#![expect(missing_debug_implementations, reason = "options hold secrets: they do not print")]

use std::ffi::OsString;

use clap::{
    Arg, ArgAction, ArgMatches, Args, Command, CommandFactory as _, FromArgMatches as _, Parser,
    Subcommand, parser::ValueSource,
};

/// Variables that an option reads besides its own `MCP_…`.
const PRODUCT_VARIABLES: &[(&str, &str)] = &[
    ("base_url", "AUTHENTIK_URL, SENTRY_URL"),
    ("host", "SENTRY_HOST"),
    ("docs_url", "MCP_URL"),
    ("access_token", "AUTHENTIK_TOKEN, SENTRY_ACCESS_TOKEN, SENTRY_AUTH_TOKEN"),
    ("agent_provider", "EMBEDDED_AGENT_PROVIDER"),
    ("openai_model", "OPENAI_MODEL"),
    ("anthropic_model", "ANTHROPIC_MODEL"),
];

const EXAMPLES: &str = "\
Examples:
  AUTHENTIK_URL=https://id.example.com AUTHENTIK_TOKEN=… mcp-stdio
  SENTRY_AUTH_TOKEN=… mcp-stdio --read-only
  mcp-stdio --openapi ./gitlab.json --base-url https://git.example.com --name gitlab \\
            --token-env GITLAB_TOKEN --auth header:PRIVATE-TOKEN
  mcp-stdio init authentik      writes a configuration file to fill in
  mcp-stdio check               says whether the set-up would work

Every option can be a key of the configuration file or an environment variable instead: the command
line wins over the file, the file over the environment. Options that may be repeated take one value a
line in a variable. Logs go to stderr, as much as RUST_LOG or LOG_LEVEL says.
Exit status: 0 when the client closes the connection, 2 when the set-up is wrong.";

/// Gives an AI agent a whole HTTP API over MCP on stdin and stdout: it can search the operations,
/// read with scripts, and write with them only what was shown and confirmed.
#[derive(Parser)]
#[command(name = "mcp-stdio", version, after_help = EXAMPLES, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub action: Option<Action>,
    #[command(flatten)]
    pub setup: SetupOptions,
    #[command(flatten)]
    pub api: ApiOptions,
    #[command(flatten)]
    pub credential: CredentialOptions,
    #[command(flatten)]
    pub access: AccessOptions,
    #[command(flatten)]
    pub sentry: SentryOptions,
    #[command(flatten)]
    pub models: ModelOptions,
    #[command(flatten)]
    pub network: NetworkOptions,
    #[command(flatten)]
    pub limits: LimitOptions,
    /// The options that the command line itself holds, by id.
    #[arg(skip)]
    pub given: Vec<String>,
}

/// What to do instead of serving.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum Action {
    /// Connect, say what was found and whether the set-up would work (exit status 0, 1 or 2)
    Check,
    /// Write a configuration file to fill in, and print what to paste into MCP clients
    Init {
        /// authentik (the default), sentry, or the address of an OpenAPI document
        #[arg(value_name = "PROFILE|URL")]
        what: Option<String>,
    },
}

#[derive(Args)]
#[command(next_help_heading = "Set-up")]
pub struct SetupOptions {
    /// Configuration file (TOML), instead of mcp-stdio/config.toml in the user's own place for such
    #[arg(long, value_name = "FILE")]
    pub config: Option<String>,

    /// Read no configuration file
    #[arg(long)]
    pub no_config: bool,
}

#[derive(Args)]
#[command(next_help_heading = "API")]
pub struct ApiOptions {
    /// Which API: authentik, sentry or custom; by default, the one whose variables are set
    #[arg(long, value_name = "API")]
    pub api: Option<String>,

    /// Where the API is; for Sentry, https://sentry.io by default
    #[arg(long, value_name = "URL", alias = "url")]
    pub base_url: Option<String>,

    /// Sentry host, as a shorter way to say the base URL
    #[arg(long, value_name = "HOST")]
    pub host: Option<String>,

    /// OpenAPI document, JSON or YAML; by default, the instance's own or Sentry's published one
    #[arg(long, value_name = "FILE|URL")]
    pub openapi: Option<String>,

    /// What scripts call the API, besides `api`
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// Directory for compiled documents, instead of the user's cache directory
    #[arg(long, value_name = "DIR")]
    pub spec_cache: Option<String>,

    /// Keep no compiled documents on disk
    #[arg(long)]
    pub no_spec_cache: bool,
}

#[derive(Args)]
#[command(next_help_heading = "Credential")]
pub struct CredentialOptions {
    /// Take the token from this environment variable
    #[arg(long, value_name = "NAME")]
    pub token_env: Option<String>,

    /// Take the token from this file, read again when it changes
    #[arg(long, value_name = "PATH")]
    pub token_file: Option<String>,

    /// The token itself; other users of the machine can see it in the list of processes
    #[arg(long, value_name = "TOKEN", allow_hyphen_values = true)]
    pub access_token: Option<String>,

    /// Take the token from what this command prints; run without a shell when a token is needed,
    /// and again when the API turns the token away
    #[arg(long, value_name = "COMMAND", allow_hyphen_values = true)]
    pub token_command: Option<String>,

    /// Take the token from the system's keyring, under this service and account; in builds with
    /// the feature `keyring`
    #[arg(long, value_name = "SERVICE/ACCOUNT")]
    pub token_keyring: Option<String>,

    /// How the token is sent: bearer, basic, basic:USER, header:NAME, query:NAME, or
    /// oauth:CLIENT_ID, where it is the client's secret and fetches access tokens
    /// [default: bearer]
    #[arg(long, value_name = "SCHEME")]
    pub auth: Option<String>,

    /// Where oauth:CLIENT_ID fetches access tokens
    #[arg(long, value_name = "URL")]
    pub token_url: Option<String>,

    /// What those access tokens are for, separated by spaces
    #[arg(long, value_name = "SCOPES")]
    pub scope: Option<String>,

    /// Send this header with every request to the API; may be repeated
    #[arg(long, value_name = "NAME: VALUE", allow_hyphen_values = true)]
    pub header: Vec<String>,

    /// Whether a known API may go without.
    #[arg(skip)]
    pub is_optional: bool,
}

#[derive(Args)]
#[command(next_help_heading = "What the agent may do")]
pub struct AccessOptions {
    /// Offer no way to write
    #[arg(long)]
    pub read_only: bool,

    /// Only operations with this operationId, tag or `METHOD /glob`; may be repeated
    #[arg(long, value_name = "PATTERN")]
    pub allow: Vec<String>,

    /// No operations with this operationId, tag or `METHOD /glob`, even if allowed; may be repeated
    #[arg(long, value_name = "PATTERN")]
    pub deny: Vec<String>,

    /// Count this operation as reading, whatever its method; may be repeated
    #[arg(long, value_name = "METHOD /TEMPLATE")]
    pub mark_read: Vec<String>,

    /// Vouch for what a custom API returns: results are not marked as written by outsiders
    #[arg(long)]
    pub trusted: bool,

    /// Mark results of this path as written by outsiders all the same; may be repeated
    #[arg(long, value_name = "/GLOB")]
    pub untrusted: Vec<String>,

    /// Let scripts upload files of this directory and, with a confirmation, save new ones there; may be
    /// repeated, each with a name
    #[arg(long, value_name = "[NAME=]DIR")]
    pub files: Vec<String>,

    /// What is shown before a script writes: plan (its exact requests), code (the script) or off
    /// [default: plan]
    #[arg(long, value_name = "MODE")]
    pub confirm: Option<String>,

    /// Which tools are offered: catalog, code-mode, catalog-and-code or plain
    /// [default: catalog-and-code for Sentry, code-mode elsewhere]
    #[arg(long, value_name = "SURFACE")]
    pub surface: Option<String>,

    /// Grant these skills alone, with commas between: inspect, seer, triage, project-management,
    /// api-read, api-write [default: all of them]
    #[arg(long, value_name = "SKILLS")]
    pub skills: Option<String>,

    /// Grant every skill, whatever MCP_SKILLS says
    #[arg(long)]
    pub all_skills: bool,

    /// Take these skills away, with commas between
    #[arg(long, value_name = "SKILLS")]
    pub disable_skills: Option<String>,
}

#[derive(Args)]
#[command(next_help_heading = "Sentry")]
pub struct SentryOptions {
    /// Limit the session to this organization; there is no code mode then
    #[arg(long, value_name = "SLUG")]
    pub organization_slug: Option<String>,

    /// Limit the session to this project of the organization
    #[arg(long, value_name = "SLUG")]
    pub project_slug: Option<String>,

    /// Offer tools that may still change (none at present)
    #[arg(long)]
    pub experimental: bool,

    /// Where the documentation is searched, or `off` [default: https://mcp.sentry.dev]
    #[arg(long, value_name = "URL", alias = "mcp-url")]
    pub docs_url: Option<String>,

    /// A mirror to read the pages of the documentation from [default: https://docs.sentry.io and
    /// https://develop.sentry.io]
    #[arg(long, value_name = "URL")]
    pub docs_pages_url: Option<String>,
}

#[derive(Args)]
#[command(next_help_heading = "A model that writes Sentry's search queries (off unless named)")]
pub struct ModelOptions {
    /// Whose: openai, azure-openai, anthropic or openrouter; the key comes from OPENAI_API_KEY,
    /// ANTHROPIC_API_KEY or OPENROUTER_API_KEY
    #[arg(long, value_name = "NAME")]
    pub agent_provider: Option<String>,

    /// Which of OpenAI's models [default: gpt-5]
    #[arg(long, value_name = "NAME")]
    pub openai_model: Option<String>,

    /// Where OpenAI's API is, or one like it; not read from the environment
    #[arg(long, value_name = "URL")]
    pub openai_base_url: Option<String>,

    /// Which of Anthropic's models [default: claude-sonnet-4-5]
    #[arg(long, value_name = "NAME")]
    pub anthropic_model: Option<String>,

    /// Where Anthropic's API is; not read from the environment
    #[arg(long, value_name = "URL")]
    pub anthropic_base_url: Option<String>,
}

#[derive(Args)]
#[command(next_help_heading = "Network")]
pub struct NetworkOptions {
    /// Longest time for one request [default: 30]
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<String>,

    /// Longest time for a connection to come about [default: 10]
    #[arg(long, value_name = "SECONDS")]
    pub connect_timeout: Option<String>,

    /// Send every request once and at once, also where the API asks to wait or to repeat
    #[arg(long)]
    pub no_retries: bool,

    /// Follow redirects of reads to this origin, without the credential; may be repeated
    #[arg(long, value_name = "ORIGIN")]
    pub allow_redirect: Vec<String>,

    /// Send requests through this proxy, instead of the one HTTPS_PROXY or HTTP_PROXY names
    #[arg(long, value_name = "URL")]
    pub proxy: Option<String>,

    /// Trust these certificate authorities (PEM) too; may be repeated
    #[arg(long, value_name = "FILE")]
    pub ca_cert: Vec<String>,

    /// Show this certificate (PEM) to servers that ask for one
    #[arg(long, value_name = "FILE")]
    pub client_cert: Option<String>,

    /// The private key (PEM) of the client certificate, where it is in a file of its own
    #[arg(long, value_name = "FILE")]
    pub client_key: Option<String>,

    /// Accept any certificate: anyone on the way can then read the credential
    #[arg(long)]
    pub insecure_tls: bool,
}

#[derive(Args)]
#[command(next_help_heading = "Limits of one script")]
pub struct LimitOptions {
    /// Longest time from start to result; clients give up at 60 [default: 50]
    #[arg(long, value_name = "SECONDS")]
    pub wall: Option<String>,

    /// Longest computing time [default: 5]
    #[arg(long, value_name = "SECONDS")]
    pub cpu: Option<String>,

    /// Largest heap [default: 64]
    #[arg(long, value_name = "MB")]
    pub heap: Option<String>,

    /// Most requests [default: 100]
    #[arg(long, value_name = "N")]
    pub max_requests: Option<String>,

    /// Most requests at once [default: 8]
    #[arg(long, value_name = "N")]
    pub concurrency: Option<String>,

    /// Largest script [default: 256000]
    #[arg(long, value_name = "BYTES")]
    pub script_bytes: Option<String>,

    /// Largest stack [default: 512]
    #[arg(long, value_name = "KB")]
    pub stack: Option<String>,

    /// Most responses in one run, all together [default: 16777216]
    #[arg(long, value_name = "BYTES")]
    pub responses_bytes: Option<String>,

    /// Longest logs [default: 65536]
    #[arg(long, value_name = "BYTES")]
    pub logs_bytes: Option<String>,

    /// Largest response to one request [default: 4194304]
    #[arg(long, value_name = "BYTES")]
    pub response_bytes: Option<String>,

    /// Largest result; a larger one is cut and says so [default: 80000]
    #[arg(long, value_name = "BYTES")]
    pub result_bytes: Option<String>,

    /// Most scripts at once; further ones wait [default: twice the processors]
    #[arg(long, value_name = "N")]
    pub scripts: Option<String>,
}

impl Cli {
    /// Reads the command line; help, version and usage errors end the process as clap does.
    pub fn parse_arguments() -> Self {
        Self::parse_these(std::env::args_os()).unwrap_or_else(|error| error.exit())
    }

    /// Reads these arguments, the program's name first.
    pub fn parse_these<T: Into<OsString> + Clone>(
        arguments: impl IntoIterator<Item = T>,
    ) -> Result<Self, clap::Error> {
        let matches = command().try_get_matches_from(arguments)?;
        let mut cli = Self::from_arg_matches(&matches)?;
        cli.given = given(&matches);
        Ok(cli)
    }
}

pub fn given(matches: &ArgMatches) -> Vec<String> {
    let on_line = |id: &&str| matches.value_source(id) == Some(ValueSource::CommandLine);
    let ids = matches.ids().map(clap::Id::as_str).filter(on_line);
    // Groups have an id too, and the name of a type.
    ids.filter(|id| !id.contains(char::is_uppercase)).map(str::to_owned).collect()
}

/// The environment variable of an option.
pub fn variable(option: &str) -> String {
    format!("MCP_{}", option.to_ascii_uppercase().replace('-', "_"))
}

pub fn command() -> Command {
    documented(Cli::command())
}

/// The command with each option's environment variables at the end of its help; options may stand
/// before and behind a command such as `check`.
pub fn documented(command: Command) -> Command {
    command.mut_args(|argument| {
        let is_option = matches!(
            argument.get_action(),
            ArgAction::Set | ArgAction::Append | ArgAction::SetTrue
        );
        if is_option { with_variables(argument).global(true) } else { argument }
    })
}

fn with_variables(argument: Arg) -> Arg {
    let id = argument.get_id().as_str();
    let mut variables = variable(id);
    for (_, others) in PRODUCT_VARIABLES.iter().filter(|(option, _)| *option == id) {
        variables = format!("{variables}, {others}");
    }
    let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    argument.help(format!("{help}\n[env: {variables}]"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_well_formed() {
        command().debug_assert();
    }

    #[test]
    fn every_option_names_its_environment_variable() {
        for argument in command().get_arguments().filter(|it| it.get_long().is_some()) {
            let help = argument.get_help().unwrap().to_string();
            let variable = variable(argument.get_long().unwrap());
            assert!(help.contains(&variable), "{variable}: {help}");
        }
        let command = command();
        let base = command.get_arguments().find(|it| it.get_id() == "base_url").unwrap();
        let help = base.get_help().unwrap().to_string();
        assert!(help.ends_with("[env: MCP_BASE_URL, AUTHENTIK_URL, SENTRY_URL]"), "{help}");
    }
}
