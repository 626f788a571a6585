//! The catalog: every curated tool, one a file, in the order they are shown.
//!
//! A new tool is its file and two lines here. What it needs is in [`crate::tool`] (the recipe),
//! [`crate::params`] (shared parameters) and [`crate::render`] (markdown).

mod add_issue_note;
mod add_team_to_project;
mod analyze_issue_with_seer;
mod create_dsn;
mod create_project;
mod create_team;
mod create_uptime_monitor;
mod delete_uptime_monitor;
mod find_alert_rules;
mod find_dashboards;
mod find_dsns;
mod find_monitors;
mod find_organizations;
mod find_projects;
mod find_releases;
mod find_teams;
mod find_uptime_monitors;
mod get_ai_conversation_details;
mod get_alert_rule;
mod get_dashboard_details;
mod get_doc;
mod get_event_attachment;
mod get_event_stacktrace;
mod get_issue_activity;
mod get_issue_breadcrumbs;
mod get_issue_details;
mod get_issue_tag_values;
mod get_issue_user_reports;
mod get_latest_base_snapshot;
mod get_monitor_details;
mod get_profile;
mod get_profile_details;
mod get_release_details;
mod get_replay_details;
mod get_sentry_resource;
mod get_snapshot;
mod get_snapshot_image;
mod get_span_details;
mod get_trace_details;
mod get_uptime_monitor_details;
#[cfg(test)]
mod laws;
mod onboarding_status_update;
mod remove_team_from_project;
mod search_ai_conversations;
mod search_docs;
mod search_events;
mod search_issue_events;
mod search_issues;
mod update_dsn;
mod update_issue;
mod update_project;
mod update_uptime_monitor;
mod whoami;

use std::sync::OnceLock;

use crate::tool::{Definition, Registered};

/// Every tool, by family.
pub(crate) const ALL: &[&dyn Registered] = &[
    // Identity and lists.
    &whoami::Whoami,
    &find_organizations::FindOrganizations,
    &find_teams::FindTeams,
    &find_projects::FindProjects,
    &find_releases::FindReleases,
    &get_release_details::GetReleaseDetails,
    &find_dsns::FindDsns,
    // Dashboards.
    &find_dashboards::FindDashboards,
    &get_dashboard_details::GetDashboardDetails,
    // Cron and uptime monitors.
    &find_monitors::FindMonitors,
    &get_monitor_details::GetMonitorDetails,
    &find_uptime_monitors::FindUptimeMonitors,
    &get_uptime_monitor_details::GetUptimeMonitorDetails,
    &create_uptime_monitor::CreateUptimeMonitor,
    &update_uptime_monitor::UpdateUptimeMonitor,
    &delete_uptime_monitor::DeleteUptimeMonitor,
    // Alert rules.
    &find_alert_rules::FindAlertRules,
    &get_alert_rule::GetAlertRule,
    // Issues.
    &get_sentry_resource::GetSentryResource,
    &search_issues::SearchIssues,
    &search_events::SearchEvents,
    &get_issue_details::GetIssueDetails,
    &search_issue_events::SearchIssueEvents,
    &get_event_stacktrace::GetEventStacktrace,
    &get_issue_breadcrumbs::GetIssueBreadcrumbs,
    &get_issue_tag_values::GetIssueTagValues,
    &get_issue_user_reports::GetIssueUserReports,
    &get_issue_activity::GetIssueActivity,
    &update_issue::UpdateIssue,
    &add_issue_note::AddIssueNote,
    &analyze_issue_with_seer::AnalyzeIssueWithSeer,
    // Traces, replays, profiles.
    &get_trace_details::GetTraceDetails,
    &get_span_details::GetSpanDetails,
    &get_replay_details::GetReplayDetails,
    &get_profile::GetProfile,
    &get_profile_details::GetProfileDetails,
    // AI conversations.
    &search_ai_conversations::SearchAiConversations,
    &get_ai_conversation_details::GetAiConversationDetails,
    // Attachments, documentation, snapshots.
    &get_event_attachment::GetEventAttachment,
    &search_docs::SearchDocs,
    &get_doc::GetDoc,
    &get_snapshot::GetSnapshot,
    &get_snapshot_image::GetSnapshotImage,
    &get_latest_base_snapshot::GetLatestBaseSnapshot,
    // Projects, teams and keys.
    &create_project::CreateProject,
    &update_project::UpdateProject,
    &create_team::CreateTeam,
    &add_team_to_project::AddTeamToProject,
    &remove_team_from_project::RemoveTeamFromProject,
    &create_dsn::CreateDsn,
    &update_dsn::UpdateDsn,
    &onboarding_status_update::OnboardingStatusUpdate,
];

/// What each tool says of itself to a session that is pinned to nothing; derived when somebody first
/// asks, and the same for everybody.
static WHOLE: [OnceLock<Definition>; ALL.len()] = [const { OnceLock::new() }; ALL.len()];

/// The definition of a tool, by its position in [`ALL`].
pub(crate) fn whole_definition(position: usize) -> Option<&'static Definition> {
    let (tool, whole) = (ALL.get(position)?, WHOLE.get(position)?);
    Some(whole.get_or_init(|| tool.whole_definition()))
}
