//! The replay: a rehearsed script runs once more, on the reads of the rehearsal and on made-up
//! values in place of symbols. Where it then asks for something else, its writes depend on values
//! that only the real responses have.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use crate::sandbox::HostError;

use super::{
    super::policy::Effect,
    Asked, Decision, Made,
    rehearsal::{Rehearsed, Step, StepAnswer, wire},
    symbol::Found,
    wish::{Past, digest},
};

/// Answers from a rehearsal.
#[derive(Debug)]
pub(in super::super) struct Replay {
    nonce: String,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    past: Past,
    steps: Vec<Option<Step>>,
    fakes: HashMap<String, String>,
    /// Symbols that the plan depends on.
    used: Vec<String>,
    writes_left: usize,
    diverged: bool,
}

impl Replay {
    /// A replay of what was rehearsed; takes its steps.
    pub(in super::super) fn new(rehearsed: &mut Rehearsed) -> Self {
        let steps = std::mem::take(&mut rehearsed.steps);
        let nonce = rehearsed.nonce.clone();
        let mut used = Vec::new();
        for text in steps.iter().flat_map(|it| it.wish.texts()) {
            used.extend(super::symbol::marks(&text, &nonce).map(|it| it.name.to_owned()));
        }
        let writes_left = steps.iter().filter(|it| it.effect == Effect::Write).count();
        let state = State {
            past: Past::new(rehearsed.done.clone()),
            steps: steps.into_iter().map(Some).collect(),
            fakes: HashMap::new(),
            used,
            writes_left,
            diverged: false,
        };
        Self { nonce, state: Mutex::new(state) }
    }

    /// Whether the script asked for the same writes again.
    pub(in super::super) fn agrees(&self) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        !state.diverged && state.writes_left == 0
    }

    pub(super) fn decide(&self, asked: &Asked<'_>) -> Decision {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match state.past.take(asked) {
            Ok(Some(done)) => return Decision::Answer(Made::past(&done)),
            Ok(None) => {}
            Err(message) => return Decision::Halt(HostError::new("PlanError", message)),
        }
        match state.answer(asked, &self.nonce) {
            Some(made) => Decision::Answer(made),
            None => {
                state.diverged = true;
                Decision::Halt(HostError::new("PlanError", "the rehearsals differ"))
            }
        }
    }
}

impl State {
    /// The answer of the step that asked for the same. Reads are found in any order, for concurrent
    /// ones overtake each other; writes only in theirs.
    fn answer(&mut self, asked: &Asked<'_>, nonce: &str) -> Option<Made> {
        let wanted = digest(asked.binding, asked.request);
        let mut found = None;
        for (at, step) in self.steps.iter().enumerate() {
            let Some(step) = step.as_ref().filter(|it| it.effect == asked.effect) else { continue };
            let values = |name: &str| {
                self.fakes.get(name).map_or(Found::Symbol, |it| Found::Json(it.clone()))
            };
            let same = step.wish.operation == asked.index
                && step.wish.binding == asked.binding
                && step
                    .wish
                    .resolve(asked.api, &asked.loaded.document, nonce, &values)
                    .is_ok_and(|request| digest(asked.binding, &request) == wanted);
            if same {
                found = Some(at);
            }
            if same || asked.effect == Effect::Write {
                break;
            }
        }
        let step = self.steps.get_mut(found?)?.take()?;
        if step.effect == Effect::Write {
            self.writes_left -= 1;
        }
        let used = &self.used;
        let is_used = |name: &str| used.iter().any(|it| it == name);
        Some(match step.answer {
            StepAnswer::Live(response, overlay) => {
                let placeholder = overlay.map(|json| {
                    let tree = super::placeholder::Tree::Known(json);
                    wire(&tree.faked(nonce, &mut self.fakes, &is_used), nonce)
                });
                Made { response: response?, placeholder, past: false }
            }
            StepAnswer::Made(status, tree) => {
                let tree = tree.map(|it| it.faked(nonce, &mut self.fakes, &is_used));
                Made::new(status, tree.map(|it| wire(&it, nonce)))
            }
        })
    }
}
