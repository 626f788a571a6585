//! What a worker gives up before it sees a script.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::{super::protocol::Protections, ARGUMENT, raw};

/// Kernel limits that stand behind the engine's own.
#[derive(Debug)]
pub(in super::super) struct Backstop {
    /// Whole seconds of processor time.
    pub cpu_seconds: u64,
    /// Bytes of address space.
    pub address_space: u64,
}

impl Backstop {
    /// The arguments that hand these limits to a worker.
    pub(in super::super) fn arguments(&self) -> [String; 3] {
        [ARGUMENT.to_owned(), self.cpu_seconds.to_string(), self.address_space.to_string()]
    }

    /// The limits this process was started with; tight ones where they are missing.
    pub(super) fn from_arguments() -> Self {
        let number = |n| std::env::args().nth(n).and_then(|argument| argument.parse().ok());
        Self { cpu_seconds: number(2).unwrap_or(6), address_space: number(3).unwrap_or(512 << 20) }
    }
}

/// Keeps the memory of this process from other processes of the same user, workers among them.
pub(super) fn keep_memory_private() {
    limit(Resource::Core, 0);
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        // Nothing to do where the kernel refuses: the worker's own jail does not rest on it.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}

/// Cuts what ties a new worker to its parent, but for standard input.
pub(super) fn leave_parent() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Signal, set_parent_process_death_signal};
        // Should the parent be gone already, the first read says so.
        let _ = set_parent_process_death_signal(Some(Signal::KILL));
    }
    let inherited: Vec<i32> = ["/proc/self/fd", "/dev/fd"]
        .into_iter()
        .find_map(|directory| std::fs::read_dir(directory).ok())
        .map(|entries| {
            entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
        })
        .unwrap_or_else(|| (3..1024).collect());
    raw::close(inherited.into_iter().filter(|descriptor| *descriptor > 2));
}

/// How much of the jail [`lock_down`](super::lock_down) puts up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Jail {
    /// All that the system offers.
    Whole,
    /// What remains on a system that has no filter for system calls.
    WithoutFilter,
}

/// Gives up everything a script never needs. What the system does not offer is left out, and said.
pub(super) fn lock_down(backstop: &Backstop, jail: Jail) -> Protections {
    let rlimits = limit(Resource::Core, 0)
        & limit(Resource::Fsize, 0)
        & limit(Resource::Nproc, 0)
        & limit(Resource::Nofile, 3)
        & limit(Resource::As, backstop.address_space)
        & limit_cpu(backstop.cpu_seconds);
    Protections { rlimits, ..fence_in(jail) }
}

/// Does what [`lock_down`] would do each time, for those that will be forked.
#[cfg(target_os = "linux")]
pub(super) fn get_ready() {
    linux::ready();
}

#[cfg(target_os = "linux")]
fn fence_in(jail: Jail) -> Protections {
    let no_new_privs = rustix::thread::set_no_new_privs(true).is_ok();
    let seccomp = jail == Jail::Whole && linux::allow_only_computing().is_some();
    let landlock = !seccomp && linux::deny_files_and_sockets().is_some();
    Protections { no_new_privs, seccomp, landlock, rlimits: false }
}

#[cfg(not(target_os = "linux"))]
fn fence_in(_: Jail) -> Protections {
    Protections::default()
}

/// Sets a limit for good; one that is lower already stays.
fn limit(resource: Resource, most: u64) -> bool {
    let most = Some(getrlimit(resource).maximum.map_or(most, |maximum| most.min(maximum)));
    setrlimit(resource, Rlimit { current: most, maximum: most }).is_ok()
}

/// The first limit ends the process by a signal that names the reason, the second by force.
fn limit_cpu(seconds: u64) -> bool {
    let maximum = getrlimit(Resource::Cpu).maximum;
    let maximum = maximum.unwrap_or(u64::MAX).min(seconds.saturating_add(1));
    let limit = Rlimit { current: Some(seconds.min(maximum)), maximum: Some(maximum) };
    setrlimit(Resource::Cpu, limit).is_ok()
}

#[cfg(target_os = "linux")]
mod linux {
    //! The system call filter, and its substitute.

    use std::{collections::BTreeMap, sync::OnceLock};

    use landlock::{
        ABI, Access as _, AccessFs, AccessNet, Ruleset, RulesetAttr as _, RulesetStatus, Scope,
    };
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
        SeccompRule, TargetArch,
    };

    /// Computing on memory the process has, and waiting.
    const ALWAYS: &[i64] = &[
        libc::SYS_brk,
        libc::SYS_clock_gettime,
        libc::SYS_clock_nanosleep,
        libc::SYS_exit,
        libc::SYS_exit_group,
        libc::SYS_futex,
        libc::SYS_getrandom,
        libc::SYS_gettimeofday,
        libc::SYS_madvise,
        libc::SYS_mremap,
        libc::SYS_munmap,
        libc::SYS_nanosleep,
        libc::SYS_ppoll,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_poll,
        libc::SYS_restart_syscall,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_sched_yield,
        libc::SYS_sigaltstack,
    ];
    /// On the standard streams: a socket to the host, and nothing twice.
    const ON_STREAMS: &[i64] =
        &[libc::SYS_read, libc::SYS_write, libc::SYS_writev, libc::SYS_close];
    /// For data: no memory becomes code.
    const WITH_PROTECTION: &[i64] = &[libc::SYS_mmap, libc::SYS_mprotect];

    /// From here on every other system call ends the process.
    pub(super) fn allow_only_computing() -> Option<()> {
        seccompiler::apply_filter(ready()?).ok()
    }

    /// The filter, made once: what is forked has it.
    pub(super) fn ready() -> Option<&'static BpfProgram> {
        static FILTER: OnceLock<Option<BpfProgram>> = OnceLock::new();
        FILTER.get_or_init(filter).as_ref()
    }

    pub(super) fn filter() -> Option<BpfProgram> {
        let condition = |argument, length, operator, value| {
            let condition = SeccompCondition::new(argument, length, operator, value).ok()?;
            Some(vec![SeccompRule::new(vec![condition]).ok()?])
        };
        let mut rules = BTreeMap::new();
        for call in ALWAYS {
            rules.insert(*call, Vec::new());
        }
        for call in ON_STREAMS {
            rules.insert(*call, condition(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Le, 2)?);
        }
        for call in WITH_PROTECTION {
            let not_executable = SeccompCmpOp::MaskedEq(libc::PROT_EXEC as u64);
            rules.insert(*call, condition(2, SeccompCmpArgLen::Dword, not_executable, 0)?);
        }
        let architecture = TargetArch::try_from(std::env::consts::ARCH).ok()?;
        let filter = SeccompFilter::new(
            rules,
            SeccompAction::KillProcess,
            SeccompAction::Allow,
            architecture,
        )
        .ok()?;
        BpfProgram::try_from(filter).ok()
    }

    /// No file can be opened and no socket connected any more.
    pub(super) fn deny_files_and_sockets() -> Option<()> {
        let newest = ABI::V6;
        let status = Ruleset::default()
            .handle_access(AccessFs::from_all(newest))
            .and_then(|rules| rules.handle_access(AccessNet::from_all(newest)))
            .and_then(|rules| rules.scope(Scope::from_all(newest)))
            .and_then(|rules| rules.create()?.restrict_self())
            .ok()?;
        (status.ruleset != RulesetStatus::NotEnforced).then_some(())
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::{fs::File, net::TcpStream, thread};

    use super::*;

    #[test]
    fn the_filter_can_be_built_for_this_machine() {
        assert!(linux::filter().is_some());
    }

    #[test]
    fn landlock_denies_files_and_sockets_where_the_kernel_has_it() {
        // It holds the thread that asks for it, and no other.
        let denied = thread::spawn(|| {
            linux::deny_files_and_sockets()?;
            Some((
                File::open("/").is_err(),
                TcpStream::connect("127.0.0.1:1").map_err(|e| e.kind()),
            ))
        });
        let Some((file, socket)) = denied.join().unwrap() else { return };
        assert!(file);
        // Older kernels know files only; then nothing listens there.
        let kind = socket.unwrap_err();
        assert!(
            matches!(
                kind,
                std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ConnectionRefused
            ),
            "{kind:?}"
        );
        assert!(File::open("/").is_ok());
    }
}
