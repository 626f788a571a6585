//! Embeds the server in another program: an API of its own, served over stdio.
//!
//! `cargo run --example embed -p mcp-core`, then speak MCP to it. The document is the program's own
//! file; a host would serve the same `build_server()` over whatever transport it has.

use std::{path::PathBuf, sync::Arc, time::Duration};

use api_client::transport::{Transport, TransportOptions};
use mcp_core::{
    Context, build_server,
    context::{Api, Identity},
    openapi::source::{DocumentLocation, DocumentSource, SourceOptions},
    profile::Profile,
    sandbox::{self, Limits, Pool, PoolOptions},
    server::sdk::ServiceExt as _,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // First of all: a process that was started as a script worker becomes one here and never returns.
    sandbox::worker_main();
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(serve())
}

async fn serve() -> Result<(), Box<dyn std::error::Error>> {
    let document = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/embed.yaml"));
    let location = DocumentLocation::File(document);
    let base = "http://127.0.0.1:8080".parse()?;
    let transport = Arc::new(Transport::new(TransportOptions::new(base))?);
    let profile = Profile::custom(Some("notes"), location.clone())?;
    let source = DocumentSource::new(SourceOptions {
        title: profile.title.clone(),
        location,
        transport: Arc::clone(&transport),
        credential_setting: None,
        cache: None,
        objection: None,
    });
    let api = Api::new(profile, transport, Arc::new(source));

    let identity =
        Identity { name: "notes".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() };
    let pool = Arc::new(Pool::new(PoolOptions::default()));
    let limits = Limits { wall: Duration::from_secs(20), ..Limits::default() };
    let context = Context::builder(identity, pool, api).limits(limits).build();

    let stdio = (tokio::io::stdin(), tokio::io::stdout());
    build_server(context).serve(stdio).await?.waiting().await?;
    Ok(())
}
