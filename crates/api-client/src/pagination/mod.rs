//! Finds the next page of a list, and the items and total of this one. Pure functions.

mod body;
mod items;
mod link;
mod parameters;

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde_json::Value;
use url::Url;

pub use items::{Items, items_of, total_of};

/// One page as it was received.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// The address it came from, for relative links and the present page or offset.
    pub url: &'a Url,
    /// Lower-case header names and values.
    pub headers: &'a [(String, String)],
    /// The parsed body.
    pub body: &'a Value,
    /// The query parameters the operation declares.
    pub declared: &'a [String],
    /// The number of the first page where pages are numbered: 1, unless the document says 0.
    pub first_page: u64,
}

/// Where a list goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// At this absolute address. To be used only after [`relative_to_base`] has said that it lies
    /// within the API.
    Url(String),
    /// At the same path, with these query parameters set.
    Query(Vec<(String, String)>),
    /// Nowhere: this was the last page.
    End,
    /// The page does not say.
    Unknown,
}

/// Finds the next page: a `Link` header first, then links, cursors and flags of the body, then page
/// and offset parameters that the operation declares.
#[must_use]
pub fn next_page(page: &Page<'_>) -> Next {
    let found = link::next(page.headers)
        .or_else(|| body::next(page))
        .or_else(|| parameters::next(page))
        .unwrap_or(Next::Unknown);
    match found {
        Next::Url(target) => match page.url.join(&target) {
            Ok(target) if target == *page.url => Next::End,
            Ok(target) => Next::Url(target.into()),
            Err(_) => Next::Unknown,
        },
        Next::Query(pairs) if pairs.iter().all(|pair| is_set(page.url, pair)) => Next::End,
        other => other,
    }
}

/// Whether the request had this parameter already: a cursor that does not move.
fn is_set(url: &Url, (name, value): &(String, String)) -> bool {
    url.query_pairs().any(|(key, old)| key == *name && old == *value)
}

/// Remembers pages, to stop at a server that goes round in circles or ignores the page it is asked for.
#[derive(Debug, Default)]
pub struct Visited {
    addresses: HashSet<String>,
    bodies: HashSet<u64>,
}

impl Visited {
    /// Takes note of a page; returns `false` if this address or a list with these items was
    /// there before.
    pub fn is_new(&mut self, address: &str, body: &Value) -> bool {
        let new_address = self.addresses.insert(address.to_owned());
        let Some(Items { items, .. }) = items_of(body) else { return new_address };
        if items.is_empty() {
            return new_address;
        }
        let mut hash = DefaultHasher::new();
        items.hash(&mut hash);
        self.bodies.insert(hash.finish()) && new_address
    }
}

/// Turns an absolute URL into path and query below the base, or `None` if it leads elsewhere.
#[must_use]
pub fn relative_to_base(url: &Url, base: &Url) -> Option<String> {
    if url.origin() != base.origin() || !url.username().is_empty() || url.password().is_some() {
        return None;
    }
    let base_path = base.path().trim_end_matches('/');
    let path = url.path().strip_prefix(base_path)?;
    if !path.starts_with('/') {
        return None;
    }
    Some(url.query().map_or_else(|| path.to_owned(), |query| format!("{path}?{query}")))
}

#[cfg(test)]
mod tests;
