//! Log lines as a console shows them, then what else is known of each.

use crate::render::{event::Sheet, segment};

use super::{Link, Row};

const SHOWN: [&str; 4] = ["timestamp", "severity", "message", "trace"];

/// All lines, then the details by their numbers.
pub(super) fn lines(sheet: &mut Sheet, rows: &[Row<'_>], link: Link<'_>) {
    for row in rows {
        let severity = row.first(&["severity", "level"]).unwrap_or_default();
        let message = row.first(&["message", "log.body"]);
        sheet.line(format!(
            "{} {} {:<5} {}",
            row.said("timestamp").as_deref().unwrap_or("-"),
            marker(&severity),
            severity.to_uppercase(),
            message.as_deref().unwrap_or("(no message)"),
        ));
    }
    sheet.section("Details");
    for (number, row) in (1..).zip(rows) {
        let mut facts: Vec<String> = Vec::new();
        if let Some(trace) = row.said("trace") {
            let page = link(&format!("/explore/traces/trace/{}", segment(&trace)));
            facts.push(format!("trace: {page}"));
        }
        let others = row.fields.keys().filter(|it| !SHOWN.contains(&it.as_str()));
        facts.extend(others.filter_map(|it| Some(format!("{it}: {}", row.said(it)?))));
        if !facts.is_empty() {
            sheet.line(format!("{number}. {}", facts.join(" · ")));
        }
    }
}

fn marker(severity: &str) -> char {
    match severity.to_ascii_lowercase().as_str() {
        "fatal" | "critical" | "error" => '🔴',
        "warn" | "warning" => '🟡',
        "info" => '🔵',
        _ => '⚪',
    }
}
