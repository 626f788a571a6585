//! A plan as it is shown: its writes as JSON, and the one line that confirms them.

use std::collections::BTreeSet;

use api_client::request::Request;
use indexmap::IndexMap;
use serde_json::{Map, Value};

use crate::context::Context;

use super::{
    Plan, PlannedWrite, Wish, show,
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
    /// The writes as a JSON array.
    pub(in super::super) fn shown(&self, cx: &Context) -> String {
        let entries: Vec<String> = self
            .writes
            .iter()
            .enumerate()
            .filter_map(|(at, write)| entry(cx, at + 1, write, &self.nonce))
            .chain(self.saves.iter().map(|name| saved(name, &self.nonce)))
            .collect();
        format!("[{}]", entries.join(","))
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
            paths.extend(self.saves.iter().map(|name| shortened(&show::text(name, &self.nonce))));
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
    push(&mut entry, "operation", &quoted(&operation.id));
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
fn saved(name: &str, nonce: &str) -> String {
    format!("{{\"save\":{}}}", quoted(&show::text(name, nonce)))
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

/// What a person who is asked directly reads: one line for each write.
pub(in super::super) fn listing(cx: &Context, plan: &Plan) -> String {
    let line = |(at, write): (usize, &PlannedWrite)| {
        let (method, path) = method_and_path(cx, &write.wish, &plan.nonce)?;
        let body = write.wish.body_text().map(|it| show::json(it, &plan.nonce)).unwrap_or_default();
        Some(format!("{}. {method} {path} {body}\n", at + 1))
    };
    let saves = plan.saves.iter().map(|name| format!("save {}\n", show::text(name, &plan.nonce)));
    plan.writes.iter().enumerate().filter_map(line).chain(saves).collect()
}

/// Writes that change the same item as an earlier one of the plan: their state is the plan's own.
pub(super) fn repeats(cx: &Context, writes: &[PlannedWrite], nonce: &str) -> Vec<bool> {
    let mut seen: BTreeSet<(usize, String)> = BTreeSet::new();
    writes
        .iter()
        .map(|write| {
            let path =
                method_and_path(cx, &write.wish, nonce).map(|(_, it)| it).unwrap_or_default();
            !seen.insert((write.wish.binding, path.trim_end_matches('/').to_owned()))
        })
        .collect()
}
