//! The part of Sentry's query language that lists of issues and of their events need.

use super::{State, by_id_or_slug, issue_events, issues};
use crate::http::Reply;
use crate::table::{Columns as _, Row};
use crate::time::Timestamp;

/// Filters, all of which must hold.
#[derive(Debug)]
pub(super) struct Query(Vec<Filter>);

#[derive(Debug)]
struct Filter {
    negated: bool,
    /// Nothing for free text.
    key: Option<String>,
    value: String,
}

impl Query {
    /// Splits at blanks outside of quotes.
    pub(super) fn parse(text: &str) -> Result<Self, Reply> {
        if text.matches('"').count() % 2 == 1 {
            let why = "Error parsing search query: unbalanced quotation marks";
            return Err(Reply::detail(400, why));
        }
        let mut quoted = false;
        let words = text.split(|it: char| {
            quoted ^= it == '"';
            it.is_whitespace() && !quoted
        });
        Ok(Self(words.filter(|it| !it.is_empty()).map(Filter::parse).collect()))
    }

    pub(super) fn matches(&self, state: &State, issue: &Row) -> Result<bool, Reply> {
        for filter in &self.0 {
            if filter.matches(state, issue)? == filter.negated {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The same over one event: its tags, and the title of its issue.
    pub(super) fn matches_event(&self, issue: &Row, event: &Row) -> bool {
        let matches = |filter: &Filter| match &filter.key {
            Some(key) => has_tag(event, key, &filter.value),
            None => is_about(issue, &filter.value),
        };
        self.0.iter().all(|filter| matches(filter) != filter.negated)
    }
}

impl Filter {
    fn parse(word: &str) -> Self {
        let (negated, word) = word.strip_prefix('!').map_or((false, word), |rest| (true, rest));
        let (key, value) = match word.split_once(':') {
            Some((key, value)) if !key.starts_with('"') => (Some(key.to_owned()), value),
            Some(_) | None => (None, word),
        };
        Self { negated, key, value: value.trim_matches('"').to_owned() }
    }

    fn matches(&self, state: &State, issue: &Row) -> Result<bool, Reply> {
        let value = self.value.as_str();
        let Some(key) = self.key.as_deref() else {
            let own_event = issue_events::belongs(state, value, issue.text("id"));
            return Ok(own_event || is_about(issue, value));
        };
        let assigned = !issue.text("assigned_to").is_empty();
        Ok(match (key, value) {
            ("is", "unresolved" | "resolved" | "ignored") => issue.text("status") == value,
            ("is", "archived") => issue.text("status") == "ignored",
            ("is", "assigned") => assigned,
            ("is", "unassigned") => !assigned,
            ("is", other) => {
                let text = format!("Invalid value for \"is\" search: \"{other}\"");
                return Err(Reply::detail(400, &text));
            }
            ("project", slug) => match by_id_or_slug(&state.projects, slug) {
                Ok(project) => project.text("id") == issue.text("project_id"),
                Err(_) => {
                    let text = format!(
                        "Invalid query. Project(s) {slug} do not exist or are not actively selected."
                    );
                    return Err(Reply::detail(400, &text));
                }
            },
            ("level", level) => issue.text("level") == level,
            ("issue.id", id) => issue.text("id") == id,
            ("issue", id) => issue.text("short_id").eq_ignore_ascii_case(id),
            ("issue.category", category) => issue.text("category") == category,
            ("issue.type", kind) => issue.text("type") == kind,
            ("issue.priority", value) => listed(value).any(|it| it == issues::priority(issue)),
            ("firstSeen", value) => seen(issue.text("first_seen"), value),
            ("lastSeen", value) => seen(issue.text("last_seen"), value),
            // The mock's events stand for those of any age.
            ("age", _) => true,
            (key, value) => {
                let own = state.events.rows().filter(|it| it.text("issue_id") == issue.text("id"));
                own.into_iter().any(|event| has_tag(event, key, value))
            }
        })
    }
}

/// One value, or those of `[a, b]`.
fn listed(value: &str) -> impl Iterator<Item = &str> {
    value.trim_matches(['[', ']']).split(',').map(str::trim)
}

/// Compares with a date, as in `<2026-02-01`; a span of time such as `-24h` holds all.
fn seen(stored: &str, wanted: &str) -> bool {
    let date = wanted.trim_start_matches(['<', '>', '=']);
    let full = if date.contains('T') { date.to_owned() } else { format!("{date}T00:00:00Z") };
    let (Some(stored), Some(limit)) = (Timestamp::parse(stored), Timestamp::parse(&full)) else {
        return true;
    };
    match wanted.strip_suffix(date).unwrap_or_default() {
        "<" => stored < limit,
        "<=" => stored <= limit,
        ">" => stored > limit,
        ">=" => stored >= limit,
        _ => stored >= limit && stored < limit.plus_seconds(86_400),
    }
}

/// Browsers are found without their version too.
fn has_tag(event: &Row, key: &str, value: &str) -> bool {
    let tags = issue_events::tags(event);
    let mut own =
        tags.iter().filter(|tag| tag["key"] == key).filter_map(|tag| tag["value"].as_str());
    own.any(|it| it == value || (key == "browser" && it.starts_with(value)))
}

fn is_about(issue: &Row, text: &str) -> bool {
    let text = text.to_lowercase();
    ["title", "culprit"].iter().any(|it| issue.text(it).to_lowercase().contains(&text))
}
