//! The documentation beside the API: a search, and pages as markdown. Everyone may read them, so they take
//! no token, and refuse one: it has no business there.

use axum::http::Method;
use serde_json::{Value, json};

use super::State;
use crate::http::{Reply, Request};
use crate::seed::Random;
use crate::table::{Columns as _, Row, row};

/// Where people read the pages.
const SITE: &str = "https://docs.sentry.io/";
const MOST: usize = 10;

/// Path, title, and text with a place for a number that only the page knows.
const PAGES: [(&str, &str, &str); 6] = [
    (
        "product/quotas/spike-guard.md",
        "Spike guard",
        "A spike begins when a project receives twice its usual number of events. Spike guard then holds \
         events back, and goes on for {} minutes after the spike is over.",
    ),
    (
        "product/quotas/rate-limits.md",
        "Rate limits of a key",
        "A client key accepts as many events in a window of time as you set. The window is {} seconds \
         unless you choose another.",
    ),
    (
        "product/crons/check-ins.md",
        "Check-ins of cron monitors",
        "A job reports its begin and its end. A begin without an end is a timeout after {} minutes, unless \
         the monitor says otherwise.",
    ),
    (
        "platforms/python/guides/celery/beat.md",
        "Cron monitors for Celery beat",
        "Give each schedule a name. Schedules without one are reported every {} minutes.",
    ),
    (
        "platforms/python/guides/django/queries.md",
        "Database queries of Django",
        "Queries of more than {} characters are cut before they are sent.",
    ),
    (
        "platforms/rust/guides/axum/spans.md",
        "Spans of axum",
        "A layer opens a span for each request and keeps at most {} of its children.",
    ),
];

pub(super) fn seed(state: &mut State, mut random: Random) {
    for (path, title, text) in PAGES {
        let number = 11 + random.below(80);
        let text = text.replace("{}", &number.to_string());
        state.docs.insert(
            path,
            row(json!({ "path": path, "title": title, "text": text, "number": number })),
        );
    }
}

/// The answer to a request outside of the API.
pub(super) fn answer(state: &State, request: &Request) -> Option<Reply> {
    let path = request.path.strip_prefix('/')?;
    let is_search = path == "api/search";
    if !is_search && !path.ends_with(".md") {
        return None;
    }
    if request.header("authorization").is_some() {
        return Some(Reply::detail(400, "The documentation takes no credential."));
    }
    Some(match (is_search, &request.method) {
        (true, &Method::POST) => search(state, request),
        (false, &Method::GET | &Method::HEAD) => page(state, path),
        _ => Reply::detail(405, &format!("Method \"{}\" not allowed.", request.method)),
    })
}

fn page(state: &State, path: &str) -> Reply {
    let Some(page) = state.docs.get(path) else {
        return Reply { status: 404, body: b"Not found".to_vec(), ..Reply::default() }
            .header("content-type", "text/plain; charset=utf-8");
    };
    let text = format!("# {}\n\n{}\n", page.text("title"), page.text("text"));
    Reply { status: 200, body: text.into_bytes(), ..Reply::default() }
        .header("content-type", "text/markdown; charset=utf-8")
}

/// The pages with the most of the words, best first.
fn search(state: &State, request: &Request) -> Reply {
    let asked: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let Some(query) = asked["query"].as_str().filter(|it| it.trim().len() >= 2) else {
        return Reply::json(400, &json!({ "error": "query must have 2 to 200 characters" }));
    };
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    let folders = asked["guide"].as_str().map(folders_of).unwrap_or_default();
    let share = |page: &Row| {
        let text = format!("{} {}", page.text("title"), page.text("text")).to_lowercase();
        words.iter().filter(|it| text.contains(it.as_str())).count() as f64 / words.len() as f64
    };
    let of_guide = |page: &&Row| {
        folders.iter().all(|folder| page.text("path").split('/').any(|it| it == folder))
    };
    let pages = state.docs.rows().filter(of_guide);
    let mut found: Vec<(f64, &Row)> =
        pages.map(|it| (share(it), it)).filter(|(share, _)| *share > 0.0).collect();
    found.sort_by(|(left, _), (right, _)| right.total_cmp(left));
    let most = asked["maxResults"].as_u64().and_then(|it| usize::try_from(it).ok());
    let results: Vec<Value> = found
        .into_iter()
        .take(most.unwrap_or(MOST).min(MOST))
        .map(|(share, it)| {
            let path = it.text("path");
            let address = path.strip_suffix(".md").unwrap_or(path);
            json!({
                "id": path,
                "url": format!("{SITE}{address}/"),
                "snippet": it.text("text"),
                "relevance": share,
            })
        })
        .collect();
    Reply::json(200, &json!({ "query": query, "results": results }))
}

/// `python/django` is below the folders of both names.
fn folders_of(guide: &str) -> Vec<String> {
    guide.split('/').map(str::to_lowercase).collect()
}
