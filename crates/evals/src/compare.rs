//! Rates with their uncertainty, and two sets of reports side by side.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::report::{Report, Status};

/// A number of successes among a number of trials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rate {
    pub passed: usize,
    /// Those that say something: neither infrastructure nor unexercised faults.
    pub of: usize,
}

impl Rate {
    pub fn of(report: &Report) -> Self {
        let counted = |it: &Status| {
            matches!(
                it,
                Status::Passed | Status::Failed | Status::ControlOk | Status::ControlUnexpected
            )
        };
        let counted: Vec<Status> =
            report.trials.iter().map(|it| it.status).filter(counted).collect();
        let passed = counted.iter().filter(|it| **it == Status::Passed).count();
        Self { passed, of: counted.len() }
    }

    /// The interval of Wilson's score at 95 %: where the true rate may well be.
    pub fn interval(self) -> (f64, f64) {
        if self.of == 0 {
            return (0.0, 1.0);
        }
        let (n, z) = (self.of as f64, 1.959_964_f64);
        let share = self.passed as f64 / n;
        let middle = share + z * z / (2.0 * n);
        let spread = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
        let whole = 1.0 + z * z / n;
        (((middle - spread) / whole).max(0.0), ((middle + spread) / whole).min(1.0))
    }

    /// `3/5 (23–88 %)`.
    pub fn shown(self) -> String {
        if self.of == 0 {
            return "–".to_owned();
        }
        let (low, high) = self.interval();
        format!("{}/{} ({:.0}–{:.0} %)", self.passed, self.of, low * 100.0, high * 100.0)
    }
}

type Line = (String, String, String);

/// Two sets, row by row; says where they are not of one series.
pub fn compare(left: &[Report], right: &[Report]) -> String {
    let mut rows: BTreeMap<Line, (Option<&Report>, Option<&Report>)> = BTreeMap::new();
    let line = |it: &Report| {
        (it.task.clone(), it.surface.name().to_owned(), format!("{} {}", it.agent, model(it)))
    };
    for report in left {
        rows.entry(line(report)).or_default().0 = Some(report);
    }
    for report in right {
        rows.entry(line(report)).or_default().1 = Some(report);
    }
    let mut text = format!(
        "{:<24} {:<17} {:<24} {:<20} {:<20} {:>12} {:>12}\n",
        "task", "surface", "agent", "A", "B", "calls A/B", "s A/B"
    );
    for ((task, surface, agent), (a, b)) in rows {
        let rate = |it: Option<&Report>| it.map_or("–".to_owned(), |it| Rate::of(it).shown());
        let pair = |value: fn(&Report) -> f64| {
            let one =
                |it: Option<&Report>| it.map_or("–".to_owned(), |it| format!("{:.1}", value(it)));
            format!("{}/{}", one(a), one(b))
        };
        let calls = pair(|it| it.summary.mcp_calls_mean);
        let time = pair(|it| it.summary.wall_s_mean);
        writeln!(
            text,
            "{task:<24} {surface:<17} {agent:<24} {:<20} {:<20} {calls:>12} {time:>12}",
            rate(a),
            rate(b),
        )
        .ok();
        if let (Some(a), Some(b)) = (a, b)
            && let Some(why) = differs(a, b)
        {
            writeln!(text, "    not one series: {why} differ").ok();
        }
    }
    text
}

fn model(report: &Report) -> &str {
    let model = &report.model;
    model.resolved.as_deref().or(model.requested.as_deref()).unwrap_or_default()
}

/// What makes two reports incomparable.
fn differs(a: &Report, b: &Report) -> Option<String> {
    let (of_a, of_b) = (&a.provenance, &b.provenance);
    let parts = [
        ("prompts", a.prompt.sha256 != b.prompt.sha256),
        ("tasks", of_a.scenario_sha256 != of_b.scenario_sha256),
        ("fixtures", of_a.fixture_src_sha256 != of_b.fixture_src_sha256),
        ("verifiers", of_a.verifier_src_sha256 != of_b.verifier_src_sha256),
        ("parsers", of_a.parser_src_sha256 != of_b.parser_src_sha256),
        ("documents", of_a.openapi != of_b.openapi),
        ("tool definitions", a.inventory.sha256 != b.inventory.sha256),
        ("gates", a.gate != b.gate),
        ("budgets", a.budgets != b.budgets),
    ];
    let differing: Vec<&str> =
        parts.into_iter().filter_map(|(what, differ)| differ.then_some(what)).collect();
    (!differing.is_empty()).then(|| differing.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_wide_for_few_trials_and_never_leaves_zero_to_one() {
        let shown = |passed, of| Rate { passed, of }.shown();
        assert_eq!(shown(5, 5), "5/5 (57–100 %)");
        assert_eq!(shown(0, 5), "0/5 (0–43 %)");
        assert_eq!(shown(80, 100), "80/100 (71–87 %)");
        assert_eq!(shown(0, 0), "–");
    }
}
