//! The MCP server over HTTP: set up from options and variables, for everybody who may call.

mod app;
mod audit;
mod door;
mod endpoint;
mod exchange;
mod gate;
mod grant;
mod late;
mod limits;
mod listen;
mod logs;
mod memo;
mod metrics;
mod options;
mod pinning;
mod playground;
mod refusal;
mod routes;
mod serving;
mod sessions;
mod shared_state;
mod slow;
mod telemetry;
mod wire;
mod within;

use std::{io::Write as _, process::ExitCode, sync::Arc, time::Duration};

use mcp_core::{Context, code_mode::confirm::ConfirmationStore};
use server_config::{
    config,
    given::{Given, Raw, SetupError},
    settings::Settings,
};
use tokio_util::sync::CancellationToken;

use crate::{
    app::{App, State},
    limits::LocalRates,
    listen::Ends,
    logs::LogFormat,
    memo::{LocalMemo, Memo},
    options::{Action, Options},
    serving::Serving,
    shared_state::SharedState,
    telemetry::Telemetry,
};

/// How long what is still to be reported is waited for at the end.
const LAST_REPORTS: Duration = Duration::from_secs(2);

fn main() -> ExitCode {
    mcp_core::sandbox::worker_main();
    mcp_core::sandbox::return_memory();
    let options = Options::parse_arguments();
    let outcome = match options.action.clone() {
        Some(Action::Token { name }) => token(&name),
        Some(Action::Health) => health(&options),
        None => start(options),
    };
    match outcome {
        Ok(code) => code,
        Err(error) => {
            drop(writeln!(std::io::stderr(), "error: {error:#}"));
            ExitCode::from(if error.is::<SetupError>() { 2 } else { 1 })
        }
    }
}

fn start(mut options: Options) -> anyhow::Result<ExitCode> {
    let env = &environment;
    let format = LogFormat::resolve(options.server.log_format.as_ref(), env)?;
    let telemetry = Telemetry::resolve(&options.server, env)?;
    // At its finer levels the SDK writes down whole messages.
    format.start(format!("{},rmcp=error", config::log_filter()), telemetry.layer());
    let own = serving::callers_bring_their_own(&options, env)?;
    let shared = options.shared(own);
    // A server for many reads no file that nobody named.
    let file = match Given::option("config", shared.setup.config.as_ref(), env)? {
        Some(_) => config::file(shared)?,
        None => None,
    };
    let settings = Settings::resolve(shared, file.as_ref(), env)?;
    let serving = Serving::resolve(&options, &settings, env)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(run(&settings, &serving, format, telemetry))?;
    runtime.shutdown_background();
    Ok(ExitCode::SUCCESS)
}

/// Reads one environment variable.
fn environment(name: &str) -> Option<Raw> {
    config::variable(name).map(Into::into)
}

async fn run(
    settings: &Settings,
    serving: &Serving,
    format: LogFormat,
    telemetry: Telemetry,
) -> anyhow::Result<()> {
    // Before the world is told, so that a signal that follows at once is heard.
    let end = termination();
    for warning in settings.warnings().into_iter().chain(serving.warnings()) {
        tracing::warn!("{warning}");
    }
    let mut template = config::context(settings)?;
    check_jail(&template, serving.may_lack_jail).await?;
    let state = state(serving, &mut template)?;
    let listener = listen::bind(serving.listen)
        .map_err(|error| anyhow::anyhow!("`{}` cannot be listened on: {error}", serving.listen))?;
    let address = listener.local_addr()?;
    let identity = template.identity.clone();
    let apis: Vec<_> = settings.apis.iter().map(|it| it.address.base_url.as_str()).collect();
    let spans = telemetry.spans();
    let app = Arc::new(App::new(serving, template, state, spans, address.port())?);
    let told = CancellationToken::new();
    let mut senders = telemetry.start(&serving.extra_ca, &told)?;
    let ends =
        Ends { draining: app.draining.clone(), over: app.over.clone(), closed: app.closed.clone() };
    format.say(
        &format!("{} {} ready", identity.name, identity.version),
        &[("endpoint", format!("http://{address}{}", routes::ENDPOINT)), ("apis", apis.join(" "))],
    );
    let stop = ends.draining.clone();
    drop(tokio::spawn(async move {
        end.await;
        stop.cancel();
    }));
    listen::serve(listener, routes::router(app), &serving.load, ends).await;
    told.cancel();
    let sent = async { while senders.join_next().await.is_some() {} };
    drop(tokio::time::timeout(LAST_REPORTS, sent).await);
    Ok(())
}

/// What outlives a request, in the store that instances share or in this process.
fn state(serving: &Serving, template: &mut Context) -> anyhow::Result<State> {
    let Some((redis, path)) = &serving.shared else {
        let mut key = [0; 32];
        getrandom::fill(&mut key)?;
        let (rates, memo) = (Arc::<LocalRates>::default(), Arc::<LocalMemo>::default());
        return Ok(State { rates, memo, key });
    };
    let hint = "make a file with `openssl rand -base64 48`, the same for every instance";
    let key = std::fs::read(path).map_err(|error| {
        SetupError::new(format!("the state key `{}` cannot be read: {error}", path.display()), hint)
    })?;
    let key = key.trim_ascii();
    if key.len() < 32 {
        let message = format!("the state key `{}` is shorter than 32 bytes", path.display());
        return Err(SetupError::new(message, hint).into());
    }
    let shared = SharedState::new(redis, key)?;
    template.confirmations = Arc::clone(&shared) as Arc<dyn ConfirmationStore>;
    let memo = Arc::clone(&shared) as Arc<dyn Memo>;
    Ok(State { rates: shared, memo, key: shared_state::derive(key, "callers") })
}

/// A server for many runs scripts in the full jail, or not at all.
async fn check_jail(template: &Context, may_lack: bool) -> anyhow::Result<()> {
    template.pool.warm_up();
    let protections = template.pool.protections().await;
    let protections =
        protections.map_err(|error| anyhow::anyhow!("no sandbox: {}", error.message))?;
    if protections.seccomp {
        return Ok(());
    }
    if may_lack {
        tracing::warn!("this system has no seccomp: scripts run under resource limits alone");
        return Ok(());
    }
    Err(SetupError::new(
        "this system has no seccomp, which keeps one caller's script from another's",
        "run it on Linux with seccomp, or accept the risk with `--unsafe-no-jail`",
    )
    .into())
}

/// Prints the line for the file on stdout, so that it can be appended, and the token on stderr.
fn token(name: &str) -> anyhow::Result<ExitCode> {
    if name.is_empty() || name.contains(char::is_whitespace) || name.starts_with('#') {
        let hint = "use one word, for example ann or build-agent";
        return Err(SetupError::new("that is no name for a token", hint).into());
    }
    let (token, line) = door::roll::make(name)?;
    writeln!(std::io::stdout(), "{line}")?;
    writeln!(std::io::stderr(), "the token, shown this once: {token}")?;
    Ok(ExitCode::SUCCESS)
}

/// Asks the server on this machine; for containers without a shell.
fn health(options: &Options) -> anyhow::Result<ExitCode> {
    use std::{
        io::Read as _,
        net::{IpAddr, Ipv4Addr, TcpStream},
    };

    let mut address = serving::listen(&options.server, &environment)?;
    if address.ip().is_unspecified() {
        address.set_ip(IpAddr::V4(Ipv4Addr::LOCALHOST));
    }
    let patience = Duration::from_secs(3);
    let ask = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect_timeout(&address, patience)?;
        stream.set_read_timeout(Some(patience))?;
        stream
            .write_all(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.take(4096).read_to_string(&mut answer)?;
        Ok(answer)
    };
    let is_ready = ask().is_ok_and(|answer| answer.starts_with("HTTP/1.1 200"));
    Ok(if is_ready { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Resolves when the process is asked to end. Listens from the moment it is called.
#[cfg(unix)]
fn termination() -> impl Future<Output = ()> + Send + 'static {
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
