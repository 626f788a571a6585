//! The nursery's own life: it waits for orders, forks a worker for each, and buries those that ended.

use std::{
    io::stdin,
    os::fd::{AsFd as _, OwnedFd},
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
    process::{
        Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, pidfd_open,
        set_parent_process_death_signal, waitid,
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
        let socket = nursery::receive(stdin(), &mut [0]).map_err(|_| Lost)?;
        match raw::fork().map_err(|_| Lost)? {
            Some(child) => {
                drop(socket);
                let handle = pidfd_open(child, PidfdFlags::empty()).map_err(|_| Lost)?;
                let id = Pid::as_raw_pid(child).cast_unsigned();
                nursery::send(stdin(), &id.to_ne_bytes(), &handle).map_err(|_| Lost)?;
                children.push(handle);
            }
            None => {
                drop(children);
                // Should the nursery be gone already, so is the host, and the first read says so.
                let _ = set_parent_process_death_signal(Some(Signal::KILL));
                return raw::become_stdin(&socket).map_err(|_| Lost);
            }
        }
    }
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
