//! What came over HTTP: the request that failed, and reports of a content security policy.

use serde_json::Value;

use super::sheet::{Sheet, items, short, shorten, text};

/// Lines of a query or body.
const MOST_PAIRS: usize = 20;

/// The request: method, address, query, body. Headers and cookies stay out: they hold secrets.
pub(super) fn http(sheet: &mut Sheet, request: &Value) {
    sheet.section("HTTP request");
    let method = text(request, "method").unwrap_or("GET");
    let Some(url) = text(request, "url") else { return };
    sheet.line(format!("{} {}", shorten(method, 20), shorten(url, 380)));
    for pair in items(request, "query").iter().filter_map(Value::as_array).take(MOST_PAIRS) {
        if let [name, value] = pair.as_slice() {
            sheet.line(format!("  {} = {}", short(name, 60), short(value, 200)));
        }
    }
    let body = request.get("data").filter(|it| !it.is_null() && it.as_str() != Some(""));
    if let Some(body) = body {
        sheet.fact("Body", Some(short(body, 380)));
    }
}

/// The report of a browser that kept to a content security policy.
pub(super) fn policy(sheet: &mut Sheet, kind: &str, report: &Value) {
    sheet.section(match kind {
        "csp" => "Content security policy",
        "expectct" => "Expect-CT report",
        "expectstaple" => "Expect-Staple report",
        "hpkp" => "Public key pinning report",
        _ => "Report of a browser",
    });
    // SDKs and browsers spell the names in three ways.
    let field = |name: &str| {
        let spellings = [name.to_owned(), name.replace('_', "-"), camel(name)];
        spellings.into_iter().find_map(|it| report.get(&it).filter(|it| !it.is_null()))
    };
    for (label, name) in [
        ("Blocked", "blocked_uri"),
        ("Directive", "effective_directive"),
        ("Violated", "violated_directive"),
        ("Page", "document_uri"),
        ("Referrer", "referrer"),
        ("Source", "source_file"),
        ("Line", "line_number"),
        ("Column", "column_number"),
        ("Disposition", "disposition"),
        ("Status", "status_code"),
        ("Policy", "original_policy"),
        ("Host", "hostname"),
        ("Port", "port"),
    ] {
        sheet.fact(label, field(name).map(|it| short(it, 380)));
    }
}

fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |mut name, word| {
        let mut letters = word.chars();
        name.extend(letters.next().map(|it| it.to_ascii_uppercase()));
        name.push_str(letters.as_str());
        name
    })
}
