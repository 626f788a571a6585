//! Who runs next: a bounded number of scripts at once, and a queue that is fair to callers.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::oneshot;

/// Scripts that may wait; more are turned away at once.
const MAX_WAITING: usize = 1_000;

/// The turnstile in front of the workers.
#[derive(Debug, Clone)]
pub(super) struct Queue(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    free: usize,
    waiting: usize,
    running: HashMap<String, usize>,
    /// Who waits, each caller once: who was served last is last.
    rotation: VecDeque<Caller>,
}

#[derive(Debug)]
struct Caller {
    name: String,
    turns: VecDeque<oneshot::Sender<Permit>>,
}

/// The right to run one script, given back on drop.
#[derive(Debug)]
pub(super) struct Permit {
    queue: Queue,
    caller: String,
}

impl Queue {
    /// A queue that lets this many through at once.
    pub(super) fn new(at_once: usize) -> Self {
        Self(Arc::new(Mutex::new(State {
            free: at_once.max(1),
            waiting: 0,
            running: HashMap::new(),
            rotation: VecDeque::new(),
        })))
    }

    /// Waits for this caller's turn; `None` when too many wait already.
    pub(super) async fn enter(&self, caller: &str) -> Option<Permit> {
        let turn = {
            let mut state = self.state();
            if state.free > 0 {
                state.admit(caller);
                return Some(self.permit(caller));
            }
            if state.waiting >= MAX_WAITING {
                return None;
            }
            state.line_up(caller)
        };
        turn.await.ok()
    }

    fn permit(&self, caller: &str) -> Permit {
        Permit { queue: self.clone(), caller: caller.to_owned() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn leave(&self, caller: &str) {
        let next = {
            let mut state = self.state();
            state.dismiss(caller);
            state.next()
        };
        if let Some((caller, sender)) = next {
            // One who stopped waiting gives the permit back by dropping it here.
            drop(sender.send(self.permit(&caller)));
        }
    }
}

impl State {
    fn admit(&mut self, name: &str) {
        self.free -= 1;
        *self.running.entry(name.to_owned()).or_default() += 1;
    }

    fn dismiss(&mut self, name: &str) {
        self.free += 1;
        if let Some(running) = self.running.get_mut(name) {
            *running -= 1;
            if *running == 0 {
                self.running.remove(name);
            }
        }
    }

    fn line_up(&mut self, name: &str) -> oneshot::Receiver<Permit> {
        let (sender, turn) = oneshot::channel();
        self.waiting += 1;
        match self.rotation.iter_mut().find(|caller| caller.name == name) {
            Some(caller) => caller.turns.push_back(sender),
            None => {
                let caller = Caller { name: name.to_owned(), turns: VecDeque::from([sender]) };
                self.rotation.push_back(caller);
            }
        }
        turn
    }

    /// Admits the caller with the fewest running scripts; among equals, the first in the rotation.
    fn next(&mut self) -> Option<(String, oneshot::Sender<Permit>)> {
        for caller in &mut self.rotation {
            let before = caller.turns.len();
            caller.turns.retain(|turn| !turn.is_closed());
            self.waiting -= before - caller.turns.len();
        }
        self.rotation.retain(|caller| !caller.turns.is_empty());
        let running = |caller: &Caller| self.running.get(&caller.name).copied().unwrap_or_default();
        let (index, _) =
            self.rotation.iter().enumerate().min_by_key(|(_, caller)| running(caller))?;
        let mut caller = self.rotation.remove(index)?;
        let (name, turn) = (caller.name.clone(), caller.turns.pop_front()?);
        if !caller.turns.is_empty() {
            self.rotation.push_back(caller);
        }
        self.waiting -= 1;
        self.admit(&name);
        Some((name, turn))
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.queue.leave(&self.caller);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn settle() {
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
    }

    /// Queues these callers behind one that runs, then lets them through one by one.
    async fn order_of(callers: &[&str]) -> Vec<String> {
        let queue = Queue::new(1);
        let first = queue.enter("first").await.unwrap();
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = Vec::new();
        for caller in callers {
            let (queue, order, caller) = (queue.clone(), Arc::clone(&order), (*caller).to_owned());
            tasks.push(tokio::spawn(async move {
                let _permit = queue.enter(&caller).await.unwrap();
                order.lock().unwrap().push(caller);
            }));
            settle().await;
        }
        drop(first);
        for task in tasks {
            task.await.unwrap();
        }
        order.lock().unwrap().clone()
    }

    #[tokio::test]
    async fn a_caller_with_many_scripts_does_not_hold_up_another() {
        assert_eq!(order_of(&["a", "a", "a", "b"]).await, ["a", "b", "a", "a"]);
    }

    #[tokio::test]
    async fn callers_take_turns() {
        assert_eq!(order_of(&["a", "a", "b", "b", "c"]).await, ["a", "b", "c", "a", "b"]);
    }

    #[tokio::test]
    async fn who_stops_waiting_gives_up_the_turn() {
        let queue = Queue::new(1);
        let first = queue.enter("a").await.unwrap();
        let impatient = tokio::spawn({
            let queue = queue.clone();
            async move { queue.enter("b").await }
        });
        settle().await;
        impatient.abort();
        settle().await;
        drop(first);
        assert!(queue.enter("c").await.is_some());
    }
}
