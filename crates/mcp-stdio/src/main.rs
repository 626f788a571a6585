//! The MCP server on stdin and stdout: set up from options and variables, gone when the client is.

mod check;
mod init;
mod transport;

use std::{io::Write as _, process::ExitCode, sync::Arc, time::Duration};

use mcp_core::{
    Context,
    context::Identity,
    sandbox::Pool,
    server::{build_server_until, sdk},
};
use server_config::{
    cli::{Action, Cli},
    config,
    given::SetupError,
    settings::{ApiSettings, Settings},
};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;

/// How long calls may go on after the client closed its end; with [`FAREWELL`] below two seconds.
const GRACE: Duration = Duration::from_millis(1000);
/// How long cancelled calls may take to end.
const FAREWELL: Duration = Duration::from_millis(400);

fn main() -> ExitCode {
    mcp_core::sandbox::worker_main();
    mcp_core::sandbox::return_memory();
    let cli = Cli::parse_arguments();
    log_to_stderr();
    let outcome = match &cli.action {
        None => settings(&cli).and_then(run),
        Some(Action::Check) => settings(&cli).and_then(|settings| check::run(&settings)),
        Some(Action::Init { what }) => init::run(&cli, what.as_deref()),
    };
    match outcome {
        Ok(status) => status,
        Err(error) => {
            say(&format!("error: {error:#}"));
            ExitCode::from(if error.is::<SetupError>() { 2 } else { 1 })
        }
    }
}

fn settings(cli: &Cli) -> anyhow::Result<Settings> {
    let env = |name: &str| config::variable(name).map(Into::into);
    Ok(Settings::resolve(cli, config::file(cli)?.as_ref(), &env)?)
}

fn run(settings: Settings) -> anyhow::Result<ExitCode> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let outcome = runtime.block_on(async {
        // Before the world is told, so that a signal that follows at once is heard.
        let end = termination();
        for warning in settings.warnings() {
            tracing::warn!("{warning}");
        }
        let context = config::context(&settings)?;
        let Identity { name, version } = &context.identity;
        say(&format!("{name} {version} ready: {}", addresses(&settings)));
        serve(context, end).await
    });
    // A thread may still wait for input that never comes.
    runtime.shutdown_background();
    outcome.map(|()| ExitCode::SUCCESS)
}

/// Where the APIs are, and what said so.
fn addresses(settings: &Settings) -> String {
    let one = |api: &ApiSettings| {
        let address = &api.address;
        let place = format!("{} (from {})", address.base_url, address.from.replace('`', ""));
        match settings.apis.len() {
            1 => place,
            _ => format!("{} {place}", api.profile.binding),
        }
    };
    settings.apis.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Serves the client until it leaves or the process is told to end.
async fn serve(context: Context, end: impl Future<Output = ()>) -> anyhow::Result<()> {
    let gone = CancellationToken::new();
    let cancelled = CancellationToken::new();
    let pool = Arc::clone(&context.pool);
    let server = build_server_until(context, cancelled.clone());
    #[cfg(feature = "conformance")]
    let server = conformance::with_fixtures(server);
    let transport = transport::stdio(gone.clone());
    let session = async {
        match sdk::serve_server(server, transport).await {
            Ok(running) => {
                drop(tokio::spawn(prepare_workers(pool)));
                running.waiting().await.map(drop).map_err(anyhow::Error::from)
            }
            // The client left, or sent something else than MCP, before there was a session.
            Err(error) => {
                tracing::debug!("no session: {error}");
                Ok(())
            }
        }
    };
    let end = async {
        tokio::select! {
            () = gone.cancelled() => tokio::time::sleep(GRACE).await,
            () = end => {}
        }
        cancelled.cancel();
        tokio::time::sleep(FAREWELL).await;
    };
    tokio::select! {
        outcome = session => outcome,
        () = end => Ok(()),
    }
}

/// Gets workers ready for the first script, and says so where nothing but limits holds them.
async fn prepare_workers(pool: Arc<Pool>) {
    pool.warm_up();
    match pool.protections().await {
        Ok(protections) if protections.seccomp || protections.landlock => {}
        Ok(_) => {
            tracing::warn!("this system has no seccomp: scripts run under resource limits alone");
        }
        Err(error) => tracing::error!("no sandbox: {}", error.message),
    }
}

/// Resolves when the process is asked to end. Listens from the moment it is called.
#[cfg(unix)]
fn termination() -> impl Future<Output = ()> {
    use tokio::signal::unix::{SignalKind, signal};

    let signals = [SignalKind::terminate(), SignalKind::interrupt()].map(signal);
    async move {
        let [Ok(mut terminate), Ok(mut interrupt)] = signals else {
            return std::future::pending().await;
        };
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    }
}

#[cfg(not(unix))]
async fn termination() {
    drop(tokio::signal::ctrl_c().await);
}

fn log_to_stderr() {
    let filter = config::log_filter();
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(filter))
        .with_writer(std::io::stderr)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .init();
}

/// Writes one line to stderr; a reader that went away is no reason to stop.
fn say(line: &str) {
    drop(writeln!(std::io::stderr(), "{line}"));
}
