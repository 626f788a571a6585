//! Figures of this instance, in Prometheus' text format.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use api_client::transport::Effect;

/// Upper ends of the ranges that durations are counted in, in seconds.
const RANGES: [f64; 9] = [0.005, 0.02, 0.05, 0.2, 0.5, 2.0, 5.0, 20.0, 60.0];

/// Counters.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    answers: BTreeMap<u16, u64>,
    calls: BTreeMap<(String, &'static str), u64>,
    durations: [u64; RANGES.len()],
    duration_count: u64,
    duration_sum: f64,
    upstream: BTreeMap<(&'static str, &'static str), u64>,
}

/// What is read at the moment somebody asks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gauges {
    pub(crate) in_progress: usize,
    pub(crate) sessions: usize,
}

impl Metrics {
    /// A request was answered.
    pub(crate) fn answered(&self, status: u16) {
        *self.counts().answers.entry(status).or_default() += 1;
    }

    /// A tool was called. `tool` is one of ours or `unknown`.
    pub(crate) fn called(&self, tool: &str, outcome: &'static str, took: Duration) {
        let mut counts = self.counts();
        *counts.calls.entry((tool.to_owned(), outcome)).or_default() += 1;
        let seconds = took.as_secs_f64();
        for (count, range) in counts.durations.iter_mut().zip(RANGES) {
            *count += u64::from(seconds <= range);
        }
        counts.duration_count += 1;
        counts.duration_sum += seconds;
    }

    /// A request went to the API.
    pub(crate) fn sent(&self, effect: Effect, status: Option<u16>) {
        let effect = match effect {
            Effect::Read => "read",
            Effect::Write => "write",
        };
        let class = match status.map(|it| it / 100) {
            Some(2) => "2xx",
            Some(3) => "3xx",
            Some(4) => "4xx",
            Some(5) => "5xx",
            Some(_) => "other",
            None => "none",
        };
        *self.counts().upstream.entry((effect, class)).or_default() += 1;
    }

    /// All figures as text.
    pub(crate) fn text(&self, gauges: Gauges) -> String {
        let counts = self.counts();
        let mut text = String::new();
        let mut family = |name: &str, kind: &str, help: &str, lines: Vec<(String, String)>| {
            // Writing into a `String` cannot fail.
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
            for (suffix, value) in lines {
                let _ = writeln!(text, "{name}{suffix} {value}");
            }
        };
        let answers = counts.answers.iter();
        family(
            "mcp_http_requests_total",
            "counter",
            "Requests to the MCP endpoint, by status.",
            answers.map(|(it, n)| (format!("{{status=\"{it}\"}}"), n.to_string())).collect(),
        );
        let calls = counts.calls.iter();
        family(
            "mcp_tool_calls_total",
            "counter",
            "Tool calls, by tool and outcome.",
            calls
                .map(|((tool, outcome), n)| {
                    (format!("{{tool=\"{tool}\",outcome=\"{outcome}\"}}"), n.to_string())
                })
                .collect(),
        );
        let mut ranges: Vec<_> = RANGES
            .iter()
            .zip(counts.durations)
            .map(|(range, n)| (format!("_bucket{{le=\"{range}\"}}"), n.to_string()))
            .collect();
        let total = counts.duration_count.to_string();
        ranges.push(("_bucket{le=\"+Inf\"}".to_owned(), total.clone()));
        ranges.push(("_sum".to_owned(), counts.duration_sum.to_string()));
        ranges.push(("_count".to_owned(), total));
        family("mcp_tool_call_seconds", "histogram", "How long tool calls take.", ranges);
        let upstream = counts.upstream.iter();
        family(
            "mcp_upstream_requests_total",
            "counter",
            "Requests to the API, by effect and status.",
            upstream
                .map(|((effect, class), n)| {
                    (format!("{{effect=\"{effect}\",status=\"{class}\"}}"), n.to_string())
                })
                .collect(),
        );
        let one = |n: usize| vec![(String::new(), n.to_string())];
        family("mcp_in_progress", "gauge", "Requests in progress.", one(gauges.in_progress));
        family("mcp_sessions", "gauge", "Sessions of older clients.", one(gauges.sessions));
        text
    }

    fn counts(&self) -> std::sync::MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_told_in_the_text_format() {
        let metrics = Metrics::default();
        metrics.answered(200);
        metrics.called("search", "done", Duration::from_millis(30));
        metrics.sent(Effect::Write, None);
        let text = metrics.text(Gauges { in_progress: 1, sessions: 2 });
        for line in [
            "mcp_http_requests_total{status=\"200\"} 1",
            "mcp_tool_calls_total{tool=\"search\",outcome=\"done\"} 1",
            "mcp_tool_call_seconds_bucket{le=\"0.02\"} 0",
            "mcp_tool_call_seconds_bucket{le=\"0.05\"} 1",
            "mcp_tool_call_seconds_count 1",
            "mcp_upstream_requests_total{effect=\"write\",status=\"none\"} 1",
            "mcp_in_progress 1",
            "mcp_sessions 2",
        ] {
            assert!(text.lines().any(|it| it == line), "{line}\n{text}");
        }
    }
}
