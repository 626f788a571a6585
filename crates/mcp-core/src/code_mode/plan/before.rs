//! The present state of what a planned write would change, where the document has the matching GET.

use std::time::Instant;

use futures::{StreamExt as _, future::BoxFuture};

use api_client::{Method, request::Location, transport::Effect as WireEffect};
use indexmap::IndexMap;
use serde_json::{Value, value::RawValue};

use crate::{context::Context, openapi::Document};

use super::{
    super::{
        call,
        policy::{CallArguments, Effect, Mode, Policy},
        region,
        response::Data,
    },
    MAX_WRITES, PlannedWrite, Wish,
    rehearsal::Rehearsed,
    text::{self, Earlier},
};

/// The GET of the item that a write changes; `None` for other writes, and without such a GET.
fn reading(document: &Document, wish: &Wish) -> Option<Wish> {
    let operation = document.operation(wish.operation)?;
    if !matches!(operation.method.as_str(), "PUT" | "PATCH" | "DELETE") {
        return None;
    }
    let get = document.find_route("GET", &operation.path)?;
    let needs_more = document
        .operation(get)?
        .parameters
        .iter()
        .any(|it| it.required && it.location == Location::Query);
    (!needs_more).then(|| Wish {
        binding: wish.binding,
        operation: get,
        path: wish.path.clone(),
        query: Vec::new(),
        headers: Vec::new(),
        body: None,
    })
}

/// What the rehearsal itself has read of it.
fn known(cx: &Context, rehearsed: &Rehearsed, wish: &Wish) -> Option<String> {
    let api = cx.api(wish.binding)?;
    let loaded = api.document.current()?;
    let reading = reading(&loaded.document, wish)?;
    let response = rehearsed.live_answer(&reading)?;
    let data = Data::of(response, &api.transport);
    state(&loaded.document, wish, data.json_text()?)
}

/// Reads it now.
pub(super) async fn read(
    cx: &Context,
    binding: usize,
    wish: &Wish,
    deadline: Instant,
) -> Option<String> {
    let api = cx.api(binding)?;
    let loaded = api.document.current()?;
    let reading = reading(&loaded.document, wish)?;
    let policy =
        Policy { api, loaded: &loaded, access: &cx.access, mode: Mode::Read, surface: cx.surface };
    if policy.admit(reading.operation) != Ok(Effect::Read) {
        return None;
    }
    let operation = loaded.document.operation(reading.operation)?;
    let arguments = CallArguments { path: reading.path, ..CallArguments::default() };
    policy.check(&operation, &arguments).ok()?;
    let request = call::build(api, &loaded.document, &operation, &arguments).ok()?;
    let redirect = |_: &Method, _: &str, _: &str| Err("not followed here".to_owned());
    let transport = region::transport(api, &operation, &arguments, deadline).await;
    let response =
        transport.send_checked(&request, WireEffect::Read, deadline, &redirect).await.ok()?;
    match response.status {
        200 => {
            let data = Data::of(&response, &api.transport);
            state(&loaded.document, wish, data.json_text()?)
        }
        404 => Some("null".to_owned()),
        _ => None,
    }
}

/// The part of an item that a write is about: the fields it sends, or what a deleted one is known by.
fn state(document: &Document, wish: &Wish, json: &str) -> Option<String> {
    type Fields = IndexMap<String, Box<RawValue>>;
    let mut fields: Fields = serde_json::from_str(json).ok()?;
    let method = document.operation(wish.operation)?.method;
    if method.as_str() == "DELETE" {
        fields.retain(|_, value| !value.get().starts_with(['{', '[']));
    } else {
        let sent: Fields = serde_json::from_str(wish.body_text()?).ok()?;
        fields.retain(|name, _| sent.contains_key(name));
    }
    if fields.is_empty() { None } else { serde_json::to_string(&fields).ok() }
}

/// Looks up what the writes of a plan would change; at most as many as a plan can hold, and no
/// longer than until the deadline.
pub(super) async fn fill(
    cx: &Context,
    rehearsed: &Rehearsed,
    writes: &mut [PlannedWrite],
    deadline: Instant,
) {
    let earlier = text::earlier(cx, writes, &rehearsed.nonce);
    let mut reads: Vec<BoxFuture<'_, (usize, Option<String>)>> = Vec::new();
    for (at, (write, earlier)) in writes.iter_mut().zip(&earlier).enumerate().take(MAX_WRITES) {
        if *earlier == Earlier::Changes || write.wish.has_symbols_in_path(&rehearsed.nonce) {
            continue;
        }
        write.before = known(cx, rehearsed, &write.wish);
        if write.before.is_none() {
            let wish = write.wish.clone();
            reads
                .push(Box::pin(async move { (at, read(cx, wish.binding, &wish, deadline).await) }));
        }
    }
    let at_once = cx.limits.concurrent_requests.max(1);
    let states: Vec<_> = futures::stream::iter(reads).buffer_unordered(at_once).collect().await;
    for (at, state) in states {
        // What is not there yet may be there when its turn comes.
        let comes = earlier.get(at) == Some(&Earlier::MayCreate);
        if let Some(write) = writes.get_mut(at) {
            write.before = state.filter(|it| !(comes && it == "null"));
        }
    }
}

/// Whether two states are the same, whatever the order of their fields.
pub(super) fn same(one: &str, other: &str) -> bool {
    let parse = |text: &str| serde_json::from_str::<Value>(text).ok();
    one == other || parse(one).is_some_and(|it| Some(it) == parse(other))
}
