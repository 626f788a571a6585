//! An uptime monitor: what can be chosen of it, as a structured answer, and as markdown.

use std::borrow::Cow;

use api_client::sentry::uptime::{UptimeCheck, UptimeMonitor};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

use super::{Page, segment};
use crate::tool::Call;

/// An uptime monitor as a row of a list or, with its settings, as what a change left behind.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UptimeView {
    id: String,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    project_slug: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    /// `ok`, `failed` or `unknown`.
    uptime_status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    interval_seconds: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    environment: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    web_url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recovery_threshold: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    downtime_threshold: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_sampling: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_capture_enabled: Option<bool>,
}

impl UptimeView {
    /// As a row of a list.
    pub(crate) fn row(cx: &Call<'_>, organization: &str, monitor: UptimeMonitor) -> Self {
        Self {
            web_url: url(cx, organization, &monitor),
            name: monitor.name.unwrap_or_else(|| monitor.id.clone()),
            id: monitor.id,
            project_slug: monitor.project_slug,
            status: monitor.status,
            uptime_status: monitor.uptime_status.as_str(),
            url: monitor.url,
            method: monitor.method,
            interval_seconds: monitor.interval_seconds,
            environment: monitor.environment,
            owner: monitor.owner.and_then(|it| it.label()),
            timeout_ms: None,
            recovery_threshold: None,
            downtime_threshold: None,
            trace_sampling: None,
            response_capture_enabled: None,
        }
    }

    /// With all its settings, but for headers and body: they may be secrets.
    pub(crate) fn whole(cx: &Call<'_>, organization: &str, monitor: UptimeMonitor) -> Self {
        Self {
            timeout_ms: monitor.timeout_ms,
            recovery_threshold: monitor.recovery_threshold,
            downtime_threshold: monitor.downtime_threshold,
            trace_sampling: monitor.trace_sampling,
            response_capture_enabled: monitor.response_capture_enabled,
            ..Self::row(cx, organization, monitor)
        }
    }
}

/// How often a URL is probed, in seconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Interval(u64);

impl Interval {
    const CHOICES: [u64; 6] = [60, 300, 600, 1_200, 1_800, 3_600];
    const WANTED: &str = "one of 60, 300, 600, 1200, 1800, 3600";

    /// Seconds.
    pub(crate) fn get(self) -> u64 {
        self.0
    }
}

impl<'de> Deserialize<'de> for Interval {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let seconds = u64::deserialize(deserializer)?;
        let known = Self::CHOICES.contains(&seconds);
        let wrong = || D::Error::custom(format!("`intervalSeconds` must be {}", Self::WANTED));
        known.then_some(Self(seconds)).ok_or_else(wrong)
    }
}

impl JsonSchema for Interval {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Interval".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "integer",
            "minimum": 60,
            "maximum": 3_600,
            "description": Self::WANTED,
        })
    }
}

/// The HTTP method of a probe.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Method {
    Get,
    Post,
    Head,
    Put,
    Delete,
    Patch,
    Options,
}

impl Method {
    /// The word on the wire.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Head => "HEAD",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
            Self::Patch => "PATCH",
            Self::Options => "OPTIONS",
        }
    }
}

/// Whether a monitor is switched on.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    Active,
    Disabled,
}

impl State {
    /// The word on the wire.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Disabled => "disabled",
        }
    }
}

/// The page of a monitor for people.
pub(crate) fn url(cx: &Call<'_>, organization: &str, monitor: &UptimeMonitor) -> String {
    cx.web_url(organization, &format!("/monitors/{}/", segment(&monitor.id)))
}

/// State, settings and what is sent.
pub(crate) fn page(monitor: &UptimeMonitor, url: &str) -> Page {
    let name = monitor.name.as_deref().unwrap_or(&monitor.id);
    let mut page = Page::new(format_args!("Uptime monitor: {}", super::inline(name)));
    page.fact("ID", &monitor.id);
    page.maybe("Project", monitor.project_slug.as_deref());
    page.maybe("Status", monitor.status.as_deref());
    page.fact("Answers", monitor.uptime_status.as_str());
    page.maybe("URL", monitor.url.as_deref()).maybe("Method", monitor.method.as_deref());
    page.maybe("Every", monitor.interval_seconds.map(|it| format!("{it} s")));
    page.maybe("Timeout", monitor.timeout_ms.map(|it| format!("{it} ms")));
    page.maybe("Failures until down", monitor.downtime_threshold);
    page.maybe("Successes until up", monitor.recovery_threshold);
    page.maybe("Environment", monitor.environment.as_deref());
    page.maybe("Owner", monitor.owner.as_ref().and_then(|it| it.label()));
    page.fact("Link", url);
    if !monitor.headers.is_empty() {
        page.heading("Headers");
        for (name, value) in &monitor.headers {
            page.fact(name, if is_secret(name) { "[REDACTED]" } else { value });
        }
    }
    if monitor.body.as_ref().is_some_and(|it| !it.is_empty()) {
        page.heading("Body");
        page.paragraph("A body is sent with each check; it is not shown.");
    }
    if let Some(assertion) = monitor.assertion.as_ref().filter(|it| !it.is_null()) {
        page.heading("Assertion");
        page.block("json", &serde_json::to_string_pretty(assertion).unwrap_or_default());
    }
    page
}

/// The newest checks.
pub(crate) fn add_checks(page: &mut Page, checks: &[UptimeCheck], has_more: bool) {
    page.heading("Recent checks");
    if checks.is_empty() {
        page.paragraph("None in this time.");
    }
    for check in checks {
        let mut parts = vec![check.timestamp.clone().unwrap_or_else(|| "no date".to_owned())];
        parts.push(check.check_status.clone().unwrap_or_else(|| "no state".to_owned()));
        parts.extend(check.check_status_reason.clone());
        parts.extend(check.http_status_code.map(|it| format!("HTTP {it}")));
        parts.extend(check.duration_ms.map(|it| format!("{it} ms")));
        parts.extend(check.region_name.clone().or_else(|| check.region.clone()));
        parts.extend(check.environment.clone());
        page.item(parts.join(", "));
    }
    if has_more {
        page.paragraph("There are more; raise the limit or shorten the time.");
    }
}

/// Names of headers whose values let somebody in.
fn is_secret(name: &str) -> bool {
    const PARTS: &[&str] = &[
        "api-key",
        "apikey",
        "auth",
        "cookie",
        "credential",
        "password",
        "secret",
        "session",
        "signature",
        "token",
    ];
    let name = name.trim().to_ascii_lowercase().replace('_', "-");
    PARTS.iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::is_secret;

    #[test]
    fn headers_that_let_somebody_in_are_known_by_name() {
        for name in [
            "Authorization",
            "X-Sentry-Auth",
            "X-API-Key",
            "x_api_key",
            "Cookie",
            "X-Client-Secret",
            "x-access-token",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in ["Accept", "User-Agent", "X-Request-Id", "Content-Type"] {
            assert!(!is_secret(name), "{name}");
        }
    }
}
