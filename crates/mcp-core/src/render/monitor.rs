//! A cron monitor: as a row of a list, and as markdown.

use api_client::sentry::{
    monitors::{CheckIn, Monitor, MonitorConfig, MonitorStats},
    time,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Page, segment};
use crate::tool::Call;

/// The most environments of a row.
const ENVIRONMENTS: usize = 5;
/// The most steps of time that are shown.
const BUCKETS: usize = 10;

/// A monitor as a row of a list.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MonitorView {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    slug: String,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    project_slug: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_check_in: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_check_in: Option<String>,
    web_url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    schedule: Option<ScheduleView>,
    environments: Vec<EnvironmentView>,
    has_more_environments: bool,
}

/// When a monitor is expected; margins are minutes.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ScheduleView {
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    check_in_margin: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_runtime: Option<i64>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct EnvironmentView {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_check_in: Option<String>,
}

impl MonitorView {
    /// The row; its dates are the newest and the next of all environments.
    pub(crate) fn new(cx: &Call<'_>, organization: &str, monitor: Monitor) -> Self {
        let web_url = url(cx, organization, &monitor);
        let last = monitor.environments.iter().filter_map(|it| it.last_check_in.clone()).max();
        let next = monitor.environments.iter().filter_map(|it| it.next_check_in.clone()).min();
        let has_more_environments = monitor.environments.len() > ENVIRONMENTS;
        let environments = monitor.environments.into_iter().take(ENVIRONMENTS);
        Self {
            web_url,
            last_check_in: last,
            next_check_in: next,
            has_more_environments,
            environments: environments
                .map(|it| EnvironmentView {
                    name: it.name,
                    status: it.status,
                    last_check_in: it.last_check_in,
                })
                .collect(),
            id: monitor.id,
            name: monitor.name.unwrap_or_else(|| monitor.slug.clone()),
            slug: monitor.slug,
            project_slug: monitor.project.map(|it| it.slug),
            status: monitor.status,
            owner: monitor.owner.and_then(|it| it.label()),
            schedule: monitor.config.map(|it| ScheduleView {
                value: it.schedule_text(),
                kind: it.schedule_type,
                check_in_margin: it.checkin_margin,
                max_runtime: it.max_runtime,
            }),
        }
    }
}

/// The page of a monitor for people.
pub(crate) fn url(cx: &Call<'_>, organization: &str, monitor: &Monitor) -> String {
    let slug = segment(&monitor.slug);
    let path = match &monitor.project {
        Some(project) => format!("/crons/{}/{slug}/", segment(&project.slug)),
        None => format!("/crons/{slug}/"),
    };
    cx.web_url(organization, &path)
}

/// Identity, schedule and environments.
pub(crate) fn page(monitor: &Monitor, url: &str) -> Page {
    let name = monitor.name.as_deref().unwrap_or(&monitor.slug);
    let mut page = Page::new(format_args!("Cron monitor: {}", super::inline(name)));
    page.fact("Slug", &monitor.slug);
    page.maybe("ID", monitor.id.as_deref());
    page.maybe("Project", monitor.project.as_ref().map(|it| it.slug.as_str()));
    page.maybe("Status", monitor.status.as_deref());
    page.maybe("Owner", monitor.owner.as_ref().and_then(|it| it.label()));
    if monitor.is_muted == Some(true) {
        page.fact("Muted", "in every environment");
    }
    page.maybe("Created", monitor.date_created.as_deref());
    page.fact("Link", url);
    if let Some(config) = &monitor.config {
        add_schedule(&mut page, config);
    }
    page.heading("Environments");
    if monitor.environments.is_empty() {
        page.paragraph("It has not checked in anywhere yet.");
    }
    for environment in &monitor.environments {
        let mut parts = vec![environment.status.clone().unwrap_or_else(|| "no state".to_owned())];
        if environment.is_muted == Some(true) {
            parts.push("muted".to_owned());
        }
        parts.extend(environment.last_check_in.as_ref().map(|it| format!("last check-in {it}")));
        parts.extend(environment.next_check_in.as_ref().map(|it| format!("next expected {it}")));
        page.fact(&environment.name, parts.join(", "));
    }
    page
}

fn add_schedule(page: &mut Page, config: &MonitorConfig) {
    page.heading("Schedule");
    page.maybe("Type", config.schedule_type.as_deref());
    page.maybe("When", config.schedule_text());
    page.maybe("Time zone", config.timezone.as_deref());
    page.maybe("May be late by", config.checkin_margin.map(minutes));
    page.maybe("May run for", config.max_runtime.map(minutes));
    page.maybe("Failures until an issue", config.failure_issue_threshold);
    page.maybe("Successes until resolved", config.recovery_threshold);
}

/// The newest check-ins.
pub(crate) fn add_check_ins(page: &mut Page, check_ins: &[CheckIn], has_more: bool) {
    page.heading("Recent check-ins");
    if check_ins.is_empty() {
        page.paragraph("None in this time.");
    }
    for check_in in check_ins {
        let mut parts = vec![check_in.at().unwrap_or("no date").to_owned()];
        parts.push(check_in.status.clone().unwrap_or_else(|| "no state".to_owned()));
        parts.extend(check_in.duration.map(|it| format!("{it} ms")));
        parts.extend(check_in.environment.clone());
        page.item(parts.join(", "));
    }
    if has_more {
        page.paragraph("There are more; raise the limit or shorten the time.");
    }
}

/// Sums over the whole time, and the newest steps in which anything was reported.
pub(crate) fn add_stats(page: &mut Page, stats: &[MonitorStats]) {
    page.heading("Counts");
    let busy: Vec<&MonitorStats> = stats.iter().filter(|it| !counters(it).is_empty()).collect();
    let total = stats.iter().fold(MonitorStats::default(), |sum, it| MonitorStats {
        ok: sum.ok.saturating_add(it.ok),
        error: sum.error.saturating_add(it.error),
        missed: sum.missed.saturating_add(it.missed),
        timeout: sum.timeout.saturating_add(it.timeout),
        in_progress: sum.in_progress.saturating_add(it.in_progress),
        unknown: sum.unknown.saturating_add(it.unknown),
        ..sum
    });
    if busy.is_empty() {
        page.paragraph("Nothing was reported in this time.");
        return;
    }
    page.fact("In all", counters(&total).join(", "));
    for bucket in busy.iter().skip(busy.len().saturating_sub(BUCKETS)) {
        page.fact(&time::moment(bucket.ts), counters(bucket).join(", "));
    }
    if busy.len() > BUCKETS {
        page.paragraph(format_args!("The last {BUCKETS} of {} steps are shown.", busy.len()));
    }
}

/// The counters that are not zero.
fn counters(stats: &MonitorStats) -> Vec<String> {
    [
        ("ok", stats.ok),
        ("error", stats.error),
        ("missed", stats.missed),
        ("timeout", stats.timeout),
        ("in progress", stats.in_progress),
        ("unknown", stats.unknown),
    ]
    .into_iter()
    .filter(|(_, count)| *count > 0)
    .map(|(name, count)| format!("{count} {name}"))
    .collect()
}

fn minutes(count: i64) -> String {
    if count == 1 { "1 minute".to_owned() } else { format!("{count} minutes") }
}
