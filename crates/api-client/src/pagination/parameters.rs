//! Paging by the parameters an operation declares: which is which, and what comes next.

use serde_json::Value;

use super::items::certain_total;
use super::{Next, Page, items_of};

const PAGE: &[&str] = &["page", "pagenumber", "pageno", "pagenum", "pageindex", "currentpage"];
const OFFSET: &[&str] = &["offset", "skip", "startat", "startindex", "pageoffset"];
const SIZE: &[&str] =
    &["perpage", "pagesize", "limit", "top", "maxresults", "size", "take", "pagelimit", "count"];
const CURSOR: &[&str] = &[
    "cursor",
    "startcursor",
    "pagetoken",
    "nexttoken",
    "pagecursor",
    "startingafter",
    "after",
    "pageafter",
    "marker",
    "continue",
    "continuationtoken",
    "skiptoken",
];

/// Returns the next page by number or offset.
///
/// A page shorter than was asked for proves nothing, since servers cap sizes: the last page is an
/// empty one, one shorter than the size the *server* names, or one that completes the total.
pub(super) fn next(page: &Page<'_>) -> Option<Next> {
    let items = items_of(page.body)?.items.len() as u64;
    let total = certain_total(page.headers, page.body);
    let find = |kind: &[&str]| page.declared.iter().find(|name| kind.contains(&&*plain(name)));
    let asked = |name: &String| number(page, name);
    let size = body_number(page, SIZE);
    let is_last = items == 0 || size.is_some_and(|size| items < size);
    let reached = |seen: u64| is_last || total.is_some_and(|total| seen >= total);

    if let Some(name) = find(OFFSET) {
        let offset = asked(name).or_else(|| body_number(page, OFFSET)).unwrap_or_default();
        let next = offset.saturating_add(items);
        let go_on = || Next::Query(vec![(name.clone(), next.to_string())]);
        return Some(if reached(next) { Next::End } else { go_on() });
    }
    if let Some(name) = find(PAGE) {
        let current = asked(name).or_else(|| body_number(page, PAGE)).unwrap_or(page.first_page);
        let number = current.saturating_add(1).saturating_sub(page.first_page);
        let seen = size.unwrap_or(items).saturating_mul(number);
        let pages = PAGES.iter().find_map(|pointer| page.body.pointer(pointer)?.as_u64());
        let go_on = || Next::Query(vec![(name.clone(), current.saturating_add(1).to_string())]);
        let ended = reached(seen) || pages.is_some_and(|pages| number >= pages);
        return Some(if ended { Next::End } else { go_on() });
    }
    // Nothing to go on with. A cursor that the server does not hand out has ended, and an operation
    // that declares no size either gives all it has.
    let ended = find(CURSOR).is_some() || find(SIZE).is_none() || reached(items);
    ended.then_some(Next::End)
}

const PAGES: &[&str] = &[
    "/total_pages",
    "/totalPages",
    "/last_page",
    "/page_count",
    "/pageCount",
    "/meta/total_pages",
    "/meta/last_page",
    "/meta/pagination/total_pages",
    "/pagination/total_pages",
    "/result_info/total_pages",
    "/page/totalPages",
];

/// Returns the declared page parameter.
pub(super) fn page_name(declared: &[String]) -> Option<&str> {
    declared.iter().map(String::as_str).find(|name| PAGE.contains(&&*plain(name)))
}

/// Returns the parameter that takes a cursor found under `field`: the declared one that is named
/// like it, else the declared cursor, else the field's name without "next".
pub(super) fn cursor_name(page: &Page<'_>, field: &str) -> String {
    let wanted = without_next(field);
    let same = |name: &&String| plain(name) == plain(field) || plain(name) == plain(&wanted);
    let by_kind = || {
        let offset_like = CURSOR.iter().chain(OFFSET);
        offset_like
            .into_iter()
            .find_map(|kind| page.declared.iter().find(|name| plain(name) == **kind))
    };
    page.declared.iter().find(same).or_else(by_kind).cloned().unwrap_or(wanted)
}

/// `next_cursor` is sent back as `cursor`, `nextPageToken` as `pageToken`.
fn without_next(field: &str) -> String {
    let rest = field.strip_prefix("next").or_else(|| field.strip_prefix("Next")).unwrap_or(field);
    let rest = rest.trim_start_matches('_');
    let mut letters = rest.chars();
    match letters.next() {
        Some(first) => first.to_lowercase().chain(letters).collect(),
        None => "cursor".to_owned(),
    }
}

/// A name without the marks by which spellings differ: `page[size]`, `page_size` and `$pageSize`.
fn plain(name: &str) -> String {
    let kept = name.chars().filter(char::is_ascii_alphanumeric);
    kept.map(|letter| letter.to_ascii_lowercase()).collect()
}

fn number(page: &Page<'_>, name: &str) -> Option<u64> {
    let value = page.url.query_pairs().find(|(key, _)| key == name)?.1;
    value.parse().ok()
}

/// What the body says about itself, as in `{ "offset": 20, "limit": 10 }`.
fn body_number(page: &Page<'_>, kind: &[&str]) -> Option<u64> {
    let Value::Object(fields) = page.body else { return None };
    // `count` and `size` in a body are the length of the page as often as what was asked for.
    let named = |name: &str| !matches!(name, "count" | "size") && kind.contains(&name);
    fields.iter().find(|(name, _)| named(&plain(name))).and_then(|(_, value)| value.as_u64())
}
