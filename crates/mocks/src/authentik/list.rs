//! Lists: filters, search, ordering and the page envelope.

use std::cmp::Ordering;

use serde_json::{Value, json};

use crate::fields::{is_uuid, key};
use crate::http::{Answer, Call, Reply};
use crate::table::{Columns, Row};
use crate::time::Timestamp;

const DEFAULT_PAGE_SIZE: usize = 20;
const MAX_PAGE_SIZE: usize = 100;

/// How one resource lists its rows.
#[derive(Debug)]
pub(super) struct List {
    /// Comma-separated columns, `-` before those that descend.
    pub(super) ordering: &'static str,
    /// Columns that `search` looks into; with none it is ignored.
    pub(super) search: &'static [&'static str],
    pub(super) filters: &'static [Filter],
}

/// A query parameter that keeps rows; it bears the name of its column unless said otherwise.
#[derive(Debug)]
pub(super) enum Filter {
    Text(&'static str),
    Flag(&'static str),
    Integer(&'static str),
    Uuid(&'static str),
    Choice(&'static str, &'static [&'static str]),
    /// `column__gt` and `column__lt`.
    Range(&'static str),
    /// `column__isnull`.
    Null(&'static str),
}

impl List {
    pub(super) fn answer<'t>(
        &self,
        call: &Call<'_>,
        rows: impl Iterator<Item = &'t Row>,
        view: impl Fn(&Row) -> Value,
    ) -> Answer {
        let mut rows: Vec<&Row> = rows.collect();
        for filter in self.filters {
            filter.apply(call, &mut rows)?;
        }
        if let Some(search) = call.query("search") {
            let terms: Vec<String> = search.split_whitespace().map(str::to_lowercase).collect();
            rows.retain(|row| terms.iter().all(|term| self.mentions(row, term)));
        }
        let requested = call.query("ordering").unwrap_or_default();
        sort(&mut rows, &requested, self.ordering);
        envelope(call, &rows, view)
    }

    fn mentions(&self, row: &Row, term: &str) -> bool {
        let contains = |value: &Value| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            text.to_lowercase().contains(term)
        };
        self.search.is_empty() || self.search.iter().filter_map(|name| row.get(*name)).any(contains)
    }
}

impl Filter {
    fn apply(&self, call: &Call<'_>, rows: &mut Vec<&Row>) -> Result<(), Reply> {
        let sent = |name: &str| call.query(name).filter(|value| !value.is_empty());
        match self {
            Self::Text(column) => {
                if let Some(wanted) = sent(column) {
                    rows.retain(|row| row.text(column) == wanted);
                }
            }
            Self::Flag(column) => {
                if let Some(wanted) = call.flag(column) {
                    rows.retain(|row| row.truth(column) == wanted);
                }
            }
            Self::Integer(column) => {
                if let Some(wanted) = sent(column) {
                    let wanted: i64 =
                        wanted.parse().map_err(|_| invalid(column, "Enter a number."))?;
                    rows.retain(|row| row.integer(column) == wanted);
                }
            }
            Self::Uuid(column) => {
                if let Some(wanted) = sent(column) {
                    if !is_uuid(&wanted) {
                        return Err(invalid(column, "Enter a valid UUID."));
                    }
                    let wanted = wanted.to_ascii_lowercase();
                    rows.retain(|row| row.text(column) == wanted);
                }
            }
            Self::Choice(column, choices) => {
                if let Some(wanted) = sent(column) {
                    check_choice(column, &wanted, choices)?;
                    rows.retain(|row| row.text(column) == wanted);
                }
            }
            Self::Range(column) => {
                for (suffix, side) in [("gt", Ordering::Greater), ("lt", Ordering::Less)] {
                    let name = format!("{column}__{suffix}");
                    if let Some(limit) = sent(&name) {
                        let limit = Timestamp::parse(&limit)
                            .ok_or_else(|| invalid(&name, "Enter a valid date/time."))?;
                        rows.retain(|row| {
                            let at = Timestamp::parse(row.text(column));
                            at.is_some_and(|at| at.cmp(&limit) == side)
                        });
                    }
                }
            }
            Self::Null(column) => {
                if let Some(wanted) = call.flag(&format!("{column}__isnull")) {
                    rows.retain(|row| row.value(column).is_null() == wanted);
                }
            }
        }
        Ok(())
    }
}

/// Refuses a filter value that is none of the choices.
pub(super) fn check_choice(name: &str, value: &str, choices: &[&str]) -> Result<(), Reply> {
    if choices.contains(&value) {
        return Ok(());
    }
    let text = format!("Select a valid choice. {value} is not one of the available choices.");
    Err(invalid(name, &text))
}

/// Whether a list column holds one of the wanted keys; with none wanted every row does.
pub(super) fn holds_any(row: &Row, column: &str, wanted: &[String]) -> bool {
    wanted.is_empty() || row.list(column).iter().filter_map(key).any(|key| wanted.contains(&key))
}

fn invalid(name: &str, text: &str) -> Reply {
    Reply::json(400, &json!({ name: [text] }))
}

/// Unknown columns are passed over; with none left the default holds.
fn sort(rows: &mut [&Row], requested: &str, default: &str) {
    let known = |term: &&str| {
        let column = term.trim_start_matches('-');
        rows.first().is_some_and(|row| row.contains_key(column))
    };
    let terms: Vec<&str> = requested.split(',').map(str::trim).filter(known).collect();
    let terms = if terms.is_empty() { default.split(',').collect() } else { terms };
    rows.sort_by(|left, right| {
        terms.iter().fold(Ordering::Equal, |order, term| {
            let column = term.trim_start_matches('-');
            let next = compare(&left.value(column), &right.value(column));
            order.then(if term.starts_with('-') { next.reverse() } else { next })
        })
    });
}

fn compare(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::String(left), Value::String(right)) => left.cmp(right),
        (Value::Number(left), Value::Number(right)) => {
            left.as_f64().partial_cmp(&right.as_f64()).unwrap_or(Ordering::Equal)
        }
        (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        (left, right) => right.is_null().cmp(&left.is_null()),
    }
}

fn envelope(call: &Call<'_>, rows: &[&Row], view: impl Fn(&Row) -> Value) -> Answer {
    let size = call
        .query("page_size")
        .and_then(|size| size.parse().ok())
        .filter(|size: &usize| *size > 0)
        .map_or(DEFAULT_PAGE_SIZE, |size| size.min(MAX_PAGE_SIZE));
    let count = rows.len();
    let pages = count.div_ceil(size).max(1);
    let page = match call.query("page").as_deref() {
        None | Some("") => 1,
        Some("last") => pages,
        Some(page) => page.parse().unwrap_or(0),
    };
    if page == 0 || page > pages {
        return Err(Reply::detail(404, "Invalid page."));
    }
    let start = (page - 1) * size;
    let shown: Vec<Value> = rows.iter().skip(start).take(size).map(|row| view(row)).collect();
    let pagination = json!({
        "next": if page < pages { page + 1 } else { 0 },
        "previous": page - 1,
        "count": count,
        "current": page,
        "total_pages": pages,
        "start_index": if count == 0 { 0 } else { start + 1 },
        "end_index": start + shown.len(),
    });
    let body = json!({ "pagination": pagination, "results": shown, "autocomplete": {} });
    Ok(Reply::json(200, &body))
}
