//! Whatever shape dashboards, monitors and alert rules have: never a panic, never nothing, never too
//! much.

use api_client::sentry::{
    alert_rules::AlertRule,
    dashboards::Dashboard,
    monitors::{CheckIn, Monitor, MonitorStats},
    uptime::{UptimeCheck, UptimeMonitor},
    workflows::Workflow,
};
use proptest::{
    collection::vec,
    prelude::{ProptestConfig, any, proptest},
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::output::cut_text;

use super::{
    Page, alert_rule,
    arbitrary::{any_json, any_object, assert_sound},
    dashboard, image_tree, monitor, uptime,
};

/// The most of any answer.
const CAP: usize = 80_000;

const NAMES: &[&str] = &[
    "title",
    "name",
    "description",
    "projects",
    "environment",
    "createdBy",
    "dateCreated",
    "period",
    "filters",
    "widgets",
    "queries",
    "fields",
    "conditions",
    "aggregates",
    "orderby",
    "layout",
    "x",
    "y",
    "w",
    "h",
    "limit",
    "status",
    "config",
    "schedule",
    "schedule_type",
    "timezone",
    "checkin_margin",
    "environments",
    "lastCheckIn",
    "owner",
    "type",
    "id",
    "url",
    "headers",
    "body",
    "intervalSeconds",
    "timeoutMs",
    "assertion",
    "uptimeStatus",
    "httpStatusCode",
    "durationMs",
    "duration",
    "ts",
    "ok",
    "error",
    "missed",
    "timeout",
    "in_progress",
    "unknown",
    "triggers",
    "actionFilters",
    "logicType",
    "comparison",
    "actions",
    "data",
    "alertThreshold",
    "label",
    "thresholdType",
    "resolveThreshold",
    "timeWindow",
    "snooze",
    "lastTriggered",
    "frequency",
    "project",
    "slug",
    "timestamp",
    "checkStatus",
];

fn read<T: DeserializeOwned>(mut fields: Value) -> T {
    fields["id"] = json!(7);
    fields["slug"] = json!("nightly");
    serde_json::from_value(fields).unwrap()
}

fn check(page: Page) {
    assert_sound(&cut_text(page.into_text(), CAP), CAP + 200);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_definition_of_any_shape_is_told_within_bounds(
        fields in any_object(NAMES, any_json(NAMES), 0..20),
    ) {
        let url = "https://sentry.test/7/";
        check(dashboard::page(&read::<Dashboard>(fields.clone()), url));
        check(monitor::page(&read::<Monitor>(fields.clone()), url));
        check(uptime::page(&read::<UptimeMonitor>(fields.clone()), url));
        check(alert_rule::issue_page(&read::<Workflow>(fields.clone()), "web", url));
        check(alert_rule::metric_page(&read::<AlertRule>(fields), url));
    }

    #[test]
    fn what_was_reported_in_any_shape_is_told_within_bounds(
        rows in vec(any_object(NAMES, any_json(NAMES), 0..12), 0..30), has_more in any::<bool>(),
    ) {
        let check_ins: Vec<CheckIn> = rows.iter().cloned().map(read).collect();
        let checks: Vec<UptimeCheck> = rows.iter().cloned().map(read).collect();
        let stats: Vec<MonitorStats> = rows.into_iter().map(read).collect();
        let mut page = Page::new("Reports");
        monitor::add_check_ins(&mut page, &check_ins, has_more);
        monitor::add_stats(&mut page, &stats);
        uptime::add_checks(&mut page, &checks, has_more);
        check(page);
    }

    #[test]
    fn a_tree_of_any_names_stays_within_bounds(paths in vec(any::<String>(), 0..400)) {
        let mut page = Page::new("Images");
        page.block("text", &image_tree(paths.iter().map(|it| (it.as_str(), String::new()))));
        assert!(page.into_text().len() < 400 * 1_000);
    }
}
