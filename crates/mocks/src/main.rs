//! Runs the mocks by hand: prints where they listen and with which token, then waits for Ctrl-C.
#![expect(clippy::print_stdout, reason = "the addresses and tokens are this program's output")]

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Parser, ValueEnum};
use mocks::{Api, Extra, Fault, Mock, Running, World};

/// Stateful loopback stand-ins for authentik and Sentry.
#[derive(Debug, Parser)]
struct Arguments {
    /// Which API to serve.
    api: Which,
    /// Port to listen on; Sentry takes the next one when both are served. 0 takes free ports.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// The bearer token to accept instead of one derived from the seed.
    #[arg(long)]
    token: Option<String>,
    /// Moves every id and every generated value.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A JSON file with a list of faults.
    #[arg(long)]
    faults: Option<PathBuf>,
    /// More rows than the usual world has: `bulk-mute`, `{"issue-pages":30}`, …
    #[arg(long, value_parser = read_extra, default_value = "none")]
    extra: Extra,
}

fn read_extra(text: &str) -> Result<Extra, String> {
    let named = || serde_json::from_value(text.into());
    serde_json::from_str(text).or_else(|_| named()).map_err(|error| error.to_string())
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Which {
    Authentik,
    Sentry,
    Both,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let apis: &[Api] = match arguments.api {
        Which::Authentik => &[Api::Authentik],
        Which::Sentry => &[Api::Sentry],
        Which::Both => &[Api::Authentik, Api::Sentry],
    };
    let faults: Vec<Fault> = match &arguments.faults {
        Some(path) => {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("cannot read `{}`", path.display()))?;
            serde_json::from_str(&text)
                .with_context(|| format!("`{}` is no list of faults", path.display()))?
        }
        None => Vec::new(),
    };
    let mut running = Vec::new();
    let mut port = arguments.port;
    for api in apis {
        let mock = Mock::start(World {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
            token: arguments.token.clone(),
            seed: arguments.seed,
            faults: faults.clone(),
            extra: arguments.extra,
            ..World::of(*api)
        })
        .with_context(|| format!("cannot listen on port {port}"))?;
        introduce(*api, &mock);
        running.push(mock);
        port = if port == 0 { 0 } else { port.saturating_add(1) };
    }
    tokio::signal::ctrl_c().await?;
    Ok(())
}

/// Shell lines that point a client at the mock; the tokens are worth nothing elsewhere.
fn introduce(api: Api, mock: &Running) {
    let Running { base_url, token, .. } = mock;
    match api {
        Api::Authentik => {
            println!("authentik  {base_url}/api/v3/  token {token}");
            println!("  export AUTHENTIK_URL={base_url} AUTHENTIK_TOKEN={token}");
        }
        Api::Sentry => {
            println!("sentry     {base_url}/api/0/  token {token}");
            println!("  export SENTRY_URL={base_url} SENTRY_ACCESS_TOKEN={token}");
        }
    }
    println!("  curl -H 'x-mock-control: 1' {base_url}/__mock/log");
}
