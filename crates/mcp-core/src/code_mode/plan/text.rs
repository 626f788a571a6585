//! A plan as it is shown: its writes as JSON, and the one line that confirms them.

use std::collections::BTreeMap;

use api_client::request::Request;
use indexmap::IndexMap;
use serde_json::{Map, Value};

use crate::context::Context;

use super::{
    Content, Plan, PlannedWrite, Wish, show,
    symbol::{Found, quoted},
};

/// Paths named in a confirmation line, and the longest of them.
const PATHS_NAMED: usize = 3;
const LONGEST_PATH: usize = 60;

/// The wish as it would be sent, symbols standing.
fn request(cx: &Context, wish: &Wish, nonce: &str) -> Option<Request> {
    let api = cx.api(wish.binding)?;
    let loaded = api.document.current()?;
    wish.resolve(api, &loaded.document, nonce, &|_| Found::Symbol).ok()
}

/// For example `PATCH` and `/core/users/«1.pk»/`.
pub(super) fn method_and_path(cx: &Context, wish: &Wish, nonce: &str) -> Option<(String, String)> {
    let request = request(cx, wish, nonce)?;
    Some((request.method.to_string(), show::encoded(&request.path, nonce)))
}

impl Plan {
    /// Each write as a JSON object; `None` where one of them cannot be shown.
    pub(in super::super) fn entries(&self, cx: &Context) -> Option<Vec<String>> {
        let writes = self.writes.iter().enumerate();
        let writes = writes.map(|(at, write)| entry(cx, at + 1, write, &self.nonce));
        let saves = self.saves.iter().map(|(name, it)| Some(saved(name, it, &self.nonce)));
        writes.chain(saves).collect()
    }

    /// How many writes of each method there are, as in `POST 1, DELETE 2`.
    pub(in super::super) fn counts(&self, cx: &Context) -> String {
        let mut counts: IndexMap<String, usize> = IndexMap::new();
        for write in &self.writes {
            if let Some((method, _)) = method_and_path(cx, &write.wish, &self.nonce) {
                *counts.entry(method).or_default() += 1;
            }
        }
        let counts: Vec<_> = counts.iter().map(|(method, it)| format!("{method} {it}")).collect();
        counts.join(", ")
    }

    /// The line that confirms the plan, without its token: host, counts, first paths.
    pub(in super::super) fn line(&self, cx: &Context) -> String {
        let mut hosts: Vec<String> = Vec::new();
        let mut paths: Vec<String> = Vec::new();
        for write in &self.writes {
            let host = cx.api(write.wish.binding).map(|it| it.host()).unwrap_or_default();
            if !hosts.contains(&host) {
                hosts.push(host);
            }
            if let Some((_, path)) = method_and_path(cx, &write.wish, &self.nonce) {
                let path = shortened(&path);
                if !paths.contains(&path) {
                    paths.push(path);
                }
            }
        }
        let mut counts = self.counts(cx);
        if !self.saves.is_empty() {
            hosts.extend(hosts.is_empty().then(|| "this machine".to_owned()));
            paths.extend(self.saves.keys().map(|name| shortened(&show::text(name, &self.nonce))));
            let separator = if counts.is_empty() { "" } else { ", " };
            counts = format!("{counts}{separator}save {}", self.saves.len());
        }
        let more = paths.len() > PATHS_NAMED;
        paths.truncate(PATHS_NAMED);
        let mut line = format!("{}: {counts} ({}", hosts.join(", "), paths.join(", "));
        line.push_str(if more { " …)" } else { ")" });
        if !self.complete {
            line.push_str(", more may follow");
        }
        line
    }
}

fn shortened(path: &str) -> String {
    match path.char_indices().nth(LONGEST_PATH) {
        Some((end, _)) => format!("{}…", path.get(..end).unwrap_or_default()),
        None => path.to_owned(),
    }
}

fn entry(cx: &Context, number: usize, write: &PlannedWrite, nonce: &str) -> Option<String> {
    let api = cx.api(write.wish.binding)?;
    let request = request(cx, &write.wish, nonce)?;
    let operation = api.document.current()?.document.operation(write.wish.operation)?;
    let mut entry = format!(
        "{{\"n\":{number},\"api\":{},\"method\":{},\"path\":{}",
        quoted(&api.profile.binding),
        quoted(request.method.as_str()),
        quoted(&show::encoded(&request.path, nonce)),
    );
    if !request.query.is_empty() {
        push(&mut entry, "query", &query(&request.query, nonce).to_string());
    }
    if !request.headers.is_empty() {
        let headers: Map<String, Value> = request
            .headers
            .iter()
            .map(|(name, value)| (name.clone(), show::text(value, nonce).into()))
            .collect();
        push(&mut entry, "headers", &Value::Object(headers).to_string());
    }
    push(&mut entry, "operation", &quoted(&show::text(&operation.id, nonce)));
    if let Some(body) = write.wish.body_text() {
        push(&mut entry, "body", &show::json(body, nonce));
    }
    if let Some(before) = &write.before {
        push(&mut entry, "before", &show::json(before, nonce));
    }
    entry.push('}');
    Some(entry)
}

/// A file that is saved, as an entry of the plan.
fn saved(name: &str, content: &Content, nonce: &str) -> String {
    let mut entry = format!("{{\"save\":{}", quoted(&show::text(name, nonce)));
    match &content.known {
        Some((size, sha256)) => {
            push(&mut entry, "size", &size.to_string());
            push(&mut entry, "sha256", &quoted(sha256));
        }
        None => push(&mut entry, "contents", &quoted("known only when the writes are answered")),
    }
    entry.push('}');
    entry
}

fn push(entry: &mut String, key: &str, json: &str) {
    entry.extend([",\"", key, "\":", json]);
}

/// A query decoded: names that occur several times have lists.
fn query(query: &str, nonce: &str) -> Value {
    let mut fields: IndexMap<String, Vec<Value>> = IndexMap::new();
    for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
        let value = Value::String(show::text(&value, nonce));
        fields.entry(show::text(&name, nonce)).or_default().push(value);
    }
    let fields = fields.into_iter().map(|(name, mut values)| {
        let value = if values.len() == 1 { values.remove(0) } else { Value::Array(values) };
        (name, value)
    });
    Value::Object(fields.collect())
}

/// What earlier writes of a plan do to the state an item has now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Earlier {
    Nothing,
    /// They may create it, where it is not there yet.
    MayCreate,
    /// They change it or the collection it is in: its state is the plan's own.
    Changes,
}

/// What the writes before each do to what it changes, told by their paths.
pub(super) fn earlier(cx: &Context, writes: &[PlannedWrite], nonce: &str) -> Vec<Earlier> {
    // Whether all that was written there are creations.
    let mut seen: BTreeMap<(usize, String), bool> = BTreeMap::new();
    writes
        .iter()
        .map(|write| {
            let binding = write.wish.binding;
            let (method, path) = method_and_path(cx, &write.wish, nonce).unwrap_or_default();
            let path = path.trim_end_matches('/');
            let mut earlier = match seen.contains_key(&(binding, path.to_owned())) {
                true => Earlier::Changes,
                false => Earlier::Nothing,
            };
            for (end, _) in path.match_indices('/') {
                let above = path.get(..end).unwrap_or_default();
                match seen.get(&(binding, above.to_owned())) {
                    Some(false) => earlier = Earlier::Changes,
                    Some(true) if earlier == Earlier::Nothing => earlier = Earlier::MayCreate,
                    _ => {}
                }
            }
            *seen.entry((binding, path.to_owned())).or_insert(true) &= method == "POST";
            earlier
        })
        .collect()
}
