//! A worker for programs that cannot start themselves as one, and for this crate's own tests.
//!
//! Name its path in `WorkerProgram::Path`. `sandbox-worker probe WHAT [without-filter]` puts itself into a
//! worker's jail, tries one thing that is forbidden there, and exits with 0 only if that was possible;
//! `nothing` is always possible.

use std::process::ExitCode;

fn main() -> ExitCode {
    mcp_core::sandbox::worker_main();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["probe", what, jail @ ..]
            if probe::is_possible(what, jail.contains(&"without-filter")) =>
        {
            ExitCode::SUCCESS
        }
        _ => ExitCode::FAILURE,
    }
}

#[cfg(unix)]
mod probe {
    use std::{
        fs::File,
        io::Read as _,
        net::{TcpListener, UdpSocket},
        os::unix::{net::UnixListener, process::parent_id},
        process::Command,
        thread,
    };

    use mcp_core::sandbox::{Jail, lock_down};

    pub(crate) fn is_possible(what: &str, without_filter: bool) -> bool {
        let parent = parent_id();
        let here = std::env::temp_dir();
        let protections = lock_down(if without_filter { Jail::WithoutFilter } else { Jail::Whole });
        match what {
            "nothing" => true,
            "landlock" => protections.landlock,
            "read" => File::open("/").is_ok(),
            "write" => File::create(here.join("sandbox-worker-probe")).is_ok(),
            "tcp" => TcpListener::bind("127.0.0.1:0").is_ok(),
            "udp" => UdpSocket::bind("127.0.0.1:0").is_ok(),
            "unix" => UnixListener::bind(here.join("sandbox-worker-probe.socket")).is_ok(),
            "process" => Command::new("/bin/true").spawn().is_ok(),
            "thread" => thread::Builder::new().spawn(|| ()).is_ok(),
            "environment" => File::open(format!("/proc/{parent}/environ"))
                .is_ok_and(|mut file| file.read_to_end(&mut Vec::new()).is_ok()),
            "memory" => {
                File::options().read(true).write(true).open(format!("/proc/{parent}/mem")).is_ok()
            }
            "signal" => signal_parent(),
            _ => false,
        }
    }

    /// Asks whether the parent could be sent a signal, without sending one.
    fn signal_parent() -> bool {
        rustix::process::getppid().is_some_and(|it| rustix::process::test_kill_process(it).is_ok())
    }
}

#[cfg(not(unix))]
mod probe {
    pub(crate) fn is_possible(_: &str, _: bool) -> bool {
        false
    }
}
