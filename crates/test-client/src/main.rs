//! Talks MCP to a server from the command line; see `--help`.

mod ask;
mod commands;
mod config;
mod interactive;
mod questions;
mod show;
mod words;

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use model_client::Provider;
use test_client::{Client, Error, Options};

use commands::{Commands, Outcome, ask_on_stdin, note};
use config::{Command, Config, Endpoint, Refusal};
use show::Paint;

const USAGE: u8 = 2;
const NO_CONNECTION: u8 = 3;

fn main() -> ExitCode {
    let config = match Config::read(std::env::args_os()) {
        Ok(config) => config,
        Err(Refusal::Clap(message)) => {
            // Help goes to stdout with status 0, anything else to stderr with status 2.
            return match message.print() {
                Ok(()) if !message.use_stderr() => ExitCode::SUCCESS,
                _ => ExitCode::from(USAGE),
            };
        }
        Err(Refusal::Ours(error)) => return fail(&error),
    };
    let runtime = match tokio::runtime::Runtime::new().context("starting the runtime") {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error),
    };
    let ended = runtime.block_on(run(config));
    // A question that nobody answered must not hold the end up.
    runtime.shutdown_background();
    match ended {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Failed) => ExitCode::FAILURE,
        Err(error) => fail(&error),
    }
}

async fn run(config: Config) -> Result<Outcome> {
    let stderr = io::stderr().is_terminal();
    let paint = Paint { on: config.color && io::stdout().is_terminal() };
    let options = Options::default().protocol(config.protocol).inherit_stderr();
    let options = questions::offer(options, stderr, io::stdin().is_terminal(), paint);
    let client = connect(config.server, config.asking.is_some(), options).await?;
    let commands = Commands { client, timeout: config.timeout, json: config.json, paint };
    let prompt = config.prompt.as_deref();
    let ended = match (config.command, &config.asking) {
        (None, Some(asking)) => match (prompt, config.chat) {
            (Some(prompt), false) => ask::prompt(&commands, asking, prompt).await,
            (first, _) => ask::chat(&commands, asking, first).await,
        },
        (None, None) => interactive::session(&commands, config.history.as_deref()).await,
        (Some(Command::List), _) => commands.list().await,
        (Some(Command::Call { tool, args }), _) => {
            let arguments = serde_json::from_str(&args).context("`--args` is not JSON")?;
            commands.call(&tool, arguments).await
        }
        (Some(Command::Run { file }), _) => commands.run(&file).await,
        (Some(Command::Write { file, yes }), _) => {
            let mut ask = |confirm: &str| if yes { Ok(true) } else { ask_on_stdin(confirm, paint) };
            commands.write(&file, &mut ask).await
        }
    };
    let closed = commands.client.close().await;
    let ended = ended?;
    closed?;
    Ok(ended)
}

async fn connect(server: Endpoint, has_model: bool, options: Options) -> Result<Client, Error> {
    match server {
        Endpoint::Stdio { program, arguments } => {
            let mut command = tokio::process::Command::new(program);
            command.args(arguments);
            if has_model {
                // The key is for the model alone.
                for provider in Provider::ALL {
                    command.env_remove(provider.key_variable());
                }
            }
            // Ctrl-C at the prompt is for the call, not for the server.
            #[cfg(unix)]
            command.process_group(0);
            options.stdio(command).await
        }
        Endpoint::Http { url, headers } => {
            let headers: Vec<_> = headers.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
            options.http(&url, &headers).await
        }
    }
}

fn fail(error: &anyhow::Error) -> ExitCode {
    let broken_pipe = |it: &io::Error| it.kind() == io::ErrorKind::BrokenPipe;
    if error.downcast_ref().is_some_and(broken_pipe) {
        // Whoever read our output has seen enough.
        return ExitCode::SUCCESS;
    }
    // Without stderr there is nobody to tell.
    note(show::clean(&format!("error: {error:#}"))).ok();
    match error.downcast_ref() {
        Some(Error::Rpc { .. }) => ExitCode::FAILURE,
        Some(Error::Connection(_)) => ExitCode::from(NO_CONNECTION),
        Some(Error::Usage(_)) | None => ExitCode::from(USAGE),
    }
}
