//! Faults as data: which request goes wrong, when, and how.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::edit::Edit;

/// One thing that goes wrong.
///
/// Requests without the token, to no route or (after commit) refused by the handler do not count
/// and are left alone: a typing error must not use up the lost response.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Fault {
    /// Names the fault in the log.
    pub id: String,
    pub method: String,
    /// The whole path with placeholders of any name: `/api/0/organizations/{org}/repos/`.
    pub route: String,
    /// Counted from 1; without it every matching request goes wrong.
    #[serde(default)]
    pub nth: Option<u32>,
    /// The first so many go wrong, and no later one.
    #[serde(default)]
    pub first: Option<u32>,
    /// Each so manieth goes wrong.
    #[serde(default)]
    pub every: Option<u32>,
    /// What else a request needs to match.
    #[serde(default)]
    pub when: When,
    pub phase: Phase,
    pub action: Action,
}

impl Fault {
    /// Strikes whatever matches, each time.
    pub fn new(id: &str, method: &str, route: &str, phase: Phase, action: Action) -> Self {
        Self {
            id: id.to_owned(),
            method: method.to_owned(),
            route: route.to_owned(),
            nth: None,
            first: None,
            every: None,
            when: When::default(),
            phase,
            action,
        }
    }

    /// Whether it is the turn of matching request number `seen`, counted from 1.
    pub(crate) fn takes(&self, seen: u32) -> bool {
        self.nth.is_none_or(|nth| seen == nth)
            && self.first.is_none_or(|first| seen <= first)
            && self.every.is_none_or(|every| every != 0 && seen.is_multiple_of(every))
    }

    /// Whether the request still reaches its handler once the fault has struck before it.
    pub(crate) fn passes_on(&self) -> bool {
        match self.action {
            Action::Delay { .. } | Action::Truncate { .. } | Action::Mutate { .. } => true,
            Action::Respond { .. }
            | Action::Stall { .. }
            | Action::Reset
            | Action::RateLimit { .. } => false,
        }
    }
}

/// Narrows a fault to some requests of its route; what is empty narrows nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct When {
    /// Values of the route's placeholders, by the names the fault's own route gives them.
    pub path: BTreeMap<String, Vec<String>>,
    /// `*` stands for any value.
    pub query: BTreeMap<String, String>,
    /// JSON pointers to what the body must hold.
    pub body: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The handler does not run (after a delay it does).
    Before,
    /// The handler ran and its changes stay; only the answer is lost or late.
    AfterCommit,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Action {
    Respond {
        status: u16,
        #[serde(default)]
        headers: BTreeMap<String, String>,
        #[serde(default)]
        body: String,
    },
    /// Waits, then goes on as if nothing were wrong.
    Delay { ms: u64 },
    /// Waits, then resets the connection: longer than the caller waits, it is a timeout.
    Stall { ms: u64 },
    /// Resets the connection without an answer.
    Reset,
    /// Sends only the first bytes of the handler's answer; after commit.
    Truncate {
        bytes: usize,
        /// The length that is announced is the length that is sent: only the content shows the cut.
        #[serde(default)]
        seamless: bool,
    },
    /// The world changes by other hands: before the handler runs, or after it has.
    Mutate { edits: Vec<Edit> },
    /// So many requests in a window of real time; the others are turned away with 429.
    RateLimit {
        limit: u32,
        window_ms: u64,
        /// Seconds, as a header; Sentry itself sends none.
        #[serde(default)]
        retry_after: Option<u64>,
        /// Counts requests instead of time: it shuts after so many, however slowly they came, and
        /// opens a window's length later. So a slow machine meets it too.
        #[serde(default)]
        by_count: bool,
    },
}

impl When {
    /// `route` and `path` have the same number of segments; the path's are decoded.
    pub(crate) fn holds(
        &self,
        route: &str,
        path: &[String],
        parameter: impl Fn(&str) -> Option<String>,
        body: impl FnOnce() -> Option<Value>,
    ) -> bool {
        let named = |name: &str| {
            let segments = route.split('/').zip(path);
            let is_named =
                |it: &str| it.strip_prefix('{').and_then(|it| it.strip_suffix('}')) == Some(name);
            segments.into_iter().find(|(it, _)| is_named(it)).map(|(_, value)| value)
        };
        self.path.iter().all(|(name, values)| named(name).is_some_and(|it| values.contains(it)))
            && self.query.iter().all(|(name, value)| {
                parameter(name).is_some_and(|sent| value == "*" || sent == *value)
            })
            && (self.body.is_empty()
                || body().is_some_and(|body| self.body.iter().all(|it| body.pointer(it).is_some())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(select: impl FnOnce(&mut Fault)) -> Vec<u32> {
        let mut fault = Fault::new("f", "GET", "/x/", Phase::Before, Action::Reset);
        select(&mut fault);
        (1..=7).filter(|seen| fault.takes(*seen)).collect()
    }

    #[test]
    fn a_fault_takes_the_requests_it_names() {
        assert_eq!(fault(|_| {}), [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(fault(|it| it.nth = Some(3)), [3]);
        assert_eq!(fault(|it| it.first = Some(2)), [1, 2]);
        assert_eq!(fault(|it| it.every = Some(3)), [3, 6]);
        assert_eq!(fault(|it| it.every = Some(0)), [0_u32; 0]);
    }

    #[test]
    fn a_condition_is_met_by_path_query_and_body() {
        let when: When = serde_json::from_value(serde_json::json!({
            "path": { "monitor": ["a", "b"] },
            "query": { "page": "2" },
            "body": ["/isMuted"],
        }))
        .unwrap();
        let holds = |monitor: &str, page: &str, body: Value| {
            let path = ["", "m", monitor, ""].map(str::to_owned);
            when.holds("/m/{monitor}/", &path, |_| Some(page.to_owned()), || Some(body))
        };
        assert!(holds("b", "2", serde_json::json!({ "isMuted": false })));
        assert!(!holds("c", "2", serde_json::json!({ "isMuted": false })));
        assert!(!holds("b", "3", serde_json::json!({ "isMuted": false })));
        assert!(!holds("b", "2", serde_json::json!({ "name": "x" })));
    }
}
