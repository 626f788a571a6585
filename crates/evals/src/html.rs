//! One page for people: rates first, then every run down to its programs and requests.

use serde_json::Value;

use crate::compare::Rate;
use crate::report::{Report, Status, Trial};

const STYLE: &str = "\
:root{color-scheme:light dark;--line:#8884;--ok:#1a7f37;--bad:#cf222e;--dim:#888}\
body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem}\
table{border-collapse:collapse;width:100%;margin:.5rem 0}\
th,td{text-align:left;padding:.25rem .6rem;border-bottom:1px solid var(--line);vertical-align:top}\
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}\
pre{overflow:auto;max-height:30rem;padding:.6rem;border:1px solid var(--line);border-radius:6px;white-space:pre-wrap;overflow-wrap:anywhere}\
code,pre{font:13px/1.45 ui-monospace,monospace}\
details{margin:.3rem 0}details details{margin-left:1rem}summary{cursor:pointer}\
.passed,.control_ok{color:var(--ok)}.failed,.control_unexpected,.fault_not_exercised{color:var(--bad)}.dim,.infra_error{color:var(--dim)}\
.bar{display:inline-block;position:relative;width:8rem;height:.8rem;border:1px solid var(--line);border-radius:3px;vertical-align:middle}\
.bar i{position:absolute;top:0;bottom:0;background:var(--line)}.bar b{position:absolute;top:-2px;bottom:-2px;width:2px;background:currentColor}";

/// The whole page; nothing in it is loaded from anywhere.
pub fn page(reports: &[Report]) -> String {
    let mut html =
        String::from("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
    html.push_str("<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">");
    html.push_str("<title>Evaluations</title><style>");
    html.push_str(STYLE);
    html.push_str("</style></head><body>\n<h1>Evaluations</h1>\n");
    overview(&mut html, reports);
    for report in reports {
        section(&mut html, report);
    }
    html.push_str("</body></html>\n");
    html
}

fn overview(html: &mut String, reports: &[Report]) {
    html.push_str(
        "<p>Passed trials of those that count, with the 95 % interval of Wilson's score: where the \
         true rate may well be. Trials that failed for reasons of the harness or of a model's API \
         are in no rate. Tokens are means of what a client reports: uncached input / written to \
         cache / read from cache / output.</p>\n<table id=\"overview\"><thead><tr>",
    );
    for name in ["task", "surface", "agent", "model"] {
        put(html, &format!("<th>{name}</th>"));
    }
    for name in ["passed", "", "infra", "tool calls", "API calls", "tokens", "seconds"] {
        put(html, &format!("<th class=\"n\">{name}</th>"));
    }
    html.push_str("</tr></thead><tbody>\n");
    for report in reports {
        let rate = Rate::of(report);
        let model = report.model.resolved.as_deref().or(report.model.requested.as_deref());
        put(
            html,
            &format!(
                "<tr><td><a href=\"#{}\">{}</a></td><td>{}{}</td><td>{}</td><td>{}</td>\
                 <td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>\
                 <td class=\"n\">{:.1}</td><td class=\"n\">{:.1}</td><td class=\"n\">{}</td>\
                 <td class=\"n\">{:.1}</td></tr>\n",
                anchor(report),
                escape(&report.task),
                report.surface.name(),
                if report.control { " (control)" } else { "" },
                escape(&report.agent),
                escape(model.unwrap_or("–")),
                rate.shown(),
                bar(rate),
                report.summary.infra,
                report.summary.mcp_calls_mean,
                report.summary.api_calls_mean,
                tokens(report),
                report.summary.wall_s_mean,
            ),
        );
    }
    html.push_str("</tbody></table>\n");
}

/// The interval as a grey stretch, the rate as a mark.
fn bar(rate: Rate) -> String {
    if rate.of == 0 {
        return String::new();
    }
    let (low, high) = rate.interval();
    let share = rate.passed as f64 / rate.of as f64;
    format!(
        "<span class=\"bar\"><i style=\"left:{:.1}%;width:{:.1}%\"></i><b style=\"left:{:.1}%\"></b></span>",
        low * 100.0,
        (high - low) * 100.0,
        share * 98.0,
    )
}

fn tokens(report: &Report) -> String {
    let mean = |part: fn(&Trial) -> Option<u64>| {
        let known: Vec<u64> = report.trials.iter().filter_map(part).collect();
        let mean = known.iter().sum::<u64>().checked_div(known.len() as u64);
        mean.map_or_else(|| "–".to_owned(), |it| it.to_string())
    };
    let parts = [
        mean(|it| it.usage.uncached_input),
        mean(|it| it.usage.cache_creation),
        mean(|it| it.usage.cache_read),
        mean(|it| it.usage.output),
    ];
    if parts.iter().all(|it| it == "–") { "–".to_owned() } else { parts.join(" / ") }
}

fn anchor(report: &Report) -> String {
    let text = format!("{}-{}-{}", report.task, report.surface.name(), report.agent);
    text.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '-' }).collect()
}

fn section(html: &mut String, report: &Report) {
    put(
        html,
        &format!(
            "<h2 id=\"{}\">{} · {} · {}</h2>\n",
            anchor(report),
            escape(&report.task),
            report.surface.name(),
            escape(&report.agent),
        ),
    );
    fold(html, "the prompt", &report.prompt.user);
    let provenance = serde_json::to_value(&report.provenance).unwrap_or_default();
    let facts = format!("{provenance:#}\ntools: {}", names(report));
    fold(html, &format!("made {} · where it comes from", report.created), &facts);
    for trial in &report.trials {
        run(html, trial);
    }
}

fn names(report: &Report) -> String {
    let names: Vec<&str> = report.inventory.tools.iter().map(|it| it.name.as_str()).collect();
    names.join(", ")
}

fn run(html: &mut String, trial: &Trial) {
    let failed = trial.verdict.failed();
    let open = if trial.as_expected { "" } else { " open" };
    let mut why = failed.join(", ");
    if let crate::agent::End::Infra(what) = &trial.end {
        why.clone_from(what);
    }
    put(
        html,
        &format!(
            "<details class=\"trial\"{open}><summary>{} · seed {} · <b class=\"{}\">{}</b>{} <span \
             class=\"dim\">{} tool calls, {} API calls, {} ms</span> {}</summary>\n",
            escape(&trial.agent),
            trial.seed,
            trial.status.name(),
            trial.status.name(),
            if trial.as_expected { "" } else { " <b class=\"failed\">(not as expected)</b>" },
            trial.tool_sequence.len(),
            trial.api_calls.len(),
            trial.wall_ms,
            escape(&why),
        ),
    );
    checks(html, trial);
    for call in &trial.tool_sequence {
        let mark = if call.is_error { " <b class=\"failed\">error</b>" } else { "" };
        put(
            html,
            &format!(
                "<details class=\"call\"><summary>{}. <code>{}</code>{mark} <span class=\"dim\">{} ms, \
                 {} bytes</span></summary>\n",
                call.n,
                escape(&call.tool),
                call.ms,
                call.result_bytes,
            ),
        );
        let arguments = call.arguments.as_ref().map(Value::to_string);
        let asked = call.code.as_ref().or(arguments.as_ref());
        put(html, &format!("<pre>{}</pre>", escape(asked.map_or("", |it| it.trim()))));
        put(html, &format!("<pre>{}</pre>", escape(&call.result)));
        requests(html, trial, &call.api_calls);
        html.push_str("</details>\n");
    }
    if !trial.boundaries.is_empty() {
        let lines = trial.boundaries.iter().map(|it| {
            let diff = serde_json::to_value(&it.diff).unwrap_or_default();
            format!("#{} {} {}\n{diff:#}", it.seq, it.method, it.path)
        });
        fold(html, "what changed, write by write", &lines.collect::<Vec<_>>().join("\n"));
    }
    fold(html, "the final text", &trial.answer.raw);
    html.push_str("</details>\n");
}

fn checks(html: &mut String, trial: &Trial) {
    if trial.status == Status::InfraError {
        return;
    }
    html.push_str("<table class=\"checks\"><tbody>\n");
    let (failed, held): (Vec<_>, Vec<_>) = trial.verdict.checks.iter().partition(|it| !it.ok);
    for check in failed {
        let detail = escape(check.detail.as_deref().unwrap_or_default());
        let id = escape(&check.id);
        put(
            html,
            &format!("<tr><td class=\"failed\">✗ <code>{id}</code></td><td>{detail}</td></tr>\n"),
        );
    }
    let held: Vec<String> =
        held.iter().map(|it| format!("<code>{}</code>", escape(&it.id))).collect();
    put(html, &format!("<tr><td class=\"passed\">✓</td><td>{}</td></tr>\n", held.join(" ")));
    html.push_str("</tbody></table>\n");
}

fn requests(html: &mut String, trial: &Trial, seqs: &[u64]) {
    if seqs.is_empty() {
        return;
    }
    html.push_str("<table class=\"api\"><tbody>\n");
    for call in trial.api_calls.iter().filter(|it| seqs.contains(&it.seq)) {
        let query = if call.query.is_empty() { "" } else { "?" };
        let class = if call.status >= 400 || call.status == 0 { "failed" } else { "" };
        let mut notes = call.fault.clone().unwrap_or_default();
        if call.unimplemented {
            notes.push_str(" not in the fixture");
        }
        put(
            html,
            &format!(
                "<tr><td class=\"n dim\">{}</td><td><code>{} {}{query}{}</code></td>\
                 <td class=\"n {class}\">{}</td><td class=\"n dim\">{} bytes</td><td>{}</td></tr>\n",
                call.seq,
                call.method,
                escape(&call.path),
                escape(&call.query),
                call.status,
                call.bytes_out,
                escape(&notes),
            ),
        );
    }
    html.push_str("</tbody></table>\n");
}

fn fold(html: &mut String, title: &str, text: &str) {
    let (title, text) = (escape(title), escape(text));
    put(html, &format!("<details><summary>{title}</summary><pre>{text}</pre></details>\n"));
}

fn put(html: &mut String, text: &str) {
    html.push_str(text);
}

fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}
