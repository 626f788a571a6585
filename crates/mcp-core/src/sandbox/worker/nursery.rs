//! The nursery's own life: it waits for orders, forks a worker for each, and buries those that ended.

use std::{
    io::stdin,
    os::fd::{AsFd as _, OwnedFd},
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
    process::{
        Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process, pidfd_open,
        set_parent_process_death_signal, waitid, waitpid,
    },
};

use super::{super::nursery, jail, raw, stream::Lost};

/// Returns in each new worker, whose standard input is then the socket that came with the order.
/// In the nursery itself it returns when the host is gone.
pub(super) fn fork_on_order() -> Result<(), Lost> {
    jail::get_ready();
    let mut children: Vec<OwnedFd> = Vec::new();
    loop {
        if !wait(&mut children)? {
            continue;
        }
        let Some(socket) = nursery::receive(stdin(), &mut [0]).map_err(|_| Lost)? else {
            return Err(Lost);
        };
        match raw::fork() {
            Ok(None) => {
                drop(children);
                // Should the nursery be gone already, so is the host, and the first read says so.
                let _ = set_parent_process_death_signal(Some(Signal::KILL));
                return raw::become_stdin(&socket).map_err(|_| Lost);
            }
            Ok(Some(child)) => {
                let id = Pid::as_raw_pid(child).cast_unsigned().to_ne_bytes();
                let handle = pidfd_open(child, PidfdFlags::empty()).ok();
                nursery::send(stdin(), &id, handle.as_ref()).map_err(|_| Lost)?;
                match handle {
                    Some(handle) => children.push(handle),
                    None => bury(child),
                }
            }
            Err(_) => nursery::send(stdin(), &[0; 4], None).map_err(|_| Lost)?,
        }
    }
}

/// Ends a child that the host cannot be given a handle of.
fn bury(child: Pid) {
    let _ = kill_process(child, Signal::KILL);
    let _ = waitpid(Some(child), WaitOptions::empty());
}

/// Waits for an order or the end of a child; whether there is an order.
fn wait(children: &mut Vec<OwnedFd>) -> Result<bool, Lost> {
    let input = stdin();
    let mut events = vec![PollFd::new(&input, PollFlags::IN)];
    events.extend(children.iter().map(|child| PollFd::new(child, PollFlags::IN)));
    match poll(&mut events, None) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(_) => return Err(Lost),
    }
    let happened: Vec<bool> = events.iter().map(|event| !event.revents().is_empty()).collect();
    drop(events);
    let mut ended = happened.iter().skip(1);
    children.retain(|child| {
        let ended = ended.next().is_some_and(|ended| *ended);
        if ended {
            // Nothing to learn: the host holds a handle of its own.
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
            let _ = waitid(WaitId::PidFd(child.as_fd()), options);
        }
        !ended
    });
    Ok(happened.first().is_some_and(|ordered| *ordered))
}
