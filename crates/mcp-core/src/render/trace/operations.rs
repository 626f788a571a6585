//! Where the time of a trace went: spans that call nothing else, by operation.

use std::collections::HashMap;

use crate::render::event::{Sheet, milliseconds, shorten};

use super::forest::Forest;

/// Operations that are shown.
const MOST: usize = 10;
/// Milliseconds that an operation must take on average to be worth a line.
const LEAST_AVERAGE: f64 = 5.0;

/// A line for each operation, the one that took the most time first.
pub(super) fn table(sheet: &mut Sheet, forest: &Forest) {
    let mut by_operation: HashMap<&str, Vec<f64>> = HashMap::new();
    for node in forest.nodes.iter().filter(|it| it.below.is_empty()) {
        let (Some(operation), Some(duration)) = (node.span.op.as_deref(), node.duration) else {
            continue;
        };
        by_operation.entry(operation).or_default().push(duration);
    }
    let mut rows: Vec<Row<'_>> = by_operation
        .into_iter()
        .map(|(operation, durations)| Row::of(operation, durations))
        .filter(|row| row.average >= LEAST_AVERAGE)
        .collect();
    rows.sort_by(|a, b| b.total.total_cmp(&a.total).then(a.operation.cmp(b.operation)));
    sheet.section("Operations (spans that call nothing else)");
    for row in rows.iter().take(MOST) {
        let (average, p95) = (milliseconds(row.average), milliseconds(row.p95));
        let each = (row.count > 1).then(|| format!(", {average} on average, 95 % within {p95}"));
        sheet.line(format!(
            "{:>6} × {}: {}{}",
            row.count,
            shorten(row.operation, 60),
            milliseconds(row.total),
            each.unwrap_or_default(),
        ));
    }
    if rows.len() > MOST {
        sheet.line(format!("… {} more operations", rows.len() - MOST));
    }
}

struct Row<'f> {
    operation: &'f str,
    count: usize,
    total: f64,
    average: f64,
    p95: f64,
}

impl<'f> Row<'f> {
    fn of(operation: &'f str, mut durations: Vec<f64>) -> Self {
        durations.sort_by(f64::total_cmp);
        let count = durations.len();
        let total: f64 = durations.iter().sum();
        let rank = (count * 95).div_ceil(100).saturating_sub(1);
        let p95 = durations.get(rank).copied().unwrap_or(0.0);
        Self { operation, count, total, average: total / count.max(1) as f64, p95 }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_leaves_count_and_short_operations_are_left_out() {
        let children: Vec<_> = (1..=20).map(|n| json!({"op": "db", "duration": n * 10})).collect();
        let trace = json!([{"op": "http.server", "duration": 9_000, "children": children},
            {"op": "cache", "duration": 4.9}, {"op": "queue", "duration": 5_000}, {"op": "void"}]);
        let mut sheet = Sheet::new(1_000);
        table(&mut sheet, &Forest::of(serde_json::from_value(trace).unwrap()));
        assert_eq!(
            sheet.finish(),
            "Operations (spans that call nothing else)\n     \
             1 × queue: 5.00 s\n    \
             20 × db: 2.10 s, 105 ms on average, 95 % within 190 ms\n"
        );
    }
}
