//! An embedder as it must not be: nothing calls `worker_main`. Each start leaves a line in a file
//! beside the program.

use std::{error::Error, fs::OpenOptions, io::Write as _, sync::Arc};

use async_trait::async_trait;
use mcp_core::sandbox::{
    Host, HostCall, HostError, HostReply, Limits, Pace, Pool, PoolOptions, Script, prepare,
};
use tokio_util::sync::CancellationToken;

struct Nobody;

#[async_trait]
impl Host for Nobody {
    async fn call(&self, _: HostCall) -> Result<HostReply, HostError> {
        Err(HostError::new("Error", "nobody is here"))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let starts = std::env::current_exe()?.with_file_name("starts");
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut starts = OpenOptions::new().append(true).create(true).open(starts)?;
    writeln!(starts, "started {}", arguments.join(" "))?;

    let pool = Pool::new(PoolOptions { spares: 0, ..PoolOptions::default() });
    let script = Script {
        prepared: prepare("return 1")?,
        bindings: Vec::new(),
        clock_ms: 0,
        seed: 0,
        pace: Pace::Free,
    };
    let cancel = CancellationToken::new();
    let outcome = pool.run(script, &Limits::default(), Arc::new(Nobody), cancel, "me").await;
    writeln!(std::io::stdout(), "{:?}", outcome.result)?;
    Ok(())
}
