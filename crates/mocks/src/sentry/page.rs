//! Offset pagination with the Link header, as Sentry does it down to its quirks.

use serde_json::Value;

use crate::http::{Answer, Call, Reply};
use crate::table::Row;

const MAX_PER_PAGE: i64 = 100;

/// One page of rows that are filtered and sorted already.
pub(super) fn answer(call: &Call<'_>, rows: &[&Row], view: impl Fn(&Row) -> Value) -> Answer {
    answer_sized(call, rows, None, view)
}

/// The same, where the page size may come from another parameter than `per_page`.
pub(super) fn answer_sized(
    call: &Call<'_>,
    rows: &[&Row],
    size: Option<i64>,
    view: impl Fn(&Row) -> Value,
) -> Answer {
    let limit = match size {
        Some(size) => size.clamp(1, MAX_PER_PAGE),
        None => per_page(call)?,
    };
    let cursor = match call.query("cursor").filter(|text| !text.is_empty()) {
        Some(text) => {
            Cursor::parse(&text).ok_or_else(|| Reply::detail(400, "Invalid cursor parameter."))?
        }
        None => Cursor { value: 0, page: 0 },
    };
    let start = usize::try_from(cursor.page.saturating_mul(cursor.value))
        .map_err(|_| Reply::detail(400, "Pagination offset cannot be negative"))?;
    let size = if cursor.value == 0 { limit } else { cursor.value };
    let window: Vec<&&Row> = rows.iter().skip(start).take(count(size) + 1).collect();
    // A cursor of another page size: the real server keeps the tail, and so do we.
    let tail =
        if cursor.value == limit { 0 } else { window.len().saturating_sub(count(limit) + 1) };
    let window = window.get(tail..).unwrap_or_default();
    let more = window.len() > count(limit);
    let shown: Vec<Value> = window.iter().take(count(limit)).map(|row| view(row)).collect();
    let (page, next) = (cursor.page, cursor.page.saturating_add(1));
    let previous = link(call, "previous", page > 0, &format!("{limit}:{}:1", page - 1));
    let next = link(call, "next", more, &format!("{limit}:{next}:0"));
    Ok(Reply::json(200, &shown).header("link", &format!("{previous}, {next}")))
}

/// The Link header of the first page of what is no plain list.
pub(super) fn first_page_links(call: &Call<'_>, size: usize, more: bool) -> String {
    let previous = link(call, "previous", false, &format!("{size}:0:1"));
    let next = link(call, "next", more, &format!("{size}:1:0"));
    format!("{previous}, {next}")
}

/// `value:offset:is_prev`: here the page size, the page number, and a flag that changes nothing.
struct Cursor {
    value: i64,
    page: i64,
}

impl Cursor {
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(':').map(str::parse::<i64>);
        let (value, page) = (parts.next()?.ok()?, parts.next()?.ok()?);
        parts.next()?.ok()?;
        let sane = (0..=1_000_000).contains(&value) && (-1_000..=1_000_000).contains(&page);
        (parts.next().is_none() && sane).then_some(Self { value, page })
    }
}

fn per_page(call: &Call<'_>) -> Result<i64, Reply> {
    let Some(text) = call.query("per_page") else { return Ok(MAX_PER_PAGE) };
    let number: i64 =
        text.parse().map_err(|_| Reply::detail(400, "Invalid per_page parameter."))?;
    if (1..=MAX_PER_PAGE).contains(&number) {
        Ok(number)
    } else {
        let text = format!("Invalid per_page value. Must be between 1 and {MAX_PER_PAGE}.");
        Err(Reply::detail(400, &text))
    }
}

fn count(number: i64) -> usize {
    usize::try_from(number).unwrap_or_default()
}

/// Both links are always there; only `results` says whether one is worth following.
fn link(call: &Call<'_>, relation: &str, results: bool, cursor: &str) -> String {
    let pairs = url::form_urlencoded::parse(call.request.query.as_bytes());
    let query: String = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(pairs.filter(|(name, _)| name != "cursor"))
        .finish();
    let (origin, path) = (call.origin, &call.request.path);
    format!(
        "<{origin}{path}?{query}&cursor={cursor}>; rel=\"{relation}\"; results=\"{results}\"; \
         cursor=\"{cursor}\""
    )
}
