//! The control plane: what a test or a grader asks of a mock over the wire.

use axum::http::Method;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::edit::Edit;
use crate::engine::Service;
use crate::fault::Fault;
use crate::hash;
use crate::http::{Reply, Request};
use crate::log::{Entry, Firing};

const PREFIX: &str = "/__mock/";
const COMMANDS: &str = "the control plane has GET log, state, states, hash, boundaries and firings, \
                        and POST reset, faults and edit";

/// Needs no token, only a header that no API client sends; it is not logged.
pub(crate) fn answer(service: &dyn Service, request: &Request) -> Option<Reply> {
    let command = request.path.strip_prefix(PREFIX)?;
    if request.header("x-mock-control") != Some("1") {
        return None;
    }
    let reply = match (&request.method, command) {
        (&Method::GET, "log") => Reply::json(200, &service.log()),
        (&Method::GET, "state") => Reply::json(200, &service.state()),
        (&Method::GET, "states") => Reply::json(200, &service.states()),
        (&Method::GET, "hash") => Reply::json(200, &json!({ "hash": hash::of(&service.state()) })),
        (&Method::GET, "boundaries") => Reply::json(200, &service.boundaries()),
        (&Method::GET, "firings") => {
            let firings: Vec<Firing> = service.log().iter().filter_map(Entry::firing).collect();
            Reply::json(200, &firings)
        }
        (&Method::POST, "reset") => {
            service.reset();
            Reply::empty(204)
        }
        (&Method::POST, "faults") => {
            done(read::<Vec<Fault>>(request).map(|faults| service.set_faults(faults)))
        }
        (&Method::POST, "edit") => {
            done(read::<Vec<Edit>>(request).and_then(|edits| service.edit(&edits)))
        }
        _ => Reply::detail(404, COMMANDS),
    };
    Some(reply)
}

fn read<T: DeserializeOwned>(request: &Request) -> Result<T, String> {
    serde_json::from_slice(&request.body).map_err(|error| error.to_string())
}

fn done(result: Result<(), String>) -> Reply {
    match result {
        Ok(()) => Reply::empty(204),
        Err(why) => Reply::detail(400, &why),
    }
}
