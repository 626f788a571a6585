//! A worker for programs that cannot start themselves as one, and for this crate's own tests.
//!
//! Name its path in `WorkerProgram::Path`. `sandbox-worker probe WHAT` puts itself into a worker's jail,
//! tries one thing that is forbidden there, and exits with 0 only if that was possible; `nothing`
//! is always possible.

use std::{
    fs::File,
    net::{TcpListener, UdpSocket},
    process::{Command, ExitCode},
    thread,
};

use mcp_core::sandbox;

fn main() -> ExitCode {
    sandbox::worker_main();
    let mut arguments = std::env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next()) {
        (Some("probe"), Some(what)) if probe(&what) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

#[cfg(unix)]
fn probe(what: &str) -> bool {
    sandbox::lock_down();
    match what {
        "nothing" => true,
        "read" => File::open("/").is_ok(),
        "write" => File::create(std::env::temp_dir().join("sandbox-worker-probe")).is_ok(),
        "tcp" => TcpListener::bind("127.0.0.1:0").is_ok(),
        "udp" => UdpSocket::bind("127.0.0.1:0").is_ok(),
        "process" => Command::new("/bin/true").spawn().is_ok(),
        "thread" => thread::Builder::new().spawn(|| ()).is_ok(),
        _ => false,
    }
}

#[cfg(not(unix))]
fn probe(_: &str) -> bool {
    false
}
