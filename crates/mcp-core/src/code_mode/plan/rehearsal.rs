//! The rehearsal: reads run live, writes are recorded and answered by placeholders.

use std::{
    collections::BTreeSet,
    sync::{Mutex, MutexGuard, PoisonError},
};

use api_client::{request::Request, transport::Response};
use serde_json::{Value, json};

use crate::{openapi::Operation, sandbox::HostError};

use super::{
    super::{policy::Effect, response::Data},
    Asked, Decision, Done, Made, PlannedWrite, Ticket, Wish,
    placeholder::{self, Tree, is_word},
    show, symbol,
    wish::Past,
};

/// Records what a script would write.
#[derive(Debug)]
pub(in super::super) struct Rehearsal {
    nonce: String,
    /// What an earlier part of the same run has done.
    done: Vec<Done>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    past: Past,
    steps: Vec<Step>,
    items: Vec<(String, Item)>,
    reads: Vec<Wish>,
    writes: usize,
    observations: Vec<String>,
    stale: bool,
    saves: BTreeSet<String>,
}

/// One request of the rehearsal with its answer, in the order of asking.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) wish: Wish,
    pub(super) effect: Effect,
    pub(super) answer: StepAnswer,
}

#[derive(Debug)]
pub(super) enum StepAnswer {
    /// The upstream's, with what was written over it.
    Live(Option<Response>, Option<String>),
    /// A placeholder, or no body.
    Made(u16, Option<Tree>),
}

/// What the rehearsal knows of an item that was written.
#[derive(Debug)]
enum Item {
    Created { collection: String, tree: Tree },
    Changed { body: String },
    Deleted,
}

/// What a rehearsal brought.
#[derive(Debug)]
pub(in super::super) struct Rehearsed {
    pub(in super::super) nonce: String,
    pub(in super::super) writes: Vec<PlannedWrite>,
    /// Reads that were answered by placeholders.
    pub(in super::super) reads: Vec<Wish>,
    pub(in super::super) done: Vec<Done>,
    /// Every request, for the replay.
    pub(super) steps: Vec<Step>,
    /// Where the script depends on what it cannot know yet, as far as the host can see.
    pub(in super::super) observations: Vec<String>,
    /// A read ran after a write, and could not see it.
    pub(in super::super) stale: bool,
    /// Names of the files the script saves.
    pub(in super::super) saves: BTreeSet<String>,
}

impl Rehearsed {
    /// Whether there is nothing to confirm.
    pub(in super::super) fn writes_nothing(&self) -> bool {
        self.writes.is_empty() && self.saves.is_empty()
    }

    /// Whether the script was given anything that is not real.
    pub(in super::super) fn has_placeholders(&self) -> bool {
        self.steps.iter().any(|it| match &it.answer {
            StepAnswer::Made(_, tree) => tree.is_some(),
            StepAnswer::Live(_, overlay) => overlay.is_some(),
        })
    }

    /// The answer that a read of exactly this path got, without a query.
    pub(in super::super) fn live_answer(&self, wish: &Wish) -> Option<&Response> {
        let same = |it: &&Step| {
            it.effect == Effect::Read
                && it.wish.binding == wish.binding
                && it.wish.operation == wish.operation
                && it.wish.path == wish.path
                && it.wish.query.is_empty()
        };
        let step = self.steps.iter().filter(same).find_map(|it| match &it.answer {
            StepAnswer::Live(response, None) => response.as_ref(),
            StepAnswer::Live(..) | StepAnswer::Made(..) => None,
        });
        step.filter(|it| it.status == 200)
    }
}

impl Rehearsal {
    /// A rehearsal whose symbols carry `nonce`; `done` is what the same script did already.
    pub(in super::super) fn new(nonce: String, done: Vec<Done>) -> Self {
        let state = State {
            past: Past::new(done.clone()),
            steps: Vec::new(),
            items: Vec::new(),
            reads: Vec::new(),
            writes: 0,
            observations: Vec::new(),
            stale: false,
            saves: BTreeSet::new(),
        };
        Self { nonce, done, state: Mutex::new(state) }
    }

    /// Notes a file to save.
    pub(super) fn save(&self, name: &str) {
        self.lock().saves.insert(name.to_owned());
    }

    pub(super) fn nonce(&self) -> &str {
        &self.nonce
    }

    /// What was recorded.
    pub(in super::super) fn finish(&self) -> Rehearsed {
        let mut state = self.lock();
        let steps = std::mem::take(&mut state.steps);
        let writes = steps.iter().filter(|it| it.effect == Effect::Write);
        Rehearsed {
            nonce: self.nonce.clone(),
            writes: writes.map(|it| PlannedWrite { wish: it.wish.clone(), before: None }).collect(),
            reads: std::mem::take(&mut state.reads),
            done: self.done.clone(),
            steps,
            observations: std::mem::take(&mut state.observations),
            stale: state.stale,
            saves: std::mem::take(&mut state.saves),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn decide(&self, asked: &Asked<'_>) -> Decision {
        let mut state = self.lock();
        match state.past.take(asked) {
            Ok(Some(done)) => return Decision::Answer(Made::past(&done)),
            Ok(None) => {}
            Err(message) => return Decision::Halt(HostError::new("PlanError", message)),
        }
        let wish = Wish::of(asked);
        for text in wish.texts() {
            if let Some(name) = symbol::may_be_a_sum(&text, &self.nonce) {
                state.observations.push(format!(
                    "`+` on {} in `{} {}`",
                    symbol::shown(&name),
                    asked.request.method,
                    show::encoded(&asked.request.path, &self.nonce)
                ));
            }
        }
        match asked.effect {
            Effect::Write => state.write(asked, wish, &self.nonce),
            Effect::Read => state.read(asked, wish, &self.nonce),
        }
    }

    pub(super) fn answered(
        &self,
        asked: &Asked<'_>,
        ticket: &Ticket,
        response: &Response,
    ) -> Option<String> {
        let mut state = self.lock();
        let step = state.steps.get_mut(ticket.read?)?;
        let overlay = match &ticket.overlay {
            Some(body) if response.status == 200 => {
                let data = Data::of(response, &asked.api.transport);
                data.json_text().map(|json| placeholder::overlay(json, body))
            }
            _ => None,
        };
        step.answer = StepAnswer::Live(Some(response.clone()), overlay.clone());
        overlay.map(|json| wire(&Tree::Known(json), &self.nonce))
    }
}

impl State {
    fn write(&mut self, asked: &Asked<'_>, wish: Wish, nonce: &str) -> Decision {
        self.writes += 1;
        let name = self.writes.to_string();
        let body = wish.body_text();
        let document = &asked.loaded.document;
        let (status, tree) = placeholder::of(document, asked.operation, &name, body);
        let path = item_path(asked.binding, asked.request, nonce);
        match asked.operation.method.as_str() {
            "DELETE" => self.items.push((path, Item::Deleted)),
            "PUT" | "PATCH" => {
                if let Some(body) = body {
                    self.items.push((path, Item::Changed { body: body.to_owned() }));
                }
            }
            "POST" => {
                if let Some(tree) = &tree {
                    let collection = trimmed(&path).to_owned();
                    self.items.push((name, Item::Created { collection, tree: tree.clone() }));
                }
            }
            _ => {}
        }
        self.make(wish, Effect::Write, status, tree, nonce)
    }

    fn read(&mut self, asked: &Asked<'_>, wish: Wish, nonce: &str) -> Decision {
        let path = item_path(asked.binding, asked.request, nonce);
        let latest = self.items.iter().rev().find(|(key, _)| *key == path).map(|(_, item)| item);
        if matches!(latest, Some(Item::Deleted)) {
            return self.make(wish, Effect::Read, 404, None, nonce);
        }
        // Everything that was written to the item since it was created or deleted, oldest first.
        let changes: Vec<String> = {
            let since = self
                .items
                .iter()
                .rev()
                .take_while(|(key, item)| *key != path || !matches!(item, Item::Deleted));
            let bodies = since.filter_map(|(key, item)| match item {
                Item::Changed { body } if *key == path => Some(body.clone()),
                _ => None,
            });
            let mut bodies: Vec<String> = bodies.collect();
            bodies.reverse();
            bodies
        };
        if !wish.has_symbols(nonce) {
            self.stale |= self.writes > 0;
            let overlay = changes.into_iter().reduce(|one, other| merged(&one, &other));
            let ticket = Ticket {
                read: Some(self.steps.len()),
                stale: self.writes > 0,
                overlay,
                ..Ticket::default()
            };
            let answer = StepAnswer::Live(None, None);
            self.steps.push(Step { wish, effect: Effect::Read, answer });
            return Decision::Send(ticket);
        }
        let created = self.created_item(&path, asked.operation, &wish, nonce);
        let (status, mut tree) = match created {
            Some(tree) => (200, Some(tree)),
            None => {
                self.reads.push(wish.clone());
                let name = format!("r{}", self.reads.len());
                placeholder::of(&asked.loaded.document, asked.operation, &name, None)
            }
        };
        for body in changes {
            tree = tree.map(|it| it.overlaid(&body));
        }
        self.make(wish, Effect::Read, status, tree, nonce)
    }

    /// The placeholder of the item that a path names by a symbol of its own creation.
    fn created_item(
        &self,
        path: &str,
        operation: &Operation,
        wish: &Wish,
        nonce: &str,
    ) -> Option<Tree> {
        if operation.method.as_str() != "GET" || !wish.query.is_empty() {
            return None;
        }
        let (parent, last) = trimmed(path).rsplit_once('/')?;
        let name = last.strip_prefix('«')?.strip_suffix('»')?;
        let (number, field) = name.split_once('.')?;
        // One symbol, a field of the answer itself, and nothing else in the segment.
        let texts = wish.texts();
        let is_whole =
            texts.iter().any(|it| symbol::whole(it, nonce).is_some_and(|it| it.name == name));
        if !is_word(field) || !is_whole {
            return None;
        }
        self.items.iter().find_map(|(key, item)| match item {
            Item::Created { collection, tree } if key == number && collection == parent => {
                Some(tree.clone())
            }
            _ => None,
        })
    }

    fn make(
        &mut self,
        wish: Wish,
        effect: Effect,
        status: u16,
        tree: Option<Tree>,
        nonce: &str,
    ) -> Decision {
        let placeholder = tree.as_ref().map(|it| wire(it, nonce));
        self.steps.push(Step { wish, effect, answer: StepAnswer::Made(status, tree) });
        Decision::Answer(Made::new(status, placeholder))
    }
}

/// Names an item: its API and its path as a person would see it.
fn item_path(binding: usize, request: &Request, nonce: &str) -> String {
    format!("{binding} {}", show::encoded(&request.path, nonce))
}

fn trimmed(path: &str) -> &str {
    path.trim_end_matches('/')
}

/// One body with the fields of a later one.
fn merged(one: &str, other: &str) -> String {
    type Fields = indexmap::IndexMap<String, Box<serde_json::value::RawValue>>;
    match (serde_json::from_str::<Fields>(one), serde_json::from_str::<Fields>(other)) {
        (Ok(mut fields), Ok(later)) => {
            fields.extend(later);
            serde_json::to_string(&fields).unwrap_or_else(|_| other.to_owned())
        }
        _ => other.to_owned(),
    }
}

/// A placeholder as the worker reads it.
pub(super) fn wire(tree: &Tree, nonce: &str) -> String {
    let nonce = json!(nonce);
    let tree = tree.to_json();
    debug_assert!(serde_json::from_str::<Value>(&tree).is_ok());
    format!("{{\"tree\":{tree},\"nonce\":{nonce}}}")
}
