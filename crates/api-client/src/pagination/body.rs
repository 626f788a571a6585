//! Links, cursors and flags inside a body.

use serde_json::Value;

use super::{Next, Page, items_of, parameters};

/// Returns what the body says about the next page, if it says anything.
pub(super) fn next(page: &Page<'_>) -> Option<Next> {
    let body = page.body;
    if !body.is_object() {
        return None;
    }
    page_number(body)
        .or_else(|| LINKS.iter().find_map(|pointer| linked(page, pointer)))
        .or_else(|| CURSORS.iter().find_map(|pointer| cursor(page, pointer)))
        .or_else(|| flagged(page))
        .or_else(|| is_last_by_silence(body).then_some(Next::End))
}

/// authentik and its like: the number of the next page, 0 at the end.
fn page_number(body: &Value) -> Option<Next> {
    let number = ["/pagination/next", "/pagination/next_page", "/meta/pagination/next_page"]
        .iter()
        .find_map(|pointer| body.pointer(pointer))?;
    match number.as_f64() {
        Some(0.0) => Some(Next::End),
        Some(_) => Some(Next::Query(vec![("page".to_owned(), number.to_string())])),
        None => number.is_null().then_some(Next::End),
    }
}

const LINKS: &[&str] = &[
    "/next",
    "/next/href",
    "/next_url",
    "/nextUrl",
    "/nextLink",
    "/next_link",
    "/@odata.nextLink",
    "/odata.nextLink",
    "/next_page_url",
    "/next_page_uri",
    "/next_page/uri",
    "/next_page",
    "/nextPage",
    "/nextRecordsUrl",
    "/links/next/href",
    "/links/next",
    "/links/pages/next",
    "/_links/next/href",
    "/_links/next",
    "/meta/next",
    "/meta/next_url",
    "/paging/next/link",
    "/paging/next",
    "/pagination/next_url",
    "/pagination/next",
    "/pagination/links/next",
];

/// A link, or a number or cursor where others have a link.
fn linked(page: &Page<'_>, pointer: &str) -> Option<Next> {
    match page.body.pointer(pointer)? {
        Value::Null | Value::Bool(false) => Some(Next::End),
        Value::String(text) if text.is_empty() => Some(Next::End),
        Value::String(text) if is_link(text) => Some(Next::Url(text.clone())),
        Value::String(text) => Some(set(page, "next_cursor", text)),
        Value::Number(number) => {
            let name = parameters::page_name(page.declared).unwrap_or("page");
            Some(Next::Query(vec![(name.to_owned(), number.to_string())]))
        }
        _ => None,
    }
}

fn is_link(text: &str) -> bool {
    text.starts_with("http://")
        || text.starts_with("https://")
        || text.starts_with('?')
        // A cursor in base64 may begin with a slash; a path does not end in its padding.
        || (text.starts_with('/') && !text.ends_with('='))
}

const CURSORS: &[&str] = &[
    "/next_cursor",
    "/nextCursor",
    "/response_metadata/next_cursor",
    "/meta/next_cursor",
    "/meta/nextCursor",
    "/pagination/next_cursor",
    "/pagination/nextCursor",
    "/result_info/cursors/after",
    "/result_info/cursor",
    "/cursors/after",
    "/paging/cursors/after",
    "/paging/next/after",
    "/next_page_token",
    "/nextPageToken",
    "/next_token",
    "/nextToken",
    "/NextToken",
    "/next_marker",
    "/nextMarker",
    "/metadata/continue",
    "/continuation_token",
    "/continuationToken",
    "/next_page/offset",
    "/nextPageStart",
    "/pageInfo/endCursor",
    "/page_info/end_cursor",
];

fn cursor(page: &Page<'_>, pointer: &str) -> Option<Next> {
    let text = match page.body.pointer(pointer)? {
        Value::Null => return Some(Next::End),
        Value::String(text) if text.is_empty() => return Some(Next::End),
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    if more(page.body) == Some(false) {
        return Some(Next::End);
    }
    let field = pointer.rsplit('/').next().unwrap_or_default();
    Some(set(page, field, &text))
}

fn set(page: &Page<'_>, field: &str, cursor: &str) -> Next {
    let name = parameters::cursor_name(page, field);
    Next::Query(vec![(name, cursor.to_owned())])
}

/// `has_more`: the end, or Stripe's "after the last item you have".
fn flagged(page: &Page<'_>) -> Option<Next> {
    if !more(page.body)? {
        return Some(Next::End);
    }
    let declared = |name: &&str| page.declared.iter().any(|it| it == name);
    let name = ["starting_after", "after_id", "after"].into_iter().find(declared)?;
    let id = match items_of(page.body)?.items.last()?.get("id")? {
        Value::String(id) => id.clone(),
        Value::Number(id) => id.to_string(),
        _ => return None,
    };
    Some(Next::Query(vec![(name.to_owned(), id)]))
}

/// What the body says about more pages, in one word.
fn more(body: &Value) -> Option<bool> {
    let said = MORE.iter().find_map(|pointer| body.pointer(pointer)?.as_bool());
    let last = || LAST.iter().find_map(|pointer| body.pointer(pointer)?.as_bool());
    said.or_else(|| last().map(|last| !last))
}

const MORE: &[&str] = &[
    "/has_more",
    "/hasMore",
    "/has_next",
    "/hasNext",
    "/hasNextPage",
    "/has_next_page",
    "/more",
    "/meta/has_more",
    "/meta/hasMore",
    "/pagination/has_more",
    "/pagination/hasMore",
    "/pageInfo/hasNextPage",
    "/page_info/has_next_page",
];

const LAST: &[&str] = &["/isLast", "/isLastPage", "/is_last"];

/// Some formats leave the link to a next page out at the end.
fn is_last_by_silence(body: &Value) -> bool {
    let page_links = |pointer: &str| {
        body.pointer(pointer).is_some_and(|links| {
            ["prev", "previous", "last", "first"].iter().any(|it| links.get(it).is_some())
        })
    };
    body.get("@odata.context").is_some()
        || body.pointer("/metadata/resourceVersion").is_some()
        || ["/links", "/links/pages", "/_links"].into_iter().any(page_links)
}
