//! What a trial left behind, as it was seen from outside: requests, changes, tool calls, last words.
//!
//! Everything a verdict needs is in here and can be saved, so that a changed verifier can judge an
//! old trial again.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::state::Change;

/// One trial as the verifiers see it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    pub task: String,
    pub surface: String,
    pub seed: u64,
    /// The server's `--confirm`: `plan`, `code` or `off`.
    pub gate: String,
    /// The hash of the state at the start, and what it should have been.
    pub baseline_hash: String,
    pub expected_hash: String,
    pub final_hash: String,
    /// Every request the world got, in the order of commit.
    pub requests: Vec<Request>,
    /// Every call of a tool, in the order of asking.
    pub tools: Vec<ToolCall>,
    /// What `tools/list` answered.
    pub inventory: Vec<Value>,
    pub final_text: String,
    /// How often the world's token was found in tool arguments, results or the final text.
    pub leaks: usize,
}

/// A request as the world logged it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    pub seq: u64,
    pub method: String,
    pub path: String,
    pub query: String,
    /// Lower-case names; the credential is masked.
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    pub body: Option<Value>,
    /// The template that matched.
    pub route: Option<String>,
    /// What the handler decided; none when it did not run.
    pub handler_status: Option<u16>,
    /// What was sent; 0 when the connection was cut.
    pub status: u16,
    pub unimplemented: bool,
    pub wrote: bool,
    pub diff: Vec<Change>,
    /// What the world changed by itself meanwhile.
    #[serde(default)]
    pub mutated: Vec<Change>,
    /// Milliseconds since the world started.
    #[serde(default)]
    pub at_ms: u64,
    pub fault: Option<String>,
    /// The ids of the rows that a list answered with.
    #[serde(default)]
    pub delivered: Vec<String>,
    /// The size of the answer's body.
    #[serde(default)]
    pub bytes: u64,
}

impl Request {
    /// Whether the method asks for a change.
    pub fn asks_to_write(&self) -> bool {
        writes(&self.method)
    }

    /// Whether this is a request of this method to this template.
    pub fn is(&self, method: &str, route: &str) -> bool {
        self.method == method && self.route.as_deref() == Some(route)
    }

    pub fn succeeded(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// Whether a method may change something. `CALL` is none: it was asked for by an id that no operation has.
fn writes(method: &str) -> bool {
    !matches!(method, "GET" | "HEAD" | "OPTIONS" | "CALL")
}

/// A call of a tool as it went over the wire.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Counted from 1.
    pub n: usize,
    pub tool: String,
    pub arguments: Value,
    /// The text blocks of the result, or the message of a protocol error.
    pub result: String,
    pub is_error: bool,
    pub ms: u64,
    /// Milliseconds from the start of the trial.
    pub at_ms: u64,
    /// The requests the world got meanwhile: after the first number, up to the second.
    pub requests: (u64, u64),
}

impl ToolCall {
    /// The result as JSON, where it is JSON.
    pub fn json(&self) -> Option<Value> {
        serde_json::from_str(&self.result).ok()
    }

    /// What the server says it did: `(method, path, outcome)`.
    pub fn calls(&self) -> Vec<(String, String, String)> {
        let report = self.json().unwrap_or_default();
        let text = |it: &Value, key: &str| it[key].as_str().unwrap_or_default().to_owned();
        let calls = report["calls"].as_array().into_iter().flatten();
        calls
            .filter(|it| it["method"].is_string())
            .map(|it| (text(it, "method"), text(it, "path"), text(it, "outcome")))
            .collect()
    }

    /// The requests of the plan this call was answered with.
    pub fn plan(&self) -> Vec<Value> {
        let report = self.json().unwrap_or_default();
        report["plan"].as_array().cloned().unwrap_or_default()
    }

    /// Whether the server asks for a confirmation.
    pub fn is_asked(&self) -> bool {
        self.json().is_some_and(|it| it["status"] == "needs_confirmation")
    }
}

impl Evidence {
    /// Every write that was asked for: sent, refused, or only planned.
    pub fn attempted_writes(&self) -> Vec<String> {
        let sent = self.requests.iter().filter(|it| it.asks_to_write());
        let sent = sent.map(|it| format!("{} {}", it.method, it.path));
        let told = self.tools.iter().flat_map(ToolCall::calls);
        let told = told.filter(|(method, _, outcome)| {
            writes(method) && matches!(outcome.as_str(), "refused" | "not sent" | "planned")
        });
        let told = told.map(|(method, path, outcome)| format!("{method} {path} ({outcome})"));
        let planned = self.tools.iter().flat_map(ToolCall::plan);
        let planned =
            planned.map(|it| format!("{} {} (planned)", text(&it, "method"), text(&it, "path")));
        sent.chain(told).chain(planned).collect()
    }

    /// How many calls the server stopped before they left.
    pub fn refused(&self) -> usize {
        let calls = self.tools.iter().flat_map(ToolCall::calls);
        calls.filter(|(_, _, outcome)| outcome == "refused").count()
    }

    /// The requests during a call of a tool.
    pub fn requests_of(&self, call: &ToolCall) -> impl Iterator<Item = &Request> {
        let (after, until) = call.requests;
        self.requests.iter().filter(move |it| it.seq > after && it.seq <= until)
    }
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(method: &str, path: &str, outcome: &str) -> Evidence {
        let call = json!({ "method": method, "path": path, "outcome": outcome });
        let tool = ToolCall {
            n: 1,
            tool: "execute".to_owned(),
            arguments: json!({}),
            result: json!({ "calls": [call] }).to_string(),
            is_error: true,
            ms: 1,
            at_ms: 1,
            requests: (0, 0),
        };
        Evidence { tools: vec![tool], ..Evidence::default() }
    }

    #[test]
    fn a_refused_write_is_an_attempt_and_a_misspelt_operation_is_none() {
        let refused = told("POST", "/api/0/a/", "refused");
        assert_eq!(refused.attempted_writes(), ["POST /api/0/a/ (refused)"]);
        let misspelt = told("CALL", "listOrganizationRepositories", "refused");
        assert_eq!(misspelt.attempted_writes(), [""; 0]);
        assert_eq!((refused.refused(), misspelt.refused()), (1, 1));
    }
}
