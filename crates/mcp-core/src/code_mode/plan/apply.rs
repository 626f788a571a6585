//! The confirmed run: each write must be the next one of the plan, to the byte, or nothing more is
//! sent.

use std::sync::{Mutex, MutexGuard, PoisonError};

use api_client::transport::Response;
use serde_json::value::RawValue;

use crate::{context::Context, sandbox::HostError};

use super::{
    super::{policy::Effect, response::Data},
    Asked, Decision, Done, Made, Plan, Saving, Ticket,
    symbol::Found,
    wish::{Past, digest},
};

/// Bytes of answers that are kept, so that an incomplete plan can be continued.
const MAX_KEPT: usize = 4 << 20;

/// Holds a run to its plan.
#[derive(Debug)]
pub(in super::super) struct Apply {
    plan: Plan,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    past: Past,
    next: usize,
    /// The answers to the planned writes and to the placeholder reads, as JSON text.
    writes: Vec<Option<String>>,
    reads: Vec<Option<String>>,
    /// Everything that was answered, for a plan of the rest; `None` when it is too much.
    done: Option<Vec<Done>>,
    kept: usize,
    beyond: bool,
}

impl Apply {
    pub(in super::super) fn new(mut plan: Plan) -> Self {
        let done = std::mem::take(&mut plan.done);
        let state = State {
            past: Past::new(done.clone()),
            next: 0,
            writes: vec![None; plan.writes.len()],
            reads: vec![None; plan.reads.len()],
            kept: 0,
            done: Some(done),
            beyond: false,
        };
        Self { plan, state: Mutex::new(state) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a file of the plan be saved.
    ///
    /// # Errors
    /// When the plan does not have it.
    pub(super) fn save(&self, name: &str) -> Result<Saving, HostError> {
        if self.plan.saves.contains(name) {
            return Ok(Saving::Now);
        }
        self.lock().beyond = !self.plan.complete;
        let message = format!("the file `{name}` is not in the confirmed plan; it was not saved");
        Err(HostError::new("PlanError", message).with("refused", true))
    }

    /// The planned writes that the run did not come to.
    pub(in super::super) fn not_reached(&self, cx: &Context) -> Vec<(String, String)> {
        let next = self.lock().next;
        let rest = self.plan.writes.iter().skip(next);
        rest.filter_map(|it| super::text::method_and_path(cx, &it.wish, &self.plan.nonce)).collect()
    }

    /// What a plan of the rest starts from, when the run went on beyond an incomplete plan.
    ///
    /// # Errors
    /// `false` when it did not; `true` when there is more to keep than can be kept.
    pub(in super::super) fn rest(&self) -> Result<Vec<Done>, bool> {
        let state = self.lock();
        if !state.beyond {
            return Err(false);
        }
        state.done.clone().ok_or(true)
    }

    pub(super) fn decide(&self, asked: &Asked<'_>) -> Decision {
        let mut state = self.lock();
        match state.past.take(asked) {
            Ok(Some(done)) => return Decision::Answer(Made::past(&done)),
            Ok(None) => {}
            Err(message) => return halt(message),
        }
        match asked.effect {
            Effect::Read => Decision::Send(Ticket {
                read: state.placeholder_read(&self.plan, asked),
                ..Ticket::default()
            }),
            Effect::Write => self.write(&mut state, asked),
        }
    }

    fn write(&self, state: &mut State, asked: &Asked<'_>) -> Decision {
        let shown = format!("`{} {}`", asked.request.method, asked.request.path);
        let Some(planned) = self.plan.writes.get(state.next) else {
            state.beyond = !self.plan.complete;
            return halt(format!(
                "{shown} is not in the confirmed plan, which has {} writes; it was not sent",
                self.plan.writes.len()
            ));
        };
        let number = state.next + 1;
        let wish = &planned.wish;
        let document = &asked.loaded.document;
        let same_operation = wish.binding == asked.binding && wish.operation == asked.index;
        let values = |name: &str| state.value(name);
        let expected = if same_operation {
            wish.resolve(asked.api, document, &self.plan.nonce, &values)
        } else {
            Err("it is another operation".to_owned())
        };
        let differs = match expected {
            Ok(request)
                if digest(asked.binding, &request) == digest(asked.binding, asked.request) =>
            {
                None
            }
            Ok(request) => Some(difference(&request, asked.request)),
            Err(reason) => Some(reason),
        };
        if let Some(reason) = differs {
            return halt(format!(
                "{shown} is not write {number} of the confirmed plan ({reason}); it was not sent, nor was anything after it"
            ));
        }
        state.next += 1;
        Decision::Send(Ticket {
            write: Some(number - 1),
            before: planned.before.clone(),
            ..Ticket::default()
        })
    }

    pub(super) fn answered(&self, asked: &Asked<'_>, ticket: &Ticket, response: &Response) {
        let mut state = self.lock();
        let data = Data::of(response, &asked.api.transport);
        let json = data.json_text().map(ToOwned::to_owned);
        if let Some(slot) = ticket.write.and_then(|at| state.writes.get_mut(at)) {
            *slot = json;
        } else if let Some(slot) = ticket.read.and_then(|at| state.reads.get_mut(at)) {
            *slot = json;
        }
        state.kept += response.body.len();
        if state.kept > MAX_KEPT {
            state.done = None;
        }
        if let Some(done) = &mut state.done {
            done.push(Done::new(asked, response));
        }
    }
}

impl State {
    /// The value a symbol stands for, from the host's own copy of the response.
    fn value(&self, name: &str) -> Found {
        let mut parts = name.split('.');
        let source = parts.next().unwrap_or_default();
        let text = match source.strip_prefix('r') {
            Some(number) => nth(&self.reads, number),
            None => nth(&self.writes, source),
        };
        let Some(mut json) = text.map(ToOwned::to_owned) else { return Found::Missing };
        for part in parts {
            type Fields = indexmap::IndexMap<String, Box<RawValue>>;
            let field = serde_json::from_str::<Fields>(&json)
                .ok()
                .and_then(|mut fields| fields.swap_remove(part));
            let Some(field) = field else { return Found::Missing };
            field.get().clone_into(&mut json);
        }
        Found::Json(json)
    }

    /// The placeholder read that this read is in the real run.
    fn placeholder_read(&self, plan: &Plan, asked: &Asked<'_>) -> Option<usize> {
        let wanted = digest(asked.binding, asked.request);
        plan.reads.iter().enumerate().position(|(at, wish)| {
            self.reads.get(at).is_some_and(Option::is_none)
                && wish.binding == asked.binding
                && wish.operation == asked.index
                && wish
                    .resolve(asked.api, &asked.loaded.document, &plan.nonce, &|name| {
                        self.value(name)
                    })
                    .is_ok_and(|request| digest(asked.binding, &request) == wanted)
        })
    }
}

fn nth<'a>(texts: &'a [Option<String>], number: &str) -> Option<&'a str> {
    let at = number.parse::<usize>().ok()?.checked_sub(1)?;
    texts.get(at)?.as_deref()
}

fn halt(message: String) -> Decision {
    Decision::Halt(HostError::new("PlanError", message).with("refused", true))
}

/// In what two requests of one operation differ.
fn difference(
    planned: &api_client::request::Request,
    now: &api_client::request::Request,
) -> String {
    let body = |it: &api_client::request::Request| {
        it.body.as_ref().map(|it| (it.content_type.clone(), it.bytes.clone()))
    };
    if planned.path != now.path {
        format!("its path was `{}`", planned.path)
    } else if planned.query != now.query {
        format!("its query was `{}`", planned.query)
    } else if body(planned) != body(now) {
        "its body was another".to_owned()
    } else {
        "its headers were others".to_owned()
    }
}
