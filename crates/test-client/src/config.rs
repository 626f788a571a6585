//! The command line and the environment, read once.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use clap::{Parser, Subcommand, ValueEnum};
use model_client::Given;
use test_client::Protocol;

use crate::ask::{self, Asking};
use crate::words;

const NOTES: &str = "\
The server's command ends at `--`, or at the name of a command; options of this program stand before
`--stdio` or after the name:

  test-client --stdio target/debug/mcp-stdio --read-only list --json
  test-client call search --args '{\"query\": \"users\"}' --stdio target/debug/mcp-stdio
  test-client --url http://127.0.0.1:8080/mcp --bearer-env MCP_TOKEN run script.js
  test-client --stdio target/debug/mcp-stdio          (a session; `help` says what it understands)
  test-client 'Which users are inactive?' --stdio target/debug/mcp-stdio
  test-client --chat --provider openai --model-url http://127.0.0.1:11434/v1 --stdio …

A prompt is answered by a model that may call the server's tools. Its key is read from
`OPENAI_API_KEY`, `ANTHROPIC_API_KEY` or `OPENROUTER_API_KEY`. Tools that are not read-only are
called after a question, or with `--yes`.

Exit status: 0 done, 1 the tool reports an error or a write is not confirmed, 2 wrong usage,
3 no connection.";

const COMMANDS: [&str; 5] = ["list", "call", "run", "write", "help"];

/// Talks MCP to a server over stdio or HTTP; without a command, in a session at the prompt.
#[derive(Debug, Parser)]
#[command(name = "test-client", version, after_help = NOTES, max_term_width = 100)]
pub(crate) struct Cli {
    /// Start this server and speak with it over its standard streams
    #[arg(long, value_name = "CMD", num_args = 1.., global = true)]
    stdio: Vec<String>,

    /// Connect to this HTTP endpoint
    #[arg(long, value_name = "URL", global = true)]
    url: Option<String>,

    /// Send this header with every request; may be repeated
    #[arg(long, value_name = "N: V", global = true)]
    header: Vec<String>,

    /// Send the value of this environment variable as the bearer token
    #[arg(long, value_name = "NAME", global = true)]
    bearer_env: Option<String>,

    /// Which era of the protocol to speak
    #[arg(long, value_name = "ERA", default_value = "auto", global = true)]
    protocol: Era,

    /// Give up a call after this time, and cancel it on the server
    #[arg(long, value_name = "SECONDS", default_value_t = 120, global = true)]
    timeout: u64,

    /// Print JSON, one document a line
    #[arg(long, global = true)]
    json: bool,

    /// Keep the session's history in this file
    #[arg(long, value_name = "FILE", global = true)]
    history: Option<PathBuf>,

    /// What a model is to do with the server's tools
    prompt: Option<String>,

    /// Go on after the prompt: each line is answered, knowing what was said before
    #[arg(long)]
    chat: bool,

    /// Who is asked: openai, azure-openai, anthropic or openrouter [default: the one with a key]
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,

    /// Which model
    #[arg(long, value_name = "NAME")]
    model: Option<String>,

    /// Where the provider is, such as `http://127.0.0.1:11434/v1` for a model of your own
    #[arg(long, value_name = "URL")]
    model_url: Option<String>,

    /// How hard the model is to think, in the provider's words
    #[arg(long, value_name = "EFFORT")]
    effort: Option<String>,

    /// How many requests to the model one prompt may cost
    #[arg(long, value_name = "COUNT", default_value_t = 24)]
    steps: u32,

    /// Call tools that change something without asking
    #[arg(long)]
    yes: bool,

    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Era {
    Auto,
    Legacy,
    Modern,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the tools
    List,
    /// Call a tool
    Call {
        tool: String,
        /// The arguments, as a JSON object
        #[arg(long, value_name = "JSON", default_value = "{}")]
        args: String,
    },
    /// Run a script file with `execute`
    Run { file: PathBuf },
    /// Run a script file with `execute_write`: show what it would change, ask, confirm
    Write {
        file: PathBuf,
        /// Confirm without asking
        #[arg(long)]
        yes: bool,
    },
}

/// What to do, with everything looked up.
pub(crate) struct Config {
    pub(crate) server: Endpoint,
    pub(crate) protocol: Protocol,
    pub(crate) timeout: Duration,
    pub(crate) json: bool,
    pub(crate) color: bool,
    pub(crate) history: Option<PathBuf>,
    pub(crate) command: Option<Command>,
    pub(crate) prompt: Option<String>,
    pub(crate) chat: bool,
    /// The model, where one is needed.
    pub(crate) asking: Option<Asking>,
}

pub(crate) enum Endpoint {
    Stdio { program: String, arguments: Vec<String> },
    Http { url: String, headers: Vec<(String, String)> },
}

/// A bad command line: clap's message (also help and version), or ours.
pub(crate) enum Refusal {
    Clap(Box<clap::Error>),
    Ours(anyhow::Error),
}

impl Config {
    pub(crate) fn read(arguments: impl Iterator<Item = OsString>) -> Result<Self, Refusal> {
        let arguments: Vec<String> = arguments
            .map(OsString::into_string)
            .collect::<Result<_, _>>()
            .map_err(|it| Refusal::Ours(anyhow::anyhow!("`{}` is not UTF-8", it.display())))?;
        let (own, stdio) = split(arguments).map_err(Refusal::Ours)?;
        let mut cli = Cli::try_parse_from(own).map_err(|it| Refusal::Clap(Box::new(it)))?;
        cli.stdio = stdio;
        Self::from_cli(cli).map_err(Refusal::Ours)
    }

    fn from_cli(cli: Cli) -> Result<Self> {
        if let Some(word) = cli.prompt.as_deref().filter(|it| !it.contains(char::is_whitespace)) {
            // More likely a command that is misspelt; it must not go to a model.
            bail!(
                "unrecognized subcommand '{word}'; `--help` lists them, and a prompt has several words"
            );
        }
        let needs_model = cli.command.is_none() && (cli.chat || cli.prompt.is_some());
        let asking = if needs_model { Some(asking(&cli)?) } else { None };
        let mut command = cli.stdio.into_iter();
        let server = match (command.next(), cli.url) {
            (Some(program), None) => {
                let alone = cli.header.is_empty() && cli.bearer_env.is_none();
                ensure!(alone, "`--header` and `--bearer-env` go with `--url`");
                Endpoint::Stdio { program, arguments: command.collect() }
            }
            (None, Some(url)) => {
                Endpoint::Http { url, headers: headers(&cli.header, cli.bearer_env.as_deref())? }
            }
            (Some(_), Some(_)) => bail!("`--stdio` and `--url` exclude each other"),
            (None, None) => bail!("no server: name one with `--stdio CMD` or `--url URL`"),
        };
        Ok(Self {
            server,
            protocol: match cli.protocol {
                Era::Auto => Protocol::Auto,
                Era::Legacy => Protocol::Legacy,
                Era::Modern => Protocol::Modern,
            },
            timeout: Duration::from_secs(cli.timeout),
            json: cli.json,
            color: variable("NO_COLOR").is_none_or(|it| it.is_empty()),
            history: cli.history,
            command: cli.command,
            prompt: cli.prompt,
            chat: cli.chat,
            asking,
        })
    }
}

fn asking(cli: &Cli) -> Result<Asking> {
    let mut given = Given::from_variables(variable);
    given.provider = cli.provider.as_deref().map(str::parse).transpose()?;
    // Only the one that is chosen counts.
    for account in [&mut given.openai, &mut given.anthropic, &mut given.openrouter] {
        account.model = cli.model.clone().or_else(|| account.model.take());
        account.base_url.clone_from(&cli.model_url);
    }
    Ok(Asking {
        model: ask::model(&given, cli.effort.as_deref())?,
        max_steps: cli.steps,
        yes: cli.yes,
    })
}

/// Takes the server's command out of the arguments: what follows `--stdio`, up to `--` or, unless
/// a command of ours stands before, to the name of one. A single quoted command line is split.
fn split(arguments: Vec<String>) -> Result<(Vec<String>, Vec<String>)> {
    let mut own = arguments;
    let Some(at) = own.iter().position(|it| it == "--stdio" || it.starts_with("--stdio=")) else {
        return Ok((own, Vec::new()));
    };
    let mut rest = own.split_off(at).into_iter();
    if let Some(line) = rest.next().and_then(|it| Some(it.strip_prefix("--stdio=")?.to_owned())) {
        own.extend(rest);
        return Ok((own, words::split(&line)?));
    }
    let words: Vec<String> = rest.collect();
    let has_command = own.iter().skip(1).any(|it| COMMANDS.contains(&it.as_str()));
    let ours = |it: &String| !has_command && COMMANDS.contains(&it.as_str());
    let (end, next) = match words.iter().position(|it| it == "--") {
        Some(end) => (end, end + 1),
        // The first word is the program, whatever its name.
        None => {
            let end = words.iter().skip(1).position(ours).map_or(words.len(), |at| at + 1);
            (end, end)
        }
    };
    own.extend(words.iter().skip(next).cloned());
    let mut stdio: Vec<String> = words.into_iter().take(end).collect();
    if let [line] = stdio.as_slice()
        && line.contains(char::is_whitespace)
        && !std::path::Path::new(line).exists()
    {
        stdio = words::split(line)?;
    }
    ensure!(!stdio.is_empty(), "`--stdio` needs the command that starts the server");
    Ok((own, stdio))
}

fn headers(given: &[String], bearer_env: Option<&str>) -> Result<Vec<(String, String)>> {
    let mut headers = Vec::new();
    for line in given {
        let (name, value) = line.split_once(':').context("`--header` takes `NAME: VALUE`")?;
        headers.push((name.trim().to_owned(), value.trim().to_owned()));
    }
    if let Some(name) = bearer_env {
        let token = variable(name).filter(|it| !it.is_empty());
        let token = token.with_context(|| format!("`{name}` of `--bearer-env` is not set"))?;
        headers.push(("authorization".to_owned(), format!("Bearer {token}")));
    }
    Ok(headers)
}

#[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_is_well_formed() {
        Cli::command().debug_assert();
        let names: Vec<_> =
            Cli::command().get_subcommands().map(|it| it.get_name().to_owned()).collect();
        assert_eq!(names, COMMANDS[..4]);
    }

    #[test]
    fn the_servers_command_ends_where_ours_begins() {
        for (line, own, stdio) in [
            ("--stdio srv", "", "srv"),
            ("--stdio srv --flag x list --json", "list --json", "srv --flag x"),
            ("list --json --stdio srv --flag list", "list --json", "srv --flag list"),
            ("--json --stdio srv call -- call add", "--json call add", "srv call"),
            ("--stdio 'srv --flag x' run f.js", "run f.js", "srv --flag x"),
            ("'--stdio=srv --flag' write f.js", "write f.js", "srv --flag"),
            ("--url u list", "--url u list", ""),
        ] {
            let arguments = words::split(&format!("test-client {line}")).unwrap();
            let (left, command) = split(arguments).unwrap();
            assert_eq!((left[1..].join(" ").as_str(), command.join(" ").as_str()), (own, stdio));
        }
    }

    #[test]
    fn a_header_is_split_at_its_first_colon() {
        let split = headers(&["X-Key: a:b".to_owned()], None).unwrap();
        assert_eq!(split, [("X-Key".to_owned(), "a:b".to_owned())]);
        let error = headers(&["secret".to_owned()], None).unwrap_err();
        assert_eq!(error.to_string(), "`--header` takes `NAME: VALUE`");
    }
}
